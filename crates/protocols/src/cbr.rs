//! CBR, a constant rate with TFRC's receiver (thesis, section 4.1).
//!
//! The loop is open: the source sends at the rate of its session's base layer and only measures the
//! round-trip time; the receiver measures losses as TFRC does, and nothing follows from it. So what an
//! estimator believes can be compared with what is true, at any sending rate. LIP, LAP and the packet
//! loss fraction see the same packets side by side.
//!
//! Packets are those of TFRC, with numbers of their own on the wire. `docs/protocols/cbr.md` has the
//! tables.

pub mod options;

pub use crate::tfrc::header::Header;
pub use options::Options;

use crate::tfrc;
use layercast_core::contract::{Action, Endpoint, Estimates, Input};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::Time;

/// Sends at a constant rate.
#[derive(Clone, Debug)]
pub struct Source(tfrc::Source);

impl Source {
    /// A source for a session, at the rate of its base layer.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        Source(tfrc::Source::with(options.settings(), plan, stream))
    }

    /// What was counted.
    pub fn counters(&self) -> &tfrc::SourceCounters {
        self.0.counters()
    }

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.0.session()
    }
}

/// Measures losses and does nothing about them.
#[derive(Clone, Debug)]
pub struct Receiver(tfrc::Receiver);

impl Receiver {
    /// A receiver of a session.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
        let size = options.equation_size(plan.packet_size);
        Receiver(tfrc::Receiver::with(options.settings(), &plan, size))
    }

    /// What was counted.
    pub fn counters(&self) -> &tfrc::Counters {
        self.0.counters()
    }
}

macro_rules! as_tfrc {
    ($endpoint:ty) => {
        impl Endpoint for $endpoint {
            type Header = Header;

            fn handle(&mut self, now: Time, input: Input<Header>) {
                self.0.handle(now, input);
            }

            fn poll_action(&mut self) -> Option<Action<Header>> {
                self.0.poll_action()
            }

            fn deadline(&self) -> Option<Time> {
                self.0.deadline()
            }

            fn estimates(&self, now: Time) -> Estimates {
                self.0.estimates(now)
            }

            fn session_number(&self) -> Option<u32> {
                self.0.session_number()
            }
        }
    };
}

as_tfrc!(Source);
as_tfrc!(Receiver);
