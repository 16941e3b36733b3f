//! What the source has learnt from reports, and how they change its rate (report, section 4.6).

use crate::amca::dyram::UNKNOWN_WINDOW;
use crate::amca::estimates::{Summary, backlog, packets_per_report, unacknowledged};
use crate::amca::{Control, IgnoreRule, Options, Phase, Profile, Step};
use layercast_core::units::{Duration, Rate, Size, Time};

/// The state between reports.
#[derive(Clone, Debug)]
pub(super) struct Feedback {
    profile: Profile,
    ignore: IgnoreRule,
    is_bounded: bool,
    every: u32,
    interval: Duration,
    size: Size,
    /// Packets first sent since the last report that counted.
    sent_since: u64,
    below: Option<u64>,
    period: Option<Duration>,
    longest: Option<Duration>,
    shortest: Option<Duration>,
    /// The round-trip time of the empty path: the minimum of the largest ones reported.
    base: Option<Duration>,
    /// The round-trip time of the empty path as an option says it.
    known_base: Option<Duration>,
    drain_every: Duration,
    /// When the rate is halved next, and the rate before while it is.
    drains_at: Option<Time>,
    rate_before: Option<Rate>,
    /// How often children had come or gone when `base` was started.
    changes: u64,
    /// Packets first sent since the last message from below.
    sent_since_message: u64,
}

impl Feedback {
    pub(super) fn new(options: &Options, size: Size) -> Feedback {
        Feedback {
            profile: options.profile,
            ignore: options.ignore_rule(),
            is_bounded: options.is_bounded(),
            every: options.report_every,
            interval: options.cr_max_interval,
            size,
            sent_since: 0,
            below: None,
            period: None,
            longest: None,
            shortest: None,
            base: None,
            known_base: Some(options.known_base).filter(|&known| known > Duration::ZERO),
            drain_every: options.drain_every,
            drains_at: None,
            rate_before: None,
            changes: 0,
            sent_since_message: 0,
        }
    }

    /// A new packet leaves.
    pub(super) fn on_new(&mut self) {
        self.sent_since += 1;
        self.sent_since_message += 1;
    }

    /// A message came from below.
    pub(super) fn on_message(&mut self) {
        self.sent_since_message = 0;
    }

    /// How often children have come or gone: with each change the path is a different one.
    pub(super) fn on_children(&mut self, changes: u64) {
        if core::mem::replace(&mut self.changes, changes) != changes {
            self.base = None;
        }
    }

    /// All children have left.
    pub(super) fn on_no_children(&mut self) {
        (self.longest, self.shortest, self.base) = (None, None, None);
    }

    /// The round-trip time of the empty path, as far as it is known.
    pub(super) fn base(&self) -> Option<Duration> {
        self.known_base.or(self.base)
    }

    /// The largest round-trip time, if one is known.
    pub(super) fn longest(&self) -> Option<Duration> {
        self.longest
    }

    /// How long a repair and its effects take.
    pub(super) fn repair_time(&self) -> Duration {
        self.longest.unwrap_or(UNKNOWN_WINDOW)
    }

    /// How long NACKs are ignored after the rate was halved.
    pub(super) fn ignore(&self) -> Duration {
        let longest = self.longest.unwrap_or(UNKNOWN_WINDOW);
        match self.ignore {
            IgnoreRule::RoundTrip => longest,
            IgnoreRule::Difference => longest.saturating_sub(self.shortest.unwrap_or(longest)),
        }
    }

    /// The expected time between reports at this rate.
    pub(super) fn expected_period(&self, rate: Rate) -> Duration {
        let bits = self.size.as_bits().max(1) as f64;
        let packets = match self.profile {
            Profile::Literal => self.every,
            _ => packets_per_report(self.every, rate.as_bps(), bits, self.interval.as_secs_f64()),
        };
        rate.time_to_send(self.size) * u64::from(packets)
    }

    /// How long without messages counts as severe congestion.
    pub(super) fn patience(&self, rate: Rate) -> Duration {
        let period = self.period.unwrap_or_else(|| self.expected_period(rate));
        (period * 2).max(self.repair_time() * 2)
    }

    /// Whether silence means congestion: a source that sends nothing expects no messages.
    pub(super) fn is_severe(&self) -> bool {
        self.sent_since_message > 0
    }

    /// Passes the aggregate of the children's reports to the rate control. The next new packet is `next`.
    pub(super) fn on_summary(&mut self, now: Time, summary: &Summary, next: u64, control: &mut Control) {
        let known_us = |us: u32| (us > 0).then(|| Duration::from_us(u64::from(us)));
        if let Some(longest) = known_us(summary.rtt_max_us) {
            self.longest = Some(longest);
            self.base = Some(self.base.map_or(longest, |base| base.min(longest)));
        }
        self.shortest = known_us(summary.rtt_min_us).or(self.shortest);
        self.period = known_us(summary.period_us);
        let bits = control.rules().packet_bits;
        let advance = summary.below as i64 - self.below.unwrap_or(0) as i64;
        let unacknowledged = match self.profile {
            Profile::Literal => unacknowledged(u64::from(summary.count), advance),
            Profile::Count => unacknowledged(self.sent_since, advance),
            Profile::Backlog => self.base().map_or(0.0, |base| {
                let outstanding = next.saturating_sub(summary.below);
                backlog(outstanding, control.rate().as_bps(), base.as_secs_f64(), bits)
            }),
        };
        let step = Step {
            period_s: f64::from(summary.period_us) / 1e6,
            rtt_var_s: summary.rtt_var_us as f64 / 1e6,
            unacknowledged,
            received_bps: self
                .is_bounded
                .then(|| f64::from(summary.count) * bits * 1e6 / f64::from(summary.period_us.max(1))),
            rtt_max_s: known_us(summary.rtt_max_us).map(Duration::as_secs_f64),
            is_marked: summary.is_marked,
        };
        if self.is_draining(now, control) {
            // The report describes the halved rate.
            (self.sent_since, self.below) = (0, Some(summary.below));
            return;
        }
        control.on_report(now, step);
        (self.sent_since, self.below) = (0, Some(summary.below));
    }

    /// Whether this report belongs to a drain: the one that begins it and the one that ends it. Between them the
    /// rate is half of what it was.
    fn is_draining(&mut self, now: Time, control: &mut Control) -> bool {
        let before = self.rate_before.take();
        if self.drain_every == Duration::ZERO || control.phase() == Phase::SlowStart {
            return false;
        }
        if let Some(before) = before {
            // A loss meanwhile has halved the rate once more, and that stays.
            control.set((control.rate().as_bps() * 2.0).min(before.as_bps()));
            return true;
        }
        let begins = self.drains_at.is_some_and(|at| now >= at);
        if begins {
            self.rate_before = Some(control.rate());
            control.set(control.rate().as_bps() / 2.0);
        }
        if begins || self.drains_at.is_none() {
            self.drains_at = Some(now + self.drain_every);
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amca::Rules;
    use alloc::vec::Vec;

    const SIZE: Size = Size::from_bytes(1024);

    fn summary(rtt_ms: u32) -> Summary {
        Summary {
            below: 0,
            end: 0,
            limit: 100,
            rtt_max_us: rtt_ms * 1000,
            rtt_min_us: rtt_ms * 1000,
            period_us: 1_000_000,
            rtt_var_us: 0,
            count: 32,
            is_marked: false,
        }
    }

    /// A source in avoidance at 800 kbit/s.
    fn control(options: &Options) -> Control {
        let mut control = Control::new(Rules::new(options, SIZE)).at_rate(Rate::from_kbps(800.0));
        control.on_nack(Time::ZERO, 0, Duration::ZERO);
        control
    }

    #[test]
    fn a_known_path_takes_the_place_of_the_smallest_round_trip_time() {
        let known = Duration::from_ms(60);
        for (options, base) in [
            (Options::default(), Duration::from_ms(110)),
            (Options { known_base: known, ..Options::default() }, known),
        ] {
            let mut feedback = Feedback::new(&options, SIZE);
            feedback.on_summary(Time::ZERO, &summary(120), 0, &mut control(&options));
            feedback.on_summary(Time::ZERO, &summary(110), 0, &mut control(&options));
            assert_eq!(feedback.base(), Some(base));
        }
    }

    #[test]
    fn a_drain_halves_the_rate_for_one_report() {
        let options = Options { drain_every: Duration::from_secs(10), ..Options::default() };
        let (mut feedback, mut control) = (Feedback::new(&options, SIZE), control(&options));
        let mut rates = Vec::new();
        for second in 0..14 {
            let now = Time::ZERO + Duration::from_secs(second);
            feedback.on_summary(now, &summary(100), 0, &mut control);
            rates.push(control.rate().as_kbps());
        }
        assert!((rates[10] - rates[9] / 2.0).abs() < 1e-6, "{rates:?}");
        assert!((rates[11] - rates[9]).abs() < 1e-6, "{rates:?}");
        let drains = rates.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert_eq!(drains, 1, "{rates:?}");
    }
}
