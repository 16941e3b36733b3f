//! The window of a scalable TCP, for queues that mark early and often (L4S, RFC 9330).
//!
//! In each round-trip time it grows by a packet for the part of packets without mark, and if there was any mark it
//! shrinks by half of the smoothed fraction of marks (RFC 8257, sections 3.3 and 3.4). So marks of probability p give
//! about 2 / p packets. The marks of such a queue come with the same probability to everyone, so the window does not
//! depend on the receiver's own rate.

use layercast_core::math::pow;

/// The weight of a round-trip time in the fraction of marks (RFC 8257, section 4.2).
const GAIN: f64 = 1.0 / 16.0;

/// The smallest window, in packets.
const LEAST: f64 = 2.0;

/// The emulated window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalable {
    window: f64,
    /// The smoothed fraction of marks.
    fraction: f64,
    seen: u32,
    marked: u32,
}

impl Scalable {
    /// A TCP with this window, in packets.
    pub(super) fn new(window: f64) -> Scalable {
        // In balance that window has this fraction of marks.
        Scalable {
            window: window.max(LEAST),
            fraction: (2.0 / window.max(LEAST)).min(1.0),
            seen: 0,
            marked: 0,
        }
    }

    /// A packet came.
    pub(super) fn on_packet(&mut self, is_marked: bool) {
        self.seen += 1;
        self.marked += u32::from(is_marked);
    }

    /// So many round-trip times have passed since the last update. Returns the window in packets.
    pub(super) fn update(&mut self, rounds: f64) -> f64 {
        if self.seen == 0 {
            return self.window;
        }
        let now = f64::from(self.marked) / f64::from(self.seen);
        (self.seen, self.marked) = (0, 0);
        self.fraction += (1.0 - pow(1.0 - GAIN, rounds)) * (now - self.fraction);
        let reductions = rounds * (1.0 - pow(1.0 - now, self.window));
        self.window *= pow(1.0 - 0.5 * self.fraction, reductions);
        self.window = (self.window + rounds * (1.0 - now)).max(LEAST);
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window after many updates of `rounds` round-trip times with `marked` of 1000 packets marked.
    fn settled(marked: u32, rounds: f64) -> f64 {
        let mut window = 0.0;
        let mut tcp = Scalable::new(10.0);
        for _ in 0..4000 {
            (0..1000).for_each(|number| tcp.on_packet(number < marked));
            window = tcp.update(rounds);
        }
        window
    }

    #[test]
    fn marks_give_two_over_their_fraction() {
        for (marked, rounds) in [(200, 1.0), (50, 1.0), (50, 4.0), (10, 0.25)] {
            let expected = 2.0 / (f64::from(marked) / 1000.0);
            let window = settled(marked, rounds);
            // A round-trip time without a mark has no reduction: exp(-2) of them, or a window larger by a sixth.
            assert!((0.7..1.3).contains(&(window / expected)), "{window} for {expected}");
        }
    }

    #[test]
    fn it_is_never_below_two_packets_and_waits_without_packets() {
        assert!((settled(1000, 1.0) - LEAST).abs() < 1e-9);
        assert!((Scalable::new(7.0).update(100.0) - 7.0).abs() < 1e-9);
    }
}
