//! `HyStart`++: slow start ends when the round-trip time rises, before the queue overflows.
//!
//! Source: RFC 9406, with its constants for a sender that does not pace. Round-trip times are those of the
//! packets that acknowledgements cover last; nothing is measured once the first slow start is over.

use std::collections::VecDeque;

use layercast_core::units::{Duration, Time};

const MIN_RTT_THRESH: Duration = Duration::from_ms(4);
const MAX_RTT_THRESH: Duration = Duration::from_ms(16);
const MIN_RTT_DIVISOR: f64 = 8.0;
const N_RTT_SAMPLE: u32 = 8;
/// By how much growth is slower in conservative slow start.
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// So many rounds of conservative slow start end it.
const CSS_ROUNDS: u32 = 5;
/// So many packets at most open the window for one acknowledgement (`L` of the RFC).
const MOST_ACKED: f64 = 8.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    SlowStart,
    /// Conservative slow start: whether the rise was real is being found out.
    Conservative {
        /// The smallest round-trip time of the round in which it began.
        baseline: Duration,
        rounds: u32,
    },
    Over,
}

#[derive(Clone, Debug, Default)]
pub(super) struct HyStart {
    phase: Phase,
    /// When the packets not acknowledged were sent, the first of them `first`.
    sent: VecDeque<Time>,
    first: i64,
    /// The round ends when this packet is acknowledged.
    round_end: i64,
    /// The smallest round-trip times of the last round and of this one, and the samples of this one.
    last: Option<Duration>,
    current: Option<Duration>,
    samples: u32,
}

impl HyStart {
    /// Resets the state for another connection, and keeps the allocation.
    pub(super) fn reset(&mut self) {
        let mut sent = std::mem::take(&mut self.sent);
        sent.clear();
        *self = HyStart { sent, ..HyStart::default() };
    }

    /// The first slow start is over.
    pub(super) fn end(&mut self) {
        self.phase = Phase::Over;
        self.sent.clear();
    }

    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// A packet that was not sent before leaves.
    pub(super) fn sent(&mut self, seq: i64, now: Time) {
        if self.is_over() {
            return;
        }
        if self.sent.is_empty() {
            self.first = seq;
        }
        self.sent.push_back(now);
    }

    /// A new acknowledgement, of packets up to `cumulative`, that opens the window by `acked` packets in
    /// plain slow start. Returns by how many it does.
    pub(super) fn acknowledged(&mut self, now: Time, cumulative: i64, highest_sent: i64, acked: f64) -> f64 {
        if let Some(rtt) = self.take_rtt(now, cumulative) {
            self.samples += 1;
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.judge();
        }
        if cumulative > self.round_end {
            self.begin_round(highest_sent);
        }
        match self.phase {
            Phase::SlowStart => acked.min(MOST_ACKED),
            Phase::Conservative { .. } => acked.min(MOST_ACKED) / CSS_GROWTH_DIVISOR,
            Phase::Over => acked,
        }
    }

    /// The round-trip time of the last packet up to `cumulative`, which is removed with those before it.
    fn take_rtt(&mut self, now: Time, cumulative: i64) -> Option<Duration> {
        let count = usize::try_from(cumulative + 1 - self.first).ok()?.min(self.sent.len());
        let sent = *self.sent.get(count.checked_sub(1)?)?;
        self.sent.drain(..count);
        self.first += count as i64;
        Some(now.since(sent))
    }

    fn judge(&mut self) {
        let Some(current) = self.current.filter(|_| self.samples >= N_RTT_SAMPLE) else { return };
        match self.phase {
            Phase::SlowStart => {
                let Some(last) = self.last else { return };
                let threshold = last.scaled(1.0 / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH).max(MIN_RTT_THRESH);
                if current >= last + threshold {
                    self.phase = Phase::Conservative { baseline: current, rounds: 0 };
                }
            }
            // The rise was not one of the queue.
            Phase::Conservative { baseline, .. } if current < baseline => self.phase = Phase::SlowStart,
            Phase::Conservative { .. } | Phase::Over => {}
        }
    }

    fn begin_round(&mut self, highest_sent: i64) {
        self.round_end = highest_sent;
        self.last = self.current.take();
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                self.end();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of ten packets with the round-trip times of `rtts_ms`, of which each acknowledgement is one.
    /// Returns by how much the last acknowledgement of each round opens the window.
    fn growths(hystart: &mut HyStart, rtts_ms: &[u64]) -> Vec<f64> {
        let mut seq = hystart.first.max(1);
        let mut start = Time::from_ns(1_000_000_000 * seq as u64);
        let mut growths = Vec::new();
        for &rtt_ms in rtts_ms {
            (0..10).for_each(|packet| hystart.sent(seq + packet, start));
            start += Duration::from_ms(rtt_ms);
            let grown = (0..10).map(|packet| hystart.acknowledged(start, seq + packet, seq + 9, 1.0));
            growths.extend(grown.last());
            seq += 10;
        }
        growths
    }

    #[test]
    fn slow_start_lasts_while_the_round_trip_time_stays() {
        let mut hystart = HyStart::default();
        assert_eq!(growths(&mut hystart, &[100; 12]), [1.0; 12]);
        assert!(!hystart.is_over());
    }

    #[test]
    fn five_slower_rounds_after_a_rise_end_it() {
        let mut hystart = HyStart::default();
        // The threshold at 100 ms is 12.5 ms.
        assert_eq!(growths(&mut hystart, &[100, 112, 124, 140]), [1.0, 1.0, 1.0, 0.25]);
        assert_eq!(growths(&mut hystart, &[150, 160, 170, 180]), [0.25; 4]);
        assert!(!hystart.is_over());
        growths(&mut hystart, &[190, 200]);
        assert!(hystart.is_over());
    }

    #[test]
    fn a_rise_that_goes_away_returns_to_slow_start() {
        let mut hystart = HyStart::default();
        assert_eq!(growths(&mut hystart, &[100, 100, 120, 119, 100]), [1.0, 1.0, 0.25, 1.0, 1.0]);
    }

    /// Below 32 ms a rise of 4 ms counts, above 128 ms one of 16 ms.
    #[test]
    fn the_threshold_has_bounds() {
        for (rtt, rise, slower) in [(8, 3, false), (8, 4, true), (400, 15, false), (400, 16, true)] {
            let mut hystart = HyStart::default();
            let last = *growths(&mut hystart, &[rtt, rtt, rtt + rise]).last().unwrap();
            assert_eq!(last < 1.0, slower, "{rtt} ms and {rise} ms more");
        }
    }
}
