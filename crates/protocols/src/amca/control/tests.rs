use super::*;
use crate::amca::Profile;

const PACKET: Size = Size::from_bytes(1000);
/// 100 packets/s.
const RATE: Rate = Rate::from_bps(800_000.0);
const CALM: Step = Step {
    period_s: 0.32,
    rtt_var_s: 0.0,
    unacknowledged: 0.0,
    received_bps: None,
    rtt_max_s: Some(0.1),
    is_marked: false,
};

/// In avoidance, at [`RATE`].
fn control(options: &Options) -> Control {
    let mut control = Control::new(Rules::new(options, PACKET)).at_rate(RATE);
    control.on_nack(Time::ZERO, 1, Duration::ZERO);
    assert_eq!(control.phase(), Phase::Avoidance);
    control
}

fn with_profile(profile: Profile) -> Control {
    control(&Options { profile, ..Options::default() })
}

/// The ratio of the rate to what it was, after reports at these milliseconds.
fn after(mut control: Control, reports: &[(u64, Step)]) -> f64 {
    let before = control.rate().as_bps();
    for (at_ms, step) in reports {
        control.on_report(Time::ZERO + Duration::from_ms(*at_ms), *step);
    }
    control.rate().as_bps() / before
}

#[test]
fn the_rate_changes_once_in_a_round_trip() {
    let twice_soon = [(1000, CALM), (1050, CALM)];
    let twice = [(1000, CALM), (1101, CALM)];
    assert!((after(with_profile(Profile::Backlog), &twice_soon) - 1.05).abs() < 1e-9);
    assert!((after(with_profile(Profile::Backlog), &twice) - 1.05 * 1.05).abs() < 1e-9);
    assert!(
        (after(with_profile(Profile::Literal), &twice_soon) - 1.05 * 1.05).abs() < 1e-9,
        "as the report has it"
    );
}

#[test]
fn the_rate_does_not_grow_far_beyond_what_was_received() {
    // The queue drains as if twice the rate were possible.
    let draining = |received_bps| Step { rtt_var_s: -0.2, received_bps, ..CALM };
    let grown = |received_bps| after(with_profile(Profile::Backlog), &[(1000, draining(received_bps))]);
    assert!((grown(None) - 2.0).abs() < 1e-9);
    assert!((grown(Some(800_000.0)) - 2.0).abs() < 1e-9);
    assert!((grown(Some(600_000.0)) - 1.5).abs() < 1e-9);
    assert!((grown(Some(100_000.0)) - 1.0).abs() < 1e-9, "it is not a cut");
    let filling = Step { rtt_var_s: 0.32, received_bps: Some(100_000.0), ..CALM };
    assert!((after(with_profile(Profile::Backlog), &[(1000, filling)]) - 0.5).abs() < 1e-9);
}

#[test]
fn what_waits_beyond_beta_is_let_off() {
    let waiting = |unacknowledged| Step { unacknowledged, ..CALM };
    let once = |profile, unacknowledged| after(with_profile(profile), &[(1000, waiting(unacknowledged))]);
    // 32 packets in a period: of 11 queued packets 8 are too many.
    assert!((once(Profile::Backlog, 11.0) - 24.0 / 32.0).abs() < 1e-9);
    assert!((once(Profile::Backlog, 100.0) - 0.5).abs() < 1e-9, "at least half is sent");
    assert!((once(Profile::Backlog, 3.0) - 1.0).abs() < 1e-9);
    assert!((once(Profile::Count, 11.0) - 1.0).abs() < 1e-9, "the queue stays as it is");
    // While the queue drains or grows, the rate is that of the bottleneck.
    let draining = Step { unacknowledged: 11.0, rtt_var_s: -0.16, ..CALM };
    assert!((after(with_profile(Profile::Backlog), &[(1000, draining)]) - 2.0).abs() < 1e-9);
}
