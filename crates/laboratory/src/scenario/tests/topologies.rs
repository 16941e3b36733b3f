//! Names of links and nodes, and links from files.

use std::path::PathBuf;

use layercast_core::units::{Duration, Rate};
use layercast_protocols::registry::Registry;

use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{Catalogue, Draw, Scenario, ScenarioErrors, expand, read};

fn with_link(link: &str) -> Result<Scenario, ScenarioErrors> {
    read_text(&SMALL.replace("G-R1 = {}", &format!("G-R1 = {{}}\n{link}")), &[])
}

#[test]
fn nodes_may_have_dashes_and_dots() {
    let links = "uplink = { from = \"G\", to = \"rack-1.site\" }\n\"G-lab.2\" = {}\n";
    let scenario = with_link(links).unwrap();
    assert_eq!(scenario.nodes, ["S", "G", "R1", "rack-1.site", "lab.2", "R2"]);
    assert_eq!(scenario.links[2].name, "uplink");
    assert_eq!(scenario.link_names()[4..8], ["G-rack-1.site", "rack-1.site-G", "G-lab.2", "lab.2-G"]);
    let text = SMALL.replace("G-R1 = {}", &format!("G-R1 = {{}}\n{links}"));
    let sets = [
        "session.elm.receivers=[\"rack-1.site\", \"lab.2\"]",
        "link.\"G-lab.2\".rate=3 Mbit/s",
        "paper.\"elm@lab.2\".throughput_kbps=3",
    ];
    let scenario = read_text(&text, &sets).unwrap();
    assert_eq!(scenario.sessions[0].receivers[0].flow, "elm@rack-1.site");
    assert_eq!(scenario.links[3].forward.rate, Rate::from_mbps(3.0));
}

#[test]
fn names_that_can_be_read_in_two_ways_are_refused() {
    let refused = |link: &str, why: &str| {
        let errors = with_link(link).unwrap_err().to_string();
        assert!(errors.contains(why), "{errors}");
    };
    refused("G-rack-1 = {}", "the name of this link has more than one dash");
    refused("G = {}", "this is not the name of a link");
    refused("up = { from = \"G\" }", "the link needs both of its ends");
    refused("up = { from = \"G\", to = \"a b\" }", "the link needs both of its ends");
    refused("G-A = { from = \"G\", to = \"B\" }", "not the ends that the link's name shows");
    refused(
        "up = { from = \"a-b\", to = \"c\" }\nback = { from = \"a\", to = \"b-c\" }",
        "results would call this link `a-b-c`, as they call `up`",
    );
    refused("up = { from = \"G\", to = \"R1\" }", "there is a link between `G` and `R1` already");
}

/// A folder with one file, for as long as it lives.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, file: &str, text: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("layercast-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(file), text).unwrap();
        Folder(folder)
    }

    fn name(&self) -> String {
        self.0.join("test.toml").to_str().unwrap().to_owned()
    }

    fn read(&self, text: &str) -> Result<Scenario, ScenarioErrors> {
        read(&self.name(), text, &[], &Catalogue::of::<Registry>())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const HEAD: &str = r#"
name = "imported"
duration = "60 s"
[defaults.link]
rate = "100 Mbit/s"
delay = "10 ms"
[flows]
tcp = { protocol = "tcp-sack", from = "A", to = "*" }
"#;

const GRAPH: &str = r#"<graphml><key id="l" for="node" attr.name="label"/><key id="r" for="edge" attr.name="LinkSpeedRaw"/>
<graph><node id="1"><data key="l">A</data></node><node id="2"><data key="l">B-2</data></node><node id="3"><data key="l">C</data></node>
<edge source="1" target="2"><data key="r">5000000</data></edge><edge source="1" target="3"/><edge source="2" target="3"/>
</graph></graphml>"#;

#[test]
fn links_come_from_graphml() {
    let folder = Folder::with("graph", "net.graphml", GRAPH);
    let text = HEAD.to_owned() + "[topology]\ngraphml = \"net.graphml\"\n";
    let scenario = folder.read(&text).unwrap();
    assert_eq!(scenario.nodes, ["A", "B-2", "C"]);
    assert_eq!(scenario.links[0].forward.rate, Rate::from_mbps(5.0));
    assert_eq!(scenario.links[1].forward.rate, Rate::from_mbps(100.0), "the default");
    assert_eq!(scenario.flows[0].to.len(), 2);
    let own = folder
        .read(&(text.clone() + "[links]\nA-C = { delay = \"3 ms\" }\nA-B-2.rate = \"7 Mbit/s\"\n"))
        .unwrap();
    assert_eq!(
        own.links[0].forward.delay,
        Draw::Fixed(Duration::from_ms(3)),
        "links of the scenario come first"
    );
    assert_eq!(own.links[1].forward.rate, Rate::from_mbps(7.0), "and hold against imported values");
    let flat = expand(&folder.name(), &text, &[], &Catalogue::of::<Registry>()).unwrap();
    assert_eq!(folder.read(&flat).unwrap(), Scenario { files: Vec::new(), ..scenario }, "{flat}");
}

#[test]
fn links_come_from_rows() {
    let rows = "from,to,rate,queue.kind,queue.limit,loss\nA,B,5 Mbit/s,codel,,0.01\nB,C-1,,,20 packets,\n";
    let folder = Folder::with("rows", "links.csv", rows);
    let text = HEAD.to_owned() + "[topology]\ncsv = \"links.csv\"\n";
    let scenario = folder.read(&text).unwrap();
    assert_eq!(scenario.nodes, ["A", "B", "C-1"]);
    assert_ne!(scenario.links[0].forward.queue, scenario.links[1].forward.queue);
    let flat = expand(&folder.name(), &text, &[], &Catalogue::of::<Registry>()).unwrap();
    assert_eq!(folder.read(&flat).unwrap(), Scenario { files: Vec::new(), ..scenario }, "{flat}");
    let refused = |rows: &str, why: &str| {
        let folder = Folder::with("refused-rows", "links.csv", rows);
        let errors = folder.read(&text).unwrap_err().to_string();
        assert!(errors.contains(why), "{errors}");
    };
    refused("from,two\nA,B\n", "no columns `from` and `to`");
    refused("from,to\nA,B\nB,A\n", "`B` and `A` have a link already, at links.csv:2");
    refused("from,to,rate\nA,B,fast\n", "for: A to B (links.csv:2)");
    refused("from,to,speed\nA,B,1\n", "a link has no key `speed`");
}

#[test]
fn keys_of_a_topology_can_be_set() {
    let parallel = GRAPH.replace("<edge source=\"1\" target=\"3\"/>", "<edge source=\"2\" target=\"1\"/>");
    let folder = Folder::with("set", "net.graphml", &parallel);
    let text = HEAD.to_owned() + "[topology]\ngraphml = \"net.graphml\"\n";
    let with = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        read(&folder.name(), &text, &sets, &Catalogue::of::<Registry>())
    };
    let refused = with(&[]).unwrap_err().to_string();
    assert!(refused.contains("several edges"), "{refused}");
    assert_eq!(with(&["topology.parallel=fastest"]).unwrap().links.len(), 2);
    let wrong = with(&["topology.parallel=all"]).unwrap_err().to_string();
    assert!(wrong.contains("--> --set:1:") && wrong.contains("one of \"refuse\""), "{wrong}");
    let unknown = with(&["topology.paralel=sum"]).unwrap_err().to_string();
    assert!(unknown.contains("--> --set:1:") && unknown.contains("did you mean `parallel`?"), "{unknown}");
    // The order does not matter: others are worked into the links that are made.
    let both = with(&["link.A-B-2.delay=3 ms", "topology.parallel=sum"]).unwrap();
    assert_eq!(both.links[0].forward.delay, Draw::Fixed(Duration::from_ms(3)));
}

#[test]
fn a_topology_has_one_file_and_known_keys() {
    let folder = Folder::with(
        "wrong",
        "net.graphml",
        &GRAPH.replace("<edge source=\"1\" target=\"3\"/>", "<edge source=\"2\" target=\"1\"/>"),
    );
    let refused = |keys: &str, why: &str| {
        let errors = folder.read(&(HEAD.to_owned() + "[topology]\n" + keys)).unwrap_err().to_string();
        assert!(errors.contains(why), "{errors}");
    };
    refused("", "a topology comes from one file");
    refused("graphml = \"net.graphml\"", "several edges between `B-2` and `A`; write `parallel");
    refused(
        "graphml = \"net.graphml\"\nparallel = \"all\"",
        "allowed: one of \"refuse\", \"fastest\", \"sum\"",
    );
    refused("graphml = \"other.graphml\"", "the topology `other.graphml` cannot be used");
    refused("graphm = \"net.graphml\"", "did you mean `graphml`?");
    refused("csv = \"net.graphml\"\nnames = \"id\"", "a file of links has no such choice");
    assert!(
        folder.read(&(HEAD.to_owned() + "[topology]\ngraphml = \"net.graphml\"\nparallel = \"sum\"")).is_ok()
    );
}
