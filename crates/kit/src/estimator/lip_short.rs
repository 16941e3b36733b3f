//! LIP for small packets: in a short interval all losses count (RFC 4828, sections 3 and 4.6).
//!
//! A source of small packets may send many in a round trip under losses that leave a source of large
//! ones no more than one, and would see most of its losses fall into one event. So an interval of at
//! most two round-trip times with K losses counts as its length over K, and the open interval counts
//! only once it is longer than that.

use super::loss_config::LossConfig;
use super::loss_event::{LossOutcome, Packet};
use super::{Lip, LossIntervals, SendTime};
use layercast_core::units::Duration;

/// Intervals of at most this many round-trip times are short.
const SHORT_ROUND_TRIPS: u64 = 2;

/// The loss event rate of small packets.
#[derive(Clone, Debug)]
pub struct LipShort {
    lip: Lip,
    /// Up to when the open interval is short; none before the first event.
    short_until: Option<SendTime>,
    /// The newest packet that was sent.
    newest: SendTime,
    /// The losses of the open interval.
    losses: u64,
}

impl LipShort {
    /// An estimator without packets.
    pub fn new(config: &LossConfig) -> LipShort {
        LipShort { lip: Lip::new(config), short_until: None, newest: SendTime::default(), losses: 0 }
    }

    /// The round-trip time to use from the next event on. Zero is refused.
    pub fn set_rtt(&mut self, rtt: Duration) {
        self.lip.set_rtt(rtt);
    }

    /// A packet was received.
    pub fn on_received(&mut self, packet: &Packet) {
        self.newest = self.newest.max(packet.sent);
        self.lip.on_received(packet);
    }

    /// A packet was lost.
    pub fn on_lost(&mut self, packet: &Packet) -> LossOutcome {
        self.newest = self.newest.max(packet.sent);
        if self.lip.contains(packet) {
            self.losses += 1;
            return self.lip.on_lost(packet);
        }
        let length = self.lip.open_length().max(1) as f64;
        let counted = if self.is_short(packet.sent) { length / self.losses as f64 } else { length };
        self.lip.begin(packet, counted);
        self.short_until =
            Some(packet.sent.plus_us(self.lip.rtt().as_us().saturating_mul(SHORT_ROUND_TRIPS)));
        self.losses = 1;
        LossOutcome::NewEvent
    }

    /// Whether the open interval would be short if it ended at this time.
    fn is_short(&self, end: SendTime) -> bool {
        self.short_until.is_some_and(|until| end <= until)
    }

    /// The loss event rate, 0 to 1; 0 while no interval is known.
    pub fn loss_rate(&self) -> f64 {
        // With an empty open interval only the closed ones count.
        let open = if self.is_short(self.newest) { 0 } else { self.lip.open_length() };
        self.intervals().average(open as f64).map_or(0.0, |average| (1.0 / average).min(1.0))
    }

    /// The closed intervals.
    pub fn intervals(&self) -> &LossIntervals {
        self.lip.intervals()
    }

    /// The closed intervals, to set or rescale the first one.
    pub fn intervals_mut(&mut self) -> &mut LossIntervals {
        self.lip.intervals_mut()
    }

    /// Packets since the newest event began, that event's first loss included.
    pub fn open_length(&self) -> u64 {
        self.lip.open_length()
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.lip.events()
    }

    /// The sender's clock has restarted: the open interval is not known to be short any more.
    pub fn forget_times(&mut self) {
        self.lip.forget_times();
        self.short_until = None;
        self.newest = SendTime::default();
    }

    /// Forgets everything but the round-trip time.
    pub fn reset(&mut self) {
        self.lip.reset();
        self.short_until = None;
        self.newest = SendTime::default();
        self.losses = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::LossMethod;
    use layercast_core::units::{Layer, Seq};

    /// Packets a millisecond apart on a path of 10 ms.
    fn packet(seq: u64) -> Packet {
        Packet { layer: Layer::BASE, seq: Seq(seq), sent: SendTime::from_us(1000 * seq) }
    }

    fn estimator() -> LipShort {
        let initial_rtt = Duration::from_ms(10);
        LipShort::new(&LossConfig {
            method: LossMethod::LipShort,
            discounting: None,
            initial_rtt,
            ..LossConfig::default()
        })
    }

    fn feed(estimator: &mut LipShort, numbers: core::ops::Range<u64>, lost: &[u64]) {
        for seq in numbers {
            if lost.contains(&seq) {
                estimator.on_lost(&packet(seq));
            } else {
                estimator.on_received(&packet(seq));
            }
        }
    }

    #[test]
    fn the_open_interval_counts_once_two_round_trips_have_passed() {
        let mut short = estimator();
        feed(&mut short, 0..20, &[5]);
        assert_eq!(short.loss_rate(), 1.0 / 5.0);
        feed(&mut short, 20..26, &[]);
        assert_eq!(short.loss_rate(), 1.0 / 5.0, "20 ms since the loss");
        feed(&mut short, 26..27, &[]);
        // The only closed interval makes room for the open one.
        assert_eq!(short.loss_rate(), 1.0 / 22.0);
    }

    #[test]
    fn a_restarted_clock_leaves_no_interval_short() {
        let mut short = estimator();
        feed(&mut short, 0..10, &[0, 3, 5]);
        short.forget_times();
        feed(&mut short, 10..12, &[11]);
        assert_eq!(short.intervals().closed().next().map(|interval| interval.length), Some(11.0));
        short.reset();
        assert_eq!((short.loss_rate(), short.events(), short.open_length()), (0.0, 0, 0));
    }
}
