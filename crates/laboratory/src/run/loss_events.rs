//! Losses that follow a join: which packets a queue dropped after a receiver had added a layer.
//!
//! A *loss event* here is about a queue, not about an estimator: drops of one queue with less than
//! [`GAP`] between them, cut off after [`LONGEST`]. It is *caused* by the receiver that raised its level
//! last, within [`LOOK_BACK`] before the first drop, among those whose data crosses the link. An event
//! that follows no rise is not attributed. The FLID-DL paper (section V-A) counts packets lost in an
//! event of a session alone on its link; with others on it, their losses are part of the cost of a join.

use layercast_core::family::Family;
use std::collections::BTreeMap;

use layercast_core::units::{Duration, Time};
use layercast_simulator::{Carried, DropRecord, LevelChange, LinkId, ReceiverId, Simulation};

use super::world::{World, WorldFlow, WorldFlowId};

/// Drops further apart than this belong to different events: a few round trips of most paths, and
/// less than a time slot of FLID.
const GAP: Duration = Duration::from_ms(250);
/// No event is longer.
const LONGEST: Duration = Duration::from_secs(10);
/// How long after a rise its drops may begin: the queue has to fill first.
const LOOK_BACK: Duration = Duration::from_secs(2);
/// With more receivers than this, events are not attributed.
const MOST_RECEIVERS: usize = 10_000;

/// The losses that a receiver caused within some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Caused {
    /// Loss events.
    pub(super) events: u64,
    /// Packets of its own session dropped in them.
    pub(super) own: u64,
    /// Packets of all others.
    pub(super) others: u64,
}

/// A loss event that a receiver caused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    /// Which flow, in the order of the results.
    flow: usize,
    /// The first drop.
    at: Time,
    own: u64,
    others: u64,
}

/// An event at a link that may go on.
#[derive(Clone, Debug)]
struct Open {
    link: LinkId,
    first: Time,
    last: Time,
    dropped: u64,
    /// Of each session, by its number.
    of_session: Vec<u64>,
}

/// The loss events of a run.
#[derive(Debug, Default)]
pub(super) struct LossEvents {
    /// Whether events are recorded.
    looks: bool,
    /// At most one for each link.
    open: BTreeMap<LinkId, Open>,
    events: Vec<Event>,
}

/// A receiver as this module needs it.
struct Suspect<'a> {
    flow: usize,
    session: usize,
    changes: &'a [LevelChange],
}

impl LossEvents {
    /// Asks the simulation to keep drops, unless there are too many receivers.
    pub(super) fn start<F: Family>(world: &mut World<F>) -> LossEvents {
        let looks = receivers(&world.flows).nth(MOST_RECEIVERS).is_none();
        if looks {
            world.simulation_mut().keep_drops();
        }
        LossEvents { looks, ..LossEvents::default() }
    }

    /// Takes what was dropped since the last call.
    pub(super) fn collect<F: Family>(&mut self, world: &mut World<F>) {
        let mut drops = Vec::new();
        world.simulation_mut().drain_drops(&mut |drop| drops.push(drop));
        for drop in drops {
            self.take(&drop, world.simulation(), &world.flows);
        }
    }

    /// Closes what is open: the run is over.
    pub(super) fn finish<F: Family>(&mut self, world: &World<F>) {
        for open in std::mem::take(&mut self.open).into_values() {
            self.close(&open, world.simulation(), &world.flows);
        }
    }

    /// The losses that each flow caused from `start` to before `end`; none if events were not recorded.
    pub(super) fn caused(&self, flows: usize, start: Time, end: Time) -> Option<Vec<Caused>> {
        if !self.looks {
            return None;
        }
        let mut caused = vec![Caused::default(); flows];
        for event in self.events.iter().filter(|event| event.at >= start && event.at < end) {
            if let Some(caused) = caused.get_mut(event.flow) {
                caused.events += 1;
                caused.own += event.own;
                caused.others += event.others;
            }
        }
        Some(caused)
    }

    fn take<F: Family>(
        &mut self,
        drop: &DropRecord<F::Header>,
        simulation: &Simulation<F>,
        flows: &[WorldFlow],
    ) {
        if self.open.get(&drop.link).is_some_and(|open| !open.goes_on_at(drop.at))
            && let Some(over) = self.open.remove(&drop.link)
        {
            self.close(&over, simulation, flows);
        }
        let open = self.open.entry(drop.link).or_insert_with(|| Open::new(drop));
        open.last = drop.at;
        open.dropped += 1;
        if let Carried::Data { session, .. } = drop.carried {
            let session = session.index();
            open.of_session.resize(open.of_session.len().max(session + 1), 0);
            open.of_session[session] += 1;
        }
    }

    fn close<F: Family>(&mut self, open: &Open, simulation: &Simulation<F>, flows: &[WorldFlow]) {
        let suspects =
            receivers(flows).filter(|&(_, id)| simulation.is_on_path(open.link, id)).map(|(flow, id)| {
                Suspect { flow, session: id.session().index(), changes: simulation.level_changes(id) }
            });
        self.events.extend(event(open, suspects));
    }
}

impl Open {
    fn new<H>(drop: &DropRecord<H>) -> Open {
        Open { link: drop.link, first: drop.at, last: drop.at, dropped: 0, of_session: Vec::new() }
    }

    fn goes_on_at(&self, at: Time) -> bool {
        at.since(self.last) < GAP && at.since(self.first) < LONGEST
    }
}

fn receivers(flows: &[WorldFlow]) -> impl Iterator<Item = (usize, ReceiverId)> {
    flows.iter().enumerate().filter_map(|(flow, known)| match known.id {
        WorldFlowId::Receiver(id) => Some((flow, id)),
        WorldFlowId::Tcp(_) | WorldFlowId::Udp(_) | WorldFlowId::Outside => None,
    })
}

/// The event of the suspect that raised its level last before the first drop; none if no rise was
/// close enough. Of several at the same time it is the first.
fn event<'a>(open: &Open, suspects: impl Iterator<Item = Suspect<'a>>) -> Option<Event> {
    let rises = suspects.filter_map(|suspect| Some((last_rise(suspect.changes, open.first)?, suspect)));
    let recent = rises.filter(|(at, _)| open.first.since(*at) <= LOOK_BACK);
    let (_, suspect) = recent.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let own = open.of_session.get(suspect.session).copied().unwrap_or(0);
    Some(Event { flow: suspect.flow, at: open.first, own, others: open.dropped - own })
}

/// When a receiver last added a layer to others, at `before` or earlier.
fn last_rise(changes: &[LevelChange], before: Time) -> Option<Time> {
    let known = &changes[..changes.partition_point(|change| change.at <= before)];
    let rise = known.iter().rev().find(|change| change.to > change.from && change.from.top().is_some());
    rise.map(|change| change.at)
}

#[cfg(test)]
mod tests {
    use super::super::levels::tests::{at, log};
    use super::*;

    fn open(first: f64, dropped: u64, of_session: &[u64]) -> Open {
        Open { link: LinkId(0), first: at(first), last: at(first), dropped, of_session: of_session.to_vec() }
    }

    #[test]
    fn the_last_rise_is_to_blame_if_it_was_close() {
        let early = log(&[(1.0, 1), (8.5, 2)]);
        let late = log(&[(2.0, 1), (9.0, 2), (9.5, 1)]);
        let first_join = log(&[(9.8, 1)]);
        let suspects = || {
            [&early, &late, &first_join].into_iter().enumerate().map(|(index, changes)| Suspect {
                flow: 10 + index,
                session: index,
                changes,
            })
        };
        let blamed = event(&open(10.0, 7, &[0, 3]), suspects());
        assert_eq!(blamed, Some(Event { flow: 11, at: at(10.0), own: 3, others: 4 }));
        let blamed = event(&open(8.9, 7, &[5]), suspects());
        assert_eq!(blamed, Some(Event { flow: 10, at: at(8.9), own: 5, others: 2 }));
        assert_eq!(event(&open(11.1, 7, &[5]), suspects()), None, "the rise at 9 s was too long ago");
        assert_eq!(event(&open(3.0, 1, &[1]), suspects()), None, "a first join is not a rise");
    }

    #[test]
    fn drops_far_apart_are_different_events() {
        let mut running = open(5.0, 1, &[]);
        assert!(running.goes_on_at(at(5.2)));
        assert!(!running.goes_on_at(at(5.25)));
        running.last = at(14.9);
        assert!(running.goes_on_at(at(14.99)));
        assert!(!running.goes_on_at(at(15.0)), "no event is longer than ten seconds");
    }
}
