use std::vec::Vec;

use super::*;
use layercast_core::math;

const TABLE_KBPS: [f64; 6] = [128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0];

fn rate_bounds(level: usize) -> RateBounds {
    let rate = |level: usize| TABLE_KBPS.get(level).map(|&kbps| Rate::from_kbps(kbps));
    RateBounds {
        below: level.checked_sub(1).and_then(rate),
        here: rate(level).expect("a level of the table"),
        above: rate(level + 1),
    }
}

fn known(kbps: f64) -> RateEstimate {
    RateEstimate::Known(Rate::from_kbps(kbps))
}

fn secs(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

fn manager(strategy: Strategy) -> Manager {
    Manager::new(&Options { strategy, ..Options::default() })
}

/// Feeds rate samples to a manager and returns the changes as (seconds, new level).
fn run(
    manager: &mut Manager,
    mut level: usize,
    samples: &[(f64, RateEstimate)],
    end: f64,
) -> Vec<(f64, usize)> {
    let mut changes = Vec::new();
    for (index, &(at, rate)) in samples.iter().enumerate() {
        let until = samples.get(index + 1).map_or(secs(end), |&(next, _)| secs(next));
        let mut now = secs(at);
        manager.on_rate(now, rate, &rate_bounds(level));
        loop {
            if let Some(step) = manager.poll(now) {
                level = if step == Step::Join { level + 1 } else { level - 1 };
                manager.level_changed(now, step);
                changes.push((now.as_secs_f64(), level));
            }
            match manager.next_deadline() {
                Some(at) if at < until => now = at,
                _ => break,
            }
        }
    }
    changes
}

#[test]
fn skeptical_waits_for_the_whole_time_and_equality_changes_nothing() {
    let samples = [(0.0, known(1100.0)), (10.0, known(1024.0)), (20.0, known(1100.0)), (24.0, known(1030.0))];
    assert_eq!(run(&mut manager(Strategy::Skeptical), 2, &samples, 60.0), [(25.0, 3)]);
    let samples = [(0.0, known(1100.0)), (10.0, known(1023.0)), (20.0, known(1100.0))];
    assert_eq!(run(&mut manager(Strategy::Skeptical), 2, &samples, 60.0), [(45.0, 3)]);
    let samples = [(0.0, known(500.0)), (10.0, known(512.0)), (11.0, known(400.0))];
    assert_eq!(run(&mut manager(Strategy::Skeptical), 2, &samples, 60.0), [(25.0, 1)]);
}

#[test]
fn without_losses_joins_keep_their_distance() {
    let samples: Vec<_> = (0..200).map(|i| (f64::from(i) * 0.1, RateEstimate::Unbounded)).collect();
    let changes = run(&mut manager(Strategy::Lazy), 0, &samples, 20.0);
    assert_eq!(changes, [(0.0, 1), (5.0, 2), (10.0, 3), (15.0, 4)]);
}

#[test]
fn an_unknown_rate_stops_the_timers() {
    let samples = [(0.0, known(1100.0)), (10.0, RateEstimate::Unknown)];
    assert_eq!(run(&mut manager(Strategy::Lazy), 2, &samples, 100.0), []);
}

#[test]
fn a_passive_zone_delays_the_start_but_not_the_cancelling() {
    let options = Options { z_up: 0.5, z_down: 0.5, ..Options::default() };
    let run = |level, samples: &[_]| run(&mut Manager::new(&options), level, samples, 100.0);
    assert_eq!(run(2, &[(0.0, known(1200.0))]), []);
    assert_eq!(run(2, &[(0.0, known(1300.0)), (1.0, known(1100.0))]).len(), 1);
    assert_eq!(run(3, &[(0.0, known(800.0))]), []);
    assert_eq!(run(3, &[(0.0, known(700.0)), (1.0, known(1000.0))]).len(), 1);
}

#[test]
fn progress_counts_each_stretch_by_its_own_delay() {
    let options =
        Options { timer_update: super::super::options::TimerUpdate::Progress, ..Options::default() };
    // Half of 12.5 s, then half of 25 * (1 - 76/512) s.
    let changes = run(&mut Manager::new(&options), 2, &[(0.0, known(1280.0)), (6.25, known(1100.0))], 60.0);
    let expected = 6.25 + 12.5 * (1.0 - 76.0 / 512.0);
    assert_eq!(changes.len(), 1);
    assert!((changes[0].0 - expected).abs() < 1e-6, "{changes:?}");
}

#[test]
fn reactivity_shapes_the_delay_between_none_and_all_of_it() {
    // Half a gap above level 3, and half a gap below it.
    let (above, below) = ([(0.0, known(1280.0))], [(0.0, known(768.0))]);
    for (exponent, half) in [(1.0, 0.5), (0.5, math::sqrt(0.5)), (2.0, 0.25), (3.0, 0.125)] {
        let options = Options { join_reactivity: exponent, leave_reactivity: exponent, ..Options::default() };
        let join = run(&mut Manager::new(&options), 2, &above, 60.0);
        let leave = run(&mut Manager::new(&options), 3, &below, 60.0);
        for (changes, level) in [(&join, 3), (&leave, 2)] {
            assert_eq!(changes.len(), 1, "{exponent}: {changes:?}");
            assert_eq!(changes[0].1, level);
            assert!((changes[0].0 - 25.0 * (1.0 - half)).abs() < 1e-6, "{exponent}: {changes:?}");
        }
        // Whatever the function, a whole gap takes no time, and almost none takes the maximum.
        assert_eq!(run(&mut Manager::new(&options), 2, &[(0.0, known(1536.0))], 60.0)[0].0, 0.0);
    }
    let near = run(&mut manager(Strategy::Lazy), 2, &[(0.0, known(1024.0 + 1e-6))], 60.0);
    assert!((near[0].0 - 25.0).abs() < 1e-3, "{near:?}");
}

#[test]
fn joins_and_leaves_have_longest_delays_of_their_own() {
    let (t_join_max, t_leave_max) = (Duration::from_secs(40), Duration::from_secs(10));
    let options = Options { t_join_max, t_leave_max, ..Options::default() };
    let join = run(&mut Manager::new(&options), 2, &[(0.0, known(1280.0))], 60.0);
    let leave = run(&mut Manager::new(&options), 3, &[(0.0, known(768.0))], 60.0);
    assert_eq!(join, [(20.0, 3)]);
    assert!((leave[0].0 - 10.0 * (1.0 - math::sqrt(0.5))).abs() < 1e-6, "{leave:?}");
}

#[test]
fn naive_follows_each_rate_unless_it_keeps_a_distance() {
    let samples: Vec<_> =
        (0..8).map(|i| (f64::from(i), known(if i % 2 == 0 { 1100.0 } else { 900.0 }))).collect();
    assert_eq!(run(&mut manager(Strategy::Naive), 2, &samples, 8.0).len(), 8);
    let options =
        Options { strategy: Strategy::Naive, min_gap: Duration::from_secs(3), ..Options::default() };
    assert_eq!(run(&mut Manager::new(&options), 2, &samples, 8.0), [(0.0, 3), (3.0, 2), (6.0, 3)]);
}
