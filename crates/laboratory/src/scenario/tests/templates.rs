//! What `[[for]]` makes, and what `expand` prints.

use layercast_core::units::{Duration, Rate};
use layercast_protocols::registry::Registry;

use crate::scenario::catalogue::BUILT_IN;
use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{Catalogue, Draw, Scenario, ScenarioErrors, expand, read};

/// Thirty sites in ten lines.
const SITES: &str = r#"
[[for]]
each = { site = "01..30" }
links."G-SITE{site}" = { rate = "5 Mbit/s", queue = { kind = "codel" } }
sessions.elm.receivers = ["SITE{site}"]
flows."web{site}" = { protocol = "tcp-sack", from = "S", to = "SITE{site}", count = 2 }
groups.sites = ["elm@SITE{site}"]
groups."SITE{site}" = ["*@SITE{site}"]
"#;

fn with_sites() -> String {
    SMALL.to_owned() + SITES
}

fn small_with(template: &str) -> Result<Scenario, ScenarioErrors> {
    read_text(&(SMALL.to_owned() + "\n[[for]]\n" + template), &[])
}

fn refused(template: &str, why: &str) {
    let errors = small_with(template).unwrap_err().to_string();
    assert!(errors.contains(why), "`{why}` is not in:\n{errors}");
}

#[test]
fn a_range_makes_tables_and_adds_up_lists() {
    let scenario = read_text(&with_sites(), &[]).unwrap();
    assert_eq!(scenario.links.len(), 3 + 30);
    assert_eq!(scenario.links[3].name, "G-SITE01");
    assert_eq!(scenario.links[32].name, "G-SITE30");
    assert_eq!(scenario.flows.len(), 1 + 30);
    assert_eq!(scenario.flows[7].to[1].flow, "web07-2@SITE07");
    let receivers = &scenario.sessions[0].receivers;
    assert_eq!(receivers.len(), 3 + 30, "those of the file come first");
    assert_eq!(receivers[3].flow, "elm@SITE01");
    assert_eq!(scenario.groups[0].flows.len(), 30);
    assert_eq!(scenario.groups[7].flows, ["elm@SITE07", "web07-1@SITE07", "web07-2@SITE07"]);
}

#[test]
fn overrides_reach_what_is_made() {
    let sets = ["flow.web07.count=5", "link.G-SITE30.rate=9 Mbit/s"];
    let scenario = read_text(&with_sites(), &sets).unwrap();
    assert_eq!(scenario.flows[7].to.len(), 5);
    assert_eq!(scenario.links[32].forward.rate, Rate::from_mbps(9.0));
    let errors = read_text(&with_sites(), &["for.each=3"]).unwrap_err().to_string();
    assert!(errors.contains("worked in before overrides"), "{errors}");
}

#[test]
fn variables_stand_side_by_side_and_become_what_their_keys_take() {
    let scenario = small_with(
        r#"each = { n = "1..2", rate = [5, 7.5], loss = [0.01, 0.02], count = [3, 0], on = [true, false] }
        links."G-{n}" = { rate = "{rate} Mbit/s", loss = "{loss}", avoid_reordering = "{on}" }
        flows."f{n}" = { protocol = "tcp-sack", from = "S", to = "{n}", count = "{count}" }"#,
    )
    .unwrap();
    assert_eq!(scenario.links[4].forward.rate, Rate::from_mbps(7.5));
    assert_eq!(scenario.nodes[5], "2", "a number is a name where a name is taken");
    assert!(scenario.links[3].forward.variation.avoid_reordering);
    assert_eq!(scenario.flows[1].to.len(), 3);
    assert_eq!(scenario.flows.len(), 2, "a count of 0 takes one out");
}

#[test]
fn a_template_inside_of_another_makes_all_pairs() {
    let scenario = small_with(
        r#"each = { site = ["A", "B"] }
        links."G-{site}" = {}
        [[for.for]]
        each = { host = "1..3" }
        links."{site}-{site}{host}" = {}"#,
    )
    .unwrap();
    let names: Vec<&str> = scenario.links[3..].iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["G-A", "A-A1", "A-A2", "A-A3", "G-B", "B-B1", "B-B2", "B-B3"]);
}

#[test]
fn rows_come_from_a_file() {
    let folder = std::env::temp_dir().join(format!("layercast-rows-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let read_rows = |rows: &str| {
        std::fs::write(folder.join("sites.csv"), rows).unwrap();
        let text = SMALL.to_owned()
            + "[[for]]\ncsv = \"sites.csv\"\nlinks.\"G-{name}\" = { rate = \"{rate}\", delay = \"{delay}\", queue = \"{queue}\" }\n";
        let path = folder.join("test.toml");
        read(path.to_str().unwrap(), &text, &[], &Catalogue::of::<Registry>())
    };
    let rows = "name, rate, delay, queue\n# two sites\nA, 5 Mbit/s, 3 ms,\n\"B\",8 Mbit/s,,\"{ kind = \"\"codel\"\" }\"\r\n";
    let scenario = read_rows(rows).unwrap();
    assert_eq!(scenario.links[3].forward.delay, Draw::Fixed(Duration::from_ms(3)));
    assert_eq!(scenario.links[4].forward.delay, Draw::Fixed(Duration::from_ms(10)), "empty is the default");
    assert_ne!(scenario.links[3].forward.queue, scenario.links[4].forward.queue);
    assert_eq!(scenario.files, [rows], "the rows are part of the scenario's digest");
    let refused = |rows: &str, why: &str| {
        let errors = read_rows(rows).unwrap_err().to_string();
        assert!(errors.contains(why), "{errors}");
    };
    refused("name,rate,delay,queue\nA,fast,,\n", "for: name = A, rate = fast, delay = , ... (sites.csv:2)");
    refused("name,rate,delay,queue\nA,5 Mbit/s\n", "found record with 2 fields");
    refused("name,rate,rate\n", "two of its columns are called `rate`");
    refused("name,rate,delay,queue\n", "it has no rows");
    refused("name,speed,delay,queue\nA,1 Mbit/s,,\n", "there is no variable `rate`");
    std::fs::remove_file(folder.join("sites.csv")).unwrap();
    refused_without(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
}

fn refused_without(folder: &std::path::Path) {
    let text = SMALL.to_owned() + "[[for]]\ncsv = \".\"\nlinks.\"G-{name}\" = {}\n";
    let path = folder.join("test.toml");
    let errors =
        read(path.to_str().unwrap(), &text, &[], &Catalogue::of::<Registry>()).unwrap_err().to_string();
    assert!(errors.contains("Is a directory"), "{errors}");
}

#[test]
fn mistakes_name_the_row() {
    let template = r#"
[[for]]
each = { site = ["A", "B", "C"], rate = ["5 Mbit/s", "fast", "8 Mbit/s"] }
links."G-{site}" = { rate = "{rate}", dealy = "3 ms" }
flows."f{site}" = { protocol = "tcp-sack", from = "S", to = "SITE{stie}" }

[[for]]
each = { n = "1..3" }
sessions.elm.start = "{n} s"
"#;
    let errors = read_text(&(SMALL.to_owned() + template), &[]).unwrap_err();
    insta::assert_snapshot!(errors);
}

#[test]
fn templates_that_cannot_be_meant_are_refused() {
    refused("links.G-A = {}", "the template has no variables");
    refused("each = { a = [1] }\ncsv = \"x.csv\"\nlinks.G-A = {}", "a template has one source of rows");
    refused("each = { a = [1] }", "the template makes nothing");
    refused("each = { a = [] }\nlinks.G-A = {}", "these are no values of a variable");
    refused("each = { a = \"3..1\" }\nlinks.G-A = {}", "the range ends before it begins");
    refused("each = { a = \"1..9999999999\" }\nlinks.G-A = {}", "more than 100000 values");
    refused("each = { a = \"1..99999999999999999999999\" }\nlinks.G-A = {}", "more than 100000 values");
    refused("each = { a = [1, 2], b = [1] }\nlinks.G-A = {}", "`b` has 1 values, but `a` has 2");
    refused("each = { a = [[1]] }\nlinks.G-A = {}", "this is no value of a variable");
    refused("each = { a = [1] }\nlinks.\"G-A{a\" = {}", "a `{` stands alone");
    refused("each = { a = [1] }\nlinks.\"G-A}\" = {}", "a `}` stands alone");
    refused("each = { a = [1] }\nlink.\"G-A\" = {}", "did you mean `links`?");
    refused(
        "each = { a = [1] }\nlinks.\"G-A{a}\" = {}\n[[for.for]]\neach = { a = [2] }\nlinks.\"G-B{a}\" = {}",
        "an outer template has the variable `a` already",
    );
    let nothing = "each = { a = \"1..90000\" }\n[[for.for]]\neach = { b = \"1..90000\" }\nlinks = {}";
    refused(nothing, "the templates make more than 100000 tables");
    refused(
        "each = { a = \"1..400\" }\n[[for.for]]\neach = { b = \"1..400\" }\nlinks.\"A{a}-B{b}\" = {}",
        "the templates make more than 100000 tables",
    );
}

#[test]
fn doubled_braces_are_braces() {
    let scenario =
        small_with("each = { a = [1] }\nlinks.\"G-A\" = {}\ngroups.\"{{{a}}}\" = [\"elm*\"]").unwrap();
    assert_eq!(scenario.groups[0].name, "{1}");
}

#[test]
fn patterns_name_all_nodes_but_the_source() {
    let text = SMALL.replace("receivers = [\"R1\", \"R2\", \"R1\"]", "receivers = \"*\"");
    let scenario = read_text(&text, &["flow.tcp.to=R*"]).unwrap();
    let flows = |places: &[crate::scenario::FlowEnd]| -> Vec<String> {
        places.iter().map(|place| place.flow.clone()).collect()
    };
    assert_eq!(flows(&scenario.sessions[0].receivers), ["elm@G", "elm@R1", "elm@R2"]);
    assert_eq!(flows(&scenario.flows[0].to), ["tcp-1@R1", "tcp-2@R1", "tcp-1@R2", "tcp-2@R2"]);
    let errors = read_text(&text, &["flow.tcp.to=X*"]).unwrap_err().to_string();
    assert!(errors.contains("no node fits `X*`"), "{errors}");
}

#[test]
fn what_is_printed_reads_back_to_the_same_scenario() {
    let catalogue = &Catalogue::of::<Registry>();
    let check = |name: &str, text: &str| {
        let plan = read(name, text, &[], catalogue).unwrap_or_else(|errors| panic!("{errors}"));
        let flat = expand(name, text, &[], catalogue).unwrap();
        assert!(!flat.contains("[[for]]"), "{flat}");
        let again = read(name, &flat, &[], catalogue).unwrap_or_else(|errors| panic!("{errors}\n{flat}"));
        assert_eq!(again, Scenario { files: Vec::new(), ..plan }, "{name}");
    };
    for scenario in BUILT_IN {
        check(scenario.name, scenario.text);
    }
    check("sites", &with_sites());
    check("text", &SMALL.replace("\"small\"", "\"a \\\"b\\\" \\\\ \\n \\u0001 é\""));
}
