//! The groups of a session: a range of addresses at one port.

use core::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::address::{higher, is_source_specific, is_usable_group, lower, scope};

/// The groups of a session's channels, from the base layer's on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRange {
    first: SocketAddr,
    last: IpAddr,
}

impl GroupRange {
    /// The range of so many channels; none if there are not so many addresses.
    pub fn new(first: SocketAddr, channels: u16) -> Option<GroupRange> {
        higher(first.ip(), channels.max(1) - 1).map(|last| GroupRange { first, last })
    }

    /// Whether some group is in both, at the same port.
    pub fn overlaps(&self, other: &GroupRange) -> bool {
        self.first.port() == other.first.port()
            && self.first.is_ipv4() == other.first.is_ipv4()
            && self.first.ip() <= other.last
            && other.first.ip() <= self.last
    }

    /// The base layer's group and its port.
    pub fn first(&self) -> SocketAddr {
        self.first
    }

    /// The first range after this one and another that begins with an address that ends in 0, for as many channels, and
    /// that a session may use; none if there is none in this scope.
    pub fn free_after(&self, other: &GroupRange, channels: u16) -> Option<SocketAddr> {
        let above = higher(self.last.max(other.last), 256)?;
        let aligned = match above {
            IpAddr::V4(address) => IpAddr::from((address.to_bits() & !0xff).to_be_bytes()),
            IpAddr::V6(address) => IpAddr::from((address.to_bits() & !0xff).to_be_bytes()),
        };
        let free = SocketAddr::new(aligned, self.first.port());
        let is_whole = scoped(free.ip(), channels).is_ok();
        (is_whole && region(aligned) == region(self.first.ip())).then_some(free)
    }
}

impl fmt::Display for GroupRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first.ip() == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{} to {}", self.first, self.last),
        }
    }
}

/// The scope of a group: that of IPv6 (RFC 7346), and for IPv4 local, the organisation's, or global (RFC 2365).
fn region(group: IpAddr) -> u8 {
    match group {
        IpAddr::V4(group) => match group.octets() {
            [239, 252..=255, ..] => 3,
            [239, ..] => 8,
            _ => 14,
        },
        IpAddr::V6(group) => scope(group),
    }
}

/// Checks that all groups of a session are multicast addresses of one scope, which a session may use.
///
/// # Errors
/// The highest first group near this one with which they would be; none if this address is no such group at all.
pub fn scoped(first: IpAddr, channels: u16) -> Result<(), Option<IpAddr>> {
    let count = channels.max(1) - 1;
    let is_like = |other: IpAddr| {
        is_usable_group(other)
            && region(other) == region(first)
            && is_source_specific(other) == is_source_specific(first)
    };
    if !is_usable_group(first) {
        return Err(None);
    }
    if higher(first, count).is_some_and(is_like) {
        return Ok(());
    }
    // The last address of the scope is at most so far away; halving finds it, since a scope has no holes.
    let (mut inside, mut outside) = (0, count);
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        match higher(first, middle).is_some_and(is_like) {
            true => inside = middle,
            false => outside = middle,
        }
    }
    let start = higher(first, inside).and_then(|end| lower(end, count));
    Err(start.filter(|&start| is_like(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: &str, channels: u16) -> GroupRange {
        GroupRange::new(first.parse().expect("an address"), channels).expect("a range")
    }

    #[test]
    fn ranges_overlap_at_one_port_only() {
        let own = range("239.1.2.0:5500", 38);
        for (first, channels, overlaps) in [
            ("239.1.2.37:5500", 1, true),
            ("239.1.2.38:5500", 10, false),
            ("239.1.1.250:5500", 6, false),
            ("239.1.1.250:5500", 7, true),
            ("239.1.2.0:5501", 38, false),
            ("[ff15::1:0]:5500", 38, false),
        ] {
            let other = range(first, channels);
            assert_eq!((own.overlaps(&other), other.overlaps(&own)), (overlaps, overlaps), "{first}");
        }
        assert_eq!(own.to_string(), "239.1.2.0:5500 to 239.1.2.37");
        let free = own.free_after(&range("239.1.2.30:5500", 40), 38);
        assert_eq!(free, Some("239.1.3.0:5500".parse().expect("an address")));
        assert_eq!(range("239.255.255.0:5500", 38).free_after(&own, 38), None);
    }

    #[test]
    fn a_range_that_leaves_its_scope_has_a_remedy() {
        let of = |first: &str, channels| scoped(first.parse().expect("an address"), channels);
        let at = |text: &str| Err(Some(text.parse::<IpAddr>().expect("an address")));
        assert_eq!(of("239.255.255.218", 38), Ok(()));
        assert_eq!(of("239.255.255.250", 38), at("239.255.255.218"));
        // Local scope follows that of the organisation, source-specific groups follow others.
        assert_eq!(of("239.251.255.255", 2), at("239.251.255.254"));
        assert_eq!(of("231.255.255.250", 38), at("231.255.255.218"));
        assert_eq!(of("ff15::ffff", 38), Ok(()));
        assert_eq!(of("224.0.0.5", 1), Err(None));
        assert_eq!(of("10.0.0.1", 1), Err(None));
    }
}
