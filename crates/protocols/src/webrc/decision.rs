//! Whether the next wave may be joined, and whether start-up is over (RFC 3738, sections 3.2.2.6 and
//! 3.2.3.6). Rates are in packets/s.

use super::rates::Weights;
use layercast_core::math::sqrt;
use layercast_kit::waves::Waves;

/// The state of a receiver when it decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation {
    /// How many waves are held (NWC).
    pub held: u16,
    /// The target rate (TRATE).
    pub target: f64,
    /// The anticipated rate (ARR_P).
    pub anticipated: f64,
    /// The rate received in the last epoch (RR_P).
    pub received: f64,
    /// The maximum of that in any epoch since the last join.
    pub received_most: f64,
    /// Whether a loss event is in progress (LOSS_EVENT).
    pub in_loss_event: bool,
    /// Whether the newest wave's first packet is still awaited (JOINING).
    pub is_joining: bool,
    /// Whether start-up waits for the newest wave to take effect.
    pub is_waiting: bool,
    /// Whether the rate received must have fallen since the last join.
    pub must_have_fallen: bool,
    /// The length of an epoch in seconds (EL).
    pub epoch_s: f64,
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Join.
    Join,
    /// Do not join.
    Stay,
    /// Do not join, because the rate received has not fallen enough since the last join; the loss filter is to
    /// allow this rate from now on, which is that after the join.
    Hold(f64),
}

/// Whether to join one more wave.
pub fn decide(waves: &Waves, situation: &Situation) -> Decision {
    let Situation { held, target, received, received_most, epoch_s, .. } = *situation;
    let all_held = held >= waves.active_waves();
    if situation.in_loss_event || situation.is_joining || situation.is_waiting || all_held {
        return Decision::Stay;
    }
    let after = situation.anticipated * waves.join_factor(held);
    // A source of constant rate never sends more than this, whatever is joined.
    let takes_all = waves.is_constant() && target >= waves.top_rate();
    if target < after && !takes_all {
        return Decision::Stay;
    }
    let low_enough = (received_most - 2.0 / epoch_s).max(waves.fall() * received_most);
    if situation.must_have_fallen && !takes_all && received > low_enough {
        return Decision::Hold(after);
    }
    Decision::Join
}

/// Whether the true rate, a full epoch after the first packet of the newest of `held` waves, is so far
/// below the anticipated rate that the path must be full. The weights are those of start-up.
pub fn grows_too_little(
    waves: &Waves,
    weights: Weights,
    held: u16,
    true_rate: f64,
    anticipated: f64,
    epoch_s: f64,
) -> bool {
    if held == 0 {
        return false;
    }
    let growth = waves.join_factor(held - 1);
    let risen = 1.0 / waves.fallen(epoch_s / waves.slot().as_secs_f64());
    let (new, old) = (weights.zeta, 1.0 - weights.zeta);
    let share = new + old * risen * (new + old * sqrt(waves.fall()) * risen) / growth;
    true_rate < share * anticipated - 2.0 / epoch_s
}

/// By how many seconds the time to a wave's first packet must grow from one wave to the next, with
/// `held` waves at present, to show that a queue has built up.
pub fn jump_limit(waves: &Waves, held: u16, anticipated: f64) -> f64 {
    let fall = waves.fall();
    (1.0 - waves.fallen(f64::from(held) + 1.0)) / (fall * waves.steepness() * anticipated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webrc::Options;
    use layercast_core::layers::LayerTable;
    use layercast_core::math::{ln, pow};
    use layercast_core::session::SessionPlan;
    use layercast_core::units::{Rate, Size};

    fn waves(constant_rate: bool) -> Waves {
        let layers = LayerTable::from_rates([Rate::from_kbps(1000.0)]).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        Options { constant_rate, ..Options::default() }.waves(&plan)
    }

    /// Four waves held at the start of a slot, and a target just above the fifth.
    fn ready(waves: &Waves) -> Situation {
        Situation {
            held: 4,
            target: 1.001 * waves.joined_rate(5),
            anticipated: waves.joined_rate(4),
            received: 7.0,
            received_most: 9.5,
            in_loss_event: false,
            is_joining: false,
            is_waiting: false,
            must_have_fallen: true,
            epoch_s: 0.5,
        }
    }

    #[test]
    fn a_wave_is_joined_when_no_rule_forbids_it() {
        let waves = waves(false);
        let ready = ready(&waves);
        let decided = |situation| decide(&waves, &situation);
        assert_eq!(decided(ready), Decision::Join);
        assert_eq!(decided(Situation { in_loss_event: true, ..ready }), Decision::Stay);
        assert_eq!(decided(Situation { is_joining: true, ..ready }), Decision::Stay);
        assert_eq!(decided(Situation { is_waiting: true, ..ready }), Decision::Stay);
        assert_eq!(decided(Situation { target: 0.999 * waves.joined_rate(5), ..ready }), Decision::Stay);
        let all = Situation { held: waves.active_waves(), target: 1e6, ..ready };
        assert_eq!(decided(all), Decision::Stay);
    }

    #[test]
    fn a_rate_that_has_not_fallen_holds_the_filter() {
        let waves = waves(false);
        let ready = ready(&waves);
        // Two packets in half a second are 4 packets/s: 5.5 of 9.5, and three quarters are 7.125.
        let high = Situation { received: 7.2, ..ready };
        let Decision::Hold(rate) = decide(&waves, &high) else { panic!("{:?}", decide(&waves, &high)) };
        assert!((rate / waves.joined_rate(5) - 1.0).abs() < 1e-12);
        assert_eq!(decide(&waves, &Situation { must_have_fallen: false, ..high }), Decision::Join);
        let fast = Situation { received: 95.9, received_most: 100.0, ..ready };
        assert_eq!(decide(&waves, &fast), Decision::Join);
        assert!(matches!(decide(&waves, &Situation { received: 96.1, ..fast }), Decision::Hold(_)));
    }

    #[test]
    fn all_of_a_constant_rate_may_be_taken_at_once() {
        let high = |waves: &Waves| Situation {
            target: waves.top_rate(),
            anticipated: waves.top_rate(),
            received: 9.0,
            ..ready(waves)
        };
        let (constant, falling) = (waves(true), waves(false));
        assert_eq!(decide(&constant, &high(&constant)), Decision::Join);
        assert_eq!(decide(&falling, &high(&falling)), Decision::Stay);
    }

    /// The terms as RFC 3738, section 3.2.2.6, writes them.
    #[test]
    fn start_up_ends_by_the_terms_of_the_rfc() {
        let waves = waves(true);
        let weights = Weights::new(&Options::default(), true);
        let (p, zeta, epoch_s) = (0.75, weights.zeta, 0.5);
        let late = pow(p, -epoch_s / 10.0);
        for held in [1u16, 3, 9] {
            let power = |slots: f64| pow(p, -slots);
            let nwc = f64::from(held);
            let g = (power(nwc + 1.0) - 1.0) / (power(nwc) - 1.0);
            let c = zeta + (1.0 - zeta) * late * (zeta + (1.0 - zeta) * pow(p, 0.5) * late) / g;
            let limit = c * 100.0 - 2.0 / epoch_s;
            assert!(grows_too_little(&waves, weights, held, limit - 0.01, 100.0, epoch_s));
            assert!(!grows_too_little(&waves, weights, held, limit + 0.01, 100.0, epoch_s));
            let jump = (pow(p, nwc + 1.0) - 1.0) / (p * ln(p)) / 100.0;
            assert!((jump_limit(&waves, held, 100.0) / jump - 1.0).abs() < 1e-12);
        }
        assert!(!grows_too_little(&waves, weights, 0, 0.0, 100.0, epoch_s));
    }
}
