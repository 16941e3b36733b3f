//! Reads GraphML as the Internet Topology Zoo writes it (Knight et al., IEEE JSAC 29(9), 2011):
//! nodes with `label`, `Latitude` and `Longitude`, edges with `LinkSpeedRaw` in bit/s, or `LinkSpeed` and
//! `LinkSpeedUnits`.

use std::collections::BTreeMap;

use roxmltree::{Document, Node as Element};

use super::edges::Edge;
use super::geography::{Place, delay_us};
use crate::scenario::tables::NodeNames;

/// What a node has.
struct GraphNode {
    name: String,
    place: Option<Place>,
}

/// The edges of a file, in its order.
pub(super) fn parse(text: &str, names: NodeNames) -> Result<Vec<Edge>, String> {
    let document = Document::parse(text).map_err(|error| format!("it is not XML: {error}"))?;
    let root = document.root_element();
    let graph = children(root, "graph").next().filter(|_| root.tag_name().name() == "graphml");
    let graph = graph.ok_or("it has no `graph` in a `graphml`")?;
    let keys: BTreeMap<&str, &str> = children(root, "key")
        .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?)))
        .collect();
    let nodes = read_nodes(graph, &keys, names)?;
    let edges = children(graph, "edge").map(|edge| read_edge(edge, &keys, &nodes));
    let edges: Vec<Edge> = edges.collect::<Result<_, _>>()?;
    if edges.is_empty() { Err("it has no edges".to_owned()) } else { Ok(edges) }
}

/// The children of an element under a name, in whatever namespace.
fn children<'a, 'd>(element: Element<'a, 'd>, name: &'a str) -> impl Iterator<Item = Element<'a, 'd>> {
    element.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// What an element has under the name of an attribute of GraphML.
fn data<'a>(element: Element<'a, '_>, keys: &BTreeMap<&str, &str>, name: &str) -> Option<&'a str> {
    let is_it = |child: &Element<'_, '_>| {
        child.is_element()
            && child.tag_name().name() == "data"
            && child.attribute("key").and_then(|key| keys.get(key)).is_some_and(|known| *known == name)
    };
    element.children().find(is_it)?.text().map(str::trim).filter(|text| !text.is_empty())
}

/// A number under the name of an attribute.
fn number(element: Element<'_, '_>, keys: &BTreeMap<&str, &str>, name: &str) -> Result<Option<f64>, String> {
    let Some(text) = data(element, keys, name) else { return Ok(None) };
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map(Some).ok_or_else(|| format!("line {}: `{name}` is no number: `{text}`", line(element)))
}

fn line(element: Element<'_, '_>) -> u32 {
    element.document().text_pos_at(element.range().start).row
}

fn read_nodes<'a>(
    graph: Element<'a, '_>,
    keys: &BTreeMap<&str, &str>,
    names: NodeNames,
) -> Result<BTreeMap<&'a str, GraphNode>, String> {
    let mut nodes = BTreeMap::new();
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for node in children(graph, "node") {
        let id = node.attribute("id").ok_or_else(|| format!("line {}: a node has no `id`", line(node)))?;
        let label = data(node, keys, "label").filter(|_| names == NodeNames::Label);
        let name = label.map(usable).filter(|name| name.contains(|c: char| c.is_ascii_alphanumeric()));
        // Of a label in another script nothing would be left.
        let name = name.unwrap_or_else(|| usable(id));
        let latitude = number(node, keys, "Latitude")?;
        let place = latitude.zip(number(node, keys, "Longitude")?);
        let place = place.map(|(latitude, longitude)| Place { latitude, longitude });
        *uses.entry(name.clone()).or_default() += 1;
        if nodes.insert(id, GraphNode { name, place }).is_some() {
            return Err(format!("line {}: two nodes have the id `{id}`", line(node)));
        }
    }
    // Nodes that share a name get their identifiers appended to it.
    for (id, node) in &mut nodes {
        if uses.get(&node.name).is_some_and(|&uses| uses > 1) {
            node.name = format!("{}_{}", node.name, usable(id));
        }
    }
    let mut seen = BTreeMap::new();
    for (id, node) in &nodes {
        if let Some(other) = seen.insert(&node.name, id) {
            return Err(format!(
                "the nodes `{other}` and `{id}` would both be called `{}`; write `names = \"id\"`",
                node.name
            ));
        }
    }
    Ok(nodes)
}

/// A name that a node can have: letters without accents, digits, `_`, `-` and `.`; whatever else is there becomes `_`.
fn usable(label: &str) -> String {
    let mut name = String::with_capacity(label.len());
    for c in label.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || "_-.".contains(c) => name.push(c),
            // An accent of its own, behind its letter.
            '\u{300}'..='\u{36f}' => {}
            c => name.push_str(LATIN.iter().find(|(_, all)| all.contains(c)).map_or("_", |(plain, _)| plain)),
        }
    }
    name
}

/// Letters of Europe's Latin alphabets, by what is read for them without accents.
const LATIN: [(&str, &str); 45] = [
    ("A", "ÀÁÂÃÄÅĀĂĄ"),
    ("AE", "Æ"),
    ("C", "ÇĆĈĊČ"),
    ("D", "ÐĎĐ"),
    ("E", "ÈÉÊËĒĔĖĘĚ"),
    ("G", "ĜĞĠĢ"),
    ("H", "ĤĦ"),
    ("I", "ÌÍÎÏĨĪĬĮİ"),
    ("J", "Ĵ"),
    ("K", "Ķ"),
    ("L", "ĹĻĽĿŁ"),
    ("N", "ÑŃŅŇŊ"),
    ("O", "ÒÓÔÕÖØŌŎŐ"),
    ("OE", "Œ"),
    ("R", "ŔŖŘ"),
    ("S", "ŚŜŞŠȘẞ"),
    ("T", "ŢŤŦȚ"),
    ("Th", "Þ"),
    ("U", "ÙÚÛÜŨŪŬŮŰŲ"),
    ("W", "Ŵ"),
    ("Y", "ÝŶŸ"),
    ("Z", "ŹŻŽ"),
    ("a", "àáâãäåāăą"),
    ("ae", "æ"),
    ("c", "çćĉċč"),
    ("d", "ðďđ"),
    ("e", "èéêëēĕėęě"),
    ("g", "ĝğġģ"),
    ("h", "ĥħ"),
    ("i", "ìíîïĩīĭįı"),
    ("j", "ĵ"),
    ("k", "ķ"),
    ("l", "ĺļľŀł"),
    ("n", "ñńņňŋ"),
    ("o", "òóôõöøōŏő"),
    ("oe", "œ"),
    ("r", "ŕŗř"),
    ("s", "śŝşšș"),
    ("ss", "ß"),
    ("t", "ţťŧț"),
    ("th", "þ"),
    ("u", "ùúûüũūŭůűų"),
    ("w", "ŵ"),
    ("y", "ýÿŷ"),
    ("z", "źżž"),
];

fn read_edge(
    edge: Element<'_, '_>,
    keys: &BTreeMap<&str, &str>,
    nodes: &BTreeMap<&str, GraphNode>,
) -> Result<Edge, String> {
    let end = |attribute: &str| {
        let id = edge.attribute(attribute);
        id.and_then(|id| nodes.get(id)).ok_or_else(|| {
            let id = id.unwrap_or("");
            format!("line {}: an edge has the {attribute} `{id}`, which is no node", line(edge))
        })
    };
    let (from, to) = (end("source")?, end("target")?);
    let raw = number(edge, keys, "LinkSpeedRaw")?;
    let speed = number(edge, keys, "LinkSpeed")?;
    let unit = match data(edge, keys, "LinkSpeedUnits") {
        None | Some("") => 1.0,
        Some("K" | "k") => 1e3,
        Some("M") => 1e6,
        Some("G") => 1e9,
        Some("T") => 1e12,
        Some(other) => {
            return Err(format!(
                "line {}: `LinkSpeedUnits` is `{other}`, and not one of K, M, G, T",
                line(edge)
            ));
        }
    };
    let bit_per_s = raw.or(speed.map(|speed| speed * unit));
    if let Some(rate) = bit_per_s.filter(|rate| *rate <= 0.0) {
        return Err(format!("line {}: the speed {rate} is not above zero", line(edge)));
    }
    let delay_us = from.place.zip(to.place).map(|(from, to)| delay_us(from, to));
    Ok(Edge { from: from.name.clone(), to: to.name.clone(), bit_per_s, delay_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="Latitude" attr.type="double" for="node" id="d1"/>
  <key attr.name="Longitude" attr.type="double" for="node" id="d2"/>
  <key attr.name="label" attr.type="string" for="node" id="d3"/>
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d4"/>
  <key attr.name="LinkSpeed" attr.type="string" for="edge" id="d5"/>
  <key attr.name="LinkSpeedUnits" attr.type="string" for="edge" id="d6"/>
  <graph edgedefault="undirected">
    <node id="0"><data key="d1">48.8566</data><data key="d2">2.3522</data><data key="d3">Paris</data></node>
    <node id="1"><data key="d1">40.7128</data><data key="d2">-74.006</data><data key="d3">New York</data></node>
    <node id="2"><data key="d3">Paris</data></node>
    <node id="3"/>
    <edge source="0" target="1"><data key="d4">2500000000.0</data></edge>
    <edge source="1" target="2"><data key="d5">155</data><data key="d6">M</data></edge>
    <edge source="2" target="3"/>
  </graph>
</graphml>"#;

    #[test]
    fn speeds_and_places_become_rates_and_delays() {
        let edges = parse(SMALL, NodeNames::Label).unwrap();
        let found: Vec<_> = edges
            .iter()
            .map(|edge| (edge.from.as_str(), edge.to.as_str(), edge.bit_per_s, edge.delay_us))
            .collect();
        assert_eq!(found[0].0, "Paris_0", "two are called Paris");
        assert_eq!((found[0].1, found[0].2), ("New_York", Some(2.5e9)));
        assert_eq!(found[0].3.map(|delay| delay / 100), Some(292));
        assert_eq!(found[1], ("New_York", "Paris_2", Some(155e6), None));
        assert_eq!(found[2], ("Paris_2", "3", None, None));
        assert_eq!(parse(SMALL, NodeNames::Id).unwrap()[0].from, "0");
    }

    #[test]
    fn accents_go_and_other_scripts_have_their_id() {
        for (label, name) in [
            ("Zürich", "Zurich"),
            ("Łódź", "Lodz"),
            ("Århus", "Arhus"),
            ("Şanlıurfa", "Sanliurfa"),
            ("Großröhrsdorf", "Grossrohrsdorf"),
            ("Zu\u{308}rich", "Zurich"),
            ("St. Gallen", "St._Gallen"),
            ("Москва", "0"),
        ] {
            let text = SMALL.replacen("Paris", label, 1);
            assert_eq!(parse(&text, NodeNames::Label).unwrap()[0].from, name, "{label}");
        }
    }

    #[test]
    fn mistakes_have_their_line() {
        let refused = |from: &str, to: &str, why: &str| {
            let reported = parse(&SMALL.replacen(from, to, 1), NodeNames::Label).unwrap_err();
            assert!(reported.contains(why), "{reported}");
        };
        refused("target=\"3\"", "target=\"9\"", "line 16: an edge has the target `9`, which is no node");
        refused("48.8566", "north", "line 10: `Latitude` is no number: `north`");
        refused(">M<", ">furlong<", "line 15: `LinkSpeedUnits` is `furlong`");
        refused("2500000000.0", "0", "line 14: the speed 0 is not above zero");
        refused("id=\"3\"", "id=\"2\"", "line 13: two nodes have the id `2`");
        refused(
            "<node id=\"3\"/>",
            "<node id=\"3\"><data key=\"d3\">Paris_0</data></node>",
            "would both be called `Paris_0`",
        );
        refused("</graphml>", "", "it is not XML");
        refused("<graph edge", "<tree edge", "it is not XML");
        assert!(parse("<graphml/>", NodeNames::Label).unwrap_err().contains("no `graph`"));
        assert!(
            parse("<graphml><graph/></graphml>", NodeNames::Label).unwrap_err().contains("it has no edges")
        );
    }
}
