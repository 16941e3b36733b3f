//! What a correct file means.

use layercast_core::layers::{LayerTable, Phases};
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_simulator::DropTailConfig;
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};

use crate::results::{Metric, Relation, Role};
use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{
    Draw, LinkDirection, LinkVariation, LossModel, LossPlace, QueueLimit, QueuePlan, Scenario, Traffic,
    Window,
};

fn seconds(s: u64) -> Time {
    Time::ZERO + Duration::from_secs(s)
}

#[test]
fn defaults_fill_what_entries_leave_out() {
    let scenario = read_text(SMALL, &[]).unwrap();
    assert_eq!(scenario.nodes, ["S", "G", "R1", "R2"]);
    assert_eq!((scenario.replications, scenario.seed, scenario.series_bin), (1, 1, Duration::from_secs(1)));
    assert_eq!(scenario.windows, [Window { start: Time::ZERO, end: seconds(60) }]);
    let queue = QueuePlan::DropTail(DropTailConfig {
        limit: QueueLimit::Packets(50),
        ns2_compat: false,
        drop_front: false,
    });
    let delay = Draw::Fixed(Duration::from_ms(10));
    let forward = LinkDirection {
        variation: LinkVariation::default(),
        rate: Rate::from_mbps(100.0),
        delay,
        queue,
        default_queue: false,
        loss: LossModel::Bernoulli(0.01),
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    };
    assert_eq!(scenario.links[0].forward, forward);
    assert_eq!(scenario.links[0].backward, LinkDirection { loss: LossModel::None, ..forward });
    assert!(scenario.links[0].shared_delay);
    assert_eq!(scenario.links[2].backward.rate, Rate::from_mbps(6.0));
    let session = &scenario.sessions[0];
    assert_eq!(session.layers, LayerTable::doubling(Rate::from_kbps(128.0), 7).unwrap());
    assert_eq!(session.start, Draw::Fixed(seconds(10)));
    assert_eq!((session.stop, session.receivers_start), (None, None));
    assert_eq!(session.packet_size, Size::from_bytes(1000));
    assert_eq!(scenario.flows[0].start, Draw::Uniform { low: Time::ZERO, high: seconds(20) });
    assert_eq!(tcp(&scenario), &TcpOptions::new(TcpVariant::Sack, TcpProfile::Linux));
}

/// The parameters of the first flows.
fn tcp(scenario: &Scenario) -> &TcpOptions {
    match &scenario.flows[0].traffic {
        Traffic::Tcp { options, .. } => options,
        Traffic::Udp { .. } => unreachable!("it is a TCP"),
    }
}

#[test]
fn what_a_flow_says_of_its_tcp_is_kept() {
    let text = SMALL.replace("count = 2", "count = 2\nlimited_transmit = false\ndelayed_ack = true");
    let scenario = read_text(&text, &[]).unwrap();
    assert_eq!((tcp(&scenario).limited_transmit, tcp(&scenario).delayed_ack), (false, true));
    for (variant, profile) in TcpVariant::ALL.into_iter().zip(TcpProfile::ALL.into_iter().cycle()) {
        let set =
            [format!("flow.tcp.protocol={}", variant.name()), format!("flow.tcp.profile={}", profile.name())];
        let scenario = read_text(SMALL, &set.each_ref().map(String::as_str)).unwrap();
        assert_eq!(tcp(&scenario), &TcpOptions::new(variant, profile));
    }
}

#[test]
fn flows_are_named_after_where_they_end() {
    let scenario = read_text(SMALL, &[]).unwrap();
    let flows = scenario.flow_names();
    let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["elm-1@R1", "elm@R2", "elm-2@R1", "tcp-1@R1", "tcp-2@R1", "tcp-1@R2", "tcp-2@R2"]);
    assert_eq!((flows[0].role, flows[3].role), (Role::Receiver, Role::Sink));
    assert_eq!(flows[1].session.as_deref(), Some("elm"));
    assert_eq!((flows[3].protocol.as_str(), flows[6].node.as_str()), ("tcp-sack", "R2"));
}

#[test]
fn directions_of_a_link_may_differ() {
    let text = SMALL.replace(
        "S-G = { loss = 0.01 }",
        r#"S-G = { rate = "8 Mbit/s", rate_backward = "1 Mbit/s", delay = { uniform = ["5 ms", "6 ms"] }, delay_backward = "7 ms", queue_backward = { limit = "45000 bytes" }, loss = { backward = 0.5 } }"#,
    );
    let link = read_text(&text, &[]).unwrap().links.swap_remove(0);
    assert_eq!((link.forward.rate, link.backward.rate), (Rate::from_mbps(8.0), Rate::from_mbps(1.0)));
    assert_eq!(link.forward.delay, Draw::Uniform { low: Duration::from_ms(5), high: Duration::from_ms(6) });
    assert_eq!(link.backward.delay, Draw::Fixed(Duration::from_ms(7)));
    assert!(!link.shared_delay);
    let QueuePlan::DropTail(DropTailConfig { limit, .. }) = link.backward.queue else { panic!() };
    assert_eq!(limit, QueueLimit::Bytes(45_000));
    assert_eq!(
        (link.forward.loss.clone(), link.backward.loss.clone()),
        (LossModel::None, LossModel::Bernoulli(0.5))
    );
}

#[test]
fn layers_give_their_cumulative_rates() {
    let layers = |text: &str| {
        let set = format!("session.elm.layers={text}");
        let scenario = read_text(SMALL, &[&set]).unwrap();
        let table = &scenario.sessions[0].layers;
        table.layers().map(|layer| table.cumulative(layer).as_kbps()).collect::<Vec<_>>()
    };
    let multiplicative = r#"{ scheme = "multiplicative", base = "100 kbit/s", factor = 1.5, count = 3 }"#;
    assert_eq!(layers(multiplicative), [100.0, 150.0, 225.0]);
    assert_eq!(layers(r#"{ scheme = "equal", base = "16 kbit/s", count = 3 }"#), [16.0, 32.0, 48.0]);
    assert_eq!(layers(r#"{ scheme = "explicit", rates = ["1 kbit/s", "3 kbit/s"] }"#), [1.0, 3.0]);
    // A table with the same scheme, or none of its own, keeps what the defaults say.
    let increasing = r#"{ scheme = "increase-by-one", base = "10 kbit/s", count = 4 }"#;
    assert_eq!(layers(increasing), [10.0, 30.0, 60.0, 100.0]);
    let heavy = layers(r#"{ scheme = "heavy-tail", link = "120 kbit/s", count = 3 }"#);
    assert!(
        heavy.iter().zip([40.0, 60.0, 120.0]).all(|(reported, rate)| (reported - rate).abs() < 1e-9),
        "{heavy:?}"
    );
    let tailored =
        r#"{ scheme = "fractions", capacities = ["100 kbit/s", "1 Mbit/s"], fractions = [0.5, 1] }"#;
    assert_eq!(layers(tailored), [50.0, 100.0, 500.0, 1000.0]);
    // The fewest layers above a rate, and at most 30 or as many as are given.
    let above = |rate: &str, more: &str| {
        let text = r#"{ scheme = "multiplicative", base = "24 kbit/s", factor = 1.3, above = "RATE" MORE}"#;
        layers(&text.replace("RATE", rate).replace("MORE", more)).len()
    };
    let counts = [
        above("1 Mbit/s", ""),
        above("10 Mbit/s", ""),
        above("100 Mbit/s", ""),
        above("1 Mbit/s", ", count = 9"),
    ];
    assert_eq!(counts, [16, 24, 30, 9]);
    assert_eq!(layers("{ count = 2 }"), [128.0, 256.0]);
}

#[test]
fn layers_begin_at_random_or_together_where_they_have_clocks() {
    let phases = |set: &[&str]| read_text(SMALL, set).map(|scenario| scenario.sessions[0].layers.phases());
    assert_eq!(phases(&[]).unwrap(), Phases::Random);
    let together = "session.elm.layers.phases=together";
    assert_eq!(phases(&[together]).unwrap(), Phases::Together);
    // The waves of WEBRC follow one plan.
    let refused = phases(&["session.elm.protocol=webrc", together]).unwrap_err().to_string();
    assert!(refused.contains("`phases` has no effect: \"webrc\""), "{refused}");
}

#[test]
fn groups_and_paper_refer_to_flows() {
    let more = r#"
        [groups]
        "R1/elm" = ["elm-*@R1", "tcp-*@R1", "elm-1@*"]
        [paper."R1/elm"]
        jain_index = 0.99
        [paper."elm@R2"]
        level_changes = "about 430"
        throughput_kbps = 783
    "#;
    let scenario = read_text(&format!("{SMALL}{more}"), &[]).unwrap();
    assert_eq!(scenario.groups[0].flows, ["elm-1@R1", "elm-2@R1", "tcp-1@R1", "tcp-2@R1"]);
    let reported: Vec<_> = scenario
        .paper
        .iter()
        .map(|reported| (&*reported.subject, reported.metric, reported.relation, reported.value))
        .collect();
    let expected = [
        ("R1/elm", Metric::JainIndex, Relation::Equal, 0.99),
        ("elm@R2", Metric::ThroughputKbps, Relation::Equal, 783.0),
        ("elm@R2", Metric::LevelChanges, Relation::About, 430.0),
    ];
    assert_eq!(reported, expected);
}

#[test]
fn options_of_the_protocol_are_kept_as_given() {
    let text = SMALL.replace("start = \"10 s\"", "options = { strategy = \"naive\", smoothing_alpha = 0.5 }");
    let protocol = read_text(&text, &[]).unwrap().sessions.swap_remove(0).protocol;
    assert_eq!(protocol.get_option("strategy").as_deref(), Some("naive"));
    assert_eq!(protocol.get_option("smoothing_alpha").as_deref(), Some("0.5"));
}
