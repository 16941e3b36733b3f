//! What a receiver says of the level that it holds, where the source sends only the levels that are in demand.

use layercast_core::units::Time;
use layercast_delivery::accept::Accepted;
use layercast_delivery::reporting::demand::Asked;

use crate::host::ReceiverHost;
use crate::notice::Notice;
use crate::random_seed;

/// The demand of one receiver of one session.
#[derive(Debug)]
pub(super) struct LevelDemand {
    asked: Asked,
    /// It never speaks, and is not heard.
    is_silent: bool,
    has_warned: bool,
}

impl LevelDemand {
    /// A receiver of a session of so many channels that it has just found.
    pub(super) fn new(channels: u16, is_silent: bool) -> LevelDemand {
        LevelDemand { asked: Asked::new(random_seed(), channels), is_silent, has_warned: false }
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

    /// Says which level the receiver holds, if that is due.
    pub(super) fn look(&mut self, host: &ReceiverHost) {
        let now = host.clock().now();
        if let Some((level, _)) = host.last_change() {
            self.asked.hold(now, level);
        }
        if let Some(level) = self.asked.take_due(now)
            && !self.is_silent
            && let Err(error) = host.demand(level)
        {
            tracing::debug!(%error, "a demand was not sent");
        }
    }

    /// Once: the source does not know of this receiver, and sends no more than others need.
    pub(super) fn notice(&mut self) -> Option<Notice> {
        let warns = self.asked.is_unheard() && !self.has_warned;
        self.has_warned |= warns;
        warns.then_some(Notice::NotHeard { is_silent: self.is_silent })
    }
}
