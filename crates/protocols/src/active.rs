//! The packets of protocols with active routers as bytes.
//!
//! They are not LCT: routers read them on their path in both directions. The second word of each has the number of its
//! service, by which protocols are distinguished.

use alloc::vec::Vec;
use core::fmt;

use crate::registry::{Header, Protocol};
use crate::{amca, nca};
use layercast_core::units::WireSeq;

/// The longest header in bytes, without payload.
pub const MAX_HEADER: usize =
    if amca::MAX_HEADER > nca::MAX_HEADER { amca::MAX_HEADER } else { nca::MAX_HEADER };

/// The bytes before the payload of a packet of data, in any of the protocols at most.
pub const DATA_HEADER: usize = 36;

/// Why bytes are no packet, or a packet has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActiveError {
    /// AMCA over DyRAM.
    Amca(amca::WireError),
    /// NCA.
    Nca(nca::WireError),
    /// There is no such service.
    Service(u16),
    /// There are fewer bytes than the number of a service needs.
    Length,
    /// The protocol has no active routers.
    Protocol,
}

impl fmt::Display for ActiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActiveError::Amca(error) => write!(f, "AMCA: {error}"),
            ActiveError::Nca(error) => write!(f, "NCA: {error}"),
            ActiveError::Service(service) => write!(f, "there is no service {service}"),
            ActiveError::Length => f.write_str("too few bytes"),
            ActiveError::Protocol => f.write_str("the protocol has no active routers"),
        }
    }
}

impl core::error::Error for ActiveError {}

/// Appends a packet to `bytes`.
///
/// # Errors
/// If the protocol has no such form, or the payload does not fit; `bytes` is then unchanged.
pub fn encode(header: &Header, payload: &[u8], bytes: &mut Vec<u8>) -> Result<(), ActiveError> {
    match header {
        Header::Amca(header) => header.encode(payload, bytes).map_err(ActiveError::Amca),
        Header::Nca(header) => header.encode(payload, bytes).map_err(ActiveError::Nca),
        _ => Err(ActiveError::Protocol),
    }
}

/// Reads a packet: its header and its payload. Never panics.
///
/// # Errors
/// What is wrong with the bytes.
pub fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), ActiveError> {
    let Some(&[_, _, high, low]) = bytes.first_chunk() else { return Err(ActiveError::Length) };
    match u16::from_be_bytes([high, low]) {
        amca::SERVICE => {
            let (header, payload) = amca::Header::decode(bytes).map_err(ActiveError::Amca)?;
            Ok((Header::Amca(header), payload))
        }
        nca::SERVICE => {
            let (header, payload) = nca::Header::decode(bytes).map_err(ActiveError::Nca)?;
            Ok((Header::Nca(header), payload))
        }
        service => Err(ActiveError::Service(service)),
    }
}

/// Whether a header is one of this protocol.
pub fn belongs(header: &Header, protocol: &Protocol) -> bool {
    matches!((header, protocol), (Header::Amca(_), Protocol::Amca(_)) | (Header::Nca(_), Protocol::Nca(_)))
}

/// The number of a packet of data; none for other packets, and for other protocols.
pub fn data_seq(header: &Header) -> Option<WireSeq> {
    match header {
        Header::Amca(header) => header.data_seq(),
        Header::Nca(header) => header.data_seq(),
        _ => None,
    }
}

/// Whether routers of this protocol ask their hosts for packets that have passed
/// ([`Payload::Stored`](layercast_core::contract::Payload::Stored)).
pub fn routers_store(protocol: &Protocol) -> bool {
    matches!(protocol, Protocol::Nca(_))
}
