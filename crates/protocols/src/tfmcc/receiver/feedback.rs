//! When a receiver that does not limit the rate reports (RFC 4654, section 4.5).

use crate::tfmcc::options::Options;
use crate::tfmcc::rules::{biased_delay, feedback_delay, hold_back, is_suppressed};
use layercast_core::units::{Duration, Time};

/// The state of a receiver and of the round when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// The rate it asks for now, in byte/s.
    pub(super) asked: f64,
    /// The rate at which the source sends, in byte/s.
    pub(super) sent: f64,
    /// Whether it has had a loss; before that it asks for twice the receive rate.
    pub(super) has_loss: bool,
    /// Its round-trip time.
    pub(super) rtt: Duration,
    /// The session's largest one.
    pub(super) max_rtt: Duration,
    /// The lowest rate reported in the round, in byte/s, if any.
    pub(super) suppression: Option<f64>,
}

/// The timer of a receiver in the present feedback round.
#[derive(Clone, Debug)]
pub(super) struct FeedbackTimer {
    group: f64,
    bias: f64,
    part: f64,
    length: f64,
    due: Option<Time>,
    /// The rate asked for when the round began.
    asked_first: f64,
    /// The session's largest round-trip time, as the timer was set for, and the last packet.
    max_rtt: Duration,
    last_packet: Time,
}

impl FeedbackTimer {
    pub(super) fn new(options: &Options) -> FeedbackTimer {
        FeedbackTimer {
            group: f64::from(options.group_bound),
            bias: options.bias,
            part: options.suppression,
            length: options.round_length,
            due: None,
            asked_first: 0.0,
            max_rtt: options.r_max_initial,
            last_packet: Time::ZERO,
        }
    }

    /// A packet of a new round came. `x` is uniform in (0, 1].
    pub(super) fn begin(&mut self, now: Time, x: f64, standing: &Standing) {
        let round_s = standing.max_rtt.as_secs_f64() * self.length;
        let ratio = if standing.sent > 0.0 { standing.asked / standing.sent } else { 1.0 };
        // In slow start the rate asked for is twice the receive rate, which is what counts then.
        let back = if standing.has_loss { hold_back(ratio) } else { (0.5 * ratio).clamp(0.0, 1.0) };
        let delay_s = biased_delay(round_s, feedback_delay(round_s, x, self.group), back, self.bias);
        self.due = Some(now + Duration::from_secs_f64(delay_s));
        self.asked_first = standing.asked;
        (self.max_rtt, self.last_packet) = (standing.max_rtt, now);
    }

    /// Another packet of the round came: moves or cancels the timer.
    pub(super) fn on_packet(&mut self, now: Time, standing: &Standing) {
        let excess = now.since(self.last_packet).saturating_sub(self.max_rtt);
        let old = core::mem::replace(&mut self.max_rtt, standing.max_rtt);
        self.last_packet = now;
        let Some(due) = self.due else { return };
        let left = (due + excess).since(now);
        let ratio = standing.max_rtt.as_secs_f64() / old.as_secs_f64();
        self.due = Some(now + left.scaled(ratio));
        let highest = standing.asked.max(self.asked_first);
        let known = |suppression| is_suppressed(highest, suppression, self.part);
        if standing.suppression.is_some_and(known) && standing.max_rtt >= standing.rtt {
            self.due = None;
        }
    }

    /// No report in this round.
    pub(super) fn cancel(&mut self) {
        self.due = None;
    }

    /// When to report. None while packets stay away for longer than the largest round-trip time: a
    /// receiver that cannot see the others' reports is silent.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.due.filter(|&due| due <= self.last_packet + self.max_rtt)
    }

    /// Whether a report is due. The timer is then spent.
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        let is_due = self.deadline().is_some_and(|at| at <= now);
        if is_due {
            self.due = None;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R_MAX: Duration = Duration::from_ms(500);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn standing(asked: f64) -> Standing {
        let rtt = Duration::from_ms(100);
        Standing { asked, sent: 100.0, has_loss: true, rtt, max_rtt: R_MAX, suppression: None }
    }

    /// A timer that is due after 2.25 of 3 s: half a round by chance, the rest by its rate.
    fn begun(asked: f64) -> FeedbackTimer {
        let mut timer = FeedbackTimer::new(&Options::default());
        timer.begin(at(0), 0.1, &standing(asked));
        timer
    }

    /// Packets every 100 ms up to and including `end`.
    fn feed(timer: &mut FeedbackTimer, from: u64, end: u64, standing: &Standing) {
        for ms in (from..=end).step_by(100) {
            timer.on_packet(at(ms), standing);
        }
    }

    #[test]
    fn lower_rates_report_earlier() {
        let due = |asked| begun(asked).due.unwrap().as_secs_f64();
        let expected = [(90.0, 2.4375), (70.0, 2.0625), (50.0, 1.6875), (10.0, 1.6875)];
        for (asked, expected) in expected {
            assert!((due(asked) - expected).abs() < 1e-6, "{asked}: {}", due(asked));
        }
    }

    #[test]
    fn in_slow_start_the_receive_rate_counts() {
        let mut timer = FeedbackTimer::new(&Options::default());
        timer.begin(at(0), 0.1, &Standing { has_loss: false, ..standing(120.0) });
        assert!((timer.due.unwrap().as_secs_f64() - (0.25 * 0.6 * 3.0 + 0.75 * 2.25)).abs() < 1e-6);
    }

    #[test]
    fn a_report_comes_in_time_while_packets_do() {
        let mut timer = begun(70.0);
        assert_eq!(timer.deadline(), None, "more than a round-trip time away: it waits for packets");
        feed(&mut timer, 100, 2000, &standing(70.0));
        let due = timer.deadline().unwrap();
        assert!(!timer.take_due(at(2062)) && timer.take_due(due) && due <= at(2063));
        assert!(!timer.take_due(at(5000)), "once a round");
    }

    #[test]
    fn a_rate_that_is_not_clearly_lower_than_what_was_reported_is_not() {
        let suppressing = |asked, suppression| Standing { suppression: Some(suppression), ..standing(asked) };
        let cancelled = |timer: &mut FeedbackTimer, standing: &Standing| {
            timer.on_packet(at(100), standing);
            timer.due.is_none()
        };
        assert!(cancelled(&mut begun(91.0), &suppressing(91.0, 100.0)));
        assert!(!cancelled(&mut begun(90.0), &suppressing(90.0, 100.0)));
        // The rate fell during the round: its initial value counts too, else all would report at once.
        assert!(cancelled(&mut begun(91.0), &suppressing(50.0, 100.0)));
        assert!(cancelled(&mut begun(50.0), &suppressing(91.0, 100.0)));
        // A round-trip time above the largest one must be reported.
        let far = Standing { rtt: Duration::from_ms(501), ..suppressing(91.0, 100.0) };
        assert!(!cancelled(&mut begun(91.0), &far));
    }

    #[test]
    fn the_rest_of_the_time_follows_the_largest_round_trip_time() {
        let mut timer = begun(70.0);
        feed(&mut timer, 100, 1000, &standing(70.0));
        timer.on_packet(at(1000), &Standing { max_rtt: Duration::from_ms(1000), ..standing(70.0) });
        assert_eq!(timer.due.unwrap().since(at(1000)), Duration::from_us(2 * 1_062_500));
    }

    #[test]
    fn a_gap_in_the_packets_is_added() {
        let mut timer = begun(70.0);
        timer.on_packet(at(400), &standing(70.0));
        timer.on_packet(at(1400), &standing(70.0));
        assert_eq!(timer.due.unwrap().since(at(0)), Duration::from_us(2_062_500 + 500_000));
        // Packets do not come back: nothing is due, ever.
        assert_eq!(timer.deadline(), None);
        assert!(!timer.take_due(at(100_000)));
    }

    #[test]
    fn a_limiting_receiver_has_no_timer() {
        let mut timer = begun(70.0);
        timer.cancel();
        feed(&mut timer, 100, 3000, &standing(70.0));
        assert_eq!(timer.deadline(), None);
    }
}
