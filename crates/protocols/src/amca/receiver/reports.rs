//! When a receiver reports, and what (report, section 4.4).

use crate::amca::dyram::{Heartbeats, Standing, wire_before, wire_us};
use crate::amca::estimates::{packets_per_report, wire_variation_us};
use crate::amca::{Data, Options, Report};
use layercast_core::units::{Duration, Rate, Size, Time};

/// What is due at a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) heartbeat: bool,
    pub(super) report: bool,
}

/// The reports of a receiver.
#[derive(Clone, Debug)]
pub(super) struct Reports {
    every: u32,
    interval: Duration,
    size: Size,
    least_bps: f64,
    is_literal: bool,
    repairs_count: Option<bool>,
    /// Original packets since the last report, and packets found missing.
    count: u32,
    lost: u64,
    is_marked: bool,
    last: Option<Time>,
    serial: u32,
}

impl Reports {
    pub(super) fn new(options: &Options, size: Size) -> Reports {
        Reports {
            every: options.report_every,
            interval: options.cr_max_interval,
            size,
            least_bps: options.rate_min * size.as_bits() as f64,
            is_literal: false,
            repairs_count: options.repairs_count,
            count: 0,
            lost: 0,
            is_marked: false,
            last: None,
            serial: 0,
        }
    }

    pub(super) fn is_literal(&self) -> bool {
        self.is_literal
    }

    pub(super) fn on_mark(&mut self, is_marked: bool) {
        self.is_marked |= is_marked;
    }

    fn per_report(&self, rate_bps: u64) -> u32 {
        if self.is_literal {
            return self.every;
        }
        let bits = self.size.as_bits().max(1) as f64;
        packets_per_report(self.every, rate_bps as f64, bits, self.interval.as_secs_f64())
    }

    /// Whether a packet that arrived for the first time counts towards the next report.
    pub(super) fn is_counted(&self, data: &Data) -> bool {
        !data.is_repair || self.repairs_count.unwrap_or(!data.is_literal)
    }

    /// A packet that counts arrived for the first time, and `lost` before it were found missing.
    pub(super) fn on_packet(&mut self, data: &Data, lost: u64) -> Due {
        self.is_literal = data.is_literal;
        self.count = self.count.saturating_add(1);
        self.lost = self.lost.saturating_add(lost);
        let per_report = self.per_report(data.rate_bps);
        let report = self.count >= per_report;
        Due { heartbeat: self.count == (per_report / 2).max(1), report }
    }

    /// The time since the last report.
    pub(super) fn since_last(&self, now: Time) -> Duration {
        self.last.map_or(Duration::MAX, |at| now.since(at))
    }

    /// Whether most packets of the period were lost although the source is at its lowest rate.
    pub(super) fn is_hopeless(&self, rate_bps: u64) -> bool {
        self.lost > u64::from(self.count) && rate_bps as f64 <= self.least_bps * 1.01
    }

    /// The report of the current period.
    pub(super) fn report(
        &mut self,
        now: Time,
        standing: Standing,
        beats: &mut Heartbeats,
        rate_bps: u64,
    ) -> Report {
        let rate = Rate::from_bps((rate_bps as f64).max(1.0));
        let planned = rate.time_to_send(self.size) * u64::from(self.per_report(rate_bps));
        let period = self.last.map_or(planned, |at| now.since(at)).max(Duration::from_us(1));
        if self.last.is_none() {
            // A receiver that restarted is recognised by numbers that do not follow those before.
            self.serial = now.as_wire_us();
        }
        self.serial = self.serial.wrapping_add(1);
        let rtt_us = beats.to_source_us();
        let report = Report {
            lo: wire_before(standing.below),
            lr: wire_before(standing.end),
            max_seq: wire_before(standing.limit),
            rtt_to_source_us: rtt_us,
            rtt_to_parent_us: beats.to_parent().map_or(0, wire_us),
            rtt_min_us: rtt_us,
            period_us: wire_us(period),
            rtt_var_us: wire_variation_us(beats.take_variation_us(period)),
            count: u16::try_from(self.count).unwrap_or(u16::MAX),
            serial: self.serial,
            is_marked: self.is_marked,
        };
        (self.count, self.lost, self.is_marked, self.last) = (0, 0, false, Some(now));
        report
    }
}
