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
}

#[derive(Debug)]
pub(crate) struct Link {
    delay: Span,
    ns_per_byte: f64,
    pub(crate) queue: Queue,
    /// Draws where packets are offered.
    pub(crate) loss: LossProcess,
    /// Draws where packets arrive.
    pub(crate) loss_after: LossProcess,
    /// When the transmitter is done with what it sends, and the place of that among equal times.
    free_at: Key,
    /// Whether that moment is in the event list. It is there only while packets wait for it.
    pub(crate) free_pending: bool,
    wire: VecDeque<(Key, Parcel)>,
    pub(crate) counters: LinkCounters,
    queue_changed_at: Time,
}

impl Link {
    /// A link with a stream for its losses and one for its queue.
    pub(crate) fn new(config: LinkConfig, losses: Stream, queue: Stream) -> Link {
        let (before, after) = match config.loss_place {
            LossPlace::BeforeQueue => (config.loss, LossModel::None),
            LossPlace::AfterLink => (LossModel::None, config.loss),
        };
        Link {
            delay: config.delay,
            ns_per_byte: 8e9 / config.rate.as_bps(),
            queue: Queue::new(config.queue, config.rate, config.delay, queue),
            loss: LossProcess::new(before, losses.clone()),
            loss_after: LossProcess::new(after, losses),
            free_at: Key { time: Time::ZERO, order: 0 },
            free_pending: false,
            wire: VecDeque::new(),
            counters: LinkCounters::default(),
            queue_changed_at: Time::ZERO,
        }
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
        self.wire.push_back((arrival, parcel));
        self.wire.len() == 1
    }

    /// Takes the packet that arrives and tells when the next one will.
    pub(crate) fn land(&mut self) -> Option<(Parcel, Option<Key>)> {
        let (_, parcel) = self.wire.pop_front()?;
        Some((parcel, self.wire.front().map(|&(key, _)| key)))
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
