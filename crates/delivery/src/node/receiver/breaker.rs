//! A circuit breaker (RFC 8084; RFC 8085, section 3.1.10): a receiver whose path loses most of the base layer, to
//! which there is no lower level, leaves the session for a while.

use layercast_core::units::Duration;

use crate::node::packet_loss::RecentPackets;

/// The share of lost packets at which it trips (CHOICE: random loss of a third must not trip it).
const LOST: f64 = 0.5;
/// For how long: longer than any protocol takes to leave what it can leave.
const FOR: Duration = Duration::from_secs(15);
/// The first pause, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(480);

/// The state of the breaker.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    trips: u32,
    overloaded_for: Duration,
}

impl Breaker {
    /// Looks at the packets of the last seconds, `passed` after the last look. A pause when it trips.
    pub(super) fn check(
        &mut self,
        base_alone: bool,
        recent: Option<RecentPackets>,
        passed: Duration,
    ) -> Option<Duration> {
        let is_overloaded =
            base_alone && recent.is_some_and(|recent| recent.sent > 10 && recent.lost() > LOST);
        self.overloaded_for = if is_overloaded { self.overloaded_for + passed } else { Duration::ZERO };
        if self.overloaded_for < FOR {
            return None;
        }
        self.overloaded_for = Duration::ZERO;
        let pause = (FIRST_PAUSE * (1 << self.trips.min(8))).min(LONGEST_PAUSE);
        self.trips += 1;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_persistent_loss_of_most_of_the_base_layer_trips_it() {
        let second = Duration::from_secs(1);
        let lost = |share: u64| {
            let over = Duration::from_secs(5);
            Some(RecentPackets { sent: 100, received: 100 - share, over })
        };
        let mut breaker = Breaker::default();
        let mut trip =
            |base_alone, share| (0..15).filter_map(|_| breaker.check(base_alone, lost(share), second)).next();
        assert_eq!(trip(true, 40), None);
        assert_eq!(trip(false, 90), None);
        assert_eq!(trip(true, 90), Some(Duration::from_secs(30)));
        assert_eq!(trip(true, 90), Some(Duration::from_secs(60)));
        for _ in 0..10 {
            trip(true, 90);
        }
        assert_eq!(trip(true, 90), Some(Duration::from_secs(480)));
    }
}
