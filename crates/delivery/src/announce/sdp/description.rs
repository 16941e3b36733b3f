//! A description as values.

use std::net::{IpAddr, SocketAddr};

use crate::address::higher;
use crate::announce::signature::PublicKey;
use crate::announce::url::{SessionUrl, is_name};

/// Who made a description and which version it is (RFC 8866, section 5.2). All but the version identify the session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The user's name, or `-`.
    pub username: String,
    /// The session's number, such as the time of its start.
    pub id: u64,
    /// Whether the address is of IPv6.
    pub is_v6: bool,
    /// The host: an address or a domain name.
    pub address: String,
    /// Rises with each change of the description.
    pub version: u64,
}

impl Origin {
    /// The origin of a session of this host, without a user's name.
    pub fn new(address: IpAddr, id: u64, version: u64) -> Origin {
        Origin { username: "-".into(), id, is_v6: address.is_ipv6(), address: address.to_string(), version }
    }

    /// Whether both are versions of one session.
    pub fn is_same_session(&self, other: &Origin) -> bool {
        Origin { version: other.version, ..self.clone() } == *other
    }
}

/// A FEC scheme that packets may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fec {
    /// What `a=FEC` refers to.
    pub reference: u32,
    /// The FEC encoding id.
    pub encoding: u8,
    /// The FEC instance id of schemes that have one.
    pub instance: Option<u16>,
}

/// Channels of consecutive groups: an `m=` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// The port of all channels.
    pub port: u16,
    /// The group of the first channel.
    pub group: IpAddr,
    /// The TTL of packets; IPv6 has none here (RFC 8866, section 5.7).
    pub ttl: Option<u8>,
    /// How many channels.
    pub channels: u16,
    /// Their rate together in kbit/s.
    pub kbps: Option<u64>,
    /// Which FEC declarations apply.
    pub fec: Vec<u32>,
}

/// The description of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Who made it.
    pub origin: Origin,
    /// The session's name.
    pub name: String,
    /// What the session is about.
    pub information: Option<String>,
    /// When it starts, in seconds since 1900; 0 if it has no start.
    pub start_s: u64,
    /// When it ends, in seconds since 1900; 0 if it has no end.
    pub stop_s: u64,
    /// Where packets come from; none if any source will do.
    pub source: Option<IpAddr>,
    /// The session number.
    pub tsi: u64,
    /// Whose signatures count, by the description itself.
    pub key: Option<PublicKey>,
    /// The FEC schemes.
    pub fec: Vec<Fec>,
    /// The channels, from the base up.
    pub media: Vec<Media>,
    /// What only our receivers understand: the lines of the session description that SDP has no line for, as key and
    /// value.
    pub lines: Vec<(String, String)>,
}

impl Description {
    /// The group and port of the base layer, if the channels are consecutive groups with one port.
    pub fn group(&self) -> Option<SocketAddr> {
        let first = self.media.first()?;
        let mut next = Some(first.group);
        for media in &self.media {
            if Some(media.group) != next || media.port != first.port {
                return None;
            }
            next = higher(media.group, media.channels);
        }
        Some(SocketAddr::new(first.group, first.port))
    }

    /// How many channels there are.
    pub fn channels(&self) -> u32 {
        self.media.iter().map(|media| u32::from(media.channels)).sum()
    }

    /// The value of a line that only our receivers understand, without its quotes.
    pub fn line(&self, key: &str) -> Option<&str> {
        self.lines.iter().find(|(found, _)| found == key).map(|(_, value)| value.trim_matches('"'))
    }

    /// The line that names the session; none if it cannot be joined from what the description has.
    pub fn url(&self) -> Option<SessionUrl> {
        let first = self.media.first()?;
        let name = Some(self.name.clone()).filter(|name| is_name(name));
        let salt = self.line("salt").and_then(|salt| salt.parse().ok());
        let (group, port) = (first.group, first.port);
        let url = SessionUrl { group, port, source: self.source, key: self.key, salt, name };
        url.check().is_ok().then_some(url)
    }
}
