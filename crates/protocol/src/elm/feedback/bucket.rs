//! A token bucket.

use crate::units::Time;

/// Lets so many things through per second, and as many at once.
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

    /// Takes a token if there is one.
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
