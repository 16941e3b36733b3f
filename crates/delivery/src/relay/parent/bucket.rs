//! How often something may happen.

use layercast_core::units::Time;

/// A token bucket that holds the tokens of one second.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    per_s: u32,
    /// In nanoseconds of time, of which `1e9 / per_s` are a token.
    saved_ns: u64,
    filled: Time,
}

const SECOND_NS: u64 = 1_000_000_000;

impl Bucket {
    /// A full one.
    pub(super) fn new(per_s: u32) -> Bucket {
        Bucket { per_s: per_s.max(1), saved_ns: SECOND_NS, filled: Time::ZERO }
    }

    /// Takes a token, if there is one.
    pub(super) fn take(&mut self, now: Time) -> bool {
        let passed = now.since(self.filled).as_ns();
        self.filled = self.filled.max(now);
        self.saved_ns = self.saved_ns.saturating_add(passed).min(SECOND_NS);
        let token = SECOND_NS / u64::from(self.per_s);
        match self.saved_ns.checked_sub(token) {
            Some(left) => {
                self.saved_ns = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Duration;

    #[test]
    fn it_gives_its_rate_and_no_more_than_a_second_of_it_at_once() {
        let mut bucket = Bucket::new(10);
        let mut given = |at: Time| (0..100).filter(|_| bucket.take(at)).count();
        assert_eq!(given(Time::ZERO), 10);
        assert_eq!(given(Time::ZERO + Duration::from_ms(500)), 5);
        assert_eq!(given(Time::ZERO + Duration::from_secs(9)), 10);
    }
}
