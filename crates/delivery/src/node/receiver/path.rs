//! By which path packets come: by multicast where that comes, else through a relay, and back.

use std::net::IpAddr;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use crate::packet::View;

/// How long multicast is waited for before a relay is asked (CHOICE: a source that hears nobody sends a packet every three seconds).
pub(super) const NATIVE_FOR: Duration = Duration::from_secs(4);
/// After such a silence of a session that came by multicast a relay is asked, and up to as much later for each receiver as the
/// second says: the receivers of a region that loses multicast do not come to a relay together.
const LOST: Duration = Duration::from_secs(2);
const LOST_SPREAD: Duration = Duration::from_secs(4);
/// The first hello to a relay at the start of a reception: within this time, for the same reason.
const START_SPREAD: Duration = Duration::from_ms(500);
/// How long multicast must come, without a gap of more than the second, before a relay is left for it.
const BACK_FOR: Duration = Duration::from_secs(6);
const GAP: Duration = Duration::from_ms(1500);
/// The time between two looks for multicast, which doubles whenever multicast ends soon after it was gone back to.
const FIRST_PROBE: Duration = Duration::from_secs(30);
const LONGEST_PROBE: Duration = Duration::from_secs(480);
const SOON: Duration = Duration::from_secs(120);

/// By which paths packets can come to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// By multicast alone.
    Multicast,
    /// By multicast, and through a relay where that does not come.
    Both,
    /// Through a relay alone.
    Relay,
}

/// The path by which packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Groups are joined by the host.
    Multicast,
    /// A relay joins them in its place. The first message to it is sent within this time.
    Relay(Duration),
    /// Datagrams of relays or the source, whose routers take part, come to a socket.
    Parents,
}

/// What a look at the path says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Multicast has been silent for so long, and a relay is asked.
    Lost(Duration),
    /// Multicast comes again.
    Back,
    /// To look whether multicast comes, on a socket of its own, or no longer to do that.
    Probe(bool),
}

/// Whether multicast comes, while a relay is used.
#[derive(Clone, Copy, Debug)]
struct Probe {
    since: Time,
    heard: Option<Time>,
}

/// The choice of a path.
#[derive(Debug)]
pub(super) struct PathChoice {
    paths: Paths,
    by_relay: bool,
    lost_after: Duration,
    /// When multicast was gone back to.
    back: Option<Time>,
    wait: Duration,
    next_probe: Time,
    probe: Option<Probe>,
}

impl PathChoice {
    pub(super) fn new(paths: Paths, random: &mut Stream) -> PathChoice {
        PathChoice {
            paths,
            by_relay: paths == Paths::Relay,
            lost_after: LOST + random.uniform_duration(LOST_SPREAD),
            back: None,
            wait: FIRST_PROBE,
            next_probe: Time::ZERO + FIRST_PROBE,
            probe: None,
        }
    }

    /// The path at the start of a search.
    pub(super) fn path(&self) -> Path {
        if self.by_relay { Path::Relay(START_SPREAD) } else { Path::Multicast }
    }

    /// By which paths packets can come from now on.
    pub(super) fn set_paths(&mut self, paths: Paths) {
        self.paths = paths;
    }

    /// Whether a relay is left to be asked.
    pub(super) fn has_relay_left(&self) -> bool {
        self.paths == Paths::Both && !self.by_relay
    }

    /// A relay is used from now on.
    pub(super) fn use_relay(&mut self, now: Time) {
        self.by_relay = true;
        if self.back.take().is_some_and(|back| now.since(back) < SOON) {
            self.wait = (self.wait * 2).min(LONGEST_PROBE);
        }
        self.next_probe = now + self.wait;
    }

    /// Looks whether packets still come, and whether they come by multicast again; called about twice a second. `silent` is
    /// the time since the last packet of the session.
    pub(super) fn poll(&mut self, now: Time, silent: Duration) -> Option<Turn> {
        if self.paths != Paths::Both {
            return None;
        }
        if !self.by_relay {
            return (silent >= self.lost_after).then(|| {
                self.use_relay(now);
                Turn::Lost(silent)
            });
        }
        let Some(probe) = self.probe else {
            if now < self.next_probe {
                return None;
            }
            self.next_probe = now + self.wait;
            self.probe = Some(Probe { since: now, heard: None });
            return Some(Turn::Probe(true));
        };
        if now.since(probe.heard.unwrap_or(probe.since)) > GAP {
            self.end_probe(now);
            return Some(Turn::Probe(false));
        }
        (now.since(probe.since) >= BACK_FOR).then(|| {
            self.probe = None;
            (self.by_relay, self.back) = (false, Some(now));
            Turn::Back
        })
    }

    /// The look for multicast is over.
    pub(super) fn end_probe(&mut self, now: Time) {
        self.next_probe = now + self.wait;
        self.probe = None;
    }

    /// A datagram came by multicast while a session, with this source and number, was looked for.
    pub(super) fn probed(&mut self, now: Time, source: Option<IpAddr>, tsi: u64, from: IpAddr, bytes: &[u8]) {
        let Some(probe) = &mut self.probe else { return };
        let is_session = View::new(bytes).ok().and_then(|view| view.tsi()) == Some(tsi);
        if is_session && source.is_none_or(|source| source == from) {
            probe.heard = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: u64 = 7;

    fn at(seconds: f64) -> Time {
        Time::from_secs_f64(seconds)
    }

    /// A packet of a session of this number: an LCT header.
    fn packet(tsi: u32) -> Vec<u8> {
        [&[0x10, 0x80, 3, 0, 0, 0, 0, 0][..], &tsi.to_be_bytes(), &[0; 4]].concat()
    }

    /// Looks twice a second until there is a turn; when, and which.
    fn turn(choice: &mut PathChoice, from: f64, comes: bool, number: u32) -> (f64, Turn) {
        let from_any = IpAddr::V4([192, 0, 2, 1].into());
        for half in 0..2000 {
            let now = from + f64::from(half) / 2.0;
            if comes {
                choice.probed(at(now), None, SESSION, from_any, &packet(number));
            }
            let silent = if choice.by_relay { Duration::ZERO } else { at(now).since(at(from)) };
            if let Some(turn) = choice.poll(at(now), silent) {
                return (now - from, turn);
            }
        }
        panic!("no turn in 1000 s");
    }

    #[test]
    fn a_relay_is_asked_after_silence_and_left_when_multicast_comes_again() {
        let mut choice = PathChoice::new(Paths::Both, &mut Stream::new(1, "path"));
        assert_eq!(choice.path(), Path::Multicast);
        let (after, lost) = turn(&mut choice, 0.0, false, 7);
        assert!((2.0..=6.5).contains(&after) && matches!(lost, Turn::Lost(_)), "{after} {lost:?}");
        assert!(matches!(choice.path(), Path::Relay(_)));
        // Nothing comes, then packets of another session, then those of this one.
        let mut now = after;
        for (comes, number) in [(false, 7), (true, 8)] {
            let (begins, one) = turn(&mut choice, now, comes, number);
            let (ends, other) = turn(&mut choice, now + begins, comes, number);
            assert_eq!((one, other), (Turn::Probe(true), Turn::Probe(false)));
            assert!(begins >= 28.0 && ends <= 2.0, "{begins} {ends}");
            now += begins + ends;
        }
        let (begins, _) = turn(&mut choice, now, true, 7);
        let (back, one) = turn(&mut choice, now + begins, true, 7);
        assert!(one == Turn::Back && (6.0..=7.0).contains(&back), "{back} {one:?}");
        assert_eq!(choice.path(), Path::Multicast);
        // What ends soon is not tried again as soon.
        let now = now + begins + back;
        let (after, _) = turn(&mut choice, now, false, 7);
        let (begins, _) = turn(&mut choice, now + after, false, 7);
        assert!(begins >= 58.0, "{begins}");
    }

    #[test]
    fn without_a_choice_nothing_changes() {
        for paths in [Paths::Multicast, Paths::Relay] {
            let mut choice = PathChoice::new(paths, &mut Stream::new(1, "path"));
            assert!(!choice.has_relay_left());
            assert_eq!(choice.poll(at(100.0), Duration::from_secs(100)), None);
        }
    }
}
