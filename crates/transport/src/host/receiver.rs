//! A receiver on sockets.

use std::io;
use std::net::{IpAddr, UdpSocket};

use layercast_core::contract::{
    Arrival, Cause, Endpoint, Estimates, Host, Input, JoinError, Origin, Send, Target, TraceEvent, drive,
};
use layercast_core::family::AnyHeader as _;
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Size, Time};
use layercast_core::wire::MAX_REPORT;
use layercast_core::{Always as _, cannot_be};
use layercast_protocols::registry::{Header, Protocol, Receiver};

use super::access::{Access, Groups};
use super::clock::until;
use super::leaves::Leaves;
use super::packet_loss::{PacketLoss, RecentPackets};
use super::socket::open_reports;
use super::{Clock, Inbox, Interface, ReceiverCounters};
use crate::error::Error;
use crate::notice::Notice;
use layercast_delivery::accept::{Accepted, accept};
use layercast_delivery::packet::{Completion, Demand, REFUSAL_BYTES, ReceptionReport, Refusal};
use layercast_delivery::part::Part;
use layercast_delivery::security::any_session::AnySession;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::feedback::{FeedbackMac, TAG_BYTES};
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::protection::{Incoming, ProtectionCounters, Rejection};
use layercast_delivery::session::Session;

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

/// The sockets of a receiver and its operations on them.
#[derive(Debug)]
struct Memberships {
    interface: Interface,
    session: Session,
    access: Access,
    /// Which channels are joined.
    held: Vec<bool>,
    reports: UdpSocket,
    failed: Vec<(Channel, JoinError)>,
    /// The base layer could not be joined: without it there is no session.
    failure: Option<Error>,
    ended: bool,
    /// Whether leaving the base channel has no effect.
    keeps_base: bool,
    packet_loss: PacketLoss,
    leaves: Leaves,
    /// The MAC of what is sent to the source; none if it is not authenticated.
    feedback_mac: Option<FeedbackMac>,
    last_change: Option<(Level, Cause)>,
    /// None if nobody asked for it.
    log: Option<Vec<ReceiverNote>>,
    counters: ReceiverCounters,
}

/// The sender of packets of another session or source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stranger {
    /// Its address.
    pub from: IpAddr,
    /// Whether its session may take the place of one that is silent: always without a group key, and otherwise if the key
    /// authenticates it.
    pub may_be_followed: bool,
}

/// After which time without a packet of the session those of others are checked: well before another session is followed.
const SILENT: Duration = Duration::from_secs(1);

/// The host of a receiver.
#[derive(Debug)]
pub struct ReceiverHost {
    memberships: Memberships,
    receiver: Receiver,
    /// Of what the receiver is made again.
    make: (Protocol, u64),
    /// Whether the base channel alone is held, without a receiver.
    rests: bool,
    /// How many receivers the protocol serves, if not any number.
    most: Option<usize>,
    /// Since when no channel but the base layer's has been joined.
    base_only_since: Option<Time>,
    /// The last packet of another session or source.
    stranger: Option<Stranger>,
    /// When the last packet of the session came.
    heard: Time,
    clock: Clock,
    now: Time,
    inbox: Inbox,
    /// The packets of the last step that passed all checks: their place in the inbox, their fields, and the length of their
    /// payload.
    accepted: Vec<(usize, Part, usize)>,
    /// None if packets are not authenticated.
    protection: Option<Incoming>,
    /// The check of packets of other sessions.
    others: Option<AnySession>,
    deadline: Option<Time>,
}

impl ReceiverHost {
    /// Makes a receiver that joins groups on an interface, with a source of that source alone.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(
        interface: Interface,
        protocol: &Protocol,
        session: Session,
        join_source: Option<IpAddr>,
        seed: u64,
    ) -> Result<ReceiverHost, Error> {
        let groups = Groups::new(interface.clone(), join_source);
        ReceiverHost::by(Access::Native(groups), interface, protocol, session, seed)
    }

    /// Makes a receiver whose packets come by `access`, by which the base channel may be joined already.
    ///
    /// # Errors
    /// The system's error.
    pub fn by(
        access: Access,
        interface: Interface,
        protocol: &Protocol,
        session: Session,
        seed: u64,
    ) -> Result<ReceiverHost, Error> {
        let reports = open_reports(&interface, session.group)?;
        let (channels, clock) = (session.channels, Clock::default());
        Ok(ReceiverHost {
            most: protocol.requirements().most_receivers(),
            base_only_since: None,
            stranger: None,
            heard: Time::ZERO,
            receiver: protocol.receiver(session.plan(), Stream::new(seed, "receiver")),
            make: (protocol.clone(), seed),
            rests: false,
            inbox: Inbox::new(session.packet.as_bytes() as usize),
            accepted: Vec::with_capacity(Inbox::MOST),
            memberships: Memberships {
                interface,
                session,
                access,
                held: vec![false; channels.into()],
                reports,
                failed: Vec::new(),
                failure: None,
                ended: false,
                keeps_base: false,
                packet_loss: PacketLoss::new(channels),
                leaves: Leaves::new(clock),
                feedback_mac: None,
                last_change: None,
                log: None,
                counters: ReceiverCounters::default(),
            },
            clock,
            now: Time::ZERO,
            protection: None,
            others: None,
            deadline: None,
        })
    }

    /// Lets the packets of all channels come by another access from now on: the endpoint notices nothing but what is lost
    /// meanwhile.
    pub fn move_to(&mut self, access: Access) {
        let Memberships { session, held, failed, .. } = &mut self.memberships;
        let mut access = access;
        for (index, _) in held.iter().enumerate().filter(|(_, held)| **held) {
            let channel = Channel(index as u16);
            let Some(group) = session.address(channel) else {
                cannot_be::<()>("channels that are held are those of the session");
                continue;
            };
            if let Err(error) = access.join(channel, group) {
                tracing::warn!("a group could not be joined, so this layer is left out: {error}");
                failed.push((channel, JoinError::Refused));
            }
        }
        self.memberships.access = access;
    }

    /// How packets come.
    pub fn access(&self) -> &Access {
        &self.memberships.access
    }

    /// Something that the operator should know of the access, once.
    pub fn take_access_notice(&mut self) -> Option<Notice> {
        self.memberships.access.take_notice()
    }

    /// The session description.
    pub fn session(&self) -> &Session {
        &self.memberships.session
    }

    /// The counters.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.memberships.counters
    }

    /// The receiver's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The receiver's estimates.
    pub fn estimates(&self) -> Estimates {
        self.receiver.estimates(self.now)
    }

    /// Whether the source has announced the end of the session.
    pub fn has_ended(&self) -> bool {
        self.memberships.ended
    }

    /// The packets of the last seconds; none before the first.
    pub fn recent_packets(&self) -> Option<RecentPackets> {
        self.memberships.packet_loss.recent(self.clock.now())
    }

    /// How long no channel but the base layer's has been joined.
    pub fn base_only_for(&self) -> Duration {
        self.base_only_since.map_or(Duration::ZERO, |since| self.clock.now().since(since))
    }

    /// Who sends packets of another session or source, by the last of them since the last call.
    pub fn take_stranger(&mut self) -> Option<Stranger> {
        self.stranger.take()
    }

    /// The last change of level, and why it was made.
    pub fn last_change(&self) -> Option<(Level, Cause)> {
        self.memberships.last_change
    }

    /// Keeps a log from now on, until [`ReceiverHost::drain_log`] takes it.
    pub fn keep_log(&mut self) {
        self.memberships.log.get_or_insert_default();
    }

    /// Whether the log has anything.
    pub fn has_log(&self) -> bool {
        self.memberships.log.as_ref().is_some_and(|log| !log.is_empty())
    }

    /// The log since the last call.
    pub fn drain_log(&mut self) -> impl Iterator<Item = ReceiverNote> {
        self.memberships.log.iter_mut().flat_map(|log| log.drain(..))
    }

    /// Checks that packets are authentic by a group key, and with a salt also encrypted. Called before the start.
    pub fn protect(&mut self, key: &GroupKey, salt: Option<Salt>) {
        let tsi = self.memberships.session.tsi;
        self.protection = Some(Incoming::of(key, salt, tsi));
        self.memberships.feedback_mac = Some(FeedbackMac::new(key, tsi));
        self.others = Some(AnySession::new(key.clone(), salt));
    }

    /// Packets that were checked for authenticity; none if they are not.
    pub fn protection(&self) -> Option<&ProtectionCounters> {
        self.protection.as_ref().map(Incoming::counters)
    }

    /// Starts: joins the base layer.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn start(&mut self) -> Result<(), Error> {
        self.drive_endpoint(self.clock.now(), Input::Start)
    }

    /// Leaves all channels.
    ///
    /// # Errors
    /// None of consequence.
    pub fn stop(&mut self) -> Result<(), Error> {
        self.drive_endpoint(self.clock.now(), Input::Stop)
    }

    /// Holds the base channel alone from now on, or begins with a new receiver.
    ///
    /// # Errors
    /// If the base layer cannot be joined.
    pub fn set_rest(&mut self, rests: bool) -> Result<(), Error> {
        self.memberships.keeps_base = true;
        let stopped = if rests { self.stop() } else { Ok(()) };
        self.memberships.keeps_base = false;
        stopped?;
        let (protocol, seed) = &self.make;
        self.receiver = protocol.receiver(self.memberships.session.plan(), Stream::new(*seed, "receiver"));
        (self.rests, self.deadline, self.memberships.last_change) = (rests, None, None);
        if rests { Ok(()) } else { self.start() }
    }

    /// Sends a completion to the source; whether it is the first through the relay that serves this host now.
    ///
    /// # Errors
    /// The system's error.
    pub fn complete(&self, completion: Completion) -> Result<bool, Error> {
        self.send_feedback(&completion.to_bytes())?;
        Ok(self.memberships.access.note_completion())
    }

    /// Whether completions have gone further than to a relay that is gone, as far as is known.
    pub fn has_reported(&self) -> bool {
        self.memberships.access.has_carried()
    }

    /// Sends a reception report to the source.
    ///
    /// # Errors
    /// The system's error.
    pub fn report(&self, report: ReceptionReport) -> Result<(), Error> {
        self.send_feedback(&report.to_bytes())
    }

    /// Says to the source which level this receiver holds, and which part of the base it loses if it holds no more, in 255ths.
    ///
    /// # Errors
    /// The system's error.
    pub fn demand(&self, level: Level, lost: u8) -> Result<(), Error> {
        let tsi = self.memberships.session.tsi;
        self.send_feedback(&Demand { tsi, level, lost }.to_bytes())
    }

    fn send_feedback(&self, bytes: &[u8]) -> Result<(), Error> {
        let to = self.memberships.session.feedback;
        let sent = self.memberships.send_feedback(bytes);
        sent.map_err(|source| Error::socket(format!("report to {to}"), to, source))
    }

    /// Waits for packets or the next deadline, not beyond `latest`, and processes them. Packets that pass
    /// all checks go to the receiver and then to `on_accepted`.
    ///
    /// # Errors
    /// What ends the reception, from here or from `on_accepted`.
    pub fn step(
        &mut self,
        latest: Time,
        on_accepted: &mut dyn FnMut(Time, &Accepted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let wake = self.deadline.map_or(latest, |deadline| deadline.min(latest));
        let timeout = until(self.clock.now(), wake);
        self.memberships.counters.read_calls +=
            self.memberships.access.wait(&mut self.inbox, &self.clock, timeout);
        self.inbox.sort();
        self.accepted.clear();
        for index in 0..self.inbox.len() {
            let Some((datagram, bytes)) = self.inbox.get_mut(index) else { break };
            let mut may_be_followed = true;
            if let Some(protection) = &mut self.protection {
                match protection.accept(bytes) {
                    Ok(()) => {}
                    // Packets of other sessions are counted as such below. Whether they are authentic matters only when
                    // this one is silent: then the session of a forged one must not be followed.
                    Err(Rejection::Session) => {
                        let others = self.others.as_mut();
                        let others = others.filter(|_| datagram.at.since(self.heard) >= SILENT);
                        may_be_followed = others.is_some_and(|others| others.accept(bytes).is_ok());
                    }
                    Err(_) => continue,
                }
            }
            let bytes = &*bytes;
            let session = &self.memberships.session;
            let of = Some((session.source, session.tsi));
            let counters = &mut self.memberships.counters.accept;
            let foreign = counters.other_session + counters.other_source;
            let Some(accepted) = accept(datagram.incoming(), bytes, of, counters) else {
                if counters.other_session + counters.other_source > foreign {
                    let before = self.stranger.is_some_and(|stranger| stranger.may_be_followed);
                    let may_be_followed = may_be_followed || before;
                    self.stranger = Some(Stranger { from: datagram.from.ip(), may_be_followed });
                }
                continue;
            };
            self.heard = datagram.at;
            let Some(channel) = datagram.channel else { continue };
            let number = accepted.repr.fields.cci.number();
            self.memberships.packet_loss.observe(datagram.at, channel, number);
            let arrival = Arrival {
                origin: Origin::Channel(channel),
                size: Size::from_bytes(bytes.len() as u32 + session.ip_udp_bytes()),
                ecn: datagram.ecn,
                header: accepted.header,
            };
            self.memberships.counters.marked +=
                u64::from(datagram.ecn == layercast_core::contract::Ecn::Marked);
            // Time never decreases for an endpoint.
            self.now = self.now.max(datagram.at);
            if self.rests {
                self.memberships.ended |= accepted.repr.fields.end_of_session;
            } else {
                self.deadline =
                    drive(&mut self.receiver, self.now, Input::Packet(arrival), &mut self.memberships);
            }
            self.accepted.push((index, Part::from(&accepted.repr), accepted.payload.len()));
            on_accepted(self.now, &accepted)?;
        }
        let now = self.clock.now();
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.drive_endpoint(now, Input::Timer)?;
        }
        self.memberships.leaves.look();
        self.memberships.counters.leaves = self.memberships.leaves.counters();
        let above = self.memberships.held.iter().skip(1).any(|held| *held);
        self.base_only_since = self.base_only_since.or(Some(now)).filter(|_| !above);
        self.look_for_refusal()?;
        self.report_failures()
    }

    /// Waits for so long, and drops what arrives: the tunnel stays open meanwhile, since a parent removes a child that is silent
    /// for a few seconds.
    pub fn rest(&mut self, length: Duration) {
        let end = self.clock.now() + length;
        self.accepted.clear();
        loop {
            let left = until(self.clock.now(), end);
            self.memberships.access.wait(&mut self.inbox, &self.clock, left);
            if self.clock.now() >= end {
                return;
            }
        }
    }

    /// How many packets of the last step passed all checks.
    pub fn accepted_count(&self) -> usize {
        self.accepted.len()
    }

    /// A packet of the last step that passed all checks, and its payload.
    pub fn accepted(&self, number: usize) -> Option<(Part, &[u8])> {
        let &(index, part, length) = self.accepted.get(number)?;
        let (_, bytes) = self.inbox.get(index)?;
        Some((part, bytes.get(bytes.len().checked_sub(length)?..)?))
    }

    /// Reads what the source replies to reports, where its protocol serves only so many receivers.
    fn look_for_refusal(&mut self) -> Result<(), Error> {
        let Some(most) = self.most else { return Ok(()) };
        let session = &self.memberships.session;
        let mut bytes = [0; REFUSAL_BYTES + TAG_BYTES];
        // The socket does not block.
        while let Ok((length, from)) = self.memberships.reports.recv_from(&mut bytes) {
            let datagram = bytes.get(..length).always("a socket fills no more than the room");
            let message = match &self.memberships.feedback_mac {
                None => Some(datagram),
                Some(mac) => mac.accept(datagram),
            };
            let refusal = Refusal::from_bytes(message.unwrap_or_default());
            if from == session.feedback && refusal == Ok(Refusal { tsi: session.tsi }) {
                return Err(Error::Full { protocol: session.protocol.clone(), most });
            }
        }
        Ok(())
    }

    fn drive_endpoint(&mut self, now: Time, input: Input<Header>) -> Result<(), Error> {
        self.now = self.now.max(now);
        self.deadline = drive(&mut self.receiver, self.now, input, &mut self.memberships);
        self.report_failures()
    }

    fn report_failures(&mut self) -> Result<(), Error> {
        while let Some((channel, error)) = self.memberships.failed.pop() {
            let input = Input::JoinFailed(channel, error);
            self.deadline = drive(&mut self.receiver, self.now, input, &mut self.memberships);
        }
        self.memberships.failure.take().map_or(Ok(()), Err)
    }
}

impl Memberships {
    /// Sends a message of at most [`MAX_REPORT`] bytes to the source, with a tag if there is a key.
    fn send_feedback(&self, message: &[u8]) -> io::Result<()> {
        let mut room = [0; MAX_REPORT + TAG_BYTES];
        let datagram = match &self.feedback_mac {
            None => Some(message),
            Some(mac) => mac.protect(message, &mut room),
        };
        let datagram = datagram.ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(sent) = self.access.send_feedback(datagram, self.session.feedback) {
            return sent;
        }
        self.reports.send_to(datagram, self.session.feedback).map(|_| ())
    }

    fn note(&mut self, note: ReceiverNote) {
        if let Some(log) = &mut self.log {
            log.push(note);
        }
    }
}

impl Host<Header> for Memberships {
    fn send(&mut self, send: Send<Header>) {
        let mut bytes = [0; MAX_REPORT];
        let length = send.header.encode_report(&mut bytes).filter(|_| send.target == Target::Source);
        let Some(report) = length.and_then(|length| bytes.get(..length)) else { return };
        match self.send_feedback(report) {
            Ok(()) => self.counters.reports += 1,
            Err(error) => {
                self.counters.unsent_reports += 1;
                tracing::debug!(%error, to = %self.session.feedback, "a report was not sent");
            }
        }
    }

    fn join(&mut self, channel: Channel) {
        let Some(group) = self.session.address(channel) else {
            return cannot_be("an endpoint joins channels of its session");
        };
        let Some(held) = self.held.get_mut(channel.index()).filter(|held| !**held) else { return };
        match self.access.join(channel, group) {
            Ok(()) => {
                *held = true;
                self.leaves.joined(channel);
                self.note(ReceiverNote::Joined(channel));
            }
            Err(error) => {
                tracing::warn!("a group could not be joined, so this layer is left out: {error}");
                self.counters.failed_joins += 1;
                let limits = [nix::libc::ENOBUFS, nix::libc::EMFILE, nix::libc::ENFILE];
                let limit = matches!(&error, Error::Socket { source, .. }
                    if source.raw_os_error().is_some_and(|error| limits.contains(&error)));
                self.failed.push((channel, if limit { JoinError::Limit } else { JoinError::Refused }));
                if channel.0 == 0 {
                    self.failure = Some(error);
                }
            }
        }
    }

    fn leave(&mut self, channel: Channel) {
        if self.keeps_base && channel == Channel(0) {
            return;
        }
        if let Some(held) = self.held.get_mut(channel.index())
            && std::mem::take(held)
        {
            self.note(ReceiverNote::Left(channel));
            if let Some(group) = self.session.address(channel) {
                self.access.leave(channel, group);
                if self.access.is_native() {
                    self.leaves.left(channel, &self.interface, group, self.session.source);
                }
            }
        }
        self.packet_loss.forget(channel);
    }

    fn trace(&mut self, note: TraceEvent) {
        tracing::debug!(?note, "receiver");
        self.note(ReceiverNote::Trace(note));
        match note {
            TraceEvent::LevelChanged { to, cause, .. } => {
                self.counters.level_changes += 1;
                self.last_change = Some((to, cause));
            }
            TraceEvent::LossEvent { .. } => self.counters.loss_events += 1,
            TraceEvent::SessionEnded => self.ended = true,
            _ => {}
        }
    }
}
