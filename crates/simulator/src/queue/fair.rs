//! Fair queueing: a queue for each flow, served by deficit round robin (Shreedhar and Varghese,
//! IEEE/ACM Transactions on Networking 4(3), 1996), with room taken from the longest queue (McKenney,
//! INFOCOM 1990).

use std::collections::VecDeque;

use layercast_core::option::Above;
use layercast_core::options;
use layercast_core::units::Size;

use super::flows::FlowQueues;
use super::{QueueContext, QueueLimit};
use crate::packet::PacketCopy;

options! {
    /// The parameters of fair queueing; the defaults are no limit, and rounds of one large packet.
    #[derive(Copy)]
    pub struct FairConfig {
        /// How much all queues hold together. When it is exceeded, the last packet of the longest queue
        /// is dropped.
        limit: QueueLimit = QueueLimit::Unlimited;
        /// What each flow may send in a round.
        quantum: Size = Size::from_bytes(1500), Above(Size::from_bytes(0));
    }
}

/// Queues of flows in a round.
#[derive(Debug)]
pub(crate) struct FairQueue {
    limit: QueueLimit,
    quantum: i64,
    flows: FlowQueues,
    /// The queue of each flow plus one, by route and channel; 0 for a flow not seen yet. Unlike with
    /// a hash, no two flows share one.
    numbers: Vec<Vec<u32>>,
    /// The queues that hold packets, in the order of their turns.
    round: VecDeque<u32>,
    /// Whether the first flow of the round has received its quantum.
    is_served: bool,
}

impl FairQueue {
    pub(super) fn new(config: FairConfig) -> FairQueue {
        FairQueue {
            limit: config.limit,
            quantum: i64::from(config.quantum.as_bytes().max(1)),
            flows: FlowQueues::default(),
            numbers: Vec::new(),
            round: VecDeque::new(),
            is_served: false,
        }
    }

    /// The queue of a packet's flow.
    fn classify(&mut self, copy: &PacketCopy) -> u32 {
        let (route, channel) = copy.flow();
        let number = slot(slot(&mut self.numbers, route as usize), channel as usize);
        if *number == 0 {
            *number = self.flows.add() + 1;
        }
        *number - 1
    }

    pub(super) fn enqueue(&mut self, copy: PacketCopy, context: &mut QueueContext<'_>) {
        let flow = self.classify(&copy);
        self.flows.push(flow, context.now, copy);
        if self.flows.enlist(flow, 0) {
            self.round.push_back(flow);
        }
        while self.flows.exceeds(self.limit)
            && let Some(longest) = self.flows.longest(self.round.iter().copied())
        {
            self.flows.drop_one(longest, |length| length - 1, context);
        }
    }

    pub(super) fn dequeue(&mut self) -> Option<PacketCopy> {
        loop {
            let flow = *self.round.front()?;
            let Some(size_bytes) = self.flows.fifo(flow).head_bytes() else {
                self.leave_round(flow);
                continue;
            };
            let size = i64::from(size_bytes);
            let credit = self.flows.credit(flow);
            if !self.is_served {
                self.is_served = true;
                *credit += self.quantum;
            }
            if size <= *credit {
                *credit -= size;
                let taken = self.flows.drain(flow, |fifo| fifo.pop());
                if self.flows.fifo(flow).is_empty() {
                    self.leave_round(flow);
                }
                return taken.map(|(_, copy)| copy);
            }
            self.round.rotate_left(1);
            self.is_served = false;
        }
    }

    /// The first flow of the round is empty. Its credit expires.
    fn leave_round(&mut self, flow: u32) {
        self.round.pop_front();
        self.is_served = false;
        self.flows.delist(flow);
    }

    pub(super) fn len(&self) -> usize {
        self.flows.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.flows.bytes()
    }
}

/// An element of a vector, which grows if needed.
fn slot<T: Default + Clone>(of: &mut Vec<T>, index: usize) -> &mut T {
    if of.len() <= index {
        of.resize(index + 1, T::default());
    }
    &mut of[index]
}

#[cfg(test)]
mod tests;
