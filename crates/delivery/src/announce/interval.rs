//! How often a session is announced (RFC 2974, section 3.1), and how long it is kept without an announcement (section 4).

use std::net::IpAddr;

use layercast_core::units::Duration;

use super::sap::is_global;

/// The limit of all announcements on a group in bit/s, if nothing else is agreed (RFC 2974, section 3.1).
pub const LIMIT_BPS: u64 = 4000;

/// The shortest interval between announcements of a session (RFC 2974, section 3.1).
pub const RFC_MINIMUM: Duration = Duration::from_secs(300);

/// How often to announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// What all announcements on the group may take together, in bit/s.
    pub limit_bps: u64,
    /// The shortest mean interval.
    pub minimum: Duration,
    /// The shortest mean interval while the session, or a change of it, is young.
    pub early: Duration,
    /// How long it is young.
    pub young: Duration,
}

impl Pace {
    /// As RFC 2974 has it.
    pub const RFC: Pace =
        Pace { limit_bps: LIMIT_BPS, minimum: RFC_MINIMUM, early: RFC_MINIMUM, young: Duration::ZERO };

    /// Within a site or an organisation.
    ///
    /// The RFC's 300 s protect a group that the whole internet receives, and a listener would wait minutes for its list. The
    /// limit in bit/s stays, and from ten to twenty sessions on it alone decides the interval. Below that an
    /// announcement of 1 kB takes 270 bit/s every 30 s, and a listener that comes later knows the session after at most 40 s. At the start
    /// operators wait for the first line of `layercast sessions`, so the first minute has 5 s: 1.6 kbit/s.
    pub const LOCAL: Pace = Pace {
        limit_bps: LIMIT_BPS,
        minimum: Duration::from_secs(30),
        early: Duration::from_secs(5),
        young: Duration::from_secs(60),
    };

    /// The pace for a group of announcements.
    pub fn for_group(group: IpAddr) -> Pace {
        if is_global(group) { Pace::RFC } else { Pace::LOCAL }
    }

    /// The mean interval for an announcement of `bytes` (with UDP and IP headers) among `sessions`, itself included.
    ///
    /// The RFC's interval spends the whole limit on average. Where many begin at once, the earliest of their randomised
    /// times come at two thirds of it, so the limit would be exceeded by half until all are known; therefore the
    /// interval is longer by half.
    pub fn interval(&self, sessions: usize, bytes: usize, is_young: bool) -> Duration {
        let minimum = if is_young { self.early } else { self.minimum };
        shared(sessions, bytes, self.limit_bps).max(minimum)
    }
}

/// The interval by the limit alone.
fn shared(sessions: usize, bytes: usize, limit_bps: u64) -> Duration {
    let bits = 12 * sessions as u128 * bytes as u128;
    let ns = bits * 1_000_000_000 / u128::from(limit_bps.max(1));
    Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// How long a session is kept after an announcement of `bytes`, where `sessions` are announced and the longest time
/// between two announcements of it was `gap` (none before three have been observed).
///
/// RFC 2974, section 4: ten intervals, and at least an hour, which allows for partitions of the network. A
/// session that is announced every half minute is known again half a minute after a partition ends, so it need not stay
/// in the list for an hour after its source has died: ten of its own intervals are enough, and five minutes at least.
pub fn lifetime(sessions: usize, bytes: usize, gap: Option<Duration>) -> Duration {
    let shared = shared(sessions, bytes, LIMIT_BPS);
    let by_rfc = (shared.max(RFC_MINIMUM) * 10).max(Duration::from_secs(3600));
    match gap {
        Some(gap) => (gap.max(shared) * 10).max(Duration::from_secs(300)).min(by_rfc),
        None => by_rfc,
    }
}
