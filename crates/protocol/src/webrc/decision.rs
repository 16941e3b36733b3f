//! Whether the next wave may be joined, and whether start-up is over (RFC 3738, sections 3.2.2.6 and
//! 3.2.3.6). Rates are in packets/s.

use super::rates::Weights;
use super::waves::Waves;
use crate::math::sqrt;

/// What a receiver knows when it decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation {
    /// How many waves are held [NWC].
    pub held: u16,
    /// The target rate [TRATE].
    pub target: f64,
    /// The anticipated rate [ARR_P].
    pub anticipated: f64,
    /// What was received in the last epoch [RR_P].
    pub received: f64,
    /// The most of that in any epoch since the last join.
    pub received_most: f64,
    /// Whether a loss event is in progress [LOSS_EVENT].
    pub in_loss_event: bool,
    /// Whether the newest wave's first packet is still awaited [JOINING].
    pub is_joining: bool,
    /// Whether start-up waits for the newest wave to show.
    pub is_waiting: bool,
    /// Whether the rate received must have fallen since the last join.
    pub must_have_fallen: bool,
    /// The length of an epoch in seconds [EL].
    pub epoch_s: f64,
}

/// What comes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Join.
    Join,
    /// Do not.
    Stay,
    /// Do not, for the rate received has not fallen enough since the last join; the loss filter is to
    /// allow this rate from now on, which is that after the join.
    Hold(f64),
}

/// Whether to join one wave more.
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
    (true_rate, anticipated): (f64, f64),
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

/// By how many seconds the time to a wave's first packet must grow from one wave to the next, with now
/// `held` waves, so that a queue must have built up.
pub fn jump_limit(waves: &Waves, held: u16, anticipated: f64) -> f64 {
    let fall = waves.fall();
    (1.0 - waves.fallen(f64::from(held) + 1.0)) / (fall * waves.steepness() * anticipated)
}
