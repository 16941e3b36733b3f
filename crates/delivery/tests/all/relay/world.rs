//! Relays, children, and the network between them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::relay::child::{Child, ParentEvent};
use layercast_delivery::relay::message::{Alternatives, MESSAGE_MAX};
use layercast_delivery::relay::parent::{Limits, Parent};
use layercast_delivery::relay::session::{Allowed, SessionKey};

/// A session.
pub(crate) fn key(number: u8) -> SessionKey {
    let group = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 1, number, 0)), 5500);
    SessionKey { group, source: None }
}

/// Session 0.
pub(crate) fn allowed() -> Allowed {
    Allowed { sessions: vec![key(0)], prefixes: Vec::new() }
}

/// The address of a relay.
pub(crate) fn at(parent: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 100 + parent)), 5600)
}

pub(crate) fn parent(limits: Limits, alternatives: Alternatives, random: u8) -> Parent {
    Parent::new(limits, allowed(), alternatives, [random; 32])
}

/// From where, to where, and what.
type Sent = (SocketAddr, SocketAddr, Vec<u8>);

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) parents: Vec<Parent>,
    pub(crate) children: Vec<Child>,
    /// The channels that each relay has joined by what it says.
    pub(crate) joined: Vec<BTreeSet<Channel>>,
    pub(crate) loss: f64,
    pub(crate) dead: Option<usize>,
    /// What a NAT adds to the ports of children.
    pub(crate) shift_port: u16,
    pub(crate) news: Vec<ParentEvent>,
    pub(crate) record: bool,
    pub(crate) recorded: Vec<Vec<u8>>,
    random: Stream,
    flying: BTreeMap<(Time, u64), Sent>,
    count: u64,
}

impl World {
    pub(crate) fn new(seed: u64, parents: u8, children: u8, limits: Limits) -> World {
        let mut world = World {
            now: Time::from_ns(1),
            parents: (0..parents).map(|number| parent(limits, Alternatives::default(), number + 1)).collect(),
            children: Vec::new(),
            joined: vec![BTreeSet::new(); parents.into()],
            loss: 0.0,
            dead: None,
            shift_port: 0,
            news: Vec::new(),
            record: false,
            recorded: Vec::new(),
            random: Stream::new(seed, "network"),
            flying: BTreeMap::new(),
            count: 0,
        };
        let addresses: Vec<_> = (0..parents).map(at).collect();
        world.make_children(children, &addresses);
        world
    }

    pub(crate) fn make_children(&mut self, count: u8, parents: &[SocketAddr]) {
        let child = |number: u8| {
            Child::new(key(0), parents, self.now, Duration::from_ms(200), [number.wrapping_add(100); 32])
        };
        self.children = (0..count).map(child).collect();
    }

    pub(crate) fn each_child(&mut self, mut what: impl FnMut(&mut Child, Time)) {
        let now = self.now;
        self.children.iter_mut().for_each(|child| what(child, now));
    }

    pub(crate) fn address_of(&self, child: usize) -> SocketAddr {
        let address = IpAddr::V4(Ipv4Addr::new(198, 51, 100, child as u8));
        SocketAddr::new(address, 2000 + self.shift_port)
    }

    fn send(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        if self.record {
            self.recorded.push(bytes.to_vec());
        }
        let copies =
            if self.random.chance(self.loss) { 0 } else { 1 + usize::from(self.random.chance(0.05)) };
        for _ in 0..copies {
            // Messages overtake each other.
            let delay = Duration::from_ms(5) + self.random.uniform_duration(Duration::from_ms(40));
            self.count += 1;
            self.flying.insert((self.now + delay, self.count), (from, to, bytes.to_vec()));
        }
    }

    fn serve(&mut self) {
        let mut room = [0; MESSAGE_MAX];
        for index in 0..self.children.len() {
            while let Some((to, length)) = self.children[index].poll(self.now, &mut room) {
                self.send(self.address_of(index), to, &room[..length]);
            }
            while let Some(news) = self.children[index].take_news() {
                self.news.push(news);
            }
        }
        for index in 0..self.parents.len() {
            self.parents[index].poll(self.now);
            while let Some((to, length)) = self.parents[index].take_reply(&mut room) {
                self.send(at(index as u8), to, &room[..length]);
            }
            while let Some(change) = self.parents[index].take_change() {
                let joined = &mut self.joined[index];
                let was = if change.is_join {
                    joined.insert(change.channel)
                } else {
                    joined.remove(&change.channel)
                };
                assert!(was, "first joins and last leaves alone: {change:?}");
            }
        }
    }

    /// Lets time pass, in steps of a millisecond.
    pub(crate) fn run(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.now += Duration::from_ms(1);
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (from, to, bytes) = entry.remove();
                if let Some(index) = (0..self.parents.len()).find(|index| at(*index as u8) == to) {
                    if self.dead != Some(index) {
                        self.parents[index].message(self.now, from, &bytes);
                    }
                    continue;
                }
                let heard = self.dead.is_none_or(|dead| at(dead as u8) != from);
                let child = (0..self.children.len()).find(|index| heard && self.address_of(*index) == to);
                if let Some(index) = child {
                    self.children[index].message(self.now, from, &bytes);
                }
            }
            self.serve();
        }
    }
}
