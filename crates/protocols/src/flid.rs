//! FLID, fair layered increase/decrease (Byers, Horn, Luby, Mitzenmacher, Shaver 2002), with static
//! layers (FLID-SL), with dynamic ones (FLID-DL), and with congestion marks in place of losses
//! (E-FLID-DL).
//!
//! Time is cut into slots. All packets of a slot carry the same increase signal: the highest level that may
//! increase by one layer at the slot's end. A receiver that lost a packet in the slot drops one layer, a
//! receiver that the signal permits adds a layer, and all others stay. How often each level may increase
//! decides the mean rate under loss; it is chosen so that this follows TCP's.
//!
//! - [`Target`], [`Model`], [`heuristic`], [`climb`]: how the increase probabilities of the levels are
//!   chosen, and what follows from them.
//! - [`ReverseCounter`], [`signal`]: how increase probabilities become signals.
//! - [`Source`], [`Receiver`]: the endpoints of the three protocols, which differ in their options and
//!   have a module each: `flid::sl`, `flid::dl`, `flid::ecn`.
//!
//! `docs/protocols/flid.md` describes the protocol in full.

pub mod dl;
pub mod ecn;
mod fit;
mod header;
mod increase_probabilities;
mod lct;
mod model;
mod receiver;
mod settings;
mod signal;
pub mod sl;
mod source;
mod target;

pub use fit::{Climb, Fitted, Goal, Objective, climb};
pub use header::{Header, HeaderError};
pub use increase_probabilities::{SEPARATION, heuristic, raw_heuristic, separated};
pub use model::{Memberships, Model};
pub use receiver::{Congestion, Receiver, next_level};
pub(crate) use settings::variant_options;
pub use settings::{EcnSettings, JoinMode, ProbabilityRule, Settings, SignalRule, Variant};
pub use signal::{ReverseCounter, signal};
pub use source::Source;
pub use target::Target;

/// The most layers that FLID's header can name in a signal.
pub const MAX_LAYERS: u16 = 128;

/// The most channels that FLID's header can number.
pub const MAX_CHANNELS: u16 = 128;
