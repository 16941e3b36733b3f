//! The links of a node to its children.
//!
//! A child's place among the children is the number of its link. Its number as a member of the session is drawn when it first
//! sends a packet up, so that a child that takes the place of another one is not taken for it.

use std::net::SocketAddr;

use layercast_core::Always as _;
use layercast_core::contract::{ChildLink, ChildSet, Ecn, Peer};
use layercast_core::units::{Channel, Duration, Time};

use super::Wire;
use super::frame::{PACKETS, down_head, is_up, read_up};
use crate::relay::message::{Alternatives, MESSAGE_MAX};
use crate::relay::parent::{Child, Limits, Parent};
use crate::relay::session::{Allowed, SessionKey};

/// The most children of a node: the links that a [`ChildSet`] has room for. More are refused as too many.
pub const CHILDREN_MAX: usize = u64::BITS as usize;

/// How a node serves children.
#[derive(Clone, Copy, Debug)]
pub struct DownOptions {
    /// The session.
    pub session: SessionKey,
    /// The most children, up to [`CHILDREN_MAX`].
    pub children: usize,
    /// Which relays a child may try that is refused.
    pub alternatives: Alternatives,
    /// How often children ask whether the node is there.
    pub keep_alive: Duration,
}

/// What came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Up<'p> {
    /// Over which link.
    pub link: ChildLink,
    /// Who sent it.
    pub peer: Peer,
    /// The packet; empty if the child asks for the description.
    pub packet: &'p [u8],
}

/// What was sent to children, each packet counted for each child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentDown {
    /// Packets.
    pub packets: u64,
    /// Their bytes, without headers of UDP and IP.
    pub bytes: u64,
    /// Packets that the system did not take.
    pub dropped: u64,
}

impl SentDown {
    fn count(&mut self, child: &mut Child, bytes: usize, is_sent: bool) {
        if !is_sent {
            child.dropped += 1;
            self.dropped += 1;
            return;
        }
        child.packets += 1;
        child.bytes += bytes as u64;
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// The links.
#[derive(Debug)]
pub struct Downlinks {
    parent: Parent,
    /// By link: the child's number on the link, and as a member.
    peers: Vec<Option<(u64, Peer)>>,
    next_peer: u32,
    sent: SentDown,
}

impl Downlinks {
    /// No children yet. `random` are bytes that nobody else knows.
    pub fn new(options: &DownOptions, random: [u8; 32]) -> Downlinks {
        let children = options.children.min(CHILDREN_MAX);
        let limits = Limits {
            children,
            per_address: children,
            sessions: 1,
            keep_alive: options.keep_alive,
            ..Limits::default()
        };
        let allowed = Allowed { sessions: vec![options.session], prefixes: Vec::new() };
        Downlinks {
            parent: Parent::new(limits, allowed, options.alternatives, random),
            peers: Vec::new(),
            next_peer: 0,
            sent: SentDown::default(),
        }
    }

    /// Takes a datagram that a child has sent; what came up in it.
    pub fn receive<'p>(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &'p [u8],
        wire: &mut dyn Wire,
    ) -> Option<Up<'p>> {
        let up = if is_up(bytes) {
            read_up(bytes).and_then(|(child, packet)| {
                let place = self.parent.heard(now, from, child, bytes.len())?;
                let link = u16::try_from(place).ok().filter(|link| usize::from(*link) < CHILDREN_MAX)?;
                Some(Up { link: ChildLink(link), peer: self.peer(place, child), packet })
            })
        } else {
            // There is no message to the source but what goes up.
            let _ = self.parent.message(now, from, bytes);
            None
        };
        self.reply(wire);
        up
    }

    fn peer(&mut self, place: usize, child: u64) -> Peer {
        if self.peers.len() <= place {
            self.peers.resize(place + 1, None);
        }
        match self.peers.get_mut(place) {
            Some(Some((known, peer))) if *known == child => *peer,
            Some(slot) => {
                // The highest numbers are those of parents.
                self.next_peer = (self.next_peer + 1) & (u32::MAX >> 1);
                let peer = Peer(self.next_peer);
                *slot = Some((child, peer));
                peer
            }
            None => Peer(0),
        }
    }

    fn reply(&mut self, wire: &mut dyn Wire) {
        let mut room = [0; MESSAGE_MAX];
        while let Some((to, length)) = self.parent.take_reply(&mut room) {
            wire.send(to, Ecn::NotCapable, room.get(..length).always("a message fits its room"), &[]);
        }
    }

    /// Looks for silent children, if it is time.
    pub fn poll(&mut self, now: Time) {
        self.parent.poll(now);
        while self.parent.take_change().is_some() {}
    }

    /// When [`Downlinks::poll`] is to be called.
    pub fn deadline(&self) -> Option<Time> {
        self.parent.deadline()
    }

    /// How many children there are.
    pub fn count(&self) -> usize {
        self.parent.count()
    }

    /// How many children hold the channel of packets.
    pub fn holders(&self) -> usize {
        self.session().map_or(0, |session| self.parent.holders(session, PACKETS).len())
    }

    /// The machine that lets children in.
    pub fn parent(&self) -> &Parent {
        &self.parent
    }

    /// What was sent to children.
    pub fn sent(&self) -> SentDown {
        self.sent
    }

    /// Says how many nodes there are from here up to the source.
    pub fn set_depth(&mut self, depth: u8) {
        self.parent.set_depth(depth);
    }

    fn session(&self) -> Option<usize> {
        self.parent.sessions().next().map(|(place, _)| place)
    }

    /// Sends a packet over these links, as far as children behind them hold the channel.
    pub fn send(&mut self, links: ChildSet, hops: u8, packet: &[u8], ecn: Ecn, wire: &mut dyn Wire) {
        self.send_on(PACKETS, links, hops, packet, ecn, wire);
    }

    /// Sends to all children what is not a packet.
    pub fn send_all(&mut self, channel: Channel, hops: u8, content: &[u8], wire: &mut dyn Wire) {
        self.send_on(channel, ChildSet(u64::MAX), hops, content, Ecn::NotCapable, wire);
    }

    fn send_on(
        &mut self,
        channel: Channel,
        links: ChildSet,
        hops: u8,
        packet: &[u8],
        ecn: Ecn,
        wire: &mut dyn Wire,
    ) {
        let Some(session) = self.session() else { return };
        let Some(handle) = self.parent.handle(session) else { return };
        let (head, length) = down_head(handle, channel, hops);
        let head = head.get(..length).always("a head fits its room");
        let bit = |place: &usize| 1u64.checked_shl(*place as u32).unwrap_or(0);
        let holding = self.parent.holders(session, PACKETS).iter().fold(0, |set, place| set | bit(place));
        let mut chosen = links.0 & holding;
        while chosen != 0 {
            let place = chosen.trailing_zeros() as usize;
            chosen &= chosen - 1;
            // Local multicast, the one child without an address, is no part of such a tree.
            if let Some(child) = self.parent.child_mut(place)
                && let Some(to) = child.address
            {
                let is_sent = wire.send(to, ecn, head, packet);
                self.sent.count(child, head.len() + packet.len(), is_sent);
            }
        }
    }

    /// Sends to one child.
    pub fn send_to(&mut self, peer: Peer, channel: Channel, hops: u8, packet: &[u8], wire: &mut dyn Wire) {
        let known = |slot: &Option<(u64, Peer)>| slot.is_some_and(|(_, other)| other == peer);
        let Some(place) = self.peers.iter().position(known) else { return };
        let handle = self.session().and_then(|session| self.parent.handle(session));
        let (Some(handle), Some(child)) = (handle, self.parent.child_mut(place)) else { return };
        let Some(to) = child.address else { return };
        let (head, length) = down_head(handle, channel, hops);
        let is_sent =
            wire.send(to, Ecn::NotCapable, head.get(..length).always("a head fits its room"), packet);
        self.sent.count(child, length + packet.len(), is_sent);
    }

    /// Sends all children elsewhere.
    pub fn close(&mut self, wire: &mut dyn Wire) {
        self.parent.close();
        self.reply(wire);
    }
}
