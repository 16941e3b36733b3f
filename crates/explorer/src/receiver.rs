//! A receiver as a program: a node whose sink writes to a disk that fails.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;

use layercast_core::contract::Ecn;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::accept::Incoming;
use layercast_delivery::node::{
    Datagram, Failure, Message, Output, Path, Paths, Receiver, ReceiverSettings, Single,
};
use layercast_delivery::reception::{DiskError, Reception, ReceptionEvent, ReceptionSettings};
use layercast_delivery::relay::child::Child;
use layercast_delivery::relay::message::{Data, MESSAGE_MAX};
use layercast_delivery::relay::session::SessionKey;
use layercast_protocols::registry::Registry;

use crate::disk::FaultyDisk;
use crate::plan::Plan;
use crate::relay::{relay_at, secret};
use crate::source::{group_key_of, trusted};
use crate::wire::packet_number;

/// How long a receiver waits for a session, and for a silent one.
const PATIENCE: Duration = Duration::from_secs(30);
/// So many parts of its work a receiver does at a time; none has more.
const PARTS_MAX: u32 = 100_000;

/// Why a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It has the files of the session of this source.
    Complete(IpAddr),
    /// It gave up, and says why.
    Failed(String),
}

/// What the check of protected packets let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// The packet.
    pub(crate) is_taken: bool,
    /// The packet, which had been taken before in this session.
    pub(crate) is_again: bool,
}

/// Packet numbers of a session, a bit for each.
#[derive(Default)]
struct Numbers {
    tsi: Option<u32>,
    bits: Vec<u64>,
}

impl Numbers {
    /// Notes a number of a session. Whether it was there.
    fn note(&mut self, tsi: u32, number: u64) -> bool {
        if self.tsi.replace(tsi) != Some(tsi) {
            self.bits.clear();
        }
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let before = self.bits[word];
        self.bits[word] |= bit;
        before & bit != 0
    }
}

type Node = Receiver<Registry, Reception<FaultyDisk>>;

/// A running receiver.
pub(crate) struct ReceiverProgram {
    node: Node,
    is_service: bool,
    taken: Numbers,
    /// None while packets come by multicast.
    child: Option<Child>,
    random: Stream,
    /// The relays that it asks.
    relays: Vec<SocketAddr>,
    /// What is said to relays.
    said: Vec<(SocketAddr, Vec<u8>)>,
}

impl ReceiverProgram {
    /// A receiver that knows the keys of the source at an address. `found` says how it finds the session.
    pub(crate) fn new(
        plan: &Plan,
        number: usize,
        source: IpAddr,
        found: ReceiverSettings,
        disk: FaultyDisk,
        mut stream: Stream,
        now: Time,
    ) -> ReceiverProgram {
        let keys = trusted(plan, source);
        let relays = plan.receivers.get(number).map(|receiver| &receiver.relays);
        let settings = ReceptionSettings { replace: true, mirror: plan.is_mirror };
        let mut reception = Reception::trusting(disk, settings, keys.clone());
        reception.limit_records(plan.records);
        let settings = ReceiverSettings {
            group_key: group_key_of(plan, source),
            keys,
            paths: plan.receivers.get(number).map_or(Paths::Multicast, |receiver| receiver.paths),
            keep_going: plan.is_service,
            silent: !plan.on_demand,
            start_within: PATIENCE,
            patience: PATIENCE,
            seed: stream.bits(),
            number: NonZeroU64::new(stream.bits()).unwrap_or(NonZeroU64::MIN),
            ..found
        };
        let mut node = Receiver::new(settings, reception);
        node.start(now);
        ReceiverProgram {
            node,
            is_service: plan.is_service,
            taken: Numbers::default(),
            child: None,
            random: stream,
            relays: relays.into_iter().flat_map(|relays| relays.iter().copied().map(relay_at)).collect(),
            said: Vec::new(),
        }
    }

    /// When it is to be called.
    pub(crate) fn deadline(&self) -> Time {
        let child = self.child.as_ref().and_then(Child::deadline);
        self.node.deadline().into_iter().chain(child).min().unwrap_or(Time::MAX)
    }

    /// Something came from a relay: a packet of the session, or one of the relay's own messages.
    pub(crate) fn unicast(&mut self, now: Time, relay: SocketAddr, bytes: &mut [u8]) -> Passed {
        let Some(child) = &mut self.child else { return Passed::default() };
        if !Data::is_data(bytes) {
            child.message(now, relay, bytes);
            self.work(now);
            return Passed::default();
        }
        let Some((data, length)) = child.packet(now, relay, bytes) else { return Passed::default() };
        let from = SocketAddr::new(data.source, 0);
        let bytes = bytes.get_mut(length..).unwrap_or_default();
        self.packet(now, from, data.channel, Ecn::NotCapable, bytes)
    }

    /// An announcement came while the program listens to them.
    pub(crate) fn announcement(&mut self, now: Time, from: IpAddr, bytes: &[u8]) {
        self.node.handle_announcement(now, from, bytes);
        self.work(now);
    }

    /// How many announced sessions it keeps.
    pub(crate) fn announced_sessions(&self) -> usize {
        self.node.announced_sessions()
    }

    /// A packet came by multicast while a relay is used.
    pub(crate) fn probed(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        self.node.handle_probe(now, from.ip(), bytes);
    }

    /// What it says to relays since the last call.
    pub(crate) fn take_said(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        std::mem::take(&mut self.said)
    }

    /// A packet arrived on a channel.
    pub(crate) fn packet(
        &mut self,
        now: Time,
        from: SocketAddr,
        channel: Channel,
        ecn: Ecn,
        bytes: &mut [u8],
    ) -> Passed {
        let number = packet_number(bytes);
        let of_session = |node: &Node| {
            node.session().map(|session| {
                (session.session().tsi, session.protection().map_or(0, |counters| counters.accepted))
            })
        };
        let before = (self.node.authentic(), of_session(&self.node));
        let incoming = Incoming { from, channel: Some(channel), is_cut: false };
        self.node.handle(&mut Single(Datagram { at: now, incoming, ecn }, bytes));
        let is_taken = self.node.authentic() > before.0;
        let is_again = match (before.1, of_session(&self.node), number) {
            (Some((tsi, before)), Some((of, after)), Some(number)) if tsi == of && after > before => {
                self.taken.note(tsi, number)
            }
            _ => false,
        };
        self.work(now);
        Passed { is_taken, is_again }
    }

    /// A deadline has passed, or something has arrived.
    pub(crate) fn work(&mut self, now: Time) {
        for _ in 0..PARTS_MAX {
            self.node.handle_timer(now);
            self.ask_relay(now);
            if self.deadline() > now {
                return;
            }
        }
        debug_assert!(false, "a deadline that does not pass");
    }

    fn ask_relay(&mut self, now: Time) {
        let Some(child) = &mut self.child else { return };
        let mut room = [0; MESSAGE_MAX];
        while let Some((to, length)) = child.poll(now, &mut room) {
            self.said.push((to, room.get(..length).unwrap_or_default().to_vec()));
        }
    }

    /// What happened to its files.
    pub(crate) fn events(&mut self) -> Vec<ReceptionEvent> {
        self.node.sink.drain_events().collect()
    }

    /// What it wants of the network next, but for what its relay does. A completion counts as sent.
    pub(crate) fn poll(&mut self) -> Option<Output<DiskError>> {
        loop {
            let (output, now) = (self.node.poll()?, self.node.now());
            if matches!(output, Output::Send(Message::Completion, ..)) {
                self.node.completion_sent(false);
            }
            let mut room = [0; MESSAGE_MAX];
            match (&output, &mut self.child) {
                (Output::Open(path), child) => {
                    let goodbye = child.as_mut().and_then(|child| child.close(&mut room));
                    self.said
                        .extend(goodbye.and_then(|(to, length)| Some((to, room.get(..length)?.to_vec()))));
                    *child = match *path {
                        Path::Multicast | Path::Parents => None,
                        Path::Relay(within) => {
                            let group = self.node.settings().known.group();
                            let session = SessionKey { group, source: None };
                            Some(Child::new(session, &self.relays, now, within, secret(&mut self.random)))
                        }
                    };
                }
                (Output::Join(channel, _), Some(child)) => {
                    child.join(now, *channel);
                    self.ask_relay(now);
                    continue;
                }
                (Output::Leave(channel, _), Some(child)) => {
                    child.leave(now, *channel);
                    self.ask_relay(now);
                    continue;
                }
                (Output::Send(_, message, to), Some(child)) => {
                    let sent = child.feedback(*to, message.bytes(), &mut room);
                    self.said.extend(sent.and_then(|(to, length)| Some((to, room.get(..length)?.to_vec()))));
                    continue;
                }
                _ => {}
            }
            return Some(output);
        }
    }

    /// How it ended.
    pub(crate) fn ended(&self, result: Result<(), Failure<DiskError>>) -> Ended {
        let source = self.node.session().map(|session| session.session().source);
        match (result, source) {
            (Ok(()), _) if self.node.sink.progress().failed > 0 => {
                Ended::Failed("some objects could not be received".to_owned())
            }
            (Ok(()), Some(source)) => Ended::Complete(source),
            (Ok(()), None) => Ended::Failed("complete without a session".to_owned()),
            (Err(failure), _) => Ended::Failed(failure.to_string()),
        }
    }

    /// The source of the session that a service has all of.
    pub(crate) fn has_all_of(&self) -> Option<IpAddr> {
        let has_all = self.is_service && self.node.sink.is_in_step() && self.node.sink.progress().failed == 0;
        self.node.session().filter(|_| has_all).map(|session| session.session().source)
    }

    /// Ends.
    pub(crate) fn stop(&mut self, now: Time) {
        self.node.stop(now);
    }
}
