//! The rate and the receiver that limits it (RFC 4654, sections 3.3 and 3.6; the
//! memory of the former one: TFMCC paper).

use crate::tfmcc::header::ReceiverId;
use layercast_core::units::{Duration, Time};

/// Without reports of the limiting receiver for this many largest round-trip times the rate is halved ...
const CLR_LATE: u64 = 4;
/// ... unless it was chosen less than this many ago, and after this many it counts as gone. As many
/// without any report halve the rate, repeatedly.
const CLR_GONE: u64 = 10;

/// The bounds of a rate, in byte/s, and the size of packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) packet_bytes: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The receiver that limited the rate before the current one, remembered for a while.
#[derive(Clone, Copy, Debug)]
struct Former {
    receiver: ReceiverId,
    /// The rate it asked for last, in byte/s.
    rate: f64,
    /// When it last reported, or lost the role.
    since: Time,
}

/// The current limiting receiver.
#[derive(Clone, Copy, Debug)]
struct Clr {
    receiver: ReceiverId,
    /// The rate it asked for last, in byte/s.
    rate: f64,
    last_report: Time,
    chosen: Time,
    /// Whether the rate was halved since its last report.
    halved: bool,
}

/// The contents of a report that the control uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportSummary {
    pub(super) receiver: ReceiverId,
    /// The rate it asks for, in byte/s, for its true round-trip time.
    pub(super) rate: f64,
    pub(super) has_loss: bool,
    pub(super) leaving: bool,
}

/// Chooses the limiting receiver and follows its rate.
#[derive(Clone, Debug)]
pub(super) struct Control {
    bounds: Bounds,
    /// The rate and what it may grow to, in byte/s.
    rate: f64,
    target: f64,
    /// The growth of slow start towards the target, in byte/s per second.
    slow_start_growth: f64,
    advanced: Time,
    slow_start: bool,
    /// Slow start after a pause ends here.
    ceiling: f64,
    clr: Option<Clr>,
    former: Option<Former>,
    /// For how many largest round-trip times the former one is remembered.
    memory: f64,
    /// The last limiting receiver has gone: the next one must not raise the rate at once.
    clr_gone: bool,
    hold_until: Time,
    /// The last report, or the last halving for lack of reports.
    quiet_since: Time,
    clr_changes: u64,
}

impl Control {
    pub(super) fn new(bounds: Bounds, memory: f64, max_rtt: Duration, now: Time) -> Control {
        let first = bounds.packet_bytes / max_rtt.as_secs_f64();
        let rate = first.clamp(bounds.low, bounds.high);
        Control {
            bounds,
            rate,
            target: rate,
            slow_start_growth: 0.0,
            advanced: now,
            slow_start: true,
            ceiling: f64::INFINITY,
            clr: None,
            former: None,
            memory,
            clr_gone: false,
            hold_until: now,
            quiet_since: now,
            clr_changes: 0,
        }
    }

    /// The rate in byte/s.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn limiting(&self) -> Option<ReceiverId> {
        self.clr.map(|clr| clr.receiver)
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.slow_start
    }

    pub(super) fn clr_changes(&self) -> u64 {
        self.clr_changes
    }

    /// Lets the rate grow for the time since the last call: by at most one packet per largest
    /// round-trip time in each of these, or, in slow start, to the target within one of them.
    pub(super) fn advance(&mut self, now: Time, max_rtt: Duration) {
        let since = self.advanced.max(self.hold_until);
        self.advanced = now;
        if self.target > self.rate && now > since {
            let rtt_s = max_rtt.as_secs_f64();
            let linear = self.bounds.packet_bytes / (rtt_s * rtt_s);
            let growth = if self.slow_start { linear.max(self.slow_start_growth) } else { linear };
            self.rate = (self.rate + growth * now.since(since).as_secs_f64()).min(self.target);
        }
        if self.rate >= self.ceiling {
            self.slow_start = false;
            self.ceiling = f64::INFINITY;
        }
    }

    fn set_target(&mut self, target: f64, max_rtt: Duration) {
        self.target = target;
        self.rate = self.rate.min(target);
        self.slow_start_growth = (target - self.rate) / max_rtt.as_secs_f64();
    }

    /// A report. `round` is the length of a feedback round.
    pub(super) fn on_report(
        &mut self,
        now: Time,
        report: &ReportSummary,
        max_rtt: Duration,
        round: Duration,
    ) {
        self.advance(now, max_rtt);
        self.quiet_since = now;
        if report.has_loss {
            self.slow_start = false;
            self.ceiling = f64::INFINITY;
        }
        let rate = report.rate.clamp(self.bounds.low, self.bounds.high);
        self.update_former(now, report, rate);
        match &mut self.clr {
            Some(clr) if clr.receiver == report.receiver => {
                if report.leaving {
                    self.drop_clr(now, max_rtt, round);
                    return;
                }
                (clr.last_report, clr.rate, clr.halved) = (now, rate, false);
                self.set_target(rate, max_rtt);
            }
            _ if report.leaving => {}
            Some(clr) => {
                // While the rate may still grow to its target, a receiver that asks for less than the target
                // limits it; later only one that asks for less than the rate.
                let free = self.slow_start || now < self.hold_until;
                if rate < if free { clr.rate } else { self.rate } {
                    self.choose(now, report.receiver, rate, max_rtt);
                }
            }
            None => {
                if self.clr_gone {
                    self.clr_gone = false;
                    self.hold_until = now + round;
                }
                self.choose(now, report.receiver, rate, max_rtt);
            }
        }
    }

    /// The record of the former limiting receiver is renewed by its reports, and dropped when it leaves.
    fn update_former(&mut self, now: Time, report: &ReportSummary, rate: f64) {
        if self.former.is_some_and(|former| former.receiver == report.receiver) {
            let ReportSummary { receiver, leaving, .. } = *report;
            self.former = (!leaving).then_some(Former { receiver, rate, since: now });
        }
    }

    fn choose(&mut self, now: Time, receiver: ReceiverId, rate: f64, max_rtt: Duration) {
        let before = self.clr.map(|clr| Former { receiver: clr.receiver, rate: clr.rate, since: now });
        // If there was no limiting receiver, the record of the former one stays, unless that one is back.
        self.former = before.or(self.former).filter(|former| former.receiver != receiver);
        self.clr = Some(Clr { receiver, rate, last_report: now, chosen: now, halved: false });
        self.clr_changes += 1;
        self.set_target(rate, max_rtt);
    }

    /// The limiting receiver has gone. If the former one is still remembered it takes the role again:
    /// it need not be found by a feedback round first. The rate does not jump to what it asked for, but
    /// waits a round for lower ones, as for any successor, and then grows by one packet per largest
    /// round-trip time. Otherwise the rate stays until another receiver reports.
    fn drop_clr(&mut self, now: Time, max_rtt: Duration, round: Duration) {
        let former =
            self.former.take().filter(|former| now.since(former.since) < max_rtt.scaled(self.memory));
        match former {
            Some(Former { receiver, rate, .. }) => {
                self.clr = Some(Clr { receiver, rate, last_report: now, chosen: now, halved: false });
                self.clr_changes += 1;
                self.hold_until = now + round;
                self.target = rate.max(self.rate);
                self.slow_start_growth = 0.0;
            }
            None => {
                self.clr = None;
                self.clr_gone = true;
                self.target = self.rate;
            }
        }
    }

    fn halve(&mut self) {
        self.rate = (0.5 * self.rate).max(self.bounds.low);
        self.target = self.rate;
    }

    /// When the limiting receiver is late, and when it counts as gone.
    fn clr_due(clr: &Clr, max_rtt: Duration) -> (Option<Time>, Time) {
        let late = (clr.last_report + max_rtt * CLR_LATE).max(clr.chosen + max_rtt * CLR_GONE);
        ((!clr.halved).then_some(late), clr.last_report + max_rtt * CLR_GONE)
    }

    /// The effects of silence. `round` is the length of a feedback round. True if the rate fell.
    pub(super) fn poll(&mut self, now: Time, max_rtt: Duration, round: Duration) -> bool {
        let before = self.rate;
        if let Some(clr) = &mut self.clr {
            let (late, gone) = Control::clr_due(clr, max_rtt);
            if gone <= now {
                self.drop_clr(now, max_rtt, round);
            } else if late.is_some_and(|late| late <= now) {
                clr.halved = true;
                self.halve();
            }
        }
        if self.quiet_since + max_rtt * CLR_GONE <= now {
            self.halve();
            self.quiet_since = now;
        }
        self.rate < before
    }

    /// When to poll next.
    pub(super) fn deadline(&self, max_rtt: Duration) -> Time {
        let quiet = self.quiet_since + max_rtt * CLR_GONE;
        let Some(clr) = &self.clr else { return quiet };
        let (late, gone) = Control::clr_due(clr, max_rtt);
        quiet.min(gone).min(late.unwrap_or(Time::MAX))
    }

    /// The source resumes after a pause before which it sent at `rate`: slow start up to that rate
    /// (RFC 4654, section 3.6).
    pub(super) fn resume(&mut self, now: Time, rate: f64) {
        // No report could arrive in the pause, which says nothing about the limiting receiver.
        self.clr_gone = false;
        (self.advanced, self.quiet_since) = (now, now);
        if rate > self.rate {
            self.slow_start = true;
            self.ceiling = rate;
        }
    }
}

#[cfg(test)]
mod tests;
