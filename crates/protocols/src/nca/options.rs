//! NCA's options with their defaults (docs/protocols/nca.md). "CHOICE" marks what public texts leave open.

use alloc::format;

use layercast_core::options;
use layercast_core::session::{PlanError, Requirements, SessionPlan};
use layercast_core::units::{Duration, Size};

options! {
    /// The options of NCA, for the source, the routers and the receivers of a session alike.
    pub struct Options {
        /// How often receivers and routers report (CHOICE: 1 s).
        report_interval: Duration = Duration::from_secs(1), Duration::from_ms(10) => Duration::from_secs(60);
        /// Over how many packets a receiver measures its loss rate (CHOICE: 1000).
        loss_window: u32 = 1000, 10 => 100_000;
        /// The nominee is replaced when another receiver is this many times worse (CHOICE: 1.1).
        hysteresis: f64 = 1.1, 1.0 => 10.0;
        /// After this time without an acknowledgement the nominee may be replaced by any other (CHOICE: 4 s).
        nominee_timeout: Duration = Duration::from_secs(4), Duration::from_ms(100) => Duration::from_secs(600);
        /// How many packets a repair server keeps (CHOICE).
        cache: u32 = 4096, 8 => 65_536;
        /// How far the source may be ahead of the slowest receiver, in packets; it keeps as many for repairs (CHOICE).
        buffer: u32 = 4096, 8 => 65_536;
        /// A repair is not sent again on the same link within this time (CHOICE: 100 ms).
        repair_hold: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(10);
        /// A child that is silent for so long is forgotten, so that it does not hold up the others (CHOICE: 30 s).
        child_timeout: Duration = Duration::from_secs(30), Duration::from_ms(100) => Duration::from_secs(3600);
        /// The smallest retransmission timeout of the source (RFC 6298, 2.4: 1 s).
        min_rto: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(60);
        /// The largest window in packets (CHOICE).
        max_window: u32 = 10_000, 1 => 1_000_000;
        /// The size of reports, requests, acknowledgements and heartbeats on the wire (CHOICE: 32 bytes).
        feedback_size: Size = Size::from_bytes(32);
    }
}

impl Requirements for Options {
    fn channels(&self, _plan: &SessionPlan) -> u16 {
        1
    }

    fn has_routers(&self) -> bool {
        true
    }

    fn check(&self, _plan: &SessionPlan) -> Result<(), PlanError> {
        if self.cache < self.buffer {
            let (cache, buffer) = (self.cache, self.buffer);
            return Err(PlanError(format!(
                "a repair server keeps {cache} packets, but receivers may ask for any of the last {buffer}; \
                 give a cache of at least the buffer"
            )));
        }
        Ok(())
    }
}
