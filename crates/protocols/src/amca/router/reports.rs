//! Rounds of reports: one goes up when all live children have reported (report, section 4.5).

use crate::amca::Report;
use crate::amca::dyram::{Heartbeats, Standing, wire_before, wire_us};
use crate::amca::estimates::Summary;
use layercast_core::units::{Duration, Time};

/// The rounds of reports of a router.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    has_begun: bool,
    serial: Option<u32>,
    /// A time and a number: until then, nothing from this number on is reported as received by all.
    hold: Option<(Time, u64)>,
    /// The aggregate of the NACKs answered below since the last report.
    folded: Option<(u64, u64)>,
}

impl Rounds {
    /// A child has reported. Returns whether it is the first of a round.
    pub(super) fn begin(&mut self) -> bool {
        !core::mem::replace(&mut self.has_begun, true)
    }

    /// Until then, nothing from `below` on is reported as received by all.
    pub(super) fn hold_back(&mut self, until: Time, below: u64) {
        self.hold = Some((until, below));
    }

    /// Ends that period if its time has passed.
    pub(super) fn release(&mut self, now: Time) {
        self.hold = self.hold.filter(|&(until, _)| now < until);
    }

    /// How far all children have got, as far as it may be reported.
    pub(super) fn limited(&self, standing: Standing) -> Standing {
        let below = self.hold.map_or(standing.below, |(_, below)| standing.below.min(below));
        Standing { below, ..standing }
    }

    /// A NACK was answered below.
    pub(super) fn add_nack(&mut self, standing: Standing) {
        let (below, end) = self.folded.unwrap_or((standing.below, standing.end));
        self.folded = Some((below.min(standing.below), end.max(standing.end)));
    }

    /// The round is over. Returns its report, if there is anything to report.
    pub(super) fn finish(
        &mut self,
        now: Time,
        summary: Option<Summary>,
        beats: &mut Heartbeats,
    ) -> Option<Report> {
        self.has_begun = false;
        self.release(now);
        let summary = summary?;
        let own = beats.take_variation_us(Duration::from_us(u64::from(summary.period_us)));
        let summary = summary.over_section(own);
        let position = Standing { below: summary.below, end: summary.end, limit: summary.limit };
        let position = self.limited(position);
        let (below, end) = match self.folded.take() {
            Some((below, end)) => (position.below.min(below), position.end.max(end)),
            None => (position.below, position.end),
        };
        // A router that restarted is recognised by numbers that do not follow those before.
        let serial = self.serial.unwrap_or(now.as_wire_us()).wrapping_add(1);
        self.serial = Some(serial);
        Some(Report {
            lo: wire_before(below),
            lr: wire_before(end),
            max_seq: wire_before(position.limit),
            rtt_to_source_us: summary.rtt_max_us,
            rtt_to_parent_us: beats.to_parent().map_or(0, wire_us),
            rtt_min_us: summary.rtt_min_us,
            period_us: summary.period_us,
            rtt_var_us: crate::amca::estimates::wire_variation_us(summary.rtt_var_us),
            count: summary.count,
            serial,
            is_marked: summary.is_marked,
        })
    }
}
