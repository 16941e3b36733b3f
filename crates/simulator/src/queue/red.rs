//! RED, random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993):
//! arrivals are dropped with a probability that rises with the average queue. With the options of
//! ns-2: gentle (Floyd, 2000), waiting between drops, byte mode, automatic parameters, adaptive
//! (Floyd, Gummadi and Shenker, 2001), marks (RFC 3168).

mod config;
mod law;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};

pub use self::config::{RedConfig, RedProfile, RedVictim, RedWeight};
use self::law::{Arrival, DropFunction, Verdict};
use super::Visit;
use super::fifo::Fifo;
use crate::packet::PacketCopy;

/// A queue under RED.
#[derive(Debug)]
pub(crate) struct RedQueue {
    config: RedConfig,
    law: DropFunction,
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
            law: DropFunction::new(&config, rate, delay),
            packets_per_s: config.packets_per_s(rate),
            adapted_at: Time::ZERO,
            fifo: Fifo::default(),
            stream,
        }
    }

    pub(super) fn offer(&mut self, mut copy: PacketCopy, visit: &mut Visit<'_>) {
        let queue = if self.config.average_bytes { self.fifo.bytes() as f64 } else { self.fifo.len() as f64 };
        if let Some(since) = visit.idle_since {
            let missed = (self.packets_per_s * visit.now.since(since).as_secs_f64()).floor();
            self.law.decay(missed);
        }
        self.law.sample(queue);
        if self.config.adaptive && visit.now.since(self.adapted_at) > ADAPTATION {
            self.law.adapt();
            self.adapted_at = visit.now;
        }
        let arrival = Arrival {
            queue,
            size_bytes: copy.size_bytes,
            is_ecn_capable: self.config.ecn && copy.is_ecn_capable(),
            is_full: self.fifo.is_at(self.config.limit()),
        };
        let stream = &mut self.stream;
        match self.law.judge(&arrival, || stream.uniform()) {
            Verdict::Accept => self.fifo.push(visit.now, copy),
            Verdict::Mark => {
                visit.mark(&mut copy);
                self.fifo.push(visit.now, copy);
            }
            Verdict::Early => visit.drop_by_choice(copy),
            Verdict::Forced => {
                self.fifo.push(visit.now, copy);
                let place = self.victim();
                if let Some((_, victim)) = self.fifo.remove(place) {
                    visit.drop_for_room(victim);
                }
            }
        }
    }

    /// The place of the packet that goes when one must.
    fn victim(&mut self) -> usize {
        let last = self.fifo.len() - 1;
        match self.config.victim {
            RedVictim::Last => last,
            RedVictim::Random => ((self.stream.uniform() * self.fifo.len() as f64) as usize).min(last),
            RedVictim::Front => last.min(1),
        }
    }

    pub(super) fn take(&mut self) -> Option<PacketCopy> {
        self.fifo.pop().map(|(_, copy)| copy)
    }

    pub(super) fn len(&self) -> usize {
        self.fifo.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    pub(super) fn average(&self) -> f64 {
        self.law.average
    }
}

#[cfg(test)]
mod tests;
