use layercast_core::units::{Duration, Rate, Size};
use layercast_testkit::golden::{self, Case};

use super::drop_function::{Arrival, DropFunction, Verdict};
use super::{RedConfig, RedWeight};

fn case(id: &str) -> Case {
    golden::vector("vectors-active-and-unicast.json", id)
}

fn drop_function(config: RedConfig) -> DropFunction {
    DropFunction::new(&config, Rate::from_mbps(1.0), Duration::ZERO)
}

fn weighted(weight: f64) -> DropFunction {
    drop_function(RedConfig { weight: RedWeight::Fixed(weight), ..RedConfig::classic() })
}

#[test]
fn golden_averages() {
    for id in ["red-avg-01", "red-avg-02"] {
        let case = case(id);
        let mut drop_function = weighted(case.number("w_q"));
        let samples = golden::numbers(&case.input["queue_samples"]);
        let averages: Vec<f64> = samples
            .iter()
            .map(|&queue| {
                drop_function.sample(queue);
                drop_function.average
            })
            .collect();
        case.check_list("averages", &averages, &case.expected["averages"]);
        if id == "red-avg-01" {
            drop_function.decay(case.number("idle_m"));
            drop_function.sample(case.number("idle_sample"));
            case.check("after idle", drop_function.average, golden::number(&case.expected["after_idle"]));
        }
    }
}

#[test]
fn golden_automatic_parameters() {
    for id in ["red-auto-01", "red-auto-02", "red-auto-03"] {
        let case = case(id);
        let (rate, delay) =
            (Rate::from_bps(case.number("bandwidth_bps")), Duration::from_secs_f64(case.number("delay_s")));
        let config = RedConfig {
            mean_packet: Size::from_bytes(case.whole("mean_pktsize") as u32),
            target: Duration::from_secs_f64(case.number("target_delay")),
            average_bytes: false,
            ..RedConfig::ns2()
        };
        let drop_function = DropFunction::new(&config, rate, delay);
        let expected = |name: &str| golden::number(&case.expected[name]);
        case.check("ptc", config.packets_per_s(rate), expected("ptc"));
        case.check("w_q", drop_function.weight, expected("w_q"));
        case.check("min_th", drop_function.min, expected("min_th_pkts"));
        case.check("max_th", drop_function.max, expected("max_th_pkts"));
        case.check("bottom", drop_function.adaptive_bottom, expected("adaptive_bottom"));
        let in_bytes = DropFunction::new(&RedConfig { average_bytes: true, ..config }, rate, delay);
        case.check("min_th", in_bytes.min, expected("min_th_pkts") * case.number("mean_pktsize"));
    }
}

#[test]
fn golden_base_probabilities() {
    for number in 1..=10 {
        let case = case(&format!("red-pb-{number:02}"));
        for (name, gentle) in [("gentle", true), ("not_gentle", false)] {
            let mut drop_function = drop_function(RedConfig {
                min_threshold: Some(case.number("min_th")),
                max_threshold: Some(case.number("max_th")),
                max_probability: case.number("max_p"),
                gentle,
                ..RedConfig::classic()
            });
            drop_function.average = case.number("avg");
            case.check(name, drop_function.base_probability(), golden::number(&case.expected[name]));
        }
    }
}

#[test]
fn golden_probabilities_by_count() {
    let case = case("red-pa-01");
    for (name, wait) in [("wait", true), ("no_wait", false)] {
        let mut drop_function = drop_function(RedConfig { wait, ..RedConfig::classic() });
        let counts = golden::wholes(&case.input["counts"]);
        let probabilities: Vec<f64> = counts
            .into_iter()
            .map(|count| {
                drop_function.count = count;
                drop_function.probability(case.number("p_b"), 1000)
            })
            .collect();
        case.check_list(name, &probabilities, &case.expected[name]);
    }
}

#[test]
fn golden_probabilities_by_bytes() {
    let case = case("red-pa-02");
    for (name, wait) in [("wait", true), ("no_wait", false)] {
        let mut drop_function = drop_function(RedConfig {
            wait,
            byte_mode: true,
            mean_packet: Size::from_bytes(case.whole("mean_pktsize") as u32),
            ..RedConfig::classic()
        });
        drop_function.count_bytes = case.whole("count_bytes");
        let sizes = golden::wholes(&case.input["sizes"]);
        let probabilities: Vec<f64> =
            sizes.iter().map(|&size| drop_function.probability(case.number("p_b"), size as u32)).collect();
        case.check_list(name, &probabilities, &case.expected[name]);
    }
}

#[test]
fn golden_decisions() {
    let case = case("red-run-01");
    let mut drop_function = drop_function(RedConfig {
        min_threshold: Some(case.number("min_th")),
        max_threshold: Some(case.number("max_th")),
        max_probability: case.number("max_p"),
        weight: RedWeight::Fixed(1.0),
        gentle: true,
        wait: false,
        ..RedConfig::classic()
    });
    let mut uniforms = golden::numbers(&case.input["uniforms"]).into_iter();
    let rows = case.expected["decision_pa_count"].as_array().unwrap();
    let queues = golden::numbers(&case.input["queue"]);
    assert_eq!(rows.len(), queues.len());
    for (row, &queue) in rows.iter().zip(&queues) {
        drop_function.sample(queue);
        let is_full = queue >= case.number("limit");
        let arrival = Arrival { queue, size_bytes: 1000, is_ecn_capable: false, is_full };
        let verdict = match drop_function.decide(&arrival, || uniforms.next().unwrap()) {
            Verdict::Accept => "enqueue",
            Verdict::Mark => "mark",
            Verdict::Early => "early",
            Verdict::Forced => "forced",
        };
        assert_eq!(verdict, golden::text(&row[0]), "queue {queue}");
        case.check("p_a", drop_function.tested, golden::number(&row[1]));
        assert_eq!(drop_function.count, golden::whole(&row[2]), "queue {queue}");
    }
    assert_eq!(uniforms.next(), None, "a number is drawn only when the early test runs");
}

/// A drop function whose average equals the queue and is far above its lower threshold.
fn crossed(config: RedConfig) -> DropFunction {
    let mut drop_function = drop_function(RedConfig { weight: RedWeight::Fixed(1.0), wait: false, ..config });
    let arrival = Arrival { queue: 10.0, size_bytes: 1000, is_ecn_capable: true, is_full: false };
    drop_function.sample(10.0);
    assert_eq!(drop_function.decide(&arrival, || 0.0), Verdict::Accept, "the first above is spared");
    drop_function
}

#[test]
fn marks_up_to_a_probability_and_drops_above() {
    let decide = |queue: f64, is_ecn_capable: bool, mark_probability: Option<f64>| {
        let usual = RedConfig { gentle: true, ..RedConfig::classic() };
        let mut drop_function = crossed(RedConfig {
            mark_probability: mark_probability.unwrap_or(usual.mark_probability),
            use_mark_probability: mark_probability.is_some(),
            ..usual
        });
        drop_function.sample(queue);
        drop_function.decide(&Arrival { queue, size_bytes: 1000, is_ecn_capable, is_full: false }, || 0.0)
    };
    assert_eq!(decide(12.0, true, Some(0.1)), Verdict::Mark);
    assert_eq!(decide(12.0, false, Some(0.1)), Verdict::Early);
    assert_eq!(decide(20.0, true, Some(0.1)), Verdict::Early, "p_b is 0.4");
    assert_eq!(decide(20.0, true, None), Verdict::Mark);
    assert_eq!(decide(30.0, true, None), Verdict::Forced, "twice the upper threshold");
}

#[test]
fn a_full_queue_overrides() {
    let mut drop_function = crossed(RedConfig::classic());
    let arrival = Arrival { queue: 10.0, size_bytes: 1000, is_ecn_capable: true, is_full: true };
    assert_eq!(drop_function.decide(&arrival, || 0.0), Verdict::Forced);
    assert_eq!((drop_function.count, drop_function.count_bytes), (0, 0));
}

#[test]
fn adapts_towards_the_middle() {
    let mut drop_function = weighted(1.0);
    drop_function.sample(6.0);
    drop_function.adapt();
    assert!((drop_function.max_probability - 0.09).abs() < 1e-12, "too little queue: 0.9 times");
    drop_function.sample(10.0);
    drop_function.adapt();
    assert!((drop_function.max_probability - 0.09).abs() < 1e-12, "in the middle: as it is");
    drop_function.sample(14.0);
    drop_function.adapt();
    assert!((drop_function.max_probability - 0.10).abs() < 1e-12, "too much: 0.01 more");
    drop_function.max_probability = 0.02;
    drop_function.adapt();
    assert!((drop_function.max_probability - 0.025).abs() < 1e-12, "too much: a quarter more");
}
