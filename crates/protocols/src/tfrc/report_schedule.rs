//! When a receiver reports (RFC 5348, sections 6.1 to 6.3; ns-2's agent).

use layercast_core::units::{Duration, Time};

/// The facts about a data packet that decide on a report.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportTrigger {
    /// Whether a loss event began that raised the loss event rate.
    pub(super) higher_loss: bool,
    /// Whether it was the first loss event of all.
    pub(super) first_loss: bool,
    /// The round-trip time in the packet before this one and in this one.
    pub(super) rtts: [Option<Duration>; 2],
}

/// The schedule of a receiver's reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportSchedule {
    ns2: bool,
    last: Option<Time>,
    /// Whether data came since the last report.
    news: bool,
    /// Whether the timer found nothing to report when it expired.
    owed: bool,
    due: Option<Time>,
}

impl ReportSchedule {
    pub(super) fn new(ns2: bool) -> ReportSchedule {
        ReportSchedule { ns2, last: None, news: false, owed: false, due: None }
    }

    /// When the timer is due.
    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// A data packet came. Returns whether to report now.
    pub(super) fn on_packet(&mut self, now: Time, trigger: ReportTrigger) -> bool {
        self.news = true;
        let Some(last) = self.last else { return true };
        // While the source knows no round-trip time it waits for every report. The first packet with
        // one is reported too: the timer runs from there.
        let [Some(_), Some(rtt)] = trigger.rtts else { return true };
        if self.ns2 { trigger.first_loss || now.since(last) >= rtt } else { trigger.higher_loss || self.owed }
    }

    /// The timer expired, if it is due. Returns whether to report now.
    pub(super) fn on_timer(&mut self, now: Time) -> bool {
        if self.due.is_none_or(|due| due > now) {
            return false;
        }
        // Without data there is nothing to report; the next packet triggers the report.
        self.due = None;
        self.owed = !self.news;
        self.news
    }

    /// A report was sent; `rtt` is the source's, if it has one.
    pub(super) fn sent(&mut self, now: Time, rtt: Option<Duration>) {
        self.last = Some(now);
        self.news = false;
        self.owed = false;
        // Never at once: a round-trip time may be as short as the clock's unit.
        let wait = |rtt: Duration| if self.ns2 { rtt.scaled(1.5) } else { rtt };
        self.due = rtt.map(|rtt| now + wait(rtt).max(Duration::from_us(1)));
    }

    /// No more reports.
    pub(super) fn stop(&mut self) {
        self.due = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_ms(100);
    const QUIET: ReportTrigger =
        ReportTrigger { higher_loss: false, first_loss: false, rtts: [Some(RTT); 2] };

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn every_packet_is_reported_until_the_round_trip_is_known() {
        for ns2 in [false, true] {
            let mut schedule = ReportSchedule::new(ns2);
            for at in 0..3 {
                assert!(schedule.on_packet(ms(at), ReportTrigger { rtts: [None; 2], ..QUIET }));
                schedule.sent(ms(at), None);
                assert_eq!(schedule.due(), None);
            }
            assert!(schedule.on_packet(ms(3), ReportTrigger { rtts: [None, Some(RTT)], ..QUIET }));
            schedule.sent(ms(3), Some(RTT));
            assert!(schedule.due().is_some());
        }
    }

    #[test]
    fn a_report_is_due_each_round_trip_and_at_once_after_a_loss_or_a_pause() {
        let mut schedule = ReportSchedule::new(false);
        schedule.on_packet(ms(0), QUIET);
        schedule.sent(ms(0), Some(RTT));
        assert_eq!(schedule.due(), Some(ms(100)));
        assert!(!schedule.on_packet(ms(50), QUIET));
        assert!(!schedule.on_timer(ms(99)));
        assert!(schedule.on_timer(ms(100)));
        schedule.sent(ms(100), Some(RTT));
        assert!(schedule.on_packet(ms(110), ReportTrigger { higher_loss: true, ..QUIET }));
        schedule.sent(ms(110), Some(RTT));
        assert!(!schedule.on_timer(ms(210)), "nothing came");
        assert_eq!(schedule.due(), None);
        assert!(schedule.on_packet(ms(700), QUIET));
    }

    #[test]
    fn ns2_reports_a_round_trip_after_the_last_or_by_a_longer_timer() {
        let mut schedule = ReportSchedule::new(true);
        schedule.on_packet(ms(0), QUIET);
        schedule.sent(ms(0), Some(RTT));
        assert_eq!(schedule.due(), Some(ms(150)));
        assert!(!schedule.on_packet(ms(99), ReportTrigger { higher_loss: true, ..QUIET }));
        assert!(schedule.on_packet(ms(99), ReportTrigger { first_loss: true, ..QUIET }));
        assert!(schedule.on_packet(ms(100), QUIET));
    }
}
