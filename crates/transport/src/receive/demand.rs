//! What a receiver says of the level that it holds, where the source sends only the levels that are in demand.

use layercast_core::units::{Duration, Level, Time};
use layercast_delivery::accept::Accepted;
use layercast_delivery::reporting::demand::Asked;

use crate::host::ReceiverHost;
use crate::notice::Notice;
use crate::random_seed;

/// A receiver that has held the base alone for so long complains of losses.
const ALONE_FOR: Duration = Duration::from_secs(2);
/// From this share on, of so many packets (CHOICE: a path that loses a fifth at random is one of few, and its receivers are asked
/// in vain).
const LOST: f64 = 0.2;
const LEAST_PACKETS: u64 = 10;

/// The part of the base that a receiver loses which holds no more, in 255ths; 0 if there is nothing to complain of.
fn lost_of_base(host: &ReceiverHost) -> u8 {
    let recent = host.recent_packets().filter(|_| host.base_only_for() >= ALONE_FOR);
    let lost = recent.filter(|recent| recent.sent >= LEAST_PACKETS).map_or(0.0, |recent| recent.lost());
    if lost >= LOST { (lost * 255.0) as u8 } else { 0 }
}

fn send(host: &ReceiverHost, level: Level, lost: u8) {
    if let Err(error) = host.demand(level, lost) {
        tracing::debug!(%error, "a demand was not sent");
    }
}

/// The demand of one receiver of one session.
#[derive(Debug)]
pub(super) struct LevelDemand {
    asked: Asked,
    rests: bool,
    has_warned: bool,
}

impl LevelDemand {
    /// A receiver that looks for a session.
    pub(super) fn new() -> LevelDemand {
        LevelDemand { asked: Asked::new(random_seed(), 1), rests: false, has_warned: false }
    }

    /// A session of so many channels was found.
    pub(super) fn follow(&mut self, channels: u16) {
        self.asked.follow(channels);
    }

    /// A packet was accepted, which may say what the source knows.
    pub(super) fn heard(&mut self, now: Time, packet: &Accepted<'_>) {
        if let Some(known) = packet.repr.known_level {
            self.asked.heard(now, known, packet.repr.poll.map_or(0, |poll| poll.all()));
        }
    }

    /// When there is something to say.
    pub(super) fn deadline(&self) -> Time {
        self.asked.deadline().unwrap_or(Time::MAX)
    }

    /// What is to be said before a session is found, if that is due.
    pub(super) fn take_due(&mut self, now: Time) -> Option<Level> {
        self.asked.take_due(now)
    }

    /// Says which level the receiver holds, if that is due.
    pub(super) fn look(&mut self, host: &ReceiverHost) {
        let now = host.clock().now();
        if let Some((level, _)) = host.last_change().filter(|_| !self.rests) {
            self.asked.hold(now, level);
        }
        self.asked.lose(now, lost_of_base(host));
        while let Some(level) = self.asked.take_due(now) {
            send(host, level, 0);
        }
        if let Some(lost) = self.asked.take_complaint(now) {
            send(host, Level::from_count(1), lost);
        }
    }

    /// The receiver needs nothing above the base from now on, or begins again. Returns whether this is new.
    pub(super) fn rest(&mut self, now: Time, rests: bool) -> bool {
        let is_new = std::mem::replace(&mut self.rests, rests) != rests;
        match (is_new, rests) {
            (true, true) => self.asked.rest(now),
            (true, false) => self.asked.begin(now),
            (false, _) => {}
        }
        is_new
    }

    /// The receiver leaves: it says all that it has to say at once.
    pub(super) fn leave(&mut self, host: &ReceiverHost) {
        self.rest(host.clock().now(), true);
        while let Some(due) = self.asked.deadline()
            && let Some(level) = self.asked.take_due(due)
        {
            send(host, level, 0);
        }
    }

    /// Once: the source does not know of this receiver, and sends no more than others need.
    pub(super) fn notice(&mut self) -> Option<Notice> {
        let warns = self.asked.is_unheard() && !self.has_warned;
        self.has_warned |= warns;
        warns.then_some(Notice::NotHeard)
    }
}
