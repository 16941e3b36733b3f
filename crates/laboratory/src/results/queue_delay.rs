//! The delay of a link's queue over a window.
//!
//! The delay at a moment is the time that the link needs for the bytes that wait then. Means and shares are over
//! time, including the time without delay.

/// How long a queue had which delay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueueDelay {
    /// The mean over the window, in milliseconds.
    pub mean_ms: f64,
    /// For how many seconds the delay was at most this many milliseconds and more than the one before: by rising
    /// delay. The rest of the window was without delay.
    pub held: Vec<(f64, f64)>,
}

impl QueueDelay {
    /// The delay that was not exceeded for this share of a window, in milliseconds.
    #[must_use]
    pub fn quantile_ms(&self, share: f64, window_s: f64) -> f64 {
        let held_s: f64 = self.held.iter().map(|(_, seconds)| seconds).sum();
        let mut passed_s = window_s - held_s;
        for &(delay_ms, seconds) in &self.held {
            if passed_s >= share * window_s {
                break;
            }
            passed_s += seconds;
            if passed_s >= share * window_s {
                return delay_ms;
            }
        }
        if passed_s >= share * window_s {
            0.0
        } else {
            self.held.last().map_or(0.0, |&(delay_ms, _)| delay_ms)
        }
    }
}

/// Where the bin begins that ends at a delay: there are eight for each doubling, as the simulator keeps them.
pub(crate) fn bin_start_ms(end_ms: f64) -> f64 {
    let end_ns = (end_ms * 1e6).round() as u64;
    let width_ns = end_ns.saturating_sub(1).checked_ilog2().map_or(0, |octave| (1 << octave) >> 3);
    (end_ns - width_ns) as f64 / 1e6
}

/// How the delay is distributed over the time of several windows: the share of their total length in which it was
/// at most so many milliseconds, by rising delay.
pub(crate) fn distribution<'a>(all: impl Iterator<Item = &'a QueueDelay>, total_s: f64) -> Vec<(f64, f64)> {
    let mut held: Vec<(f64, f64)> = all.flat_map(|delays| delays.held.iter().copied()).collect();
    held.sort_by(|a, b| a.0.total_cmp(&b.0));
    let held_s: f64 = held.iter().map(|(_, seconds)| seconds).sum();
    let mut passed_s = (total_s - held_s).max(0.0);
    let mut shares = vec![(0.0, passed_s / total_s.max(f64::MIN_POSITIVE))];
    for (delay_ms, seconds) in held {
        passed_s += seconds;
        let share = (passed_s / total_s.max(f64::MIN_POSITIVE)).min(1.0);
        match shares.last_mut() {
            Some(last) if last.0 >= delay_ms => last.1 = share,
            _ => shares.push((delay_ms, share)),
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_count_the_time_without_delay() {
        // Of 10 s: 6 s without, 3 s of 10 ms, 1 s of 80 ms.
        let delay = QueueDelay { mean_ms: 11.0, held: vec![(10.0, 3.0), (80.0, 1.0)] };
        assert_eq!(delay.quantile_ms(0.5, 10.0), 0.0);
        assert_eq!(delay.quantile_ms(0.6, 10.0), 0.0);
        assert_eq!(delay.quantile_ms(0.8, 10.0), 10.0);
        assert_eq!(delay.quantile_ms(0.95, 10.0), 80.0);
        assert_eq!(QueueDelay::default().quantile_ms(0.99, 10.0), 0.0);
    }

    #[test]
    fn a_distribution_is_over_all_windows() {
        let one = QueueDelay { mean_ms: 0.0, held: vec![(10.0, 2.0), (80.0, 1.0)] };
        let other = QueueDelay { mean_ms: 0.0, held: vec![(10.0, 1.0)] };
        let shares = distribution([&one, &other].into_iter(), 10.0);
        assert_eq!(shares, [(0.0, 0.6), (10.0, 0.9), (80.0, 1.0)]);
    }
}
