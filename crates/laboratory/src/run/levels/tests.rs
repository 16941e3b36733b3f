use super::*;
use layercast_core::contract::Cause;
use proptest::prelude::*;

pub(in crate::run) fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// A log from (time, number of layers held from then on).
pub(in crate::run) fn log(steps: &[(f64, u16)]) -> Vec<LevelChange> {
    let mut from = Level::NONE;
    let change = |&(seconds, layers): &(f64, u16)| {
        let to = Level::from_count(layers);
        let change = LevelChange { at: at(seconds), from, to, cause: Cause::RateAbove };
        from = to;
        change
    };
    steps.iter().map(change).collect()
}

#[test]
fn averages_over_time() {
    let changes = log(&[(10.0, 1), (15.0, 2), (20.0, 3)]);
    assert_eq!(mean_level(&changes, at(10.0), at(20.0)), 0.5);
    assert_eq!(mean_level(&changes, at(0.0), at(20.0)), (-10.0 + 0.0 + 5.0) / 20.0);
    assert_eq!(mean_level(&changes, at(30.0), at(40.0)), 2.0);
}

#[test]
fn counts_joins_and_leaves_after_the_first() {
    let changes = log(&[(10.0, 1), (15.0, 2), (20.0, 1), (25.0, 3)]);
    assert_eq!(joins_and_leaves(&changes, at(5.0)), 0);
    assert_eq!(joins_and_leaves(&changes, at(10.0)), 0);
    assert_eq!(joins_and_leaves(&changes, at(100.0)), 4);
}

#[test]
fn settles_when_it_last_enters_the_band_around_its_median() {
    let changes = log(&[(10.0, 1), (15.0, 2), (20.0, 5), (25.0, 4), (60.0, 1), (61.0, 4)]);
    assert_eq!(settled_after_s(&changes, at(10.0), at(100.0)), Some(51.0));
    let calm = log(&[(10.0, 3), (50.0, 4), (90.0, 3)]);
    assert_eq!(settled_after_s(&calm, at(10.0), at(100.0)), Some(0.0));
    let restless = log(&[(10.0, 5), (99.0, 1)]);
    assert_eq!(settled_after_s(&restless, at(10.0), at(100.0)), None);
}

#[test]
fn a_dip_is_the_first_fall_below_the_level_at_the_start() {
    let changes = log(&[(10.0, 4), (20.0, 5), (25.0, 4), (40.0, 3), (50.0, 2), (70.0, 3), (80.0, 4)]);
    assert_eq!(dip(&changes, at(30.0), at(90.0)), Some(Dip { fell: at(40.0), back: Some(at(80.0)) }));
    assert_eq!(dip(&changes, at(30.0), at(75.0)), Some(Dip { fell: at(40.0), back: None }));
    assert_eq!(dip(&changes, at(30.0), at(39.0)), None);
    assert_eq!(dip(&changes, at(10.0), at(39.0)), None, "a return to the level of the start is not a fall");
    assert_eq!(dip(&changes, at(0.0), at(90.0)), None, "below no layer there is nothing");
}

#[test]
fn a_level_is_reached_when_it_or_a_higher_one_is_held() {
    let changes = log(&[(10.0, 1), (15.0, 2), (20.0, 4), (30.0, 3)]);
    assert_eq!(reached(&changes, Level::from_count(3), at(100.0)), Some(at(20.0)));
    assert_eq!(reached(&changes, Level::from_count(3), at(19.0)), None);
    assert_eq!(reached(&changes, Level::from_count(5), at(100.0)), None);
}

/// A log of up to 30 steps within 100 s, and its steps.
fn any_log() -> impl Strategy<Value = Vec<LevelChange>> {
    prop::collection::vec((0u32..100_000, 0u16..8), 0..30).prop_map(|mut steps| {
        steps.sort_by_key(|&(ms, _)| ms);
        let steps: Vec<_> = steps.iter().map(|&(ms, count)| (f64::from(ms) / 1e3, count)).collect();
        log(&steps)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_mean_is_that_of_many_looks(changes in any_log(), from in 0u32..50, length in 1u32..50) {
        let (start, end) = (f64::from(from), f64::from(from + length));
        // In the middle of each of the milliseconds between which levels change.
        let looks = (from * 1000..(from + length) * 1000).map(|ms| (f64::from(ms) + 0.5) / 1e3);
        let total: i64 = looks.map(|now| i64::from(level_at(&changes, at(now)).as_number())).sum();
        let expected = total as f64 / f64::from(length) / 1e3;
        prop_assert!((mean_level(&changes, at(start), at(end)) - expected).abs() < 1e-6);
    }

    #[test]
    fn half_of_the_time_the_level_is_the_median_or_below(changes in any_log()) {
        let (start, end) = (at(0.0), at(100.0));
        let median = median_level(&changes, start, end);
        let share = |below: &dyn Fn(Level) -> bool| {
            let all = stretches(&changes, start, end);
            all.iter().filter(|&&(level, _)| below(level)).map(|&(_, length_s)| length_s).sum::<f64>()
        };
        prop_assert!(share(&|level| level <= median) >= 50.0 - 1e-9);
        prop_assert!(share(&|level| level < median) <= 50.0 + 1e-9);
        prop_assert!((share(&|_| true) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn after_it_has_settled_the_level_stays_in_its_band(changes in any_log(), born in 0u32..50) {
        let (born, end) = (at(f64::from(born)), at(100.0));
        let half = born + end.since(born).scaled(0.5);
        let median = median_level(&changes, half, end).as_number();
        let within = |level: Level| (level.as_number() - median).abs() <= 1;
        match settled_after_s(&changes, born, end) {
            Some(after_s) => {
                let settled = born + layercast_core::units::Duration::from_secs_f64(after_s);
                prop_assert!(after_s >= 0.0);
                prop_assert!(stretches(&changes, settled, end).iter().all(|&(level, _)| within(level)));
                // It did not do so before: at the change that ended it, it was outside.
                let ended = changes.iter().rfind(|change| change.at == settled && !within(change.from));
                prop_assert!(after_s == 0.0 || ended.is_some());
            }
            None => prop_assert!(!within(level_at(&changes, end))),
        }
    }

    #[test]
    fn moves_are_counted_layer_by_layer(changes in any_log(), until in 0u32..100) {
        let end = at(f64::from(until));
        let (mut held, mut moves) = (0i64, 0u64);
        for change in changes.iter().filter(|change| change.at <= end) {
            moves += held.abs_diff(i64::from(change.to.layer_count()));
            held = i64::from(change.to.layer_count());
        }
        prop_assert_eq!(joins_and_leaves(&changes, end), moves.saturating_sub(1));
        prop_assert_eq!(i64::from(level_at(&changes, end).layer_count()), held);
        // Joins less leaves of a stretch are the difference of its ends.
        let (start, end) = (at(f64::from(until) / 2.0), end);
        let (joins, leaves) = joins_and_leaves_within(&changes, start, end);
        let before = i64::from(level_at(&changes, start).layer_count());
        prop_assert_eq!(before + joins as i64 - leaves as i64, held);
    }
}
