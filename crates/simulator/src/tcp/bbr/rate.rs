//! Samples of the rate at which the path delivers (draft-ietf-ccwg-bbr-06, section 4.1).
//!
//! Each packet records the delivered count when it was sent. Its acknowledgement gives what was delivered
//! since, and over which time.

use std::collections::VecDeque;

use layercast_core::units::{Duration, Time};

/// The initial capacity in packets, so that growing transfers do not allocate each time.
const ROOM: usize = 256;

/// A packet in flight, and the state of the connection when it was last sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    at: Time,
    /// Which transmission of the connection this was.
    number: u64,
    /// Where the send interval and the acknowledgement interval of its sample begin.
    first_sent: Time,
    delivered_at: Time,
    delivered: u64,
    pub(super) lost: u64,
    /// Packets in flight with this one.
    pub(super) in_flight: i64,
    pub(super) app_limited: bool,
    /// Its acknowledgement could be that of an earlier copy (Karn).
    resent: bool,
    arrived: bool,
}

/// The rate sample of an acknowledgement. Volumes count packets, rates packets per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) newly_acked: u64,
    /// What was delivered over the interval of the sample.
    pub(super) delivered: u64,
    /// What had been delivered when the packet was sent.
    pub(super) prior_delivered: u64,
    /// Zero if the interval is too short to be true.
    pub(super) rate: f64,
    pub(super) rtt: Option<Duration>,
    /// In flight when the packet was sent, and lost since.
    pub(super) in_flight: i64,
    pub(super) lost: u64,
    pub(super) app_limited: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sampler {
    /// The packets from `first` on.
    sent: VecDeque<Sent>,
    first: i64,
    transmissions: u64,
    pub(super) delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    pub(super) lost: u64,
    /// The sender had nothing to send before so much was delivered; 0 if it has enough.
    limited_to: u64,
    /// The last transmission that is known to have arrived.
    last_arrived: u64,
    /// The most recently sent packet of those newly acknowledged.
    newest: Option<Sent>,
    newly_acked: u64,
}

impl Sampler {
    /// Clears the state to start with packet `first`, and keeps the allocation.
    pub(super) fn clear(&mut self, first: i64) {
        let mut sent = std::mem::take(&mut self.sent);
        sent.clear();
        sent.reserve(ROOM);
        *self = Sampler { sent, first, ..Sampler::default() };
    }

    /// Packet `seq` is sent, `in_flight` with it.
    pub(super) fn send(&mut self, seq: i64, now: Time, in_flight: i64) {
        if in_flight <= 1 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        self.transmissions += 1;
        let sent = Sent {
            at: now,
            number: self.transmissions,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight,
            app_limited: self.is_app_limited(),
            resent: false,
            arrived: false,
        };
        match self.sent.get_mut((seq - self.first) as usize) {
            Some(record) => *record = Sent { resent: true, ..sent },
            None => self.sent.push_back(sent),
        }
    }

    /// The record of a packet not acknowledged.
    pub(super) fn record(&self, seq: i64) -> Option<&Sent> {
        self.sent.get((seq - self.first) as usize)
    }

    /// Whether packet `seq` was resent, and a packet sent at least `by` transmissions later has arrived.
    pub(super) fn is_repair_overtaken(&self, seq: i64, by: u64) -> bool {
        self.record(seq).is_some_and(|sent| sent.resent && sent.number + by <= self.last_arrived)
    }

    /// Packet `seq` is reported as arrived.
    pub(super) fn arrive(&mut self, seq: i64, now: Time) {
        let Some(record) = self.sent.get_mut((seq - self.first) as usize).filter(|record| !record.arrived)
        else {
            return;
        };
        record.arrived = true;
        self.delivered += 1;
        self.newly_acked += 1;
        self.delivered_at = now;
        self.last_arrived = self.last_arrived.max(record.number);
        if self.newest.is_none_or(|newest| record.number > newest.number) {
            self.newest = Some(*record);
        }
    }

    /// All packets up to `last` are acknowledged.
    pub(super) fn forget(&mut self, last: i64) {
        let count = ((last + 1 - self.first).max(0) as usize).min(self.sent.len());
        self.sent.drain(..count);
        self.first += count as i64;
    }

    /// The sample of an acknowledgement, after all arrived packets were reported. None if there were none.
    pub(super) fn sample(&mut self, now: Time, min_rtt: Option<Duration>) -> Option<Sample> {
        if self.delivered > self.limited_to {
            self.limited_to = 0;
        }
        let newest = self.newest.take()?;
        let newly_acked = std::mem::take(&mut self.newly_acked);
        self.first_sent = newest.at;
        let delivered = self.delivered - newest.delivered;
        let interval = newest.at.since(newest.first_sent).max(now.since(newest.delivered_at));
        // A resent packet whose first copy was acknowledged seems to take no time.
        let plausible = !interval.is_zero() && min_rtt.is_none_or(|min_rtt| interval >= min_rtt);
        Some(Sample {
            newly_acked,
            delivered,
            prior_delivered: newest.delivered,
            rate: if plausible { delivered as f64 / interval.as_secs_f64() } else { 0.0 },
            rtt: (!newest.resent).then(|| now.since(newest.at)),
            in_flight: newest.in_flight,
            lost: self.lost - newest.lost,
            app_limited: newest.app_limited,
        })
    }

    pub(super) fn is_app_limited(&self) -> bool {
        self.limited_to > 0
    }

    /// The sender is application-limited; samples of the packets in flight say little about the path.
    pub(super) fn limit(&mut self, in_flight: i64) {
        self.limited_to = (self.delivered + in_flight.max(0) as u64).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// Packets sent 10 ms apart arrive 10 ms apart, 100 ms later.
    fn ten_packets() -> Sampler {
        let mut sampler = Sampler::default();
        sampler.clear(1);
        for number in 0..10 {
            sampler.send(1 + number, ms(10 * number as u64), number + 1);
        }
        sampler
    }

    #[test]
    fn the_rate_is_what_was_delivered_over_the_longer_interval() {
        let mut sampler = ten_packets();
        sampler.arrive(1, ms(100));
        let first = sampler.sample(ms(100), None).unwrap();
        assert_eq!((first.delivered, first.rtt), (1, Some(Duration::from_ms(100))));
        assert!((first.rate - 10.0).abs() < 1e-9, "{first:?}");
        sampler.send(11, ms(100), 10);
        for number in 1..10 {
            sampler.arrive(1 + number, ms(100 + 10 * number as u64));
            sampler.sample(ms(100 + 10 * number as u64), None);
        }
        sampler.arrive(11, ms(200));
        // Ten packets since the first acknowledgement, 100 ms ago.
        let last = sampler.sample(ms(200), None).unwrap();
        assert_eq!((last.delivered, last.prior_delivered), (10, 1));
        assert!((last.rate - 100.0).abs() < 1e-9, "{last:?}");
    }

    #[test]
    fn compressed_acknowledgements_do_not_raise_the_rate_above_that_of_sending() {
        let mut sampler = ten_packets();
        sampler.arrive(1, ms(100));
        sampler.sample(ms(100), None);
        (2..=10).for_each(|seq| sampler.arrive(seq, ms(101)));
        let sample = sampler.sample(ms(101), None).unwrap();
        assert_eq!((sample.newly_acked, sample.delivered), (9, 10));
        // Over 101 ms since packet 1 was sent with nothing else in flight, not over the last 1 ms.
        assert!((sample.rate - 10.0 / 0.101).abs() < 1e-9, "{sample:?}");
    }

    #[test]
    fn a_packet_counts_once_and_a_resent_one_gives_no_round_trip_time() {
        let mut sampler = ten_packets();
        sampler.send(1, ms(95), 10);
        sampler.arrive(1, ms(100));
        sampler.arrive(1, ms(100));
        let sample = sampler.sample(ms(100), Some(Duration::from_ms(101))).unwrap();
        assert_eq!((sample.newly_acked, sample.rtt, sample.rate), (1, None, 0.0));
        assert!(sampler.sample(ms(100), None).is_none(), "nothing new");
    }

    #[test]
    fn samples_are_limited_until_the_gap_has_left_the_path() {
        let mut sampler = ten_packets();
        sampler.limit(10);
        sampler.send(11, ms(150), 11);
        (1..=10).for_each(|seq| sampler.arrive(seq, ms(190)));
        assert!(!sampler.sample(ms(190), None).unwrap().app_limited, "sent before");
        sampler.arrive(11, ms(250));
        assert!(sampler.sample(ms(250), None).unwrap().app_limited);
        assert!(!sampler.is_app_limited());
    }
}
