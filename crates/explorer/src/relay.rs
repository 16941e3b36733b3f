//! Where relays are, and what they carry.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_delivery::node::{Relay, RelaySettings};
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::{Allowed, SessionKey};

use crate::source::GROUP;

/// Where a relay listens.
pub(crate) fn relay_at(relay: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 50 + relay as u8)), 5600)
}

/// The session that relays carry, of any source.
const SESSION: SessionKey = SessionKey { group: GROUP, source: None };

/// Bytes that nobody else knows.
pub(crate) fn secret(stream: &mut Stream) -> [u8; 32] {
    let mut bytes = [0; 32];
    for part in bytes.chunks_exact_mut(8) {
        part.copy_from_slice(&stream.bits().to_be_bytes());
    }
    bytes
}

/// A relay that starts, and asks these, or none.
pub(crate) fn relay(above: &[usize], mut stream: Stream, now: Time) -> Relay {
    let settings = RelaySettings {
        allowed: Allowed { sessions: vec![SESSION], prefixes: Vec::new() },
        alternatives: Alternatives::default(),
        limits: Limits::default(),
        highest: None,
        above: above.iter().copied().map(relay_at).collect::<Vec<_>>().into(),
    };
    Relay::new(settings, now, secret(&mut stream))
}
