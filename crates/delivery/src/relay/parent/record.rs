//! What a relay is asked to do, knows of its children, and says.

use std::net::SocketAddr;

use layercast_core::units::{Channel, Duration, Time};
use serde::Serialize;

use super::bucket::Bucket;
use crate::relay::channels::ChannelSet;
use crate::relay::session::SessionKey;

/// What a relay does at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Children in all.
    pub children: usize,
    /// Children at one address, with different ports.
    pub per_address: usize,
    /// Sessions at a time.
    pub sessions: usize,
    /// Channels of all sessions that it holds itself.
    pub channels: usize,
    /// Challenges and other answers to strangers in a second.
    pub answers_per_s: u32,
    /// Messages to the source in a second that one child may pass on.
    pub feedback_per_s: u32,
    /// How often children ask whether the relay is there.
    pub keep_alive: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            children: 1000,
            per_address: 1000,
            sessions: 64,
            channels: 4096,
            answers_per_s: 2000,
            feedback_per_s: 50,
            keep_alive: Duration::from_ms(500),
        }
    }
}

/// A child.
#[derive(Clone, Debug)]
pub struct Child {
    /// Where it is; none for the link on which a relay sends on by multicast.
    pub address: Option<SocketAddr>,
    /// The place of its session.
    pub session: usize,
    /// The channels that it holds.
    pub held: ChannelSet,
    /// Since when it is here.
    pub since: Time,
    /// Packets of data that were sent to it.
    pub packets: u64,
    /// Their bytes, without headers of UDP and IP.
    pub bytes: u64,
    /// Packets of data that were not sent, since the queue was full.
    pub dropped: u64,
    /// Packets of data that were sent and that it had not received when it last said how many it had: lost, or on their path.
    pub missing: u32,
    pub(super) id: u64,
    pub(super) nonce: u64,
    pub(super) number: Option<u32>,
    pub(super) heard: Time,
    pub(super) feedback: Bucket,
}

/// The relay needs a channel, or no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The place of the session.
    pub session: usize,
    /// The session.
    pub key: SessionKey,
    /// The channel.
    pub channel: Channel,
    /// Whether it is needed now.
    pub is_join: bool,
}

/// A message of a receiver to the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback<'m> {
    /// The place of the session.
    pub session: usize,
    /// Where it goes.
    pub to: SocketAddr,
    /// The child from which it came.
    pub from: SocketAddr,
    /// The message.
    pub message: &'m [u8],
}

/// What a relay has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ParentCounters {
    /// Messages that were none.
    pub malformed: u64,
    /// Challenges sent.
    pub challenges: u64,
    /// Answers to strangers that were left out, as there were too many.
    pub unanswered: u64,
    /// Children that were let in.
    pub welcomed: u64,
    /// Children that were refused.
    pub refused: u64,
    /// Children that fell silent.
    pub lost: u64,
    /// Children whose address has changed.
    pub moved: u64,
    /// Messages to the source that were passed on.
    pub feedback: u64,
    /// Messages to the source that were left out, as a child sent too many.
    pub feedback_dropped: u64,
}
