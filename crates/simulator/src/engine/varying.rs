//! Links that change: the events of their changes, and transmissions over them.

use std::sync::Arc;

use layercast_core::stream::Stream;
use layercast_core::units::Time;

use super::Engine;
use crate::event::{Event, Key};
use crate::link::Step;
use crate::network::LinkId;
use crate::packet::{Dropped, PacketCopy};
use crate::variation::LinkVariation;

impl<H: Copy> Engine<H> {
    /// Lets a link change as planned. `losses` is the stream of its error models.
    pub(crate) fn vary(&mut self, id: LinkId, plan: Arc<LinkVariation>, losses: Stream) {
        self.links[id.0 as usize].vary(plan, losses);
        self.enter_next_change(id);
    }

    /// Makes the changes of a link that are due.
    pub(crate) fn change_link(&mut self, id: LinkId) {
        let now = self.current.time;
        while let Some(step) = self.links[id.0 as usize].take_step(now) {
            match step {
                Step::Change(change) => self.links[id.0 as usize].change(change),
                Step::Down => self.go_down(id, now),
                Step::Up => self.come_up(id),
            }
        }
        self.enter_next_change(id);
    }

    /// Packets on the wire are discarded when they would have arrived; waiting packets may stay in the
    /// queue.
    fn go_down(&mut self, id: LinkId, now: Time) {
        let order = self.events.next_order();
        let link = &mut self.links[id.0 as usize];
        link.go_down(order);
        if link.flushes_queue() {
            link.account_queue(now);
            while let Some(copy) = link.dequeue(now, &mut self.dropped) {
                link.counters_mut().losses += 1;
                if let Some(tap) = link.tap_mut() {
                    tap.lose_taken();
                }
                self.dropped.push(Dropped(copy));
            }
        }
    }

    fn come_up(&mut self, id: LinkId) {
        let link = &mut self.links[id.0 as usize];
        link.come_up();
        // The transmission that the outage cut may still occupy the transmitter; its end event then resumes
        // service.
        if !link.free_pending && link.has_waiting() {
            self.transmitter_free(id);
        }
    }

    /// A change precedes all packet events of the same instant: no event has a lower order number.
    fn enter_next_change(&mut self, id: LinkId) {
        if let Some(time) = self.links[id.0 as usize].next_step_at() {
            self.events.push(Key { time, order: 0 }, Event::Change(id.0));
        }
    }

    /// Puts a copy on the wire of a link that changes, as [`Engine::transmit`].
    #[cold]
    pub(super) fn transmit_varying(&mut self, id: LinkId, copy: PacketCopy) -> Option<Key> {
        let now = self.current.time;
        let link = &mut self.links[id.0 as usize];
        let (transmission, total) = link.varying_delays(self.current, copy.size_bytes);
        let arrival = self.events.key_at(now + total);
        let free_at = self.events.key_at(now + transmission);
        let enters = link.propagate_varying(&mut self.wires, copy, arrival, free_at);
        if let Some(tap) = link.tap_mut() {
            tap.arrives_at(arrival.time);
        }
        if link.has_waiting() {
            link.free_pending = true;
            self.events.push(free_at, Event::Free(id.0));
        }
        enters.then_some(arrival)
    }
}

#[cfg(test)]
mod tests;
