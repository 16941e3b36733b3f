//! A link: error model, queue, transmitter, wire.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};

use crate::event::Key;
use crate::loss::{LossModel, LossPlace};
use crate::measure::LinkCounters;
use crate::packet::{Dropped, PacketCopy};
use crate::queue::{Queue, QueueConfig, Watched, transmission};

mod delay;
mod rest;
mod varying;
mod wire;

pub use self::delay::DelayHistogram;

use self::rest::{Extras, Rest};
pub(crate) use self::varying::Step;
use self::wire::Followers;
pub(crate) use self::wire::WirePool;

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// Losses that are not the queue's.
    pub loss: LossModel,
    /// Where those losses happen.
    pub loss_place: LossPlace,
    /// Mark ECN-capable packets instead of losing them.
    pub loss_marks: bool,
}

/// A link. What every packet touches is in the first line of the processor's caches; what only some do, in
/// the second: a packet that follows another on the wire, or that has another size.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// When the transmitter finishes its packet, and the order of that moment among equal times.
    free_at: Key,
    delay: Duration,
    /// The transmission time of packets of `last_size`.
    last_transmission: Duration,
    /// The first packet in flight, if `has_first`: most links of a large tree never carry a second.
    first: PacketCopy,
    /// Packets of `last_size` that are not in `packets` and `bytes` yet.
    recent: u32,
    last_size: u16,
    /// Packets below this size that find the transmitter idle are sent at once: neither an error model nor
    /// a queue has to be asked. 0 if one always has to be.
    passes_below: u16,
    has_first: bool,
    has_followers: bool,
    /// Whether the end of the transmission is in the event list, which it is only while packets wait.
    pub(crate) free_pending: bool,
    /// Whether an error model may lose packets, or the link may change.
    has_extras: bool,
    followers: Followers,
    ns_per_byte: f64,
    /// Packets whose transmission began, and their bytes.
    packets: u64,
    bytes: u64,
    /// Whether the delays of the queue are recorded.
    records_delays: bool,
    /// None for a link without error model whose queue has no limit, until a packet waits.
    rest: Option<Box<Rest>>,
}

impl Link {
    /// A link with a stream for its losses and one for its queue.
    pub(crate) fn new(config: LinkConfig, losses: Stream, queue: Stream) -> Link {
        let mut link = Link {
            free_at: Key { time: Time::ZERO, order: 0 },
            delay: config.delay,
            last_transmission: Duration::ZERO,
            first: PacketCopy::NOTHING,
            recent: 0,
            last_size: 0,
            passes_below: 0,
            has_first: false,
            has_followers: false,
            free_pending: false,
            has_extras: false,
            followers: Followers::default(),
            ns_per_byte: ns_per_byte(config.rate),
            packets: 0,
            bytes: 0,
            records_delays: false,
            rest: None,
        };
        if Rest::is_needed(&config) {
            let mut rest = Rest::with_queue(Queue::new(config.queue, config.rate, config.delay, queue));
            if config.loss != LossModel::None {
                let mut extras = Extras::without_losses(losses);
                extras.set_losses(config.loss, config.loss_place);
                extras.set_marks(config.loss_marks);
                rest.extras = Some(extras);
            }
            link.rest = Some(Box::new(rest));
        }
        link.update_shortcuts();
        link
    }

    /// Sets what follows from the rest, after a change of its parts.
    fn update_shortcuts(&mut self) {
        self.has_extras = self.extras().is_some();
        let passes_below = match &self.rest {
            None => u32::MAX,
            Some(_) if self.has_extras => 0,
            Some(rest) => rest.queue.passes_below(),
        };
        self.passes_below = u16::try_from(passes_below).unwrap_or(u16::MAX);
    }

    fn rest_mut(&mut self) -> &mut Rest {
        self.rest.get_or_insert_with(|| Box::new(Rest::unlimited()))
    }

    /// Whether a packet of this size is sent at once, at the event being served.
    #[inline]
    pub(crate) fn passes(&self, current: Key, size_bytes: u32) -> bool {
        let passes = size_bytes < u32::from(self.passes_below) && !self.is_busy(current);
        debug_assert!(!passes || !self.has_waiting(), "packets wait only for a busy transmitter");
        passes
    }

    /// Whether an offered packet is lost: by the error model, which may mark it instead, or because the
    /// link is down.
    #[inline]
    pub(crate) fn loses_before_queue(&mut self, copy: &mut PacketCopy) -> bool {
        self.has_extras && self.rest_mut().loses_before_queue(copy)
    }

    /// Whether an error model may lose packets, or the link may change.
    #[inline]
    pub(crate) fn has_extras(&self) -> bool {
        self.has_extras
    }

    /// Whether a packet that arrives under this order number is lost: by the error model, which may mark it
    /// instead, or because the link went down while the packet was in flight.
    #[inline]
    pub(crate) fn loses_after_link(&mut self, copy: &mut PacketCopy, order: u64) -> bool {
        self.has_extras && self.rest_mut().loses_after_link(copy, order)
    }

    /// Enqueues a packet that a drop-tail queue has admitted.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, copy: PacketCopy) {
        self.account_queue(now);
        if let Queue::DropTail(queue) = self.queue_mut() {
            queue.push(copy);
        }
    }

    /// Offers a packet to a managed queue. `idle` is set if the transmitter is idle.
    pub(crate) fn enqueue(&mut self, now: Time, idle: bool, copy: PacketCopy, dropped: &mut Vec<Dropped>) {
        let idle_since = idle.then_some(self.free_at.time);
        self.rest_mut().enqueue(now, idle_since, copy, dropped);
    }

    /// The packet to transmit next. The queue may drop others before it.
    #[inline]
    pub(crate) fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped>) -> Option<PacketCopy> {
        self.rest.as_mut()?.dequeue(now, dropped)
    }

    /// The queue.
    #[inline]
    pub(crate) fn queue_mut(&mut self) -> &mut Queue {
        &mut self.rest_mut().queue
    }

    /// The queue, if it has a limit or a packet has waited in it.
    pub(crate) fn queue(&self) -> Option<&Queue> {
        self.rest.as_ref().map(|rest| &rest.queue)
    }

    /// The tap, if there is one.
    pub(crate) fn tap_mut(&mut self) -> Option<&mut Watched> {
        match &mut self.rest.as_mut()?.queue {
            Queue::Watched(tap) => Some(tap),
            _ => None,
        }
    }

    /// How many packets wait.
    pub(crate) fn waiting(&self) -> usize {
        self.rest.as_ref().map_or(0, |rest| rest.queue.len())
    }

    /// Whether packets wait.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| !rest.queue.is_empty())
    }

    /// Whether the transmitter is still sending at the event being served.
    #[inline]
    pub(crate) fn is_busy(&self, current: Key) -> bool {
        self.free_at > current
    }

    /// When the transmitter finishes.
    pub(crate) fn free_at(&self) -> Key {
        self.free_at
    }

    /// The transmission time of a packet, and the time until its last bit arrives.
    #[inline(always)]
    pub(crate) fn delays(&mut self, size_bytes: u32) -> (Duration, Duration) {
        let transmission = if size_bytes == u32::from(self.last_size) {
            self.last_transmission
        } else {
            self.transmission_of_other(size_bytes)
        };
        (transmission, transmission + self.delay)
    }

    /// The transmission time of a packet whose size is not that of the last.
    #[cold]
    #[inline(never)]
    fn transmission_of_other(&mut self, size_bytes: u32) -> Duration {
        let transmission = transmission(size_bytes, self.ns_per_byte);
        if let Ok(size) = u16::try_from(size_bytes) {
            self.sum_up();
            (self.last_size, self.last_transmission) = (size, transmission);
        }
        transmission
    }

    /// Forgets the transmission time of the last packet, which has become another.
    fn forget_transmission(&mut self) {
        self.sum_up();
        (self.last_size, self.last_transmission) = (0, Duration::ZERO);
    }

    /// Adds the recent packets to the sums.
    fn sum_up(&mut self) {
        let recent = u64::from(std::mem::take(&mut self.recent));
        self.packets += recent;
        self.bytes += recent * u64::from(self.last_size);
    }

    /// Puts a packet on the wire. The keys of its arrival and of the transmitter's release must have been
    /// taken in that order. Returns whether it is the only packet on the wire.
    #[inline(always)]
    pub(crate) fn propagate(
        &mut self,
        pool: &mut WirePool,
        copy: PacketCopy,
        arrival: Key,
        free_at: Key,
    ) -> bool {
        self.count_transmission(copy, free_at);
        self.push_on_wire(pool, arrival, copy)
    }

    #[inline(always)]
    fn count_transmission(&mut self, copy: PacketCopy, free_at: Key) {
        if copy.size_bytes == u32::from(self.last_size) && self.recent < u32::MAX {
            self.recent += 1;
        } else {
            self.sum_up();
            self.packets += 1;
            self.bytes += u64::from(copy.size_bytes);
        }
        self.free_at = free_at;
        self.free_pending = false;
    }

    /// Takes the packet that arrives, and the next arrival to enter in the event list.
    pub(crate) fn pop_arrival(&mut self, pool: &mut WirePool) -> Option<(PacketCopy, Option<Key>)> {
        let (copy, next) = self.pop_from_wire(pool)?;
        Some((copy, if self.has_extras { self.next_to_enter(next) } else { next }))
    }

    /// How many packets are in the queue and on the wire.
    pub(crate) fn carried(&self, pool: &WirePool) -> usize {
        self.waiting() + self.count_on_wire(pool)
    }

    /// Puts a tap on the link.
    pub(crate) fn watch(&mut self) {
        let (ns_per_byte, delay) = (self.ns_per_byte, self.delay);
        self.queue_mut().watch(ns_per_byte, delay);
        self.update_shortcuts();
    }

    /// Brings the time integral of the queue up to date; call before its length changes.
    pub(crate) fn account_queue(&mut self, now: Time) {
        if let Some(rest) = &mut self.rest {
            rest.account_queue(now, self.records_delays.then_some(self.ns_per_byte));
        }
    }

    /// What the link has done so far.
    pub(crate) fn counters(&self) -> LinkCounters {
        let counters = self.rest.as_ref().map_or_else(LinkCounters::default, |rest| rest.counters);
        let recent = u64::from(self.recent);
        let (packets, bytes) = (self.packets + recent, self.bytes + recent * u64::from(self.last_size));
        LinkCounters { packets, bytes, ..counters }
    }

    /// The counters of drops, losses and marks.
    pub(crate) fn counters_mut(&mut self) -> &mut LinkCounters {
        &mut self.rest_mut().counters
    }

    /// Records from now on how long its queue has which delay.
    pub(crate) fn record_delays(&mut self) {
        self.records_delays = true;
    }

    /// How long its queue had which delay so far; none if no packet has waited, or if that is not recorded.
    pub(crate) fn delay_histogram(&self) -> Option<&DelayHistogram> {
        self.rest.as_ref()?.delays.as_deref()
    }

    /// The present propagation delay.
    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }

    fn extras(&self) -> Option<&Extras> {
        self.rest.as_ref()?.extras.as_deref()
    }

    fn extras_mut(&mut self) -> Option<&mut Extras> {
        self.rest.as_mut()?.extras.as_deref_mut()
    }
}

/// The transmission time of a byte in nanoseconds.
fn ns_per_byte(rate: Rate) -> f64 {
    8e9 / rate.as_bps()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lines of 64 bytes: a million receivers have two million of them.
    #[test]
    fn a_link_has_two_cache_lines() {
        assert_eq!(size_of::<Link>(), 128);
        assert_eq!(std::mem::offset_of!(Link, followers), 64);
    }
}
