//! Queues in front of transmitters: what waits, what is dropped, what is marked.
//!
//! A drop-tail queue is asked on arrival only and knows no time. All others are *managed*: an
//! arriving packet is offered to the queue, also when the transmitter is idle, and the transmitter
//! then asks the queue for a packet, which may drop some before it hands one out. What a managed
//! queue needs to know, and where it books what it did, is a [`Visit`].
//!
//! A queue that works by the clock (REM, PIE, DualPI2) has no events: between two visits nothing in
//! it changes, so the updates that fell due are made up for at the next visit, each with the state
//! that it would have seen ([`ticker`]).

mod codel;
mod config;
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
mod visit;
mod watched;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate};

pub use self::codel::CoDelConfig;
use self::codel::CoDelQueue;
pub use self::config::{QueueConfig, QueueKind};
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
pub(crate) use self::visit::Visit;
pub use self::watched::LinkEvent;
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
    /// Any of the others, on a link with a tap.
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

    /// Takes in a packet, or drops one: this one or another. For managed queues; a drop-tail queue
    /// is asked with [`DropTail::admits`] where the packet does not wait.
    pub(crate) fn offer(&mut self, copy: PacketCopy, visit: &mut Visit<'_>) {
        match self {
            Queue::DropTail(queue) if queue.admits(copy.size_bytes) => queue.push(copy),
            Queue::DropTail(_) => visit.drop_for_room(copy),
            Queue::DropFront(queue) => queue.offer(copy, visit),
            Queue::Red(queue) => queue.offer(copy, visit),
            Queue::CoDel(queue) => queue.offer(copy, visit),
            Queue::Rem(queue) => queue.offer(copy, visit),
            Queue::Pie(queue) => queue.offer(copy, visit),
            Queue::FqCoDel(queue) => queue.offer(copy, visit),
            Queue::DualPi2(queue) => queue.offer(copy, visit),
            Queue::Fair(queue) => queue.offer(copy, visit),
            Queue::Watched(queue) => queue.offer(copy, visit),
        }
    }

    /// Hands out the packet to transmit next. None if there is none, or all that waited was dropped.
    pub(crate) fn take(&mut self, visit: &mut Visit<'_>) -> Option<PacketCopy> {
        match self {
            Queue::DropTail(queue) => queue.pop(),
            Queue::DropFront(queue) => queue.take(),
            Queue::Red(queue) => queue.take(),
            Queue::CoDel(queue) => queue.take(visit),
            Queue::Rem(queue) => queue.take(visit),
            Queue::Pie(queue) => queue.take(visit),
            Queue::FqCoDel(queue) => queue.take(visit),
            Queue::DualPi2(queue) => queue.take(visit),
            Queue::Fair(queue) => queue.take(),
            Queue::Watched(queue) => queue.take(visit),
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

    /// The average that the queue decides by, if it keeps one: in packets, or in bytes if it is told
    /// to count those. It is as of the last arrival.
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
