//! A link: error model, queue, transmitter, wire.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};

use crate::event::Key;
use crate::loss::{LossModel, LossPlace, LossProcess};
use crate::measure::LinkCounters;
use crate::packet::{Dropped, PacketCopy};
use crate::queue::{Queue, QueueConfig, QueueContext, transmission};

mod delay;
mod varying;
mod wire;

pub use self::delay::DelayHistogram;

pub(crate) use self::varying::Step;
use self::varying::Varying;
use self::wire::Wire;
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

#[derive(Debug)]
pub(crate) struct Link {
    delay: Duration,
    ns_per_byte: f64,
    /// Most links have none.
    extras: Option<Box<Extras>>,
    /// When the transmitter finishes its packet, and the order of that moment among equal times.
    free_at: Key,
    /// Whether that moment is in the event list, which it is only while packets wait.
    pub(crate) free_pending: bool,
    wire: Wire,
    pub(crate) queue: Queue,
    pub(crate) counters: LinkCounters,
    queue_changed_at: Time,
    /// Whether the delays of its queue are recorded.
    records_delays: bool,
    /// Those delays; none until a packet has waited.
    delays: Option<Box<DelayHistogram>>,
}

/// Features of a link other than carrying packets.
#[derive(Debug)]
struct Extras {
    /// The error model for packets that are offered.
    before: LossProcess,
    /// The error model for packets that arrive.
    after: LossProcess,
    /// Whether ECN-capable packets are marked instead of lost.
    marks: bool,
    /// How the link changes.
    varying: Option<Varying>,
}

impl Extras {
    fn without_losses(losses: Stream) -> Box<Extras> {
        let before = LossProcess::new(LossModel::None, losses.clone());
        let after = LossProcess::new(LossModel::None, losses);
        Box::new(Extras { before, after, marks: false, varying: None })
    }

    /// Sets the error model at one end and removes it at the other.
    fn set_losses(&mut self, model: LossModel, place: LossPlace) {
        let (before, after) = match place {
            LossPlace::BeforeQueue => (model, LossModel::None),
            LossPlace::AfterLink => (LossModel::None, model),
        };
        self.before.set_model(before);
        self.after.set_model(after);
    }

    /// Applies a hit of the error model. Returns whether the packet is lost; otherwise it is now marked.
    fn apply_loss(&self, copy: &mut PacketCopy, counters: &mut LinkCounters) -> bool {
        let is_lost = !(self.marks && copy.is_ecn_capable());
        if is_lost {
            counters.losses += 1;
        } else {
            counters.marks += 1;
            copy.mark();
        }
        is_lost
    }
}

impl Link {
    /// A link with a stream for its losses and one for its queue.
    pub(crate) fn new(config: LinkConfig, losses: Stream, queue: Stream) -> Link {
        let extras = (config.loss != LossModel::None).then(|| {
            let mut extras = Extras::without_losses(losses);
            extras.set_losses(config.loss, config.loss_place);
            extras.marks = config.loss_marks;
            extras
        });
        Link {
            delay: config.delay,
            ns_per_byte: ns_per_byte(config.rate),
            queue: Queue::new(config.queue, config.rate, config.delay, queue),
            extras,
            free_at: Key { time: Time::ZERO, order: 0 },
            free_pending: false,
            wire: Wire::default(),
            counters: LinkCounters::default(),
            queue_changed_at: Time::ZERO,
            records_delays: false,
            delays: None,
        }
    }

    /// Whether an offered packet is lost: by the error model, which may mark it instead, or because the
    /// link is down.
    #[inline]
    pub(crate) fn loses_before_queue(&mut self, copy: &mut PacketCopy) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        if extras.varying.as_ref().is_some_and(|varying| varying.is_down) {
            self.counters.losses += 1;
            return true;
        }
        extras.before.loses(copy.size_bytes) && extras.apply_loss(copy, &mut self.counters)
    }

    /// Whether a packet that arrives under this order number is lost: by the error model, which may mark it
    /// instead, or because the link went down while the packet was in flight.
    #[inline]
    pub(crate) fn loses_after_link(&mut self, copy: &mut PacketCopy, order: u64) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        if extras.varying.as_ref().is_some_and(|varying| order < varying.lost_below) {
            self.counters.losses += 1;
            return true;
        }
        extras.after.loses(copy.size_bytes) && extras.apply_loss(copy, &mut self.counters)
    }

    /// Enqueues a packet that a drop-tail queue has admitted.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, copy: PacketCopy) {
        self.account_queue(now);
        if let Queue::DropTail(queue) = &mut self.queue {
            queue.push(copy);
        }
    }

    /// Offers a packet to a managed queue. `idle` is set if the transmitter is idle.
    pub(crate) fn enqueue(&mut self, now: Time, idle: bool, copy: PacketCopy, dropped: &mut Vec<Dropped>) {
        let idle_since = idle.then_some(self.free_at.time);
        let mut context = QueueContext { now, idle_since, counters: &mut self.counters, dropped };
        self.queue.enqueue(copy, &mut context);
    }

    /// The packet to transmit next. The queue may drop others before it.
    #[inline]
    pub(crate) fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped>) -> Option<PacketCopy> {
        if let Queue::DropTail(queue) = &mut self.queue {
            return queue.pop();
        }
        let mut context = QueueContext { now, idle_since: None, counters: &mut self.counters, dropped };
        self.queue.dequeue(&mut context)
    }

    /// Whether the transmitter is still sending at the event being served.
    pub(crate) fn is_busy(&self, current: Key) -> bool {
        self.free_at > current
    }

    /// When the transmitter finishes.
    pub(crate) fn free_at(&self) -> Key {
        self.free_at
    }

    /// The transmission time of a packet, and the time until its last bit arrives.
    pub(crate) fn delays(&self, size_bytes: u32) -> (Duration, Duration) {
        let transmission = transmission(size_bytes, self.ns_per_byte);
        (transmission, transmission + self.delay)
    }

    /// Puts a packet on the wire. The keys of its arrival and of the transmitter's release must have been
    /// taken in that order. Returns whether it is the only packet on the wire.
    pub(crate) fn propagate(
        &mut self,
        pool: &mut WirePool,
        copy: PacketCopy,
        arrival: Key,
        free_at: Key,
    ) -> bool {
        self.count_transmission(copy, free_at);
        self.wire.push(pool, arrival, copy)
    }

    #[inline]
    fn count_transmission(&mut self, copy: PacketCopy, free_at: Key) {
        self.counters.packets += 1;
        self.counters.bytes += u64::from(copy.size_bytes);
        self.free_at = free_at;
        self.free_pending = false;
    }

    /// Takes the packet that arrives, and the next arrival to enter in the event list.
    pub(crate) fn pop_arrival(&mut self, pool: &mut WirePool) -> Option<(PacketCopy, Option<Key>)> {
        let copy = self.wire.pop(pool)?;
        let next = self.wire.next_arrival();
        Some((copy, if self.extras.is_some() { self.next_to_enter(next) } else { next }))
    }

    /// How many packets are in the queue and on the wire.
    pub(crate) fn carried(&self, pool: &WirePool) -> usize {
        self.queue.len() + self.wire.len(pool)
    }

    /// Puts a tap on the link.
    pub(crate) fn watch(&mut self) {
        self.queue.watch(self.ns_per_byte, self.delay);
    }

    /// Brings the time integral of the queue up to date; call before its length changes.
    pub(crate) fn account_queue(&mut self, now: Time) {
        let elapsed = now.since(self.queue_changed_at);
        let waiting = self.queue.len();
        if waiting > 0 {
            self.counters.queue_packet_ns += u128::from(elapsed.as_ns()) * waiting as u128;
            if self.records_delays {
                let delay = Duration::from_ns((self.queue.bytes() as f64 * self.ns_per_byte) as u64);
                self.delays.get_or_insert_default().add(delay, elapsed);
            }
        }
        self.queue_changed_at = now;
    }

    /// Records from now on how long its queue has which delay.
    pub(crate) fn record_delays(&mut self) {
        self.records_delays = true;
    }

    /// How long its queue had which delay so far; none if no packet has waited, or if that is not recorded.
    pub(crate) fn delay_histogram(&self) -> Option<&DelayHistogram> {
        self.delays.as_deref()
    }

    /// The present propagation delay.
    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }
}

/// The transmission time of a byte in nanoseconds.
fn ns_per_byte(rate: Rate) -> f64 {
    8e9 / rate.as_bps()
}
