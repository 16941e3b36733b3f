//! pgmcc's options with their defaults (docs/protocols/pgmcc.md). "CHOICE" marks what neither paper nor draft
//! says.

use layercast_core::options;
use layercast_core::session::{Character, Rates, Requirements};
use layercast_core::units::{Duration, Size};

layercast_core::choices! {
    /// In what the round-trip times of receivers are compared.
    pub enum RttUnit {
        /// In packets: from the newest sent to the highest reported (draft, section 2.5.3).
        Packets = "packets",
        /// In seconds, by the time stamp that comes back (draft, section 2.5.1).
        Time = "time",
    }
}

layercast_core::choices! {
    /// The model of TCP's throughput by which receivers are compared.
    pub enum Model {
        /// 1 / (RTT sqrt p).
        Simple = "simple",
        /// With timeouts: 1 / (RTT sqrt p (1 + 9 p (1 + 32 p^2))) (draft, section 2.4).
        Timeouts = "timeouts",
    }
}

layercast_core::choices! {
    /// How the window is halved.
    pub enum Cut {
        /// As many packets as the new window has bring no tokens.
        Skip = "skip",
        /// Half of the window is taken from the tokens, which may fall below zero (draft, section 2.2).
        Take = "take",
    }
}

options! {
    /// The options of pgmcc, for the source and the receivers of a session alike.
    pub struct Options {
        // Choosing the acker.
        /// What the old loss rate keeps with each packet (65000/65536; draft, section 2.6: 500/65536 is the weight of the new one, hence 0.99237).
        loss_memory: f64 = 0.991_821_289_062_5, 0.0 => 0.999_999;
        /// A receiver becomes acker if its throughput is below this part of the acker's (draft, section 2.3: 0.75).
        switch: f64 = 0.75, 0.0 => 1.0;
        /// In what round-trip times are compared (draft, section 2.5: any of the two, time is recommended).
        rtt: RttUnit = RttUnit::Packets;
        /// By which model receivers are compared (draft, section 2.4: timeouts).
        model: Model = Model::Simple;
        /// Maximum random delay of receivers' replies when there is no acker (CHOICE).
        election_delay: Duration = Duration::from_ms(100), Duration::ZERO => Duration::from_secs(60);
        /// After how many timeouts in a row the acker is given up (draft, section 2.7: 2).
        acker_timeouts: u32 = 2, 1 => 100;
        /// For how long a receiver that became acker and acknowledged nothing is not chosen again (CHOICE).
        barred: Duration = Duration::from_secs(10), Duration::ZERO => Duration::from_secs(3600);
        // The window.
        /// The window up to which it grows by one with each packet (draft, section 2.2: a small one such as 4).
        slow_start_limit: f64 = 6.0, 1.0 => 10_000.0;
        /// Whether it grows so after a loss too, which is to say after timeouts (draft, section 2.2: yes).
        slow_start_again: bool = false;
        /// How the window is halved.
        cut: Cut = Cut::Skip;
        /// How many later packets make a missing one lost at the source (draft, section 2.2: 3).
        reorder: u32 = 3, 1 => 30;
        /// The largest window in packets (CHOICE).
        most_window: f64 = 10_000.0, 1.0 => 1_000_000.0;
        /// The least timeout.
        timeout_minimum: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(64);
        /// How many packets may leave at once; further ones leave at the rate of the session's layers (CHOICE).
        burst: u32 = 8, 1 => 1000;
        // Feedback.
        /// Maximum random delay of the NAK that reports a loss; it reports losses in the meantime too (CHOICE).
        nak_delay: Duration = Duration::from_ms(50), Duration::ZERO => Duration::from_secs(60);
        /// How many later packets make a missing one lost at a receiver (CHOICE: PGM asks for repair at once).
        nak_reorder: u32 = 1, 1 => 100;
        /// How many reports the source takes per second; surplus ones are only counted (CHOICE).
        report_limit: u32 = 10_000, 1 => 1_000_000;
        /// The size of a report on the wire.
        report_size: Size = Size::from_bytes(64);
        // The session.
        /// How many packets announce the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
        /// How long without packets causes a trace event, and another attempt if the join had failed (CHOICE).
        silence_note: Duration = Duration::from_secs(30), Duration::from_ms(1) => Duration::from_secs(3600);
    }
}

impl Requirements for Options {
    fn character(&self) -> Character {
        Character { rates: Rates::One, ecn: true, start: "TCP's slow start up to 6 packets" }
    }
}
