//! Shared by queues with per-flow state: a first-in, first-out queue for each flow, and the totals.

use layercast_core::units::Time;

use super::fifo::Fifo;
use super::{QueueContext, QueueLimit};
use crate::packet::PacketCopy;

/// The queue of one flow, or of the flows that share a number.
#[derive(Debug, Default)]
struct FlowQueue {
    fifo: Fifo,
    /// Bytes that it may send before it is another's turn.
    credit: i64,
    /// Whether it is in a list of those that are served.
    is_listed: bool,
}

/// The queues of flows, by number.
#[derive(Debug, Default)]
pub(super) struct FlowQueues {
    queues: Vec<FlowQueue>,
    packets: usize,
    bytes: u64,
}

impl FlowQueues {
    pub(super) fn new(count: u32) -> FlowQueues {
        let queues = (0..count).map(|_| FlowQueue::default()).collect();
        FlowQueues { queues, ..FlowQueues::default() }
    }

    /// One queue more; returns its number.
    pub(super) fn add(&mut self) -> u32 {
        self.queues.push(FlowQueue::default());
        (self.queues.len() - 1) as u32
    }

    pub(super) fn push(&mut self, flow: u32, now: Time, copy: PacketCopy) {
        self.packets += 1;
        self.bytes += u64::from(copy.size_bytes);
        self.queues[flow as usize].fifo.push(now, copy);
    }

    /// Lets a closure remove packets from a queue.
    pub(super) fn drain<T>(&mut self, flow: u32, take: impl FnOnce(&mut Fifo) -> T) -> T {
        let fifo = &mut self.queues[flow as usize].fifo;
        let (packets, bytes) = (fifo.len(), fifo.bytes());
        let taken = take(fifo);
        self.packets -= packets - fifo.len();
        self.bytes -= bytes - fifo.bytes();
        taken
    }

    pub(super) fn fifo(&self, flow: u32) -> &Fifo {
        &self.queues[flow as usize].fifo
    }

    pub(super) fn credit(&mut self, flow: u32) -> &mut i64 {
        &mut self.queues[flow as usize].credit
    }

    /// Records that a queue is in a list, with this credit. Returns whether it was in none before.
    pub(super) fn enlist(&mut self, flow: u32, credit: i64) -> bool {
        let queue = &mut self.queues[flow as usize];
        if queue.is_listed {
            return false;
        }
        queue.is_listed = true;
        queue.credit = credit;
        true
    }

    /// Records that a queue is no longer in a list.
    pub(super) fn delist(&mut self, flow: u32) {
        self.queues[flow as usize].is_listed = false;
    }

    /// The queue with the most bytes; the first of equals.
    pub(super) fn longest(&self, among: impl Iterator<Item = u32>) -> Option<u32> {
        let mut longest = None;
        let mut most = 0;
        for flow in among {
            let bytes = self.fifo(flow).bytes();
            if bytes > most {
                (longest, most) = (Some(flow), bytes);
            }
        }
        longest
    }

    /// Drops one packet of a queue; `index` maps the queue length to the index of that packet. Returns its
    /// size.
    pub(super) fn drop_one(
        &mut self,
        flow: u32,
        index: impl FnOnce(usize) -> usize,
        context: &mut QueueContext<'_>,
    ) -> u64 {
        let dropped = self.drain(flow, |fifo| fifo.remove(index(fifo.len())));
        dropped.map_or(0, |(_, copy)| {
            context.drop_for_room(copy);
            u64::from(copy.size_bytes)
        })
    }

    pub(super) fn exceeds(&self, limit: QueueLimit) -> bool {
        limit.is_exceeded(self.packets, self.bytes)
    }

    /// How many packets all queues hold.
    pub(super) fn len(&self) -> usize {
        self.packets
    }

    /// How many bytes they hold.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
