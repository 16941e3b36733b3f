//! The increase probabilities of the levels: p_i of the FLID-DL paper.

use alloc::vec::Vec;

use super::{Model, Target};

/// The smallest distance between the probabilities of two levels in hill climbing (FLID-DL paper, appendix A:
/// alpha).
pub const SEPARATION: f64 = 0.001;

/// The heuristic before monotonicity is restored: p_i = T q_i R_i, at most 1, where the target has rate R_i
/// at loss rate q_i; the top level never increases (FLID-DL paper, section IV-C).
pub fn raw_heuristic(model: &Model, target: &Target) -> Vec<f64> {
    let rise = |&rate: &f64| (model.slot_s * target.loss(rate) * rate).min(1.0);
    let mut increase_probabilities: Vec<f64> = model.packets_per_s.iter().map(rise).collect();
    if let Some(top) = increase_probabilities.last_mut() {
        *top = 0.0;
    }
    increase_probabilities
}

/// The heuristic: levels below that with the largest probability are raised to it, so that probabilities
/// never grow with the level, as cumulative signals need.
pub fn heuristic(model: &Model, target: &Target) -> Vec<f64> {
    let mut increase_probabilities = raw_heuristic(model, target);
    let largest = increase_probabilities.iter().copied().fold(0.0, f64::max);
    if let Some(first) = increase_probabilities.iter().position(|&rise| rise == largest) {
        increase_probabilities[..first].fill(largest);
    }
    increase_probabilities
}

/// Separates the probabilities: each at least `by` below that of the level below and above that of the level
/// above, the first at least `by` below 1 (FLID-DL paper, appendix A, step 1).
pub fn separated(increase_probabilities: &[f64], by: f64) -> Vec<f64> {
    let top = increase_probabilities.len().saturating_sub(1);
    let mut below = 1.0;
    let apart = |(level, &rise): (usize, &f64)| {
        if level == top {
            return 0.0;
        }
        let low = (top - level) as f64 * by;
        below = rise.max(low).min(below - by);
        below
    };
    increase_probabilities.iter().enumerate().map(apart).collect()
}
