//! A relay as a program: it joins channels in the place of its children, sends them copies, and passes on what they say.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Time};
use layercast_delivery::relay::message::{Alternatives, DATA_HEAD_MAX, Data, MESSAGE_MAX};
use layercast_delivery::relay::parent::{Limits, Parent};
use layercast_delivery::relay::session::{Allowed, SessionKey};

use crate::source::GROUP;

/// Where it listens.
pub(crate) const RELAY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 50)), 5600);
/// The session that it carries, of any source.
pub(crate) const SESSION: SessionKey = SessionKey { group: GROUP, source: None };

/// Bytes that nobody else knows.
pub(crate) fn secret(stream: &mut Stream) -> [u8; 32] {
    let mut bytes = [0; 32];
    for part in bytes.chunks_exact_mut(8) {
        part.copy_from_slice(&stream.bits().to_be_bytes());
    }
    bytes
}

/// What a relay wants of the network.
#[derive(Debug)]
pub(crate) enum Wish {
    /// To hold a channel, or no longer.
    Hold(Channel, bool),
    /// To send to a child.
    Child(SocketAddr, Vec<u8>),
    /// To send to a source.
    Source(IpAddr, Vec<u8>),
}

/// A running relay.
pub(crate) struct RelayProgram {
    parent: Parent,
    wishes: Vec<Wish>,
}

impl RelayProgram {
    pub(crate) fn new(mut stream: Stream) -> RelayProgram {
        let allowed = Allowed { sessions: vec![SESSION], prefixes: Vec::new() };
        let parent = Parent::new(Limits::default(), allowed, Alternatives::default(), secret(&mut stream));
        RelayProgram { parent, wishes: Vec::new() }
    }

    /// When it is to be called.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.parent.deadline()
    }

    /// A deadline has passed.
    pub(crate) fn work(&mut self, now: Time) {
        self.parent.look(now);
        self.note();
    }

    /// A child says something.
    pub(crate) fn child_says(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        if let Some(feedback) = self.parent.message(now, from, bytes) {
            self.wishes.push(Wish::Source(feedback.to.ip(), feedback.message.to_vec()));
        }
        self.note();
    }

    /// A packet of a source came by multicast.
    pub(crate) fn packet(&mut self, channel: Channel, source: IpAddr, bytes: &[u8]) {
        let Some((session, handle)) = self
            .parent
            .sessions()
            .next()
            .and_then(|(session, _)| Some((session, self.parent.handle(session)?)))
        else {
            return;
        };
        let mut head = [0; DATA_HEAD_MAX];
        let length = Data { hops: 1, channel, handle, source }.write(&mut head);
        for place in self.parent.holders(session, channel).to_vec() {
            let Some(child) = self.parent.child_mut(place) else { continue };
            child.packets += 1;
            let packet = [head.get(..length).unwrap_or_default(), bytes].concat();
            self.wishes.extend(child.address.map(|to| Wish::Child(to, packet)));
        }
    }

    fn note(&mut self) {
        let mut room = [0; MESSAGE_MAX];
        while let Some((to, length)) = self.parent.take_reply(&mut room) {
            self.wishes.push(Wish::Child(to, room.get(..length).unwrap_or_default().to_vec()));
        }
        while let Some(change) = self.parent.take_change() {
            self.wishes.push(Wish::Hold(change.channel, change.is_join));
        }
    }

    /// What it wants since the last call.
    pub(crate) fn take_wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
    }
}
