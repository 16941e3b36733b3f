//! A receiver: it searches a session, receives it into a sink, follows another one when its own is silent, and says when it
//! ends.

mod breaker;
mod completions;
mod ending;
mod evidence;
mod foreign;
mod output;
mod overload;
mod path;
mod receiving;
mod relocating;
mod routed;
mod search;
mod searching;
mod settings;
mod symbol_loss;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use layercast_core::contract::{Estimates, JoinError};
use layercast_core::family::Family;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};

use super::error::ReceiveError;
use super::packet_loss::RecentPackets;
use super::session_receiver::{ReceiverCounters, SessionReceiver};
use super::sink::{Datagrams, Sink};
use crate::accept::AcceptCounters;
use crate::active::member::Member;
use crate::finding::Relocation;
use crate::node::LevelDemand;
use crate::notice::Notice;
use crate::object::Instance;
use crate::part::Part;
use crate::search::{FoundSession, Known};
use crate::security::any_session::AnySession;
use crate::security::protection::ProtectionCounters;
use crate::session::is_usable_group;
use breaker::Breaker;
use foreign::Foreign;
use path::PathChoice;
use receiving::{Receiving, pump};
use routed::Routed;
use search::search_limit;
use searching::{Searching, check_key};

pub use output::{Failure, Message, Output};
pub use path::{Path, Paths};
pub use settings::{Parents, ReceiverSettings};

/// The interval of looks at progress, paths and limits.
const TICK: Duration = Duration::from_ms(500);
/// The longest wait for packets while blocks are being decoded elsewhere: what is ready is taken after that.
const DECODED_WITHIN: Duration = Duration::from_ms(2);
/// Packets that come together as a rule: more of them need more memory.
const BATCH: usize = 256;
/// The pause of a service after an error that may pass.
const PAUSE: Duration = Duration::from_secs(30);

/// What a search waits for.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// A session that is passed over.
    not: Option<(IpAddr, u32)>,
    patience: Duration,
}

#[derive(Debug)]
enum State<F: Family> {
    /// Before the start.
    Idle,
    Searching(Box<Searching>),
    Receiving(Box<Receiving<F>>),
    /// A session of another FLUTE sender.
    Foreign(Box<Foreign>),
    /// A session whose routers take part, or its parent is asked for it.
    Routed(Box<Routed>),
    /// The session was left, since all that would arrive is needless; what is here is decoded and compared.
    Finishing(Box<Receiving<F>>),
    /// All is complete, and the source is to hear that.
    Reporting(Box<Receiving<F>>),
    Pausing(Time, Wait),
    /// With the last session, whose counters can still be read.
    Over(Last<F>),
}

/// The last session of a receiver that is over.
#[derive(Debug)]
enum Last<F: Family> {
    None,
    Session(Box<Receiving<F>>),
    Foreign(Box<Foreign>),
    Routed(Box<Routed>),
}

/// A packet of a batch that passed all checks: its place in the batch, and the length of its payload.
#[derive(Clone, Copy, Debug)]
struct Taken {
    number: usize,
    at: Time,
    part: Part,
    length: usize,
}

/// A receiver.
///
/// Its host gives one input, calls [`Receiver::poll`] until there is no output, and calls [`Receiver::handle_timer`] after
/// each batch of datagrams, and at [`Receiver::deadline`].
#[derive(Debug)]
pub struct Receiver<F: Family, S: Sink> {
    settings: ReceiverSettings,
    /// What takes the payload.
    pub sink: S,
    state: State<F>,
    wait: Wait,
    path: PathChoice,
    /// The check of packets while a session is searched, which remembers those of sessions that were left. None without a group
    /// key.
    check: Option<AnySession>,
    /// None if the session was not found by its name.
    relocation: Option<Relocation>,
    is_listening: bool,
    /// Messages go further than to a relay that is gone, as far as is known.
    has_carried: bool,
    breaker: Breaker,
    random: Stream,
    now: Time,
    /// When it was started.
    begun: Time,
    next_tick: Time,
    /// When a service tries what failed again.
    next_try: Time,
    is_busy: bool,
    authentic: u64,
    taken: Vec<Taken>,
    outputs: VecDeque<Output<S::Error>>,
}

impl<F: Family, S: Sink> Receiver<F, S> {
    /// A receiver that starts at its first [`Receiver::start`].
    pub fn new(settings: ReceiverSettings, sink: S) -> Receiver<F, S> {
        let mut random = Stream::new(settings.seed, "node");
        Receiver {
            path: PathChoice::new(settings.paths, &mut random),
            check: settings.group_key.clone().map(|key| AnySession::new(key, settings.salt())),
            relocation: settings.announced.clone().map(|by| Relocation::new(by, settings.keys.clone())),
            is_listening: false,
            sink,
            state: State::Idle,
            wait: Wait { not: None, patience: settings.start_within },
            has_carried: true,
            breaker: Breaker::default(),
            random,
            now: Time::ZERO,
            begun: Time::ZERO,
            next_tick: Time::ZERO,
            next_try: Time::ZERO,
            is_busy: false,
            authentic: 0,
            taken: Vec::with_capacity(BATCH),
            outputs: VecDeque::with_capacity(16),
            settings,
        }
    }

    /// Starts: searches the session.
    pub fn start(&mut self, now: Time) {
        (self.now, self.begun) = (now, now);
        let group = self.settings.known.group();
        let error = match &self.settings.known {
            _ if !is_usable_group(group.ip()) => Some(ReceiveError::WrongGroup { address: group.ip() }),
            Known::Session(session) if session.is_routed() && self.settings.parents.is_none() => {
                Some(ReceiveError::NoParents { protocol: session.protocol.clone() })
            }
            Known::Session(session) => check_key(&self.settings, session).err(),
            _ => None,
        };
        match (error, &self.settings.known) {
            (Some(error), _) => self.end(Err(Failure::Session(error))),
            (None, Known::Session(session)) if !self.sink.needs_table() => {
                let session = (**session).clone();
                self.outputs.push_back(Output::Open(self.path.path()));
                let demand = LevelDemand::new(self.random.bits());
                let found = FoundSession { session, number: 0, instance: Instance::default() };
                if let Err(failure) = self.try_begin(found, demand) {
                    self.fail(failure);
                }
            }
            (None, _) => self.search(self.wait),
        }
    }

    /// What it is to do.
    pub fn settings(&self) -> &ReceiverSettings {
        &self.settings
    }

    /// The receiver of the session that is received now, or was last.
    pub fn session(&self) -> Option<&SessionReceiver<F>> {
        match &self.state {
            State::Receiving(receiving) | State::Finishing(receiving) | State::Reporting(receiving) => {
                Some(&receiving.session)
            }
            State::Over(Last::Session(receiving)) => Some(&receiving.session),
            _ => None,
        }
    }

    /// The session of another FLUTE sender that is received now, or was last.
    fn foreign(&self) -> Option<&Foreign> {
        match &self.state {
            State::Foreign(foreign) | State::Over(Last::Foreign(foreign)) => Some(foreign),
            _ => None,
        }
    }

    /// What the session counts.
    pub fn counters(&self) -> ReceiverCounters {
        if let Some(foreign) = self.foreign() {
            return ReceiverCounters { accept: *foreign.counters(), ..ReceiverCounters::default() };
        }
        if let Some(member) = self.member() {
            let counters = member.counters();
            let accept = AcceptCounters {
                packets: counters.received,
                malformed: counters.malformed,
                ..AcceptCounters::default()
            };
            return ReceiverCounters { accept, marked: counters.marked, ..ReceiverCounters::default() };
        }
        self.session().map(|session| *session.counters()).unwrap_or_default()
    }

    /// The estimates of the congestion control.
    pub fn estimates(&self) -> Estimates {
        match self.member() {
            Some(member) => member.estimates(self.now),
            None => self.session().map(SessionReceiver::estimates).unwrap_or_default(),
        }
    }

    /// Packets that were checked for authenticity; none if they are not.
    pub fn protection(&self) -> Option<&ProtectionCounters> {
        match self.member() {
            Some(member) => member.protection(),
            None => self.session()?.protection(),
        }
    }

    /// The part in a session whose routers take part, now or last; none in other sessions.
    pub fn member(&self) -> Option<&Member> {
        match &self.state {
            State::Routed(routed) | State::Over(Last::Routed(routed)) => Some(routed.member()),
            _ => None,
        }
    }

    /// The packets of the last seconds; none before the first.
    pub fn recent_packets(&self, now: Time) -> Option<RecentPackets> {
        match self.foreign() {
            Some(foreign) => foreign.recent_packets(now),
            None => self.session()?.recent_packets(now),
        }
    }

    /// The size of the session's symbols in bytes, as far as is known.
    pub fn symbol_size(&self) -> usize {
        if let Some(foreign) = self.foreign() {
            return foreign.symbol_size();
        }
        let session = match self.member() {
            Some(member) => member.session(),
            None => self.session().map(SessionReceiver::session),
        };
        session.map_or(0, |session| session.symbol_size().into())
    }

    /// How many packets, of any session, the group key has authenticated.
    pub fn authentic(&self) -> u64 {
        self.authentic
    }

    /// The time of its last input.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether it waits for nothing more.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over(_))
    }

    /// When [`Receiver::handle_timer`] is to be called.
    pub fn deadline(&self) -> Option<Time> {
        let tick = Some(self.next_tick);
        let limit = self.settings.within.map(|within| self.begun + within);
        let working = match self.is_busy {
            true => Some(self.now),
            false => self.sink.is_waiting().then(|| self.now + DECODED_WITHIN),
        };
        let times = match &self.state {
            State::Idle | State::Over(_) => return None,
            State::Searching(searching) => {
                let (patience, _) = search_limit(&self.path, self.wait.patience);
                let own = searching.deadline().filter(|&time| time > self.now);
                [tick, limit, own, Some(searching.since + patience), None]
            }
            State::Receiving(receiving) => {
                let (session, completions) = (&receiving.session, &receiving.completions);
                [
                    tick.min(limit.or(tick)),
                    session.deadline(),
                    completions.deadline(),
                    working,
                    self.sink.deadline(),
                ]
            }
            State::Foreign(_) | State::Finishing(_) => [tick, limit, working, None, None],
            State::Routed(routed) => [tick, limit, working, routed.deadline(), None],
            State::Reporting(receiving) => [receiving.completions.deadline(), None, None, None, None],
            State::Pausing(until, _) => [Some(*until), limit, None, None, None],
        };
        times.into_iter().flatten().min()
    }

    /// What is wanted of the host next.
    pub fn poll(&mut self) -> Option<Output<S::Error>> {
        self.outputs.pop_front()
    }

    /// Datagrams arrived by the path.
    pub fn handle(&mut self, batch: &mut impl Datagrams) {
        match &mut self.state {
            State::Searching(_) => {
                if let Some(found) = self.search_in(batch) {
                    self.begin(found);
                }
            }
            State::Receiving(_) | State::Foreign(_) => {
                if let Err(error) = self.receive(batch) {
                    self.fail(Failure::Sink(error));
                }
            }
            State::Routed(_) => {
                if let Err(error) = self.receive_routed_in(batch) {
                    self.fail(Failure::Sink(error));
                }
            }
            // What arrives after a session was left is not needed.
            _ => {}
        }
    }

    /// A datagram came by multicast while a relay is used and multicast is looked for.
    pub fn handle_probe(&mut self, now: Time, from: IpAddr, bytes: &[u8]) {
        let (source, tsi) = match &self.state {
            State::Receiving(receiving) => {
                let session = receiving.session.session();
                (Some(session.source), session.tsi.into())
            }
            State::Foreign(foreign) => foreign.source_and_number(),
            _ => return,
        };
        self.path.probed(now, source, tsi, from, bytes);
    }

    /// Whether the source may say that it is full, by unicast.
    pub fn expects_replies(&self) -> bool {
        matches!(&self.state, State::Receiving(receiving) if receiving.session.most_receivers().is_some())
    }

    /// A datagram came by unicast, in reply to messages.
    pub fn handle_reply(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        self.now = self.now.max(now);
        let State::Receiving(receiving) = &self.state else { return };
        let session = receiving.session.session();
        if let Some(most) = receiving.session.most_receivers()
            && from == session.feedback
            && receiving.session.is_refusal(bytes)
        {
            let protocol = session.protocol.clone();
            self.fail(Failure::Session(ReceiveError::Full { protocol, most }));
        }
    }

    /// A channel could not be joined.
    pub fn join_failed(&mut self, channel: Channel, error: JoinError) {
        if let State::Receiving(receiving) = &mut self.state {
            receiving.session.join_failed(channel, error);
            pump(receiving, &mut self.sink, &mut self.outputs);
        }
    }

    /// Multicast cannot be looked for.
    pub fn probe_failed(&mut self) {
        self.path.end_probe(self.now);
    }

    /// A completion was sent. Whether it is the first that went this way.
    pub fn completion_sent(&mut self, is_first: bool) {
        if let State::Receiving(receiving) | State::Reporting(receiving) = &mut self.state
            && is_first
        {
            receiving.completions.restart();
        }
    }

    /// Whether messages have gone further than to a relay that is gone, as far as the host knows.
    pub fn set_carried(&mut self, has_carried: bool) {
        self.has_carried = has_carried;
    }

    /// The host cannot go on, for this reason. Whether the receiver does, after a pause; otherwise it is over, and the host has
    /// the error.
    pub fn host_failed(&mut self, now: Time, reason: String, may_pass: bool) -> bool {
        self.now = self.now.max(now);
        self.say_farewell(false);
        self.leave();
        if !self.settings.keep_going || !may_pass {
            self.over();
            return false;
        }
        self.sink.flush();
        self.retry(reason);
        true
    }

    /// Ends now.
    pub fn stop(&mut self, now: Time) {
        self.now = self.now.max(now);
        match self.state {
            State::Over(_) => {}
            // All is there.
            State::Reporting(_) => self.end(Ok(())),
            _ => self.fail(Failure::Session(ReceiveError::Interrupted)),
        }
    }

    /// Does what is due. It may be called earlier than at the deadline.
    pub fn handle_timer(&mut self, now: Time) {
        self.now = self.now.max(now);
        let done = match self.state {
            State::Idle | State::Over(_) => Ok(()),
            State::Searching(_) => self.search_on(),
            State::Receiving(_) => self.receive_on(),
            State::Foreign(_) => self.receive_foreign(),
            State::Routed(_) => self.receive_routed(),
            State::Finishing(_) => self.finish(),
            State::Reporting(_) => {
                self.report();
                Ok(())
            }
            State::Pausing(until, wait) if until <= self.now => {
                self.search(wait);
                Ok(())
            }
            State::Pausing(..) => self.check_limit(),
        };
        if let Err(failure) = done {
            self.fail(failure);
        }
    }

    fn notice(&mut self, notice: Notice) {
        self.outputs.push_back(Output::Notice(notice));
    }
}
