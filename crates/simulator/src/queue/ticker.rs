//! The clock of queues that work in periods.

use layercast_core::units::{Duration, Time};

/// Yields the updates of a periodic rule that have become due since the last operation. Update number n is
/// at n periods; an update at the instant of an operation precedes it.
#[derive(Debug)]
pub(super) struct Ticker {
    period: Duration,
    next: Time,
}

impl Ticker {
    /// A period of zero would never advance; it counts as a nanosecond.
    pub(super) fn new(period: Duration) -> Ticker {
        let period = period.max(Duration::from_ns(1));
        Ticker { period, next: Time::ZERO + period }
    }

    /// The time of the next update that is due, once.
    pub(super) fn due(&mut self, now: Time) -> Option<Time> {
        let at = self.next;
        (at <= now).then(|| {
            self.next = at + self.period;
            at
        })
    }

    /// Skips all updates up to now: for states that updates no longer change.
    pub(super) fn skip(&mut self, now: Time) {
        if self.next <= now {
            let missed = now.since(self.next).as_ns() / self.period.as_ns() + 1;
            self.next += Duration::from_ns(missed * self.period.as_ns());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_is_the_same_as_taking_every_update() {
        let at = Time::from_ns;
        for now in [0, 9, 10, 11, 20, 35, 1000] {
            let mut taken = Ticker::new(Duration::from_ns(10));
            let mut skipped = Ticker::new(Duration::from_ns(10));
            while taken.due(at(now)).is_some() {}
            skipped.skip(at(now));
            assert_eq!(taken.next, skipped.next, "{now}");
        }
    }
}
