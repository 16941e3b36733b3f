//! What every agent sends through: the clock, the event list, the links, the packets in flight.

use layercast_protocol::units::{Size, Time};

use crate::event::{Event, EventQueue, Key};
use crate::link::Link;
use crate::network::LinkId;
use crate::packet::{Body, Dropped, EcnField, Parcel, Slab};
use crate::queue::Queue;
use crate::timer::TimerSlot;

#[derive(Debug)]
pub(crate) struct Core {
    /// The event being served.
    pub(crate) current: Key,
    pub(crate) events: EventQueue,
    pub(crate) links: Vec<Link>,
    pub(crate) slab: Slab,
    pub(crate) timers: Vec<TimerSlot>,
    pub(crate) dropped: Vec<Dropped>,
}

impl Core {
    pub(crate) fn new(links: Vec<Link>) -> Core {
        Core {
            current: Key { time: Time::ZERO, order: 0 },
            events: EventQueue::default(),
            links,
            slab: Slab::default(),
            timers: Vec::new(),
            dropped: Vec::with_capacity(16),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.current.time
    }

    /// Sends a new packet on its first link.
    pub(crate) fn send(
        &mut self,
        body: Body,
        size: Size,
        ecn: EcnField,
        link: LinkId,
        route: u32,
        position: u32,
    ) {
        let packet = self.slab.insert(body);
        let parcel = Parcel { packet, route, position, size_bytes: size.as_bytes(), ecn, marked: false };
        self.offer(link, parcel);
    }

    /// Offers a parcel to a link: error model, then drop test, then transmitter or queue.
    pub(crate) fn offer(&mut self, id: LinkId, parcel: Parcel) {
        let now = self.current.time;
        let link = &mut self.links[id.0 as usize];
        if link.loss.loses(parcel.size_bytes) {
            link.counters.losses += 1;
            self.dropped.push(Dropped(parcel));
            return;
        }
        let Queue::DropTail(queue) = &mut link.queue else {
            return self.offer_managed(id, parcel);
        };
        if !queue.admits(parcel.size_bytes) {
            link.counters.queue_drops += 1;
            self.dropped.push(Dropped(parcel));
        } else if queue.is_empty() && !link.is_busy(self.current) {
            self.transmit(id, parcel);
        } else {
            link.push(now, parcel);
            if !link.free_pending {
                link.free_pending = true;
                self.events.push(link.free_at(), Event::Free(id.0));
            }
        }
    }

    /// Offers a parcel to a link with a managed queue. One that meets an idle transmitter goes
    /// through the queue too, which may drop it on either side.
    fn offer_managed(&mut self, id: LinkId, parcel: Parcel) {
        let now = self.current.time;
        let link = &mut self.links[id.0 as usize];
        // Packets wait only for a busy transmitter, or for the event that is to free it.
        let idle = link.queue.is_empty() && !link.is_busy(self.current);
        link.account_queue(now);
        link.offer(now, idle, parcel, &mut self.dropped);
        if idle {
            if let Some(parcel) = link.take(now, &mut self.dropped) {
                self.transmit(id, parcel);
            }
        } else if !link.free_pending && !link.queue.is_empty() {
            link.free_pending = true;
            self.events.push(link.free_at(), Event::Free(id.0));
        }
    }

    /// The error model of a link that loses packets at its far end: whether this one is lost.
    #[inline]
    pub(crate) fn loses_on_arrival(&mut self, link: u32, parcel: Parcel) -> bool {
        let link = &mut self.links[link as usize];
        let lost = link.loss_after.loses(parcel.size_bytes);
        if lost {
            link.counters.losses += 1;
            self.dropped.push(Dropped(parcel));
        }
        lost
    }

    /// The transmitter of a link has become free: the next waiting packet starts.
    pub(crate) fn transmitter_free(&mut self, id: LinkId) {
        let now = self.current.time;
        let link = &mut self.links[id.0 as usize];
        link.free_pending = false;
        link.account_queue(now);
        if let Some(parcel) = link.take(now, &mut self.dropped) {
            self.transmit(id, parcel);
        }
    }

    fn transmit(&mut self, id: LinkId, parcel: Parcel) {
        let now = self.current.time;
        let link = &mut self.links[id.0 as usize];
        let (transmission, total) = link.spans(parcel.size_bytes);
        // The arrival takes its number before the release of the transmitter: this decides ties on
        // links without delay.
        let arrival = self.events.key_at(now + total);
        let free_at = self.events.key_at(now + transmission);
        if link.launch(parcel, arrival, free_at) {
            self.events.push(arrival, Event::Arrival(id.0));
        }
        if !link.queue.is_empty() {
            link.free_pending = true;
            self.events.push(free_at, Event::Free(id.0));
        }
    }

    /// Sets or clears an agent's deadline.
    pub(crate) fn set_timer(&mut self, agent: u32, at: Option<Time>) {
        self.timers[agent as usize].set(agent, at, &mut self.events);
    }
}

#[cfg(test)]
mod tests;
