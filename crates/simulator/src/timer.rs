//! One deadline for each agent.
//!
//! An agent may move its deadline at every packet. The event list then holds at most one entry that counts:
//! a later deadline waits until the earlier entry is served, and is then entered under the order number
//! that it got when it was set.

use layercast_core::units::Time;

use crate::event::{Event, EventQueue, Key};

/// The deadline of one agent and its entry in the event list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerSlot {
    /// [`NEVER`] if there is none.
    deadline: Key,
    /// [`NEVER`] if there is none.
    pending: Key,
}

const NEVER: Key = Key { time: Time::MAX, order: u64::MAX };

impl Default for TimerSlot {
    fn default() -> TimerSlot {
        TimerSlot { deadline: NEVER, pending: NEVER }
    }
}

impl TimerSlot {
    /// Sets or clears the deadline of `agent`.
    #[inline]
    pub(crate) fn set(&mut self, agent: u32, at: Option<Time>, events: &mut EventQueue) {
        let Some(at) = at else {
            self.deadline = NEVER;
            return;
        };
        if self.deadline.time == at {
            return;
        }
        let key = events.key_at(at);
        self.deadline = key;
        if key < self.pending {
            self.pending = key;
            events.push(key, Event::Timer(agent));
        }
    }

    /// Serves an entry of `agent`. True if the deadline has come; it is then cleared.
    pub(crate) fn serve(&mut self, agent: u32, key: Key, events: &mut EventQueue) -> bool {
        if self.pending != key {
            return false;
        }
        self.pending = NEVER;
        if self.deadline == key {
            self.deadline = NEVER;
            return true;
        }
        if self.deadline != NEVER {
            self.pending = self.deadline;
            events.push(self.deadline, Event::Timer(agent));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Option<Time> {
        Some(Time::from_ns(ns))
    }

    /// Serves the list to its end and returns when agent 1 was really woken.
    fn wakes(slot: &mut TimerSlot, events: &mut EventQueue) -> (Vec<u64>, usize) {
        let (mut woken, mut entries) = (Vec::new(), 0);
        while let Some((key, _)) = events.pop(Time::MAX) {
            entries += 1;
            if slot.serve(1, key, events) {
                woken.push(key.time.as_ns());
            }
        }
        (woken, entries)
    }

    #[test]
    fn a_deadline_pushed_back_often_costs_one_more_entry() {
        let (mut slot, mut events) = (TimerSlot::default(), EventQueue::default());
        for ns in 100..200 {
            slot.set(1, at(ns), &mut events);
        }
        assert_eq!(wakes(&mut slot, &mut events), (vec![199], 2));
    }

    #[test]
    fn an_earlier_deadline_wakes_once() {
        let (mut slot, mut events) = (TimerSlot::default(), EventQueue::default());
        slot.set(1, at(100), &mut events);
        slot.set(1, at(50), &mut events);
        assert_eq!(wakes(&mut slot, &mut events).0, vec![50]);
    }

    #[test]
    fn a_cleared_deadline_does_not_wake() {
        let (mut slot, mut events) = (TimerSlot::default(), EventQueue::default());
        slot.set(1, at(100), &mut events);
        slot.set(1, None, &mut events);
        assert_eq!(wakes(&mut slot, &mut events).0, Vec::<u64>::new());
    }
}
