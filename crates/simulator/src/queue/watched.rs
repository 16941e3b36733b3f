//! A queue with a tap on its link: it behaves as the inner queue and keeps a log.
//!
//! The link of a watched queue takes the path of managed queues, so that a link without a tap never tests for
//! one. For a drop-tail queue both paths have the same outcome.

use std::collections::{BTreeMap, VecDeque};

use layercast_core::units::{Duration, Time};

use super::{Queue, QueueContext};
use crate::packet::{EcnBits, PacketCopy, PacketId};
use crate::tapped::{LinkEvent, TappedId};

/// A record as the link knows it; the simulation adds the owner of the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawRecord {
    pub(crate) at: Time,
    pub(crate) event: LinkEvent,
    pub(crate) copy: PacketCopy,
    /// Which of the tapped packets it is.
    pub(crate) packet: TappedId,
}

/// The transmission time of a packet.
pub(crate) fn transmission(size_bytes: u32, ns_per_byte: f64) -> Duration {
    Duration::from_ns((f64::from(size_bytes) * ns_per_byte + 0.5) as u64)
}

/// A queue and the log of its link.
#[derive(Debug)]
pub(crate) struct Watched {
    inner: Queue,
    ns_per_byte: f64,
    delay: Duration,
    /// Which tapped packets wait.
    waiting: BTreeMap<PacketId, TappedId>,
    /// What is on the wire, with the time of arrival. An arrival is not an event here: it becomes a record
    /// when its time has passed.
    wire: VecDeque<RawRecord>,
    records: Vec<RawRecord>,
}

impl Watched {
    /// A packet is about to be offered.
    pub(crate) fn expect(&mut self, id: PacketId, packet: TappedId) {
        self.waiting.insert(id, packet);
    }

    /// The error model lost a packet before the queue.
    pub(crate) fn lose_before(&mut self, now: Time, copy: PacketCopy, packet: TappedId) {
        self.record(now, LinkEvent::Offered, copy, packet);
        self.record(now, LinkEvent::Lost, copy, packet);
    }

    /// The error model lost a packet at the far end. Those ahead of it have arrived.
    pub(crate) fn lose_after(&mut self, now: Time, copy: PacketCopy) {
        while let Some(ahead) = self.wire.pop_front() {
            let lost = Some(ahead.copy.packet) == copy.slot() && ahead.at == now;
            let event = if lost { LinkEvent::Lost } else { LinkEvent::Arrived };
            self.records.push(RawRecord { event, ..ahead });
            if lost {
                break;
            }
        }
    }

    /// The packet sent last arrives at another time than on a link that does not vary.
    pub(crate) fn arrives_at(&mut self, at: Time) {
        if let Some(sent) = self.wire.pop_back() {
            let index = self.wire.partition_point(|record| record.at <= at);
            self.wire.insert(index, RawRecord { at, ..sent });
        }
    }

    /// The packet taken last is lost before its transmission begins.
    pub(crate) fn lose_taken(&mut self) {
        self.wire.pop_back();
        if let Some(sent) = self.records.last_mut() {
            sent.event = LinkEvent::Lost;
        }
    }

    /// Takes out all records up to and including `now`, in the order of their times.
    pub(crate) fn drain(&mut self, now: Time, sink: &mut impl FnMut(RawRecord)) {
        self.record_arrivals(|at| at <= now);
        self.records.drain(..).for_each(sink);
    }

    pub(super) fn enqueue(&mut self, copy: PacketCopy, context: &mut QueueContext<'_>) {
        if let Some(packet) = self.waiting_packet(&copy) {
            self.record(context.now, LinkEvent::Offered, copy, packet);
        }
        let (drops, marks) = (context.dropped.len(), context.counters.marks);
        self.inner.enqueue(copy, context);
        self.note_choices(drops, marks, Some(copy), context);
    }

    pub(super) fn dequeue(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        let (drops, marks) = (context.dropped.len(), context.counters.marks);
        let taken = self.inner.dequeue(context);
        self.note_choices(drops, marks, taken, context);
        let copy = taken?;
        // A packet that was enqueued before the tap is unknown.
        if let Some(packet) = self.waiting_packet(&copy) {
            self.waiting.remove(&copy.packet);
            self.record(context.now, LinkEvent::Sent, copy, packet);
            let at = context.now + (transmission(copy.size_bytes, self.ns_per_byte) + self.delay);
            self.wire.push_back(RawRecord { at, event: LinkEvent::Arrived, copy, packet });
        }
        Some(copy)
    }

    /// Which of the tapped packets a copy is of. One without a slot was enqueued before the tap.
    fn waiting_packet(&self, copy: &PacketCopy) -> Option<TappedId> {
        self.waiting.get(&copy.slot()?).copied()
    }

    pub(super) fn inner(&self) -> &Queue {
        &self.inner
    }

    /// Records what the inner queue did since it had so many drops and marks. It marks only the packet that it
    /// enqueues or dequeues.
    fn note_choices(
        &mut self,
        drops: usize,
        marks: u64,
        at_hand: Option<PacketCopy>,
        context: &QueueContext<'_>,
    ) {
        for dropped in context.dropped.get(drops..).unwrap_or_default() {
            if let Some(packet) = self.waiting_packet(&dropped.0) {
                self.waiting.remove(&dropped.0.packet);
                self.record(context.now, LinkEvent::Dropped, dropped.0, packet);
            }
        }
        if context.counters.marks > marks
            && let Some(copy) = at_hand
            && let Some(packet) = self.waiting_packet(&copy)
        {
            self.record(context.now, LinkEvent::Marked, PacketCopy { ecn: EcnBits::MARKED, ..copy }, packet);
        }
    }

    fn record(&mut self, at: Time, event: LinkEvent, copy: PacketCopy, packet: TappedId) {
        // A packet that arrives now may still be lost by the error model, if its event is still to come.
        self.record_arrivals(|arrival| arrival < at);
        self.records.push(RawRecord { at, event, copy, packet });
    }

    fn record_arrivals(&mut self, has_arrived: impl Fn(Time) -> bool) {
        let arrived = self.wire.iter().take_while(|record| has_arrived(record.at)).count();
        self.records.extend(self.wire.drain(..arrived));
    }
}

impl Queue {
    /// Puts a tap on the queue of a link of this speed and delay. A second one changes nothing.
    pub(crate) fn watch(&mut self, ns_per_byte: f64, delay: Duration) {
        if !matches!(self, Queue::Watched(_)) {
            let inner = std::mem::replace(self, Queue::unlimited());
            *self = Queue::Watched(Box::new(Watched {
                inner,
                ns_per_byte,
                delay,
                waiting: BTreeMap::new(),
                wire: VecDeque::new(),
                records: Vec::new(),
            }));
        }
    }
}
