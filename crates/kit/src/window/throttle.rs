//! The send rate limit: the rate of the application's data, with short bursts.

use layercast_core::units::{Duration, Time};

/// Passes packets at a mean spacing, with limited bursts.
#[derive(Clone, Debug)]
pub struct Throttle {
    spacing: Duration,
    /// How far packets may be ahead of even pacing.
    ahead: Duration,
    /// When the next packet would be sent with even pacing.
    due: Time,
}

impl Throttle {
    /// One packet per `spacing`, and up to `burst` of them, at least one, at once.
    pub fn new(spacing: Duration, burst: u32) -> Throttle {
        let ahead = spacing * u64::from(burst.max(1) - 1);
        Throttle { spacing, ahead, due: Time::ZERO }
    }

    /// When the next packet may be sent. It may be in the past.
    pub fn next(&self) -> Time {
        self.due - self.ahead
    }

    /// Passes a packet if the limit allows it.
    pub fn take(&mut self, now: Time) -> bool {
        let may = self.next() <= now;
        if may {
            self.due = self.due.max(now) + self.spacing;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_pace() {
        let mut throttle = Throttle::new(Duration::from_ms(10), 3);
        let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
        let taken = (0..5).filter(|_| throttle.take(at(100))).count();
        assert_eq!((taken, throttle.next()), (3, at(110)));
        assert!(throttle.take(at(110)) && !throttle.take(at(119)));
        // Unused credit does not accumulate.
        assert_eq!((0..9).filter(|_| throttle.take(at(1000))).count(), 3);
    }
}
