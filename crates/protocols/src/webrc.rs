//! WEBRC, wave and equation based rate control (RFC 3738).
//!
//! A base channel and a cycle of wave channels. A wave starts high and falls by a constant factor each
//! time slot until it ends; then its channel is silent for long enough that every leave has taken effect.
//! So a receiver's rate falls by itself, and its only decision is how early it joins the next wave:
//! as soon as the rate after the join is no more than TCP's would be. The round-trip time in that
//! equation is the time from a join to the first packet.
//!
//! Channel 0 is the base, channel i + 1 is wave i. The level is the number of waves held; the base
//! alone is level 0. `docs/protocols/webrc.md` has the tables.

mod artt;
mod decision;
mod equation;
mod header;
mod lct;
mod loss_filter;
mod options;
mod rates;
mod receiver;
mod requirements;
mod source;

pub use artt::RoundTripFilter;
pub use decision::{Decision, Situation, decide, grows_too_little, jump_limit};
pub use equation::{equation_rate, fair_loss, fair_rate, loss_for_rate};
pub use header::{Header, HeaderError};
pub use layercast_kit::waves::{BASE, Departures, MAX_CHANNELS, Waves, starts_slot};
pub use loss_filter::LossFilter;
pub use options::{Options, WordForm};
pub use rates::{Rates, Weights};
pub use receiver::Receiver;
pub use source::Source;
