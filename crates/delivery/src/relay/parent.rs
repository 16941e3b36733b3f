//! What a relay does for its children: lets them in, keeps what they hold, and says which channels it needs itself.
//!
//! Nothing is kept of an address before it has repeated a cookie, so that hellos from forged addresses cost no memory, and
//! no address gets more bytes than came from it. A channel is needed from the first child that holds it until the last one
//! leaves it.

mod bucket;
mod cookie;
mod record;
mod served;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use layercast_core::units::{Channel, Duration, Time};
use layercast_core::{Always as _, cannot_be};

use super::channels::ChannelSet;
use super::message::{Alternatives, CHALLENGE_BYTES, MESSAGE_MAX, Message, MessageError, Reason, canonical};
use super::secret::Secret;
use super::session::{Allowed, SessionKey};
use bucket::Bucket;
use cookie::{child_number, is_cookie};
pub use record::{Change, Child, Feedback, Limits, ParentCounters};
use served::Served;

/// After how many keep-alives that did not come a child is gone.
const MISSED: u64 = 5;
/// How often silent children are looked for.
const TICK: Duration = Duration::from_ms(500);
/// The most answers that wait to be sent.
const REPLIES_MAX: usize = 1024;

/// The use of the secret for numbers of sessions.
const HANDLE: u8 = 3;

/// A relay towards its children.
#[derive(Debug)]
pub struct Parent {
    limits: Limits,
    allowed: Allowed,
    alternatives: Alternatives,
    secret: Secret,
    children: Vec<Option<Child>>,
    free: Vec<usize>,
    by_id: BTreeMap<u64, usize>,
    by_address: BTreeMap<IpAddr, usize>,
    sessions: Vec<Option<Served>>,
    channels: usize,
    handles: u64,
    answers: Bucket,
    replies: VecDeque<(SocketAddr, [u8; MESSAGE_MAX], usize)>,
    changes: VecDeque<Change>,
    next_tick: Time,
    /// How many relays there are from here up to the source or to multicast.
    depth: u8,
    is_saturated: bool,
    is_closing: bool,
    counters: ParentCounters,
}

impl Parent {
    /// A relay without children. `random` are bytes that nobody else knows.
    pub fn new(limits: Limits, allowed: Allowed, alternatives: Alternatives, random: [u8; 32]) -> Parent {
        Parent {
            limits,
            allowed,
            alternatives,
            secret: Secret::new(random),
            children: Vec::new(),
            free: Vec::new(),
            by_id: BTreeMap::new(),
            by_address: BTreeMap::new(),
            sessions: Vec::new(),
            channels: 0,
            handles: 0,
            answers: Bucket::new(limits.answers_per_s),
            replies: VecDeque::new(),
            changes: VecDeque::new(),
            next_tick: Time::ZERO,
            depth: 0,
            is_saturated: false,
            is_closing: false,
            counters: ParentCounters::default(),
        }
    }

    /// What it has done.
    pub fn counters(&self) -> &ParentCounters {
        &self.counters
    }

    /// How many children there are.
    pub fn count(&self) -> usize {
        self.by_id.len()
    }

    /// All children.
    pub fn children(&self) -> impl Iterator<Item = &Child> {
        self.children.iter().flatten()
    }

    /// A child by its place.
    pub fn child(&self, place: usize) -> Option<&Child> {
        self.children.get(place)?.as_ref()
    }

    /// A child by its place.
    pub fn child_mut(&mut self, place: usize) -> Option<&mut Child> {
        self.children.get_mut(place)?.as_mut()
    }

    /// The sessions that some child wants, each with its place.
    pub fn sessions(&self) -> impl Iterator<Item = (usize, SessionKey)> {
        let served = |(place, session): (usize, &Option<Served>)| Some((place, session.as_ref()?.key));
        self.sessions.iter().enumerate().filter_map(served)
    }

    /// A session by its place; none if no child wants it.
    pub fn key(&self, session: usize) -> Option<SessionKey> {
        self.sessions.get(session)?.as_ref().map(|served| served.key)
    }

    /// The number of a session in the header of data; none if no child wants it.
    pub fn handle(&self, session: usize) -> Option<u32> {
        self.sessions.get(session)?.as_ref().map(|served| served.handle)
    }

    /// The places of the children that hold a channel.
    pub fn holders(&self, session: usize, channel: Channel) -> &[usize] {
        let served = self.sessions.get(session).and_then(Option::as_ref);
        served.map_or(&[], |served| served.holders(channel))
    }

    /// Says how many relays there are from here up to the source or to multicast.
    pub fn set_depth(&mut self, depth: u8) {
        self.depth = depth;
    }

    /// How many relays there are from here up to the source or to multicast.
    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// Says whether this relay sends as much as it may: then it takes no more children.
    pub fn set_saturated(&mut self, is_saturated: bool) {
        self.is_saturated = is_saturated;
    }

    /// Takes a message. Returns a message to the source that is to be passed on.
    pub fn message<'m>(&mut self, now: Time, from: SocketAddr, bytes: &'m [u8]) -> Option<Feedback<'m>> {
        let from = canonical(from);
        match Message::read(bytes) {
            Ok(Message::Hello { nonce, session, cookie, previous }) => {
                self.hello(now, from, nonce, session, cookie, previous);
            }
            Ok(Message::Membership { child, number, held }) => {
                let place = self.child_at(now, from, child, bytes.len())?;
                self.membership(place, number, held);
            }
            Ok(Message::KeepAlive { child, time, received }) => {
                let place = self.child_at(now, from, child, bytes.len())?;
                let depth = self.depth;
                let one = self.child_mut(place)?;
                one.missing = (one.packets as u32).wrapping_sub(received);
                let dropped = one.dropped as u32;
                self.reply(from, &Message::Alive { child, time, dropped, depth });
            }
            Ok(Message::Goodbye { child }) => {
                let place = self.child_at(now, from, child, bytes.len())?;
                self.remove(place);
            }
            Ok(Message::Feedback { child, to, message }) => {
                let place = self.child_at(now, from, child, bytes.len())?;
                let one = self.child_mut(place)?;
                if !one.feedback.take(now) {
                    self.counters.feedback_dropped += 1;
                    return None;
                }
                let session = one.session;
                self.counters.feedback += 1;
                return Some(Feedback { session, to, from, message });
            }
            Err(MessageError::Version { nonce, .. }) => {
                if self.may_answer(now) {
                    let alternatives = Alternatives::default();
                    self.reply(from, &Message::Refusal { nonce, reason: Reason::Version, alternatives });
                }
            }
            Ok(
                Message::Challenge { .. }
                | Message::Welcome { .. }
                | Message::Refusal { .. }
                | Message::Ack { .. }
                | Message::Alive { .. }
                | Message::Unknown { .. },
            )
            | Err(_) => self.counters.malformed += 1,
        }
        None
    }

    /// The place of the child with this number, from which `length` bytes came that are none of these messages; none if there
    /// is no such child, or it is at another address.
    pub fn heard(&mut self, now: Time, from: SocketAddr, child: u64, length: usize) -> Option<usize> {
        self.child_at(now, canonical(from), child, length)
    }

    /// An answer that is to be sent, written to `room`: where to, and its length.
    pub fn take_reply(&mut self, room: &mut [u8; MESSAGE_MAX]) -> Option<(SocketAddr, usize)> {
        let (to, bytes, length) = self.replies.pop_front()?;
        *room = bytes;
        Some((to, length))
    }

    /// A channel that this relay needs from now on, or no longer.
    pub fn take_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// When [`Parent::poll`] is to be called; none without children.
    pub fn deadline(&self) -> Option<Time> {
        (!self.by_id.is_empty()).then_some(self.next_tick)
    }

    /// Looks for children that have fallen silent.
    pub fn poll(&mut self, now: Time) {
        if now < self.next_tick {
            return;
        }
        self.next_tick = now + TICK;
        let most = Duration::from_ns(self.limits.keep_alive.as_ns().saturating_mul(MISSED));
        for place in 0..self.children.len() {
            let is_lost = |child: &Child| child.address.is_some() && now.since(child.heard) > most;
            if self.children.get(place).and_then(Option::as_ref).is_some_and(is_lost) {
                self.remove(place);
                self.counters.lost += 1;
            }
        }
    }

    /// Ends: all children are to go elsewhere, and nobody is let in.
    pub fn close(&mut self) {
        self.is_closing = true;
        let alternatives = self.alternatives;
        for place in 0..self.children.len() {
            let Some(child) = self.children.get(place).and_then(Option::as_ref) else { continue };
            let (to, nonce) = (child.address, child.nonce);
            // No limit but that of children, of which each gets one message.
            if let Some(to) = to {
                self.push(to, &Message::Refusal { nonce, reason: Reason::Closing, alternatives });
            }
            self.remove(place);
        }
    }

    fn hello(
        &mut self,
        now: Time,
        from: SocketAddr,
        nonce: u64,
        session: SessionKey,
        cookie: Option<[u8; 16]>,
        previous: Option<u64>,
    ) {
        let resolved = self.allowed.resolve(session);
        let is_good = |cookie| is_cookie(&self.secret, now, from, nonce, &resolved, &cookie);
        if !cookie.is_some_and(is_good) {
            self.challenge(now, from, nonce, &session);
            return;
        }
        let before = previous.and_then(|id| self.by_id.get(&id).copied());
        let before = before.filter(|place| self.is_same(*place, nonce, &session));
        let id = child_number(&self.secret, from, nonce, &session);
        let place = match (before, self.by_id.get(&id).copied()) {
            (Some(place), _) => {
                self.rebind(place, from);
                Ok(place)
            }
            (None, Some(place)) => Ok(place),
            (None, None) => self.admit(now, from, id, nonce, session),
        };
        match place {
            Ok(place) => self.welcome(now, place),
            Err(reason) => {
                self.counters.refused += 1;
                let alternatives = self.alternatives;
                self.reply(from, &Message::Refusal { nonce, reason, alternatives });
            }
        }
    }

    fn welcome(&mut self, now: Time, place: usize) {
        let keep_alive_ms = u16::try_from(self.limits.keep_alive.as_ns() / 1_000_000).unwrap_or(u16::MAX);
        let Some(child) = self.child_mut(place) else { return cannot_be("who is welcome was let in") };
        child.heard = now;
        let (nonce, id, session) = (child.nonce, child.id, child.session);
        let Some(to) = child.address else { return cannot_be("who says hello has an address") };
        let handle = self.handle(session).always("a child wants a session that is served");
        self.reply(to, &Message::Welcome { nonce, child: id, handle, keep_alive_ms });
    }

    /// Lets a child in, whose address is known to be its own.
    fn admit(
        &mut self,
        now: Time,
        from: SocketAddr,
        id: u64,
        nonce: u64,
        key: SessionKey,
    ) -> Result<usize, Reason> {
        if self.is_closing {
            return Err(Reason::Closing);
        }
        if !self.allowed.contains(&key) {
            return Err(Reason::Session);
        }
        let at_address = self.by_address.get(&from.ip()).copied().unwrap_or(0);
        if self.by_id.len() >= self.limits.children || at_address >= self.limits.per_address {
            return Err(Reason::Full);
        }
        if self.is_saturated {
            return Err(Reason::Rate);
        }
        let session = self.session_of(key).ok_or(Reason::Full)?;
        let place = self.insert(now, Some(from), id, nonce, session);
        self.by_id.insert(id, place);
        *self.by_address.entry(from.ip()).or_default() += 1;
        self.counters.welcomed += 1;
        Ok(place)
    }

    fn insert(
        &mut self,
        now: Time,
        address: Option<SocketAddr>,
        id: u64,
        nonce: u64,
        session: usize,
    ) -> usize {
        if let Some(Some(served)) = self.sessions.get_mut(session) {
            served.children += 1;
        }
        let child = Child {
            address,
            session,
            held: ChannelSet::default(),
            since: now,
            packets: 0,
            bytes: 0,
            dropped: 0,
            missing: 0,
            id,
            nonce,
            number: None,
            heard: now,
            feedback: Bucket::new(self.limits.feedback_per_s),
        };
        let place = self.free.pop().unwrap_or_else(|| {
            self.children.push(None);
            self.children.len() - 1
        });
        if let Some(free) = self.children.get_mut(place) {
            *free = Some(child);
        }
        place
    }

    /// Makes the set of a session's channels that the link holds this one, on which the relay sends on by multicast: a child
    /// without an address, that is not asked whether it is there and counts for no limit but that of channels.
    pub fn hold_link(&mut self, now: Time, key: SessionKey, held: ChannelSet) {
        let key = self.allowed.resolve(key);
        let is_link = |child: &Child| child.address.is_none();
        let known = self.sessions().find(|(_, session)| *session == key).map(|(session, _)| session);
        let place = self.children.iter().position(|child| {
            child.as_ref().is_some_and(|child| is_link(child) && Some(child.session) == known)
        });
        let place = match place {
            Some(place) if held.is_empty() => return self.remove(place),
            Some(place) => place,
            None if held.is_empty() || self.is_closing || !self.allowed.contains(&key) => return,
            None => match self.session_of(key) {
                Some(session) => self.insert(now, None, 0, 0, session),
                None => return,
            },
        };
        self.hold(place, held);
    }

    /// The place of a session, which is new if need be; none if there are too many.
    fn session_of(&mut self, key: SessionKey) -> Option<usize> {
        // A child repeats the key that it knows, so that is the one that is compared.
        let resolved = self.allowed.resolve(key);
        let known = |one: &Option<Served>| one.as_ref().is_some_and(|served| served.key == resolved);
        if let Some(place) = self.sessions.iter().position(known) {
            return Some(place);
        }
        let place = match self.sessions.iter().position(Option::is_none) {
            Some(place) => place,
            None if self.sessions.len() < self.limits.sessions => {
                self.sessions.push(None);
                self.sessions.len() - 1
            }
            None => return None,
        };
        let used: Vec<u32> = self.sessions.iter().flatten().map(|served| served.handle).collect();
        let handle = loop {
            self.handles += 1;
            let handle = self.secret.number(HANDLE, &[&self.handles.to_be_bytes()]) as u32;
            if !used.contains(&handle) {
                break handle;
            }
        };
        *self.sessions.get_mut(place)? = Some(Served::new(resolved, handle));
        Some(place)
    }

    fn membership(&mut self, place: usize, number: u32, held: ChannelSet) {
        let Some(child) = self.children.get_mut(place).and_then(Option::as_mut) else {
            return cannot_be("a child that is heard has a place");
        };
        let is_newer = child.number.is_none_or(|newest| number.wrapping_sub(newest) as i32 > 0);
        if is_newer {
            child.number = Some(number);
            self.hold(place, held);
        }
        let Some(child) = self.children.get(place).and_then(Option::as_ref) else {
            return cannot_be("what a child holds does not remove it");
        };
        let (id, number) = (child.id, child.number.unwrap_or(number));
        let Some(to) = child.address else { return cannot_be("a child that is heard has an address") };
        self.reply(to, &Message::Ack { child: id, number });
    }

    /// Makes the set of channels that a child holds this one.
    fn hold(&mut self, place: usize, held: ChannelSet) {
        let Some(child) = self.children.get_mut(place).and_then(Option::as_mut) else {
            return cannot_be("who holds channels is a child");
        };
        let session = child.session;
        let Some(served) = self.sessions.get_mut(session).and_then(Option::as_mut) else {
            return cannot_be("a child wants a session that is served");
        };
        let before = child.held;
        for channel in before.without(&held).iter() {
            child.held.remove(channel);
            if served.leave(channel, place) {
                self.channels = self.channels.saturating_sub(1);
                self.changes.push_back(Change { session, key: served.key, channel, is_join: false });
            }
        }
        for channel in held.without(&before).iter() {
            let is_first = served.holders(channel).is_empty();
            if served.key.address(channel).is_none() || (is_first && self.channels >= self.limits.channels) {
                continue;
            }
            child.held.insert(channel);
            served.join(channel, place);
            if is_first {
                self.channels += 1;
                self.changes.push_back(Change { session, key: served.key, channel, is_join: true });
            }
        }
    }

    fn remove(&mut self, place: usize) {
        self.hold(place, ChannelSet::default());
        let Some(child) = self.children.get_mut(place).and_then(Option::take) else {
            return cannot_be("who leaves is a child");
        };
        self.free.push(place);
        if let Some(address) = child.address {
            self.by_id.remove(&child.id);
            self.forget_address(address.ip());
        }
        if let Some(slot) = self.sessions.get_mut(child.session)
            && let Some(served) = slot
        {
            served.children = served.children.saturating_sub(1);
            if served.children == 0 {
                *slot = None;
            }
        }
    }

    fn forget_address(&mut self, address: IpAddr) {
        if let Some(count) = self.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
    }

    /// A child is at another address, as those behind a NAT are after a while.
    fn rebind(&mut self, place: usize, to: SocketAddr) {
        let Some(child) = self.child_mut(place) else {
            return cannot_be("a child that was found has a place");
        };
        let from = child.address.replace(to);
        if let Some(from) = from.filter(|from| *from != to) {
            self.forget_address(from.ip());
            *self.by_address.entry(to.ip()).or_default() += 1;
            self.counters.moved += 1;
        }
    }

    fn is_same(&self, place: usize, nonce: u64, session: &SessionKey) -> bool {
        let Some(child) = self.children.get(place).and_then(Option::as_ref) else {
            return cannot_be("a child that was found has a place");
        };
        let served = self.sessions.get(child.session).and_then(Option::as_ref);
        child.nonce == nonce && served.is_some_and(|served| served.key == self.allowed.resolve(*session))
    }

    /// The place of a child that says something. From another address than its own it gets a challenge, and a stranger the
    /// answer that it is one.
    fn child_at(&mut self, now: Time, from: SocketAddr, id: u64, length: usize) -> Option<usize> {
        let Some(&place) = self.by_id.get(&id) else {
            if self.may_answer(now) {
                self.reply(from, &Message::Unknown { child: id });
            }
            return None;
        };
        let child = self.children.get_mut(place)?.as_mut()?;
        if child.address == Some(from) {
            child.heard = now;
            return Some(place);
        }
        if length >= CHALLENGE_BYTES {
            let (nonce, session) = (child.nonce, child.session);
            let key = self.sessions.get(session)?.as_ref()?.key;
            self.challenge(now, from, nonce, &key);
        }
        None
    }

    fn challenge(&mut self, now: Time, to: SocketAddr, nonce: u64, session: &SessionKey) {
        if self.may_answer(now) {
            let session = self.allowed.resolve(*session);
            let cookie = cookie::cookie(&self.secret, now, to, nonce, &session);
            self.counters.challenges += 1;
            self.reply(to, &Message::Challenge { nonce, cookie });
        }
    }

    fn may_answer(&mut self, now: Time) -> bool {
        let may = self.answers.take(now);
        self.counters.unanswered += u64::from(!may);
        may
    }

    fn reply(&mut self, to: SocketAddr, message: &Message<'_>) {
        if self.replies.len() < REPLIES_MAX {
            self.push(to, message);
        }
    }

    fn push(&mut self, to: SocketAddr, message: &Message<'_>) {
        let mut room = [0; MESSAGE_MAX];
        let length = message.write(&mut room);
        self.replies.push_back((to, room, length));
    }
}
