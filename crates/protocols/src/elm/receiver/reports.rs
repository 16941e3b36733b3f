//! When a receiver reports (thesis 6.2.3).

use crate::elm::options::Options;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

/// The bounds within which an announced interval is accepted (docs/protocols/elm.md).
const PLAUSIBLE: (Duration, Duration) = (Duration::from_ms(10), Duration::from_secs(3600));

/// The schedule of a receiver's reports.
#[derive(Clone, Debug)]
pub(super) struct ReportSchedule {
    interval: Duration,
    jitter: (f64, f64),
    first_spread: Duration,
    floor: Duration,
    robust: bool,
    last_sent: Option<Time>,
    factor: f64,
}

impl ReportSchedule {
    pub(super) fn new(options: &Options) -> ReportSchedule {
        ReportSchedule {
            interval: options.t_fb_initial,
            jitter: (options.feedback_jitter_low, options.feedback_jitter_high),
            first_spread: options.first_report_spread,
            floor: options.report_floor,
            robust: options.robust_feedback,
            last_sent: None,
            factor: 1.0,
        }
    }

    /// The interval in force.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Accepts the interval that a packet announces, clamped to the bounds, and at most doubled by one
    /// packet. Returns a new deadline if the running timer changes.
    pub(super) fn announced(&mut self, interval_ms: u32) -> Option<Time> {
        let announced = Duration::from_ms(u64::from(interval_ms));
        if announced == self.interval {
            return None;
        }
        self.interval = announced.min(self.interval * 2).clamp(PLAUSIBLE.0, PLAUSIBLE.1);
        let last_sent = self.last_sent.filter(|_| self.robust)?;
        Some(last_sent + self.interval.scaled(self.factor).max(self.floor))
    }

    /// When the first report is due.
    pub(super) fn first(&mut self, now: Time, stream: &mut Stream) -> Time {
        now + stream.uniform_duration(self.interval.min(self.first_spread))
    }

    /// A report was sent: when the next one is due.
    pub(super) fn sent(&mut self, now: Time, stream: &mut Stream) -> Time {
        self.last_sent = Some(now);
        self.factor = stream.uniform_in(self.jitter.0, self.jitter.1);
        now + self.interval.scaled(self.factor).max(self.floor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_interval_is_clamped_and_grows_slowly() {
        let mut schedule = ReportSchedule::new(&Options::default());
        schedule.announced(u32::MAX);
        assert_eq!(schedule.interval(), Duration::from_secs(2));
        for _ in 0..20 {
            schedule.announced(u32::MAX);
        }
        assert_eq!(schedule.interval(), Duration::from_secs(3600));
        schedule.announced(0);
        assert_eq!(schedule.interval(), Duration::from_ms(10));
    }

    #[test]
    fn reports_keep_their_own_floor_and_are_jittered() {
        let mut stream = Stream::new(1, "reports");
        let mut schedule = ReportSchedule::new(&Options::default());
        let times: std::vec::Vec<_> = (0..100).map(|_| schedule.sent(Time::ZERO, &mut stream)).collect();
        assert!(times.iter().all(|&at| at >= Time::from_secs_f64(0.5) && at < Time::from_secs_f64(1.5)));
        assert!(times.windows(2).any(|pair| pair[0] != pair[1]));
        schedule.announced(10);
        assert_eq!(schedule.sent(Time::ZERO, &mut stream), Time::from_secs_f64(0.1));
    }

    #[test]
    fn a_robust_schedule_moves_the_running_timer() {
        let mut stream = Stream::new(1, "reports");
        let options = Options { robust_feedback: true, ..Options::default() };
        let mut schedule = ReportSchedule::new(&options);
        let due = schedule.sent(Time::ZERO, &mut stream);
        let moved = schedule.announced(500).expect("it moves");
        assert_eq!(moved.as_ns() / 1000, due.as_ns() / 2000);
    }
}
