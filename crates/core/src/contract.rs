//! The contract between a protocol's endpoint and its host.
//!
//! An endpoint is a state machine. A host (simulator, emulator, socket driver) gives it one [`Input`] at
//! a time together with the time, then takes the [`Action`]s it asks for, then reads
//! its one absolute deadline. That loop is [`drive`], the only copy of it.
//!
//! Rules that hold for every endpoint, checked by the test kit over all of them:
//!
//! - Time never goes back between two inputs.
//! - After an input all actions are drained; draining ends.
//! - Once drained, the deadline lies after `now`, or there is none. So a host cannot be made to spin.
//! - A channel is joined only when it is not held, and left only when it is.
//! - Two equal endpoints given the same inputs do the same.
//! - After [`Input::Finish`] a source winds down in its own time, and then has no deadline:
//!   [`Input::DataAvailable`] does not wake it again.
//! - After [`Input::Stop`] an endpoint leaves what it holds, and then asks for nothing more.
//!
//! Roles differ only in what they use. A source sends to channels; a receiver joins, leaves and
//! sends to the source; a router (active networks) hears from child links and sends to sets of them.

mod endpoint;
mod note;
mod queue;
mod timers;

pub use endpoint::{
    Action, Arrival, ChildLink, ChildSet, Ecn, Endpoint, Estimates, Header, Host, Input, JoinError, Measure,
    Measures, Origin, Payload, Peer, Send, Target, drive,
};
pub use note::{Cause, TraceEvent};
pub use queue::ActionQueue;
pub use timers::{TimerKind, Timers};
