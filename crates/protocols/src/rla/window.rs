//! The window at the source.

use super::options::Options;
use layercast_core::units::{Duration, Time};

/// The congestion window with its mean.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    window: f64,
    /// Slow start threshold: below it the window grows by one with each packet.
    threshold: f64,
    mean: f64,
    last_cut: Time,
    most: f64,
    mean_weight: f64,
}

impl Window {
    pub(crate) fn new(options: &Options) -> Window {
        Window {
            window: 1.0,
            threshold: options.most_window,
            mean: 1.0,
            last_cut: Time::ZERO,
            most: options.most_window,
            mean_weight: options.mean_weight,
        }
    }

    /// In packets, at least 1.
    pub(crate) fn packets(&self) -> f64 {
        self.window
    }

    /// Packets that all have acknowledged. The window grows if it was `used`.
    pub(crate) fn on_acknowledged(&mut self, count: u64, used: bool) {
        for _ in 0..count {
            if used {
                let more = if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
                self.window = (self.window + more).min(self.most);
            }
            self.mean += self.mean_weight * (self.window - self.mean);
        }
    }

    /// The window is halved.
    pub(crate) fn cut(&mut self, now: Time) {
        self.window = (self.window / 2.0).max(1.0);
        self.threshold = self.window;
        self.last_cut = now;
    }

    /// Whether the last reduction is so long ago that the source listens to the next signal with certainty.
    pub(crate) fn is_cut_due(&self, now: Time, rtt: Duration, windows: f64) -> bool {
        now.since(self.last_cut) > rtt.scaled(windows * self.mean)
    }

    /// No report arrived for too long.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        self.threshold = (self.window / 2.0).max(2.0);
        self.window = 1.0;
        self.last_cut = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_with_each_packet_until_the_first_cut_and_then_slowly() {
        let mut window = Window::new(&Options::default());
        window.on_acknowledged(15, true);
        assert_eq!(window.packets(), 16.0);
        window.on_acknowledged(5, false);
        assert_eq!(window.packets(), 16.0, "not used");
        window.cut(Time::ZERO);
        window.on_acknowledged(1, true);
        assert_eq!(window.packets(), 8.125);
        window.on_timeout(Time::ZERO);
        window.on_acknowledged(3, true);
        assert_eq!(window.packets(), 4.0);
        window.on_acknowledged(2, true);
        assert!(window.packets() > 5.0 && window.packets() < 5.3, "{}", window.packets());
    }

    #[test]
    fn the_mean_follows_and_decides_when_a_cut_is_sure() {
        let mut window = Window::new(&Options { most_window: 10.0, ..Options::default() });
        window.on_acknowledged(1000, true);
        assert!((window.mean - 10.0).abs() < 1e-6 && window.packets() == 10.0);
        let rtt = Duration::from_ms(100);
        let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
        assert!(!window.is_cut_due(at(1990), rtt, 2.0) && window.is_cut_due(at(2010), rtt, 2.0));
        window.cut(at(2010));
        assert!(!window.is_cut_due(at(3000), rtt, 2.0));
    }
}
