//! The acceptance check of packets (RFC 5775, section 4.4, steps 1 and 2); rejected ones are counted.

use std::net::{IpAddr, SocketAddr};

use layercast_core::family::AnyHeader;
use layercast_core::units::Channel;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::packet::{Repr, View};
use crate::session::ip_udp_bytes;

/// Packets by what became of them. One that is not accepted changes nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AcceptCounters {
    /// Packets accepted.
    pub packets: u64,
    /// Their bytes with all headers.
    pub bytes: u64,
    /// Packets from another address than the source's.
    pub other_source: u64,
    /// Packets of another session.
    pub other_session: u64,
    /// Packets that are truncated, malformed or not of this transport.
    pub malformed: u64,
    /// Packets whose layer does not match the group they arrived on.
    pub misplaced: u64,
}

impl AcceptCounters {
    /// How many packets were not accepted.
    pub fn rejected(&self) -> u64 {
        self.other_source + self.other_session + self.malformed + self.misplaced
    }
}

impl Serialize for AcceptCounters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("AcceptCounters", 3)?;
        fields.serialize_field("packets", &self.packets)?;
        fields.serialize_field("bytes", &self.bytes)?;
        fields.serialize_field("packets_rejected", &self.rejected())?;
        fields.end()
    }
}

/// How a packet came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// From where.
    pub from: SocketAddr,
    /// On which channel; none if by unicast.
    pub channel: Option<Channel>,
    /// Whether it was truncated.
    pub is_cut: bool,
}

/// A packet that passed all checks.
#[derive(Clone, Copy, Debug)]
pub struct Accepted<'a, H> {
    /// Its LCT header.
    pub repr: Repr,
    /// The protocol's header.
    pub header: H,
    /// What follows the LCT header.
    pub payload: &'a [u8],
}

/// Checks a packet. Without a source and session all valid packets of this transport are accepted.
pub fn accept<'a, H: AnyHeader>(
    incoming: Incoming,
    bytes: &'a [u8],
    of: Option<(IpAddr, u32)>,
    counters: &mut AcceptCounters,
) -> Option<Accepted<'a, H>> {
    let counter = match examine(incoming, bytes, of) {
        Ok(accepted) => {
            counters.packets += 1;
            counters.bytes += bytes.len() as u64 + u64::from(ip_udp_bytes(incoming.from.ip()));
            return Some(accepted);
        }
        Err(Refusal::OtherSource) => &mut counters.other_source,
        Err(Refusal::OtherSession) => &mut counters.other_session,
        Err(Refusal::Malformed) => &mut counters.malformed,
        Err(Refusal::Misplaced) => &mut counters.misplaced,
    };
    *counter += 1;
    None
}

enum Refusal {
    OtherSource,
    OtherSession,
    Malformed,
    Misplaced,
}

fn examine<H: AnyHeader>(
    incoming: Incoming,
    bytes: &[u8],
    of: Option<(IpAddr, u32)>,
) -> Result<Accepted<'_, H>, Refusal> {
    if of.is_some_and(|(source, _)| source != incoming.from.ip()) {
        return Err(Refusal::OtherSource);
    }
    let view = View::new(bytes).ok().filter(|_| !incoming.is_cut).ok_or(Refusal::Malformed)?;
    if of.is_some_and(|(_, tsi)| view.tsi().is_some_and(|other| other != u64::from(tsi))) {
        return Err(Refusal::OtherSession);
    }
    let repr = Repr::read_of::<H>(&view).map_err(|_| Refusal::Malformed)?;
    let header = H::from_lct(&repr.fields).map_err(|_| Refusal::Malformed)?;
    if header.channel() != incoming.channel {
        return Err(Refusal::Misplaced);
    }
    Ok(Accepted { repr, header, payload: view.payload() })
}
