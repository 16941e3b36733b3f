//! A receiver on sockets.

use std::io;
use std::net::{IpAddr, UdpSocket};

use layercast_core::Always as _;
use layercast_core::contract::JoinError;
use layercast_core::family::AnyProtocol as _;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::accept::Accepted;
use layercast_delivery::node::{Feedback, Output, Reached, Receiver, RecentPackets};
use layercast_delivery::packet::{Completion, REFUSAL_BYTES};
use layercast_delivery::part::Part;
use layercast_delivery::security::feedback::TAG_BYTES;
use layercast_delivery::session::Session;
use layercast_protocols::registry::{Protocol, Registry};

use super::access::{Access, Groups};
use super::clock::until;
use super::leaves::Leaves;
use super::socket::open_reports;
use super::{Clock, Inbox, Interface, ReceiverCounters};
use crate::error::Error;
use crate::notice::Notice;

/// The host of a receiver: how its packets come, and its sockets.
#[derive(Debug)]
pub struct ReceiverHost {
    /// The receiver.
    pub node: Receiver<Registry>,
    interface: Interface,
    access: Access,
    reports: UdpSocket,
    leaves: Leaves,
    /// The base layer could not be joined: without it there is no session.
    failure: Option<Error>,
    /// How many receivers the protocol serves, if not any number.
    most: Option<usize>,
    clock: Clock,
    inbox: Inbox,
    /// The packets of the last step that passed all checks: their place in the inbox, their fields, and the length of their
    /// payload.
    accepted: Vec<(usize, Part, usize)>,
    counters: ReceiverCounters,
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
        let clock = Clock::default();
        Ok(ReceiverHost {
            reports: open_reports(&interface, session.group)?,
            interface,
            access,
            leaves: Leaves::new(clock),
            failure: None,
            most: protocol.requirements().most_receivers(),
            clock,
            inbox: Inbox::new(session.packet.as_bytes() as usize),
            accepted: Vec::with_capacity(Inbox::MOST),
            node: Receiver::new(protocol, session, seed),
            counters: ReceiverCounters::default(),
        })
    }

    /// Lets the packets of all channels come by another access from now on: the endpoint notices nothing but what is lost
    /// meanwhile.
    pub fn move_to(&mut self, mut access: Access) {
        let held: Vec<Channel> = self.node.held().collect();
        for channel in held {
            let Some(group) = self.session().address(channel) else { continue };
            if let Err(error) = access.join(channel, group) {
                tracing::warn!("a group could not be joined, so this layer is left out: {error}");
                self.node.lost(channel, JoinError::Refused);
            }
        }
        self.access = access;
    }

    /// How packets come.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Something that the operator should know of the access, once.
    pub fn take_access_notice(&mut self) -> Option<Notice> {
        self.access.take_notice()
    }

    /// The session description.
    pub fn session(&self) -> &Session {
        self.node.session()
    }

    /// The counters.
    pub fn counters(&self) -> ReceiverCounters {
        ReceiverCounters { node: *self.node.counters(), leaves: self.leaves.counters(), ..self.counters }
    }

    /// The receiver's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// As [`Receiver::recent_packets`].
    pub fn recent_packets(&self) -> Option<RecentPackets> {
        self.node.recent_packets(self.clock.now())
    }

    /// As [`Receiver::base_only_for`].
    pub fn base_only_for(&self) -> Duration {
        self.node.base_only_for(self.clock.now())
    }

    /// As [`Receiver::note_progress`].
    pub fn note_progress(&mut self, reached: &Reached) {
        self.node.note_progress(self.clock.now(), reached);
    }

    /// Starts: joins the base layer.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn start(&mut self) -> Result<(), Error> {
        self.node.start(self.clock.now());
        self.carry_out()
    }

    /// Leaves all channels.
    ///
    /// # Errors
    /// None of consequence.
    pub fn stop(&mut self) -> Result<(), Error> {
        self.node.stop(self.clock.now());
        self.carry_out()
    }

    /// As [`Receiver::set_rest`].
    ///
    /// # Errors
    /// If the base layer cannot be joined.
    pub fn set_rest(&mut self, rests: bool) -> Result<(), Error> {
        self.node.set_rest(self.clock.now(), rests);
        self.carry_out()
    }

    /// Sends a completion to the source; whether it is the first through the relay that serves this host now.
    ///
    /// # Errors
    /// The system's error.
    pub fn complete(&self, completion: Completion) -> Result<bool, Error> {
        let to = self.session().feedback;
        let sent = self.node.feedback(&completion.to_bytes()).ok_or(io::ErrorKind::InvalidInput.into());
        let sent = sent.and_then(|message| self.try_send(&message));
        sent.map_err(|source| Error::socket(format!("report to {to}"), to, source))?;
        Ok(self.access.note_completion())
    }

    /// Whether completions have gone further than to a relay that is gone, as far as is known.
    pub fn has_reported(&self) -> bool {
        self.access.has_carried()
    }

    /// Sends a message if that is possible, and says whether it was.
    fn send(&self, message: &Feedback) -> bool {
        let sent = self.try_send(message);
        if let Err(error) = &sent {
            tracing::debug!(%error, to = %self.session().feedback, "a message was not sent");
        }
        sent.is_ok()
    }

    fn try_send(&self, message: &Feedback) -> io::Result<()> {
        let to = self.session().feedback;
        match self.access.send_feedback(message.bytes(), to) {
            Some(sent) => sent,
            None => self.reports.send_to(message.bytes(), to).map(|_| ()),
        }
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
        let wake = self.node.deadline().map_or(latest, |deadline| deadline.min(latest));
        let timeout = until(self.clock.now(), wake);
        self.counters.read_calls += self.access.wait(&mut self.inbox, &self.clock, timeout);
        self.inbox.sort();
        self.accepted.clear();
        for index in 0..self.inbox.len() {
            let Some((datagram, bytes)) = self.inbox.get_mut(index) else { break };
            let (at, incoming) = (datagram.at, datagram.incoming());
            let Some(accepted) = self.node.handle(at, incoming, datagram.ecn, bytes) else { continue };
            self.accepted.push((index, Part::from(&accepted.repr), accepted.payload.len()));
            on_accepted(self.node.now(), &accepted)?;
            self.carry_out()?;
        }
        self.node.handle_timer(self.clock.now());
        self.carry_out()?;
        self.leaves.look();
        self.look_for_refusal()
    }

    /// Waits for so long, and drops what arrives: the tunnel stays open meanwhile, since a parent removes a child that is silent
    /// for a few seconds.
    pub fn rest(&mut self, length: Duration) {
        let end = self.clock.now() + length;
        self.accepted.clear();
        loop {
            let left = until(self.clock.now(), end);
            self.access.wait(&mut self.inbox, &self.clock, left);
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
        let mut bytes = [0; REFUSAL_BYTES + TAG_BYTES];
        // The socket does not block.
        while let Ok((length, from)) = self.reports.recv_from(&mut bytes) {
            let datagram = bytes.get(..length).always("a socket fills no more than the room");
            let session = self.session();
            if from == session.feedback && self.node.is_refusal(datagram) {
                return Err(Error::Full { protocol: session.protocol.clone(), most });
            }
        }
        Ok(())
    }

    /// Does all that the receiver wants.
    fn carry_out(&mut self) -> Result<(), Error> {
        while let Some(output) = self.node.poll() {
            match output {
                Output::Join(channel) => self.join(channel),
                Output::Leave(channel) => self.leave(channel),
                Output::Report(message) => match self.send(&message) {
                    true => self.counters.reports += 1,
                    false => self.counters.unsent_reports += 1,
                },
                Output::Send(message) => _ = self.send(&message),
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    fn join(&mut self, channel: Channel) {
        let Some(group) = self.session().address(channel) else { return };
        let Err(error) = self.access.join(channel, group) else { return self.leaves.joined(channel) };
        tracing::warn!("a group could not be joined, so this layer is left out: {error}");
        let limits = [nix::libc::ENOBUFS, nix::libc::EMFILE, nix::libc::ENFILE];
        let is_limit = matches!(&error, Error::Socket { source, .. }
            if source.raw_os_error().is_some_and(|error| limits.contains(&error)));
        self.node.join_failed(channel, if is_limit { JoinError::Limit } else { JoinError::Refused });
        if channel == Channel(0) {
            self.failure = Some(error);
        }
    }

    fn leave(&mut self, channel: Channel) {
        let Some(group) = self.session().address(channel) else { return };
        self.access.leave(channel, group);
        if self.access.is_native() {
            self.leaves.left(channel, &self.interface, group, self.node.session().source);
        }
    }
}
