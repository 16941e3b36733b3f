//! The queueing delay: one-way delays above the smallest one of the last half minute or minute.

use layercast_core::units::{Duration, Time};
use layercast_kit::estimator::SendTime;

/// How long a minimum is looked for.
const WINDOW: Duration = Duration::from_secs(30);

/// The weight of a packet in the mean.
const WEIGHT: f64 = 1.0 / 32.0;

/// One-way delays and what of them is queueing.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueDelay {
    /// The smallest delays of the last window and of this one, in microseconds on two clocks.
    smallest: Option<(i64, i64)>,
    window_began: Time,
    /// Of the last packet, in seconds.
    last_s: f64,
    mean_s: f64,
    /// Since they were taken last.
    lowest_s: f64,
    highest_s: f64,
}

impl QueueDelay {
    /// A packet that was sent at `sent` arrived.
    pub fn on_packet(&mut self, sent: SendTime, now: Time) {
        let delay = SendTime::from(now).as_us() as i64 - sent.as_us() as i64;
        let (before, present) = match self.smallest {
            None => {
                self.window_began = now;
                self.lowest_s = f64::INFINITY;
                (delay, delay)
            }
            Some((_, present)) if now.since(self.window_began) >= WINDOW => {
                self.window_began = now;
                (present, delay)
            }
            Some((before, present)) => (before, present.min(delay)),
        };
        self.smallest = Some((before, present));
        self.last_s = (delay - before.min(present)) as f64 * 1e-6;
        self.mean_s += WEIGHT * (self.last_s - self.mean_s);
        self.lowest_s = self.lowest_s.min(self.last_s);
        self.highest_s = self.highest_s.max(self.last_s);
    }

    /// The source's clock has restarted.
    pub fn restart(&mut self) {
        *self = QueueDelay::default();
    }

    /// Of the last packet, in seconds.
    pub fn last_s(&self) -> f64 {
        self.last_s
    }

    /// The moving mean, in seconds.
    pub fn mean_s(&self) -> f64 {
        self.mean_s
    }

    /// The smallest since the last call, in seconds: a standing queue.
    pub fn take_lowest_s(&mut self) -> f64 {
        core::mem::replace(&mut self.lowest_s, f64::INFINITY)
    }

    /// The largest since the last call, in seconds.
    pub fn take_highest_s(&mut self) -> f64 {
        core::mem::take(&mut self.highest_s)
    }
}
