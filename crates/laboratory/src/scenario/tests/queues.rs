//! Queues and loss models, as files give them.

use layercast_protocol::units::{Size, Span};
use layercast_simulator::{
    CoDelConfig, GilbertElliott, PeriodicLoss, PieConfig, RedConfig, RedVictim, RedWeight, RemConfig,
};

use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{LinkDirection, LossModel, LossPlace, QueueLimit, QueuePlan};

/// The small scenario with one link as given; its forward direction, or what is wrong.
fn forward(link: &str) -> Result<LinkDirection, String> {
    let text = SMALL.replace(r#"G-R2 = { rate = "6 Mbit/s" }"#, &format!("G-R2 = {{ {link} }}"));
    assert_ne!(text, SMALL);
    read_text(&text, &[]).map(|scenario| scenario.links[2].forward.clone()).map_err(|e| e.to_string())
}

fn queue(table: &str) -> QueuePlan {
    forward(&format!("queue = {{ {table} }}")).unwrap().queue
}

#[track_caller]
fn refused(link: &str, why: &str) {
    let told = forward(link).unwrap_err();
    assert!(told.contains(why), "{told}");
}

#[test]
fn each_kind_has_its_own_defaults() {
    // The defaults of the file give a limit to drop-tail, which another kind does not take over.
    assert_eq!(queue(r#"kind = "red""#), QueuePlan::Red(RedConfig::ns2()));
    assert_eq!(queue(r#"kind = "red", profile = "classic""#), QueuePlan::Red(RedConfig::classic()));
    assert_eq!(queue(r#"kind = "codel""#), QueuePlan::CoDel(CoDelConfig::default()));
    assert_eq!(queue(r#"kind = "rem""#), QueuePlan::Rem(RemConfig::default()));
    assert_eq!(queue(r#"kind = "pie""#), QueuePlan::Pie(PieConfig::default()));
}

#[test]
fn keys_reach_their_queue() {
    let red = queue(
        r#"kind = "red", limit = "80 packets", min_threshold = 10, max_threshold = 30.5, weight = 0.002,
           max_probability = 0.05, gentle = false, wait = false, byte_mode = false, average_bytes = false,
           mean_packet = "1000 bytes", target = "10 ms", adaptive = true, victim = "random""#,
    );
    let expected = RedConfig {
        limit: Some(QueueLimit::Packets(80)),
        min_threshold: Some(10.0),
        max_threshold: Some(30.5),
        weight: RedWeight::Fixed(0.002),
        max_probability: 0.05,
        gentle: false,
        wait: false,
        byte_mode: false,
        average_bytes: false,
        mean_packet: Size::from_bytes(1000),
        target_delay: Span::from_ms(10),
        adaptive: true,
        victim: RedVictim::Random,
        ..RedConfig::ns2()
    };
    assert_eq!(red, QueuePlan::Red(expected));
    let codel = queue(r#"kind = "codel", target = "3 ms", interval = "60 ms", max_packet = "500 bytes""#);
    let (target, interval) = (Span::from_ms(3), Span::from_ms(60));
    let expected = CoDelConfig { target, interval, max_packet_bytes: 500, ..CoDelConfig::default() };
    assert_eq!(codel, QueuePlan::CoDel(expected));
    let rem = queue(
        r#"kind = "rem", gamma = 0.01, phi = 1.01, input_weight = 0.5, target_packets = 10,
           update = "1 ms", mean_packet = "500 bytes", byte_mode = true, limit = "9 packets""#,
    );
    let expected = RemConfig {
        gamma: 0.01,
        phi: 1.01,
        input_weight: 0.5,
        target_packets: 10.0,
        update: Span::from_ms(1),
        mean_packet: Size::from_bytes(500),
        byte_mode: true,
        limit: QueueLimit::Packets(9),
        ..RemConfig::default()
    };
    assert_eq!(rem, QueuePlan::Rem(expected));
    let pie = queue(
        r#"kind = "pie", target = "20 ms", update = "10 ms", max_burst = "0 s", alpha = 0.2, beta = 2,
           mean_packet = "500 bytes""#,
    );
    let expected = PieConfig {
        target: Span::from_ms(20),
        update: Span::from_ms(10),
        max_burst: Span::ZERO,
        alpha: 0.2,
        beta: 2.0,
        mean_packet: Size::from_bytes(500),
        ..PieConfig::default()
    };
    assert_eq!(pie, QueuePlan::Pie(expected));
}

#[test]
fn wrong_queues_are_refused() {
    refused(r#"queue = { kind = "codel", weight = 0.1 }"#, "`codel` does not use `weight`");
    refused(r#"queue = { interval = "1 s" }"#, "`drop-tail` does not use `interval`");
    refused(r#"queue = { kind = "red", min_threshold = 5, max_threshold = 5 }"#, "no room between them");
    refused(r#"queue = { kind = "red", max_threshold = 15 }"#, "no room between them");
    refused(r#"queue = { kind = "red", weight = 0 }"#, "a number above 0 and up to 1");
    refused(r#"queue = { kind = "rem", phi = 1 }"#, "a number above 1");
    refused(r#"queue = { kind = "pie", update = "0 s" }"#, "a time above zero");
    refused(r#"queue = { kind = "red", limit = "0 packets" }"#, "50 packets");
    refused(r#"queue = { kind = "reed" }"#, "red");
}

#[test]
fn loss_models_stand_for_each_direction() {
    let chain = r#"model = "gilbert-elliott", to_bad = 0.01, to_good = 0.25"#;
    let link = forward(&format!("loss = {{ forward = {{ {chain}, place = \"after-link\" }} }}")).unwrap();
    let expected = GilbertElliott { to_bad: 0.01, to_good: 0.25, bad_loss: 1.0, good_loss: 0.0 };
    assert_eq!((link.loss, link.loss_place), (LossModel::GilbertElliott(expected), LossPlace::AfterLink));
    let model = |table: &str| forward(&format!("loss = {{ forward = {{ model = {table} }} }}")).unwrap().loss;
    let periodic = LossModel::Periodic(PeriodicLoss { period: 10, offset: 5, burst: 3 });
    assert_eq!(model(r#""periodic", period = 10, offset = 5, burst = 3"#), periodic);
    assert_eq!(model(r#""list", packets = [3, 1]"#), LossModel::List(vec![3, 1]));
    assert_eq!(model(r#""bernoulli", probability = 0.1"#), LossModel::Bernoulli(0.1));
    let per_byte = LossModel::BernoulliPerByte(1e-5);
    assert_eq!(model(r#""bernoulli-per-byte", probability = 1e-5"#), per_byte);
}

#[test]
fn wrong_loss_models_are_refused() {
    let model = |table: &str| format!("loss = {{ forward = {{ {table} }} }}");
    refused(&model(r#"model = "gilbert-elliott", to_bad = 0.1"#), "`to_good` is missing");
    refused(&model(r#"model = "periodic""#), "`period` is missing");
    refused(&model(r#"model = "periodic", period = 0"#), "a whole number of at least 1");
    refused(&model(r#"model = "list", packets = [-1]"#), "whole numbers");
    refused(
        &model(r#"model = "bernoulli", probability = 0.1, period = 4"#),
        "`bernoulli` does not use `period`",
    );
    refused(&model("to_bad = 0.1"), "`model` is missing");
}

#[test]
fn an_override_reaches_a_model() {
    let set = ["link.S-G.loss.forward={ model = \"periodic\", period = 9 }", "link.S-G.loss.forward.burst=2"];
    let scenario = read_text(SMALL, &set).unwrap();
    let periodic = LossModel::Periodic(PeriodicLoss { period: 9, offset: 0, burst: 2 });
    assert_eq!(scenario.links[0].forward.loss, periodic);
}
