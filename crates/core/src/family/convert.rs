//! Conversions between the headers of one protocol and those of a family.

use crate::contract::{Action, Arrival, Host, Input, Send, TraceEvent};
use crate::units::{Channel, Seq};

/// An input of the family as one of a protocol; none if it has a header of another protocol.
pub fn narrow<W, N>(input: Input<W>, own: impl Fn(W) -> Option<N>) -> Option<Input<N>> {
    Some(match input {
        Input::Start => Input::Start,
        Input::Packet(Arrival { origin, size, ecn, header }) => {
            Input::Packet(Arrival { origin, size, ecn, header: own(header)? })
        }
        Input::Timer => Input::Timer,
        Input::JoinFailed(channel, error) => Input::JoinFailed(channel, error),
        Input::SendRefused(channel) => Input::SendRefused(channel),
        Input::Demand(level) => Input::Demand(level),
        Input::DataExhausted => Input::DataExhausted,
        Input::DataAvailable => Input::DataAvailable,
        Input::Finish => Input::Finish,
        Input::Stop => Input::Stop,
    })
}

/// An action of a protocol as one of the family.
pub fn widen<N, W>(action: Action<N>, wide: impl Fn(N) -> W) -> Action<W> {
    match action {
        Action::Send(send) => Action::Send(widen_send(send, wide)),
        Action::Join(channel) => Action::Join(channel),
        Action::Leave(channel) => Action::Leave(channel),
        Action::Deliver(through) => Action::Deliver(through),
        Action::Release(through) => Action::Release(through),
        Action::Trace(event) => Action::Trace(event),
    }
}

fn widen_send<N, W>(send: Send<N>, wide: impl Fn(N) -> W) -> Send<W> {
    let Send { target, header, size, payload, count } = send;
    Send { target, header: wide(header), size, payload, count }
}

/// A host of the family as the host of one protocol.
pub struct Widening<'a, H, F>(pub &'a mut H, pub F);

impl<N, W, H: Host<W>, F: Fn(N) -> W> Host<N> for Widening<'_, H, F> {
    fn send(&mut self, send: Send<N>) {
        self.0.send(widen_send(send, &self.1));
    }

    fn join(&mut self, channel: Channel) {
        self.0.join(channel);
    }

    fn leave(&mut self, channel: Channel) {
        self.0.leave(channel);
    }

    fn deliver(&mut self, through: Seq) {
        self.0.deliver(through);
    }

    fn release(&mut self, through: Seq) {
        self.0.release(through);
    }

    fn trace(&mut self, event: TraceEvent) {
        self.0.trace(event);
    }
}
