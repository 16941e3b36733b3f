//! A receiver: it searches a session, receives it into a sink, follows another one when its own is silent, and says when it
//! ends.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;
use std::sync::Arc;

use layercast_core::contract::{Estimates, JoinError};
use layercast_core::family::Family;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};

use super::breaker::Breaker;
use super::completions::Completions;
use super::demand::LevelDemand;
use super::foreign::Foreign;
use super::overload;
use super::packet_loss::RecentPackets;
use super::path::{NATIVE_FOR, Path, PathChoice, Paths, Turn};
use super::receive_error::{ReceiveError, reasons};
use super::reports::Reached;
use super::searching::{Searching, check_key, std_duration};
use super::session_receiver::{Feedback, ReceiverCounters, ReceiverNote, SessionOutput, SessionReceiver};
use super::sink::{Datagrams, Packet, Sink};
use crate::follow::Following;
use crate::notice::Notice;
use crate::object::{Instance, TOI_TABLE};
use crate::packet::Completion;
use crate::part::Part;
use crate::protocols;
use crate::search::{FoundSession, Known};
use crate::security::encryption::Salt;
use crate::security::keys::{GroupKey, PublicKey};
use crate::security::protection::ProtectionCounters;
use crate::session::{Session, is_usable_group};

/// The interval of looks at progress, paths and limits.
pub const LOOK_EVERY: Duration = Duration::from_ms(500);
/// The longest wait for packets while blocks are being decoded elsewhere: what is ready is taken after that.
const DECODED_WITHIN: Duration = Duration::from_ms(2);
/// The maximum number of other sources that are reported.
const STRANGERS_MAX: usize = 8;
/// Other senders are reported while the session itself was heard within this time.
const RECENT: Duration = Duration::from_secs(1);
/// Packets that come together as a rule: more of them need more memory.
const BATCH: usize = 256;
/// The pause of a service after an error that may pass.
const PAUSE: Duration = Duration::from_secs(30);

/// What a receiver is to do.
#[derive(Clone, Debug)]
pub struct ReceiverSettings {
    /// What is known of the session.
    pub known: Known,
    /// The key by which packets must be authentic; none to take any.
    pub group_key: Option<GroupKey>,
    /// The salt of an encrypted session, if `known` is not its description. Without one packets must not be encrypted.
    pub salt: Option<Salt>,
    /// Whose signed tables and objects are taken; anyone's if empty.
    pub keys: Arc<[PublicKey]>,
    /// Options of the protocol, by name and as text, that differ from those of [`protocols::deployed`].
    pub protocol_options: Vec<(String, String)>,
    /// By which paths packets can come.
    pub paths: Paths,
    /// Whether it goes on after the end of a session, and after errors that may pass, until it is stopped.
    pub keep_going: bool,
    /// Whether the source gets neither completions nor reception reports. The reports of a congestion control are a part of it,
    /// and are sent.
    pub silent: bool,
    /// Whether it says what it decides and notices.
    pub traces: bool,
    /// The maximum wait for a session.
    pub start_within: Duration,
    /// The maximum silence of a session.
    pub patience: Duration,
    /// The time limit; none for no limit.
    pub within: Option<Duration>,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The number by which it reports.
    pub number: NonZeroU64,
}

impl ReceiverSettings {
    /// Of a receiver by multicast that takes any packets of a session, waits for it without an end, and says nothing but what
    /// its congestion control needs.
    pub fn new(known: Known) -> ReceiverSettings {
        ReceiverSettings {
            known,
            group_key: None,
            salt: None,
            keys: Arc::default(),
            protocol_options: Vec::new(),
            paths: Paths::Multicast,
            keep_going: false,
            silent: true,
            traces: false,
            start_within: Duration::MAX,
            patience: Duration::MAX,
            within: None,
            seed: 1,
            number: NonZeroU64::MIN,
        }
    }

    /// The salt with which packets must be encrypted.
    pub(super) fn salt(&self) -> Option<Salt> {
        match &self.known {
            Known::Session(session) => session.salt,
            Known::Group(..) => self.salt,
            Known::Flute(_) => None,
        }
    }
}

/// What a message to the source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A report of congestion control.
    Report,
    /// A completion. [`Receiver::completion_sent`] takes what became of it.
    Completion,
    /// Anything else.
    Other,
}

/// Why a receiver ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E> {
    /// The session, or what is known of it.
    #[error(transparent)]
    Session(ReceiveError),
    /// What takes its payload.
    #[error("{0}")]
    Sink(E),
}

/// What a receiver wants of its host, in the order of its decisions.
#[derive(Debug)]
pub enum Output<E> {
    /// Packets come by this path from now on. Nothing is joined by it yet.
    Open(Path),
    /// To listen to the base channel by multicast on a socket of its own, next to the path, or no longer to do that.
    /// [`Receiver::handle_probe`] takes what comes.
    Probe(bool),
    /// To join a channel, which goes to this group. If that is impossible, [`Receiver::join_failed`] says so.
    Join(Channel, SocketAddr),
    /// To leave a channel.
    Leave(Channel, SocketAddr),
    /// To send a message to the source.
    Send(Message, Feedback, SocketAddr),
    /// A session was found.
    Found(Box<Session>),
    /// The receiver of the session did or noticed something, with what it believed of its path.
    Trace(ReceiverNote, Estimates),
    /// Something that the operator should know.
    Notice(Notice),
    /// Twice a second while a session is received, and when all is complete: time to show progress.
    Look,
    /// It is over.
    Ended(Result<(), Failure<E>>),
}

/// What a search waits for.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// A session that is passed over.
    not: Option<(IpAddr, u32)>,
    patience: Duration,
}

/// A session that is received.
#[derive(Debug)]
struct Receiving<F: Family> {
    session: SessionReceiver<F>,
    following: Following,
    completions: Completions,
    /// Other sources on the session's groups, the first so many of which were reported: each is once in a session.
    strangers: Vec<IpAddr>,
    reported: usize,
    warned_of_base: bool,
}

#[derive(Debug)]
enum State<F: Family> {
    /// Before the start.
    Idle,
    Searching(Box<Searching>),
    Receiving(Box<Receiving<F>>),
    /// A session of another FLUTE sender.
    Foreign(Box<Foreign>),
    /// The session was left, since all that would arrive is needless; what is here is decoded and compared.
    Finishing(Box<Receiving<F>>),
    /// All is complete, and the source is to hear that.
    Reporting(Box<Receiving<F>>),
    Pausing(Time, Wait),
    /// With the last session.
    Over(Option<Box<Receiving<F>>>),
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
    /// Messages go further than to a relay that is gone, as far as is known.
    has_carried: bool,
    breaker: Breaker,
    random: Stream,
    now: Time,
    /// When it was started.
    begun: Time,
    next_look: Time,
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
            sink,
            state: State::Idle,
            wait: Wait { not: None, patience: settings.start_within },
            has_carried: true,
            breaker: Breaker::default(),
            random,
            now: Time::ZERO,
            begun: Time::ZERO,
            next_look: Time::ZERO,
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

    /// The receiver of the session that is received now, or was last.
    pub fn session(&self) -> Option<&SessionReceiver<F>> {
        match &self.state {
            State::Receiving(receiving) | State::Finishing(receiving) | State::Reporting(receiving) => {
                Some(&receiving.session)
            }
            State::Over(receiving) => receiving.as_ref().map(|receiving| &receiving.session),
            State::Idle | State::Searching(_) | State::Foreign(_) | State::Pausing(..) => None,
        }
    }

    /// What the session counts.
    pub fn counters(&self) -> ReceiverCounters {
        match &self.state {
            State::Foreign(foreign) => {
                ReceiverCounters { accept: *foreign.counters(), ..ReceiverCounters::default() }
            }
            _ => self.session().map(|session| *session.counters()).unwrap_or_default(),
        }
    }

    /// The packets of the last seconds; none before the first.
    pub fn recent_packets(&self, now: Time) -> Option<RecentPackets> {
        match &self.state {
            State::Foreign(foreign) => foreign.recent_packets(now),
            _ => self.session()?.recent_packets(now),
        }
    }

    /// The size of the session's symbols in bytes, as far as is known.
    pub fn symbol_size(&self) -> usize {
        match &self.state {
            State::Foreign(foreign) => foreign.symbol_size(),
            _ => self.session().map_or(0, |session| session.session().symbol_size().into()),
        }
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
        let look = Some(self.next_look);
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
                [look, limit, own, Some(searching.since + patience), None]
            }
            State::Receiving(receiving) => {
                let (session, completions) = (&receiving.session, &receiving.completions);
                [
                    look.min(limit.or(look)),
                    session.deadline(),
                    completions.deadline(),
                    working,
                    self.sink.deadline(),
                ]
            }
            State::Foreign(_) | State::Finishing(_) => [look, limit, working, None, None],
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
            // What arrives after a session was left is not needed.
            _ => {}
        }
    }

    fn search_in(&mut self, batch: &mut impl Datagrams) -> Option<FoundSession> {
        let State::Searching(searching) = &mut self.state else { return None };
        for number in 0..batch.count() {
            let (datagram, bytes) = batch.get_mut(number)?;
            self.now = self.now.max(datagram.at);
            let notice = &mut |notice| self.outputs.push_back(Output::Notice(notice));
            let before = searching.authentic();
            let found = searching.packet::<F::Header>(&self.settings, &datagram, bytes, notice);
            self.authentic += searching.authentic() - before;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn receive(&mut self, batch: &mut impl Datagrams) -> Result<(), S::Error> {
        self.taken.clear();
        match &mut self.state {
            State::Receiving(_) => self.take(batch),
            State::Foreign(foreign) => {
                for number in 0..batch.count() {
                    let Some((datagram, bytes)) = batch.get_mut(number) else { break };
                    let (at, taken) = (datagram.at, foreign.packet(&datagram, bytes));
                    self.taken.extend(taken.map(|(part, length)| Taken { number, at, part, length }));
                }
                self.outputs.extend(
                    foreign.take_found().map(|session| Output::Notice(Notice::FluteSession { session })),
                );
            }
            _ => {}
        }
        let (taken, batch) = (&self.taken, &*batch);
        let packet = |number: usize| {
            let &Taken { number, at, part, length } = taken.get(number)?;
            let bytes = batch.bytes(number)?;
            let payload = bytes.get(bytes.len().checked_sub(length)?..)?;
            Some(Packet { at, part, payload })
        };
        self.sink.packets(taken.len(), &packet)
    }

    /// Checks the datagrams of a session.
    fn take(&mut self, batch: &mut impl Datagrams) {
        let State::Receiving(receiving) = &mut self.state else { return };
        let before = receiving.session.authentic();
        for number in 0..batch.count() {
            let Some((datagram, bytes)) = batch.get_mut(number) else { break };
            let at = datagram.at;
            let Some(accepted) = receiving.session.handle(at, datagram.incoming, datagram.ecn, bytes) else {
                continue;
            };
            let (part, length) = (Part::from(&accepted.repr), accepted.payload.len());
            receiving.following.own(receiving.session.now());
            self.taken.push(Taken { number, at, part, length });
            pump(receiving, &mut self.sink, &mut self.outputs);
        }
        self.now = self.now.max(receiving.session.now());
        self.authentic += receiving.session.authentic() - before;
    }

    /// A datagram came by multicast while a relay is used and multicast is looked for.
    pub fn handle_probe(&mut self, now: Time, from: IpAddr, bytes: &[u8]) {
        if let State::Receiving(receiving) = &self.state {
            self.path.probed(now, receiving.session.session(), from, bytes);
        }
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
        self.pause(Notice::Retrying { reason, pause: std_duration(PAUSE) }, PAUSE, Duration::MAX);
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

    fn search(&mut self, wait: Wait) {
        self.wait = wait;
        self.is_busy = false;
        self.next_look = self.now + LOOK_EVERY;
        self.state = match &self.settings.known {
            Known::Flute(session) => State::Foreign(Box::new(Foreign::new(self.now, *session))),
            Known::Group(..) | Known::Session(_) => State::Searching(Box::new(Searching::new(
                self.now,
                &self.settings,
                wait.not,
                self.random.bits(),
            ))),
        };
        self.outputs.push_back(Output::Open(self.path.path()));
        self.outputs.push_back(Output::Join(Channel(0), self.settings.known.group()));
    }

    fn search_on(&mut self) -> Result<(), Failure<S::Error>> {
        self.check_limit()?;
        let (now, group) = (self.now, self.settings.known.group());
        let State::Searching(searching) = &mut self.state else { return Ok(()) };
        if now >= self.next_look {
            self.next_look = now + LOOK_EVERY;
            searching.refill();
        }
        if let Some((message, to)) = searching.take_demand(now, &self.settings) {
            self.outputs.push_back(Output::Send(Message::Other, message, to));
        }
        if searching.take_unheard() {
            self.outputs.push_back(Output::Notice(Notice::NotHeard));
        }
        let refused = searching.refused(now, &self.settings);
        let has_keys = self.settings.group_key.is_some() || !self.settings.keys.is_empty();
        let (waited, patience) = (now.since(searching.since), self.wait.patience);
        let (limit, has_relay_left) = search_limit(&self.path, patience);
        let error = match refused {
            // Anyone can send what does not fit the keys that are given: their session may still come.
            Some(error) if has_keys && waited < limit => {
                if let Some(reason) = searching.take_new_reason(error.to_string()) {
                    self.outputs.push_back(Output::Notice(Notice::PassedOver { group, reason }));
                }
                return Ok(());
            }
            Some(error) => error,
            None if waited >= limit => searching.silence(group, patience),
            None => return Ok(()),
        };
        if has_relay_left {
            self.notice(Notice::NoMulticast { group, waited: std_duration(waited) });
            self.leave();
            self.path.use_relay(now);
            self.search(self.wait);
            return Ok(());
        }
        Err(Failure::Session(error))
    }

    fn begin(&mut self, found: FoundSession) {
        let State::Searching(searching) = std::mem::replace(&mut self.state, State::Idle) else { return };
        if let Err(failure) = self.try_begin(found, searching.into_demand()) {
            self.outputs.push_back(Output::Leave(Channel(0), self.settings.known.group()));
            self.fail(failure);
        }
    }

    fn try_begin(&mut self, found: FoundSession, demand: LevelDemand) -> Result<(), Failure<S::Error>> {
        let settings = &self.settings;
        check_key(settings, &found.session).map_err(Failure::Session)?;
        self.sink.check(&found.session).map_err(Failure::Session)?;
        self.outputs.push_back(Output::Found(Box::new(found.session.clone())));
        let protocol = protocols::of_session(&found.session, &settings.protocol_options);
        let protocol: F::Protocol = protocol.map_err(|error| Failure::Session(error.into()))?;
        self.sink.follow(&found).map_err(Failure::Sink)?;
        let mut session = SessionReceiver::new(&protocol, found.session, settings.seed);
        if let Some(key) = &settings.group_key {
            session.protect(key, settings.salt());
        }
        if !settings.silent {
            session.answer_polls(settings.number);
        }
        session.say_demand(demand);
        if settings.traces {
            session.keep_log();
        }
        session.start(self.now);
        let mut receiving = Receiving {
            session,
            following: Following::new(self.now),
            completions: Completions::default(),
            strangers: Vec::new(),
            reported: 0,
            warned_of_base: false,
        };
        pump(&mut receiving, &mut self.sink, &mut self.outputs);
        self.state = State::Receiving(Box::new(receiving));
        self.next_look = self.now + LOOK_EVERY;
        Ok(())
    }

    fn receive_on(&mut self) -> Result<(), Failure<S::Error>> {
        let now = self.now;
        let State::Receiving(receiving) = &mut self.state else { return Ok(()) };
        receiving.session.handle_timer(now);
        pump(receiving, &mut self.sink, &mut self.outputs);
        if receiving.session.has_ended() {
            self.sink.end_session();
        }
        self.is_busy = self.sink.work(now).map_err(Failure::Sink)?;
        let keeps_going = self.settings.keep_going;
        // What is complete needs no packets, which is the cheaper question.
        let needs_packets = keeps_going || self.sink.needs_packets();
        let is_complete = !needs_packets && self.sink.is_complete();
        if is_complete || now >= self.next_look {
            self.next_look = now + LOOK_EVERY;
            if let Some(pause) = self.look() {
                let notice = Notice::Overloaded { pause: std_duration(pause) };
                self.leave();
                self.pause(notice, pause, self.settings.patience);
                return Ok(());
            }
        }
        self.report_completion();
        if is_complete {
            self.complete();
            return Ok(());
        }
        let State::Receiving(receiving) = &mut self.state else { return Ok(()) };
        // A service stays for what the source may change.
        if !needs_packets {
            receiving.session.stop(now);
            pump(receiving, &mut self.sink, &mut self.outputs);
            if let State::Receiving(receiving) = std::mem::replace(&mut self.state, State::Idle) {
                self.state = State::Finishing(receiving);
            }
            return Ok(());
        }
        if let Some(stranger) = receiving.session.take_stranger() {
            if receiving.strangers.len() < STRANGERS_MAX && !receiving.strangers.contains(&stranger.from) {
                receiving.strangers.push(stranger.from);
            }
            if stranger.may_be_followed {
                receiving.following.other(now);
            }
        }
        let patience = self.settings.patience;
        if receiving.following.is_lost(now) {
            self.notice(Notice::Following);
            self.leave();
            // It may go on after all, and the other one may not fit the keys.
            self.search(Wait { not: None, patience });
            return Ok(());
        }
        if keeps_going && receiving.session.has_ended() {
            let session = receiving.session.session();
            // Its last packets may still be on their way.
            let not = Some((session.source, session.tsi));
            self.notice(Notice::Waiting { ended: true });
            self.leave();
            self.search(Wait { not, patience });
            return Ok(());
        }
        self.check_limit()?;
        // What is here may suffice, without the spare symbols for which it stays.
        if self.is_busy || self.sink.is_waiting() { Ok(()) } else { self.check() }
    }

    fn receive_foreign(&mut self) -> Result<(), Failure<S::Error>> {
        let (now, keeps_going) = (self.now, self.settings.keep_going);
        self.is_busy = self.sink.work(now).map_err(Failure::Sink)?;
        let is_complete = !keeps_going && !self.sink.needs_packets() && self.sink.is_complete();
        let (progress, _) = self.sink.progress();
        let (has_table, patience) = (progress.objects > 0, self.settings.patience);
        let State::Foreign(foreign) = &mut self.state else { return Ok(()) };
        let is_over = is_complete || foreign.is_over(now, patience, &progress);
        if is_complete || now >= self.next_look {
            self.next_look = now + LOOK_EVERY;
            self.outputs.push_back(Output::Look);
            self.sink.flush();
            if let Some(pause) = self.breaker.look(true, foreign.recent_packets(now), LOOK_EVERY) {
                let notice = Notice::Overloaded { pause: std_duration(pause) };
                self.leave();
                self.pause(notice, pause, patience);
                return Ok(());
            }
            if !keeps_going && !self.is_busy && is_over {
                self.end(Ok(()));
                return Ok(());
            }
        }
        if self.is_busy {
            return self.check_limit();
        }
        if foreign.take_end(now) {
            if !keeps_going {
                let (held, needed) = (progress.held, progress.needed);
                return Err(Failure::Session(ReceiveError::SessionEnded { held, needed }));
            }
            self.sink.restart();
        }
        let waited = foreign.silent_for(now, has_table);
        // What is complete ends with the next report.
        if waited >= if has_table { patience } else { self.wait.patience } && !keeps_going && !is_over {
            let reasons = reasons(foreign.counters(), 0, has_table);
            let (group, waited) = (self.settings.known.group(), std_duration(waited));
            return Err(Failure::Session(ReceiveError::Silent { group, waited, reasons }));
        }
        self.check_limit()
    }

    /// Looks at the path, and reports. A pause, if the path does not carry the base layer.
    fn look(&mut self) -> Option<Duration> {
        let now = self.now;
        self.outputs.push_back(Output::Look);
        let State::Receiving(receiving) = &mut self.state else { return None };
        let session = receiving.session.session();
        let (group, source) = (session.group, session.source);
        let silent = receiving.following.silent_for(now);
        // A session that is silent as well is followed soon.
        if silent < RECENT {
            for &from in receiving.strangers.iter().skip(receiving.reported) {
                self.outputs.push_back(Output::Notice(Notice::OtherSession { from, group, source }));
            }
            receiving.reported = receiving.strangers.len();
        }
        let (alone_for, recent) =
            (receiving.session.base_only_for(now), receiving.session.recent_packets(now));
        if !receiving.warned_of_base
            && let Some(notice) = overload::notice(session, alone_for, recent)
        {
            receiving.warned_of_base = true;
            self.outputs.push_back(Output::Notice(notice));
        }
        if receiving.session.take_unheard() {
            self.outputs.push_back(Output::Notice(Notice::NotHeard));
        }
        let move_to = match self.path.look(now, silent) {
            None => None,
            Some(Turn::Probe(begins)) => {
                self.outputs.push_back(Output::Probe(begins));
                None
            }
            Some(Turn::Lost(waited)) => {
                let waited = std_duration(waited);
                self.outputs.push_back(Output::Notice(Notice::NoMulticast { group, waited }));
                Some(Path::Relay(Duration::ZERO))
            }
            Some(Turn::Back) => {
                self.outputs.push_back(Output::Probe(false));
                self.outputs.push_back(Output::Notice(Notice::MulticastBack { group }));
                Some(Path::Multicast)
            }
        };
        if let Some(path) = move_to {
            // The endpoint notices nothing but what is lost meanwhile.
            self.outputs.push_back(Output::Open(path));
            for channel in receiving.session.held() {
                let group = session_address(&receiving.session, channel);
                self.outputs.extend(group.map(|group| Output::Join(channel, group)));
            }
        }
        self.sink.flush();
        // A service that has everything holds the base alone, by which it learns of what is new.
        receiving.session.set_rest(now, self.settings.keep_going && self.sink.is_up_to_date());
        pump(receiving, &mut self.sink, &mut self.outputs);
        note_progress(receiving, &self.sink, now, self.begun);
        if self.sink.is_complete() && self.wants_completions() {
            let State::Receiving(receiving) = &mut self.state else { return None };
            receiving.completions.begin(now, &mut self.random);
        }
        self.breaker.look(alone_for > Duration::ZERO, recent, LOOK_EVERY)
    }

    fn wants_completions(&self) -> bool {
        self.sink.wants_completions() && !self.settings.silent
    }

    /// Sends a completion that is due.
    fn report_completion(&mut self) {
        let (State::Receiving(receiving) | State::Reporting(receiving)) = &mut self.state else { return };
        if receiving.completions.take_due(self.now, self.has_carried, &mut self.random) {
            let session = receiving.session.session();
            let completion = Completion { tsi: session.tsi, toi: TOI_TABLE, receiver: self.settings.number };
            let message = receiving.session.feedback(&completion.to_bytes());
            let to = session.feedback;
            self.outputs.extend(message.map(|message| Output::Send(Message::Completion, message, to)));
        }
    }

    /// Everything is in its place, or cannot be received: the session is left.
    fn complete(&mut self) {
        let now = self.now;
        self.say_farewell(false);
        self.leave();
        self.sink.finish();
        let wants_completions = self.wants_completions();
        let State::Over(Some(receiving)) = &mut self.state else { return self.end(Ok(())) };
        if !wants_completions {
            return self.end(Ok(()));
        }
        receiving.completions.begin(now, &mut self.random);
        if let State::Over(Some(receiving)) = std::mem::replace(&mut self.state, State::Idle) {
            self.state = State::Reporting(receiving);
        }
    }

    fn report(&mut self) {
        self.report_completion();
        if matches!(&self.state, State::Reporting(receiving) if receiving.completions.is_over()) {
            self.end(Ok(()));
        }
    }

    /// Decodes and compares what is here.
    fn finish(&mut self) -> Result<(), Failure<S::Error>> {
        self.is_busy = self.sink.work(self.now).map_err(Failure::Sink)?;
        self.check_limit()?;
        if self.now >= self.next_look {
            self.next_look = self.now + LOOK_EVERY;
            self.outputs.push_back(Output::Look);
        }
        if self.is_busy || self.sink.is_waiting() {
            return Ok(());
        }
        if self.sink.is_complete() {
            self.outputs.push_back(Output::Look);
            self.complete();
        } else {
            // It was left because enough had arrived, and then it had not.
            self.search(Wait { not: None, patience: self.settings.patience });
        }
        Ok(())
    }

    fn check_limit(&self) -> Result<(), Failure<S::Error>> {
        let Some(after) = self.settings.within.filter(|&within| self.now.since(self.begun) >= within) else {
            return Ok(());
        };
        let (progress, _) = self.sink.progress();
        let after = std_duration(after);
        Err(Failure::Session(ReceiveError::TimeOver { after, held: progress.held, needed: progress.needed }))
    }

    /// Whether the session has ended, or is silent.
    fn check(&self) -> Result<(), Failure<S::Error>> {
        let State::Receiving(receiving) = &self.state else { return Ok(()) };
        if receiving.session.has_ended() && !self.sink.is_complete() {
            let (progress, _) = self.sink.progress();
            let (held, needed) = (progress.held, progress.needed);
            return Err(Failure::Session(ReceiveError::SessionEnded { held, needed }));
        }
        let silent = receiving.following.silent_for(self.now);
        if silent < self.settings.patience {
            return Ok(());
        }
        let forged = receiving.session.protection().map_or(0, ProtectionCounters::forged);
        let reasons = reasons(&receiving.session.counters().accept, forged, true);
        let group = receiving.session.session().group;
        Err(Failure::Session(ReceiveError::Silent { group, waited: std_duration(silent), reasons }))
    }

    /// The last report of the session says that this is the end.
    fn say_farewell(&mut self, sink_fails: bool) {
        if let State::Receiving(receiving) = &mut self.state {
            note_progress(receiving, &self.sink, self.now, self.begun);
            receiving.session.say_farewell(sink_fails, self.settings.keep_going);
        }
    }

    /// Leaves what is joined.
    fn leave(&mut self) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Searching(_) | State::Foreign(_) => {
                self.outputs.push_back(Output::Leave(Channel(0), self.settings.known.group()));
            }
            State::Receiving(mut receiving) => {
                receiving.session.stop(self.now);
                pump(&mut receiving, &mut self.sink, &mut self.outputs);
                self.state = State::Over(Some(receiving));
            }
            State::Finishing(receiving) | State::Reporting(receiving) => {
                self.state = State::Over(Some(receiving));
            }
            other => self.state = other,
        }
    }

    fn pause(&mut self, notice: Notice, pause: Duration, patience: Duration) {
        self.notice(notice);
        self.state = State::Pausing(self.now + pause, Wait { not: None, patience });
    }

    fn fail(&mut self, failure: Failure<S::Error>) {
        self.say_farewell(matches!(failure, Failure::Sink(_)));
        self.leave();
        let may_pass = match &failure {
            Failure::Session(error) => error.may_pass(),
            Failure::Sink(error) => S::may_pass(error),
        };
        if !self.settings.keep_going || !may_pass {
            return self.end(Err(failure));
        }
        self.sink.flush();
        let any = Wait { not: None, patience: Duration::MAX };
        match failure {
            // Nothing but the session that had ended: it counts again from now on, if it goes on after all.
            Failure::Session(ReceiveError::Silent { .. }) if self.wait.not.is_some() => self.search(any),
            Failure::Session(ReceiveError::Silent { .. }) => {
                self.notice(Notice::Waiting { ended: false });
                self.search(any);
            }
            error => {
                let reason = error.to_string();
                self.pause(Notice::Retrying { reason, pause: std_duration(PAUSE) }, PAUSE, any.patience);
            }
        }
    }

    fn end(&mut self, result: Result<(), Failure<S::Error>>) {
        self.over();
        self.outputs.push_back(Output::Ended(result));
    }

    fn over(&mut self) {
        self.leave();
        if !self.is_over() {
            self.state = State::Over(None);
        }
        self.sink.finish();
    }
}

/// For how long a search goes on by the present path, and whether another one is tried then.
fn search_limit(path: &PathChoice, patience: Duration) -> (Duration, bool) {
    if path.has_relay_left() && patience > NATIVE_FOR { (NATIVE_FOR, true) } else { (patience, false) }
}

/// Takes what the receiver of a session wants.
fn pump<F: Family, S: Sink>(
    receiving: &mut Receiving<F>,
    sink: &mut S,
    outputs: &mut VecDeque<Output<S::Error>>,
) {
    let session = &mut receiving.session;
    while let Some(output) = session.poll() {
        let to = session.session().feedback;
        match output {
            SessionOutput::Join(channel) => {
                let group = session_address(session, channel);
                outputs.extend(group.map(|group| Output::Join(channel, group)));
            }
            SessionOutput::Leave(channel) => {
                sink.left(session.now(), channel);
                let group = session_address(session, channel);
                outputs.extend(group.map(|group| Output::Leave(channel, group)));
            }
            SessionOutput::Report(message) => outputs.push_back(Output::Send(Message::Report, message, to)),
            SessionOutput::Send(message) => outputs.push_back(Output::Send(Message::Other, message, to)),
        }
    }
    if session.has_log() {
        let estimates = session.estimates();
        outputs.extend(session.drain_log().map(|note| Output::Trace(note, estimates)));
    }
}

fn session_address<F: Family>(session: &SessionReceiver<F>, channel: Channel) -> Option<SocketAddr> {
    session.session().address(channel)
}

/// Notes how far the sink is, for reports.
fn note_progress<F: Family, S: Sink>(receiving: &mut Receiving<F>, sink: &S, now: Time, begun: Time) {
    let (objects, useful) = sink.progress();
    receiving.session.note_progress(now, &Reached { objects, useful, elapsed: now.since(begun) });
}
