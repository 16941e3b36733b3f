//! Edge routers, latencies and capability of marks, as files give them.

use layercast_core::units::{Duration, Time};
use layercast_simulator::{EdgeConfig, LeaveRule, QuerierProfile};

use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{Draw, Scenario};

/// The small scenario with more at its end; or what is wrong.
fn with(more: &str, overrides: &[&str]) -> Result<Scenario, String> {
    read_text(&format!("{SMALL}\n{more}"), overrides).map_err(|errors| errors.to_string())
}

/// The edge at R1 that a table gives.
fn edge(table: &str) -> EdgeConfig {
    with(&format!("[edges]\nR1 = {{ {table} }}"), &[]).unwrap().edges[0].config
}

#[track_caller]
fn refused(more: &str, why: &str) {
    let reported = with(more, &[]).unwrap_err();
    assert!(reported.contains(why), "{reported}");
}

#[test]
fn queriers_bring_their_defaults() {
    assert_eq!(edge(""), EdgeConfig::default());
    for profile in QuerierProfile::ALL {
        assert_eq!(edge(&format!("querier = \"{}\"", profile.name())), profile.config());
    }
    let fast = edge("querier = \"mldv2\", leave = \"fast\"").leave;
    assert_eq!(fast, LeaveRule::Fast { processing: Duration::from_ms(10) });
    let tracked = edge("querier = \"igmpv3\", leave = \"tracked\"").leave;
    assert_eq!(tracked, LeaveRule::Check { interval: Duration::from_secs(1), count: 2, tracking: true });
}

#[test]
fn keys_reach_their_edge() {
    let config = edge(
        r#"querier = "igmpv2", last_member_interval = "3 s", last_member_count = 3, report_loss = 0.1,
           leave_loss = 1, report_repeat = "5 s", robustness = 3, query_interval = "60 s",
           query_response = "5 s", group_limit = 50"#,
    );
    let expected = EdgeConfig {
        leave: LeaveRule::Check { interval: Duration::from_secs(3), count: 3, tracking: false },
        report_loss: 0.1,
        leave_loss: 1.0,
        report_repeat: Duration::from_secs(5),
        robustness: 3,
        query_interval: Duration::from_secs(60),
        query_response: Duration::from_secs(5),
        group_limit: Some(50),
    };
    assert_eq!(config, expected);
    let crash = with("[edges.R2]\ncrash = \"20 s\"", &[]).unwrap();
    assert_eq!(crash.edges[0].crash, Some(Time::from_secs_f64(20.0)));
    assert_eq!(crash.nodes[crash.edges[0].node], "R2");
}

#[test]
fn defaults_make_an_edge_of_every_node_with_receivers() {
    let scenario =
        with("[defaults.edge]\nquerier = \"igmpv3\"\ngroup_limit = 9\n[edges.R2]\ngroup_limit = 3", &[]);
    let scenario = scenario.unwrap();
    let mut found: Vec<_> = scenario
        .edges
        .iter()
        .map(|edge| (scenario.nodes[edge.node].as_str(), edge.config.group_limit, edge.config.report_repeat))
        .collect();
    found.sort_unstable();
    let second = Duration::from_secs(1);
    assert_eq!(found, [("R1", Some(9), second), ("R2", Some(3), second)]);
    assert_eq!(with("", &[]).unwrap().edges, []);
}

#[test]
fn an_override_may_make_an_edge() {
    let scenario = with("", &["edge.R1.querier=igmpv2", "edge.R1.leave_loss=0.5"]).unwrap();
    assert_eq!(scenario.edges[0].config, EdgeConfig { leave_loss: 0.5, ..QuerierProfile::IgmpV2.config() });
    let reported = with("", &["edge.R9.querier=igmpv2"]).unwrap_err();
    assert!(reported.contains("R9"), "{reported}");
}

#[test]
fn mistakes_are_reported() {
    refused("[edges.R2]\nquerier = \"igmpv1\"", "did you mean `igmpv");
    refused("[edges.R2]\nquery = \"igmpv2\"", "a network-edge has no key `query`");
    refused("[edges.X]\n", "a node that a link mentions");
    refused("[edges.G]\n", "no session has a receiver at this node");
    refused("[edges.R1]\nleave = \"fast\"", "`none` does not use `leave`");
    refused("[edges.R1]\nquerier = \"igmpv3\"\nprocessing = \"1 s\"", "`check` does not use `processing`");
    refused("[edges.R1]\nquerier = \"igmpv2\"\nleave = \"tracked\"", "cannot know its hosts one by one");
    refused("[edges.R1]\nquerier = \"mldv1\"\nleave = \"fast\"", "cannot know its hosts one by one");
    refused("[edges.R1]\nreport_loss = 1.5", "a number from 0 to 1");
    refused("[edges.R1]\ncrash = \"60 s\"", "but the run ends at 60 s");
    refused("[defaults.edge]\ngroup_limit = 0", "a whole number of at least 1");
}

#[test]
fn sessions_have_latencies_that_are_drawn_and_may_take_marks() {
    let session = |keys: &str| {
        let text = SMALL.replace("start = \"10 s\"", &format!("start = \"10 s\"\n{keys}"));
        assert_ne!(text, SMALL);
        read_text(&text, &[]).unwrap().sessions.remove(0)
    };
    let (low, high) = (Duration::from_secs(2), Duration::from_secs(4));
    let drawn =
        session("leave_latency = { uniform = [\"2 s\", \"4 s\"] }\njoin_latency = \"4 s\"\necn = true");
    assert_eq!((drawn.leave_latency, drawn.join_latency), (Draw::Uniform { low, high }, Draw::Fixed(high)));
    assert!(drawn.ecn);
    let plain = session("");
    assert_eq!((plain.leave_latency, plain.ecn), (Draw::Fixed(Duration::ZERO), false));
}
