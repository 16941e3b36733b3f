//! Actions waiting for the host.

use alloc::collections::VecDeque;

use crate::contract::{Action, Send, TraceEvent};
use crate::units::{Channel, Seq};

/// The actions that an endpoint has asked for and its host has not yet carried out, in order.
///
/// Its capacity is kept when it drains, so it stops allocating once it has held its largest burst.
#[derive(Clone, Debug)]
pub struct ActionQueue<H>(VecDeque<Action<H>>);

impl<H> Default for ActionQueue<H> {
    fn default() -> Self {
        ActionQueue(VecDeque::with_capacity(8))
    }
}

impl<H> ActionQueue<H> {
    /// Queues a send.
    pub fn send(&mut self, send: Send<H>) {
        self.0.push_back(Action::Send(send));
    }

    /// Queues a join.
    pub fn join(&mut self, channel: Channel) {
        self.0.push_back(Action::Join(channel));
    }

    /// Queues a leave.
    pub fn leave(&mut self, channel: Channel) {
        self.0.push_back(Action::Leave(channel));
    }

    /// Queues the delivery of the chunks up to this one.
    pub fn deliver(&mut self, through: Seq) {
        self.0.push_back(Action::Deliver(through));
    }

    /// Queues the release of the chunks up to this one.
    pub fn release(&mut self, through: Seq) {
        self.0.push_back(Action::Release(through));
    }

    /// Queues a trace event.
    pub fn trace(&mut self, event: TraceEvent) {
        self.0.push_back(Action::Trace(event));
    }

    /// The oldest action.
    pub fn pop(&mut self) -> Option<Action<H>> {
        self.0.pop_front()
    }
}
