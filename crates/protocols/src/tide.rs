//! Tide: layered multicast at TCP's rate, with waves, without feedback.
//!
//! A session has a base channel and waves whose rates fall by themselves (WEBRC, RFC 3738), so leave latency
//! does not matter. A receiver emulates a TCP: from the losses that it sees it estimates how often a TCP with
//! its fair rate would see a congestion event, and a response function gives that rate.
//! `docs/protocols/tide-specification.md` has the rules.

/// How many observations make an estimate: packets of a step, lost packets of an interval or a period, periods, and events
/// of the emulated TCP. With two events `flid-B` lost three times as much.
const ENOUGH: u32 = 8;

mod delay;
mod emulated;
mod full_queue;
mod header;
mod history;
mod lct;
mod options;
mod receiver;
mod requirements;
mod rtt;
mod scalable;
mod source;
mod suppression;
mod train;

pub use delay::QueueDelay;
pub use emulated::Window;
pub use full_queue::FullQueue;
pub use header::{Base, Data, Header, HeaderError, Report};
pub use history::{History, Period, untruncated_mean, virtual_events};
pub use options::Options;
pub use receiver::Receiver;
pub use rtt::RoundTrip;
pub use source::Source;
pub use suppression::{ReportControl, ReportTurn, Suppression};
