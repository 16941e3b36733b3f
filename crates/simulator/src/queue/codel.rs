//! CoDel, controlled delay (RFC 8289): packets are dropped on departure, at an increasing rate while their
//! sojourn time stays above a target.

use layercast_core::option::Above;
use layercast_core::options;
use layercast_core::units::{Duration, Size, Time};

use super::fifo::Fifo;
use super::{QueueContext, QueueLimit};
use crate::packet::PacketCopy;

options! {
    /// CoDel's parameters; the defaults are those of RFC 8289, sections 4.3 and 4.4.
    #[derive(Copy)]
    pub struct CoDelConfig {
        /// How much it holds; what does not fit is dropped on arrival.
        limit: QueueLimit = QueueLimit::Unlimited;
        /// The wait that is acceptable in the long run.
        target: Duration = Duration::from_ms(5), Above(Duration::ZERO);
        /// How long the wait may stay above the target before the first drop; about the longest
        /// round-trip time of the flows.
        interval: Duration = Duration::from_ms(100), Above(Duration::ZERO);
        /// With no more than this left behind it, a packet is not dropped: the largest packet.
        max_packet: Size = Size::from_bytes(1500), Above(Size::from_bytes(0));
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = false;
    }
}

/// The state of the control law, separate from the packets.
#[derive(Debug)]
pub(super) struct CoDel {
    target: Duration,
    interval: Duration,
    max_packet_bytes: u64,
    ecn: bool,
    /// When a drop is allowed, if the wait stays above the target until then.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Drops since dropping began.
    count: u32,
    /// That count when dropping last began.
    last_count: u32,
}

impl CoDel {
    pub(super) fn new(config: &CoDelConfig) -> CoDel {
        CoDel {
            target: config.target,
            interval: config.interval,
            max_packet_bytes: u64::from(config.max_packet.as_bytes()),
            ecn: config.ecn,
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// The time of the next drop after one at `at` (RFC 8289, section 5.3).
    fn next_drop(&self, at: Time) -> Time {
        let wait = self.interval.as_ns() as f64 / f64::from(self.count.max(1)).sqrt();
        at + Duration::from_ns((wait + 0.5) as u64)
    }

    /// The first packet of the queue, and whether it may be dropped (`dodequeue` of the RFC).
    fn pop(&mut self, fifo: &mut Fifo, now: Time) -> Option<(PacketCopy, bool)> {
        let Some((since, copy)) = fifo.pop() else {
            self.first_above = None;
            return None;
        };
        if now.since(since) < self.target || fifo.bytes() <= self.max_packet_bytes {
            self.first_above = None;
            return Some((copy, false));
        }
        let first_above = *self.first_above.get_or_insert(now + self.interval);
        Some((copy, now >= first_above))
    }

    /// Dequeues the next packet, dropping packets as the control law requires.
    pub(super) fn dequeue(&mut self, fifo: &mut Fifo, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        let now = context.now;
        let mut next = self.pop(fifo, now);
        if self.dropping {
            while let Some((mut copy, true)) = next
                && now >= self.drop_next
            {
                self.count = self.count.saturating_add(1);
                if self.ecn && context.mark_if_capable(&mut copy) {
                    self.drop_next = self.next_drop(self.drop_next);
                    return Some(copy);
                }
                context.drop_by_choice(copy);
                next = self.pop(fifo, now);
                if let Some((_, true)) = next {
                    self.drop_next = self.next_drop(self.drop_next);
                }
            }
            self.dropping = matches!(next, Some((_, true)));
        } else if let Some((mut copy, true)) = next {
            let marked = self.ecn && context.mark_if_capable(&mut copy);
            if !marked {
                context.drop_by_choice(copy);
            }
            self.begin_dropping(now);
            if marked {
                return Some(copy);
            }
            next = self.pop(fifo, now);
        }
        next.map(|(copy, _)| copy)
    }

    /// If dropping stopped only recently, it resumes at its previous rate.
    fn begin_dropping(&mut self, now: Time) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next).as_ns() < 16 * self.interval.as_ns();
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.next_drop(now);
        self.last_count = self.count;
    }
}

/// One queue under CoDel.
#[derive(Debug)]
pub(crate) struct CoDelQueue {
    limit: QueueLimit,
    codel: CoDel,
    fifo: Fifo,
}

impl CoDelQueue {
    pub(super) fn new(config: CoDelConfig) -> CoDelQueue {
        CoDelQueue { limit: config.limit, codel: CoDel::new(&config), fifo: Fifo::default() }
    }

    pub(super) fn enqueue(&mut self, copy: PacketCopy, context: &mut QueueContext<'_>) {
        if self.fifo.is_at(self.limit) {
            context.drop_for_room(copy);
        } else {
            self.fifo.push(context.now, copy);
        }
    }

    pub(super) fn dequeue(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        self.codel.dequeue(&mut self.fifo, context)
    }

    pub(super) fn len(&self) -> usize {
        self.fifo.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests;
