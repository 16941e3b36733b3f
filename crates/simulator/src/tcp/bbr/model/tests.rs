//! What acknowledgements and losses make of the model.

use super::*;

fn model() -> Model {
    Model::new(Time::ZERO, Some(Duration::from_ms(40)), 10.0)
}

fn delivering(rate: f64, app_limited: bool) -> Sample {
    Sample { rate, app_limited, newly_acked: 1, delivered: 1, ..Sample::default() }
}

#[test]
fn the_bandwidth_is_the_maximum_of_two_cycles() {
    let mut model = model();
    model.deliver(&delivering(1000.0, false), 1);
    model.end_cycle();
    model.deliver(&delivering(500.0, false), 2);
    assert_eq!(model.max_bw(), 1000.0);
    model.deliver(&delivering(700.0, true), 3);
    model.end_cycle();
    assert_eq!(model.max_bw(), 500.0, "a limited sample does not count");
    model.end_cycle();
    assert_eq!(model.max_bw(), 500.0, "nor does an empty cycle");
    model.deliver(&delivering(700.0, true), 4);
    assert_eq!(model.max_bw(), 700.0, "but a larger one does");
}

#[test]
fn a_lossy_round_lowers_the_bounds_to_what_was_delivered() {
    let mut model = model();
    model.deliver(&Sample { delivered: 30, ..delivering(1000.0, false) }, 1);
    model.lose(7, 1);
    model.end_loss_round(50.0, true);
    assert!(model.inflight_short.is_infinite(), "not while it probes");
    model.lose(9, 1);
    model.end_loss_round(50.0, false);
    assert_eq!((model.bw_short, model.inflight_short), (1000.0, 35.0));
    model.reset_congestion();
    model.lose(11, 1);
    model.end_loss_round(50.0, false);
    assert!((model.bw_short - 700.0).abs() < 1e-9 && (model.inflight_short - 24.5).abs() < 1e-9);
}

#[test]
fn losses_count_in_ranges() {
    let mut model = model();
    [3, 4, 5, 9, 11, 12].into_iter().for_each(|seq| model.lose(seq, 0));
    assert_eq!(model.lost_ranges, 3);
}

#[test]
fn the_smallest_round_trip_time_is_kept_for_ten_seconds() {
    let mut model = model();
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    let rtt = |ms| Some(Duration::from_ms(ms));
    model.update_min_rtt(at(4000), rtt(50));
    assert_eq!((model.min_rtt, model.recent_rtt_expired), (rtt(40), false));
    model.update_min_rtt(at(5001), rtt(60));
    assert_eq!((model.min_rtt, model.recent_rtt_expired), (rtt(40), true));
    model.update_min_rtt(at(5002), rtt(55));
    model.update_min_rtt(at(10_001), rtt(70));
    assert_eq!(model.min_rtt, rtt(55), "what the last look for it gave");
}

#[test]
fn the_threshold_is_crossed_within_what_was_in_flight() {
    assert!(!is_too_high(2, 100.0) && is_too_high(3, 100.0));
    // Without a loss before, (0.02 * 99) / 0.98 of the packet's volume fit besides the 99.
    assert!((inflight_at_loss(1, 100.0) - (99.0 + 1.98 / 0.98)).abs() < 1e-9);
    assert_eq!(inflight_at_loss(9, 100.0), 99.0);
}

#[test]
fn aggregation_is_forgotten_after_ten_rounds() {
    let mut maxima = RoundMaxima::default();
    maxima.insert(5, 3.0);
    maxima.insert(5, 2.0);
    maxima.insert(9, 1.0);
    assert_eq!((maxima.max(14, 10), maxima.max(9, 1), maxima.max(15, 10)), (3.0, 1.0, 1.0));
}
