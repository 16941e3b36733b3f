//! PIE, the proportional integral controller, enhanced (RFC 8033): arrivals are dropped with a
//! probability that follows the delay of the queue and its trend.

use layercast_core::option::Above;
use layercast_core::options;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Size};

use super::fifo::Fifo;
use super::ticker::Ticker;
use super::{QueueContext, QueueLimit};
use crate::packet::PacketCopy;

options! {
    /// PIE's parameters; the defaults are those of RFC 8033, sections 4.1 to 4.4 and 5.1.
    #[derive(Copy)]
    pub struct PieConfig {
        /// How much it holds; what does not fit is dropped.
        limit: QueueLimit = QueueLimit::Unlimited;
        /// Target delay.
        target: Duration = Duration::from_ms(15), Above(Duration::ZERO);
        /// The time between two updates of the probability.
        update: Duration = Duration::from_ms(15), Above(Duration::ZERO);
        /// How long a burst passes after calm before anything is dropped.
        max_burst: Duration = Duration::from_ms(150);
        /// The weight of the distance from the target, per second.
        alpha: f64 = 0.125, Above(0.0);
        /// The weight of the delay's change, per second.
        beta: f64 = 1.25, Above(0.0);
        /// The size of packets that a short queue is counted in: of up to two, none is dropped.
        mean_packet: Size = Size::from_bytes(1000), Above(Size::from_bytes(0));
        /// Up to a probability of 0.1, mark ECN-capable packets instead of dropping them.
        ecn: bool = false;
    }
}

/// Above this probability even ECN-capable packets are dropped (RFC 8033, section 5.1).
const MOST_MARKS: f64 = 0.1;

/// By how much a step is divided while the probability is below a bound (RFC 8033, section 4.2).
const LADDER: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

/// The controller, apart from the packets.
#[derive(Debug)]
struct Controller {
    config: PieConfig,
    probability: f64,
    /// The delay at the last update, in seconds.
    old_delay: f64,
    burst_left: Duration,
}

impl Controller {
    fn new(config: PieConfig) -> Controller {
        Controller { config, probability: 0.0, old_delay: 0.0, burst_left: config.max_burst }
    }

    fn half_target(&self) -> f64 {
        self.config.target.as_secs_f64() / 2.0
    }

    /// One update (RFC 8033, section 4.2). The versions of the idle rule differ; here the
    /// probability decays while both delays are zero.
    fn update(&mut self, delay: f64) {
        let target = self.config.target.as_secs_f64();
        let mut step = self.config.alpha * (delay - target) + self.config.beta * (delay - self.old_delay);
        if let Some((_, divisor)) = LADDER.iter().find(|(bound, _)| self.probability < *bound) {
            step /= divisor;
        } else {
            step = step.min(0.02);
        }
        self.probability += step;
        if delay == 0.0 && self.old_delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_left = self.burst_left.saturating_sub(self.config.update);
        let calm = delay < self.half_target() && self.old_delay < self.half_target();
        if self.probability == 0.0 && calm {
            self.burst_left = self.config.max_burst;
        }
        self.old_delay = delay;
    }

    /// Whether nothing may be dropped now (RFC 8033, section 4.1).
    fn is_safe(&self, queue_bytes: u64) -> bool {
        !self.burst_left.is_zero()
            || (self.old_delay < self.half_target() && self.probability < 0.2)
            || queue_bytes <= 2 * u64::from(self.config.mean_packet.as_bytes())
    }

    /// Whether updates of an empty queue change nothing any more.
    fn is_at_rest(&self) -> bool {
        self.probability == 0.0 && self.old_delay == 0.0 && self.burst_left == self.config.max_burst
    }
}

/// A queue under PIE.
#[derive(Debug)]
pub(crate) struct PieQueue {
    controller: Controller,
    ticker: Ticker,
    fifo: Fifo,
    stream: Stream,
}

impl PieQueue {
    pub(super) fn new(config: PieConfig, stream: Stream) -> PieQueue {
        PieQueue {
            controller: Controller::new(config),
            ticker: Ticker::new(config.update),
            fifo: Fifo::default(),
            stream,
        }
    }

    fn catch_up(&mut self, context: &QueueContext<'_>) {
        while let Some(at) = self.ticker.due(context.now) {
            self.controller.update(self.fifo.head_wait(at).as_secs_f64());
            if self.fifo.is_empty() && self.controller.is_at_rest() {
                self.ticker.skip(context.now);
            }
        }
    }

    pub(super) fn enqueue(&mut self, mut copy: PacketCopy, context: &mut QueueContext<'_>) {
        self.catch_up(context);
        let config = self.controller.config;
        if self.fifo.is_at(config.limit) {
            context.drop_for_room(copy);
            return;
        }
        let probability = self.controller.probability;
        if !self.controller.is_safe(self.fifo.bytes()) && self.stream.chance(probability) {
            let may_mark = config.ecn && probability <= MOST_MARKS;
            if !(may_mark && context.mark_if_capable(&mut copy)) {
                context.drop_by_choice(copy);
                return;
            }
        }
        self.fifo.push(context.now, copy);
    }

    pub(super) fn dequeue(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        self.catch_up(context);
        self.fifo.pop().map(|(_, copy)| copy)
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
