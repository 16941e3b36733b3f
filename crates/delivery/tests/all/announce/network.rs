//! Announcers and listeners on a virtual network, with virtual time and losses by seed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};
use layercast_delivery::announce::announcer::Announcer;
use layercast_delivery::announce::directory::{Directory, Limits};
use layercast_delivery::announce::interval::{LIMIT_BPS, Pace};
use layercast_delivery::announce::sap::{Kind, Packet};
use layercast_delivery::announce::sdp::Description;
use proptest::prelude::*;

use crate::announce::support::{Check, Toy, address, session};

/// How long a packet takes.
const DELAY: Duration = Duration::from_ms(50);
/// Headers of IPv4 and UDP.
const HEADERS: usize = 28;

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

/// One group: what one sends reaches all others, unless it is lost on the way to one of them.
struct World {
    now: Time,
    loss: f64,
    losses: Stream,
    announcers: Vec<Announcer>,
    /// A host that died says nothing more.
    dead: Vec<bool>,
    listeners: Vec<Directory>,
    deadlines: BinaryHeap<Reverse<(Time, usize)>>,
    arrivals: BinaryHeap<Reverse<(Time, Vec<u8>)>>,
    /// When and how many bytes were sent, and by whom.
    sent: Vec<(Time, usize, usize)>,
}

impl World {
    fn new(loss: f64, seed: u64) -> World {
        World {
            now: Time::ZERO,
            loss,
            losses: Stream::new(seed, "losses"),
            announcers: Vec::new(),
            dead: Vec::new(),
            listeners: Vec::new(),
            deadlines: BinaryHeap::new(),
            arrivals: BinaryHeap::new(),
            sent: Vec::new(),
        }
    }

    /// Announces a session from now on; it is signed.
    fn announce(&mut self, of: &Description) -> usize {
        let index = self.announcers.len();
        let host = of.origin.address.parse().unwrap();
        let stream = Stream::new(7, &format!("announcer/{index}"));
        let signer = Toy([1; 32]);
        let announcer = Announcer::new(host, of, Some(&signer), Pace::LOCAL, self.now, stream).unwrap();
        self.announcers.push(announcer);
        self.dead.push(false);
        self.wake(index);
        index
    }

    /// Joins a listener; returns its number.
    fn listen(&mut self) -> usize {
        self.listeners.push(Directory::new(Limits { sessions: 2000, per_owner: 2000 }, 0));
        self.listeners.len() - 1
    }

    fn wake(&mut self, index: usize) {
        let deadline = self.announcers[index].deadline();
        if deadline < Time::MAX {
            self.deadlines.push(Reverse((deadline, index)));
        }
    }

    fn run(&mut self, until: Time) {
        loop {
            let arrival = self.arrivals.peek().map_or(Time::MAX, |Reverse((time, _))| *time);
            let deadline = self.deadlines.peek().map_or(Time::MAX, |Reverse((time, _))| *time);
            if arrival.min(deadline) > until {
                break;
            }
            if arrival <= deadline {
                let Some(Reverse((time, bytes))) = self.arrivals.pop() else { break };
                self.now = time;
                self.deliver(&bytes);
            } else {
                let Some(Reverse((time, index))) = self.deadlines.pop() else { break };
                self.now = time;
                self.poll(index);
            }
        }
        self.now = until;
        for listener in &mut self.listeners {
            listener.expire(until);
        }
    }

    fn poll(&mut self, index: usize) {
        if self.dead[index] || self.announcers[index].deadline() > self.now {
            return;
        }
        while let Some(packet) = self.announcers[index].poll(self.now) {
            self.sent.push((self.now, index, packet.len() + HEADERS));
            self.arrivals.push(Reverse((self.now + DELAY, packet.to_vec())));
        }
        assert!(self.announcers[index].deadline() > self.now, "once polled, the deadline lies after now");
        self.wake(index);
    }

    fn deliver(&mut self, bytes: &[u8]) {
        let packet = Packet::read(bytes).unwrap();
        for announcer in &mut self.announcers {
            if !self.losses.chance(self.loss) {
                announcer.receive(&packet, self.now);
            }
        }
        for listener in &mut self.listeners {
            if !self.losses.chance(self.loss) {
                let _ = listener.receive(bytes, packet.origin, &Check, self.now);
            }
        }
    }

    /// Bits sent in each of the windows of a length.
    fn windows(&self, length: Duration) -> Vec<u64> {
        let mut windows = Vec::new();
        for (time, _, bytes) in &self.sent {
            let index = (time.as_ns() / length.as_ns()) as usize;
            windows.resize(windows.len().max(index + 1), 0);
            windows[index] += 8 * *bytes as u64;
        }
        windows
    }
}

#[test]
fn a_thousand_sessions_stay_below_the_limit_and_are_all_found() {
    let mut world = World::new(0.1, 1);
    for host in 0..1000 {
        world.announce(&session(host + 1, "x", 1));
    }
    world.run(at(900));
    let listener = world.listen();
    // The longest interval: 1000 announcements of about 440 bytes, lengthened by half and by the draw.
    world.run(at(900 + 1800));
    let windows = world.windows(Duration::from_secs(300));
    let limit = 300 * LIMIT_BPS;
    assert!(windows.iter().all(|&bits| bits <= limit), "bits in five minutes: {windows:?}, limit {limit}");
    let mean = windows.iter().sum::<u64>() / windows.len() as u64;
    assert!(mean > limit / 2, "the limit is used: {mean} of {limit}");
    let found = world.listeners[listener].sessions().count();
    assert!(found >= 850, "{found} of 1000 sessions, where each announcement is lost with probability 0.1");
}

#[test]
fn a_new_listener_knows_all_sessions_within_the_interval() {
    let mut world = World::new(0.0, 1);
    for host in 0..5 {
        world.announce(&session(host + 1, &format!("session {host}"), 1));
    }
    world.run(at(100));
    let listener = world.listen();
    world.run(at(100 + 40) + DELAY);
    assert_eq!(world.listeners[listener].sessions().count(), 5);
    assert!(world.listeners[listener].find("session 3").is_ok());
}

#[test]
fn the_first_announcement_comes_within_seconds() {
    let mut world = World::new(0.0, 1);
    let listener = world.listen();
    world.announce(&session(1, "news", 1));
    world.run(at(7));
    assert!(world.listeners[listener].find("news").is_ok());
    world.run(at(60));
    assert!((9..=18).contains(&world.sent.len()), "every five seconds at first: {}", world.sent.len());
    let early = world.sent.len();
    world.run(at(60 + 600));
    let later = world.sent.len() - early;
    assert!((15..=30).contains(&later), "every half minute then: {later} in ten minutes");
}

#[test]
fn a_session_whose_source_dies_expires() {
    let mut world = World::new(0.2, 2);
    let listener = world.listen();
    let (dies, lives) = (world.announce(&session(1, "dies", 1)), world.announce(&session(2, "lives", 1)));
    world.run(at(600));
    assert_eq!(world.listeners[listener].sessions().count(), 2);
    world.dead[dies] = true;
    world.run(at(600 + 200));
    assert!(world.listeners[listener].find("dies").is_ok(), "a few lost announcements end nothing");
    world.run(at(600 + 1800));
    assert!(world.listeners[listener].find("dies").is_err());
    assert!(world.listeners[listener].find("lives").is_ok());
    assert!(!world.dead[lives]);
}

#[test]
fn the_end_and_a_change_are_announced() {
    let mut world = World::new(0.3, 3);
    let listener = world.listen();
    let ends = world.announce(&session(1, "ends", 1));
    let changes = world.announce(&session(2, "old name", 1));
    world.run(at(300));
    world.announcers[ends].finish(world.now);
    world.announcers[changes].change(&session(2, "new name", 2), Some(&Toy([1; 32])), world.now).unwrap();
    world.wake(ends);
    world.wake(changes);
    world.run(at(330));
    let directory = &world.listeners[listener];
    assert!(directory.find("ends").is_err() && directory.find("old name").is_err());
    assert!(directory.find("new name").is_ok());
    assert_eq!(world.announcers[ends].deadline(), Time::MAX);
    let deletions = world.sent.iter().filter(|(time, index, _)| *index == ends && *time >= at(300)).count();
    assert_eq!(deletions, 3);
}

#[test]
fn a_version_is_deleted_after_the_next_was_announced() {
    let stream = Stream::new(1, "announcer");
    let first = session(1, "first", 1);
    let mut announcer = Announcer::new(address(1), &first, None, Pace::LOCAL, Time::ZERO, stream).unwrap();
    let sent = |announcer: &mut Announcer| {
        let now = announcer.deadline();
        let bytes = announcer.poll(now).unwrap().to_vec();
        let packet = Packet::read(&bytes).unwrap();
        (packet.kind, packet.hash, String::from_utf8(packet.payload.to_vec()).unwrap())
    };
    let (_, old_hash, _) = sent(&mut announcer);
    // A version that was never announced leaves no trace.
    announcer.change(&session(1, "second", 2), None, at(6)).unwrap();
    announcer.change(&session(1, "third", 3), None, at(6)).unwrap();
    let (kind, hash, text) = sent(&mut announcer);
    assert!(kind == Kind::Announcement && hash != old_hash && text.contains("s=third"));
    let (kind, hash, text) = sent(&mut announcer);
    assert_eq!((kind, hash, text), (Kind::Deletion, old_hash, first.origin.line()));
    assert_eq!(sent(&mut announcer).0, Kind::Announcement);
}

#[test]
fn a_session_that_was_never_announced_ends_without_a_word() {
    let stream = Stream::new(1, "announcer");
    let news = session(1, "news", 1);
    let mut announcer = Announcer::new(address(1), &news, None, Pace::RFC, Time::ZERO, stream).unwrap();
    assert!((200..=400).contains(&(announcer.deadline().as_ns() / 1_000_000_000)));
    announcer.finish(at(10));
    assert_eq!(announcer.poll(at(11)), None);
    assert_eq!(announcer.deadline(), Time::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_loss_any_number_the_limit_holds(count in 1u32..60, loss in 0.0f64..0.5, seed in any::<u64>()) {
        let mut world = World::new(loss, seed);
        for host in 0..count {
            world.announce(&session(host + 1, "x", 1));
        }
        world.run(at(1200));
        // Who loses half of what others send counts too few at first.
        let limit = 600 * LIMIT_BPS;
        prop_assert!(world.windows(Duration::from_secs(600)).iter().all(|&bits| bits <= limit));
    }
}
