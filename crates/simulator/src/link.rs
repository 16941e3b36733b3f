//! A link: error model, queue, transmitter, wire.

use std::collections::VecDeque;

use layercast_protocol::stream::Stream;
use layercast_protocol::units::{Rate, Span, Time};

use crate::event::Key;
use crate::loss::{LossModel, LossProcess};
use crate::packet::Parcel;
use crate::queue::{DropTail, QueueConfig};

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
}

/// What a link has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets whose transmission began.
    pub packets: u64,
    /// Bytes of those packets.
    pub bytes: u64,
    /// Packets that the queue dropped.
    pub queue_drops: u64,
    /// Packets that the error model lost.
    pub losses: u64,
    /// Packets marked instead of dropped.
    pub marks: u64,
    /// Time integral of the number of waiting packets, in packets times nanoseconds.
    pub queue_packet_ns: u128,
}

#[derive(Debug)]
pub(crate) struct Link {
    delay: Span,
    ns_per_byte: f64,
    pub(crate) queue: DropTail,
    pub(crate) loss: LossProcess,
    /// When the transmitter is done with what it sends, and the place of that among equal times.
    free_at: Key,
    /// Whether that moment is in the event list. It is there only while packets wait for it.
    pub(crate) free_pending: bool,
    wire: VecDeque<(Key, Parcel)>,
    pub(crate) counters: LinkCounters,
    queue_changed_at: Time,
}

impl Link {
    pub(crate) fn new(config: LinkConfig, stream: Stream) -> Link {
        Link {
            delay: config.delay,
            ns_per_byte: 8e9 / config.rate.as_bps(),
            queue: DropTail::new(config.queue),
            loss: LossProcess::new(config.loss, stream),
            free_at: Key { time: Time::ZERO, order: 0 },
            free_pending: false,
            wire: VecDeque::new(),
            counters: LinkCounters::default(),
            queue_changed_at: Time::ZERO,
        }
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
        let transmission = Span::from_ns((f64::from(size_bytes) * self.ns_per_byte + 0.5) as u64);
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

    /// Brings the time integral of the queue up to date; call before its length changes.
    pub(crate) fn account_queue(&mut self, now: Time) {
        let elapsed = now.since(self.queue_changed_at).as_ns();
        self.counters.queue_packet_ns += u128::from(elapsed) * self.queue.len() as u128;
        self.queue_changed_at = now;
    }
}
