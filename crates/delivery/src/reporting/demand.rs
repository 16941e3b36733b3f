//! Demand: a source does not send the layers that nobody holds.
//!
//! The source's table packets carry a *known* level; a receiver that holds more says so
//! ([`Demand`](crate::packet::Demand)), unless another one does so first: the source then raises the level in the next packet,
//! and receivers that hold no more are silent. Receivers wait before they speak, those of high levels less than others, for a
//! time with an exponential distribution (Nonnenmacher and Biersack, IEEE/ACM Transactions on Networking 7(3), 1999), which
//! is longer where the polls say that the session has many receivers. So a source hears a few messages, however many
//! receivers there are.
//!
//! - [`Asked`], at a receiver, decides when it speaks.
//! - [`Demands`], at the source, decides which levels are sent. All are sent in the first half minute, after a
//!   receiver has started, and after one has risen far; then it asks what is held, again and again, and sends the layers up to
//!   [`MARGIN`] times the highest rate that is held, or [`FLOOR`] times the lowest (up to [`FLOOR_MOST`]), whichever is more.
//!
//! Where nobody was ever heard, nothing is known: all is sent. A lost message, a forged one or one too many opens layers
//! or leaves them open; only silence closes them, and who needs them opens them again within a round-trip time and half a
//! second.

mod asked;
mod demands;

pub use asked::Asked;
pub use demands::{Demands, FLOOR, FLOOR_MOST, MARGIN};

#[cfg(test)]
mod tests;
