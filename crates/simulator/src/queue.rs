//! Queues in front of transmitters: which packets wait, are dropped, or are marked.
//!
//! A drop-tail queue decides on arrival only and keeps no time. All others are *managed*: an arriving
//! packet is offered to the queue, also when the transmitter is idle, and the transmitter then asks the
//! queue for a packet, which may drop some before it hands one out. A [`QueueContext`] holds what a managed
//! queue needs to know and where it records drops and marks.
//!
//! A queue that works by the clock (REM, PIE, DualPI2) has no events: between two operations its state does
//! not change, so updates that have become due are made at the next operation, each with the state that it
//! would have seen ([`ticker`]).

mod codel;
mod config;
mod context;
mod drop_tail;
mod dualpi2;
mod fair;
mod fifo;
mod flows;
mod fq_codel;
mod limit;
mod pie;
mod red;
mod rem;
mod ticker;
mod watched;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate};

pub use self::codel::CoDelConfig;
use self::codel::CoDelQueue;
pub use self::config::{QueueConfig, QueueKind};
pub(crate) use self::context::QueueContext;
pub use self::drop_tail::DropTailConfig;
use self::drop_tail::{DropFront, DropTail};
pub use self::dualpi2::DualPi2Config;
use self::dualpi2::DualPi2Queue;
pub use self::fair::FairConfig;
use self::fair::FairQueue;
pub use self::fq_codel::FqCoDelConfig;
use self::fq_codel::FqCoDelQueue;
pub use self::limit::QueueLimit;
pub use self::pie::PieConfig;
use self::pie::PieQueue;
use self::red::RedQueue;
pub use self::red::{RedConfig, RedProfile, RedVictim, RedWeight};
pub use self::rem::RemConfig;
use self::rem::RemQueue;
pub(crate) use self::watched::{RawRecord, Watched, transmission};
use crate::packet::PacketCopy;

/// Any queue. The managed ones are boxed to keep a link small.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    DropFront(Box<DropFront>),
    Red(Box<RedQueue>),
    CoDel(Box<CoDelQueue>),
    Rem(Box<RemQueue>),
    Pie(Box<PieQueue>),
    FqCoDel(Box<FqCoDelQueue>),
    DualPi2(Box<DualPi2Queue>),
    Fair(Box<FairQueue>),
    /// Any other queue, on a link with a tap.
    Watched(Box<Watched>),
}

impl Queue {
    /// The queue of a link of this rate and delay. `stream` is the queue's own.
    pub(crate) fn new(config: QueueConfig, rate: Rate, delay: Duration, stream: Stream) -> Queue {
        match config {
            QueueConfig::DropTail(DropTailConfig { limit, ns2_compat, drop_front: false }) => {
                Queue::DropTail(DropTail::new(limit, ns2_compat))
            }
            QueueConfig::DropTail(DropTailConfig { limit, ns2_compat, drop_front: true }) => {
                Queue::DropFront(Box::new(DropFront::new(limit, ns2_compat)))
            }
            QueueConfig::Red(config) => Queue::Red(Box::new(RedQueue::new(config, rate, delay, stream))),
            QueueConfig::CoDel(config) => Queue::CoDel(Box::new(CoDelQueue::new(config))),
            QueueConfig::Rem(config) => Queue::Rem(Box::new(RemQueue::new(config, rate, stream))),
            QueueConfig::Pie(config) => Queue::Pie(Box::new(PieQueue::new(config, stream))),
            QueueConfig::FqCoDel(config) => Queue::FqCoDel(Box::new(FqCoDelQueue::new(config, stream))),
            QueueConfig::DualPi2(config) => Queue::DualPi2(Box::new(DualPi2Queue::new(config, rate))),
            QueueConfig::Fair(config) => Queue::Fair(Box::new(FairQueue::new(config))),
        }
    }

    /// A queue that holds everything.
    pub(crate) fn unlimited() -> Queue {
        Queue::DropTail(DropTail::new(QueueLimit::Unlimited, true))
    }

    /// Packets below this size that find the transmitter idle need not be offered: the queue would admit
    /// them and hand them out at once. 0 if it has to be asked.
    pub(crate) fn passes_below(&self) -> u32 {
        match self {
            Queue::DropTail(queue) => queue.passes_below(),
            _ => 0,
        }
    }

    /// Enqueues a packet, or drops one: this one or another. For managed queues; a drop-tail queue uses
    /// [`DropTail::admits`].
    pub(crate) fn enqueue(&mut self, copy: PacketCopy, context: &mut QueueContext<'_>) {
        match self {
            Queue::DropTail(queue) if queue.admits(copy.size_bytes) => queue.push(copy),
            Queue::DropTail(_) => context.drop_for_room(copy),
            Queue::DropFront(queue) => queue.enqueue(copy, context),
            Queue::Red(queue) => queue.enqueue(copy, context),
            Queue::CoDel(queue) => queue.enqueue(copy, context),
            Queue::Rem(queue) => queue.enqueue(copy, context),
            Queue::Pie(queue) => queue.enqueue(copy, context),
            Queue::FqCoDel(queue) => queue.enqueue(copy, context),
            Queue::DualPi2(queue) => queue.enqueue(copy, context),
            Queue::Fair(queue) => queue.enqueue(copy, context),
            Queue::Watched(queue) => queue.enqueue(copy, context),
        }
    }

    /// Removes the packet to transmit next. None if the queue is empty or dropped all it held.
    pub(crate) fn dequeue(&mut self, context: &mut QueueContext<'_>) -> Option<PacketCopy> {
        match self {
            Queue::DropTail(queue) => queue.pop(),
            Queue::DropFront(queue) => queue.dequeue(),
            Queue::Red(queue) => queue.dequeue(),
            Queue::CoDel(queue) => queue.dequeue(context),
            Queue::Rem(queue) => queue.dequeue(context),
            Queue::Pie(queue) => queue.dequeue(context),
            Queue::FqCoDel(queue) => queue.dequeue(context),
            Queue::DualPi2(queue) => queue.dequeue(context),
            Queue::Fair(queue) => queue.dequeue(),
            Queue::Watched(queue) => queue.dequeue(context),
        }
    }

    /// How many packets wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Queue::DropTail(queue) => queue.len(),
            Queue::DropFront(queue) => queue.len(),
            Queue::Red(queue) => queue.len(),
            Queue::CoDel(queue) => queue.len(),
            Queue::Rem(queue) => queue.len(),
            Queue::Pie(queue) => queue.len(),
            Queue::FqCoDel(queue) => queue.len(),
            Queue::DualPi2(queue) => queue.len(),
            Queue::Fair(queue) => queue.len(),
            Queue::Watched(queue) => queue.inner().len(),
        }
    }

    /// How many bytes wait.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Queue::DropTail(queue) => queue.bytes(),
            Queue::DropFront(queue) => queue.bytes(),
            Queue::Red(queue) => queue.bytes(),
            Queue::CoDel(queue) => queue.bytes(),
            Queue::Rem(queue) => queue.bytes(),
            Queue::Pie(queue) => queue.bytes(),
            Queue::FqCoDel(queue) => queue.bytes(),
            Queue::DualPi2(queue) => queue.bytes(),
            Queue::Fair(queue) => queue.bytes(),
            Queue::Watched(queue) => queue.inner().bytes(),
        }
    }

    /// The average queue length that the queue management uses, if it keeps one, as of the last arrival: in
    /// packets, or in bytes if configured to count bytes.
    pub(crate) fn average(&self) -> Option<f64> {
        match self {
            Queue::Red(queue) => Some(queue.average()),
            Queue::Watched(queue) => queue.inner().average(),
            _ => None,
        }
    }

    /// Whether none waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
