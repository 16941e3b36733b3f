//! When the next attempt may be made (reconstruction: 1 s after a failure, doubling to 64 s).

use layercast_core::units::{Duration, Time};

/// The back-off between attempts: the wait doubles after each failure.
#[derive(Clone, Debug)]
pub(super) struct BackOff {
    least: Duration,
    most: Duration,
    wait: Duration,
    until: Time,
    /// When the newest layer was joined, while it is not known to last.
    joined: Option<Time>,
}

impl BackOff {
    pub(super) fn new(least: Duration, most: Duration) -> BackOff {
        BackOff { least, most: most.max(least), wait: least, until: Time::ZERO, joined: None }
    }

    /// Whether an attempt may be made.
    pub(super) fn is_over(&self, now: Time) -> bool {
        now >= self.until
    }

    /// An attempt failed.
    pub(super) fn failed(&mut self, now: Time) {
        self.until = now + self.wait;
        self.wait = (self.wait * 2).min(self.most);
    }

    /// A layer was joined.
    pub(super) fn joined(&mut self, now: Time) {
        self.resolve(now);
        self.joined = Some(now);
    }

    /// A layer was left. Returns whether it was held so briefly that the join counts as a failure.
    pub(super) fn left(&mut self, now: Time) -> bool {
        self.resolve(now);
        let soon = self.joined.take().is_some();
        if soon {
            self.failed(now);
        } else {
            self.until = now + self.least;
        }
        soon
    }

    /// A layer that was kept for the longest wait ends the doubling.
    fn resolve(&mut self, now: Time) {
        if self.joined.is_some_and(|joined| now.since(joined) >= self.most) {
            self.joined = None;
            self.wait = self.least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::ZERO + Duration::from_secs(s)
    }

    fn back_off() -> BackOff {
        BackOff::new(Duration::from_secs(1), Duration::from_secs(64))
    }

    /// How long after `now` an attempt may be made.
    fn waits(back_off: &BackOff, now: u64) -> u64 {
        (0..1000).find(|&s| back_off.is_over(at(now + s))).unwrap()
    }

    #[test]
    fn each_failure_doubles_the_wait_up_to_the_most() {
        let mut back_off = back_off();
        let mut seen = [0; 9];
        for wait in &mut seen {
            back_off.failed(at(100));
            *wait = waits(&back_off, 100);
        }
        assert_eq!(seen, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
    }

    #[test]
    fn a_layer_that_lasts_ends_the_doubling_and_one_that_does_not_is_a_failure() {
        let mut back_off = back_off();
        back_off.failed(at(0));
        back_off.failed(at(10));
        back_off.joined(at(20));
        assert!(back_off.left(at(83)));
        assert_eq!(waits(&back_off, 83), 4);
        back_off.joined(at(100));
        assert!(!back_off.left(at(164)));
        assert_eq!(waits(&back_off, 164), 1);
        back_off.failed(at(200));
        assert_eq!(waits(&back_off, 200), 1);
    }
}
