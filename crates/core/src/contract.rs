//! The contract between a protocol's endpoint and its host.
//!
//! An endpoint is a state machine. A host (simulator, emulator, socket driver) gives it one [`Input`] at
//! a time together with the time, then carries out the [`Action`]s that it asks for, then reads
//! its one absolute deadline. That loop is [`drive`], and there is no other copy of it.
//!
//! Rules that hold for every endpoint, checked by the test kit over all of them:
//!
//! - Time never goes back between two inputs.
//! - After each input, the host drains all actions; their number is finite.
//! - Once drained, the deadline lies after `now`, or there is none, so an endpoint cannot make its host spin.
//! - A channel is joined only when it is not held, and left only when it is.
//! - Two equal endpoints behave identically if they are given the same inputs.
//! - After [`Input::Finish`] a source completes its protocol's end of session, and then has no deadline:
//!   [`Input::DataAvailable`] does not wake it again.
//! - After [`Input::Stop`] an endpoint leaves the channels that it holds, and then asks for nothing more.
//!
//! The roles differ only in what they use. A source sends to channels; a receiver joins, leaves and
//! sends to the source; a router (active networks) receives from child links and sends to sets of them.

mod endpoint;
mod gauge;
mod peer;
mod queue;
mod timers;
mod trace;

pub use endpoint::{
    Action, Arrival, ChildLink, ChildSet, Ecn, Endpoint, Estimates, Header, Host, Input, JoinError, Origin,
    Payload, Send, Target, drive,
};
pub use gauge::{GaugeKind, GaugeSpec, GaugeValue, gauge_named};
pub use peer::Peer;
pub use queue::ActionQueue;
pub use timers::{TimerKind, Timers};
pub use trace::{Cause, TraceEvent};
