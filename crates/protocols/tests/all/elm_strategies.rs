//! The effects of the options of ELM's subscription management on a whole session (thesis 6.1): how often a
//! receiver changes its level behind a path that loses 3 %, where its fair rate, 738 kbit/s on average,
//! swings around the levels of 512 and 1024 kbit/s.

use crate::plan::{receiver, source};
use layercast_core::contract::TraceEvent;
use layercast_core::units::{Duration, Time};
use layercast_protocols::elm::Options;
use layercast_protocols::elm::options::{Smoothing, SmoothingSampling, Strategy};
use layercast_testkit::{Pair, Path, runs_long};

/// The level changes of eight receivers together in the 300 s after the first 60. Each path has losses of
/// its own, the same in every call.
fn level_changes(options: &Options) -> usize {
    let path = Path { loss: 0.03, ..Path::default() };
    let receivers = (0..8).map(|seed| (receiver(options, seed), path)).collect();
    let mut pair = Pair::new(source(options), receivers, Time::ZERO, 7);
    pair.run(Duration::from_secs(60));
    let from = pair.now();
    pair.run(Duration::from_secs(300));
    let changes = |index: usize| {
        let notes = pair.record(index).notes.iter().filter(|(at, _)| *at > from);
        notes.filter(|(_, note)| matches!(note, TraceEvent::LevelChanged { .. })).count()
    };
    (0..8).map(changes).sum()
}

fn naive(smoothing: Smoothing) -> Options {
    Options { strategy: Strategy::Naive, smoothing, ..Options::default() }
}

/// The naive strategy acts on each swing of the rate; one with timers acts on those that last. A factor
/// of 4 is far below what is measured, and far above what chance does to hundreds of changes.
#[test]
fn timers_spare_level_changes() {
    if !runs_long("hundreds of seconds with each strategy") {
        return;
    }
    let without_timer = level_changes(&naive(Smoothing::PercentileMean));
    for strategy in [Strategy::Skeptical, Strategy::Lazy] {
        let changes = level_changes(&Options { strategy, ..Options::default() });
        assert!(4 * changes < without_timer, "{strategy:?}: {changes}, naive: {without_timer}");
    }
}

/// A hundred packets are about a second at these levels, and a loss event comes every few tenths: each
/// smoothing hides a part of the swings from the naive strategy.
#[test]
fn every_smoothing_calms_the_naive_strategy() {
    if !runs_long("hundreds of seconds with each smoothing") {
        return;
    }
    let raw = level_changes(&naive(Smoothing::None));
    for smoothing in [Smoothing::WindowMean, Smoothing::PercentileMean] {
        let changes = level_changes(&naive(smoothing));
        assert!(changes < raw, "{smoothing:?}: {changes}, none: {raw}");
    }
    let smoothing_alpha = 0.01;
    let slow_mean = level_changes(&Options { smoothing_alpha, ..naive(Smoothing::Ewma) });
    let quick_mean = level_changes(&Options { smoothing_alpha: 1.0, ..naive(Smoothing::Ewma) });
    assert!(slow_mean < raw, "weighted mean: {slow_mean}, none: {raw}");
    assert_eq!(quick_mean, raw, "a mean that has forgotten all is the rate itself");
    // Five seconds of values, instead of about one, hide more.
    let long = Options {
        smoothing_sampling: SmoothingSampling::Interval,
        smoothing_window: 50,
        ..naive(Smoothing::PercentileMean)
    };
    let (short, long) = (level_changes(&naive(Smoothing::PercentileMean)), level_changes(&long));
    assert!(long < short, "5 s: {long}, 100 values: {short}");
}

/// Each of these makes the lazy strategy lazier. They are tried with short constants, since with those of
/// the thesis the eight receivers together change their level a dozen times, too few to compare.
#[test]
fn laziness_spares_level_changes() {
    if !runs_long("hundreds of seconds with each option") {
        return;
    }
    let short = Duration::from_secs(2);
    let base = Options { t_join_max: short, t_leave_max: short, ..Options::default() };
    let changes = level_changes(&base);
    let less_reactive = Options { join_reactivity: 4.0, leave_reactivity: 4.0, ..base.clone() };
    let zone = Options { z_up: 0.5, z_down: 0.5, ..base.clone() };
    for (name, options) in [("delays", Options::default()), ("reactivity", less_reactive), ("zone", zone)] {
        let lazier = level_changes(&options);
        assert!(lazier < changes, "{name}: {lazier}, before: {changes}");
    }
    // And almost no delay makes it less lazy.
    let none = Options { t_join_max: Duration::from_ms(1), t_leave_max: Duration::from_ms(1), ..base };
    assert!(level_changes(&none) > changes);
}
