//! A source as a node: its endpoint, its packets, and what it hears of receivers.

mod counters;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use layercast_core::cannot_be;
use layercast_core::contract::{
    Action, Arrival, Ecn, Endpoint as _, Estimates, Header as _, Input, Origin, Payload, Peer, Send, Target,
};
use layercast_core::family::{AnyHeader as _, AnyProtocol as _, Family};
use layercast_core::lct::LctFields;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Rate, Size, Time};

use super::admission::Admission;
use crate::accept::Incoming;
use crate::framing::{Length, frame};
use crate::object::TOI_TABLE;
use crate::packet::{Completion, Demand, MAX_HEADER, REFUSAL_BYTES, ReceptionReport, Refusal};
use crate::reporting::Collector;
use crate::reporting::demand::{Demands, Sending};
use crate::security::feedback::{FeedbackMac, TAG_BYTES};
use crate::security::keys::GroupKey;
use crate::security::protection::{AUTH_BYTES, Outgoing, ProtectError, Scheme};
use crate::security::sequence::Sequence;
use crate::sender::PacketPayload;
use crate::session::{Session, SessionError, ip_udp_bytes};

pub use counters::SourceCounters;

/// The shortest time between two bursts of packets (CHOICE): as long as those of a TCP with segmentation offload, which
/// are a millisecond of its rate. A shorter one makes runs of packets shorter, and wakes the processor more often.
const BURST: Duration = Duration::from_ms(1);
/// The maximum number of timers that fire in one burst.
const TIMERS_MAX: u32 = 4096;
/// How many inputs may wait without more memory: each packet of a batch may be refused.
const INPUTS: usize = 128;
/// The maximum number of unread completions.
const COMPLETIONS_MAX: usize = 1024;
/// The maximum number of refusals that wait to be sent.
const REFUSALS_MAX: usize = 64;
/// How often the source looks at what its uplink took.
const UPLINK_EVERY: Duration = Duration::from_ms(500);

/// What a source sends: the payload of its packets.
pub trait Content {
    /// Why there is no packet.
    type Error: From<ProtectError>;

    /// Writes the next payload for a channel to `room`.
    ///
    /// # Errors
    /// Why there is no payload; this ends the session.
    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<PacketPayload, Self::Error>;

    /// Writes a part of the table of objects for the base channel soon, out of turn: its header has news for receivers.
    fn announce_soon(&mut self) {}
}

/// A packet that a source has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The channel; none if it goes to one receiver.
    pub channel: Option<Channel>,
    /// Where it goes.
    pub to: SocketAddr,
    /// Where it is in the room.
    pub place: Range<usize>,
}

/// Packets that are sent one by one, more rarely than the endpoint would.
#[derive(Clone, Copy, Debug)]
struct Pace {
    every: Duration,
    /// When the next one is sent.
    next: Time,
    /// How many there were when the endpoint was given data for it; none while it has none.
    given: Option<u64>,
}

/// What the uplink took.
#[derive(Clone, Copy, Debug, Default)]
struct Uplink {
    looked: Time,
    /// Packets for which it had no space.
    overflows: u64,
    /// The bytes that it had taken and these packets, when it was looked at last.
    before: (u64, u64),
}

/// A source.
///
/// Its host gives one input, calls [`Source::poll`] until there is no packet, and calls again with [`Source::handle_timer`]
/// at [`Source::deadline`] or earlier.
#[derive(Debug)]
pub struct Source<F: Family> {
    session: Session,
    endpoint: F::Source,
    /// The rates of all levels, from the lowest.
    rates: Vec<Rate>,
    /// Inputs that the endpoint gets once it has no more actions.
    inputs: VecDeque<Input<F::Header>>,
    /// Packets of which some are not written yet, and how many are.
    run: Option<(Send<F::Header>, u16)>,
    refusals: VecDeque<SocketAddr>,
    now: Time,
    deadline: Option<Time>,
    /// How many timers may still fire in this burst.
    timers: u32,
    /// When the last burst of packets was sent.
    burst: Time,
    /// How late timers were since this was last asked, and how many there were.
    late: (Duration, u32),
    /// Whether packets with a payload have all the size of the session.
    fills: bool,
    protection: Option<Outgoing>,
    feedback_mac: Option<FeedbackMac>,
    /// None if receivers are not polled.
    collector: Option<Collector>,
    /// None if all levels are always sent.
    demands: Option<Demands>,
    /// None if the endpoint decides when packets are sent.
    pace: Option<Pace>,
    /// Whether packets of other channels than the base are dropped.
    base_alone: bool,
    /// How many packets of the base were written.
    of_base: u64,
    uplink: Uplink,
    /// None for a protocol that serves any number of receivers.
    admission: Option<Admission>,
    completions: VecDeque<(Completion, SocketAddr)>,
    counters: SourceCounters,
}

impl<F: Family> Source<F> {
    /// A source of a session, which gets the number that the endpoint draws.
    ///
    /// # Errors
    /// If the description is invalid.
    pub fn new(
        protocol: &F::Protocol,
        mut session: Session,
        stream: Stream,
    ) -> Result<Source<F>, SessionError> {
        session.check_of::<F::Protocol>()?;
        if protocol.requirements().has_routers() {
            return Err(SessionError::Routers(session.protocol));
        }
        let endpoint = protocol.source(session.plan(), stream);
        session.tsi = endpoint.session_number().unwrap_or(session.tsi);
        let (needs, plan) = (protocol.requirements(), session.plan());
        let levels = (1..=needs.levels(&plan)).map(Level::from_count);
        Ok(Source {
            rates: levels.map(|level| needs.level_rate(&plan, level)).collect(),
            session,
            endpoint,
            inputs: VecDeque::with_capacity(INPUTS),
            run: None,
            refusals: VecDeque::new(),
            now: Time::ZERO,
            deadline: None,
            timers: 0,
            burst: Time::ZERO,
            late: (Duration::ZERO, 0),
            fills: false,
            protection: None,
            feedback_mac: None,
            collector: None,
            demands: None,
            pace: None,
            base_alone: false,
            of_base: 0,
            uplink: Uplink::default(),
            admission: needs.most_receivers().map(Admission::new),
            completions: VecDeque::new(),
            counters: SourceCounters::default(),
        })
    }

    /// Authenticates packets by a group key (RFC 6584, section 5), and encrypts them if the session has a salt. Called
    /// before the start.
    pub fn protect(&mut self, key: &GroupKey, numbers: Sequence) {
        let scheme = Scheme::of(key, self.session.salt, self.session.tsi);
        self.protection = Some(Outgoing::new(scheme, numbers));
        self.feedback_mac = Some(FeedbackMac::new(key, self.session.tsi));
    }

    /// Lets packets with a payload all have the size of the session, whatever the [`Content`] wrote: the rest of the
    /// payload has no meaning. Called before the start.
    pub fn fill_packets(&mut self) {
        self.fills = true;
    }

    /// Polls the receivers for reception reports. Called before the start.
    pub fn poll_receivers(&mut self) {
        self.collector = Some(Collector::new());
    }

    /// Sends only the levels that the uplink carries. With `on_demand` only those that receivers hold or may soon hold too, which
    /// are asked for them, and next to nothing where nobody is heard. Called before the start.
    pub fn bound(&mut self, now: Time, on_demand: bool) {
        let new = if on_demand { Demands::new } else { Demands::all };
        self.demands = Some(new(self.rates.clone(), self.session.packet, now));
    }

    /// The most bytes that a packet needs while it is written: space for the longest header is before it.
    pub fn room(&self) -> usize {
        self.session.packet.as_bytes() as usize + MAX_HEADER + AUTH_BYTES
    }

    /// The rate of the lowest level.
    pub fn base_rate(&self) -> Rate {
        self.rates.first().copied().unwrap_or_default()
    }

    /// The session description, complete.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The counters.
    pub fn counters(&self) -> &SourceCounters {
        &self.counters
    }

    /// The source's estimates.
    pub fn estimates(&self, now: Time) -> Estimates {
        self.endpoint.estimates(now)
    }

    /// What decides which levels are sent; none if all are.
    pub fn demands(&mut self) -> Option<&mut Demands> {
        self.demands.as_mut()
    }

    /// What reception reports say of the receivers; none if they are not polled.
    pub fn collector(&mut self) -> Option<&mut Collector> {
        self.collector.as_mut()
    }

    /// The packet numbers; none if packets are not numbered.
    pub fn packet_numbers(&mut self) -> Option<&mut Sequence> {
        self.protection.as_mut().map(|protection| &mut protection.sequence)
    }

    /// A completion that was received and not taken yet, copies included, and where it came from.
    pub fn take_completion(&mut self) -> Option<(Completion, SocketAddr)> {
        self.completions.pop_front()
    }

    /// A receiver that was turned away since the last call, because the protocol serves only so many.
    pub fn take_turned_away(&mut self) -> Option<SocketAddr> {
        self.admission.as_mut()?.take_turned_away()
    }

    /// How late packets were on average since the last call: more than some milliseconds if this machine does not keep the
    /// session's rates.
    pub fn take_lateness(&mut self) -> Duration {
        let (late, timers) = std::mem::take(&mut self.late);
        Duration::from_ns(late.as_ns() / u64::from(timers.max(1)))
    }

    /// The source has another address and port from now on.
    pub fn moved(&mut self, address: IpAddr, port: u16) {
        self.session.source = address;
        self.session.feedback = SocketAddr::new(address, port);
    }

    /// Starts the session.
    pub fn start(&mut self, now: Time) {
        self.input(now, Input::Start);
    }

    /// Ends the session: its last packets announce the end.
    pub fn stop(&mut self, now: Time) {
        self.input(now, Input::Stop);
    }

    /// The network took a packet of so many bytes, without the headers of IP and UDP.
    pub fn sent(&mut self, bytes: usize) {
        self.counters.packets += 1;
        self.counters.bytes += bytes as u64 + u64::from(self.session.ip_udp_bytes());
    }

    /// The network refused a packet of a channel, for want of space for it if `overflows`.
    pub fn refused(&mut self, now: Time, channel: Channel, overflows: bool) {
        self.counters.refused += 1;
        self.uplink.overflows += u64::from(overflows);
        self.input(now, Input::SendRefused(channel));
    }

    /// When [`Source::handle_timer`] is to be called. Packets are sent no earlier than a burst after the last ones.
    pub fn deadline(&self) -> Option<Time> {
        let pace = self.pace.filter(|pace| pace.given.is_none()).map(|pace| pace.next);
        let look = self.demands.is_some().then(|| self.uplink.looked + UPLINK_EVERY);
        earlier(self.due(), earlier(pace, look))
    }

    /// When packets are sent next.
    fn due(&self) -> Option<Time> {
        self.deadline.map(|deadline| deadline.max(self.burst + BURST))
    }

    fn input(&mut self, now: Time, input: Input<F::Header>) {
        self.now = self.now.max(now);
        self.inputs.push_back(input);
    }

    /// Does what is due. It may be called earlier than at the deadline.
    pub fn handle_timer(&mut self, now: Time, content: &mut impl Content) {
        self.now = self.now.max(now);
        self.check_demand(now, content);
        if let Some(due) = self.due().filter(|&due| due <= now) {
            let (late, timers) = self.late;
            self.late = (late + now.since(due), timers.saturating_add(1));
            (self.burst, self.timers) = (now, TIMERS_MAX);
        }
        if let Some(pace) = self.pace.as_mut().filter(|pace| pace.given.is_none() && now >= pace.next) {
            pace.next = now + pace.every;
            content.announce_soon();
            self.inputs.push_back(Input::DataAvailable);
        }
    }

    /// Looks at what the uplink took since the last time.
    fn check_uplink(&mut self, now: Time) {
        let Some(demands) = self.demands.as_mut().filter(|_| now.since(self.uplink.looked) >= UPLINK_EVERY)
        else {
            return;
        };
        let Uplink { overflows, before: (bytes_before, overflows_before), .. } = self.uplink;
        let bytes = self.counters.bytes;
        let packet = u64::from(self.session.packet.as_bytes());
        demands.check_uplink(now, bytes - bytes_before, (overflows - overflows_before) * packet);
        (self.uplink.looked, self.uplink.before) = (now, (bytes, overflows));
    }

    /// Passes the levels in demand to the endpoint when they change, and has what is known announced.
    fn check_demand(&mut self, now: Time, content: &mut impl Content) {
        self.check_uplink(now);
        let Some(demands) = &mut self.demands else { return };
        if demands.is_urgent(now) && self.pace.is_none() {
            content.announce_soon();
        }
        let Some(Sending { level, every }) = demands.take_change(now) else { return };
        tracing::debug!(?level, ?every, "what is sent");
        let waits = self.pace.is_some_and(|pace| pace.given.is_none());
        self.pace = every.map(|every| Pace { every, next: now, given: None });
        self.base_alone = every.is_some();
        self.inputs.push_back(Input::Demand(level));
        match every {
            Some(_) => self.inputs.push_back(Input::DataExhausted),
            None if waits => {
                content.announce_soon();
                self.inputs.push_back(Input::DataAvailable);
            }
            None => {}
        }
    }

    /// Takes a message of a receiver, which came with an ECN field.
    pub fn handle(&mut self, now: Time, incoming: Incoming, ecn: Ecn, bytes: &[u8]) {
        let (from, size) = (incoming.from, bytes.len() as u32 + ip_udp_bytes(incoming.from.ip()));
        let authentic = match &self.feedback_mac {
            None => Some(bytes),
            Some(mac) => mac.accept(bytes),
        };
        let Some(bytes) = authentic else {
            self.counters.forged_feedback += 1;
            return;
        };
        let is_good = if Completion::is_completion(bytes) {
            self.take_completion_of(now, from, bytes)
        } else if Demand::is_demand(bytes) {
            self.take_demand(now, bytes)
        } else if ReceptionReport::is_report(bytes) {
            self.take_reception(now, from, bytes)
        } else {
            self.take_report(now, incoming, ecn, Size::from_bytes(size), bytes)
        };
        self.counters.bad_feedback += u64::from(is_good.is_none());
    }

    fn take_completion_of(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Option<()> {
        let completion = Completion::from_bytes(bytes).ok().filter(|one| one.tsi == self.session.tsi)?;
        self.counters.completions += 1;
        self.demands.iter_mut().for_each(|demands| demands.left(now));
        self.complete(completion, from);
        Some(())
    }

    fn complete(&mut self, completion: Completion, from: SocketAddr) {
        if self.completions.len() < COMPLETIONS_MAX {
            self.completions.push_back((completion, from));
        }
    }

    fn take_demand(&mut self, now: Time, bytes: &[u8]) -> Option<()> {
        let demands = self.demands.as_mut()?;
        let demand = Demand::from_bytes(bytes).ok().filter(|one| one.tsi == self.session.tsi)?;
        self.counters.demands += 1;
        match demand.lost {
            0 => demands.note(now, demand.level),
            lost => demands.complain(now, lost),
        }
        Some(())
    }

    fn take_reception(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Option<()> {
        let collector = self.collector.as_mut()?;
        let report = ReceptionReport::from_bytes(bytes).ok().filter(|one| one.tsi == self.session.tsi)?;
        self.counters.reception_reports += 1;
        collector.report(now, from, report);
        // A receiver that ends has the whole table. Completions are not acknowledged, and may be lost.
        if report.is_complete && report.is_leaving {
            self.complete(Completion { tsi: report.tsi, toi: TOI_TABLE, receiver: report.receiver }, from);
        }
        self.demands.iter_mut().for_each(|demands| match report.is_leaving {
            true => demands.left(now),
            false => demands.heard(now),
        });
        Some(())
    }

    fn take_report(
        &mut self,
        now: Time,
        Incoming { from, is_cut, .. }: Incoming,
        ecn: Ecn,
        size: Size,
        bytes: &[u8],
    ) -> Option<()> {
        let header = F::Header::decode_report(bytes).ok().filter(|_| !is_cut)?;
        if !self.admission.as_mut().is_none_or(|admission| admission.admits(from, now)) {
            self.counters.turned_away += 1;
            if self.refusals.len() < REFUSALS_MAX {
                self.refusals.push_back(from);
            }
            return Some(());
        }
        self.counters.reports += 1;
        self.demands.iter_mut().for_each(|demands| demands.heard(now));
        // Peers are numbered by the host. No source replies by unicast so far, so one number is enough.
        let origin = Origin::Peer(Peer(0));
        self.input(now, Input::Packet(Arrival { origin, size, ecn, header }));
        Some(())
    }

    /// Writes the next packet to `room`, which has [`Source::room`] bytes, until there is none: then the endpoint has had all
    /// inputs.
    ///
    /// # Errors
    /// What ends the session.
    pub fn poll<C: Content>(
        &mut self,
        now: Time,
        room: &mut [u8],
        content: &mut C,
    ) -> Result<Option<Packet>, C::Error> {
        if let Some(to) = self.refusals.pop_front() {
            return Ok(self.refusal(to, room));
        }
        loop {
            // A run of one packet, as nearly all are, is not kept and copied.
            let (send, written) = match self.run.take() {
                Some(run) => run,
                None => match self.endpoint.poll_action() {
                    Some(Action::Send(send)) if send.count > 0 => (send, 0),
                    Some(Action::Trace(event)) => {
                        tracing::debug!(?event, "source");
                        continue;
                    }
                    Some(_) => continue,
                    None => match self.next_input() {
                        Some(input) => {
                            self.endpoint.handle(self.now, input);
                            continue;
                        }
                        None => return Ok(None),
                    },
                },
            };
            if written + 1 < send.count {
                self.run = Some((send, written + 1));
            }
            let fields = if written == 0 { send.header.to_lct() } else { send.header.nth(written).to_lct() };
            let packet = self.write(now, send.target, send.payload, fields, room, content)?;
            if packet.is_some() {
                return Ok(packet);
            }
        }
    }

    /// What the endpoint gets next, when it has no more actions.
    fn next_input(&mut self) -> Option<Input<F::Header>> {
        // An endpoint that keeps a pace waits when it has sent its packet.
        if let Some(pace) = &mut self.pace
            && pace.given.is_some_and(|given| self.of_base > given)
        {
            pace.given = None;
            self.inputs.push_back(Input::DataExhausted);
        }
        if let Some(input) = self.inputs.pop_front() {
            if let (Input::DataAvailable, Some(pace)) = (&input, &mut self.pace) {
                pace.given = Some(self.of_base);
            }
            return Some(input);
        }
        self.deadline = self.endpoint.deadline();
        let fires = self.timers > 0 && self.deadline.is_some_and(|deadline| deadline <= self.burst);
        self.timers = if fires { self.timers - 1 } else { 0 };
        fires.then_some(Input::Timer)
    }

    /// Says to a receiver that the session has as many as its protocol serves.
    fn refusal(&self, to: SocketAddr, room: &mut [u8]) -> Option<Packet> {
        let refusal = Refusal { tsi: self.session.tsi }.to_bytes();
        let length = match &self.feedback_mac {
            Some(mac) => mac.protect(&refusal, room)?.len(),
            None => {
                room.get_mut(..REFUSAL_BYTES)?.copy_from_slice(&refusal);
                REFUSAL_BYTES
            }
        };
        debug_assert!(length <= REFUSAL_BYTES + TAG_BYTES);
        Some(Packet { channel: None, to, place: 0..length })
    }

    fn write<C: Content>(
        &mut self,
        now: Time,
        target: Target,
        payload: Payload,
        fields: Option<LctFields>,
        room: &mut [u8],
        content: &mut C,
    ) -> Result<Option<Packet>, C::Error> {
        let Target::Channel(channel) = target else { return Ok(None) };
        if self.base_alone && channel != Channel(0) {
            return Ok(None);
        }
        let Some(to) = self.session.address(channel) else {
            return Ok(cannot_be("an endpoint sends on channels of its session"));
        };
        let Some(fields) = fields else {
            return Ok(cannot_be("what is sent on a channel has a form for it"));
        };
        // The payload is written after space for the longest header, and then the header directly before it.
        let Some((_, back)) = room.split_first_chunk_mut::<MAX_HEADER>() else {
            return Ok(cannot_be("a packet has room"));
        };
        let has_payload = payload == Payload::Next;
        let load = match has_payload {
            true => content.next(channel, now, back)?,
            false => PacketPayload::default(),
        };
        self.of_base += u64::from(channel == Channel(0));
        let asks = load.fdt.is_some() && channel == Channel(0);
        let mut repr = load.repr(fields, self.session.tsi);
        if asks {
            repr.poll = self.collector.as_mut().map(|collector| collector.poll(now));
            repr.known_level = self.demands.as_mut().and_then(|demands| demands.announce(now));
        }
        let whole = (self.session.packet.as_bytes() - self.session.ip_udp_bytes()) as usize;
        let length =
            if self.fills && has_payload { Length::Whole(whole) } else { Length::Payload(load.length) };
        let place = frame(room, &repr, length, self.protection.as_mut())?;
        Ok(Some(Packet { channel: Some(channel), to, place }))
    }
}

/// The earlier of two times that may not be set.
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
