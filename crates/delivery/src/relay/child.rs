//! What a receiver or a relay does to have channels held by a relay above it: finds one that serves it, says what it holds,
//! notices when the relay is gone, and goes to the next.

mod link;
mod targets;

use std::collections::VecDeque;
use std::net::SocketAddr;

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};

use super::channels::ChannelSet;
use super::message::{Data, FEEDBACK_MAX, HOPS_MAX, MESSAGE_MAX, Message, Reason, canonical};
use super::secret::Secret;
use super::session::SessionKey;
use crate::session::MAX_CHANNELS;
pub use link::LinkReport;
use link::{Due, Link};
use targets::Targets;

/// How long the first answer of a parent may take, and how many hellos it gets, each of which waits twice as long.
const FIRST_WAIT: Duration = Duration::from_ms(300);
const TRIES: u32 = 3;
/// The rest when no relay of the list serves this child: up to so long, twice as long each time, up to the longest.
const FIRST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(30);
/// The most news that nobody has read.
const NEWS_MAX: usize = 16;
/// For how long after a leave its packets may come: longer than round trips are.
const REMEMBERED: Duration = Duration::from_secs(2);
/// The use of the secret.
const NONCE: u8 = 4;

/// Something that an operator should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentEvent {
    /// A relay serves this child.
    Served(SocketAddr),
    /// A relay does not answer.
    Silent(SocketAddr),
    /// A relay that served this child is gone.
    Lost(SocketAddr),
    /// A relay does not serve this child, or no longer.
    Refused(SocketAddr, Reason),
}

#[derive(Debug)]
enum State {
    /// Nothing is asked for until then.
    Resting(Time),
    Asking(Asking),
    Served(Link),
    /// This child has left.
    Closed,
}

/// A relay is asked to serve this child.
#[derive(Clone, Debug)]
struct Asking {
    parent: SocketAddr,
    nonce: u64,
    cookie: Option<[u8; 16]>,
    tries: u32,
    next: Time,
}

/// A receiver or a relay towards its parent.
#[derive(Debug)]
pub struct Child {
    session: SessionKey,
    targets: Targets,
    held: ChannelSet,
    /// Channels that were left not long ago, and when: their packets may be on their path still.
    left: Vec<(Channel, Time)>,
    /// Channels that were joined again soon: what comes before the parent knows of it was sent before the leave, and what
    /// follows would seem lost.
    rejoined: ChannelSet,
    /// The number of the newest membership.
    number: u32,
    state: State,
    /// How often all relays were asked in vain.
    rounds: u32,
    secret: Secret,
    nonces: u64,
    random: Stream,
    news: VecDeque<ParentEvent>,
}

impl Child {
    /// A child that asks these relays, in this order, for a session: the first time after a random part of `within`, so that
    /// many that start together do not come together. `random` are bytes that nobody else knows.
    pub fn new(
        session: SessionKey,
        parents: &[SocketAddr],
        now: Time,
        within: Duration,
        random: [u8; 32],
    ) -> Child {
        let secret = Secret::new(random);
        let mut stream = Stream::new(secret.number(NONCE, &[]), "relay/child");
        let state = State::Resting(now + stream.uniform_duration(within));
        Child {
            session,
            targets: Targets::new(parents),
            held: ChannelSet::default(),
            left: Vec::new(),
            rejoined: ChannelSet::default(),
            number: 0,
            state,
            rounds: 0,
            secret,
            nonces: 0,
            random: stream,
            news: VecDeque::new(),
        }
    }

    /// The session.
    pub fn session(&self) -> SessionKey {
        self.session
    }

    /// The channels that it holds.
    pub fn held(&self) -> &ChannelSet {
        &self.held
    }

    /// Holds a channel from now on.
    pub fn join(&mut self, now: Time, channel: Channel) {
        if self.held.insert(channel) {
            self.left.retain(|(_, when)| now.since(*when) < REMEMBERED);
            if self.left.iter().any(|(left, _)| *left == channel) {
                self.rejoined.insert(channel);
            }
            self.changed(now);
        }
    }

    /// Holds a channel no longer.
    pub fn leave(&mut self, now: Time, channel: Channel) {
        if self.held.remove(channel) {
            self.left.retain(|(left, when)| *left != channel && now.since(*when) < REMEMBERED);
            self.left.push((channel, now));
            self.rejoined.remove(channel);
            self.changed(now);
        }
    }

    fn changed(&mut self, now: Time) {
        self.number = self.number.wrapping_add(1);
        if let State::Served(link) = &mut self.state {
            link.changed(now);
        }
    }

    /// What is known of the relay that serves it; none if none does.
    pub fn link(&self) -> Option<LinkReport> {
        match &self.state {
            State::Served(link) => Some(link.report()),
            _ => None,
        }
    }

    /// The relay that serves this child, and the child's number there; none if none does.
    pub fn served_by(&self) -> Option<(SocketAddr, u64)> {
        match &self.state {
            State::Served(link) => Some((link.parent(), link.id())),
            _ => None,
        }
    }

    /// ParentEvent that nobody has read.
    pub fn take_news(&mut self) -> Option<ParentEvent> {
        self.news.pop_front()
    }

    /// The header of a packet of data, and its length, if the packet comes from the parent, and is of this session and of a channel
    /// that this child holds, or of one that no session has: on those parents say what all children must know.
    pub fn data(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Option<(Data, usize)> {
        let (data, length) = Data::read(bytes)?;
        let State::Served(link) = &mut self.state else { return None };
        let is_ours = link.data(now, canonical(from), &data);
        let is_control = data.channel.0 >= MAX_CHANNELS;
        let is_wanted =
            is_control || (self.held.contains(data.channel) && !self.rejoined.contains(data.channel));
        (is_ours && is_wanted).then_some((data, length))
    }

    /// The same of a packet for receivers of the session: not of a channel that no session has, and not one that
    /// was sent in a circle, and has been here already.
    pub fn packet(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Option<(Data, usize)> {
        let (data, length) = self.data(now, from, bytes)?;
        (data.hops < HOPS_MAX && self.held.contains(data.channel)).then_some((data, length))
    }

    /// Takes a message that is not data.
    pub fn message(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        let from = canonical(from);
        let Ok(message) = Message::read(bytes) else { return };
        match &mut self.state {
            State::Asking(asking) if asking.parent == from => match message {
                Message::Challenge { nonce, cookie } if nonce == asking.nonce => {
                    if asking.cookie.is_none() {
                        // What answers is there: it gets all hellos again.
                        asking.tries = 0;
                    }
                    if asking.cookie.replace(cookie) != Some(cookie) {
                        asking.next = now;
                    }
                }
                Message::Welcome { nonce, child, handle, keep_alive_ms } if nonce == asking.nonce => {
                    let keep_alive = Duration::from_ms(u64::from(keep_alive_ms));
                    let link = Link::new(now, from, nonce, child, handle, keep_alive, &mut self.random);
                    self.state = State::Served(link);
                    self.rejoined = ChannelSet::default();
                    self.targets.served();
                    self.rounds = 0;
                    self.say(ParentEvent::Served(from));
                }
                Message::Refusal { nonce, reason, alternatives } if nonce == asking.nonce => {
                    self.targets.add(alternatives.iter());
                    self.say(ParentEvent::Refused(from, reason));
                    self.next_parent(now);
                }
                _ => {}
            },
            State::Served(link) if link.parent() == from => match message {
                Message::Refusal { nonce, reason, alternatives } if nonce == link.nonce() => {
                    self.targets.add(alternatives.iter());
                    self.say(ParentEvent::Refused(from, reason));
                    self.next_parent(now);
                }
                // It has forgotten this child, as after a restart.
                Message::Unknown { child } if child == link.id() => {
                    self.say(ParentEvent::Lost(from));
                    self.ask(now, from);
                }
                message => {
                    link.message(now, &message, self.number);
                    if link.report().is_settled {
                        self.rejoined = ChannelSet::default();
                    }
                }
            },
            _ => {}
        }
    }

    /// When [`Child::poll`] has something to do next; none if it has left.
    pub fn deadline(&self) -> Option<Time> {
        match &self.state {
            State::Resting(until) => Some(*until),
            State::Asking(asking) => Some(asking.next),
            State::Served(link) => Some(link.deadline()),
            State::Closed => None,
        }
    }

    /// A message that is due, written to `room`: where to, and its length. Called until there is none.
    pub fn poll(&mut self, now: Time, room: &mut [u8; MESSAGE_MAX]) -> Option<(SocketAddr, usize)> {
        loop {
            match &mut self.state {
                State::Closed => return None,
                State::Resting(until) if now < *until => return None,
                State::Resting(_) => match self.targets.next() {
                    Some(parent) => self.ask(now, parent),
                    None => {
                        self.state = State::Closed;
                        return None;
                    }
                },
                State::Asking(asking) if now < asking.next => return None,
                State::Asking(asking) if asking.tries >= TRIES => {
                    let parent = asking.parent;
                    self.say(ParentEvent::Silent(parent));
                    self.next_parent(now);
                }
                State::Asking(asking) => {
                    let (nonce, cookie, parent) = (asking.nonce, asking.cookie, asking.parent);
                    let wait = FIRST_WAIT.as_ns() << asking.tries;
                    asking.tries += 1;
                    asking.next =
                        now + Duration::from_ns(wait) + self.random.uniform_duration(Duration::from_ms(50));
                    let hello = Message::Hello { nonce, session: self.session, cookie, previous: None };
                    return Some((parent, hello.write(room)));
                }
                State::Served(link) => {
                    let parent = link.parent();
                    match link.due(now, self.number, &self.held, self.session) {
                        Due::Nothing => return None,
                        Due::Message(message) => return Some((parent, message.write(room))),
                        Due::Lost => {
                            self.say(ParentEvent::Lost(parent));
                            self.next_parent(now);
                        }
                    }
                }
            }
        }
    }

    /// Has a message go to the source through the parent: the bytes, and where they go; none without a parent, and if it is too
    /// long.
    pub fn feedback(
        &self,
        to: SocketAddr,
        message: &[u8],
        room: &mut [u8; MESSAGE_MAX],
    ) -> Option<(SocketAddr, usize)> {
        let State::Served(link) = &self.state else { return None };
        let feedback = Message::Feedback { child: link.id(), to, message };
        (message.len() <= FEEDBACK_MAX).then(|| (link.parent(), feedback.write(room)))
    }

    /// Leaves for good: a message to the parent, if there is one.
    pub fn close(&mut self, room: &mut [u8; MESSAGE_MAX]) -> Option<(SocketAddr, usize)> {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Served(link) => Some((link.parent(), Message::Goodbye { child: link.id() }.write(room))),
            _ => None,
        }
    }

    fn ask(&mut self, now: Time, parent: SocketAddr) {
        self.nonces += 1;
        let nonce = self.secret.number(NONCE, &[&self.nonces.to_be_bytes()]);
        self.state = State::Asking(Asking { parent, nonce, cookie: None, tries: 0, next: now });
    }

    /// Goes to the next relay of the list, or rests if all were asked.
    fn next_parent(&mut self, now: Time) {
        if let Some(parent) = self.targets.next_of_round() {
            self.ask(now, parent);
            return;
        }
        let longest = Duration::from_ns(FIRST_REST.as_ns() << self.rounds.min(10)).min(LONGEST_REST);
        self.rounds += 1;
        // The half of it at least, so that relays have some rest too.
        let half = Duration::from_ns(longest.as_ns() / 2);
        self.state = State::Resting(now + half + self.random.uniform_duration(half));
    }

    fn say(&mut self, news: ParentEvent) {
        if self.news.len() < NEWS_MAX {
            self.news.push_back(news);
        }
    }
}
