//! The receiver of one session: its endpoint, the checks of its packets, and what it says to the source.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::num::NonZeroU64;

use layercast_core::cannot_be;
use layercast_core::contract::{
    Action, Arrival, Cause, Ecn, Endpoint as _, Estimates, Input, JoinError, Origin, Target, TraceEvent,
};
use layercast_core::family::{AnyHeader as _, AnyProtocol as _, Family};
use layercast_core::layers::LayerTable;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Size, Time};
use layercast_core::wire::MAX_REPORT;
use serde::Serialize;

use super::demand::{LevelDemand, Said};
use super::packet_loss::{PacketLoss, RecentPackets};
use super::reports::{Reached, ReceptionReports};
use crate::accept::{AcceptCounters, Accepted, Incoming, accept};
use crate::packet::{Demand, ReceptionReport, Refusal};
use crate::security::any_session::AnySession;
use crate::security::feedback::{FeedbackMac, TAG_BYTES};
use crate::security::protection::{self, ProtectionCounters, Rejection};
use crate::session::Session;

/// After which time without a packet of the session those of others are checked: well before another session is followed.
const SILENT: Duration = Duration::from_secs(1);

/// What a receiver did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReceiverNote {
    /// It joined a channel.
    Joined(Channel),
    /// It left a channel.
    Left(Channel),
    /// Its endpoint recorded a trace event.
    Trace(TraceEvent),
}

/// The sender of packets of another session or source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignSender {
    /// Its address.
    pub from: IpAddr,
    /// Whether its session may take the place of one that is silent: always without a group key, and otherwise if the key
    /// authenticates it.
    pub may_be_followed: bool,
}

/// What a receiver counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReceiverCounters {
    /// Packets by what became of them.
    #[serde(flatten)]
    pub accept: AcceptCounters,
    /// Packets that routers marked.
    #[serde(rename = "packets_marked")]
    pub marked: u64,
    /// Joins that failed.
    #[serde(skip)]
    pub failed_joins: u64,
    /// Changes of level.
    pub level_changes: u64,
    /// Loss events.
    pub loss_events: u64,
    /// Packets of other sessions that the group key authenticates, while this one is silent.
    #[serde(skip)]
    pub authentic_others: u64,
}

/// A message to the source, with its tag if there is a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    room: [u8; MAX_REPORT + TAG_BYTES],
    length: usize,
}

impl Feedback {
    /// A message, with a tag if there is a key; none if it is longer than any message.
    pub(super) fn new(mac: Option<&FeedbackMac>, message: &[u8]) -> Option<Feedback> {
        let mut room = [0; MAX_REPORT + TAG_BYTES];
        let length = match mac {
            Some(mac) => mac.protect(message, &mut room)?.len(),
            None => {
                room.get_mut(..message.len())?.copy_from_slice(message);
                message.len()
            }
        };
        Some(Feedback { room, length })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.room.get(..self.length).unwrap_or_default()
    }
}

/// What a receiver wants of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionOutput {
    /// To join a channel. If that is impossible, [`SessionReceiver::join_failed`] says so.
    Join(Channel),
    /// To leave a channel.
    Leave(Channel),
    /// To send a report of congestion control to the source.
    Report(Feedback),
    /// To send what else there is to say to the source.
    Send(Feedback),
}

/// A receiver of one session.
///
/// Its host gives one input, calls [`SessionReceiver::poll`] until there is no output, and calls again with
/// [`SessionReceiver::handle_timer`] at [`SessionReceiver::deadline`] or earlier.
#[derive(Debug)]
pub struct SessionReceiver<F: Family> {
    session: Session,
    endpoint: F::Receiver,
    /// Of what the endpoint is made again.
    make: (F::Protocol, u64),
    /// Whether the base channel alone is held, without an endpoint.
    rests: bool,
    /// Whether leaving the base channel has no effect.
    keeps_base: bool,
    /// Which channels are held.
    held: Vec<bool>,
    /// Since when no channel but the base layer's has been held.
    base_only_since: Option<Time>,
    /// Inputs that the endpoint gets once it has no more actions.
    inputs: VecDeque<Input<F::Header>>,
    /// Whether it has none, and gets an input at once.
    is_polled: bool,
    now: Time,
    deadline: Option<Time>,
    /// None if packets are not authenticated.
    protection: Option<protection::Incoming>,
    /// The check of packets of other sessions.
    others: Option<AnySession>,
    feedback_mac: Option<FeedbackMac>,
    /// The last packet of another session or source.
    foreign_sender: Option<ForeignSender>,
    /// When the last packet of the session came.
    heard: Time,
    packet_loss: PacketLoss,
    has_ended: bool,
    /// None if the level that is held is not reported.
    demand: Option<LevelDemand>,
    /// None if polls are not answered.
    reports: Option<ReceptionReports>,
    /// The last report, which says why the session is left.
    farewell: Option<ReceptionReport>,
    /// Whether all is said at once.
    is_leaving: bool,
    last_change: Option<(Level, Cause)>,
    /// None if nobody asked for it.
    log: Option<Vec<ReceiverNote>>,
    counters: ReceiverCounters,
}

impl<F: Family> SessionReceiver<F> {
    /// A receiver of a session.
    pub fn new(protocol: &F::Protocol, session: Session, seed: u64) -> SessionReceiver<F> {
        SessionReceiver {
            endpoint: protocol.receiver(session.plan(), Stream::new(seed, "receiver")),
            make: (protocol.clone(), seed),
            rests: false,
            keeps_base: false,
            held: vec![false; session.channels.into()],
            base_only_since: None,
            inputs: VecDeque::with_capacity(4),
            is_polled: true,
            now: Time::ZERO,
            deadline: None,
            protection: None,
            others: None,
            feedback_mac: None,
            foreign_sender: None,
            heard: Time::ZERO,
            packet_loss: PacketLoss::new(session.channels),
            has_ended: false,
            demand: None,
            reports: None,
            farewell: None,
            is_leaving: false,
            last_change: None,
            log: None,
            counters: ReceiverCounters::default(),
            session,
        }
    }

    /// Checks that packets are authentic, by the check of this session, which is taken out of that of all. Called before the
    /// start.
    pub fn protect(&mut self, checks: &mut AnySession) {
        let tsi = self.session.tsi;
        self.protection = Some(checks.take(tsi));
        self.feedback_mac = Some(FeedbackMac::new(checks.key(), tsi));
        self.others = Some(checks.fresh());
    }

    /// Puts its check back, when the session is left for a search.
    pub(super) fn put_check(&mut self, checks: &mut AnySession) {
        if let Some(check) = self.protection.take() {
            checks.put(self.session.tsi, check);
        }
    }

    /// Says to the source which level is held, if it asks. Called before the start.
    pub fn say_demand(&mut self, mut demand: LevelDemand) {
        demand.follow(self.session.channels);
        self.demand = Some(demand);
    }

    /// Answers the source's polls by a number. Called before the start.
    pub fn answer_polls(&mut self, receiver: NonZeroU64) {
        let seed = Stream::new(self.make.1, "reports").bits();
        self.reports = Some(ReceptionReports::new(seed, self.session.tsi, receiver));
    }

    /// Notes how far the reception is, for reports.
    pub fn note_progress(&mut self, now: Time, reached: &Reached) {
        let (level, recent) = (self.endpoint.estimates(self.now).level, self.packet_loss.recent(now));
        self.reports.iter_mut().for_each(|reports| reports.note(reached, level, recent));
    }

    /// The last report says that the receiver ends, or that its disk fails. `stays` if it may come back.
    pub fn say_farewell(&mut self, disk_fails: bool, stays: bool) {
        self.farewell = self.reports.as_mut().and_then(|reports| reports.leave(disk_fails, stays));
    }

    /// Once: whether the source does not know of this receiver, and sends no more than others need.
    pub fn take_unheard(&mut self) -> bool {
        self.demand.as_mut().is_some_and(LevelDemand::take_unheard)
    }

    /// Keeps a log from now on, until [`SessionReceiver::drain_log`] takes it.
    pub fn keep_log(&mut self) {
        self.log.get_or_insert_default();
    }

    /// The session description.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The counters.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// Packets that were checked for authenticity; none if they are not.
    pub fn protection(&self) -> Option<&ProtectionCounters> {
        self.protection.as_ref().map(protection::Incoming::counters)
    }

    /// How many packets, of any session, the group key has authenticated.
    pub(super) fn authentic(&self) -> u64 {
        let own = self.protection().map_or(0, |counters| counters.accepted);
        own + self.counters.authentic_others
    }

    /// The time of its last input.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The receiver's estimates.
    pub fn estimates(&self) -> Estimates {
        self.endpoint.estimates(self.now)
    }

    /// Whether the source has announced the end of the session.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The rates of its levels, on average.
    pub fn levels(&self) -> LayerTable {
        self.session.levels_of(&self.make.0)
    }

    /// How many receivers the protocol serves, if not any number.
    pub fn most_receivers(&self) -> Option<usize> {
        self.make.0.requirements().most_receivers()
    }

    /// The channels that are held.
    pub fn held(&self) -> impl Iterator<Item = Channel> {
        self.held.iter().enumerate().filter(|(_, held)| **held).map(|(index, _)| Channel(index as u16))
    }

    /// The packets of the last seconds; none before the first.
    pub fn recent_packets(&self, now: Time) -> Option<RecentPackets> {
        self.packet_loss.recent(now)
    }

    /// How long no channel but the base layer's has been held.
    pub fn base_only_for(&self, now: Time) -> Duration {
        self.base_only_since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The last change of level, and why it was made.
    pub fn last_change(&self) -> Option<(Level, Cause)> {
        self.last_change
    }

    /// Who sends packets of another session or source, by the last of them since the last call.
    pub fn take_foreign_sender(&mut self) -> Option<ForeignSender> {
        self.foreign_sender.take()
    }

    /// Whether the log has anything.
    pub fn has_log(&self) -> bool {
        self.log.as_ref().is_some_and(|log| !log.is_empty())
    }

    /// The log since the last call.
    pub fn drain_log(&mut self) -> impl Iterator<Item = ReceiverNote> {
        self.log.iter_mut().flat_map(|log| log.drain(..))
    }

    /// A message to the source with the tag of the session's key; none if it is longer than any message.
    pub fn feedback(&self, message: &[u8]) -> Option<Feedback> {
        Feedback::new(self.feedback_mac.as_ref(), message)
    }

    /// Whether a datagram that came from the source's address for feedback says that the session is full.
    pub fn is_refusal(&self, datagram: &[u8]) -> bool {
        let message = match &self.feedback_mac {
            None => Some(datagram),
            Some(mac) => mac.accept(datagram),
        };
        let refusal = message.map(Refusal::from_bytes);
        matches!(refusal, Some(Ok(refusal)) if refusal.tsi == self.session.tsi)
    }

    /// Starts: joins the base layer.
    pub fn start(&mut self, now: Time) {
        self.input(now, Input::Start);
    }

    /// Leaves all channels, and says so.
    pub fn stop(&mut self, now: Time) {
        self.is_leaving = true;
        self.demand.iter_mut().for_each(|demand| demand.rest(now, true));
        self.input(now, Input::Stop);
    }

    /// Holds the base channel alone from now on, or begins again.
    pub fn set_rest(&mut self, now: Time, rests: bool) {
        if std::mem::replace(&mut self.rests, rests) == rests {
            return;
        }
        self.demand.iter_mut().for_each(|demand| demand.rest(now, rests));
        if rests {
            // What it leaves is polled before it is another endpoint.
            self.keeps_base = true;
            self.input(now, Input::Stop);
        } else {
            self.renew();
            self.start(now);
        }
    }

    fn renew(&mut self) {
        let (protocol, seed) = &self.make;
        self.endpoint = protocol.receiver(self.session.plan(), Stream::new(*seed, "receiver"));
        (self.deadline, self.last_change, self.keeps_base) = (None, None, false);
    }

    fn input(&mut self, now: Time, input: Input<F::Header>) {
        self.now = self.now.max(now);
        match std::mem::take(&mut self.is_polled) {
            true => self.endpoint.handle(self.now, input),
            false => self.inputs.push_back(input),
        }
    }

    /// A channel could not be joined.
    pub fn join_failed(&mut self, channel: Channel, error: JoinError) {
        self.counters.failed_joins += 1;
        if let Some(held) = self.held.get_mut(channel.index()) {
            *held = false;
        }
        if let Some(log) = &mut self.log
            && log.last() == Some(&ReceiverNote::Joined(channel))
        {
            log.pop();
        }
        self.input(self.now, Input::JoinFailed(channel, error));
    }

    /// When [`SessionReceiver::handle_timer`] is to be called.
    pub fn deadline(&self) -> Option<Time> {
        let demand = self.demand.as_ref().and_then(LevelDemand::deadline);
        let report = self.reports.as_ref().and_then(ReceptionReports::deadline);
        [self.deadline, demand, report].into_iter().flatten().min()
    }

    /// Does what is due. It may be called earlier than at the deadline.
    pub fn handle_timer(&mut self, now: Time) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.input(now, Input::Timer);
        }
        self.now = self.now.max(now);
        let above = self.held.iter().skip(1).any(|held| *held);
        self.base_only_since = self.base_only_since.or(Some(now)).filter(|_| !above);
        let alone_for = self.base_only_for(now);
        if let Some(demand) = &mut self.demand {
            let level = self.last_change.map(|(level, _)| level);
            demand.observe(now, level, alone_for, || self.packet_loss.recent(now));
        }
    }

    /// A datagram arrived at a time, with an ECN field. It is decrypted in its place. What passes all checks is returned.
    pub fn handle<'d>(
        &mut self,
        at: Time,
        incoming: Incoming,
        ecn: Ecn,
        bytes: &'d mut [u8],
    ) -> Option<Accepted<'d, F::Header>> {
        let mut may_be_followed = true;
        if let Some(protection) = &mut self.protection {
            match protection.accept(bytes) {
                Ok(()) => {}
                // Packets of other sessions are counted as such below. Whether they are authentic matters only when
                // this one is silent: then the session of a forged one must not be followed.
                Err(Rejection::Session) => {
                    let others = self.others.as_mut().filter(|_| at.since(self.heard) >= SILENT);
                    may_be_followed = others.is_some_and(|others| others.accept(bytes).is_ok());
                    self.counters.authentic_others += u64::from(may_be_followed);
                }
                Err(_) => return None,
            }
        }
        let bytes = &*bytes;
        let is_cut = incoming.is_cut || bytes.len() > self.session.packet.as_bytes() as usize;
        let incoming = Incoming { is_cut, ..incoming };
        let of = Some((self.session.source, self.session.tsi));
        let counters = &mut self.counters.accept;
        let foreign = counters.other_session + counters.other_source;
        let Some(accepted) = accept::<F::Header>(incoming, bytes, of, counters) else {
            if counters.other_session + counters.other_source > foreign {
                let before = self.foreign_sender.is_some_and(|foreign_sender| foreign_sender.may_be_followed);
                let may_be_followed = may_be_followed || before;
                self.foreign_sender = Some(ForeignSender { from: incoming.from.ip(), may_be_followed });
            }
            return None;
        };
        self.heard = at;
        // Time never decreases for an endpoint.
        self.now = self.now.max(at);
        if let Some(demand) = &mut self.demand {
            demand.heard(self.now, &accepted.repr);
        }
        if let (Some(reports), Some(poll)) = (&mut self.reports, accepted.repr.poll) {
            reports.heard(poll, self.now);
        }
        let channel = incoming.channel?;
        self.packet_loss.observe(at, channel, accepted.repr.fields.cci.number());
        self.counters.marked += u64::from(ecn == Ecn::Marked);
        if self.rests {
            self.has_ended |= accepted.repr.fields.end_of_session;
            return Some(accepted);
        }
        let arrival = Arrival {
            origin: Origin::Channel(channel),
            size: Size::from_bytes(bytes.len() as u32 + self.session.ip_udp_bytes()),
            ecn,
            header: accepted.header,
        };
        self.input(at, Input::Packet(arrival));
        Some(accepted)
    }

    /// What the receiver wants, until there is nothing: then the endpoint has had all inputs.
    pub fn poll(&mut self) -> Option<SessionOutput> {
        loop {
            let Some(action) = self.endpoint.poll_action() else {
                if let Some(input) = self.inputs.pop_front() {
                    self.endpoint.handle(self.now, input);
                    continue;
                }
                if self.keeps_base {
                    self.renew();
                } else if !self.rests {
                    self.deadline = self.endpoint.deadline();
                }
                self.is_polled = true;
                return self.message().map(SessionOutput::Send);
            };
            let output = match action {
                Action::Join(channel) => self.join(channel),
                Action::Leave(channel) => self.leave(channel),
                Action::Send(send) if send.target == Target::Source => {
                    let mut bytes = [0; MAX_REPORT];
                    let length = send.header.encode_report(&mut bytes);
                    length.and_then(|length| self.feedback(bytes.get(..length)?)).map(SessionOutput::Report)
                }
                Action::Trace(event) => {
                    self.trace(event);
                    None
                }
                Action::Send(_) | Action::Deliver(_) | Action::Release(_) => None,
            };
            if output.is_some() {
                return output;
            }
        }
    }

    /// What is to be said to the source, next to congestion control.
    fn message(&mut self) -> Option<Feedback> {
        if let Some(demand) = &mut self.demand
            && let Some(Said { level, lost }) = demand.take(self.now, self.is_leaving)
        {
            return self.feedback(&Demand { tsi: self.session.tsi, level, lost }.to_bytes());
        }
        let reports = self.reports.as_mut();
        let report = self.farewell.take().or_else(|| reports?.take_due(self.now))?;
        self.feedback(&report.to_bytes())
    }

    fn note(&mut self, note: ReceiverNote) {
        if let Some(log) = &mut self.log {
            log.push(note);
        }
    }

    fn join(&mut self, channel: Channel) -> Option<SessionOutput> {
        let Some(held) = self.held.get_mut(channel.index()) else {
            return cannot_be("an endpoint joins channels of its session");
        };
        if std::mem::replace(held, true) {
            return None;
        }
        self.note(ReceiverNote::Joined(channel));
        Some(SessionOutput::Join(channel))
    }

    fn leave(&mut self, channel: Channel) -> Option<SessionOutput> {
        if self.keeps_base && channel == Channel(0) {
            return None;
        }
        self.packet_loss.forget(channel);
        if !std::mem::take(self.held.get_mut(channel.index())?) {
            return None;
        }
        self.note(ReceiverNote::Left(channel));
        Some(SessionOutput::Leave(channel))
    }

    fn trace(&mut self, event: TraceEvent) {
        tracing::debug!(?event, "receiver");
        self.note(ReceiverNote::Trace(event));
        match event {
            TraceEvent::LevelChanged { to, cause, .. } => {
                self.counters.level_changes += 1;
                self.last_change = Some((to, cause));
            }
            TraceEvent::LossEvent { .. } => self.counters.loss_events += 1,
            TraceEvent::SessionEnded => self.has_ended = true,
            _ => {}
        }
    }
}
