//! The receive rates of the last two round trips (RFC 5348, section 4.3: `X_recv_set`).

use layercast_core::units::{Duration, Time};

/// The most values that are kept (RFC 5348, section 8.2.2).
const MOST: usize = 3;

/// Receive rates in byte/s with the times of their reports. Initially it also holds an unbounded value,
/// so that the first reports bound nothing.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveSet {
    entries: [(f64, Time); MOST],
    len: usize,
    /// Since when the value without bound is a member.
    unbounded: Option<Time>,
}

impl ReceiveSet {
    /// A set with the value without bound alone, as of `now`.
    pub fn new(now: Time) -> ReceiveSet {
        ReceiveSet { entries: [(0.0, now); MOST], len: 0, unbounded: Some(now) }
    }

    /// Adds a value and forgets those older than `memory`, which is two round trips.
    pub fn update(&mut self, now: Time, bytes_per_s: f64, memory: Duration) {
        self.unbounded = self.unbounded.filter(|&at| now.since(at) <= memory);
        let mut kept = [(bytes_per_s, now); MOST];
        let recent = self.entries[..self.len].iter().filter(|&&(_, at)| now.since(at) <= memory);
        // The newest stands first.
        let mut len = 1;
        for (room, &entry) in kept[1..].iter_mut().zip(recent) {
            *room = entry;
            len += 1;
        }
        (self.entries, self.len) = (kept, len);
    }

    /// Adds a value and keeps only the largest, as of `now`. The unbounded value is removed.
    pub fn maximize(&mut self, now: Time, bytes_per_s: f64) {
        let largest = self.entries[..self.len].iter().fold(bytes_per_s, |most, &(rate, _)| most.max(rate));
        self.replace(now, largest);
    }

    /// Halves all values.
    pub fn halve(&mut self) {
        self.entries[..self.len].iter_mut().for_each(|(rate, _)| *rate *= 0.5);
    }

    /// Keeps this value alone.
    pub fn replace(&mut self, now: Time, bytes_per_s: f64) {
        self.entries[0] = (bytes_per_s, now);
        self.len = 1;
        self.unbounded = None;
    }

    /// The largest value in byte/s; none if it has no bound.
    pub fn largest(&self) -> Option<f64> {
        let entries = &self.entries[..self.len];
        let largest = entries.iter().fold(0.0, |most: f64, &(rate, _)| most.max(rate));
        self.unbounded.is_none().then_some(largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn nothing_is_bounded_for_two_round_trips() {
        let mut set = ReceiveSet::new(ms(0));
        set.update(ms(100), 10.0, Duration::from_ms(200));
        set.update(ms(200), 20.0, Duration::from_ms(200));
        assert_eq!(set.largest(), None);
        set.update(ms(300), 15.0, Duration::from_ms(200));
        assert_eq!(set.largest(), Some(20.0));
    }

    #[test]
    fn old_values_and_all_but_three_are_forgotten() {
        let mut set = ReceiveSet::new(ms(0));
        set.replace(ms(0), 90.0);
        for (at, rate) in [(10, 50.0), (20, 40.0), (30, 30.0)] {
            set.update(ms(at), rate, Duration::from_ms(200));
        }
        assert_eq!(set.largest(), Some(50.0));
        set.update(ms(225), 20.0, Duration::from_ms(200));
        assert_eq!(set.largest(), Some(30.0));
    }

    #[test]
    fn the_largest_alone_can_be_kept_and_halved() {
        let mut set = ReceiveSet::new(ms(0));
        set.update(ms(10), 50.0, Duration::from_ms(200));
        set.maximize(ms(20), 40.0);
        assert_eq!(set.largest(), Some(50.0));
        set.halve();
        assert_eq!(set.largest(), Some(25.0));
    }
}
