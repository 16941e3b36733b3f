//! REM, random exponential marking (Athuraliya, Low, Li and Yin, IEEE Network 15(3), 2001), as ns-2
//! has it: a price rises with the queue and with the excess of the load over the capacity.

use layercast_core::option::Above;
use layercast_core::options;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size};

use super::fifo::Fifo;
use super::ticker::Ticker;
use super::{QueueContext, QueueLimit};
use crate::packet::PacketCopy;

options! {
    /// REM's parameters; the defaults are those of ns-2.
    #[derive(Copy)]
    pub struct RemConfig {
        /// How much it holds. As in ns-2, an arrival that would make it reach the limit is dropped.
        limit: QueueLimit = QueueLimit::Packets(50);
        /// How fast the price follows.
        gamma: f64 = 0.001, Above(0.0);
        /// The base of the exponent.
        phi: f64 = 1.001, Above(1.0);
        /// The weight of the newest interval in the average of arrivals; 1 for no average.
        input_weight: f64 = 1.0, Above(0.0) => 1.0;
        /// Target length of the queue, in packets.
        target_packets: f64 = 20.0, Above(0.0);
        /// The time between two updates of the price.
        update: Duration = Duration::from_ms(2), Above(Duration::ZERO);
        /// The size of packets that the capacity is counted in.
        mean_packet: Size = Size::from_bytes(1000), Above(Size::from_bytes(0));
        /// Count the queue and scale the probability by bytes instead of packets.
        byte_mode: bool = false;
        /// Mark ECN-capable packets on departure, and drop only what finds no room.
        ecn: bool = false;
    }
}

/// The weight of the queue against that of the rate: alpha of the paper, fixed in ns-2.
const QUEUE_WEIGHT: f64 = 0.1;

/// The price of a link and the probability that follows from it.
#[derive(Debug)]
struct Price {
    config: RemConfig,
    /// Packets that the link carries between two updates.
    capacity: f64,
    input: f64,
    price: f64,
    probability: f64,
}

impl Price {
    fn new(config: RemConfig, capacity: f64) -> Price {
        Price { config, capacity, input: 0.0, price: 0.0, probability: 0.0 }
    }

    /// One update: what has arrived since the last one, and what waits now, in packets.
    fn update(&mut self, arrived: f64, queue: f64) {
        let weight = self.config.input_weight;
        self.input = (1.0 - weight) * self.input + weight * arrived;
        let mismatch = self.input + QUEUE_WEIGHT * (queue - self.config.target_packets) - self.capacity;
        self.price = (self.price + self.config.gamma * mismatch).max(0.0);
        self.probability = probability(self.price, self.config.phi);
    }

    /// Whether an update without arrivals and queue has no effect on packets.
    fn is_at_rest(&self) -> bool {
        self.price == 0.0 && self.input < 1e-12
    }
}

/// The probability of a mark at a price. Since the exponents add, the end-to-end marking probability
/// follows the sum of the links' prices.
fn probability(price: f64, phi: f64) -> f64 {
    1.0 - libm::pow(phi, -price)
}

/// A queue under REM.
#[derive(Debug)]
pub(crate) struct RemQueue {
    price: Price,
    ticker: Ticker,
    arrived: f64,
    fifo: Fifo,
    stream: Stream,
}

impl RemQueue {
    pub(super) fn new(config: RemConfig, rate: Rate, stream: Stream) -> RemQueue {
        let per_second = rate.as_bytes_per_s() / f64::from(config.mean_packet.as_bytes());
        let capacity = per_second * config.update.as_secs_f64();
        RemQueue {
            price: Price::new(config, capacity),
            ticker: Ticker::new(config.update),
            arrived: 0.0,
            fifo: Fifo::default(),
            stream,
        }
    }

    fn catch_up(&mut self, context: &QueueContext<'_>) {
        while self.ticker.due(context.now).is_some() {
            let config = &self.price.config;
            let queue = if config.byte_mode {
                self.fifo.bytes() as f64 / f64::from(config.mean_packet.as_bytes())
            } else {
                self.fifo.len() as f64
            };
            self.price.update(self.arrived, queue);
            self.arrived = 0.0;
            if self.fifo.is_empty() && self.price.is_at_rest() {
                self.ticker.skip(context.now);
            }
        }
    }

    /// Draws whether to signal congestion with a packet: to mark or to drop it.
    fn draws_congestion(&mut self, copy: &PacketCopy) -> bool {
        let mut probability = self.price.probability;
        if self.price.config.byte_mode {
            probability *= f64::from(copy.size_bytes) / f64::from(self.price.config.mean_packet.as_bytes());
        }
        self.stream.uniform() <= probability
    }

    pub(super) fn enqueue(&mut self, copy: PacketCopy, context: &mut QueueContext<'_>) {
        self.catch_up(context);
        let config = self.price.config;
        let mean = f64::from(config.mean_packet.as_bytes());
        self.arrived += if config.byte_mode { f64::from(copy.size_bytes) / mean } else { 1.0 };
        let full = match config.limit {
            QueueLimit::Unlimited => false,
            QueueLimit::Packets(packets) => self.fifo.len() as u64 + 1 >= u64::from(packets),
            QueueLimit::Bytes(bytes) => self.fifo.bytes() + u64::from(copy.size_bytes) >= bytes,
        };
        if !config.ecn && self.draws_congestion(&copy) {
            context.drop_by_choice(copy);
        } else if full {
            context.drop_for_room(copy);
        } else {
            self.fifo.push(context.now, copy);
        }
    }

    pub(super) fn dequeue(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        self.catch_up(context);
        let (_, mut copy) = self.fifo.pop()?;
        if self.price.config.ecn && copy.is_ecn_capable() && self.draws_congestion(&copy) {
            context.mark(&mut copy);
        }
        Some(copy)
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
