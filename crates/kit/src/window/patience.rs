//! How long a source waits for reports before it treats the silence as congestion.

use layercast_core::units::{Duration, Time};

/// The maximum wait after any number of doublings.
const LONGEST: Duration = Duration::from_secs(64);

/// The wait for the next report: twice the round-trip time, or a minimum, doubled with each timeout. It
/// runs only while a report is expected.
#[derive(Clone, Debug)]
pub struct Patience {
    least: Duration,
    /// The number of consecutive timeouts.
    in_vain: u32,
    due: Option<Time>,
}

impl Patience {
    /// Patience of at least `least`.
    pub fn new(least: Duration) -> Patience {
        Patience { least, in_vain: 0, due: None }
    }

    /// The first wait at this round-trip time.
    pub fn once(&self, rtt: Option<Duration>) -> Duration {
        rtt.map_or(self.least, |rtt| (rtt * 2).max(self.least))
    }

    fn wait(&self, rtt: Option<Duration>) -> Duration {
        let once = self.once(rtt);
        (once * (1 << self.in_vain.min(16))).min(LONGEST.max(once))
    }

    /// A report arrived: the wait restarts if more are expected.
    pub fn on_news(&mut self, now: Time, rtt: Option<Duration>, awaits: bool) {
        self.in_vain = 0;
        self.due = awaits.then(|| now + self.wait(rtt));
    }

    /// A packet that requires a report was sent: starts the wait if it is not running.
    pub fn on_sent(&mut self, now: Time, rtt: Option<Duration>) {
        if self.due.is_none() {
            self.due = Some(now + self.wait(rtt));
        }
    }

    /// Whether the wait has timed out. It then stops until a packet is sent.
    pub fn take_due(&mut self, now: Time) -> bool {
        let is_due = self.due.is_some_and(|due| due <= now);
        if is_due {
            self.in_vain += 1;
            self.due = None;
        }
        is_due
    }

    /// The number of consecutive timeouts.
    pub fn in_vain(&self) -> u32 {
        self.in_vain
    }

    /// No receiver is waited for any more: resets the doubling.
    pub fn forgive(&mut self) {
        self.in_vain = 0;
    }

    /// When the wait ends.
    pub fn due(&self) -> Option<Time> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_until_news_comes() {
        let mut patience = Patience::new(Duration::from_secs(1));
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        for _ in 0..9 {
            patience.on_sent(now, None);
            let due = patience.due().unwrap();
            waits.push(due.since(now).as_us() / 1_000_000);
            assert!(!patience.take_due(due - Duration::from_us(1)) && patience.take_due(due));
            now = due;
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
        patience.on_news(now, Some(Duration::from_secs(3)), true);
        assert_eq!(patience.due(), Some(now + Duration::from_secs(6)));
        patience.on_news(now, None, false);
        assert_eq!(patience.due(), None);
    }

    use std::vec::Vec;
}
