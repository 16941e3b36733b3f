//! The options of AMCA over DyRAM.

use layercast_core::session::{Character, Rates, Requirements, SessionPlan};
use layercast_core::units::{Duration, Size};

layercast_core::choices! {
    /// Which packets count as unacknowledged.
    pub enum Profile {
        /// As the report has it: a report's count less what it acknowledges. Reports come after a fixed
        /// number of packets, and NACKs are ignored for the difference of the round-trip times.
        Literal = "literal",
        /// Packets first sent between two reports less those that the later one acknowledges.
        Count = "count",
        /// Packets sent and not acknowledged, beyond those that an empty path holds.
        Backlog = "backlog",
    }
}

layercast_core::choices! {
    /// How long NACKs are ignored after the rate was halved.
    pub enum IgnoreRule {
        /// The difference of the largest and smallest round-trip time (report, section 4.6).
        Difference = "difference",
        /// At least the largest round-trip time.
        RoundTrip = "round-trip",
    }
}

layercast_core::options! {
    /// The options of AMCA over DyRAM, with a remark where the report leaves a value open.
    pub struct Options {
        /// How unacknowledged packets are counted; `literal` also changes when receivers report and how long
        /// NACKs are ignored (this project's choice: backlog).
        profile: Profile = Profile::Backlog;
        /// A receiver reports after this many packets (N; report, section 5: 32).
        report_every: u32 = 32, 1 => 65_535;
        /// The longest time between a receiver's reports while data arrives; not in the literal profile (this
        /// project's choice).
        cr_max_interval: Duration = Duration::from_secs(2), Duration::from_ms(10) => Duration::from_secs(600);
        /// Growth of the queue per packet that does not count as congestion (epsilon; report, section 5: 0.2).
        epsilon: f64 = 0.2, 0.0 => 1.0;
        /// Number of unacknowledged packets below which alpha_hold has no effect (alpha; report, section 5: 1).
        alpha: f64 = 1.0, 0.0 => 1000.0;
        /// Number of unacknowledged packets from which there is congestion (beta; report, section 5: 3).
        beta: f64 = 3.0, 0.0 => 1000.0;
        /// Increase factor of the rate at a report without congestion (gamma_inc; report, section 5: 1.05).
        increase: f64 = 1.05, 1.0 => 2.0;
        /// Largest increase factor while a queue drains (gamma_max; this project's choice).
        increase_max: f64 = 2.0, 1.0 => 16.0;
        /// Whether estimates change the rate at most once per round-trip time; until a change can take
        /// effect, reports describe the rate before it. By profile: not in the literal one (this project's
        /// choice).
        once_per_rtt: Option<bool> = None;
        /// Whether the rate is bounded by increase_max times the rate received according to a report: noise
        /// in short periods multiplies the rate, and its mean effect is growth. By profile: not in the
        /// literal one (this project's choice).
        bound_by_received: Option<bool> = None;
        /// Whether repairs that a receiver gets count towards its next report: where most packets are
        /// repairs, there are few original ones, and without reports the rate does not recover. By profile:
        /// not in the literal one (this project's choice).
        repairs_count: Option<bool> = None;
        /// The lowest rate in packets per second (r_min; report, section 5: 1).
        rate_min: f64 = 1.0, 0.001 => 1_000_000.0;
        /// The highest rate in packets per second (r_max; report, section 5: 10000).
        rate_max: f64 = 10_000.0, 0.001 => 1_000_000.0;
        /// How long NACKs are ignored after the rate was halved. By profile: difference in the literal one,
        /// else round-trip (errata E12).
        ignore: Option<IgnoreRule> = None;
        /// Whether the rate is held while the number of unacknowledged packets is from alpha to less than beta
        /// (not in the report, where alpha is in no rule).
        alpha_hold: bool = false;
        /// Whether the standing queue beyond beta is drained in the next period; else the rate follows that
        /// of the bottleneck and the queue remains. By profile: in the backlog one (this project's choice).
        drain: Option<bool> = None;
        /// The round-trip time of the empty path if it is known from elsewhere, in place of the smallest one
        /// reported; 0 for unknown. For the profile `backlog` (not in the report).
        known_base: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(64);
        /// How often the source sends at half its rate for one report, so that the smallest round-trip time is
        /// taken without its own queue; 0 for never (not in the report).
        drain_every: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(36_000);
        /// Whether the source returns to slow start when its rate has fallen below half of the maximum of the
        /// last 10 s and NACKs are no longer ignored (not in the report).
        restart_after_cut: bool = false;
        /// Whether a congestion mark counts as beta unacknowledged packets (not in the report).
        ce_counts: bool = false;
        /// Whether the source aggregates its children's reports, as a router does, so that its rate does not
        /// grow faster with more children; else each report counts (the report assumes one child).
        aggregate_at_source: bool = true;
        /// The most packets that a receiver or the source keeps (this project's choice: report, section 5,
        /// gives no value).
        buffer_packets: u32 = 100_000, 16 => 16_777_216;
        /// Whether a receiver requests data from before its first packet that is still kept; else it begins
        /// with that packet (this project's choice).
        older_data: bool = true;
        /// The size on the wire of all packets without data (report, section 5: 32 bytes).
        control_size: Size = Size::from_bytes(32), Size::from_bytes(1) => Size::from_bytes(1500);
        /// The longest time that a router collects children's NACKs before it asks one of them for a repair
        /// (this project's choice).
        decision_delay: Duration = Duration::from_ms(100), Duration::ZERO => Duration::from_secs(10);
        /// How long after its start the source, or a router that began within a session, treats nothing as
        /// received by all: children whose first messages were lost are not yet known (this project's choice).
        opening: Duration = Duration::from_secs(10), Duration::ZERO => Duration::from_secs(600);
        /// After this long a silent child is forgotten, with its requests (this project's choice).
        silent_limit: Duration = Duration::from_secs(30), Duration::from_secs(1) => Duration::from_secs(36_000);
        /// A child that lacks a packet for this long is no longer waited for (this project's choice).
        stall_limit: Duration = Duration::from_secs(30), Duration::from_secs(1) => Duration::from_secs(36_000);
        /// The most children that a router or the source keeps track of (this project's choice).
        children: u32 = 1024, 1 => 65_536;
    }
}

impl Options {
    /// Whether estimates change the rate at most once per round-trip time, by option or profile.
    pub fn follows_once(&self) -> bool {
        self.once_per_rtt.unwrap_or(self.profile != Profile::Literal)
    }

    /// Whether the rate is bounded by what was received, by option or profile.
    pub fn is_bounded(&self) -> bool {
        self.bound_by_received.unwrap_or(self.profile != Profile::Literal)
    }

    /// Whether the standing queue beyond beta is drained, by option or profile.
    pub fn drains_queue(&self) -> bool {
        self.drain.unwrap_or(self.profile == Profile::Backlog)
    }

    /// How long NACKs are ignored, by option or profile.
    pub fn ignore_rule(&self) -> IgnoreRule {
        self.ignore.unwrap_or(match self.profile {
            Profile::Literal => IgnoreRule::Difference,
            Profile::Count | Profile::Backlog => IgnoreRule::RoundTrip,
        })
    }
}

impl Requirements for Options {
    fn character(&self) -> Character {
        let start = "by 1/RTT with each report until congestion";
        Character { rates: Rates::One, ecn: self.ce_counts, start }
    }

    /// Who sends packets as ECN-capable must respond to marks (RFC 3168, section 5).
    fn deploy(&mut self) {
        self.ce_counts = true;
    }

    /// One, whatever the layers: the session has a single rate.
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
        &[
            "report_every",
            "cr_max_interval",
            "repairs_count",
            "rate_min",
            "buffer_packets",
            "older_data",
            "decision_delay",
            "opening",
            "silent_limit",
            "stall_limit",
            "children",
        ]
    }
}
