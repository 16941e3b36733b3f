//! DualPI2 (RFC 9332, appendix A): two queues with one controller. Packets of scalable senders wait
//! in a short queue of their own and are marked often; the others are dropped, or marked, with the
//! square of the same probability, so that both kinds of sender get about the same.

use layercast_core::option::Above;
use layercast_core::options;
use layercast_core::units::{Duration, Rate, Time};

use super::fifo::Fifo;
use super::ticker::Ticker;
use super::{QueueContext, QueueLimit};
use crate::packet::PacketCopy;

options! {
    /// DualPI2's parameters; the defaults are those of RFC 9332, appendix A.1, with the constants that
    /// are stated for an update each 16 ms.
    #[derive(Copy)]
    pub struct DualPi2Config {
        /// How much both queues hold together; automatic is what the link sends in 250 ms.
        limit: Option<QueueLimit> = None;
        /// Target delay of the classic queue.
        target: Duration = Duration::from_ms(15), Above(Duration::ZERO);
        /// The time between two updates of the probability.
        update: Duration = Duration::from_ms(16), Above(Duration::ZERO);
        /// The weight of the distance from the target at an update, per second.
        alpha: f64 = 0.16, Above(0.0);
        /// The weight of the delay's change at an update, per second.
        beta: f64 = 3.2, Above(0.0);
        /// How many times the base probability scalable packets are marked with (k of the RFC); the
        /// others get its square.
        coupling: f64 = 2.0, Above(0.0);
        /// The wait from which scalable packets are marked, whatever the controller says.
        ramp_start: Duration = Duration::from_us(800);
        /// By how much longer a wait marks all scalable packets.
        ramp_range: Duration = Duration::from_us(400);
        /// How many scalable packets go for one of the others while both wait.
        low_delay_weight: u32 = 15, 1;
    }
}

impl DualPi2Config {
    fn limit_on(&self, rate: Rate) -> QueueLimit {
        const SECONDS: f64 = 0.25;
        self.limit.unwrap_or(QueueLimit::Bytes((rate.as_bytes_per_s() * SECONDS) as u64))
    }

    /// The probability of a mark by the wait in the low-delay queue alone.
    fn ramp(&self, wait: Duration) -> f64 {
        if wait >= self.ramp_start + self.ramp_range {
            1.0
        } else if wait > self.ramp_start {
            wait.saturating_sub(self.ramp_start).as_secs_f64() / self.ramp_range.as_secs_f64()
        } else {
            0.0
        }
    }
}

/// The controller, apart from the packets.
#[derive(Debug)]
struct Controller {
    config: DualPi2Config,
    /// The base probability: p' of the RFC.
    base: f64,
    /// The delay at the last update, in seconds.
    old_delay: f64,
}

impl Controller {
    fn new(config: DualPi2Config) -> Controller {
        Controller { config, base: 0.0, old_delay: 0.0 }
    }

    /// One update with the delay in seconds (RFC 9332, figure 8).
    fn update(&mut self, delay: f64) {
        let target = self.config.target.as_secs_f64();
        let step = self.config.alpha * (delay - target) + self.config.beta * (delay - self.old_delay);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.old_delay = delay;
    }

    /// The probability of a drop, or a mark, in the classic queue.
    fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// The probability of a mark in the low-delay queue.
    fn coupled(&self) -> f64 {
        (self.config.coupling * self.base).min(1.0)
    }

    /// Whether marks alone do not help any more.
    fn is_overloaded(&self) -> bool {
        let most = (1.0 / (self.config.coupling * self.config.coupling)).min(1.0);
        self.classic() >= most
    }

    /// Whether updates of empty queues change nothing any more.
    fn is_at_rest(&self) -> bool {
        self.base == 0.0 && self.old_delay == 0.0
    }
}

/// Deterministic marking: fires with a given frequency, evenly spread (`recur` of RFC 9332, figure 4).
#[derive(Debug, Default)]
struct Recurrence {
    sum: f64,
}

impl Recurrence {
    fn fires(&mut self, likelihood: f64) -> bool {
        self.sum += likelihood;
        let fires = self.sum > 1.0;
        if fires {
            self.sum -= 1.0;
        }
        fires
    }
}

/// Two coupled queues.
#[derive(Debug)]
pub(crate) struct DualPi2Queue {
    controller: Controller,
    limit: QueueLimit,
    ticker: Ticker,
    low_delay: Fifo,
    classic: Fifo,
    low_delay_recurrence: Recurrence,
    classic_recurrence: Recurrence,
    /// Packets of the low-delay queue that have gone since one of the classic queue waits.
    passed: u32,
}

impl DualPi2Queue {
    pub(super) fn new(config: DualPi2Config, rate: Rate) -> DualPi2Queue {
        DualPi2Queue {
            controller: Controller::new(config),
            limit: config.limit_on(rate),
            ticker: Ticker::new(config.update),
            low_delay: Fifo::default(),
            classic: Fifo::default(),
            low_delay_recurrence: Recurrence::default(),
            classic_recurrence: Recurrence::default(),
            passed: 0,
        }
    }

    fn catch_up(&mut self, now: Time) {
        while let Some(at) = self.ticker.due(now) {
            // With the classic delay alone, a load of the other queue that does not yield would never
            // be dropped.
            let delay = self.classic.head_wait(at).max(self.low_delay.head_wait(at));
            self.controller.update(delay.as_secs_f64());
            if self.len() == 0 && self.controller.is_at_rest() {
                self.ticker.skip(now);
            }
        }
    }

    pub(super) fn enqueue(&mut self, copy: PacketCopy, context: &mut QueueContext<'_>) {
        self.catch_up(context.now);
        if self.limit.is_reached(self.len(), self.bytes()) {
            context.drop_for_room(copy);
        } else if copy.is_scalable() {
            // A mark overwrites the codepoint set by the sender.
            self.low_delay.push(context.now, copy);
        } else {
            self.classic.push(context.now, copy);
        }
    }

    pub(super) fn dequeue(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        self.catch_up(context.now);
        while self.len() > 0 {
            let taken = if self.is_low_delay_next() {
                self.passed += u32::from(!self.classic.is_empty());
                self.dequeue_low_delay(context)
            } else {
                self.passed = 0;
                self.dequeue_classic(context)
            };
            if taken.is_some() {
                return taken;
            }
        }
        self.passed = 0;
        None
    }

    /// Weighted round robin, in packets. Only turns that the other queue waits for are counted.
    fn is_low_delay_next(&self) -> bool {
        let is_turn = self.classic.is_empty() || self.passed < self.controller.config.low_delay_weight;
        !self.low_delay.is_empty() && is_turn
    }

    /// The first packet of the low-delay queue, unless it is dropped.
    fn dequeue_low_delay(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        let (since, mut copy) = self.low_delay.pop()?;
        let mut likelihood = self.controller.coupled();
        if self.controller.is_overloaded() {
            if self.low_delay_recurrence.fires(self.controller.classic()) {
                context.drop_by_choice(copy);
                return None;
            }
        } else if !self.low_delay.is_empty() {
            // A single packet has waited for the transmitter only, which takes long on a slow link.
            likelihood = likelihood.max(self.controller.config.ramp(context.now.since(since)));
        }
        if self.low_delay_recurrence.fires(likelihood) {
            context.mark(&mut copy);
        }
        Some(copy)
    }

    /// The first packet of the classic queue, unless it is dropped.
    fn dequeue_classic(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        let (_, mut copy) = self.classic.pop()?;
        if self.classic_recurrence.fires(self.controller.classic()) {
            let may_mark = !self.controller.is_overloaded();
            if !(may_mark && context.mark_if_capable(&mut copy)) {
                context.drop_by_choice(copy);
                return None;
            }
        }
        Some(copy)
    }

    pub(super) fn len(&self) -> usize {
        self.low_delay.len() + self.classic.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.low_delay.bytes() + self.classic.bytes()
    }
}

#[cfg(test)]
mod tests;
