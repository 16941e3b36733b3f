//! Layercast on real UDP multicast.
//!
//! On top of [`layercast_delivery`], which has packets, objects and sessions: [`disk`] (a folder of received files) · [`host`] (sockets for the endpoints of a protocol) · [`receiver`] (a receiver on sockets) · [`send`](mod@send) and [`receive`](mod@receive) (files
//! and folders), [`amt`] (through relays of RFC 7450), [`announcing`], [`listening`] and [`finding`] (how receivers find a session) · [`relay`] (sessions through networks without multicast) · [`endpoint`] (a source or a receiver without a file, which reports).
//!
//! [`active`] has sessions of protocols with active routers. `docs/wire-format.md` has the bit tables.
//!
//! Its sockets need Linux (`recvmmsg`, `UDP_SEGMENT`, `IP_MULTICAST_ALL`, `SO_TIMESTAMPNS`). Elsewhere the crate is empty, so that
//! all others build there.

#![cfg(target_os = "linux")]

use std::io::Read as _;

pub mod active;
pub mod amt;
pub mod announcing;
mod background;
pub mod disk;
pub mod doctor;
pub mod endpoint;
pub mod error;
pub mod event;
mod fields;
mod file_limit;
pub mod finding;
pub mod host;
pub mod listening;
pub mod receive;
pub mod receiver;
pub mod relay;
pub mod send;

pub use error::Error;
pub use layercast_delivery::notice::{self, Notice};

/// A seed that is hard to guess: for numbers of receivers and sessions, not for secrets.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    RandomState::new().build_hasher().finish()
}

/// Bytes that nobody else knows.
fn random_secret() -> Result<[u8; 32], Error> {
    let mut bytes = [0; 32];
    let drawn = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    let what = "draw random numbers".to_owned();
    drawn.map(|()| bytes).map_err(|source| Error::Socket { what, source })
}
