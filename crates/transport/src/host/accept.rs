//! The acceptance check of packets; rejected ones are counted.

use layercast_core::family::AnyHeader as _;
use std::net::Ipv4Addr;

use layercast_protocols::registry::Header;

use super::Datagram;
use layercast_delivery::packet::{Repr, View};
use layercast_delivery::session::IP_UDP_BYTES;

/// What a receiver's host counted. A packet that is not accepted changes nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Packets accepted.
    pub packets: u64,
    /// Their bytes with all headers.
    pub bytes: u64,
    /// System calls that read from groups.
    pub read_calls: u64,
    /// Packets that routers marked.
    pub marked: u64,
    /// Packets from another address than the source's.
    pub other_source: u64,
    /// Packets of another session.
    pub other_session: u64,
    /// Packets that are truncated, malformed or not of this transport.
    pub malformed: u64,
    /// Packets whose layer does not match the group they arrived on.
    pub misplaced: u64,
    /// Reports sent.
    pub reports: u64,
    /// Reports that could not be sent.
    pub unsent_reports: u64,
    /// Joins that failed.
    pub failed_joins: u64,
    /// Changes of level.
    pub level_changes: u64,
    /// Loss events.
    pub loss_events: u64,
}

/// A packet that passed all checks.
#[derive(Clone, Copy, Debug)]
pub struct Accepted<'a> {
    /// Its LCT header.
    pub repr: Repr,
    /// The protocol's header.
    pub header: Header,
    /// What follows the LCT header.
    pub payload: &'a [u8],
}

/// Checks a packet (RFC 5775, section 4.4, steps 1 and 2). Rejected packets are counted.
///
/// Without a source and session all valid packets of this transport are accepted.
pub fn accept<'a>(
    datagram: &Datagram,
    bytes: &'a [u8],
    of: Option<(Ipv4Addr, u32)>,
    counters: &mut ReceiverCounters,
) -> Option<Accepted<'a>> {
    let counter = match examine(datagram, bytes, of) {
        Ok(accepted) => {
            counters.packets += 1;
            counters.bytes += bytes.len() as u64 + u64::from(IP_UDP_BYTES);
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

fn examine<'a>(
    datagram: &Datagram,
    bytes: &'a [u8],
    of: Option<(Ipv4Addr, u32)>,
) -> Result<Accepted<'a>, Refusal> {
    if of.is_some_and(|(source, _)| source != *datagram.from.ip()) {
        return Err(Refusal::OtherSource);
    }
    let view = View::new(bytes).ok().filter(|_| !datagram.cut).ok_or(Refusal::Malformed)?;
    if of.is_some_and(|(_, tsi)| view.tsi().is_some_and(|other| other != u64::from(tsi))) {
        return Err(Refusal::OtherSession);
    }
    let repr = Repr::read(&view).map_err(|_| Refusal::Malformed)?;
    let header = Header::from_lct(&repr.fields).map_err(|_| Refusal::Malformed)?;
    if header.channel() != datagram.channel {
        return Err(Refusal::Misplaced);
    }
    Ok(Accepted { repr, header, payload: view.payload() })
}
