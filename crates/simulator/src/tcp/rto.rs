//! The retransmission timeout in ticks, as ns-2 computes it (after the BSD code).

use layercast_core::units::{Duration, Time};

use super::TcpOptions;

/// Smoothed round-trip time (times 8) and variation (times 4) in ticks, and the back-off.
#[derive(Clone, Debug)]
pub(crate) struct RtoEstimator {
    tick: Duration,
    min: Duration,
    /// The least that is added to the smoothed round-trip time.
    min_margin: Duration,
    max: Duration,
    /// Offset of this agent's ticks against the clock, so that agents do not tick together.
    boot: Duration,
    srtt: u64,
    rttvar: u64,
    raw: Duration,
    backoff: u64,
}

impl RtoEstimator {
    pub(crate) fn new(options: &TcpOptions, boot: Duration) -> RtoEstimator {
        RtoEstimator {
            tick: options.tick,
            // Two ticks are the minimum for any setting: one tick may be almost over.
            min: options.min_rto.max(options.tick * 2),
            min_margin: if options.min_rto_on_top { options.min_rto } else { Duration::ZERO },
            max: options.max_rto,
            boot,
            srtt: 0,
            rttvar: 0,
            raw: options.initial_rto,
            backoff: 1,
        }
    }

    /// A packet sent at `sent` was acknowledged after `rtt`.
    pub(crate) fn sample(&mut self, sent: Time, rtt: Duration) {
        let tick = self.tick.as_ns();
        let offset = (sent + self.boot).as_ns() % tick;
        self.sample_ticks((rtt.as_ns() + offset) / tick);
    }

    fn sample_ticks(&mut self, ticks: u64) {
        let ticks = ticks.max(1);
        if self.srtt == 0 {
            self.srtt = ticks * 8;
            self.rttvar = ticks * 2;
        } else {
            let delta = ticks as i64 - (self.srtt >> 3) as i64;
            self.srtt = self.srtt.saturating_add_signed(delta).max(1);
            let deviation = delta.abs() - (self.rttvar >> 2) as i64;
            self.rttvar = self.rttvar.saturating_add_signed(deviation).max(1);
        }
        let raw = self.tick * (((self.rttvar << 3) + self.srtt) >> 3);
        self.raw = raw.max(self.tick * (self.srtt >> 3) + self.min_margin);
    }

    /// The timeout now. The floor comes before the back-off.
    pub(crate) fn timeout(&self) -> Duration {
        (self.raw.max(self.min) * self.backoff).min(self.max)
    }

    /// The smoothed round-trip time, to the tick.
    pub(crate) fn smoothed(&self) -> Duration {
        self.tick.scaled(self.srtt as f64 / 8.0)
    }

    /// Doubles the back-off.
    pub(crate) fn back_off(&mut self) {
        if self.backoff < 64 || self.timeout() < self.max {
            self.backoff *= 2;
        }
        if self.backoff > 8 {
            // The estimate no longer describes the path: keep its size as variation and restart.
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    /// An acknowledgement of a packet sent once ends the back-off.
    pub(crate) fn reset_back_off(&mut self) {
        self.backoff = 1;
    }

    pub(crate) fn backoff(&self) -> u64 {
        self.backoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::{TcpProfile, TcpVariant};
    use layercast_testkit::golden;

    fn options(min: f64, tick: f64) -> TcpOptions {
        let mut options = TcpOptions::new(TcpVariant::Reno, TcpProfile::Ns2);
        options.min_rto = Duration::from_secs_f64(min);
        options.tick = Duration::from_secs_f64(tick);
        options
    }

    #[test]
    fn golden_integer_estimator() {
        let case = golden::vector("vectors-active-and-unicast.json", "rto-ns2-01");
        let input = &case.input;
        let number = |v: &serde_json::Value| v.as_f64().unwrap();
        let min = number(&input["min_rto"]);
        let mut rto = RtoEstimator::new(&options(min, number(&input["tick"])), Duration::ZERO);
        let ticks = input["rtt_ticks"].as_array().unwrap();
        let rows = case.expected["rows"].as_array().unwrap();
        assert_eq!(ticks.len(), rows.len());
        for (ticks, row) in ticks.iter().zip(rows) {
            rto.sample_ticks(ticks.as_u64().unwrap());
            assert_eq!(rto.srtt, row[0].as_u64().unwrap());
            assert_eq!(rto.rttvar, row[1].as_u64().unwrap());
            assert_eq!(rto.raw, Duration::from_secs_f64(number(&row[2])));
            assert_eq!(rto.timeout(), Duration::from_secs_f64(number(&row[3])));
        }
    }

    #[test]
    fn golden_back_off() {
        let case = golden::vector("vectors-active-and-unicast.json", "rto-ns2-02");
        let mut rto = RtoEstimator::new(&options(0.2, 0.01), Duration::ZERO);
        rto.raw = Duration::from_secs_f64(case.input["raw"].as_f64().unwrap());
        let backoffs = case.input["backoff"].as_array().unwrap();
        for (backoff, expected) in backoffs.iter().zip(case.expected["rto"].as_array().unwrap()) {
            rto.backoff = backoff.as_u64().unwrap();
            assert_eq!(rto.timeout(), Duration::from_secs_f64(expected.as_f64().unwrap()));
        }
    }
}
