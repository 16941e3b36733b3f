//! What all agents share: the clock, the event list, the links and the packets in flight.

use layercast_core::units::{Size, Time};

use crate::edge::EdgeRouter;
use crate::event::{Event, EventQueue, Key};
use crate::link::{Link, WirePool};
use crate::network::LinkId;
use crate::packet::{Body, CopyKind, Dropped, EcnField, PacketCopy, Slab};
use crate::paths::UnicastPath;
use crate::queue::Queue;
use crate::tapped::Tapped;
use crate::timer::TimerSlot;

mod varying;

/// What the queue of a link dropped, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueDrop<H> {
    pub(crate) at: Time,
    pub(crate) link: LinkId,
    pub(crate) copy: PacketCopy,
    pub(crate) body: Body<H>,
}

#[derive(Debug)]
pub(crate) struct Engine<H> {
    /// The event being served.
    pub(crate) current: Key,
    pub(crate) events: EventQueue,
    pub(crate) links: Vec<Link>,
    pub(crate) wires: WirePool,
    pub(crate) slab: Slab<H>,
    pub(crate) tapped: Tapped<H>,
    pub(crate) timers: Vec<TimerSlot>,
    pub(crate) dropped: Vec<Dropped>,
    /// The log of queue drops, if enabled.
    pub(crate) drop_log: Option<Vec<QueueDrop<H>>>,
    /// The edge routers of all nodes that have one.
    pub(crate) edges: Vec<EdgeRouter>,
}

impl<H: Copy> Engine<H> {
    pub(crate) fn new(links: Vec<Link>) -> Engine<H> {
        Engine {
            current: Key { time: Time::ZERO, order: 0 },
            events: EventQueue::default(),
            links,
            wires: WirePool::default(),
            slab: Slab::default(),
            tapped: Tapped::default(),
            timers: Vec::new(),
            dropped: Vec::with_capacity(16),
            drop_log: None,
            edges: Vec::new(),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.current.time
    }

    /// Takes the packet that arrives on a link, and the next arrival to enter in the event list.
    pub(crate) fn pop_arrival(&mut self, link: u32) -> Option<(PacketCopy, Option<Key>)> {
        self.links[link as usize].pop_arrival(&mut self.wires)
    }

    /// Takes the packet that arrives on a link, unless it is lost there, and the next arrival to enter in the
    /// event list.
    #[inline(always)]
    pub(crate) fn take_arrival(&mut self, link: u32) -> (Option<PacketCopy>, Option<Key>) {
        let from = &mut self.links[link as usize];
        if from.has_extras() {
            return self.take_arrival_otherwise(link);
        }
        from.pop_from_wire(&mut self.wires).map_or((None, None), |(copy, next)| (Some(copy), next))
    }

    #[inline(never)]
    fn take_arrival_otherwise(&mut self, link: u32) -> (Option<PacketCopy>, Option<Key>) {
        let Some((mut copy, next)) = self.pop_arrival(link) else { return (None, None) };
        let lost = self.loses_on_arrival(link, &mut copy);
        ((!lost).then_some(copy), next)
    }

    /// How many packets are in queues and on wires.
    pub(crate) fn carried(&self) -> usize {
        self.links.iter().map(|link| link.carried(&self.wires)).sum()
    }

    /// Sends a new packet on a path.
    #[inline(always)]
    pub(crate) fn send_along(&mut self, path: UnicastPath, body: Body<H>, size: Size, ecn: EcnField) {
        let (packet, kind, channel) = self.slab.admit(body);
        let (size_bytes, ecn) = (size.as_bytes(), ecn.into());
        let UnicastPath { first, route, next: position } = path;
        self.offer_first(first, PacketCopy { packet, route, position, size_bytes, ecn, kind, channel });
    }

    #[inline(never)]
    fn offer_first(&mut self, id: LinkId, copy: PacketCopy) {
        self.offer(id, copy);
    }

    /// Sends a new packet on a route of a session, by its first link.
    pub(crate) fn send(
        &mut self,
        body: Body<H>,
        size: Size,
        ecn: EcnField,
        link: LinkId,
        route: u32,
        position: u32,
    ) {
        let packet = self.slab.insert(body);
        let (size_bytes, ecn) = (size.as_bytes(), ecn.into());
        let kind = CopyKind::SESSION;
        self.offer(link, PacketCopy { packet, route, position, size_bytes, ecn, kind, channel: 0 });
    }

    /// Offers a copy to a link.
    #[inline(always)]
    pub(crate) fn offer(&mut self, id: LinkId, copy: PacketCopy) {
        if let Some(arrival) = self.accept(id, copy) {
            self.events.push(arrival, Event::Arrival(id.0));
        }
    }

    /// Offers a copy to a link. Returns an arrival that the caller has to enter in the event list.
    #[inline(always)]
    #[must_use]
    pub(crate) fn accept(&mut self, id: LinkId, copy: PacketCopy) -> Option<Key> {
        let link = &mut self.links[id.0 as usize];
        if link.passes(self.current, copy.size_bytes) {
            launch(link, self.current.time, copy, &mut self.events, &mut self.wires)
        } else {
            self.accept_otherwise(id, copy)
        }
    }

    /// Offers a copy to a link: error model, then drop test, then transmitter or queue.
    #[inline(never)]
    fn accept_otherwise(&mut self, id: LinkId, mut copy: PacketCopy) -> Option<Key> {
        let now = self.current.time;
        let link = &mut self.links[id.0 as usize];
        if link.loses_before_queue(&mut copy) {
            if let Some(tap) = link.tap_mut() {
                let packet = self.tapped.keep(self.slab.body_of(&copy));
                tap.lose_before(now, copy, packet);
            }
            self.dropped.push(Dropped(copy));
            return None;
        }
        let Queue::DropTail(queue) = link.queue_mut() else {
            return self.accept_managed(id, copy);
        };
        let (admits, is_empty) = (queue.admits(copy.size_bytes), queue.is_empty());
        if !admits {
            link.counters_mut().queue_drops += 1;
            self.dropped.push(Dropped(copy));
            self.log_drops(id, self.dropped.len() - 1);
            return None;
        }
        if is_empty && !link.is_busy(self.current) {
            return self.transmit(id, copy);
        }
        link.push(now, copy);
        if !link.free_pending {
            link.free_pending = true;
            self.events.push(link.free_at(), Event::Free(id.0));
        }
        None
    }

    /// Offers a copy to a link with a managed queue. A copy that finds an idle transmitter passes the queue
    /// too, which may drop it on enqueue or dequeue.
    fn accept_managed(&mut self, id: LinkId, mut copy: PacketCopy) -> Option<Key> {
        let now = self.current.time;
        let link = &mut self.links[id.0 as usize];
        if let Some(tap) = link.tap_mut() {
            // A tap distinguishes packets by their slots.
            self.slab.ensure_slot(&mut copy);
            tap.expect(copy.packet, self.tapped.keep(self.slab.body_of(&copy)));
        }
        // Packets wait only for a busy transmitter, or for the event that frees it.
        let idle = !link.has_waiting() && !link.is_busy(self.current);
        link.account_queue(now);
        let before = self.dropped.len();
        link.enqueue(now, idle, copy, &mut self.dropped);
        let taken = if idle { link.dequeue(now, &mut self.dropped) } else { None };
        self.log_drops(id, before);
        if idle {
            return self.transmit(id, taken?);
        }
        let link = &mut self.links[id.0 as usize];
        if !link.free_pending && link.has_waiting() {
            link.free_pending = true;
            self.events.push(link.free_at(), Event::Free(id.0));
        }
        None
    }

    /// Whether an arriving packet is lost: by an error model at the far end of the link, or because the
    /// link went down while the packet was in flight.
    pub(crate) fn loses_on_arrival(&mut self, link: u32, copy: &mut PacketCopy) -> bool {
        let now = self.current.time;
        let link = &mut self.links[link as usize];
        let lost = link.loses_after_link(copy, self.current.order);
        if lost {
            if let Some(tap) = link.tap_mut() {
                tap.lose_after(now, *copy);
            }
            self.dropped.push(Dropped(*copy));
        }
        lost
    }

    /// The transmitter of a link has become free: the next waiting packet starts.
    pub(crate) fn transmitter_free(&mut self, id: LinkId) {
        let now = self.current.time;
        let link = &mut self.links[id.0 as usize];
        link.free_pending = false;
        if link.is_down() {
            return;
        }
        link.account_queue(now);
        let before = self.dropped.len();
        let taken = link.dequeue(now, &mut self.dropped);
        self.log_drops(id, before);
        if let Some(copy) = taken
            && let Some(arrival) = self.transmit(id, copy)
        {
            self.events.push(arrival, Event::Arrival(id.0));
        }
    }

    /// Logs what the queue of a link has dropped since there were `before` drops, if the log is enabled.
    #[inline(always)]
    fn log_drops(&mut self, link: LinkId, before: usize) {
        if self.drop_log.is_some() {
            self.log_drops_since(link, before);
        }
    }

    #[inline(never)]
    fn log_drops_since(&mut self, link: LinkId, before: usize) {
        let Some(log) = &mut self.drop_log else { return };
        for Dropped(copy) in self.dropped.get(before..).unwrap_or_default() {
            let body = self.slab.body_of(copy);
            log.push(QueueDrop { at: self.current.time, link, copy: *copy, body });
        }
    }

    /// Puts a copy on the wire, and enters the end of its transmission if others wait.
    #[must_use]
    fn transmit(&mut self, id: LinkId, copy: PacketCopy) -> Option<Key> {
        if self.links[id.0 as usize].varies() {
            return self.transmit_varying(id, copy);
        }
        let now = self.now();
        let link = &mut self.links[id.0 as usize];
        let arrival = launch(link, now, copy, &mut self.events, &mut self.wires);
        if link.has_waiting() {
            link.free_pending = true;
            self.events.push(link.free_at(), Event::Free(id.0));
        }
        arrival
    }

    /// Sets or clears an agent's deadline.
    pub(crate) fn set_timer(&mut self, agent: u32, at: Option<Time>) {
        self.timers[agent as usize].set(agent, at, &mut self.events);
    }
}

/// Puts a copy on the wire of a link that does not change. Returns the arrival if it has to be entered in
/// the event list.
#[inline(always)]
#[must_use]
fn launch(
    link: &mut Link,
    now: Time,
    copy: PacketCopy,
    events: &mut EventQueue,
    wires: &mut WirePool,
) -> Option<Key> {
    let (transmission, total) = link.delays(copy.size_bytes);
    // The arrival takes its number before the release of the transmitter: this decides ties on
    // links without delay.
    let arrival = events.key_at(now + total);
    let free_at = events.key_at(now + transmission);
    link.propagate(wires, copy, arrival, free_at).then_some(arrival)
}

#[cfg(test)]
mod tests;
