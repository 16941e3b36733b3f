//! Layercast on real UDP multicast.
//!
//! On top of [`layercast_delivery`], which has packets, objects and sessions: [`disk`] (a folder of received files) · [`host`] (sockets for the endpoints of a protocol) · [`send`](mod@send) and [`receive`](mod@receive) (files
//! and folders), [`amt`] (through relays of RFC 7450), [`announcing`] and [`listening`] (how receivers find a session) · [`relay`] (sessions through networks without multicast) · [`endpoint`] (a source or a receiver without a file, which reports).
//!
//! `docs/wire-format.md` has the bit tables.
//!
//! Its sockets need Linux (`recvmmsg`, `UDP_SEGMENT`, `IP_MULTICAST_ALL`, `SO_TIMESTAMPNS`). Elsewhere the crate is empty, so that
//! all others build there.

#![cfg(target_os = "linux")]

pub mod amt;
pub mod announcing;
mod background;
pub mod disk;
pub mod doctor;
pub mod endpoint;
pub mod error;
mod file_limit;
pub mod host;
pub mod listening;
pub mod notice;
pub mod receive;
pub mod relay;
pub mod send;

pub use error::Error;
pub use notice::Notice;

use layercast_core::family::AnyProtocol as _;
use layercast_core::option::RawValue;
use layercast_protocols::registry::Protocol;

/// Sets options of a protocol, given by name and as text.
///
/// # Errors
/// [`Error::Option`] for the first that the protocol rejects; those before it are set.
pub fn set_options(protocol: &mut Protocol, options: &[(String, String)]) -> Result<(), Error> {
    for (option, value) in options {
        protocol.set(option, RawValue::from_text(value)).map_err(|source| Error::Option {
            protocol: protocol.name().to_owned(),
            option: option.clone(),
            source,
        })?;
    }
    if protocol.requirements().is_scalable() {
        return Err(Error::SimulatedOnly { protocol: protocol.name().to_owned() });
    }
    Ok(())
}

/// A seed that is hard to guess: for numbers of receivers and sessions, not for secrets.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    RandomState::new().build_hasher().finish()
}
