//! A link: error model, queue, transmitter, wire.

use std::collections::VecDeque;

use layercast_protocol::stream::Stream;
use layercast_protocol::units::{Rate, Span, Time};

use crate::event::Key;
use crate::loss::{LossModel, LossPlace, LossProcess};
use crate::measure::LinkCounters;
use crate::packet::{Dropped, Parcel};
use crate::queue::{Queue, QueueConfig, Visit, transmission};

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// Losses that are not the queue's.
    pub loss: LossModel,
    /// Where those losses happen.
    pub loss_place: LossPlace,
    /// Mark packets that take marks instead of losing them.
    pub loss_marks: bool,
}

#[derive(Debug)]
pub(crate) struct Link {
    delay: Span,
    ns_per_byte: f64,
    /// Most links have none.
    errors: Option<Box<Errors>>,
    /// When the transmitter is done with what it sends, and the place of that among equal times.
    free_at: Key,
    /// Whether that moment is in the event list. It is there only while packets wait for it.
    pub(crate) free_pending: bool,
    wire: Wire,
    pub(crate) queue: Queue,
    pub(crate) counters: LinkCounters,
    queue_changed_at: Time,
}

/// The error models of a link.
#[derive(Debug)]
struct Errors {
    /// Draws where packets are offered.
    before: LossProcess,
    /// Draws where packets arrive.
    after: LossProcess,
    /// Whether packets that take marks are marked instead of lost.
    marks: bool,
}

impl Errors {
    /// A packet is struck: whether it is lost. Otherwise it is marked now.
    fn strike(&self, parcel: &mut Parcel, counters: &mut LinkCounters) -> bool {
        let is_lost = !(self.marks && parcel.takes_marks());
        if is_lost {
            counters.losses += 1;
        } else {
            counters.marks += 1;
            parcel.marked = true;
        }
        is_lost
    }
}

impl Link {
    /// A link with a stream for its losses and one for its queue.
    pub(crate) fn new(config: LinkConfig, losses: Stream, queue: Stream) -> Link {
        let errors = (config.loss != LossModel::None).then(|| {
            let (before, after) = match config.loss_place {
                LossPlace::BeforeQueue => (config.loss, LossModel::None),
                LossPlace::AfterLink => (LossModel::None, config.loss),
            };
            let before = LossProcess::new(before, losses.clone());
            let after = LossProcess::new(after, losses);
            Box::new(Errors { before, after, marks: config.loss_marks })
        });
        Link {
            delay: config.delay,
            ns_per_byte: 8e9 / config.rate.as_bps(),
            queue: Queue::new(config.queue, config.rate, config.delay, queue),
            errors,
            free_at: Key { time: Time::ZERO, order: 0 },
            free_pending: false,
            wire: Wire::default(),
            counters: LinkCounters::default(),
            queue_changed_at: Time::ZERO,
        }
    }

    /// Whether the error model loses a packet that is offered. It may mark it instead.
    #[inline]
    pub(crate) fn loses_before(&mut self, parcel: &mut Parcel) -> bool {
        let Some(errors) = &mut self.errors else { return false };
        errors.before.loses(parcel.size_bytes) && errors.strike(parcel, &mut self.counters)
    }

    /// Whether the error model loses a packet that arrives. It may mark it instead.
    #[inline]
    pub(crate) fn loses_after(&mut self, parcel: &mut Parcel) -> bool {
        let Some(errors) = &mut self.errors else { return false };
        errors.after.loses(parcel.size_bytes) && errors.strike(parcel, &mut self.counters)
    }

    /// Lets a packet that a drop-tail queue has admitted wait.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, parcel: Parcel) {
        self.account_queue(now);
        if let Queue::DropTail(queue) = &mut self.queue {
            queue.push(parcel);
        }
    }

    /// Offers a packet to a managed queue. `idle` tells that the transmitter has nothing to do.
    pub(crate) fn offer(&mut self, now: Time, idle: bool, parcel: Parcel, dropped: &mut Vec<Dropped>) {
        let idle_since = idle.then_some(self.free_at.time);
        let mut visit = Visit { now, idle_since, counters: &mut self.counters, dropped };
        self.queue.offer(parcel, &mut visit);
    }

    /// The packet to transmit next. The queue may drop some on the way to it.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, dropped: &mut Vec<Dropped>) -> Option<Parcel> {
        if let Queue::DropTail(queue) = &mut self.queue {
            return queue.pop();
        }
        let mut visit = Visit { now, idle_since: None, counters: &mut self.counters, dropped };
        self.queue.take(&mut visit)
    }

    /// Whether the transmitter is still sending at the event being served.
    pub(crate) fn is_busy(&self, current: Key) -> bool {
        self.free_at > current
    }

    /// The moment at which the transmitter is done.
    pub(crate) fn free_at(&self) -> Key {
        self.free_at
    }

    /// How long the transmitter takes for a packet, and when its last bit arrives after that.
    pub(crate) fn spans(&self, size_bytes: u32) -> (Span, Span) {
        let transmission = transmission(size_bytes, self.ns_per_byte);
        (transmission, transmission + self.delay)
    }

    /// Puts a packet on the wire. The keys of its arrival and of the transmitter's release were
    /// taken in that order. Returns whether it is alone on the wire.
    pub(crate) fn launch(&mut self, parcel: Parcel, arrival: Key, free_at: Key) -> bool {
        self.counters.packets += 1;
        self.counters.bytes += u64::from(parcel.size_bytes);
        self.free_at = free_at;
        self.free_pending = false;
        self.wire.push(arrival, parcel)
    }

    /// Takes the packet that arrives and tells when the next one will.
    pub(crate) fn land(&mut self) -> Option<(Parcel, Option<Key>)> {
        let parcel = self.wire.pop()?;
        Some((parcel, self.wire.next_arrival()))
    }

    /// How many packets are in the queue and on the wire.
    pub(crate) fn carried(&self) -> usize {
        self.queue.len() + self.wire.len()
    }

    /// Puts a tap on the link.
    pub(crate) fn watch(&mut self) {
        self.queue.watch(self.ns_per_byte, self.delay);
    }

    /// Brings the time integral of the queue up to date; call before its length changes.
    pub(crate) fn account_queue(&mut self, now: Time) {
        let elapsed = now.since(self.queue_changed_at).as_ns();
        self.counters.queue_packet_ns += u128::from(elapsed) * self.queue.len() as u128;
        self.queue_changed_at = now;
    }
}

/// The packets in flight, in order. The first has a place of its own: on most links of a large tree
/// there is never another.
#[derive(Debug, Default)]
struct Wire {
    first: Option<(Key, Parcel)>,
    others: VecDeque<(Key, Parcel)>,
}

impl Wire {
    /// Adds a packet. Returns whether it is alone.
    #[inline]
    fn push(&mut self, arrival: Key, parcel: Parcel) -> bool {
        let alone = self.first.is_none();
        if alone {
            self.first = Some((arrival, parcel));
        } else {
            self.others.push_back((arrival, parcel));
        }
        alone
    }

    #[inline]
    fn pop(&mut self) -> Option<Parcel> {
        let (_, parcel) = self.first?;
        self.first = self.others.pop_front();
        Some(parcel)
    }

    #[inline]
    fn next_arrival(&self) -> Option<Key> {
        self.first.map(|(key, _)| key)
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }
}
