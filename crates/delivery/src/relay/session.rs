//! How a session is named before anything is known of it, and which sessions a relay serves.

use std::net::{IpAddr, SocketAddr};

use layercast_core::units::Channel;
use serde::Serialize;

use crate::address::{higher, is_source_specific, is_unicast, is_usable_group};
use crate::session::MAX_CHANNELS;

/// A session by the group of its base channel, and its source if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SessionKey {
    /// The group and port of channel 0.
    pub group: SocketAddr,
    /// The source whose packets alone are wanted.
    pub source: Option<IpAddr>,
}

impl SessionKey {
    /// Whether a relay can join it: a multicast group, with a source where the group needs one (RFC 4607, section 1).
    pub fn is_valid(&self) -> bool {
        let source_fits = match self.source {
            Some(source) => is_unicast(source) && source.is_ipv4() == self.group.is_ipv4(),
            None => !is_source_specific(self.group.ip()),
        };
        is_usable_group(self.group.ip()) && self.group.port() != 0 && source_fits
    }

    /// The group and port of a channel; none for one that no session has.
    pub fn address(&self, channel: Channel) -> Option<SocketAddr> {
        let group = higher(self.group.ip(), channel.0).filter(|_| channel.0 < MAX_CHANNELS)?;
        is_usable_group(group).then(|| SocketAddr::new(group, self.group.port()))
    }
}

/// A range of groups: the first so many bits of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    bits: u8,
}

impl Prefix {
    /// A prefix; none if it has more bits than the address.
    pub fn new(address: IpAddr, bits: u8) -> Option<Prefix> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        (bits <= most).then_some(Prefix { address, bits })
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (ours, theirs, most) = match (self.address, address) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                (u128::from(ours.to_bits()), theirs.to_bits().into(), 32)
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => (ours.to_bits(), theirs.to_bits(), 128),
            _ => return false,
        };
        (ours ^ theirs).checked_shr(most - u32::from(self.bits)).unwrap_or(0) == 0
    }
}

impl std::str::FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Prefix, String> {
        let wrong = || format!("`{text}` is no range of groups, such as 239.1.0.0/16 or ff35::/16");
        let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
        let address = address.parse().map_err(|_| wrong())?;
        Prefix::new(address, bits.parse().map_err(|_| wrong())?).ok_or_else(wrong)
    }
}

/// Which sessions a relay serves.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// These, whatever source a child names or leaves out, where the source here is none, and otherwise of that source alone.
    pub sessions: Vec<SessionKey>,
    /// All whose base channel's group is in one of these.
    pub prefixes: Vec<Prefix>,
}

impl Allowed {
    /// Whether a session is one of them.
    pub fn contains(&self, key: &SessionKey) -> bool {
        let is_named = self.sessions.iter().any(|one| {
            one.group == key.group
                && (one.source.is_none() || key.source.is_none() || one.source == key.source)
        });
        key.is_valid() && (is_named || self.prefixes.iter().any(|prefix| prefix.contains(key.group.ip())))
    }

    /// The key by which a session is joined: a child that does not know the source gets the one that is known here.
    pub fn resolve(&self, key: SessionKey) -> SessionKey {
        let named = self.sessions.iter().find(|one| one.group == key.group);
        SessionKey { source: key.source.or(named.and_then(|one| one.source)), ..key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(group: &str, source: Option<&str>) -> SessionKey {
        let source = source.map(|source| source.parse().expect("an address"));
        SessionKey { group: group.parse().expect("a group"), source }
    }

    #[test]
    fn sessions_by_name_and_by_prefix() {
        let allowed = Allowed {
            sessions: vec![key("239.1.2.0:5500", Some("192.0.2.1"))],
            prefixes: vec![
                "ff15:1::/32".parse().expect("a prefix"),
                "239.9.0.0/16".parse().expect("a prefix"),
            ],
        };
        for (group, source, is_in) in [
            ("239.1.2.0:5500", None, true),
            ("239.1.2.0:5500", Some("192.0.2.1"), true),
            ("239.1.2.0:5500", Some("192.0.2.2"), false),
            ("239.1.2.0:5501", None, false),
            ("239.9.7.0:1", Some("192.0.2.2"), true),
            ("239.10.0.0:1", None, false),
            ("[ff15:1::5]:7", None, true),
            ("[ff15:2::5]:7", None, false),
            ("192.0.2.1:7", None, false),
        ] {
            assert_eq!(allowed.contains(&key(group, source)), is_in, "{group} {source:?}");
        }
        let resolved = allowed.resolve(key("239.1.2.0:5500", None));
        assert_eq!(resolved, key("239.1.2.0:5500", Some("192.0.2.1")));
        assert!(!key("232.1.1.1:5", None).is_valid() && key("232.1.1.1:5", Some("192.0.2.1")).is_valid());
        assert!("239.0.0.0/33".parse::<Prefix>().is_err() && "all".parse::<Prefix>().is_err());
        assert!("0.0.0.0/0".parse::<Prefix>().expect("a prefix").contains("239.1.1.1".parse().expect("one")));
    }
}
