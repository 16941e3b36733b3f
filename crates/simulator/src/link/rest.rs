//! What a link has besides its transmitter and its wire: an error model, a queue, their counters.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use super::varying::Varying;
use super::{DelayHistogram, LinkConfig};
use crate::loss::{LossModel, LossPlace, LossProcess};
use crate::measure::LinkCounters;
use crate::packet::{Dropped, PacketCopy};
use crate::queue::{DropTailConfig, Queue, QueueConfig, QueueContext};

/// The parts of a link that not every packet touches.
#[derive(Debug)]
pub(super) struct Rest {
    /// Most links have none.
    pub(super) extras: Option<Box<Extras>>,
    pub(super) queue: Queue,
    /// Those that the link itself does not keep.
    pub(super) counters: LinkCounters,
    queue_changed_at: Time,
    /// The delays of the queue; none until one was recorded.
    pub(super) delays: Option<Box<DelayHistogram>>,
}

/// Features of a link other than carrying packets.
#[derive(Debug)]
pub(super) struct Extras {
    /// The error model for packets that are offered.
    before: LossProcess,
    /// The error model for packets that arrive.
    after: LossProcess,
    /// Whether ECN-capable packets are marked instead of lost.
    marks: bool,
    /// How the link changes.
    pub(super) varying: Option<Varying>,
}

impl Extras {
    pub(super) fn without_losses(losses: Stream) -> Box<Extras> {
        let before = LossProcess::new(LossModel::None, losses.clone());
        let after = LossProcess::new(LossModel::None, losses);
        Box::new(Extras { before, after, marks: false, varying: None })
    }

    /// Sets the error model at one end and removes it at the other.
    pub(super) fn set_losses(&mut self, model: LossModel, place: LossPlace) {
        let (before, after) = match place {
            LossPlace::BeforeQueue => (model, LossModel::None),
            LossPlace::AfterLink => (LossModel::None, model),
        };
        self.before.set_model(before);
        self.after.set_model(after);
    }

    /// Sets whether ECN-capable packets are marked instead of lost.
    pub(super) fn set_marks(&mut self, marks: bool) {
        self.marks = marks;
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

impl Rest {
    /// That of a link with this queue and without error model.
    pub(super) fn with_queue(queue: Queue) -> Rest {
        Rest {
            extras: None,
            queue,
            counters: LinkCounters::default(),
            queue_changed_at: Time::ZERO,
            delays: None,
        }
    }

    /// That of a link whose queue has no limit, and no error model.
    pub(super) fn unlimited() -> Rest {
        Rest::with_queue(Queue::unlimited())
    }

    /// Whether a link has more than that: if not, it gets its rest with the first packet that waits.
    pub(super) fn is_needed(config: &LinkConfig) -> bool {
        let unlimited = QueueConfig::DropTail(DropTailConfig::default());
        config.loss != LossModel::None || config.queue != unlimited
    }

    /// Lets the link change. `losses` is the stream of its error models.
    pub(super) fn vary(&mut self, varying: Varying, losses: Stream) {
        self.extras.get_or_insert_with(|| Extras::without_losses(losses)).varying = Some(varying);
    }

    /// Whether an offered packet is lost: by the error model, which may mark it instead, or because the
    /// link is down.
    pub(super) fn loses_before_queue(&mut self, copy: &mut PacketCopy) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        if extras.varying.as_ref().is_some_and(|varying| varying.is_down) {
            self.counters.losses += 1;
            return true;
        }
        extras.before.loses(copy.size_bytes) && extras.apply_loss(copy, &mut self.counters)
    }

    /// Whether a packet that arrives under this order number is lost: by the error model, which may mark it
    /// instead, or because the link went down while the packet was in flight.
    pub(super) fn loses_after_link(&mut self, copy: &mut PacketCopy, order: u64) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        if extras.varying.as_ref().is_some_and(|varying| order < varying.lost_below) {
            self.counters.losses += 1;
            return true;
        }
        extras.after.loses(copy.size_bytes) && extras.apply_loss(copy, &mut self.counters)
    }

    /// Offers a packet to a managed queue. The transmitter is idle since `idle_since`, if it is.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        idle_since: Option<Time>,
        copy: PacketCopy,
        dropped: &mut Vec<Dropped>,
    ) {
        let mut context = QueueContext { now, idle_since, counters: &mut self.counters, dropped };
        self.queue.enqueue(copy, &mut context);
    }

    /// The packet to transmit next. The queue may drop others before it.
    #[inline]
    pub(super) fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped>) -> Option<PacketCopy> {
        if let Queue::DropTail(queue) = &mut self.queue {
            return queue.pop();
        }
        let mut context = QueueContext { now, idle_since: None, counters: &mut self.counters, dropped };
        self.queue.dequeue(&mut context)
    }

    /// Brings the time integral of the queue up to date; call before its length changes. With the time of a
    /// byte, its delays are recorded.
    pub(super) fn account_queue(&mut self, now: Time, ns_per_byte: Option<f64>) {
        let elapsed = now.since(self.queue_changed_at);
        let waiting = self.queue.len();
        if waiting > 0 {
            self.counters.queue_packet_ns += u128::from(elapsed.as_ns()) * waiting as u128;
            if let Some(ns_per_byte) = ns_per_byte {
                let delay = Duration::from_ns((self.queue.bytes() as f64 * ns_per_byte) as u64);
                self.delays.get_or_insert_default().add(delay, elapsed);
            }
        }
        self.queue_changed_at = now;
    }
}
