//! What a receiver says of the level that it holds, where the source sends only the levels that are in demand.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Time};

use super::packet_loss::RecentPackets;
use crate::packet::Repr;
use crate::reporting::demand::Asked;

/// A receiver that has held the base alone for so long complains of losses.
const ALONE_FOR: Duration = Duration::from_secs(2);
/// From this share on (CHOICE: a path that loses a fifth at random is one of few, and its receivers are asked in vain).
const LOST: f64 = 0.2;
/// And if the share is by so many standard deviations above what paths lose at random (CHOICE). A source that sends few packets
/// would else be asked for fewer still, by chance.
const DEVIATIONS: f64 = 2.0;
const RANDOM: f64 = 0.1;
const LEAST_PACKETS: u64 = 10;

/// What is to be said to the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) level: Level,
    /// The part of the base that is lost, in 255ths.
    pub(super) lost: u8,
}

/// The demand of one receiver, before a session is found and while it is received.
#[derive(Debug)]
pub struct LevelDemand {
    random: Stream,
    asked: Asked,
    rests: bool,
    has_warned: bool,
}

impl LevelDemand {
    /// A receiver that looks for a session.
    pub fn new(seed: u64) -> LevelDemand {
        let mut random = Stream::new(seed, "demand");
        LevelDemand { asked: Asked::new(random.bits(), 1), random, rests: false, has_warned: false }
    }

    /// Another session is asked.
    pub(super) fn restart(&mut self) {
        self.asked = Asked::new(self.random.bits(), 1);
    }

    /// A session of so many channels was found.
    pub(super) fn follow(&mut self, channels: u16) {
        self.asked.follow(channels);
    }

    /// A packet was accepted, which may say what the source knows.
    pub fn heard(&mut self, now: Time, packet: &Repr) {
        if let Some(known) = packet.known_level {
            self.asked.heard(now, known, packet.poll.map_or(0, |poll| poll.all()));
        }
    }

    /// When there is something to say.
    pub fn deadline(&self) -> Option<Time> {
        self.asked.deadline()
    }

    /// The level that is to be said, if that is due.
    pub fn take_due(&mut self, now: Time) -> Option<Level> {
        self.asked.take_due(now)
    }

    /// The receiver holds this level, the base alone for so long, and has had the packets that `recent` returns.
    pub(super) fn observe(
        &mut self,
        now: Time,
        held: Option<Level>,
        alone_for: Duration,
        recent: impl FnOnce() -> Option<RecentPackets>,
    ) {
        if let Some(level) = held.filter(|_| !self.rests) {
            self.asked.hold(now, level);
        }
        let recent = if alone_for >= ALONE_FOR { recent() } else { None };
        let recent = recent.filter(|recent| recent.sent >= LEAST_PACKETS);
        let lost = recent.filter(loses_much).map_or(0.0, |recent| recent.lost());
        self.asked.lose(now, (lost * 255.0) as u8);
    }

    /// What is to be said by now; with `all` whatever is left to be said.
    pub(super) fn take(&mut self, now: Time, all: bool) -> Option<Said> {
        let due = if all { self.asked.deadline().unwrap_or(now) } else { now };
        if let Some(level) = self.asked.take_due(due) {
            return Some(Said { level, lost: 0 });
        }
        self.asked.take_complaint(now).map(|lost| Said { level: Level::from_count(1), lost })
    }

    /// The receiver needs nothing above the base from now on, or begins again.
    pub(super) fn rest(&mut self, now: Time, rests: bool) {
        match (std::mem::replace(&mut self.rests, rests), rests) {
            (false, true) => self.asked.rest(now),
            (true, false) => self.asked.begin(now),
            _ => {}
        }
    }

    /// Once: whether the source does not know of this receiver, and sends no more than others need.
    pub fn take_unheard(&mut self) -> bool {
        let warns = self.asked.is_unheard() && !self.has_warned;
        self.has_warned |= warns;
        warns
    }
}

fn loses_much(recent: &RecentPackets) -> bool {
    let lost = recent.lost();
    let deviation = (lost * (1.0 - lost) / recent.sent as f64).sqrt();
    lost >= LOST && lost - DEVIATIONS * deviation >= RANDOM
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seed 6109 of the explorer: a path lost a tenth at random, and its source sent two packets a second for ever.
    #[test]
    fn of_few_packets_only_many_lost_ones_are_no_chance() {
        let loses = |sent, lost| {
            let over = Duration::from_secs(5);
            loses_much(&RecentPackets { sent, received: sent - lost, over })
        };
        assert!(loses(10, 5) && loses(30, 9) && loses(200, 40) && loses(10, 10));
        assert!(!loses(10, 3) && !loses(20, 5) && !loses(200, 39) && !loses(10, 0));
        // The share of windows in which a random tenth makes a complaint.
        let mut random = Stream::new(1, "losses");
        for sent in [10, 20, 40, 80] {
            let found =
                (0..10_000).filter(|_| loses(sent, (0..sent).filter(|_| random.chance(0.1)).count() as u64));
            let found = found.count();
            assert!(found < 60, "{found} of 10,000 windows of {sent} packets");
        }
    }
}
