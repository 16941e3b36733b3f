use super::*;

const BASE: Rate = Rate::from_kbps(128.0);
const RTT: Duration = Duration::from_ms(60);

/// The rate bounds of a level of a doubling structure of seven layers.
fn rate_bounds(level: u16) -> RateBounds {
    let rate = |level: u16| Rate::from_kbps(128.0 * f64::from(1 << level));
    RateBounds {
        below: level.checked_sub(1).map(rate),
        here: rate(level),
        above: (level < 6).then(|| rate(level + 1)),
    }
}

fn known(kbps: f64) -> RateEstimate {
    RateEstimate::Known(Rate::from_kbps(kbps))
}

fn secs(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

fn joined(level: u16) -> SlowStart {
    SlowStartPlan::new(&Options::default()).after_join(Time::ZERO, RTT, BASE, rate_bounds(level).here)
}

#[test]
fn a_low_rate_ends_it_only_after_the_deaf_period() {
    let slow_start = joined(2);
    assert_eq!(slow_start.poll(secs(1.2), known(100.0), &rate_bounds(2), 2), None);
    assert_eq!(slow_start.poll(secs(1.25), known(511.0), &rate_bounds(2), 2), Some(SlowStartStep::End));
    assert_eq!(slow_start.poll(secs(1.25), known(512.0), &rate_bounds(2), 2), None);
    assert_eq!(slow_start.poll(secs(5.0), known(512.0), &rate_bounds(2), 2), Some(SlowStartStep::Join));
}

#[test]
fn at_the_base_layer_the_rate_is_asked_before_the_join() {
    assert_eq!(joined(0).poll(secs(5.0), known(100.0), &rate_bounds(0), 0), Some(SlowStartStep::End));
    assert_eq!(joined(0).poll(secs(5.0), known(128.0), &rate_bounds(0), 0), Some(SlowStartStep::Join));
}

#[test]
fn without_a_round_trip_time_it_climbs_two_layers_and_holds() {
    let unknown = RateEstimate::Unknown;
    assert_eq!(joined(1).poll(secs(5.0), unknown, &rate_bounds(1), 1), Some(SlowStartStep::Join));
    assert_eq!(joined(2).poll(secs(50.0), unknown, &rate_bounds(2), 2), None);
    assert_eq!(joined(2).next_deadline(unknown, &rate_bounds(2), 2), None);
    let unbounded = RateEstimate::Unbounded;
    assert_eq!(joined(2).poll(secs(50.0), unbounded, &rate_bounds(2), 2), Some(SlowStartStep::Join));
}

#[test]
fn at_the_top_it_ends_when_the_deaf_period_has_passed() {
    let slow_start = joined(6);
    let end = Time::ZERO + Duration::from_secs(5).scaled(1.0 / 64.0);
    assert_eq!(slow_start.next_deadline(RateEstimate::Unbounded, &rate_bounds(6), 6), Some(end));
    assert_eq!(slow_start.poll(end, RateEstimate::Unbounded, &rate_bounds(6), 6), Some(SlowStartStep::End));
}

#[test]
fn the_naive_strategy_climbs_by_round_trips() {
    let options = Options { strategy: Strategy::Naive, ..Options::default() };
    let slow_start = SlowStartPlan::new(&options).after_join(Time::ZERO, RTT, BASE, rate_bounds(3).here);
    let next = slow_start.next_deadline(RateEstimate::Unbounded, &rate_bounds(3), 3);
    assert_eq!(next, Some(Time::ZERO + RTT * 4));
}
