//! A receiver as a program: it searches a session, receives its files, and follows another session when its own is
//! silent.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;
use std::sync::Arc;

use layercast_core::contract::Ecn;
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::accept::{AcceptCounters, Incoming, accept};
use layercast_delivery::follow::Following;
use layercast_delivery::node::{self, LevelDemand, Output, Reached};
use layercast_delivery::reception::{DiskError, Reception, ReceptionEvent, ReceptionSettings};
use layercast_delivery::search::{FoundSession, Known, Search};
use layercast_delivery::security::any_session::AnySession;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::keys::{GroupKey, PublicKey};
use layercast_protocols::registry::{Header, Protocol, Registry};

use crate::disk::FaultyDisk;
use crate::plan::Plan;
use crate::source::{GROUP, group_key_of, trusted};
use crate::wire::packet_number;

/// How long a receiver waits for a silent session.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval of its checks.
const EVERY: Duration = Duration::from_ms(500);

/// Why a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It has the files of the session of this source.
    Complete(IpAddr),
    /// It gave up, and says why.
    Failed(String),
}

/// Whose packets a receiver takes.
#[derive(Clone)]
struct Keys {
    /// Whose files it takes; anyone's if empty.
    trusted: Arc<[PublicKey]>,
    /// The group key, and the salt of encryption, if packets are protected.
    group: Option<(GroupKey, Option<Salt>)>,
}

/// What the check of protected packets let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// The packet.
    pub(crate) is_taken: bool,
    /// The packet, which had been taken before in this session.
    pub(crate) is_again: bool,
}

/// Packet numbers, a bit for each.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    /// Notes a number. Whether it was there.
    fn note(&mut self, number: u64) -> bool {
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let before = self.0[word];
        self.0[word] |= bit;
        before & bit != 0
    }
}

/// The part that belongs to a session.
struct Current {
    node: node::Receiver<Registry>,
    following: Following,
    taken: Numbers,
}

/// A running receiver.
pub(crate) struct ReceiverProgram {
    keys: Keys,
    /// The check of packets whose session is not known, or another one than that which is received.
    others: Option<AnySession>,
    reception: Reception<FaultyDisk>,
    search: Search,
    searching_since: Time,
    current: Option<Current>,
    streams: Stream,
    /// Whether the source hears which level is held, and how far the reception is.
    says_demand: bool,
    begun: Time,
    next_check: Time,
    counters: AcceptCounters,
    pub(crate) outputs: Vec<Output>,
    pub(crate) events: Vec<ReceptionEvent>,
}

impl ReceiverProgram {
    /// A receiver that knows the keys of the source at an address.
    pub(crate) fn new(
        plan: &Plan,
        source: IpAddr,
        disk: FaultyDisk,
        streams: Stream,
        now: Time,
    ) -> ReceiverProgram {
        let settings = ReceptionSettings { replace: true, mirror: plan.is_mirror };
        let salt = plan.protection.and_then(|protection| protection.salt);
        let trusted = trusted(plan, source);
        let group = group_key_of(plan, source).map(|key| (key, salt));
        let mut reception = Reception::trusting(disk, settings, Arc::clone(&trusted));
        reception.limit_records(plan.records);
        ReceiverProgram {
            reception,
            search: Search::new(Known::Group(GROUP, None), Arc::clone(&trusted), None),
            others: group.clone().map(|(key, salt)| AnySession::new(key, salt)),
            keys: Keys { trusted, group },
            searching_since: now,
            current: None,
            streams,
            says_demand: plan.on_demand,
            begun: now,
            next_check: now + EVERY,
            counters: AcceptCounters::default(),
            outputs: vec![Output::Join(Channel(0))],
            events: Vec::new(),
        }
    }

    /// Where its messages go.
    pub(crate) fn source(&self) -> Option<IpAddr> {
        self.current.as_ref().map(|current| current.node.session().source)
    }

    pub(crate) fn deadline(&self) -> Time {
        let own = self.current.as_ref().and_then(|current| current.node.deadline());
        own.map_or(self.next_check, |own| own.min(self.next_check))
    }

    /// A packet arrived on a channel.
    pub(crate) fn packet(
        &mut self,
        now: Time,
        from: SocketAddr,
        channel: Channel,
        ecn: Ecn,
        bytes: &mut [u8],
        passed: &mut Passed,
    ) -> Result<(), DiskError> {
        let incoming = Incoming { from, channel: Some(channel), is_cut: false };
        let Some(current) = &mut self.current else {
            if channel != Channel(0) || !is_authentic(&mut self.others, bytes, passed) {
                return Ok(());
            }
            let Some(packet) = accept::<Header>(incoming, bytes, None, &mut self.counters) else {
                return Ok(());
            };
            return match self.search.packet(from.ip(), &packet.repr, packet.payload) {
                Some(Ok(found)) => self.begin(now, &found),
                Some(Err(_)) | None => Ok(()),
            };
        };
        let number = packet_number(bytes);
        let authentic =
            |node: &node::Receiver<Registry>| node.protection().map_or(0, |counters| counters.accepted);
        let before = authentic(&current.node);
        let accepted = current.node.handle(now, incoming, ecn, bytes);
        if authentic(&current.node) > before {
            passed.is_taken = true;
            passed.is_again = number.is_some_and(|number| current.taken.note(number));
        }
        if current.node.take_stranger().is_some_and(|stranger| stranger.may_be_followed) {
            passed.is_taken |= self.keys.group.is_some();
            current.following.other(now);
        }
        if accepted.is_some() {
            current.following.own(now);
        }
        self.carry_out();
        if let Some(packet) = &accepted {
            self.reception.packet(&packet.repr, packet.payload)?;
        }
        self.work()
    }

    fn begin(&mut self, now: Time, found: &FoundSession) -> Result<(), DiskError> {
        let Some(mut protocol) = Protocol::named(&found.session.protocol) else { return Ok(()) };
        protocol.deploy();
        let Ok(protocol) = found.session.agree(protocol) else { return Ok(()) };
        let mut node = node::Receiver::new(&protocol, found.session.clone(), self.streams.bits());
        if let Some((key, salt)) = &self.keys.group {
            node.protect(key, *salt);
        }
        if self.says_demand {
            node.say_demand(LevelDemand::new(self.streams.bits()));
            node.answer_polls(NonZeroU64::new(self.streams.bits()).unwrap_or(NonZeroU64::MIN));
        }
        node.start(now);
        self.current = Some(Current { node, following: Following::new(now), taken: Numbers::default() });
        self.carry_out();
        self.reception.follow();
        self.reception.begin(found.number, &found.instance)?;
        self.work()
    }

    fn carry_out(&mut self) {
        if let Some(current) = &mut self.current {
            self.outputs.extend(std::iter::from_fn(|| current.node.poll()));
        }
    }

    fn work(&mut self) -> Result<(), DiskError> {
        while self.reception.work()? {}
        self.events.extend(self.reception.drain_events());
        Ok(())
    }

    /// A deadline has passed. How the program ended, if it did.
    pub(crate) fn timer(&mut self, now: Time) -> Result<Option<Ended>, DiskError> {
        if let Some(current) = &mut self.current {
            current.node.handle_timer(now);
        }
        self.carry_out();
        if now < self.next_check {
            return Ok(None);
        }
        self.next_check = now + EVERY;
        if let Some(current) = &mut self.current {
            let useful = self.reception.counters().useful;
            let reached =
                Reached { objects: self.reception.progress(), useful, elapsed: now.since(self.begun) };
            current.node.note_progress(now, &reached);
        }
        self.work()?;
        self.reception.flush();
        self.events.extend(self.reception.drain_events());
        Ok(self.check(now))
    }

    fn check(&mut self, now: Time) -> Option<Ended> {
        let failed = |why: &str| Some(Ended::Failed(why.to_owned()));
        let Some(current) = &self.current else {
            return if now.since(self.searching_since) >= PATIENCE { failed("no session") } else { None };
        };
        let source = current.node.session().source;
        if self.reception.is_in_step() {
            let progress = self.reception.progress();
            if progress.failed > 0 {
                return failed("some objects could not be received");
            }
            self.reception.tidy();
            self.leave(now);
            return Some(Ended::Complete(source));
        }
        if current.following.is_lost(now) {
            let not = (source, current.node.session().tsi);
            self.leave(now);
            self.outputs.push(Output::Join(Channel(0)));
            self.search = Search::new(Known::Group(GROUP, None), Arc::clone(&self.keys.trusted), Some(not));
            (self.current, self.searching_since) = (None, now);
            return None;
        }
        if current.node.has_ended() {
            return failed("the source ended the session");
        }
        if current.following.silent_for(now) >= PATIENCE { failed("the session is silent") } else { None }
    }

    /// Leaves the session.
    pub(crate) fn leave(&mut self, now: Time) {
        if let Some(current) = &mut self.current {
            current.node.stop(now);
        }
        self.carry_out();
        self.outputs.push(Output::Leave(Channel(0)));
    }
}

/// Whether a packet of a session that is not received is authentic; any is, if packets are not protected.
fn is_authentic(check: &mut Option<AnySession>, bytes: &mut [u8], passed: &mut Passed) -> bool {
    let Some(check) = check else { return true };
    passed.is_taken = check.accept(bytes).is_ok();
    passed.is_taken
}
