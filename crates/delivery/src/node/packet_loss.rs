//! The share of packets that a path lost, from the numbers in the packets.
//!
//! Not the loss event rate of a congestion control, which counts all losses of a round-trip time once and is far
//! lower when a path is overloaded.

use layercast_core::cannot_be;
use layercast_core::units::{Channel, Duration, Time};

/// The length of a bin.
const BIN: Duration = Duration::from_ms(500);
/// How many bins are kept: losses are those of the last five seconds.
const BINS: usize = 10;
/// A number that is lower than the newest by less than this belongs to a late packet; one by more, to a channel
/// whose numbers started again.
const LATEST: i16 = 1000;

/// Packets of one bin.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    number: u64,
    sent: u64,
    received: u64,
}

/// Packets of the last seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecentPackets {
    /// How many were sent, by their numbers.
    pub sent: u64,
    /// How many of them arrived.
    pub received: u64,
    /// The time that they took.
    pub over: Duration,
}

impl RecentPackets {
    /// The share of packets that were lost.
    pub fn lost(&self) -> f64 {
        self.sent.saturating_sub(self.received) as f64 / self.sent.max(1) as f64
    }
}

/// The newest number of each channel that is joined, and the packets of the last seconds.
#[derive(Clone, Debug)]
pub struct PacketLoss {
    latest: i16,
    newest: Vec<Option<u16>>,
    bins: [Bin; BINS],
}

impl PacketLoss {
    /// Nothing has arrived yet.
    pub fn new(channels: u16) -> PacketLoss {
        PacketLoss::with_latest(channels, LATEST)
    }

    /// With another bound on how late a packet may be, in numbers of its channel.
    pub fn with_latest(channels: u16, latest: i16) -> PacketLoss {
        PacketLoss { latest, newest: vec![None; usize::from(channels)], bins: [Bin::default(); BINS] }
    }

    /// A packet of a channel arrived.
    pub fn observe(&mut self, now: Time, channel: Channel, number: u16) {
        let Some(newest) = self.newest.get_mut(channel.index()) else { return };
        let (sent, received) = match *newest {
            None => (1, 1),
            Some(before) => match number.wrapping_sub(before) as i16 {
                // A copy.
                0 => (0, 0),
                ahead @ 1.. => (ahead as u64, 1),
                behind if behind > -self.latest => (0, 1),
                _ => (1, 1),
            },
        };
        if sent > 0 {
            *newest = Some(number);
        }
        let at = now.as_ns() / BIN.as_ns();
        let Some(bin) = self.bins.get_mut((at % BINS as u64) as usize) else {
            return cannot_be("a remainder is below the number of bins");
        };
        if bin.number != at {
            *bin = Bin { number: at, ..Bin::default() };
        }
        bin.sent += sent;
        bin.received += received;
    }

    /// A channel was left: what it sends from now on is not lost.
    pub fn forget(&mut self, channel: Channel) {
        if let Some(newest) = self.newest.get_mut(channel.index()) {
            *newest = None;
        }
    }

    /// The packets of the last seconds; none if there were none.
    pub fn recent(&self, now: Time) -> Option<RecentPackets> {
        let at = now.as_ns() / BIN.as_ns();
        let oldest = at.saturating_sub(BINS as u64 - 1);
        let bins = self.bins.iter().filter(|bin| (oldest..=at).contains(&bin.number));
        let (sent, received) =
            bins.fold((0, 0), |(sent, received), bin| (sent + bin.sent, received + bin.received));
        let over = now.since(Time::from_ns(oldest * BIN.as_ns()));
        (sent > 0).then_some(RecentPackets { sent, received, over })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn lost(loss: &PacketLoss, ms: u64) -> Option<f64> {
        loss.recent(at(ms)).map(|recent| recent.lost())
    }

    #[test]
    fn every_lost_packet_counts_also_across_the_wrap() {
        let mut loss = PacketLoss::new(2);
        assert_eq!(lost(&loss, 0), None);
        // Half of the packets of one channel, across 65535, and all of another.
        for place in 0..100u16 {
            if place % 2 == 0 {
                loss.observe(at(u64::from(place) * 10), Channel(0), 65_500u16.wrapping_add(place));
            }
            loss.observe(at(u64::from(place) * 10), Channel(1), place);
        }
        let recent = loss.recent(at(1000)).expect("packets");
        assert_eq!((recent.sent, recent.received), (99 + 100, 50 + 100));
        assert_eq!(recent.over, Duration::from_ms(1000));
    }

    #[test]
    fn late_packets_and_copies_are_no_losses() {
        let mut loss = PacketLoss::new(1);
        for number in [7, 9, 8, 8, 10, 10] {
            loss.observe(at(0), Channel(0), number);
        }
        // The copy of a packet that is not the newest counts as one more.
        assert_eq!(lost(&loss, 0), Some(0.0));
    }

    #[test]
    fn what_passed_while_a_channel_was_left_is_not_lost() {
        let mut loss = PacketLoss::new(1);
        loss.observe(at(0), Channel(0), 1);
        loss.forget(Channel(0));
        loss.observe(at(100), Channel(0), 500);
        // Numbers that start again.
        loss.observe(at(200), Channel(0), 20_000);
        loss.observe(at(300), Channel(0), 3);
        loss.forget(Channel(0));
        loss.observe(at(400), Channel(0), 500);
        loss.observe(at(400), Channel(7), 500);
        let recent = loss.recent(at(400)).expect("packets");
        assert_eq!((recent.sent, recent.received), (2 + 19_500 + 1 + 1, 5));
    }

    #[test]
    fn old_losses_are_forgotten() {
        let mut loss = PacketLoss::new(1);
        loss.observe(at(0), Channel(0), 0);
        loss.observe(at(10), Channel(0), 10);
        assert_eq!(lost(&loss, 4900), Some(9.0 / 11.0));
        for number in 11..111 {
            loss.observe(at(6000), Channel(0), number);
        }
        assert_eq!(lost(&loss, 6000), Some(0.0));
        assert_eq!(lost(&loss, 60_000), None);
    }
}
