//! The options of RLC.

use layercast_core::session::{Character, PlanError, Rates, Requirements, SessionPlan, check_layers};
use layercast_core::units::{Duration, Size};
use layercast_kit::estimator::VirtualLoss;
use layercast_kit::pacing::DEPLOYED_DITHER;

layercast_core::choices! {
    /// How the spacing of synchronisation points grows with the layer.
    pub enum SpacingRule {
        /// It doubles with each layer, without end (thesis, section 3.2.1).
        Doubling = "doubling",
        /// It doubles up to layer 7 and then grows by one base spacing a layer (MCL library).
        Mcl = "mcl",
    }
}

layercast_core::choices! {
    /// How long a receiver is deaf after it left a layer.
    pub enum DeafRule {
        /// As long as it takes until the leave shows: the leave latency and one round-trip time, or,
        /// where leaves are immediate, two round-trip times and at least one base spacing.
        Derived = "derived",
        /// The option `deaf_period`, whatever the path.
        Constant = "constant",
    }
}

layercast_core::options! {
    /// The options of RLC. The defaults follow the papers; [`Options::mcl`] follows the MCL library.
    pub struct Options {
        /// Spacing of synchronisation points on the base layer. It sets the scale of the whole
        /// protocol's rate, so it is what calibration changes. The papers give no value; 250 ms is the
        /// MCL library's.
        sp_spacing: Duration = Duration::from_ms(250), Duration::from_ms(1) => Duration::from_secs(60);
        /// How the spacing grows with the layer (thesis, section 3.2.1: doubling).
        spacing_rule: SpacingRule = SpacingRule::Doubling;
        /// Packets of the cumulative flow that are doubled before a synchronisation point; 0 for no
        /// bursts (FLID-DL paper, section II: as short as eight; MCL library: none).
        burst: u32 = 8, 0 => 100;
        /// By which part of its spacing a packet may leave later than planned, at random (the papers have none).
        dither: f64 = 0.0, 0.0 => 1.0;
        /// How many packets of a layer carry the same synchronisation point, so that one loss does not
        /// cost the chance to join (this project's choice: 2; MCL library: 1).
        point_copies: u32 = 2, 1 => 8;
        /// The share of the spacing that must have passed since the last synchronisation point of a
        /// layer before the next is accepted; 0 accepts any (this project's guard against forgery).
        spacing_guard: f64 = 0.8, 0.0 => 1.0;
        /// How long a receiver is deaf after it left a layer.
        deaf_rule: DeafRule = DeafRule::Derived;
        /// The deaf period under the rule "constant" (MCL library, Internet profile: 10 s; LAN: 1 s).
        deaf_period: Duration = Duration::from_secs(10), Duration::ZERO => Duration::from_secs(600);
        /// How long a layer may still arrive after it was left. For the rule "derived".
        leave_latency: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(600);
        /// A bound on the round-trip time with full queues, since RLC measures none. For the rule
        /// "derived".
        rtt_bound: Duration = Duration::from_ms(250), Duration::ZERO => Duration::from_secs(64);
        /// Whether the first synchronisation point after a deaf period passes unused (MCL library: a
        /// flag, off).
        skip_point_after_deaf: bool = false;
        /// Whether the first synchronisation point after a join passes unused, so that each level is
        /// held for a whole spacing (off: the papers let a clean level rise at its next point).
        wait_after_join: bool = false;
        /// A packet is lost when this many later ones of its layer have arrived (thesis: 1).
        reorder: u32 = 1, 1 => 100;
        /// A packet is lost when a later one of its layer is this old. For `reorder` above 1 (MCL
        /// library: 500 ms).
        late_limit: Duration = Duration::from_ms(500), Duration::from_ms(1) => Duration::from_secs(60);
        /// Size of virtual packets, whose losses count in place of those of the real ones; 0: none (thesis 4.3.4).
        virtual_size: Size = Size::from_bytes(0);
        /// When a virtual packet counts as lost (the thesis does not say).
        virtual_loss: VirtualLoss = VirtualLoss::Representative;
        /// Losses between two synchronisation points that do not forbid a join (MCL library, Internet
        /// profile: 0; LAN: 1).
        losses_accepted: u32 = 0, 0 => 100;
        /// How many losses within `loss_window` cost the top layer (MCL library: 1).
        loss_limit: u32 = 1, 1 => 16;
        /// After how many further packets a loss is forgotten (MCL library: 20).
        loss_window: u32 = 20, 1 => 10000;
    }
}

impl Requirements for Options {
    fn has_phases(&self) -> bool {
        true
    }

    fn character(&self) -> Character {
        Character { rates: Rates::Layers, ecn: false, start: "a layer at each synchronisation point" }
    }

    fn deploy(&mut self) {
        self.dither = DEPLOYED_DITHER;
    }

    fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        check_layers(plan, super::MAX_LAYERS, "RLC's headers")
    }
}

impl Options {
    /// The options of the MCL library's Internet profile: no bursts, one copy of each point, a deaf
    /// period of 10 s, and packets are lost when they are 500 ms late.
    pub fn mcl() -> Options {
        Options {
            spacing_rule: SpacingRule::Mcl,
            burst: 0,
            point_copies: 1,
            deaf_rule: DeafRule::Constant,
            reorder: 100,
            ..Options::default()
        }
    }

    /// How long a receiver is deaf after it left a layer.
    pub fn deaf(&self) -> Duration {
        match self.deaf_rule {
            DeafRule::Constant => self.deaf_period,
            DeafRule::Derived if self.leave_latency.is_zero() => (self.rtt_bound * 2).max(self.sp_spacing),
            DeafRule::Derived => self.leave_latency + self.rtt_bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deaf_period_covers_what_still_arrives_after_a_leave() {
        let options = Options::default();
        assert_eq!(options.deaf(), Duration::from_ms(500));
        let slow = Options { leave_latency: Duration::from_secs(3), ..options };
        assert_eq!(slow.deaf(), Duration::from_ms(3250));
        assert_eq!(Options::mcl().deaf(), Duration::from_secs(10));
    }
}
