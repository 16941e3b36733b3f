//! TFRC, TCP-friendly rate control (RFC 5348; RFC 3448; ns-2's agent).
//!
//! One source, one receiver. The receiver measures the loss event rate and the receive rate, and
//! reports both once per round trip; the source measures the round-trip time by the reports and sends
//! at the rate that TCP would have. The data goes over channel 0 of a session with exactly one
//! receiver: a multicast of one, so hosts forward and count it as all other sessions.
//!
//! `docs/protocols/tfrc.md` has the tables.

mod choices;
mod codec;
mod data_limit;
mod fair_rate;
mod feedback;
pub mod header;
mod lct;
mod meter;
mod ns2;
pub mod options;
mod rate;
mod receive_rate;
mod receive_set;
mod receiver;
mod report_schedule;
mod rfc;
mod settings;
mod source;

pub use fair_rate::{FairRate, SmallPackets};
pub use feedback::Feedback;
pub use header::Header;
pub use lct::HeaderError;
pub use meter::ShownMeasure;
pub use options::Options;
pub use receive_set::ReceiveSet;
pub use receiver::Receiver;
pub use rfc::{RfcRate, RfcRules, damped, initial_window};
pub use source::Source;

pub(crate) use meter::{Meter, MeterPlan};
pub(crate) use settings::{RateRule, Settings};
