//! Until when receivers are measured: those with an object until they have it.
//!
//! What a receiver does when it has its object says nothing of the rate at which it received that.

use layercast_core::family::Family;
use layercast_core::units::Time;
use layercast_simulator::{FlowCounters, LevelChange, Memberships};

use super::levels;
use super::values::counters;
use super::world::{World, WorldFlowId};
use crate::scenario::Window;

/// A receiver that has its object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    /// Until when it is measured: the moment at which it had the object if it left then. One that stays is measured
    /// until the next look at its counters.
    pub(super) until: Time,
    pub(super) counters: FlowCounters,
    pub(super) asked: Memberships,
}

/// Which flows have their object, in the order of the results.
pub(super) struct Completions(Vec<Option<Done>>);

impl Completions {
    pub(super) fn new(flows: usize) -> Completions {
        Completions(vec![None; flows])
    }

    /// Notes those that have completed since the last look, at `now`.
    pub(super) fn observe<F: Family>(&mut self, world: &World<F>, now: Time) {
        let simulation = world.simulation();
        let missing =
            world.flows.iter().zip(&mut self.0).filter(|(flow, done)| flow.has_object && done.is_none());
        for (flow, done) in missing {
            let WorldFlowId::Receiver(id) = flow.id else { continue };
            let completed = simulation.object_progress(id).and_then(|progress| progress.completed);
            *done = completed.map(|completed| {
                let has_left = levels::level_at(simulation.level_changes(id), now).layer_count() == 0;
                let until = if has_left { completed } else { now };
                Done { until, counters: counters(simulation, flow), asked: simulation.memberships(id) }
            });
        }
    }

    /// Whether and when a flow had its object.
    pub(super) fn of(&self, flow: usize) -> Option<&Done> {
        self.0.get(flow)?.as_ref()
    }

    /// The part of a window in which a flow is measured, if there is one, and its completion if that ends it.
    pub(super) fn part(&self, flow: usize, window: &Window) -> Option<(Window, Option<&Done>)> {
        match self.of(flow).filter(|done| done.until < window.end) {
            Some(done) if done.until <= window.start => None,
            Some(done) => Some((Window { end: done.until, ..*window }, Some(done))),
            None => Some((*window, None)),
        }
    }

    /// How often each flow has asked for channels in a window, from the counts at its start and end.
    pub(super) fn asked(&self, over: &Window, from: &[Memberships], to: &[Memberships]) -> Vec<Memberships> {
        let asked = |(flow, (from, to)): (usize, (&Memberships, &Memberships))| {
            let done = self.part(flow, over).and_then(|(_, done)| done);
            done.map_or(*to, |done| done.asked).since(*from)
        };
        from.iter().zip(to).enumerate().map(asked).collect()
    }
}

/// The changes of a receiver that was measured until then: leaving with the object is none.
pub(super) fn before(changes: &[LevelChange], until: Option<Time>) -> &[LevelChange] {
    let end = until.map_or(changes.len(), |until| changes.partition_point(|change| change.at < until));
    changes.get(..end).unwrap_or_default()
}
