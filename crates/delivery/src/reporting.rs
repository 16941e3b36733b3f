//! Reception reports: how many receivers a session has, how far they are, and which are the slowest, from a few reports
//! per second whatever the number of receivers.
//!
//! The source polls: for [`POLL_EVERY`], or [`POLL_FEW_EVERY`] while few answer, every table packet of the base channel asks each receiver to answer with
//! probability 2^-k at a random time (scalable feedback by probabilistic polling: Bolot, Turletti and Wakeman, SIGCOMM
//! 1994). Receivers that hold less than a *floor* answer with a higher probability. Each answer says with which
//! probability it was sent, so the sum of their inverses estimates the number of receivers without bias (Horvitz and
//! Thompson 1952), whatever the mixture.
//!
//! - [`Reporter`], at a receiver, decides whether and when it answers. It begins with a low probability of its own and
//!   raises it sixteenfold from poll to poll: however many receivers come at once, the source sees that before they flood
//!   it.
//! - [`Collector`], at the source, chooses probabilities and floor so that about [`ANSWERS`] and [`SLOW_ANSWERS`] come
//!   per poll. The floor is found by successive halving: of the slow receivers that answered, the slowest quarter answer
//!   the next poll with four times the probability, until all below the floor answer.
//!
//! Neither is of any use to congestion control, which knows nothing of them.

mod collector;
pub mod demand;
mod estimate;
mod known;
mod plan;
mod reporter;

pub use collector::{Collector, CollectorCounters, Summary};
pub use estimate::Interval;
pub use known::{KNOWN_MAX, KnownReceiver};
pub use reporter::{Answer, Reporter};

use layercast_core::units::Duration;

/// The length of a poll (CHOICE: a table packet comes at least once per second, so five of them say the same).
pub const POLL_EVERY: Duration = Duration::from_secs(5);
/// The length of a poll while all are asked and at most [`FEW`] answer, so that a short session counts its receivers too (CHOICE: a
/// receiver that has heard five polls answers each one, and table packets come at least once per second).
pub const POLL_FEW_EVERY: Duration = Duration::from_secs(2);
/// Of so many answers there are fewer in a second than of [`ANSWERS`] to a longer poll (CHOICE).
pub const FEW: u64 = 8;
/// The answers to a poll that the source aims at, of all receivers (CHOICE).
pub const ANSWERS: f64 = 24.0;
/// The further answers that it aims at, of slow receivers (CHOICE).
pub const SLOW_ANSWERS: f64 = 16.0;

/// The end of a poll, in which no answers are sent: the time for their way to the source.
const WAY: Duration = Duration::from_ms(500);
/// The exponent with which a receiver answers its first poll (CHOICE: of 10^6 that come at once 15 answer).
const FIRST_EXPONENT: u8 = 16;
/// By how much it falls from poll to poll (CHOICE: certain at the fifth poll. Where none of a crowd has answered, three
/// are expected at most, with 95 %, and so 48 of them in the next poll).
const EXPONENT_STEP: u8 = 4;
