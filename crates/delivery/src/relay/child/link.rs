//! The tie between a child and the relay that serves it.

use std::net::SocketAddr;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use crate::relay::channels::ChannelSet;
use crate::relay::message::{Data, Message};
use crate::relay::session::SessionKey;

/// The bounds of what a parent may ask for.
const KEEP_ALIVE_LEAST: Duration = Duration::from_ms(50);
const KEEP_ALIVE_MOST: Duration = Duration::from_secs(10);
/// A parent of which nothing was heard for so many keep-alives is gone, and up to twice that part of one for each child, so that
/// children of a relay that has died do not come to the next one together.
const MISSED: f64 = 3.0;
const SPREAD: f64 = 1.6;
/// The waits before a membership is sent again.
const REPEAT_LEAST: Duration = Duration::from_ms(50);
const REPEAT_FIRST: Duration = Duration::from_ms(250);
const REPEAT_MOST: Duration = Duration::from_secs(1);

/// What a child knows of the relay that serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkReport {
    /// Its address.
    pub parent: SocketAddr,
    /// Since when it serves this child.
    pub since: Time,
    /// The round-trip time; none before the first answer.
    pub rtt: Option<Duration>,
    /// Packets of data that came.
    pub received: u64,
    /// Packets of data that the parent did not send, since its queue was full, modulo 2^32.
    pub dropped: u32,
    /// How many relays there are from the parent up to the source or to multicast; none before the first answer.
    pub depth: Option<u8>,
    /// Whether it knows the channels that this child holds now.
    pub is_settled: bool,
    /// When it was heard last.
    pub heard: Time,
}

/// What is due.
pub(super) enum Due {
    Nothing,
    Message(Message<'static>),
    /// The parent is gone.
    Lost,
}

/// The tie.
#[derive(Debug)]
pub(super) struct Link {
    report: LinkReport,
    nonce: u64,
    id: u64,
    handle: u32,
    keep_alive: Duration,
    /// After which silence the parent is gone.
    patience: Duration,
    /// When the last keep-alive was sent; none before the first.
    asked: Option<Time>,
    /// How often the newest membership was sent, and when next.
    sent: u32,
    next_membership: Time,
    /// What the parent asked to have repeated, since this child came from another address.
    cookie: Option<[u8; 16]>,
}

impl Link {
    pub(super) fn new(
        now: Time,
        parent: SocketAddr,
        nonce: u64,
        id: u64,
        handle: u32,
        keep_alive: Duration,
        random: &mut Stream,
    ) -> Link {
        let keep_alive = keep_alive.clamp(KEEP_ALIVE_LEAST, KEEP_ALIVE_MOST);
        Link {
            report: LinkReport {
                parent,
                since: now,
                rtt: None,
                received: 0,
                dropped: 0,
                depth: None,
                is_settled: false,
                heard: now,
            },
            nonce,
            id,
            handle,
            keep_alive,
            patience: keep_alive.scaled(random.uniform_in(MISSED, MISSED + SPREAD)),
            asked: None,
            sent: 0,
            next_membership: now,
            cookie: None,
        }
    }

    pub(super) fn report(&self) -> LinkReport {
        self.report
    }

    pub(super) fn parent(&self) -> SocketAddr {
        self.report.parent
    }

    pub(super) fn nonce(&self) -> u64 {
        self.nonce
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The channels have changed.
    pub(super) fn changed(&mut self, now: Time) {
        (self.report.is_settled, self.sent, self.next_membership) = (false, 0, now);
    }

    /// A packet of data came; whether it is one of this tie.
    pub(super) fn data(&mut self, now: Time, from: SocketAddr, data: &Data) -> bool {
        if from != self.report.parent || data.handle != self.handle {
            return false;
        }
        self.report.heard = now;
        self.report.received += 1;
        true
    }

    /// A message came from the parent.
    pub(super) fn message(&mut self, now: Time, message: &Message<'_>, newest: u32) {
        match *message {
            Message::Ack { child, number } if child == self.id => {
                self.report.heard = now;
                self.report.is_settled |= number == newest;
            }
            Message::Alive { child, time, dropped, depth } if child == self.id => {
                self.report.heard = now;
                let rtt = now.since(Time::from_ns(time));
                self.report.rtt = Some(
                    self.report
                        .rtt
                        .map_or(rtt, |before| Duration::from_ns(before.as_ns() / 8 * 7 + rtt.as_ns() / 8)),
                );
                (self.report.dropped, self.report.depth) = (dropped, Some(depth));
            }
            Message::Challenge { nonce, cookie } if nonce == self.nonce => self.cookie = Some(cookie),
            // The answer to the cookie.
            Message::Welcome { nonce, child, handle, .. } if nonce == self.nonce && child == self.id => {
                self.report.heard = now;
                self.handle = handle;
            }
            _ => {}
        }
    }

    /// When the next keep-alive is due. One without an answer is repeated sooner: a path that loses much is not one without a
    /// relay.
    fn next_keep_alive(&self) -> Time {
        let Some(asked) = self.asked else { return Time::ZERO };
        let again = self.report.rtt.map_or(Duration::ZERO, |rtt| rtt.scaled(2.0));
        let again = again.max(self.keep_alive.scaled(0.25)).min(self.keep_alive);
        asked + if self.report.heard > asked { self.keep_alive } else { again }
    }

    pub(super) fn deadline(&self) -> Time {
        let membership = if self.report.is_settled { Time::MAX } else { self.next_membership };
        let cookie = if self.cookie.is_some() { Time::ZERO } else { Time::MAX };
        (self.report.heard + self.patience).min(self.next_keep_alive()).min(membership).min(cookie)
    }

    pub(super) fn due(&mut self, now: Time, number: u32, held: &ChannelSet, session: SessionKey) -> Due {
        if now.since(self.report.heard) >= self.patience {
            return Due::Lost;
        }
        if let Some(cookie) = self.cookie.take() {
            let (nonce, cookie, previous) = (self.nonce, Some(cookie), Some(self.id));
            return Due::Message(Message::Hello { nonce, session, cookie, previous });
        }
        if !self.report.is_settled && now >= self.next_membership {
            let wait = self.report.rtt.map_or(REPEAT_FIRST, |rtt| rtt.scaled(2.0));
            let wait = wait.clamp(REPEAT_LEAST, REPEAT_MOST).as_ns() << self.sent.min(4);
            self.sent += 1;
            self.next_membership = now + Duration::from_ns(wait).min(REPEAT_MOST);
            return Due::Message(Message::Membership { child: self.id, number, held: *held });
        }
        if now >= self.next_keep_alive() {
            self.asked = Some(now);
            let (child, time, received) = (self.id, now.as_ns(), self.report.received as u32);
            return Due::Message(Message::KeepAlive { child, time, received });
        }
        Due::Nothing
    }
}
