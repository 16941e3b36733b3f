//! Feedback to a source: identifiers of receivers, a rate limit on answers, time stamps to be echoed.

mod echo;

pub use echo::{Echo, EchoQueue, Waiting};

use core::num::NonZeroU64;

use layercast_core::units::Time;

/// A receiver's number, drawn at random when it starts. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverId(pub NonZeroU64);

/// A token bucket: passes a number of events per second, and as many in a burst.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    per_s: f64,
    tokens: f64,
    filled_at: Time,
}

impl TokenBucket {
    /// A full bucket of `per_s` tokens, at least one.
    pub fn new(per_s: f64, now: Time) -> TokenBucket {
        let per_s = per_s.max(1.0);
        TokenBucket { per_s, tokens: per_s, filled_at: now }
    }

    /// Takes a token if one is available.
    pub fn take(&mut self, now: Time) -> bool {
        self.tokens = (self.tokens + now.since(self.filled_at).as_secs_f64() * self.per_s).min(self.per_s);
        self.filled_at = now;
        let allowed = self.tokens >= 1.0;
        if allowed {
            self.tokens -= 1.0;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Duration;

    #[test]
    fn a_flood_is_let_through_at_the_bucket_s_rate() {
        let mut bucket = TokenBucket::new(10.0, Time::ZERO);
        let passed = (0..10_000).filter(|&ms| bucket.take(Time::ZERO + Duration::from_ms(ms))).count();
        assert!((100..=110).contains(&passed), "{passed}");
    }
}
