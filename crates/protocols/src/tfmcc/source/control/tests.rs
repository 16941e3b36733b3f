use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::*;

const R_MAX: Duration = Duration::from_ms(500);
const ROUND: Duration = Duration::from_secs(3);
const BOUNDS: Bounds = Bounds { packet_bytes: 1000.0, low: 125.0, high: 1e6 };

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn id(number: u64) -> ReceiverId {
    ReceiverId(NonZeroU64::new(number).unwrap())
}

fn report(number: u64, rate: f64) -> ReportSummary {
    ReportSummary { receiver: id(number), rate, has_loss: true, leaving: false }
}

fn control() -> Control {
    Control::new(BOUNDS, 10.0, R_MAX, at(0))
}

/// Receiver 1 limits the rate to 10 000 byte/s, after slow start.
fn limited() -> Control {
    let mut control = control();
    control.on_report(at(0), &ReportSummary { has_loss: false, ..report(1, 20_000.0) }, R_MAX, ROUND);
    control.advance(at(500), R_MAX);
    control.on_report(at(500), &report(1, 10_000.0), R_MAX, ROUND);
    assert_eq!((control.limiting(), control.rate()), (Some(id(1)), 10_000.0));
    control
}

#[test]
fn it_starts_with_one_packet_a_round_trip_time() {
    let control = control();
    assert_eq!((control.rate(), control.limiting()), (2000.0, None));
    assert!(control.in_slow_start());
}

#[test]
fn slow_start_reaches_its_target_in_one_round_trip_time() {
    let mut control = control();
    control.on_report(at(0), &ReportSummary { has_loss: false, ..report(1, 8000.0) }, R_MAX, ROUND);
    control.advance(at(250), R_MAX);
    assert_eq!(control.rate(), 5000.0);
    control.advance(at(600), R_MAX);
    assert_eq!(control.rate(), 8000.0);
    // A receiver that asks for less than the target limits it, though the rate is not there yet.
    control.on_report(at(600), &ReportSummary { has_loss: false, ..report(1, 16_000.0) }, R_MAX, ROUND);
    control.on_report(at(600), &ReportSummary { has_loss: false, ..report(2, 12_000.0) }, R_MAX, ROUND);
    assert_eq!(control.limiting(), Some(id(2)));
    // The first loss ends it; growth is a packet per round-trip time from here on.
    control.on_report(at(600), &report(2, 12_000.0), R_MAX, ROUND);
    assert!(!control.in_slow_start());
    control.advance(at(1100), R_MAX);
    assert_eq!(control.rate(), 10_000.0);
}

#[test]
fn the_rate_falls_at_once_and_grows_by_a_packet_a_round_trip_time() {
    let mut control = limited();
    control.on_report(at(600), &report(1, 4000.0), R_MAX, ROUND);
    assert_eq!(control.rate(), 4000.0);
    control.on_report(at(1000), &report(1, 30_000.0), R_MAX, ROUND);
    for ms in [1100, 1200, 1300, 1500] {
        control.advance(at(ms), R_MAX);
    }
    assert!((control.rate() - 6000.0).abs() < 1e-6, "{}", control.rate());
}

#[test]
fn only_a_receiver_that_asks_for_less_than_the_rate_takes_over() {
    let mut control = limited();
    control.on_report(at(600), &report(2, 10_000.0), R_MAX, ROUND);
    control.on_report(at(600), &ReportSummary { leaving: true, ..report(3, 100.0) }, R_MAX, ROUND);
    assert_eq!(control.limiting(), Some(id(1)));
    control.on_report(at(600), &report(2, 9999.0), R_MAX, ROUND);
    assert_eq!((control.limiting(), control.rate()), (Some(id(2)), 9999.0));
}

#[test]
fn no_report_moves_the_rate_out_of_its_bounds() {
    let mut control = limited();
    control.on_report(at(600), &report(2, 0.0), R_MAX, ROUND);
    assert_eq!(control.rate(), BOUNDS.low);
    // At the floor no receiver can ask for less, so the role stays where it is.
    control.on_report(at(600), &report(3, 1.0), R_MAX, ROUND);
    assert_eq!(control.limiting(), Some(id(2)));
    control.on_report(at(700), &report(2, 1e12), R_MAX, ROUND);
    control.advance(at(10_000_000), R_MAX);
    assert_eq!(control.rate(), BOUNDS.high);
}

#[test]
fn after_the_limiting_receiver_left_the_rate_waits_a_round() {
    let mut control = limited();
    control.on_report(at(600), &ReportSummary { leaving: true, ..report(1, 10_000.0) }, R_MAX, ROUND);
    assert_eq!((control.limiting(), control.rate()), (None, 10_000.0));
    control.on_report(at(1000), &report(2, 50_000.0), R_MAX, ROUND);
    assert_eq!(control.limiting(), Some(id(2)));
    control.advance(at(3000), R_MAX);
    assert_eq!(control.rate(), 10_000.0, "held for a round");
    // A lower one reports in time, though it asks for more than the rate.
    control.on_report(at(3500), &report(3, 20_000.0), R_MAX, ROUND);
    assert_eq!(control.limiting(), Some(id(3)));
    control.advance(at(4500), R_MAX);
    assert_eq!(control.rate(), 12_000.0, "half a second after the hold");
}

/// Polls whenever something is due, up to a time, and returns when the rate fell.
fn run(control: &mut Control, end: Time) -> Vec<u64> {
    let mut falls = Vec::new();
    while control.deadline(R_MAX) <= end {
        let now = control.deadline(R_MAX);
        if control.poll(now, R_MAX, ROUND) {
            falls.push(now.as_ns() / 1_000_000);
        }
        assert!(control.deadline(R_MAX) > now);
    }
    falls
}

#[test]
fn a_limiting_receiver_that_falls_silent_is_given_up() {
    // It reports until 10 s, others continue: halved after 4 round-trip times, given up after 10.
    let mut control = limited();
    control.on_report(at(10_000), &report(1, 10_000.0), R_MAX, ROUND);
    control.on_report(at(11_000), &report(2, 90_000.0), R_MAX, ROUND);
    assert_eq!(run(&mut control, at(14_999)), [12_000]);
    assert_eq!(control.limiting(), Some(id(1)));
    control.on_report(at(14_999), &report(2, 90_000.0), R_MAX, ROUND);
    assert!(run(&mut control, at(15_000)).is_empty());
    assert_eq!((control.limiting(), control.rate()), (None, 5000.0));
    control.on_report(at(15_100), &report(2, 90_000.0), R_MAX, ROUND);
    assert_eq!(control.limiting(), Some(id(2)));
}

#[test]
fn a_new_limiting_receiver_has_time() {
    // Chosen at 0.6 s without any later report: what would be due at 2.6 s waits until 5.6 s, when it is
    // given up and silence halves the rate.
    let mut control = limited();
    control.on_report(at(600), &report(2, 8000.0), R_MAX, ROUND);
    assert_eq!(run(&mut control, at(5600)), [5600]);
    assert_eq!((control.limiting(), control.rate()), (None, 4000.0));
}

#[test]
fn silence_halves_the_rate_again_and_again() {
    let mut control = limited();
    control.on_report(at(600), &report(2, 8000.0), R_MAX, ROUND);
    assert_eq!(run(&mut control, at(25_600)), [5600, 10_600, 15_600, 20_600, 25_600]);
    assert_eq!(control.rate(), 250.0);
    run(&mut control, at(100_000));
    assert_eq!(control.rate(), BOUNDS.low);
}

#[test]
fn after_a_pause_slow_start_goes_up_to_the_rate_before() {
    let mut control = limited();
    // The limiting receiver is late at 5 s, and silence halves at 5.5 s and 10.5 s.
    assert_eq!(run(&mut control, at(10_500)), [5000, 5500, 10_500]);
    assert_eq!(control.rate(), 1250.0);
    control.resume(at(10_500), 10_000.0);
    assert!(control.in_slow_start());
    control.on_report(at(10_500), &ReportSummary { has_loss: false, ..report(1, 40_000.0) }, R_MAX, ROUND);
    control.advance(at(10_700), R_MAX);
    assert!(control.rate() > 10_000.0 && !control.in_slow_start());
}

fn leaving(number: u64) -> ReportSummary {
    ReportSummary { leaving: true, ..report(number, 10_000.0) }
}

/// Receiver 2 took the role from receiver 1 at 0.6 s and limits the rate to 4000 byte/s.
fn taken_over() -> Control {
    let mut control = limited();
    control.on_report(at(600), &report(2, 4000.0), R_MAX, ROUND);
    assert_eq!((control.limiting(), control.rate()), (Some(id(2)), 4000.0));
    control
}

#[test]
fn the_former_limiting_receiver_is_followed_again_without_a_jump() {
    let mut control = taken_over();
    control.on_report(at(1000), &leaving(2), R_MAX, ROUND);
    assert_eq!((control.limiting(), control.rate()), (Some(id(1)), 4000.0), "no report was needed");
    control.advance(at(4000), R_MAX);
    assert_eq!(control.rate(), 4000.0, "a round for lower ones");
    control.advance(at(4500), R_MAX);
    assert_eq!(control.rate(), 6000.0, "then a packet per round-trip time");
    control.advance(at(60_000), R_MAX);
    assert_eq!(control.rate(), 10_000.0, "up to what it asked for last");
    // It has time to report as the limiting one, and is given up as any other.
    assert_eq!(run(&mut control, at(6000)), [6000], "not halved before, as for any new one");
    assert_eq!(control.limiting(), None);
}

#[test]
fn a_former_limiting_receiver_that_fell_silent_is_forgotten_in_time() {
    let mut control = taken_over();
    // Ten round-trip times after it lost the role it is forgotten ...
    control.on_report(at(5600), &leaving(2), R_MAX, ROUND);
    assert_eq!(control.limiting(), None);
    // ... unless it has reported since, and then its last report counts.
    let mut control = taken_over();
    control.on_report(at(3000), &report(1, 7000.0), R_MAX, ROUND);
    control.on_report(at(5600), &leaving(2), R_MAX, ROUND);
    assert_eq!(control.limiting(), Some(id(1)));
    control.advance(at(60_000), R_MAX);
    assert_eq!(control.rate(), 7000.0);
}

#[test]
fn a_former_limiting_receiver_that_left_is_not_followed() {
    let mut control = taken_over();
    control.on_report(at(700), &leaving(1), R_MAX, ROUND);
    control.on_report(at(1000), &leaving(2), R_MAX, ROUND);
    assert_eq!(control.limiting(), None);
    // Nor is the one that has just gone, when no other came in between.
    let mut control = limited();
    control.on_report(at(600), &leaving(1), R_MAX, ROUND);
    assert_eq!(control.limiting(), None);
}

#[test]
fn without_a_memory_the_next_report_decides() {
    let mut control = Control::new(BOUNDS, 0.0, R_MAX, at(0));
    control.on_report(at(0), &report(1, 10_000.0), R_MAX, ROUND);
    control.on_report(at(0), &report(2, 1000.0), R_MAX, ROUND);
    control.on_report(at(0), &leaving(2), R_MAX, ROUND);
    assert_eq!(control.limiting(), None);
}

#[test]
fn a_former_limiting_receiver_never_lowers_the_rate_by_what_it_said_long_ago() {
    let mut control = taken_over();
    control.on_report(at(700), &report(2, 30_000.0), R_MAX, ROUND);
    control.advance(at(5000), R_MAX);
    let before = control.rate();
    assert!(before > 10_000.0, "{before}");
    control.on_report(at(5000), &leaving(2), R_MAX, ROUND);
    assert_eq!((control.limiting(), control.rate()), (Some(id(1)), before));
}
