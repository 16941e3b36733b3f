//! What a query leaves behind, and the Teardown messages that it allows (RFC 7450, section 5.2.3.7).

use std::collections::VecDeque;
use std::net::SocketAddr;

use layercast_core::units::{Duration, Time};

use super::outcome::Outgoing;
use crate::amt::message::{Message, ResponseMac, TunnelEndpoint};

/// The time between two Teardown messages (section 5.2.3.7.2).
const INTERVAL: Duration = Duration::from_secs(1);
/// The most Teardown messages that wait for their repetition.
const MOST: usize = 8;

/// What a query left behind, for updates and teardowns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    pub(super) relay: SocketAddr,
    pub(super) nonce: u32,
    pub(super) mac: ResponseMac,
    /// This gateway's address as the relay sees it; none without the G flag.
    pub(super) endpoint: Option<TunnelEndpoint>,
    /// How often changes are reported.
    pub(super) robustness: u8,
    pub(super) interval: Duration,
    /// When the next request is due.
    pub(super) refresh: Time,
}

impl Handshake {
    /// The message that closes the tunnel; none without the Gateway Address fields.
    pub(super) fn teardown(&self) -> Option<Outgoing> {
        let Handshake { relay: to, nonce, mac, endpoint, .. } = *self;
        let bytes = Message::Teardown { mac, nonce, gateway: endpoint? }.to_bytes();
        Some(Outgoing { to, bytes })
    }
}

/// A Teardown that is repeated.
#[derive(Clone, Debug)]
struct Teardown {
    message: Outgoing,
    left: u8,
    due: Time,
}

/// The Teardown messages that are to be repeated.
#[derive(Clone, Debug, Default)]
pub(super) struct Teardowns {
    waiting: Vec<Teardown>,
}

impl Teardowns {
    /// Closes the tunnel of a handshake, by as many messages as its relay says.
    pub(super) fn add(&mut self, now: Time, handshake: &Handshake, outgoing: &mut VecDeque<Outgoing>) {
        let Some(message) = handshake.teardown() else { return };
        outgoing.push_back(message.clone());
        let left = handshake.robustness.saturating_sub(1);
        if left > 0 && self.waiting.len() < MOST {
            self.waiting.push(Teardown { message, left, due: now + INTERVAL });
        }
    }

    /// When the next is due.
    pub(super) fn due(&self) -> Option<Time> {
        self.waiting.iter().map(|teardown| teardown.due).min()
    }

    /// Repeats those that are due.
    pub(super) fn repeat(&mut self, now: Time, outgoing: &mut VecDeque<Outgoing>) {
        self.waiting.retain_mut(|teardown| {
            if teardown.due <= now {
                outgoing.push_back(teardown.message.clone());
                teardown.left -= 1;
                teardown.due = now + INTERVAL;
            }
            teardown.left > 0
        });
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}
