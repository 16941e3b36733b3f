//! Trains of packets: what one flow may have where each has a queue of its own.
//!
//! The base sends three packets at once, again and again. A queue for each flow serves the flows in turns, so the third waits for a
//! packet of each other flow: the time between the second and the third is that in which one flow has one packet (Keshav,
//! SIGCOMM 1991). The first two may leave in one turn, whose quantum is a packet of the largest size (RFC 8290, section
//! 5.2.2). In a queue that all flows share, that time is what the link takes for a packet, and limits nothing.

use layercast_core::units::Time;
use layercast_kit::estimator::SendTime;

/// Packets in a train.
const TRAIN: u32 = 3;

/// Packets of the base from the first of a train to that of the next: a train a second at 128 kbit/s.
const EVERY: u32 = 8;

/// Trains that are kept: they last for a quarter of a minute.
const KEPT: usize = 16;

/// Trains without which nothing is said.
const FEWEST: usize = 4;

/// What part of them counts, the shortest first: a host that was busy makes some longer.
const COUNTED: f64 = 0.75;

/// Shorter times may be those of a clock or a host. Packets that leave within one are together; one between their arrivals limits
/// nothing: 120 Mbit/s of packets of 1500 bytes.
const SHORTEST_S: f64 = 1e-4;

/// Whether a packet of the base leaves right after the one before it.
pub(super) fn follows(number: u32) -> bool {
    (1..TRAIN).contains(&(number % EVERY))
}

/// The longest time between two packets of the base, after a train, from the mean one.
pub(super) fn longest_gap_s(mean_gap_s: f64) -> f64 {
    f64::from(TRAIN) * mean_gap_s
}

/// The last trains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trains {
    last: Option<Last>,
    /// Packets of the present one so far.
    length: u32,
    /// Between the last two packets of each, in seconds.
    gaps_s: [f64; KEPT],
    count: usize,
}

/// The last packet of the base.
#[derive(Clone, Copy, Debug)]
struct Last {
    number: u32,
    sent: SendTime,
    came: Time,
}

impl Default for Trains {
    fn default() -> Self {
        Trains { last: None, length: 0, gaps_s: [0.0; KEPT], count: 0 }
    }
}

impl Trains {
    /// A packet of the base came.
    pub(super) fn on_packet(&mut self, number: u32, sent: SendTime, came: Time) {
        let before = self.last.replace(Last { number, sent, came });
        let Some(last) = before.filter(|last| last.number.wrapping_add(1) == number && follows(number))
        else {
            self.length = 1;
            return;
        };
        let sent_us = sent.as_us().saturating_sub(last.sent.as_us());
        let sent_s = sent_us as f64 * 1e-6;
        self.length = if sent_s <= SHORTEST_S { self.length + 1 } else { 1 };
        if self.length == TRAIN {
            let gap_s = came.since(last.came).as_secs_f64() - sent_s;
            self.gaps_s[self.count % KEPT] = gap_s.max(0.0);
            self.count = self.count.wrapping_add(1);
        }
    }

    /// The packets a second that one flow may have, if each has a queue, or that the link carries; none if the trains do not say.
    pub(super) fn rate(&self) -> Option<f64> {
        self.gap_s().filter(|gap_s| *gap_s >= SHORTEST_S).map(|gap_s| 1.0 / gap_s)
    }

    /// Whether the link is too fast for the trains to show its rate.
    pub(super) fn is_too_fast(&self) -> bool {
        self.gap_s().is_some_and(|gap_s| gap_s < SHORTEST_S)
    }

    /// The time that the bottleneck takes for the third packet of a train; none without enough trains.
    fn gap_s(&self) -> Option<f64> {
        let mut gaps_s = self.gaps_s;
        let known = gaps_s.get_mut(..self.count.min(KEPT)).filter(|known| known.len() >= FEWEST)?;
        known.sort_unstable_by(f64::total_cmp);
        let counted = (known.len() as f64 * COUNTED) as usize;
        Some(known.iter().take(counted).sum::<f64>() / counted as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Duration;

    /// Trains that were sent each second, whose packets come so many microseconds apart.
    fn trains(gaps_us: impl Iterator<Item = u64>) -> Trains {
        let mut trains = Trains::default();
        for (train, gap_us) in gaps_us.enumerate() {
            for place in 0..EVERY {
                let is_later = u64::from(place.saturating_sub(TRAIN - 1)) * 100_000;
                let sent_us = train as u64 * 1_000_000 + is_later;
                let came_us = sent_us + 20_000 + gap_us * u64::from(place.min(TRAIN - 1));
                let number = train as u32 * EVERY + place;
                trains.on_packet(number, SendTime::from_us(sent_us), Time::ZERO + Duration::from_us(came_us));
            }
        }
        trains
    }

    #[test]
    fn the_turns_of_other_flows_show_the_rate_of_one() {
        let rate = trains([5000; 20].into_iter()).rate().unwrap_or_default();
        assert!((rate / 200.0 - 1.0).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn a_host_that_is_busy_now_and_then_changes_nothing() {
        let gaps_us = (0..40).map(|train| if train % 5 == 0 { 90_000 } else { 5000 });
        let rate = trains(gaps_us).rate().unwrap_or_default();
        assert!((rate / 200.0 - 1.0).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn few_trains_and_times_too_short_for_a_host_say_nothing() {
        assert_eq!(trains([5000; FEWEST - 1].into_iter()).rate(), None);
        assert!(!trains([5000; FEWEST - 1].into_iter()).is_too_fast());
        assert_eq!(trains([12; 20].into_iter()).rate(), None);
        assert!(trains([12; 20].into_iter()).is_too_fast());
        assert_eq!(trains([0; 20].into_iter()).rate(), None);
    }

    #[test]
    fn a_train_that_lost_a_packet_or_was_sent_late_does_not_count() {
        let mut trains = Trains::default();
        let at = |us| (SendTime::from_us(us), Time::ZERO + Duration::from_us(us + 5000));
        for train in 0..20 {
            let (sent, came) = at(u64::from(train) * 1_000_000);
            trains.on_packet(train * EVERY, sent, came);
            let (sent, came) = at(u64::from(train) * 1_000_000 + 10_000);
            trains.on_packet(train * EVERY + 2, sent, came);
            trains.on_packet(train * EVERY + 3, sent, came);
        }
        assert_eq!((trains.count, trains.rate()), (0, None));
    }
}
