//! What a relay's sessions and children are, for its operator.

use std::net::SocketAddr;

use layercast_core::units::Time;
use serde::{Serialize, Serializer};

use super::child::LinkReport;
use super::parent::Parent;
use super::session::SessionKey;

/// A session of a relay.
#[derive(Clone, Debug)]
pub struct SessionStatus {
    /// The number by which its children name it.
    pub place: usize,
    /// The session.
    pub key: SessionKey,
    /// The relay above; none if packets come by multicast or from the source itself.
    pub parent: Option<LinkReport>,
    /// The port of this host from which the relay above is asked.
    pub parent_port: Option<u16>,
    /// How many children want it.
    pub children: usize,
    /// How many channels the child with the most holds.
    pub channels: usize,
}

impl Serialize for SessionStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields {
            session: usize,
            #[serde(flatten)]
            key: SessionKey,
            children: usize,
            channels: usize,
            parent: Option<Parent>,
        }
        #[derive(Serialize)]
        struct Parent {
            address: SocketAddr,
            from_port: Option<u16>,
            rtt_s: Option<f64>,
            received: u64,
            dropped: u32,
        }
        let parent = self.parent.map(|link| Parent {
            address: link.parent,
            from_port: self.parent_port,
            rtt_s: link.rtt.map(|rtt| rtt.as_secs_f64()),
            received: link.received,
            dropped: link.dropped,
        });
        let SessionStatus { place, key, children, channels, .. } = *self;
        Fields { session: place, key, children, channels, parent }.serialize(serializer)
    }
}

/// A child of a relay.
#[derive(Clone, Debug, Serialize)]
pub struct ChildStatus {
    /// Its address; none for the link.
    pub address: Option<SocketAddr>,
    /// The place of its session.
    pub session: usize,
    /// How many channels it holds.
    pub channels: usize,
    /// For how many seconds it has been here.
    pub for_s: f64,
    /// Packets sent to it.
    pub packets: u64,
    /// Their bytes, without headers of UDP and IP.
    pub bytes: u64,
    /// Packets that were not sent to it.
    pub dropped: u64,
    /// Packets that it had not received when it last said how many it had: lost, or on their path.
    pub missing: u32,
}

/// The sessions that children want, and the children. What is above is not known here.
pub fn served(parent: &Parent, now: Time) -> (Vec<SessionStatus>, Vec<ChildStatus>) {
    let of = |place: usize, key: SessionKey| {
        let channels = parent.children().filter(|child| child.session == place);
        let channels: Vec<usize> = channels.map(|child| child.held.count()).collect();
        SessionStatus {
            place,
            key,
            parent: None,
            parent_port: None,
            children: channels.len(),
            channels: channels.into_iter().max().unwrap_or(0),
        }
    };
    let children = parent.children().map(|child| ChildStatus {
        address: child.address,
        session: child.session,
        channels: child.held.count(),
        for_s: now.since(child.since).as_secs_f64(),
        packets: child.packets,
        bytes: child.bytes,
        dropped: child.dropped,
        missing: child.missing,
    });
    (parent.sessions().map(|(place, key)| of(place, key)).collect(), children.collect())
}
