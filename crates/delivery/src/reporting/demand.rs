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
//! - [`Demands`], at the source, decides which levels are sent. The base alone is sent until a receiver is heard. All are sent
//!   for half a minute after a receiver has started or has risen far; then it asks what is held, again and again, and sends the
//!   layers up to [`MARGIN`] times the highest rate that is held, or [`FLOOR`] times the lowest (up to [`FLOOR_MOST`]), whichever is
//!   more. A receiver that has spoken says when it leaves or is complete, and then the source asks at once.
//!
//! Where nobody holds anything, the base alone is sent, and after [`SILENCE`] only a packet each [`ANNOUNCEMENT_EVERY`]. A lost
//! message, a forged one or one too many opens layers or leaves them open; only silence closes them, and who needs them opens them
//! again within a round-trip time and half a second, or when the next packet has come.
//!
//! What the source's own uplink refuses bounds the levels too: layers that it does not carry are not sent.

mod asked;
mod demands;
mod uplink;

pub use asked::Asked;
pub use demands::{ANNOUNCEMENT_EVERY, Demands, FLOOR, FLOOR_MOST, MARGIN, SILENCE, Sending};

#[cfg(test)]
mod tests;
