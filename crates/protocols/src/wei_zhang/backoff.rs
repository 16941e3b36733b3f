//! Letting points pass after experiments that failed (Wei and Zhang, section on exponential back-off).

use layercast_core::units::Layer;

/// How many points of a layer pass after the n-th failure in a row, n from 1: 1, 3, 7, and so on, with
/// at most `cap` doublings.
pub fn points_to_skip(failures: u32, cap: u32) -> u32 {
    (1u32 << failures.min(cap).min(31)) - 1
}

/// The failures in a row of experiments with one layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    layer: Option<Layer>,
    failures: u32,
    to_skip: u32,
}

impl Backoff {
    /// A layer was lost again before it had been held for its whole spacing.
    pub fn on_failure(&mut self, layer: Layer, cap: u32) {
        let failures = if self.layer == Some(layer) { self.failures.saturating_add(1) } else { 1 };
        *self = Backoff { layer: Some(layer), failures, to_skip: points_to_skip(failures, cap) };
    }

    /// The level changed for another reason, or the layer was held long enough.
    pub fn reset(&mut self) {
        *self = Backoff::default();
    }

    /// The failures in a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// A point of a layer has come. Returns whether it may be used.
    pub fn on_point(&mut self, layer: Layer) -> bool {
        let waits = self.layer == Some(layer) && self.to_skip > 0;
        if waits {
            self.to_skip -= 1;
        }
        !waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_lets_twice_as_many_points_pass() {
        let mut backoff = Backoff::default();
        let waits = |backoff: &mut Backoff| {
            let mut passed = 0;
            while !backoff.on_point(Layer(3)) {
                passed += 1;
            }
            passed
        };
        assert_eq!(waits(&mut backoff), 0);
        for expected in [1, 3, 7, 7] {
            backoff.on_failure(Layer(3), 3);
            assert_eq!(waits(&mut backoff), expected);
        }
        backoff.on_failure(Layer(2), 3);
        assert_eq!(waits(&mut backoff), 0, "another layer does not wait");
        backoff.on_failure(Layer(3), 3);
        assert_eq!(waits(&mut backoff), 1, "and restarts");
        backoff.on_failure(Layer(3), 3);
        backoff.reset();
        assert_eq!(waits(&mut backoff), 0);
    }
}
