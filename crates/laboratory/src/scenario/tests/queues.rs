//! Queues and loss models, as files give them.

use layercast_core::units::{Duration, Size};
use layercast_simulator::{
    CoDelConfig, DropTailConfig, DualPi2Config, FairConfig, FqCoDelConfig, GilbertElliott,
    LengthDistribution, LossUnit, PeriodicLoss, PieConfig, RedConfig, RedVictim, RedWeight, RemConfig,
    TwoStateLoss,
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
    let reported = forward(link).unwrap_err();
    assert!(reported.contains(why), "{reported}");
}

#[test]
fn each_kind_has_its_own_defaults() {
    // The defaults of the file give a limit to drop-tail, which another kind does not take over.
    assert_eq!(queue(r#"kind = "red""#), QueuePlan::Red(RedConfig::ns2()));
    assert_eq!(queue(r#"kind = "red", profile = "classic""#), QueuePlan::Red(RedConfig::classic()));
    assert_eq!(queue(r#"kind = "codel""#), QueuePlan::CoDel(CoDelConfig::default()));
    assert_eq!(queue(r#"kind = "rem""#), QueuePlan::Rem(RemConfig::default()));
    assert_eq!(queue(r#"kind = "pie""#), QueuePlan::Pie(PieConfig::default()));
    assert_eq!(queue(r#"kind = "fq-codel""#), QueuePlan::FqCoDel(FqCoDelConfig::default()));
    assert_eq!(queue(r#"kind = "dualpi2""#), QueuePlan::DualPi2(DualPi2Config::default()));
    assert_eq!(queue(r#"kind = "fair""#), QueuePlan::Fair(FairConfig::default()));
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
        target: Duration::from_ms(10),
        adaptive: true,
        victim: RedVictim::Random,
        ..RedConfig::ns2()
    };
    assert_eq!(red, QueuePlan::Red(expected));
    let codel = queue(r#"kind = "codel", target = "3 ms", interval = "60 ms", max_packet = "500 bytes""#);
    let (target, interval) = (Duration::from_ms(3), Duration::from_ms(60));
    let expected =
        CoDelConfig { target, interval, max_packet: Size::from_bytes(500), ..CoDelConfig::default() };
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
        update: Duration::from_ms(1),
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
        target: Duration::from_ms(20),
        update: Duration::from_ms(10),
        max_burst: Duration::ZERO,
        alpha: 0.2,
        beta: 2.0,
        mean_packet: Size::from_bytes(500),
        ..PieConfig::default()
    };
    assert_eq!(pie, QueuePlan::Pie(expected));
}

#[test]
fn keys_reach_queues_with_several_parts() {
    let fq_codel = queue(
        r#"kind = "fq-codel", limit = "100 packets", queues = 16, quantum = "300 bytes", target = "3 ms",
           interval = "60 ms", max_packet = "500 bytes", ecn = false"#,
    );
    let expected = FqCoDelConfig {
        limit: QueueLimit::Packets(100),
        queues: 16,
        quantum: Size::from_bytes(300),
        target: Duration::from_ms(3),
        interval: Duration::from_ms(60),
        max_packet: Size::from_bytes(500),
        ecn: false,
    };
    assert_eq!(fq_codel, QueuePlan::FqCoDel(expected));
    let dualpi2 = queue(
        r#"kind = "dualpi2", limit = "100 packets", target = "20 ms", update = "10 ms", alpha = 0.2, beta = 2,
           coupling = 1.5, ramp_start = "1 ms", ramp_range = "0 s", low_delay_weight = 9"#,
    );
    let expected = DualPi2Config {
        limit: Some(QueueLimit::Packets(100)),
        target: Duration::from_ms(20),
        update: Duration::from_ms(10),
        alpha: 0.2,
        beta: 2.0,
        coupling: 1.5,
        ramp_start: Duration::from_ms(1),
        ramp_range: Duration::ZERO,
        low_delay_weight: 9,
    };
    assert_eq!(dualpi2, QueuePlan::DualPi2(expected));
    let (limit, quantum) = (QueueLimit::Bytes(20_000), Size::from_bytes(3000));
    let fair = queue(r#"kind = "fair", limit = "20000 bytes", quantum = "3000 bytes""#);
    assert_eq!(fair, QueuePlan::Fair(FairConfig { limit, quantum }));
    // Without `kind` it is drop-tail, which takes the file's limit.
    for (key, ns2_compat) in [("", false), (", ns2_compat = true", true)] {
        let front = queue(&format!("drop_front = true{key}"));
        let limit = QueueLimit::Packets(50);
        let expected = QueuePlan::DropTail(DropTailConfig { limit, ns2_compat, drop_front: true });
        assert_eq!(front, expected);
    }
}

#[test]
fn queues_mark_if_configured_to() {
    let red = |keys: &str| queue(&format!(r#"kind = "red", profile = "classic", ecn = true{keys}"#));
    let marking = RedConfig { ecn: true, ..RedConfig::classic() };
    assert_eq!(red(""), QueuePlan::Red(marking));
    let expected = RedConfig { mark_probability: 0.3, ..marking };
    assert_eq!(red(", mark_probability = 0.3"), QueuePlan::Red(expected));
    let expected = RedConfig { use_mark_probability: false, ..marking };
    assert_eq!(red(", use_mark_probability = false"), QueuePlan::Red(expected));
    let marking = CoDelConfig { ecn: true, ..CoDelConfig::default() };
    assert_eq!(queue(r#"kind = "codel", ecn = true"#), QueuePlan::CoDel(marking));
    let marking = RemConfig { ecn: true, ..RemConfig::default() };
    assert_eq!(queue(r#"kind = "rem", ecn = true"#), QueuePlan::Rem(marking));
    let marking = PieConfig { ecn: true, ..PieConfig::default() };
    assert_eq!(queue(r#"kind = "pie", ecn = true"#), QueuePlan::Pie(marking));
}

#[test]
fn wrong_queues_are_refused() {
    refused(r#"queue = { kind = "dualpi2", ecn = true }"#, "`dualpi2` does not use `ecn`");
    refused(r#"queue = { kind = "fair", target = "5 ms" }"#, "`fair` does not use `target`");
    refused(r#"queue = { kind = "codel", drop_front = true }"#, "`codel` does not use `drop_front`");
    refused(r#"queue = { kind = "red", ecn = "yes" }"#, "true or false");
    refused(r#"queue = { kind = "red", mark_probability = 0 }"#, "a number above 0 and up to 1");
    refused(r#"queue = { kind = "red", mark_probability = 0.2 }"#, "it with `ecn = true`");
    refused(r#"queue = { kind = "fq-codel", queues = 0 }"#, "a whole number from 1 to 65536");
    refused(r#"queue = { kind = "fair", quantum = "0 bytes" }"#, "1000 bytes");
    refused(r#"queue = { kind = "dualpi2", coupling = 0 }"#, "a number above 0");
    refused(r#"queue = { kind = "dualpi" }"#, "did you mean `dualpi2`?");
    refused(r#"queue = { kind = "codel", weight = 0.1 }"#, "`codel` does not use `weight`");
    refused(r#"queue = { interval = "1 s" }"#, "`drop-tail` does not use `interval`");
    refused(r#"queue = { kind = "red", min_threshold = 5, max_threshold = 5 }"#, "no room between them");
    refused(r#"queue = { kind = "red", max_threshold = 15 }"#, "no room between them");
    refused(r#"queue = { kind = "red", weight = 0 }"#, "a number above 0 and up to 1");
    refused(r#"queue = { kind = "rem", phi = 1 }"#, "a number above 1");
    refused(r#"queue = { kind = "pie", update = "0 s" }"#, "above 0 s");
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
    let periods = |unit, distribution, ns2_compat| {
        LossModel::TwoState(TwoStateLoss { unit, distribution, good: 900, bad: 7, ns2_compat })
    };
    let (bytes, constant) = (r#", unit = "bytes""#, r#", distribution = "constant""#);
    let two_state = r#""two-state", good_length = 900, bad_length = 7"#;
    assert_eq!(model(two_state), periods(LossUnit::Packets, LengthDistribution::Exponential, false));
    let reported = model(&format!("{two_state}{bytes}{constant}, ns2_compat = true"));
    assert_eq!(reported, periods(LossUnit::Bytes, LengthDistribution::Constant, true));
}

#[test]
fn loss_models_mark_in_the_direction_that_says_so() {
    let link =
        r#"{ rate = "6 Mbit/s", loss = { DIRECTION = { model = "list", packets = [1], mark = true } } }"#;
    for direction in ["forward", "backward"] {
        let text = SMALL.replace(r#"{ rate = "6 Mbit/s" }"#, &link.replace("DIRECTION", direction));
        let scenario = read_text(&text, &[]).unwrap();
        let marks = (scenario.links[2].forward.loss_marks, scenario.links[2].backward.loss_marks);
        assert_eq!(marks, (direction == "forward", direction == "backward"));
    }
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
    refused(&model(r#"model = "two-state", good_length = 9"#), "`bad_length` is missing");
    refused(
        &model(r#"model = "two-state", good_length = 0, bad_length = 1"#),
        "a whole number of at least 1",
    );
    refused(&model(r#"model = "list", packets = [1], mark = 1"#), "true or false");
    refused(&model("to_bad = 0.1"), "`model` is missing");
}

#[test]
fn an_override_reaches_a_model() {
    let set = ["link.S-G.loss.forward={ model = \"periodic\", period = 9 }", "link.S-G.loss.forward.burst=2"];
    let scenario = read_text(SMALL, &set).unwrap();
    let periodic = LossModel::Periodic(PeriodicLoss { period: 9, offset: 0, burst: 2 });
    assert_eq!(scenario.links[0].forward.loss, periodic);
}
