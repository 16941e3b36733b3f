//! FQ-CoDel (RFC 8290): flows are hashed into queues, each under CoDel, and served by turns of equal bytes.
//! Flows without a standing queue go first.

use std::collections::VecDeque;

use layercast_core::option::Above;
use layercast_core::options;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Size};

use super::codel::{CoDel, CoDelConfig};
use super::flows::FlowQueues;
use super::{QueueContext, QueueLimit};
use crate::packet::PacketCopy;

options! {
    /// FQ-CoDel's parameters; the defaults are those of RFC 8290, section 5.2.
    #[derive(Copy)]
    pub struct FqCoDelConfig {
        /// How much all queues hold together. What exceeds it is dropped from the longest one.
        limit: QueueLimit = QueueLimit::Packets(10_240);
        /// How many queues flows are hashed into.
        queues: u32 = 1024, 1 => 65_536;
        /// What a queue may send before it is another's turn.
        quantum: Size = Size::from_bytes(1514), Above(Size::from_bytes(0));
        /// The wait in a queue that is acceptable in the long run.
        target: Duration = Duration::from_ms(5), Above(Duration::ZERO);
        /// How long the wait in a queue may stay above the target before the first drop.
        interval: Duration = Duration::from_ms(100), Above(Duration::ZERO);
        /// With no more than this left behind it in its queue, a packet is not dropped.
        max_packet: Size = Size::from_bytes(1500), Above(Size::from_bytes(0));
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = true;
    }
}

/// At most this many packets go at once when there is no room (RFC 8290, section 4.1).
const MOST_DROPS: usize = 64;

/// Queues of flows under FQ-CoDel.
#[derive(Debug)]
pub(crate) struct FqCoDelQueue {
    limit: QueueLimit,
    quantum: i64,
    /// Perturbs the hash, which decides the flows that share a queue.
    salt: u64,
    flows: FlowQueues,
    /// CoDel of each queue.
    codels: Vec<CoDel>,
    /// Queues that have just become active; they are served first.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl FqCoDelQueue {
    pub(super) fn new(config: FqCoDelConfig, mut stream: Stream) -> FqCoDelQueue {
        let queues = config.queues.max(1);
        let codel_config = CoDelConfig {
            limit: QueueLimit::Unlimited,
            target: config.target,
            interval: config.interval,
            max_packet: config.max_packet,
            ecn: config.ecn,
        };
        FqCoDelQueue {
            limit: config.limit,
            quantum: i64::from(config.quantum.as_bytes().max(1)),
            salt: stream.bits(),
            flows: FlowQueues::new(queues),
            codels: (0..queues).map(|_| CoDel::new(&codel_config)).collect(),
            new: VecDeque::with_capacity(queues as usize),
            old: VecDeque::with_capacity(queues as usize),
        }
    }

    /// The queue of a packet's flow.
    fn classify(&self, copy: &PacketCopy) -> u32 {
        let (route, channel) = copy.flow();
        let hash = mixed(self.salt ^ (u64::from(route) << 16 | u64::from(channel)));
        // The upper bits times the number of queues: without the bias of a remainder's low bits.
        (((hash >> 32) * self.codels.len() as u64) >> 32) as u32
    }

    pub(super) fn enqueue(&mut self, copy: PacketCopy, context: &mut QueueContext<'_>) {
        let flow = self.classify(&copy);
        self.flows.push(flow, context.now, copy);
        if self.flows.enlist(flow, self.quantum) {
            self.new.push_back(flow);
        }
        while self.flows.exceeds(self.limit) && self.make_room(context) {}
    }

    /// Drops up to half of the bytes of the longest queue from its front. Returns whether there was any.
    fn make_room(&mut self, context: &mut QueueContext<'_>) -> bool {
        let listed = self.new.iter().chain(&self.old).copied();
        let Some(longest) = self.flows.longest(listed) else { return false };
        let half = self.flows.fifo(longest).bytes() / 2;
        let mut freed = 0;
        for _ in 0..MOST_DROPS {
            freed += self.flows.drop_one(longest, |_| 0, context);
            if freed >= half {
                break;
            }
        }
        true
    }

    pub(super) fn dequeue(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let flow = *list.front()?;
            let credit = self.flows.credit(flow);
            if *credit <= 0 {
                *credit += self.quantum;
                list.pop_front();
                self.old.push_back(flow);
                continue;
            }
            let codel = &mut self.codels[flow as usize];
            if let Some(copy) = self.flows.drain(flow, |fifo| codel.dequeue(fifo, context)) {
                *self.flows.credit(flow) -= i64::from(copy.size_bytes);
                return Some(copy);
            }
            list.pop_front();
            if is_new {
                // All old queues have their turn before this one can be new again.
                self.old.push_back(flow);
            } else {
                self.flows.delist(flow);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.flows.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.flows.bytes()
    }
}

/// Spreads a number over 64 bits: the finish of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests;
