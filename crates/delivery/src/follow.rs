//! When a receiver gives a session up for another one of its group, such as that of a source that was restarted.

use layercast_core::units::{Duration, Time};

/// How long a session must be silent, while packets of another one arrive, before that is followed: longer than the
/// gaps of a source that has little to send, and of a short outage.
const SILENT: Duration = Duration::from_secs(2);

/// What a receiver has heard of its session and of others.
#[derive(Clone, Copy, Debug)]
pub struct Following {
    last_own: Time,
    last_other: Option<Time>,
}

impl Following {
    /// A session was found now.
    pub fn new(now: Time) -> Following {
        Following { last_own: now, last_other: None }
    }

    /// A packet of the session arrived.
    pub fn own(&mut self, now: Time) {
        self.last_own = now;
    }

    /// A packet of another session arrived on a channel of this one.
    pub fn other(&mut self, now: Time) {
        self.last_other = Some(now);
    }

    /// How long the session has been silent.
    pub fn silent_for(&self, now: Time) -> Duration {
        now.since(self.last_own)
    }

    /// Whether the session is silent and another one is not: the receiver should search again.
    pub fn is_lost(&self, now: Time) -> bool {
        self.silent_for(now) >= SILENT && self.last_other.is_some_and(|at| now.since(at) < SILENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_session_is_left_only_for_one_that_is_not() {
        let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
        let mut following = Following::new(at(0));
        assert!(!following.is_lost(at(60_000)));
        following.other(at(1000));
        assert!(!following.is_lost(at(1900)) && following.is_lost(at(2500)) && !following.is_lost(at(3500)));
        following.other(at(3500));
        following.own(at(3600));
        assert!(!following.is_lost(at(3700)));
        assert_eq!(following.silent_for(at(4600)), Duration::from_secs(1));
    }
}
