//! What the changes of a receiver's level say about a stretch of time.

use layercast_core::units::{Level, Time};
use layercast_simulator::LevelChange;

/// The level at `at`, changes at that very time included.
pub(super) fn level_at(changes: &[LevelChange], at: Time) -> Level {
    let later = changes.partition_point(|change| change.at <= at);
    later.checked_sub(1).map_or(Level::NONE, |last| changes[last].to)
}

/// Joins and leaves up to `end`, after the base layer's first join.
pub(super) fn joins_and_leaves(changes: &[LevelChange], end: Time) -> u64 {
    let up_to_end = changes.iter().take_while(|change| change.at <= end);
    let layers =
        up_to_end.map(|change| u64::from(change.from.layer_count().abs_diff(change.to.layer_count())));
    layers.sum::<u64>().saturating_sub(1)
}

/// The stretches of constant level within [start, end]: the level and its length in seconds.
fn stretches(changes: &[LevelChange], start: Time, end: Time) -> Vec<(Level, f64)> {
    let mut stretches = Vec::new();
    let (mut level, mut since) = (level_at(changes, start), start);
    for change in changes.iter().filter(|change| change.at > start && change.at < end) {
        stretches.push((level, change.at.since(since).as_secs_f64()));
        (level, since) = (change.to, change.at);
    }
    stretches.push((level, end.since(since).as_secs_f64()));
    stretches
}

/// The time average of the level, none counting as -1.
pub(super) fn mean_level(changes: &[LevelChange], start: Time, end: Time) -> f64 {
    let stretches = stretches(changes, start, end);
    let total: f64 = stretches.iter().map(|(_, length_s)| length_s).sum();
    let weighted: f64 =
        stretches.iter().map(|(level, length_s)| f64::from(level.as_number()) * length_s).sum();
    if total > 0.0 { weighted / total } else { f64::from(level_at(changes, end).as_number()) }
}

/// The level that is exceeded half of the time.
fn median_level(changes: &[LevelChange], start: Time, end: Time) -> Level {
    let mut stretches = stretches(changes, start, end);
    stretches.sort_by_key(|&(level, _)| level);
    let half: f64 = stretches.iter().map(|(_, length_s)| length_s).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    for &(level, length_s) in &stretches {
        passed += length_s;
        if passed >= half {
            return level;
        }
    }
    Level::NONE
}

/// How long after `born` the level came to stay within one of its final median, which is the median
/// of the second half of [born, end]. None if a change close to the end left that band.
pub(super) fn settled_after_s(changes: &[LevelChange], born: Time, end: Time) -> Option<f64> {
    let half = born + end.since(born).scaled(0.5);
    let median = median_level(changes, half, end).as_number();
    let within = |level: Level| (level.as_number() - median).abs() <= 1;
    let up_to_end: Vec<_> = changes.iter().take_while(|change| change.at <= end).collect();
    if !within(level_at(changes, end)) {
        return None;
    }
    let entered = up_to_end.iter().rev().find(|change| !within(change.from) && within(change.to));
    Some(entered.map_or(0.0, |change| change.at.since(born).as_secs_f64()))
}

/// The layers added and those dropped after `start`, up to `end`.
pub(super) fn joins_and_leaves_within(changes: &[LevelChange], start: Time, end: Time) -> (u64, u64) {
    let within = changes.iter().filter(|change| change.at > start && change.at <= end);
    within.fold((0, 0), |(joins, leaves), change| {
        let (from, to) = (u64::from(change.from.layer_count()), u64::from(change.to.layer_count()));
        (joins + to.saturating_sub(from), leaves + from.saturating_sub(to))
    })
}

/// When `level` was first held, if that was before `end`.
pub(super) fn reached(changes: &[LevelChange], level: Level, end: Time) -> Option<Time> {
    changes.iter().take_while(|change| change.at <= end).find(|change| change.to >= level).map(|c| c.at)
}

/// A fall below a level, and the return to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dip {
    pub(super) fell: Time,
    pub(super) back: Option<Time>,
}

/// The first fall within (start, end] below the level of `start`.
pub(super) fn dip(changes: &[LevelChange], start: Time, end: Time) -> Option<Dip> {
    let level = level_at(changes, start);
    let mut within = changes.iter().filter(|change| change.at > start && change.at <= end);
    let fell = within.find(|change| change.to < level)?.at;
    Some(Dip { fell, back: within.find(|change| change.to >= level).map(|change| change.at) })
}

#[cfg(test)]
pub(super) mod tests;
