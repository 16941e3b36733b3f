//! What a receiver reports, and when its rate is too low to stay (RFC 4654, section 4.4).

use super::Receiver;
use crate::tfmcc::header::Header;
use layercast_core::cannot_be;
use layercast_core::contract::Send;
use layercast_core::units::Time;

impl Receiver {
    /// The lowest rate that is reported: one packet in the longest spacing (RFC 4654, section 4.4).
    fn lowest_rate(&self) -> f64 {
        f64::from(self.packet_size.as_bytes()) / self.options.max_spacing.as_secs_f64()
    }

    /// Whether the fair rate has been below the lowest one and below the session's for too long.
    pub(super) fn is_starved(&mut self, now: Time) -> bool {
        let calculated = self.reception.calculated().filter(|_| self.reception.has_loss());
        let lowest = self.lowest_rate();
        let starved = calculated.is_some_and(|rate| rate < lowest && rate < self.reception.sent_rate());
        if !starved {
            self.starved_since = None;
            return false;
        }
        let since = *self.starved_since.get_or_insert(now);
        now.since(since) >= self.options.starved_leave
    }

    /// Reports the present state.
    pub(super) fn send_report(&mut self, now: Time, leaving: bool) {
        let Some(session) = self.session.known() else {
            return cannot_be("a packet, which names the session, precedes each report");
        };
        let asked = self.reception.asked().max(self.lowest_rate());
        if let Some(report) = self.reporter.report(now, session, asked, leaving, &self.reception) {
            self.counters.reports += 1;
            self.actions.send(Send::report(Header::Report(report), self.options.report_size));
        }
    }
}
