//! Which receivers a source listens to, for protocols that serve only so many.

use std::net::SocketAddr;

use layercast_core::units::{Duration, Time};

/// How long the place of a receiver is kept after its last report. Those of TFRC and CBR come once per round-trip
/// time, or per packet when packets are rarer.
const KEPT: Duration = Duration::from_secs(5);
/// The maximum number of receivers that are named after they were turned away.
const NAMED_MAX: usize = 64;

/// The receivers of a session that serves only so many.
#[derive(Debug)]
pub(super) struct Admission {
    most: usize,
    places: Vec<(SocketAddr, Time)>,
    /// Receivers that were turned away, each once.
    turned_away: Vec<SocketAddr>,
    /// How many of them were returned already.
    returned: usize,
}

impl Admission {
    /// Places for `most` receivers.
    pub(super) fn new(most: usize) -> Admission {
        Admission {
            most,
            places: Vec::with_capacity(most.min(NAMED_MAX)),
            turned_away: Vec::new(),
            returned: 0,
        }
    }

    /// Whether a report from this receiver counts. A place that is not used becomes free.
    pub(super) fn admits(&mut self, from: SocketAddr, now: Time) -> bool {
        if let Some((_, last)) = self.places.iter_mut().find(|(known, _)| *known == from) {
            *last = now;
            return true;
        }
        self.places.retain(|&(_, last)| now.since(last) < KEPT);
        if self.places.len() < self.most {
            self.places.push((from, now));
            return true;
        }
        if self.turned_away.len() < NAMED_MAX && !self.turned_away.contains(&from) {
            self.turned_away.push(from);
        }
        false
    }

    /// The next receiver that was turned away since the last call.
    pub(super) fn take_turned_away(&mut self) -> Option<SocketAddr> {
        let next = self.turned_away.get(self.returned).copied();
        self.returned += usize::from(next.is_some());
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_second_receiver_is_admitted_when_the_first_is_gone() {
        let (one, two) =
            (SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 1), SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 2));
        let at = |s: u64| Time::ZERO + Duration::from_secs(s);
        let mut admission = Admission::new(1);
        assert!(admission.admits(one, at(0)) && admission.admits(one, at(4)));
        assert!(!admission.admits(two, at(8)) && !admission.admits(two, at(8)));
        assert_eq!(admission.take_turned_away(), Some(two));
        assert_eq!(admission.take_turned_away(), None);
        assert!(admission.admits(two, at(9)));
        assert!(!admission.admits(one, at(10)));
    }
}
