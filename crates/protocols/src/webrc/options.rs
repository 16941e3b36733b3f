//! The options of WEBRC.

use layercast_core::options;
use layercast_core::units::{Duration, Rate};
use layercast_kit::response::Response;

layercast_core::choices! {
    /// The form of the congestion control information (RFC 3738, section 5).
    pub enum WordForm {
        /// 32 bits: slot 8, channel 8, number 16. At most 255 waves in a cycle.
        Short = "short",
        /// 64 bits: slot 16, channel 16, number 32.
        Long = "long",
    }
}

options! {
    /// The options of WEBRC, with the names of RFC 3738 in brackets. Where noted, a zero
    /// stands for the RFC's formula.
    pub struct Options {
        /// Packets per second on the base channel at the start of a slot (BCR_P; RFC 3738, 3.1.1: 1).
        base_rate: f64 = 1.0, 0.01 => 1000.0;
        /// The length of a time slot (TSD; RFC 3738, 3.1.1: 10 s).
        slot: Duration = Duration::from_secs(10), Duration::from_ms(100) => Duration::from_secs(600);
        /// Minimum silence of a wave's channel (QD); it must outlast any leave (RFC 3738, 3.1.1: 300 s).
        quiet: Duration = Duration::from_secs(300), Duration::ZERO => Duration::from_secs(3600);
        /// Factor by which a wave's rate falls in a slot (P; RFC 3738, 3.1.1: 0.75).
        fall: f64 = 0.75, 0.3 => 0.95;
        /// Number of waves active at any time (N); 0 for the fewest that reach the session's rate
        /// (RFC 3738, 3.1.1, leaves it to a paper; this project's choice: 0).
        waves: u32 = 0, 0 => 255;
        /// Whether a wave's first slot is filled up to the session's rate, so that the source sends at a
        /// constant rate (RFC 3738, 3.1.1: recommended).
        constant_rate: bool = true;
        /// By which part of its spacing a packet may leave later than planned, at random (RFC 3738 has none).
        dither: f64 = 0.0, 0.0 => 1.0;
        /// The form of the congestion control information (RFC 3738, 5).
        word: WordForm = WordForm::Short;
        /// Maximum rate of a receiver (MRR_b); 0 for no bound (RFC 3738, 3.2.1).
        max_rate: Rate = Rate::ZERO, Rate::ZERO => Rate::from_bps(1e12);
        /// Time between two decisions (EL); 0 for a twentieth of a slot (RFC 3738, 3.2.2.4: 0.5 s).
        epoch: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(60);
        /// Whose rate is fair: that of Reno by the RFC's equation, or of another TCP by its response function (RFC
        /// 3738, 3.2.2.3: Reno).
        fair_to: Response = Response::Reno;
        /// Smoothing of the loss filter over time (Nu; RFC 3738, 3.2.2.1: 0.3).
        nu: f64 = 0.3, 0.001 => 0.999;
        /// Smoothing of the loss filter over loss events (Delta; RFC 3738, 3.2.2.1: 0.3).
        delta: f64 = 0.3, 0.001 => 0.999;
        /// Smoothing of the round-trip time (Alpha; RFC 3738, 3.2.2.2: 0.25).
        alpha: f64 = 0.25, 0.001 => 0.999;
        /// Weight of a measurement in the anticipated rate during start-up (Beta); 0 for the RFC's
        /// formula (RFC 3738, 3.2.2.5).
        beta_start_up: f64 = 0.0, 0.0 => 1.0;
        /// Weight of a measurement in the true rate during start-up (Zeta); 0 for the RFC's formula
        /// (RFC 3738, 3.2.2.5).
        zeta_start_up: f64 = 0.0, 0.0 => 1.0;
        /// As `beta_start_up`, after start-up.
        beta: f64 = 0.0, 0.0 => 1.0;
        /// As `zeta_start_up`, after start-up.
        zeta: f64 = 0.0, 0.0 => 1.0;
        /// Minimum slow start rate in packets per second (SSMINR_P); 0 for that of the base and
        /// two waves (RFC 3738, 3.2.2.6).
        slow_start_floor: f64 = 0.0, 0.0 => 1000000.0;
        /// Whether start-up waits an epoch after each wave's first packet, and ends if the rate has not
        /// increased as it should have (RFC 3738, 3.2.2.6: recommended).
        start_up_check: bool = true;
        /// Whether a join also waits until the rate received has fallen since the last one (RFC 3738,
        /// 3.2.3.6: optional, recommended values).
        last_check: bool = true;
        /// Minimum timeout of a join, in mean packet gaps of the wave's first slot.
        /// The RFC has no such bound, so a first round-trip time that is measured far too short would let
        /// no join succeed (RFC 3738, 3.2.3.7: 0; this project's choice: 3).
        join_gaps: f64 = 3.0, 0.0 => 100.0;
        /// Time without packets after which a receiver leaves, at least a slot (RFC 3738, 3.2.3.8: 10 s).
        silence: Duration = Duration::from_secs(10), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Time without a change of slot after which a receiver leaves, at least two slots (RFC 3738,
        /// 3.2.3.8: 20 s).
        slot_silence: Duration = Duration::from_secs(20), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Loss rate over two slots above which a receiver of the base channel alone leaves
        /// (RFC 3738, 3.2.1, says "a high fraction"; this project's choice: 0.5).
        base_loss_limit: f64 = 0.5, 0.0 => 1.0;
        /// Time after which a receiver that left for one of these reasons rejoins; 0 for never (this
        /// project's choice).
        rejoin_after: Duration = Duration::from_secs(10), Duration::ZERO => Duration::from_secs(3600);
        /// Number of later packets of its channel after which a packet is lost (RFC 3738, 3.2.3.4,
        /// only asks for some patience; this project's choice: 3).
        reorder: u32 = 3, 1 => 100;
        /// Age of a later packet of its channel after which a packet is lost. For `reorder` above 1.
        late_limit: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(60);
        /// Number of packets that announce the end of the session; a receiver accepts the second.
        end_packets: u32 = 3, 0 => 100;
    }
}

impl Options {
    /// The time between two decisions of a receiver (EL).
    pub fn epoch(&self) -> Duration {
        if self.epoch.is_zero() { self.slot.scaled(0.05) } else { self.epoch }
    }
}
