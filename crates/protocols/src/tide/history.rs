//! The history of congestion, as a TCP of any rate would see it.
//!
//! A loss opens a period of one round-trip time, in which packets received and lost are counted. A TCP that sends
//! N packets in the period has a congestion event if one of them is lost, and one event however many are: with n
//! packets of our own, of which k were lost, the chance is that N of the n packets, drawn at random, hold a lost
//! one. So random losses of a fraction p give N p events for small p (losses count by the packet, as in LAP), and
//! a full queue gives one event whatever the rates are (as in LIP): both without dependence on one's own rate.

use alloc::collections::VecDeque;

use layercast_core::math::sqrt;
use layercast_kit::estimator::SendTime;
use layercast_kit::response::Response;

/// The most periods that are kept.
const MOST: usize = 64;

/// Halvings of the interval in which the fair rate lies.
const HALVINGS: u32 = 24;

/// A period with losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// When it ends, on the source's clock.
    pub end: SendTime,
    /// Time since the period before ended, in seconds, this one included.
    pub length_s: f64,
    /// Packets that the source sends in the period on the channels held, lost ones included.
    pub sent: f64,
    /// Packets lost.
    pub lost: u32,
}

/// The expected events of a TCP that sends `packets` in a period in which `lost` of `sent` were lost.
///
/// Above `sent` our own packets are too few to show what it would have met, and events grow with its packets, as
/// if losses were random.
pub fn virtual_events(packets: f64, sent: f64, lost: u32) -> f64 {
    if lost == 0 {
        return 0.0;
    }
    let all = sent.max(f64::from(lost));
    if packets >= all {
        return packets / all;
    }
    // No lost packet among `packets` of `all`: drawing without replacement.
    let mut none = 1.0;
    for index in 0..lost {
        let index = f64::from(index);
        none *= ((all - packets - index) / (all - index)).clamp(0.0, 1.0);
        if none < 1e-4 {
            return 1.0;
        }
    }
    1.0 - none
}

/// The last periods with losses.
#[derive(Clone, Debug)]
pub struct History {
    periods: VecDeque<Period>,
    /// When the last period ended, or the history began.
    end: SendTime,
    /// Congestion events of the emulated TCP that are remembered.
    memory: f64,
    is_emulated: bool,
}

impl History {
    /// An empty history that remembers so many events.
    pub fn new(memory: f64, is_emulated: bool) -> History {
        let periods = VecDeque::with_capacity(MOST);
        History { periods, end: SendTime::default(), memory, is_emulated }
    }

    /// Forgets everything, and plants one event that ends at `end`, after `length_s` seconds.
    pub fn reset(&mut self, end: SendTime, length_s: f64) {
        self.periods.clear();
        self.end = end;
        self.periods.push_back(Period { end, length_s, sent: 1.0, lost: 1 });
    }

    /// Packets are lost, the first of which was sent at `sent`: they belong to a period that is known, or begin
    /// one of `rtt_s` seconds in which the source sends `packets` to us. Returns whether they begin one.
    pub fn on_loss(&mut self, sent: SendTime, lost: u32, rtt_s: f64, packets: f64) -> bool {
        if sent < self.end {
            // Known late, perhaps of an older period.
            if let Some(period) = self.periods.iter_mut().find(|period| sent < period.end) {
                period.lost = period.lost.saturating_add(lost);
            }
            return false;
        }
        let end = sent.plus_us((rtt_s * 1e6) as u64);
        let length_s = end.as_us().saturating_sub(self.end.as_us()) as f64 * 1e-6;
        if self.periods.len() == MOST {
            self.periods.pop_front();
        }
        self.periods.push_back(Period { end, length_s, sent: packets.max(1.0), lost });
        self.end = end;
        true
    }

    /// When the last period ended, or the history began.
    pub fn end(&self) -> SendTime {
        self.end
    }

    /// Forgets everything: the history begins at `at`.
    pub fn clear(&mut self, at: SendTime) {
        self.periods.clear();
        self.end = at;
    }

    /// Whether there is any period.
    pub fn is_empty(&self) -> bool {
        self.periods.is_empty()
    }

    /// Congestion events a second of a TCP of `packets_per_s`. `open_s` seconds have passed since the last period.
    pub fn events_per_s(&self, packets_per_s: f64, rtt_s: f64, open_s: f64) -> f64 {
        let window = packets_per_s * rtt_s;
        let (mut events, mut time_s, mut seen) = (0.0, 0.0, 0.0);
        for period in self.periods.iter().rev() {
            let weight = (2.0 - 2.0 * seen / self.memory).clamp(0.0, 1.0);
            if weight <= 0.0 {
                break;
            }
            let own = if self.is_emulated {
                virtual_events(window, period.sent, period.lost)
            } else {
                window * f64::from(period.lost) / period.sent.max(1.0)
            };
            events += weight * own;
            time_s += weight * period.length_s;
            seen += own;
        }
        let closed = events / time_s.max(1e-6);
        // The time since the last event counts when that lowers the rate, as in RFC 5348, section 5.4.
        closed.min(events / (time_s + open_s).max(1e-6))
    }

    /// The rate in packets/s of a TCP that sees the events that its rate brings; none without losses.
    pub fn fair_rate(&self, response: Response, rtt_s: f64, open_s: f64) -> Option<f64> {
        if self.periods.is_empty() {
            return None;
        }
        let (mut low, mut high) = (0.1, 1e8);
        for _ in 0..HALVINGS {
            let middle = sqrt(low * high);
            let p = (self.events_per_s(middle, rtt_s, open_s) / middle).min(1.0);
            if response.packets_per_s(p, rtt_s) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(sqrt(low * high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_is_one_event_and_random_losses_count_by_the_packet() {
        assert!((virtual_events(10.0, 100.0, 1) - 0.1).abs() < 1e-9);
        assert!(virtual_events(10.0, 100.0, 60) > 0.99);
        assert_eq!(virtual_events(10.0, 10.0, 1), 1.0);
        assert_eq!(virtual_events(20.0, 10.0, 1), 2.0);
        assert_eq!(virtual_events(20.0, 10.0, 0), 0.0);
    }

    /// A period of `rtt_s` with losses every `every_s`.
    fn history(every_s: f64, rtt_s: f64, packets: f64, lost: u32) -> History {
        let mut history = History::new(8.0, true);
        for number in 1..=60 {
            let at = SendTime::from_us((f64::from(number) * every_s * 1e6) as u64);
            assert!(history.on_loss(at, lost, rtt_s, packets));
        }
        history
    }

    #[test]
    fn random_losses_give_the_equation() {
        // 1 % of 1000 packets/s at 100 ms: a period each 0.1 s with one lost packet of 100.
        let rate = history(0.1, 0.1, 100.0, 1).fair_rate(Response::Reno, 0.1, 0.0).unwrap();
        let expected = Response::Reno.packets_per_s(0.01, 0.1);
        assert!((rate / expected - 1.0).abs() < 0.02, "{rate} for {expected}");
    }

    #[test]
    fn overflows_give_the_rate_of_the_time_between_them() {
        // A window that halves every 2 s and grows by one in 0.1 s: a mean of 3/4 * 40 packets.
        let rate = history(2.0, 0.1, 10.0, 8).fair_rate(Response::Reno, 0.1, 0.0).unwrap();
        assert!((rate / 300.0 - 1.0).abs() < 0.15, "{rate}");
    }
}
