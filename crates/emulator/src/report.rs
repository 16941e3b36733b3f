//! What programs in hosts report of themselves.

use std::sync::mpsc::{Receiver, Sender, channel};

use layercast_core::contract::{Estimates, TraceEvent};
use layercast_core::units::Channel;
use layercast_simulator::ReceiverId;

/// What a program in a host reports of a receiver of a session.
#[derive(Clone, Debug)]
pub enum Report {
    /// A trace event, such as a change of level. It is recorded with the time at which it comes in.
    Trace(ReceiverId, TraceEvent),
    /// It has joined a channel through a relay. Joins by its kernel's reports are known without.
    Join(ReceiverId, Channel),
    /// It has left a channel through a relay.
    Leave(ReceiverId, Channel),
    /// Its estimates.
    Estimates(ReceiverId, Estimates),
    /// Its gauges, in the order of its protocol; NaN for those without a value.
    Gauges(ReceiverId, Vec<f64>),
}

/// Where reports are put; copies may be given to any thread.
pub type Reports = Sender<Report>;

/// The inbox of reports.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) sender: Reports,
    pub(crate) receiver: Receiver<Report>,
}

impl Default for Inbox {
    fn default() -> Inbox {
        let (sender, receiver) = channel();
        Inbox { sender, receiver }
    }
}
