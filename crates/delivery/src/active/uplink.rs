//! The link of a node to its parent: a relay or the source.

use std::net::SocketAddr;

use layercast_core::Always as _;
use layercast_core::contract::{Ecn, Peer};
use layercast_core::units::{Channel, Duration, Time};

use super::Wire;
use super::frame::{DESCRIPTION, END, PACKETS, up_head};
use crate::relay::child::{Child, LinkReport, ParentEvent};
use crate::relay::message::{Data, HOPS_MAX, MESSAGE_MAX};
use crate::relay::session::SessionKey;
use crate::session::Session;

/// How often the description is asked for until it comes.
const ASK_EVERY: Duration = Duration::from_ms(200);

/// How a node finds its parent.
#[derive(Clone, Debug)]
pub struct UpOptions {
    /// The session.
    pub session: SessionKey,
    /// The parents, of which the first that answers serves.
    pub parents: Vec<SocketAddr>,
    /// The first is asked after a random part of this.
    pub within: Duration,
}

/// What came down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Down<'p> {
    /// A packet, after so many hops.
    Packet(&'p [u8], u8),
    /// The description is known now, or is another one than before.
    Described,
    /// The session has ended.
    Ended,
}

/// The link.
#[derive(Debug)]
pub struct Uplink {
    child: Child,
    description: Option<Session>,
    /// Whether the description is that of the present parent.
    is_current: bool,
    next_ask: Time,
    /// Which parent this is, counted from the first.
    served: Option<(SocketAddr, u64)>,
    parents: u32,
}

impl Uplink {
    /// A link that is sought. `random` are bytes that nobody else knows.
    pub fn new(options: &UpOptions, now: Time, random: [u8; 32]) -> Uplink {
        let child = Child::new(options.session, &options.parents, now, options.within, random);
        Uplink { child, description: None, is_current: false, next_ask: now, served: None, parents: 0 }
    }

    /// The description, once it is known.
    pub fn description(&self) -> Option<&Session> {
        self.description.as_ref()
    }

    /// Takes a datagram of the parent; what came down in it.
    pub fn receive<'p>(&mut self, now: Time, from: SocketAddr, bytes: &'p [u8]) -> Option<Down<'p>> {
        if !Data::is_data(bytes) {
            self.child.message(now, from, bytes);
            self.observe_parent(now);
            return None;
        }
        let (data, length) = self.child.data(now, from, bytes)?;
        let content = bytes.get(length..)?;
        if data.hops >= HOPS_MAX {
            return None;
        }
        match data.channel {
            PACKETS => Some(Down::Packet(content, data.hops)),
            DESCRIPTION => {
                let description: Session = std::str::from_utf8(content).ok()?.parse().ok()?;
                if !description.is_routed() {
                    return None;
                }
                let is_new = self.description.as_ref() != Some(&description);
                self.description = Some(description);
                self.is_current = true;
                is_new.then_some(Down::Described)
            }
            END => Some(Down::Ended),
            Channel(_) => None,
        }
    }

    /// Notices another parent: it may serve another session of this name.
    fn observe_parent(&mut self, now: Time) {
        let served = self.child.served_by();
        if served.is_some() && served != self.served {
            self.served = served;
            self.parents = self.parents.wrapping_add(1);
            (self.is_current, self.next_ask) = (false, now);
        }
    }

    /// The parent as a member of the session.
    pub fn peer(&self) -> Peer {
        Peer(u32::MAX - self.parents % (u32::MAX >> 1))
    }

    /// Whether a parent serves this node.
    pub fn is_served(&self) -> bool {
        self.child.served_by().is_some()
    }

    /// The link to the parent that serves this node.
    pub fn link(&self) -> Option<LinkReport> {
        self.child.link()
    }

    /// How many nodes there are from the parent up to the source; none before it is known.
    pub fn depth(&self) -> Option<u8> {
        self.child.link()?.depth
    }

    /// Holds the channel of packets, or no longer.
    pub fn hold(&mut self, now: Time, holds: bool) {
        if holds {
            self.child.join(now, PACKETS);
        } else {
            self.child.leave(now, PACKETS);
        }
    }

    /// Sends a packet up; without a parent it is lost.
    pub fn send(&mut self, packet: &[u8], wire: &mut dyn Wire) {
        if let Some((parent, child)) = self.child.served_by() {
            wire.send(parent, Ecn::NotCapable, &up_head(child), packet);
        }
    }

    /// Sends what is due.
    pub fn poll(&mut self, now: Time, wire: &mut dyn Wire) {
        let mut room = [0; MESSAGE_MAX];
        while let Some((to, length)) = self.child.poll(now, &mut room) {
            wire.send(to, Ecn::NotCapable, room.get(..length).always("a message fits its room"), &[]);
        }
        if now >= self.next_ask && self.needs_description() {
            self.next_ask = now + ASK_EVERY;
            self.send(&[], wire);
        }
    }

    fn needs_description(&self) -> bool {
        !self.is_current && self.is_served()
    }

    /// Forgets the session: the parent is asked what it serves now.
    pub fn forget(&mut self) {
        (self.description, self.is_current) = (None, false);
    }

    /// When [`Uplink::poll`] has something to do.
    pub fn deadline(&self) -> Option<Time> {
        let ask = self.needs_description().then_some(self.next_ask);
        self.child.deadline().into_iter().chain(ask).min()
    }

    /// Something that an operator should know.
    pub fn take_news(&mut self) -> Option<ParentEvent> {
        self.child.take_news()
    }

    /// Leaves the parent.
    pub fn close(&mut self, wire: &mut dyn Wire) {
        let mut room = [0; MESSAGE_MAX];
        if let Some((to, length)) = self.child.close(&mut room) {
            wire.send(to, Ecn::NotCapable, room.get(..length).always("a message fits its room"), &[]);
        }
    }
}
