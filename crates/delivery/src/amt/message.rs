//! The seven messages of AMT (RFC 7450, section 5.1) as bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::membership::Reporting;

/// The length of a Response MAC.
pub const MAC_BYTES: usize = 6;
/// The length of the Gateway Address fields (section 5.1.4.9).
const GATEWAY_BYTES: usize = 18;
/// The length of the messages with a nonce only.
const SHORT: usize = 8;
/// The length of what precedes an IP datagram in a Membership Query or Update.
const HEAD: usize = 12;
/// The length of what precedes the IP datagram in Multicast Data.
pub const DATA_HEAD: usize = 2;
/// The bits of the second byte of a query.
const LIMIT: u8 = 2;
const GATEWAY: u8 = 1;

/// A Response MAC: opaque to a gateway (section 5.3.5).
pub type ResponseMac = [u8; MAC_BYTES];

/// A tunnel endpoint as the Gateway Address fields have it (section 5.1.4.9): an IPv4 address is the low 32 bits of an IPv6 one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TunnelEndpoint {
    /// The UDP port.
    pub port: u16,
    /// The address.
    pub address: [u8; 16],
}

impl From<SocketAddr> for TunnelEndpoint {
    fn from(address: SocketAddr) -> TunnelEndpoint {
        let port = address.port();
        // A socket for both versions has IPv4 addresses as mapped ones.
        let address = match address.ip().to_canonical() {
            IpAddr::V4(address) => Ipv6Addr::from_bits(u128::from(address.to_bits())).octets(),
            IpAddr::V6(address) => address.octets(),
        };
        TunnelEndpoint { port, address }
    }
}

/// A message. IP datagrams inside of it are not checked here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Type 1: a gateway asks for a relay.
    RelayDiscovery {
        /// Random, not zero.
        nonce: u32,
    },
    /// Type 2: a relay's address.
    RelayAdvertisement {
        /// The nonce of the discovery.
        nonce: u32,
        /// The address of the relay, of the IP version of the discovery.
        relay: IpAddr,
    },
    /// Type 3: a gateway asks for a query.
    Request {
        /// By which protocol it will report.
        reporting: Reporting,
        /// Random.
        nonce: u32,
    },
    /// Type 4: a relay asks for memberships.
    MembershipQuery {
        /// The L flag: no new tunnels are accepted.
        is_full: bool,
        /// What an update must repeat.
        mac: ResponseMac,
        /// The nonce of the request.
        nonce: u32,
        /// An IP datagram with a General Query, and whatever follows it.
        query: &'a [u8],
        /// From where the request came; none without the G flag.
        gateway: Option<TunnelEndpoint>,
    },
    /// Type 5: a gateway's memberships.
    MembershipUpdate {
        /// The MAC of the query.
        mac: ResponseMac,
        /// The nonce of the query.
        nonce: u32,
        /// An IP datagram with a report, and whatever follows it.
        report: &'a [u8],
    },
    /// Type 6: a multicast packet with its IP header.
    MulticastData(&'a [u8]),
    /// Type 7: a gateway closes an earlier tunnel.
    Teardown {
        /// The MAC of the last query for that tunnel.
        mac: ResponseMac,
        /// The nonce of that query.
        nonce: u32,
        /// The tunnel's endpoint, by that query.
        gateway: TunnelEndpoint,
    },
}

/// Why bytes are not a message. A gateway or relay ignores them (sections 5.2.3.2 and 5.3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// There are none.
    #[error("the message is empty")]
    Empty,
    /// The field Version is not zero.
    #[error("Version is {0}; only version 0 is defined")]
    Version(u8),
    /// An unknown type.
    #[error("Type is {0}; only 1 to 7 are defined")]
    Type(u8),
    /// The message ends before or within a field.
    #[error("the message ends after {length} bytes, before the end of {field}")]
    Short {
        /// The field.
        field: &'static str,
        /// The length of the message.
        length: usize,
    },
    /// The message is longer than its fields.
    #[error("the message has {length} bytes, which is more than its fields")]
    Long {
        /// The length of the message.
        length: usize,
    },
    /// The length of the field Relay Address is that of no address.
    #[error("Relay Address has {0} bytes; it must have 4 or 16")]
    RelayAddress(usize),
    /// The relay's address cannot be that of one host.
    #[error("Relay Address {0} is not a unicast address")]
    NotUnicast(IpAddr),
    /// The field Discovery Nonce is zero (section 5.2.3.4.5).
    #[error("Discovery Nonce is 0")]
    NoNonce,
}

/// The bytes that are left of a message.
struct Fields<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], MessageError> {
        let (taken, rest) =
            self.rest.split_first_chunk().ok_or(MessageError::Short { field, length: self.length })?;
        self.rest = rest;
        Ok(*taken)
    }

    fn nonce(&mut self, field: &'static str) -> Result<u32, MessageError> {
        self.take(field).map(u32::from_be_bytes)
    }

    fn gateway(&mut self) -> Result<TunnelEndpoint, MessageError> {
        let port = self.take("Gateway Port Number").map(u16::from_be_bytes)?;
        Ok(TunnelEndpoint { port, address: self.take("Gateway IP Address")? })
    }

    fn end(self) -> Result<(), MessageError> {
        if self.rest.is_empty() { Ok(()) } else { Err(MessageError::Long { length: self.length }) }
    }
}

impl<'a> Message<'a> {
    /// Reads a message. Reserved bits are ignored. Never panics.
    ///
    /// # Errors
    /// Why it is not a message, with the field.
    pub fn read(bytes: &'a [u8]) -> Result<Message<'a>, MessageError> {
        let (&first, rest) = bytes.split_first().ok_or(MessageError::Empty)?;
        if first >> 4 != 0 {
            return Err(MessageError::Version(first >> 4));
        }
        let mut fields = Fields { rest, length: bytes.len() };
        let message = match first & 15 {
            1 => {
                let _: [u8; 3] = fields.take("Reserved")?;
                let nonce = discovery_nonce(&mut fields)?;
                Message::RelayDiscovery { nonce }
            }
            2 => {
                let _: [u8; 3] = fields.take("Reserved")?;
                let nonce = discovery_nonce(&mut fields)?;
                let address = std::mem::take(&mut fields.rest);
                Message::RelayAdvertisement { nonce, relay: relay_address(address)? }
            }
            3 => {
                let [flags, ..]: [u8; 3] = fields.take("Reserved")?;
                let reporting = if flags & 1 == 0 { Reporting::Igmp } else { Reporting::Mld };
                Message::Request { reporting, nonce: fields.nonce("Request Nonce")? }
            }
            4 => {
                let [flags] = fields.take("Reserved")?;
                let mac = fields.take("Response MAC")?;
                let nonce = fields.nonce("Request Nonce")?;
                let rest = std::mem::take(&mut fields.rest);
                let (query, gateway) = if flags & GATEWAY == 0 {
                    (rest, None)
                } else {
                    let field = "Gateway Port Number";
                    let at = rest.len().checked_sub(GATEWAY_BYTES);
                    let at = at.ok_or(MessageError::Short { field, length: bytes.len() })?;
                    let (query, gateway) = rest.split_at(at);
                    let mut last = Fields { rest: gateway, length: bytes.len() };
                    (query, Some(last.gateway()?))
                };
                Message::MembershipQuery { is_full: flags & LIMIT != 0, mac, nonce, query, gateway }
            }
            5 => {
                let _: [u8; 1] = fields.take("Reserved")?;
                let mac = fields.take("Response MAC")?;
                let nonce = fields.nonce("Request Nonce")?;
                Message::MembershipUpdate { mac, nonce, report: std::mem::take(&mut fields.rest) }
            }
            6 => {
                let _: [u8; 1] = fields.take("Reserved")?;
                Message::MulticastData(std::mem::take(&mut fields.rest))
            }
            7 => {
                let _: [u8; 1] = fields.take("Reserved")?;
                let mac = fields.take("Response MAC")?;
                let nonce = fields.nonce("Request Nonce")?;
                Message::Teardown { mac, nonce, gateway: fields.gateway()? }
            }
            other => return Err(MessageError::Type(other)),
        };
        fields.end()?;
        Ok(message)
    }

    /// The bytes of the message. Reserved bits are zero.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SHORT + HEAD + GATEWAY_BYTES);
        match *self {
            Message::RelayDiscovery { nonce } => {
                bytes.extend([1, 0, 0, 0]);
                bytes.extend(nonce.to_be_bytes());
            }
            Message::RelayAdvertisement { nonce, relay } => {
                bytes.extend([2, 0, 0, 0]);
                bytes.extend(nonce.to_be_bytes());
                match relay {
                    IpAddr::V4(address) => bytes.extend(address.octets()),
                    IpAddr::V6(address) => bytes.extend(address.octets()),
                }
            }
            Message::Request { reporting, nonce } => {
                bytes.extend([3, u8::from(reporting == Reporting::Mld), 0, 0]);
                bytes.extend(nonce.to_be_bytes());
            }
            Message::MembershipQuery { is_full, mac, nonce, query, gateway } => {
                let limit = if is_full { LIMIT } else { 0 };
                bytes.extend([4, limit | if gateway.is_some() { GATEWAY } else { 0 }]);
                bytes.extend(mac);
                bytes.extend(nonce.to_be_bytes());
                bytes.extend(query);
                gateway.iter().for_each(|gateway| write_gateway(&mut bytes, gateway));
            }
            Message::MembershipUpdate { mac, nonce, report } => {
                bytes.extend([5, 0]);
                bytes.extend(mac);
                bytes.extend(nonce.to_be_bytes());
                bytes.extend(report);
            }
            Message::MulticastData(packet) => {
                bytes.extend([6, 0]);
                bytes.extend(packet);
            }
            Message::Teardown { mac, nonce, gateway } => {
                bytes.extend([7, 0]);
                bytes.extend(mac);
                bytes.extend(nonce.to_be_bytes());
                write_gateway(&mut bytes, &gateway);
            }
        }
        bytes
    }
}

fn write_gateway(bytes: &mut Vec<u8>, gateway: &TunnelEndpoint) {
    bytes.extend(gateway.port.to_be_bytes());
    bytes.extend(gateway.address);
}

fn discovery_nonce(fields: &mut Fields<'_>) -> Result<u32, MessageError> {
    match fields.nonce("Discovery Nonce")? {
        0 => Err(MessageError::NoNonce),
        nonce => Ok(nonce),
    }
}

fn relay_address(bytes: &[u8]) -> Result<IpAddr, MessageError> {
    let address = if let Ok(octets) = <[u8; 4]>::try_from(bytes) {
        IpAddr::V4(Ipv4Addr::from(octets))
    } else {
        let octets = <[u8; 16]>::try_from(bytes).map_err(|_| MessageError::RelayAddress(bytes.len()))?;
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    let is_broadcast = address == IpAddr::V4(Ipv4Addr::BROADCAST);
    if address.is_unspecified() || address.is_multicast() || is_broadcast {
        return Err(MessageError::NotUnicast(address));
    }
    Ok(address)
}
