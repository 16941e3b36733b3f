//! The source's window: NewReno (RFC 6582) on the acknowledgements of the nominee.
//!
//! Repairs come from any node that has the packet, so the window only counts: it never says what to retransmit.

use super::Options;
use layercast_core::units::{Duration, Seq, Time};

/// How many acknowledgements without progress indicate a loss (RFC 5681, section 3.2).
const DUPLICATES: u32 = 3;
/// The largest retransmission timeout (RFC 6298, section 2.5: at least 60 s).
const MAX_RTO: Duration = Duration::from_secs(60);

/// The congestion window and the state of the nominee.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The window in packets.
    size: f64,
    threshold: f64,
    most: f64,
    /// How many packets from the beginning the nominee has.
    complete: Seq,
    /// Packets sent before this one count as no longer in flight.
    base: Seq,
    duplicates: u32,
    recovering: bool,
    /// A loss below this number causes no cut: it was answered already, or belongs to a former nominee.
    recover: Seq,
    rtt: Option<(Duration, Duration)>,
    min_rto: Duration,
    backoff: u32,
    expires: Option<Time>,
}

impl Window {
    pub(super) fn new(options: &Options) -> Window {
        let most = f64::from(options.max_window);
        Window {
            size: 1.0,
            threshold: most,
            most,
            complete: Seq(0),
            base: Seq(0),
            duplicates: 0,
            recovering: false,
            recover: Seq(0),
            rtt: None,
            min_rto: options.min_rto,
            backoff: 0,
            expires: None,
        }
    }

    /// The window in packets.
    pub(super) fn size(&self) -> f64 {
        self.size
    }

    /// The smoothed round-trip time of acknowledgements.
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt.map(|(smoothed, _)| smoothed)
    }

    /// Whether one more packet may be in flight when `next` is the number of the next new one.
    pub(super) fn allows(&self, next: Seq) -> bool {
        let flight = next.0.saturating_sub(self.complete.max(self.base).0);
        (flight as f64) < layercast_core::math::floor(self.size)
    }

    /// When the retransmission timer expires.
    pub(super) fn expires(&self) -> Option<Time> {
        self.expires
    }

    /// A new packet was sent.
    pub(super) fn sent(&mut self, now: Time) {
        if self.expires.is_none() {
            self.expires = Some(now + self.rto());
        }
    }

    /// The first receiver is nominated: packets sent before do not count as in flight.
    pub(super) fn begin(&mut self, next: Seq) {
        self.base = next;
    }

    /// Another receiver is nominated, which has `complete` packets. The window stays, and losses of packets
    /// that were sent before `next` do not count.
    pub(super) fn change_nominee(&mut self, complete: Seq, next: Seq, now: Time) {
        self.base = self.base.max(self.complete);
        (self.complete, self.recover) = (complete, next);
        (self.duplicates, self.backoff) = (0, 0);
        if self.recovering {
            self.size = self.threshold;
        }
        self.recovering = false;
        self.expires = Some(now + self.rto());
    }

    /// An acknowledgement by the nominee of a packet that was sent at `echo`.
    pub(super) fn acknowledge(&mut self, complete: Seq, next: Seq, echo: Time, now: Time) {
        self.on_rtt_sample(now.since(echo));
        self.backoff = 0;
        self.expires = (complete < next).then(|| now + self.rto());
        if complete > self.complete {
            let gained = (complete.0 - self.complete.0) as f64;
            self.complete = complete;
            self.duplicates = 0;
            if self.recovering && complete < self.recover {
                // A partial acknowledgement deflates by what has left, and adds one.
                self.size = (self.size - gained + 1.0).max(1.0);
            } else if self.recovering {
                self.recovering = false;
                self.size = self.threshold;
            } else if self.size < self.threshold {
                self.size = (self.size + gained.min(1.0)).min(self.most);
            } else {
                self.size = (self.size + 1.0 / self.size).min(self.most);
            }
        } else if self.recovering {
            self.size = (self.size + 1.0).min(self.most);
        } else if complete >= self.recover {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                let flight = next.0.saturating_sub(complete.0) as f64;
                self.threshold = (flight.min(self.size) / 2.0).max(2.0);
                self.size = self.threshold + f64::from(DUPLICATES);
                (self.recovering, self.recover) = (true, next);
            }
        }
    }

    /// The retransmission timer has expired: nothing counts as in flight.
    pub(super) fn expire(&mut self, next: Seq, now: Time) {
        self.threshold = (self.size / 2.0).max(2.0);
        self.size = 1.0;
        (self.recovering, self.recover, self.base) = (false, next, next);
        self.duplicates = 0;
        self.backoff = (self.backoff + 1).min(6);
        self.expires = Some(now + self.rto());
    }

    /// Stops the timer.
    pub(super) fn stop(&mut self) {
        self.expires = None;
    }

    /// RFC 6298, section 2.
    fn on_rtt_sample(&mut self, sample: Duration) {
        self.rtt = Some(match self.rtt {
            None => (sample, sample.scaled(0.5)),
            Some((smoothed, deviation)) => {
                let error = smoothed.saturating_sub(sample).max(sample.saturating_sub(smoothed));
                (smoothed.scaled(0.875) + sample.scaled(0.125), deviation.scaled(0.75) + error.scaled(0.25))
            }
        });
    }

    fn rto(&self) -> Duration {
        let measured = self.rtt.map_or(self.min_rto, |(smoothed, deviation)| smoothed + deviation * 4);
        (measured.max(self.min_rto) * (1u64 << self.backoff)).min(MAX_RTO.max(self.min_rto))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// A window after slow start to eight packets: 0 to 7 are acknowledged, 8 to 15 in flight.
    fn grown() -> Window {
        let mut window = Window::new(&Options::default());
        assert!(window.allows(Seq(0)) && !window.allows(Seq(1)));
        (1..8).for_each(|number| window.acknowledge(Seq(number), Seq(16), at(0), at(100)));
        assert_eq!(window.size(), 8.0);
        window.acknowledge(Seq(8), Seq(16), at(0), at(100));
        window
    }

    #[test]
    fn a_loss_halves_the_window_once_in_a_window() {
        let mut window = grown();
        (0..3).for_each(|_| window.acknowledge(Seq(8), Seq(17), at(100), at(200)));
        assert_eq!(window.size(), 7.5, "half of nine, and three that have left");
        (0..5).for_each(|_| window.acknowledge(Seq(8), Seq(17), at(100), at(200)));
        window.acknowledge(Seq(17), Seq(19), at(200), at(300));
        assert_eq!(window.size(), 4.5);
    }

    #[test]
    fn what_a_new_nominee_lost_before_does_not_count() {
        let mut window = grown();
        window.change_nominee(Seq(3), Seq(17), at(300));
        (0..9).for_each(|_| window.acknowledge(Seq(3), Seq(17), at(300), at(400)));
        assert_eq!(window.size(), 9.0);
        window.acknowledge(Seq(17), Seq(20), at(300), at(400));
        (0..3).for_each(|_| window.acknowledge(Seq(17), Seq(20), at(300), at(400)));
        assert!(window.size() < 9.0, "but later ones do: {}", window.size());
    }

    #[test]
    fn silence_brings_the_window_down_and_doubles_the_timer() {
        let mut window = grown();
        let first = window.expires().unwrap();
        assert_eq!(first, at(1100), "at least a second");
        window.expire(Seq(16), first);
        assert_eq!((window.size(), window.expires()), (1.0, Some(first + Duration::from_secs(2))));
        assert!(window.allows(Seq(16)) && !window.allows(Seq(17)), "one packet probes the path");
    }
}
