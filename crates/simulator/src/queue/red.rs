//! RED, random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993):
//! arrivals are dropped with a probability that rises with the average queue. With the options of
//! ns-2: gentle (Floyd, 2000), waiting between drops, byte mode, automatic parameters, adaptive
//! (Floyd, Gummadi and Shenker, 2001), marks (RFC 3168).

mod config;
mod drop_function;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};

pub use self::config::{RedConfig, RedProfile, RedVictim, RedWeight};
use self::drop_function::{Arrival, DropFunction, Verdict};
use super::QueueContext;
use super::fifo::Fifo;
use crate::packet::PacketCopy;

/// A queue under RED.
#[derive(Debug)]
pub(crate) struct RedQueue {
    config: RedConfig,
    drop_function: DropFunction,
    /// Packets of mean size that the link sends in a second.
    packets_per_s: f64,
    adapted_at: Time,
    fifo: Fifo,
    stream: Stream,
}

/// The time between two steps of the adaptive form.
const ADAPTATION: Duration = Duration::from_ms(500);

impl RedQueue {
    pub(super) fn new(config: RedConfig, rate: Rate, delay: Duration, stream: Stream) -> RedQueue {
        RedQueue {
            config,
            drop_function: DropFunction::new(&config, rate, delay),
            packets_per_s: config.packets_per_s(rate),
            adapted_at: Time::ZERO,
            fifo: Fifo::default(),
            stream,
        }
    }

    pub(super) fn enqueue(&mut self, mut copy: PacketCopy, context: &mut QueueContext<'_>) {
        let queue = if self.config.average_bytes { self.fifo.bytes() as f64 } else { self.fifo.len() as f64 };
        if let Some(since) = context.idle_since {
            let missed = (self.packets_per_s * context.now.since(since).as_secs_f64()).floor();
            self.drop_function.decay(missed);
        }
        self.drop_function.sample(queue);
        if self.config.adaptive && context.now.since(self.adapted_at) > ADAPTATION {
            self.drop_function.adapt();
            self.adapted_at = context.now;
        }
        let arrival = Arrival {
            queue,
            size_bytes: copy.size_bytes,
            is_ecn_capable: self.config.ecn && copy.is_ecn_capable(),
            is_full: self.fifo.is_at(self.config.limit()),
        };
        let stream = &mut self.stream;
        match self.drop_function.decide(&arrival, || stream.uniform()) {
            Verdict::Accept => self.fifo.push(context.now, copy),
            Verdict::Mark => {
                context.mark(&mut copy);
                self.fifo.push(context.now, copy);
            }
            Verdict::Early => context.drop_by_choice(copy),
            Verdict::Forced => {
                self.fifo.push(context.now, copy);
                let index = self.victim();
                if let Some((_, victim)) = self.fifo.remove(index) {
                    context.drop_for_room(victim);
                }
            }
        }
    }

    /// The index of the packet to drop.
    fn victim(&mut self) -> usize {
        let last = self.fifo.len() - 1;
        match self.config.victim {
            RedVictim::Last => last,
            RedVictim::Random => ((self.stream.uniform() * self.fifo.len() as f64) as usize).min(last),
            RedVictim::Front => last.min(1),
        }
    }

    pub(super) fn dequeue(&mut self) -> Option<PacketCopy> {
        self.fifo.pop().map(|(_, copy)| copy)
    }

    pub(super) fn len(&self) -> usize {
        self.fifo.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    pub(super) fn average(&self) -> f64 {
        self.drop_function.average
    }
}

#[cfg(test)]
mod tests;
