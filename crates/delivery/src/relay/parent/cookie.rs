//! What an address must repeat before anything is kept of it.

use std::net::{IpAddr, SocketAddr};

use layercast_core::units::{Duration, Time};

use crate::relay::secret::Secret;
use crate::relay::session::SessionKey;

/// How long a cookie is good: this, or twice this.
const EPOCH: Duration = Duration::from_secs(30);
/// Uses of the secret.
const COOKIE: u8 = 1;
const CHILD: u8 = 2;

/// The cookie of an address, of a child's number and of a session, now.
pub(super) fn cookie(
    secret: &Secret,
    now: Time,
    from: SocketAddr,
    nonce: u64,
    session: &SessionKey,
) -> [u8; 16] {
    let (from, nonce, session) = (place_bytes(from), nonce.to_be_bytes(), key_bytes(session));
    secret.mac(COOKIE, &[&from, &nonce, &session, &epoch(now).to_be_bytes()])
}

/// Whether a cookie is one of now, or of not long ago.
pub(super) fn is_cookie(
    secret: &Secret,
    now: Time,
    from: SocketAddr,
    nonce: u64,
    session: &SessionKey,
    cookie: &[u8; 16],
) -> bool {
    let (from, nonce, session) = (place_bytes(from), nonce.to_be_bytes(), key_bytes(session));
    let epochs = [Some(epoch(now)), epoch(now).checked_sub(1)];
    epochs
        .into_iter()
        .flatten()
        .any(|epoch| secret.is_mac(COOKIE, &[&from, &nonce, &session, &epoch.to_be_bytes()], cookie))
}

/// The number of a child: a hello that is repeated makes the same one.
pub(super) fn child_number(secret: &Secret, from: SocketAddr, nonce: u64, session: &SessionKey) -> u64 {
    secret.number(CHILD, &[&place_bytes(from), &nonce.to_be_bytes(), &key_bytes(session)])
}

fn epoch(now: Time) -> u64 {
    now.as_ns() / EPOCH.as_ns()
}

/// An address and port as bytes.
fn place_bytes(address: SocketAddr) -> [u8; 18] {
    let mut bytes = [0; 18];
    let mapped = match address.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    bytes[..16].copy_from_slice(&mapped.octets());
    bytes[16..].copy_from_slice(&address.port().to_be_bytes());
    bytes
}

/// A session as bytes.
fn key_bytes(key: &SessionKey) -> [u8; 37] {
    let mut bytes = [0; 37];
    bytes[..18].copy_from_slice(&place_bytes(key.group));
    if let Some(source) = key.source {
        bytes[18] = 1;
        bytes[19..].copy_from_slice(&place_bytes(SocketAddr::new(source, 0)));
    }
    bytes
}
