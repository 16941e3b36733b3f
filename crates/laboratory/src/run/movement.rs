//! How receivers move between levels, and when they first hold their fair one.

use layercast_core::family::Family;
use std::collections::BTreeMap;

use layercast_core::units::{Level, Rate, Time};
use layercast_simulator::{LevelChange, Memberships};

use super::completions::{Completions, before};
use super::levels;
use super::loss_events::{Caused, LossEvents};
use super::world::{World, WorldFlowId};
use crate::results::movement::Movement;
use crate::results::{Series, WindowMeasures};
use crate::scenario::{Scenario, SessionPlan, Window};

/// The groups and rates that define fair levels: flows are counted in the order of the results.
pub(super) struct FairLevels<'s> {
    series: &'s Series,
    /// For each flow the flows of the first group that it is in.
    groups: Vec<Option<usize>>,
    members: Vec<Vec<usize>>,
    /// For each receiver, which come before other flows, the cumulative rates of its session.
    sessions: Vec<usize>,
    rates: Vec<Vec<Rate>>,
    bin_s: f64,
}

/// The cumulative rates of a session's layers, from the base up.
fn cumulative(session: &SessionPlan) -> Vec<Rate> {
    session.layers.layers().map(|layer| session.layers.cumulative(layer)).collect()
}

impl<'s> FairLevels<'s> {
    pub(super) fn new(scenario: &Scenario, series: &'s Series) -> FairLevels<'s> {
        let names = scenario.flow_names();
        let index: BTreeMap<&str, usize> =
            names.iter().enumerate().map(|(index, flow)| (flow.name.as_str(), index)).collect();
        let of = |name: &String| index.get(name.as_str()).copied();
        let members: Vec<Vec<usize>> =
            scenario.groups.iter().map(|group| group.flows.iter().filter_map(of).collect()).collect();
        let mut groups = vec![None; names.len()];
        for (group, flows) in members.iter().enumerate() {
            for &flow in flows {
                groups[flow] = groups[flow].or(Some(group));
            }
        }
        let sessions = scenario.sessions.iter().enumerate();
        FairLevels {
            series,
            groups,
            members,
            sessions: sessions
                .flat_map(|(index, session)| std::iter::repeat_n(index, session.receivers.len()))
                .collect(),
            rates: scenario.sessions.iter().map(cumulative).collect(),
            bin_s: scenario.series_bin.as_secs_f64(),
        }
    }

    /// The highest level whose rate is at most the mean throughput in the group of a receiver; none
    /// without a group, or where the base layer is more than that.
    fn of(&self, receiver: usize, kbps: impl Fn(&[usize]) -> Vec<f64>) -> Option<Level> {
        let members = self.members.get((*self.groups.get(receiver)?)?)?;
        let total: f64 = kbps(members).iter().sum();
        let fair_kbps = total / members.len() as f64;
        let rates = self.rates.get(*self.sessions.get(receiver)?)?;
        let layers = rates.iter().take_while(|rate| rate.as_kbps() <= fair_kbps).count();
        (layers > 0).then(|| Level::from_count(u16::try_from(layers).unwrap_or(u16::MAX)))
    }

    /// Adds the level changes of receivers to the measures of a window. `asked` is how often each flow has asked
    /// for channels in it.
    pub(super) fn add_movement<F: Family>(
        &self,
        world: &World<F>,
        window: &Window,
        completions: &Completions,
        asked: &[Memberships],
        losses: &LossEvents,
        measures: &mut WindowMeasures,
    ) {
        let caused = losses.caused(world.flows.len(), window.start, window.end);
        let start_s = window.start.as_secs_f64();
        for (index, flow) in world.flows.iter().enumerate() {
            let WorldFlowId::Receiver(id) = flow.id else { continue };
            let Some((part, done)) = completions.part(index, window) else { continue };
            let fair =
                self.of(index, |members| measures.together_kbps(members, self.series, start_s, self.bin_s));
            let changes = before(world.simulation().level_changes(id), done.map(|done| done.until));
            let moved = movement(changes, flow.start, part.start, part.end, fair);
            let length_s = part.end.since(part.start).as_secs_f64();
            let asked = asked.get(index).copied().unwrap_or_default();
            let caused = caused.as_ref().and_then(|caused| caused.get(index).copied());
            if let Some(measures) = measures.flows.get_mut(index) {
                measures.movement = Some(with_costs(moved, length_s, asked, caused));
            }
        }
    }
}

/// The measures from the log of a receiver that started at `born`, over [start, end].
fn movement(
    changes: &[LevelChange],
    born: Time,
    start: Time,
    end: Time,
    fair: Option<Level>,
) -> Movement<Option<f64>> {
    let (joins, leaves) = levels::joins_and_leaves_within(changes, start, end);
    let minutes = end.since(start).as_secs_f64() / 60.0;
    let per_min = |count: u64| (minutes > 0.0).then(|| count as f64 / minutes);
    let after = |from: Time, at: Time| at.since(from).as_secs_f64();
    let dip = levels::dip(changes, start, end);
    Movement {
        joins_per_min: per_min(joins),
        leaves_per_min: per_min(leaves),
        level_changes_per_min: per_min(joins + leaves),
        fair_level_after_s: fair
            .and_then(|level| levels::reached(changes, level, end))
            .map(|at| after(born, at)),
        fell_after_s: dip.map(|dip| after(start, dip.fell)),
        recovered_after_s: dip.and_then(|dip| dip.back).map(|at| after(start, at)),
        ..Movement::default()
    }
}

/// The cost of the level changes within so many seconds.
fn with_costs(
    moved: Movement<Option<f64>>,
    length_s: f64,
    asked: Memberships,
    caused: Option<Caused>,
) -> Movement<Option<f64>> {
    let per_s = |count: f64| (length_s > 0.0).then(|| count / length_s);
    let per_event = |lost: u64| {
        caused.filter(|caused| caused.events > 0).map(|caused| lost as f64 / caused.events as f64)
    };
    Movement {
        channel_joins_per_s: per_s(f64::from(asked.joins)),
        channel_leaves_per_s: per_s(f64::from(asked.leaves)),
        loss_events_per_min: caused.and_then(|caused| per_s(caused.events as f64 * 60.0)),
        own_lost_per_event: caused.and_then(|caused| per_event(caused.own)),
        others_lost_per_event: caused.and_then(|caused| per_event(caused.others)),
        ..moved
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels::tests::{at, log};
    use super::*;

    #[test]
    fn movement_counts_the_window_alone() {
        let changes = log(&[(10.0, 1), (15.0, 3), (50.0, 2), (55.0, 3), (60.0, 4), (95.0, 5)]);
        let fair = Some(Level::from_count(3));
        let moved = movement(&changes, at(10.0), at(30.0), at(90.0), fair);
        assert_eq!(
            moved,
            Movement {
                joins_per_min: Some(2.0),
                leaves_per_min: Some(1.0),
                level_changes_per_min: Some(3.0),
                fair_level_after_s: Some(5.0),
                fell_after_s: Some(20.0),
                recovered_after_s: Some(25.0),
                ..Movement::default()
            }
        );
        let asked = Memberships { joins: 120, leaves: 60 };
        let none = with_costs(moved, 60.0, asked, Some(Caused::default()));
        assert_eq!((none.channel_joins_per_s, none.channel_leaves_per_s), (Some(2.0), Some(1.0)));
        assert_eq!((none.loss_events_per_min, none.own_lost_per_event), (Some(0.0), None));
        let some = with_costs(moved, 120.0, asked, Some(Caused { events: 4, own: 10, others: 6 }));
        assert_eq!(some.loss_events_per_min, Some(2.0));
        assert_eq!((some.own_lost_per_event, some.others_lost_per_event), (Some(2.5), Some(1.5)));
        let without_group = movement(&changes, at(10.0), at(60.0), at(60.0), None);
        assert_eq!(without_group, Movement::default(), "nothing is known of no time and no group");
    }
}
