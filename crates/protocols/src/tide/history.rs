//! The history of congestion, as a TCP of any rate would see it.
//!
//! A loss opens a period of one round-trip time, in which packets received and lost are counted. A TCP that sends N
//! packets in a period has a congestion event if one of them is lost, and one event however many are. Losses in a
//! period are taken as Poisson: of n packets of our own k are lost, and only periods with k > 0 are seen. So the mean
//! of k over the periods gives the mean number of losses mu = phi n of any period, seen or not, and a TCP has
//! (1 - e^(-phi N)) / (1 - e^(-phi n)) events for each period seen. Random losses are rare in a period: N / n events,
//! so losses count by the packet, as in LAP. A full queue hits everyone: one event, whatever the rates are, as in LIP.

use alloc::collections::VecDeque;

use super::ENOUGH;
use super::emulated::{Window, events_a_packet, rate};
use layercast_core::math::{exp, floor};
use layercast_kit::estimator::SendTime;
use layercast_kit::response::Response;

/// The most periods that are kept.
const MOST: usize = 64;

/// The window before an event over the mean: 4/3 for Reno, 1.08 for CUBIC. With each its own 99, with 4/3 96, with this 103 of 120
/// random networks are in band.
const BEFORE_EVENT: f64 = 1.25;

/// Halvings of the interval in which the mean lies.
const HALVINGS: u32 = 24;

/// A period with losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// When it ends, on the source's clock.
    pub end: SendTime,
    /// Time since the period before ended, in seconds, this one included.
    pub length_s: f64,
    /// Round-trip times since then.
    pub rounds: f64,
    /// Packets that the source sends in the period on the channels held, lost ones included.
    pub sent: f64,
    /// Packets lost.
    pub lost: u32,
    /// The window of an emulated TCP at most, in packets: what was in use.
    pub most: f64,
}

/// The events of a TCP that sends `packets` in a period, for each period seen in which we were sent `sent`, if a mean
/// of `losses` packets of ours are lost in a period: the ratio of the chances that any is lost.
pub fn virtual_events(packets: f64, sent: f64, losses: f64) -> f64 {
    let ratio = packets / sent.max(1.0);
    if losses < 1e-3 {
        return ratio;
    }
    (1.0 - exp(-losses * ratio)) / (1.0 - exp(-losses))
}

/// The mean of a Poisson variable whose values above 0 have this mean, at least 1.
pub fn untruncated_mean(mean: f64) -> f64 {
    let (mut low, mut high) = (0.0, mean);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle < mean * (1.0 - exp(-middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The last periods with losses.
#[derive(Clone, Debug)]
pub struct History {
    periods: VecDeque<Period>,
    /// When the last period ended, or the history began.
    end: SendTime,
    /// Round-trip times since then, and up to when they were counted.
    rounds: f64,
    counted: SendTime,
    response: Response,
    /// The TCP when the first interval that is kept began.
    first: Window,
    /// What the history began with, until it is forgotten.
    origin: Option<Origin>,
}

/// A rate that was known when the history began.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// The mean window of a TCP of that rate.
    window: f64,
    /// The packets that it sends from one event to the next.
    packets: f64,
}

impl History {
    /// An empty history.
    pub fn new(response: Response) -> History {
        let periods = VecDeque::with_capacity(MOST);
        History {
            periods,
            end: SendTime::default(),
            rounds: 0.0,
            counted: SendTime::default(),
            response,
            first: Window::new(response, 1.0),
            origin: None,
        }
    }

    /// Time has passed until `sent`, with round-trip times of `rtt_s` seconds.
    pub fn elapse(&mut self, sent: SendTime, rtt_s: f64) {
        let us = sent.as_us().saturating_sub(self.counted.as_us());
        self.counted = self.counted.max(sent);
        self.rounds += us as f64 * 1e-6 / rtt_s;
    }

    /// Forgets everything: at `end` a TCP has this rate.
    pub fn begin(&mut self, end: SendTime, packets_per_s: f64, rtt_s: f64) {
        self.periods.clear();
        (self.end, self.counted, self.rounds) = (end, end, 0.0);
        let p = events_a_packet(self.response, packets_per_s, rtt_s);
        let window = self.response.window(p, rtt_s);
        self.origin = Some(Origin { window, packets: 1.0 / p });
        self.first = Window::new(self.response, BEFORE_EVENT * window);
        self.first.cut(1.0);
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
        self.elapse(end, rtt_s);
        let rounds = core::mem::take(&mut self.rounds);
        let sent = packets.max(1.0);
        // A TCP of which less than half of the window is in use does not grow (RFC 7661, section 4.2).
        self.keep(Period { end, length_s, rounds, sent, lost, most: 2.0 * sent });
        true
    }

    /// The newest period.
    fn keep(&mut self, period: Period) {
        if self.periods.len() == MOST {
            self.forget_oldest();
        }
        self.end = period.end;
        self.periods.push_back(period);
    }

    /// The oldest period is no longer kept, only what it did to the window.
    fn forget_oldest(&mut self) {
        let losses = self.losses(self.periods.len());
        if let Some(oldest) = self.periods.pop_front() {
            pass(&oldest, &mut self.first, losses);
        }
        self.origin = None;
    }

    /// When the last period ended, or the history began.
    pub fn end(&self) -> SendTime {
        self.end
    }

    /// What began at the end of the history lasts until `end` at least: nothing counts before.
    pub fn postpone(&mut self, end: SendTime) {
        (self.end, self.counted) = (self.end.max(end), self.counted.max(end));
    }

    /// How many packets of ours are lost in one of the `newest` periods on average, seen or not.
    fn losses(&self, newest: usize) -> f64 {
        // A burst shows no more than this.
        let lost: u32 = self.periods.iter().rev().take(newest).map(|period| period.lost.min(ENOUGH)).sum();
        // One more period with one loss: few periods show little.
        untruncated_mean(f64::from(lost + 1) / (newest as f64 + 1.0))
    }

    /// Replays the history to a TCP: what it has seen of the events that are remembered.
    fn replay(&self, losses: f64, open_s: f64) -> Seen {
        let mut tcp = self.first;
        let mut passed = [Passed::default(); MOST];
        for (period, passed) in self.periods.iter().zip(&mut passed) {
            *passed = pass(period, &mut tcp, losses);
        }
        let mut seen = Seen {
            packets: self.rounds * tcp.pass(open_s, self.rounds),
            rounds: self.rounds,
            sent: self.rounds * self.periods.back().map_or(0.0, |newest| newest.sent),
            ..Seen::default()
        };
        let weight_at = |events: f64| (2.0 - 2.0 * events / f64::from(ENOUGH)).clamp(0.0, 1.0);
        let mut events = 0.0;
        for (period, passed) in self.periods.iter().zip(&passed).rev() {
            let weight = weight_at(events);
            if weight <= 0.0 {
                return seen;
            }
            events += passed.events;
            seen.periods += 1;
            seen.packets += weight * passed.packets;
            seen.events += weight * passed.events;
            seen.rounds += weight * period.rounds;
            seen.lost += weight * f64::from(period.lost);
            seen.sent += weight * period.rounds * period.sent;
        }
        if let Some(origin) = self.origin {
            let weight = weight_at(events);
            seen.packets += weight * origin.packets;
            seen.events += weight;
            seen.rounds += weight * origin.packets / origin.window;
        }
        seen
    }

    /// The rate in packets/s at a round-trip time of `rtt_s` seconds of a TCP with the mean window over the remembered
    /// periods and the `open_s` seconds since the last one.
    pub fn fair_rate(&self, open_s: f64, rtt_s: f64) -> f64 {
        let few = self.replay(self.losses(self.periods.len().min(ENOUGH as usize)), open_s);
        let seen = self.replay(self.losses(few.periods), open_s);
        let window = (seen.packets / seen.rounds.max(1e-9)).max(1.0);
        // What timeouts cost: with few packets in flight each packet lost may cause one, not only each event.
        let p = (seen.events / seen.packets.max(1e-9)).max(seen.lost / seen.sent.max(1.0)).clamp(1e-12, 1.0);
        rate(self.response, window, p, rtt_s)
    }
}

/// The events of a TCP in an interval that ends with a period, from its window at the beginning. One is at the
/// end, when the window is largest; more than one are losses that we did not meet, at any time before.
fn events_in(period: &Period, tcp: Window, losses: f64) -> f64 {
    let mut later = tcp;
    later.pass(period.length_s, period.rounds);
    let at_end = virtual_events(later.size(), period.sent, losses);
    if at_end <= 1.0 {
        return at_end;
    }
    let before = virtual_events(0.5 * (tcp.size() + later.size()), period.sent, losses);
    before.max(1.0)
}

/// A TCP passes an interval and the period at its end.
fn pass(period: &Period, tcp: &mut Window, losses: f64) -> Passed {
    let events = events_in(period, *tcp, losses);
    let parts = floor(events + 0.5).max(1.0);
    let (rounds, mut packets) = (period.rounds / parts, 0.0);
    for _ in 0..parts as u32 {
        packets += rounds * tcp.pass(period.length_s / parts, rounds);
        tcp.limit(period.most);
        tcp.cut((events / parts).min(1.0));
    }
    Passed { packets, events }
}

/// What a TCP did in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    packets: f64,
    events: f64,
}

/// What an emulated TCP has seen, weighted, and what the receiver has lost of what was sent to it.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    packets: f64,
    events: f64,
    rounds: f64,
    lost: f64,
    sent: f64,
    /// Periods that count.
    periods: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_is_one_event_and_random_losses_count_by_the_packet() {
        assert!((virtual_events(10.0, 100.0, 0.0) - 0.1).abs() < 1e-9);
        assert!((virtual_events(200.0, 100.0, 0.0) - 2.0).abs() < 1e-9);
        assert!((virtual_events(50.0, 100.0, 20.0) - 1.0).abs() < 1e-3);
        assert!((virtual_events(1000.0, 100.0, 20.0) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn the_mean_of_all_periods_follows_from_those_with_losses() {
        for mean in [0.01, 0.5, 1.0, 4.0] {
            let truncated = mean / (1.0 - exp(-mean));
            assert!((untruncated_mean(truncated) - mean).abs() < 1e-4);
        }
        assert!(untruncated_mean(1.0) < 1e-3);
    }

    /// A period of `rtt_s` with losses every `every_s`.
    fn history(every_s: f64, rtt_s: f64, packets: f64, lost: u32) -> History {
        let mut history = History::new(Response::Reno);
        history.begin(SendTime::default(), packets / rtt_s, rtt_s);
        for number in 1..=60 {
            let at = SendTime::from_us((f64::from(number) * every_s * 1e6) as u64);
            assert!(history.on_loss(at, lost, rtt_s, packets));
        }
        history
    }

    #[test]
    fn random_losses_give_the_equation() {
        // 1 % of 1000 packets/s at 100 ms: a period each 0.1 s with one lost packet of 100.
        let rate = history(0.1, 0.1, 100.0, 1).fair_rate(0.0, 0.1);
        let expected = Response::Reno.packets_per_s(0.01, 0.1);
        // The equation has one event at most in a round-trip time, and recovery takes one: within a tenth.
        assert!((rate / expected - 1.0).abs() < 0.1, "{rate} for {expected}");
    }

    #[test]
    fn overflows_give_the_rate_of_the_time_between_them() {
        // A window that halves every 2 s and grows by one in 0.1 s: a mean of 3/4 * 40 packets.
        let rate = history(2.0, 0.1, 40.0, 8).fair_rate(0.0, 0.1);
        assert!((rate / 300.0 - 1.0).abs() < 0.15, "{rate}");
    }

    /// Ten packets a round-trip time are in use, so the window before an event is 20 at most, and one that grows
    /// from half of it for 20 round-trip times has 20 on average; without the limit it would be 30.
    #[test]
    fn a_window_that_is_not_in_use_does_not_grow_from_event_to_event() {
        let rate = history(2.0, 0.1, 10.0, 3).fair_rate(0.0, 0.1);
        assert!(rate > 140.0 && rate < 230.0, "{rate}");
    }

    /// The same events, but eight of ten packets lost in each: a TCP that retransmits so many has timeouts.
    #[test]
    fn many_losses_among_few_packets_cost_timeouts() {
        let rate = |lost| history(2.0, 0.1, 10.0, lost).fair_rate(0.0, 0.1);
        assert!(rate(8) < 0.9 * rate(3), "{} {}", rate(8), rate(3));
    }

    /// A receiver whose siblings hold more than the link carries has several events in a few seconds, with a third of the packets
    /// lost. (length, round-trip times, packets sent, lost) of each.
    const BURSTS: [(f64, f64, f64, u32); 11] = [
        (4.9, 51.0, 310.0, 31),
        (15.87, 134.4, 343.0, 109),
        (1.89, 16.4, 337.0, 82),
        (1.41, 11.4, 350.0, 140),
        (1.38, 14.8, 345.0, 101),
        (1.29, 9.7, 310.0, 83),
        (1.31, 15.0, 319.0, 68),
        (0.89, 7.4, 339.0, 254),
        (0.37, 8.3, 329.0, 286),
        (0.72, 6.6, 287.0, 105),
        (0.23, 1.6, 329.0, 31),
    ];

    #[test]
    fn the_rate_does_not_jump_without_a_loss() {
        for response in [Response::Reno, Response::Cubic] {
            let mut history = History::new(response);
            history.begin(SendTime::default(), 1000.0, 0.149);
            for (length_s, rounds, sent, lost) in BURSTS {
                let end = history.end.plus_us((length_s * 1e6) as u64);
                history.keep(Period { end, length_s, rounds, sent, lost, most: 2.0 * sent });
                history.counted = end;
                let mut before = history.fair_rate(0.0, 0.149);
                for step in 1..=200 {
                    let mut later = history.clone();
                    let open_s = 0.05 * f64::from(step);
                    later.elapse(end.plus_us((open_s * 1e6) as u64), 0.149);
                    let rate = later.fair_rate(open_s, 0.149);
                    assert!((rate / before - 1.0).abs() < 0.05, "{response:?} {open_s}: {before} {rate}");
                    before = rate;
                }
            }
        }
    }
}
