//! A message that is repeated until its answer comes, with random exponential back-off (RFC 7450, sections 5.2.3.4.3 and
//! 5.2.3.5.3).

use std::net::SocketAddr;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use super::settings::GatewaySettings;
use crate::amt::message::Message;
use crate::membership::Reporting;

/// After so many doublings every maximum is reached.
const DOUBLINGS: u32 = 16;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Relay Discovery, answered by a Relay Advertisement.
    Discovery,
    /// Request, answered by a Membership Query.
    Request,
}

/// A message and the wait for its answer. The nonce stays the same when it is repeated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    kind: Kind,
    to: SocketAddr,
    nonce: u32,
    attempts: u32,
    due: Time,
}

impl Exchange {
    /// A message to be sent now, after so many failed ones.
    pub(super) fn new(kind: Kind, to: SocketAddr, nonce: u32, attempts: u32, now: Time) -> Exchange {
        Exchange { kind, to, nonce, attempts, due: now }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn to(&self) -> SocketAddr {
        self.to
    }

    /// How often it was sent.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// When it is sent again.
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// Whether an answer of this kind and nonce is waited for.
    pub(super) fn is(&self, kind: Kind, nonce: u32) -> bool {
        self.kind == kind && self.nonce == nonce
    }

    pub(super) fn message(&self, reporting: Reporting) -> Message<'static> {
        let nonce = self.nonce;
        match self.kind {
            Kind::Discovery => Message::RelayDiscovery { nonce },
            Kind::Request => Message::Request { reporting, nonce },
        }
    }

    /// It was sent: waits for the answer.
    pub(super) fn sent(&mut self, now: Time, settings: &GatewaySettings, random: &mut Stream) {
        self.wait(now, settings, random);
        self.attempts = self.attempts.saturating_add(1);
    }

    /// Waits before it is sent: a random time between the first wait and that of this attempt.
    pub(super) fn wait(&mut self, now: Time, settings: &GatewaySettings, random: &mut Stream) {
        let (least, most) = (settings.initial_timeout, settings.maximum_timeout);
        let doubled = least.as_ns().saturating_mul(1 << self.attempts.min(DOUBLINGS));
        let longest = Duration::from_ns(doubled).min(most).max(least);
        self.due = now + least + random.uniform_duration(longest.saturating_sub(least));
    }
}
