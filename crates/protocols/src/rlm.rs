//! RLM, receiver-driven layered multicast (McCanne, Jacobson, Vetterli 1996, as in ns-2).
//!
//! The source only sends. A receiver adds a layer now and then as an experiment, which it announces to all
//! others. Loss soon after means that the experiment failed: the layer is left, and the time to the next
//! experiment with it grows. Receivers that get the announcement and see the loss learn the same without
//! an experiment of their own. Each receiver learns how long loss takes to show.
//!
//! The page `docs/protocols/rlm.md` has the full description.

mod codec;
mod header;
mod joins;
mod options;
mod receiver;
mod source;

pub use codec::HeaderError;
pub use header::{Announcement, Data, Header};
pub use joins::{DetectionTime, JoinTimers, join_delay_s};
pub use options::{Options, Profile};
pub use receiver::Receiver;
pub use source::Source;
