//! NCA's options with their defaults (docs/protocols/nca.md). "CHOICE" marks what public texts leave open.

use alloc::format;

use layercast_core::options;
use layercast_core::session::{Character, PlanError, Rates, Requirements, SessionPlan};
use layercast_core::units::{Duration, Size};

options! {
    /// The options of NCA, shared by the source, the routers and the receivers of a session.
    pub struct Options {
        /// Interval of receivers' and routers' reports (CHOICE: 1 s).
        report_interval: Duration = Duration::from_secs(1), Duration::from_ms(10) => Duration::from_secs(60);
        /// Number of packets over which a receiver measures its loss rate (CHOICE: 1000).
        loss_window: u32 = 1000, 10 => 100_000;
        /// Factor by which another receiver must be worse to replace the nominee (CHOICE: 1.1).
        hysteresis: f64 = 1.1, 1.0 => 10.0;
        /// Silence of the nominee after which any other receiver may replace it (CHOICE: 4 s).
        nominee_timeout: Duration = Duration::from_secs(4), Duration::from_ms(100) => Duration::from_secs(600);
        /// Number of packets that a repair server keeps (CHOICE).
        cache: u32 = 4096, 8 => 65_536;
        /// Maximum lead of the source over the slowest receiver, in packets; it keeps as many for repairs (CHOICE).
        buffer: u32 = 4096, 8 => 65_536;
        /// Time within which a repair is not sent again on the same link (CHOICE: 100 ms).
        repair_hold: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(10);
        /// After this long a silent child is forgotten, so that it does not hold up the others (CHOICE: 30 s).
        child_timeout: Duration = Duration::from_secs(30), Duration::from_ms(100) => Duration::from_secs(3600);
        /// Minimum retransmission timeout of the source (RFC 6298, 2.4: 1 s).
        min_rto: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(60);
        /// Maximum window in packets (CHOICE).
        max_window: u32 = 10_000, 1 => 1_000_000;
        /// Size of reports, requests, acknowledgements and heartbeats on the wire (CHOICE: 32 bytes).
        feedback_size: Size = Size::from_bytes(32);
    }
}

impl Requirements for Options {
    fn character(&self) -> Character {
        Character { rates: Rates::One, ecn: false, start: "TCP's slow start until a loss" }
    }

    fn channels(&self, _plan: &SessionPlan) -> u16 {
        1
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn has_routers(&self) -> bool {
        true
    }

    fn agreed(&self) -> &'static [&'static str] {
        &["report_interval", "loss_window", "cache", "buffer", "repair_hold", "child_timeout"]
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
