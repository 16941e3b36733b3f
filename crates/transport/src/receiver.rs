//! A receiver on sockets.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use layercast_core::Always as _;
use layercast_core::contract::JoinError;
use layercast_core::family::Family;
use layercast_core::units::{Channel, Time};
use layercast_delivery::node::{
    self, Datagrams, Failure, Feedback, Message, Output, Path, Paths, ReceiveError, Receiver,
    ReceiverSettings, Sink,
};
use layercast_delivery::packet::REFUSAL_BYTES;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::feedback::TAG_BYTES;
use layercast_delivery::session::PACKET_BYTES;
use layercast_protocols::registry::Registry;

use crate::active::NodeSocket;
use crate::amt::{AmtRelay, AmtTunnel};
use crate::error::Error;
use crate::host::{
    Access, Clock, Groups, Inbox, Interface, Leaves, PacketSocket, ReceiverCounters, open_group,
    open_reports, reaching, unspecified, until,
};
use crate::listening::Announcements;
use crate::notice::Notice;
use crate::relay::{FeedbackPath, RelayTunnel};

/// How often announcements are read.
const LISTEN_EVERY: std::time::Duration = std::time::Duration::from_millis(200);

/// Which relays a receiver uses.
#[derive(Clone, Debug, Default)]
pub struct RelayUse {
    /// In this order.
    pub relays: Vec<SocketAddr>,
    /// An AMT relay (RFC 7450), which is used in their place.
    pub amt: Option<AmtRelay>,
    /// By which path messages to the source go while packets come through a relay.
    pub feedback: FeedbackPath,
    /// Whether multicast is not even tried.
    pub only: bool,
}

impl RelayUse {
    /// Whether there is none, so that packets come by multicast alone.
    pub fn is_empty(&self) -> bool {
        self.relays.is_empty() && self.amt.is_none()
    }

    /// Adds relays, such as those that a description names, after those that are there.
    pub fn then(&mut self, relays: &[SocketAddr]) {
        for relay in relays {
            if !self.relays.contains(relay) {
                self.relays.push(*relay);
            }
        }
    }
}

/// How packets can come to a host.
#[derive(Clone, Debug, Default)]
pub struct HostPaths {
    /// The interface by name or address; by the route to the group if none.
    pub interface: Option<String>,
    /// The relays that are asked where no multicast comes.
    pub relays: RelayUse,
    /// Whether groups are joined for any source, also where that of the session is known.
    pub any_source: bool,
    /// Whether relays that a later announcement of the session names are used too.
    pub takes_relays: bool,
}

impl HostPaths {
    /// By multicast on an interface.
    pub fn of(interface: &Interface) -> HostPaths {
        HostPaths { interface: Some(interface.address.to_string()), ..HostPaths::default() }
    }

    /// Those that there are. If there is no interface for multicast, relays are left.
    pub fn paths(&self, group: SocketAddr) -> Paths {
        if self.relays.is_empty() {
            return Paths::Multicast;
        }
        let native = (!self.relays.only).then(|| Interface::find(self.interface.as_deref(), group));
        match native {
            Some(Ok(_)) => Paths::Both,
            Some(Err(error)) => {
                tracing::debug!(%error, "multicast is not tried");
                Paths::Relay
            }
            None => Paths::Relay,
        }
    }
}

/// The host of a receiver: how its packets come, and its sockets.
#[derive(Debug)]
pub struct ReceiverHost<S: Sink, F: Family = Registry> {
    /// The receiver.
    pub node: Receiver<F, S>,
    paths: HostPaths,
    /// None if multicast is not tried.
    interface: Option<Interface>,
    /// None before a path is opened.
    access: Option<Access>,
    reports: Option<UdpSocket>,
    probe: Option<(PacketSocket, Inbox)>,
    /// While announcements are listened to.
    announcements: Option<Announcements>,
    leaves: Leaves,
    warned_of_leaves: bool,
    warned_of_uplink: bool,
    clock: Clock,
    inbox: Inbox,
    counters: ReceiverCounters,
}

/// What a receiver says that is not for the network.
pub type Event<S> = Output<<S as Sink>::Error>;

impl Datagrams for Inbox {
    fn count(&self) -> usize {
        self.len()
    }

    fn get_mut(&mut self, number: usize) -> Option<(node::Datagram, &mut [u8])> {
        let (datagram, bytes) = Inbox::get_mut(self, number)?;
        Some((node::Datagram { at: datagram.at, incoming: datagram.incoming(), ecn: datagram.ecn }, bytes))
    }

    fn bytes(&self, number: usize) -> Option<&[u8]> {
        self.get(number).map(|(_, bytes)| bytes)
    }
}

impl<S: Sink, F: Family> ReceiverHost<S, F> {
    /// A host whose receiver starts at [`ReceiverHost::start`].
    pub fn new(settings: ReceiverSettings, paths: HostPaths, sink: S) -> ReceiverHost<S, F> {
        let clock = Clock::default();
        ReceiverHost {
            node: Receiver::new(settings, sink),
            paths,
            interface: None,
            access: None,
            reports: None,
            probe: None,
            announcements: None,
            leaves: Leaves::new(clock),
            warned_of_leaves: false,
            warned_of_uplink: false,
            clock,
            inbox: Inbox::new(*PACKET_BYTES.end() as usize),
            counters: ReceiverCounters::default(),
        }
    }

    /// The receiver's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The time since it was made.
    pub fn elapsed(&self) -> std::time::Duration {
        self.clock.now().since(Time::ZERO).into()
    }

    /// The counters.
    pub fn counters(&self) -> ReceiverCounters {
        ReceiverCounters { node: self.node.counters(), leaves: self.leaves.counters(), ..self.counters }
    }

    /// Starts: searches the session.
    ///
    /// # Errors
    /// As [`ReceiverHost::step`].
    pub fn start(&mut self, on: &mut dyn FnMut(&mut Self, Event<S>)) -> Result<bool, Error> {
        self.node.start(self.clock.now());
        self.carry_out(on)
    }

    /// Ends: leaves all channels.
    ///
    /// # Errors
    /// As [`ReceiverHost::step`].
    pub fn stop(&mut self, on: &mut dyn FnMut(&mut Self, Event<S>)) -> Result<bool, Error> {
        self.node.stop(self.clock.now());
        self.carry_out(on)
    }

    /// Waits for packets or the next deadline, not beyond `latest`, and processes them. `on` gets what is not for the network.
    /// Whether the receiver is over.
    ///
    /// # Errors
    /// What ends the reception, unless it is a service and the error may pass.
    pub fn step(&mut self, latest: Time, on: &mut dyn FnMut(&mut Self, Event<S>)) -> Result<bool, Error> {
        let wake = self.node.deadline().map_or(latest, |deadline| deadline.min(latest));
        let timeout = until(self.clock.now(), wake);
        let timeout = if self.announcements.is_some() { timeout.min(LISTEN_EVERY) } else { timeout };
        match &mut self.access {
            Some(access) => {
                self.counters.read_calls += access.wait(&mut self.inbox, &self.clock, timeout);
                self.node.set_carried(access.has_carried());
            }
            None => std::thread::sleep(timeout),
        }
        self.inbox.sort();
        self.node.handle(&mut self.inbox);
        self.inbox.clear();
        self.read_replies();
        self.read_probe();
        self.read_announcements();
        self.node.handle_timer(self.clock.now());
        while let Some(notice) = self.access.as_mut().and_then(Access::take_notice) {
            on(self, Output::Notice(notice));
        }
        let is_over = self.carry_out(on)?;
        self.leaves.poll();
        if !self.warned_of_leaves && self.leaves.counters().endless > 0 {
            self.warned_of_leaves = true;
            on(self, Output::Notice(Notice::LeavesWithoutEffect));
        }
        Ok(is_over)
    }

    /// Reads what the source replies to reports, where its protocol serves only so many receivers.
    fn read_replies(&mut self) {
        let Some(reports) = self.reports.as_ref().filter(|_| self.node.expects_replies()) else { return };
        let mut bytes = [0; REFUSAL_BYTES + TAG_BYTES];
        // The socket does not block.
        while let Ok((length, from)) = reports.recv_from(&mut bytes) {
            let datagram = bytes.get(..length).always("a socket fills no more than the room");
            self.node.handle_reply(self.clock.now(), from, datagram);
        }
    }

    fn read_probe(&mut self) {
        let Some((socket, inbox)) = &mut self.probe else { return };
        inbox.clear();
        // What else the socket has is read the next time; the kernel drops what is too much.
        if inbox.drain(socket, Some(Channel(0)), &self.clock).is_ok() {
            for index in 0..inbox.len() {
                let Some((datagram, bytes)) = inbox.get(index) else { break };
                self.node.handle_probe(self.clock.now(), datagram.from.ip(), bytes);
            }
        }
    }

    fn read_announcements(&mut self) {
        let Some(announcements) = &mut self.announcements else { return };
        let (node, clock) = (&mut self.node, &self.clock);
        let read = announcements.read(clock, &mut |from, bytes| {
            node.handle_announcement(clock.now(), from, bytes);
        });
        if let Err(error) = read {
            tracing::debug!(%error, "announcements are not read");
        }
    }

    fn listen(&mut self) {
        match Announcements::open(self.paths.interface.as_deref()) {
            Ok(announcements) => self.announcements = Some(announcements),
            Err(error) => tracing::warn!(%error, "no announcements are received"),
        }
    }

    /// Does all that the receiver wants. Whether it is over.
    fn carry_out(&mut self, on: &mut dyn FnMut(&mut Self, Event<S>)) -> Result<bool, Error> {
        let mut failure = None;
        while let Some(output) = self.node.poll() {
            let done = match output {
                Output::Open(path) => self.open(path, on),
                Output::Probe(begins) => {
                    self.set_probe(begins);
                    Ok(())
                }
                Output::Listen(begins) => {
                    self.announcements = None;
                    if begins {
                        self.listen();
                    }
                    Ok(())
                }
                Output::Relocated(place) => {
                    if self.paths.takes_relays && !place.relays.is_empty() {
                        self.paths.relays.then(&place.relays);
                        self.node.set_paths(self.paths.paths(place.known.group()));
                    }
                    Ok(())
                }
                Output::Join(channel, group) => self.join(channel, group),
                Output::Leave(channel, group) => {
                    self.leave(channel, group);
                    Ok(())
                }
                Output::Send(kind, message, to) => {
                    self.send(kind, &message, to);
                    Ok(())
                }
                Output::Unicast { to, ecn, bytes } => {
                    self.access.iter_mut().for_each(|access| access.send_unicast(to, ecn, &bytes));
                    Ok(())
                }
                Output::Ended(Err(failure)) => {
                    let failure = self.explained(failure);
                    on(self, Output::Ended(Err(failure)));
                    Ok(())
                }
                other => {
                    on(self, other);
                    Ok(())
                }
            };
            if let Err(error) = done
                && !self.node.host_failed(self.clock.now(), error.to_string(), error.may_pass())
            {
                failure = Some(error);
            }
        }
        failure.map_or_else(|| Ok(self.node.is_over()), Err)
    }

    /// Silence with its cause, where it has one on this host.
    fn explained(&self, failure: Failure<S::Error>) -> Failure<S::Error> {
        let trouble = self.interface.as_ref().and_then(|interface| Interface::trouble(&interface.name));
        match (failure, trouble) {
            (Failure::Session(ReceiveError::Silent { group, waited, .. }), Some((what, remedy))) => {
                let reasons = format!("{what}: {remedy}");
                Failure::Session(ReceiveError::Silent { group, waited, reasons })
            }
            (failure, _) => failure,
        }
    }

    /// Opens a path. An interface that is down is waited for, and `on` gets that.
    fn open(&mut self, path: Path, on: &mut dyn FnMut(&mut Self, Event<S>)) -> Result<(), Error> {
        let settings = self.node.settings();
        let (group, source) = (settings.known.group(), settings.known.source());
        // One may not have it, and the sockets of the other are closed only when packets come by this one.
        let access = match path {
            Path::Parents => {
                let parents = self.node.settings().parents.iter();
                let any = reaching(parents.flat_map(|parents| &parents.addresses));
                self.access = Some(Access::Tunnel(Box::new(NodeSocket::open(any)?)));
                return Ok(());
            }
            Path::Multicast => {
                let interface = Interface::find(self.paths.interface.as_deref(), group)?;
                if let Some((what, remedy)) = Interface::trouble(&interface.name)
                    && !std::mem::replace(&mut self.warned_of_uplink, true)
                {
                    let reason = format!("{what}: {remedy}");
                    let settings = self.node.settings();
                    let patience = std::time::Duration::from(settings.start_within);
                    let patience = (!settings.keep_going).then_some(patience);
                    on(self, Output::Notice(Notice::UplinkDown { reason, patience }));
                }
                self.interface = Some(interface.clone());
                Access::Native(Groups::new(interface, source.filter(|_| !self.paths.any_source)))
            }
            Path::Relay(within) => {
                let relays = &self.paths.relays;
                match relays.amt {
                    Some(relay) => Access::Tunnel(Box::new(AmtTunnel::open(relay, group, source)?)),
                    None => {
                        let source = source.filter(|_| !self.paths.any_source);
                        let key = SessionKey { group, source };
                        let tunnel = RelayTunnel::open(key, &relays.relays, within, relays.feedback)?;
                        Access::Tunnel(Box::new(tunnel))
                    }
                }
            }
        };
        let any = || Interface { name: "any".to_owned(), index: 0, address: unspecified(group) };
        self.reports = Some(open_reports(&self.interface.clone().unwrap_or_else(any), group)?);
        self.access = Some(access);
        Ok(())
    }

    fn set_probe(&mut self, begins: bool) {
        self.probe = None;
        if let Some(interface) = self.interface.as_ref().filter(|_| begins) {
            let known = &self.node.settings().known;
            match open_group(interface, known.group(), known.source()) {
                Ok(socket) => self.probe = Some((socket, Inbox::new(*PACKET_BYTES.end() as usize))),
                Err(_) => self.node.probe_failed(),
            }
        }
    }

    fn join(&mut self, channel: Channel, group: SocketAddr) -> Result<(), Error> {
        let Some(access) = &mut self.access else { return Ok(()) };
        let Err(error) = access.join(channel, group) else {
            self.leaves.joined(channel);
            return Ok(());
        };
        // Without the base layer there is no session.
        if channel == Channel(0) {
            return Err(error);
        }
        tracing::warn!("a group could not be joined, so this layer is left out: {error}");
        let limits = [nix::libc::ENOBUFS, nix::libc::EMFILE, nix::libc::ENFILE];
        let is_limit = matches!(&error, Error::Socket { source, .. }
            if source.raw_os_error().is_some_and(|error| limits.contains(&error)));
        self.node.join_failed(channel, if is_limit { JoinError::Limit } else { JoinError::Refused });
        Ok(())
    }

    fn leave(&mut self, channel: Channel, group: SocketAddr) {
        let Some(access) = &mut self.access else { return };
        access.leave(channel, group);
        if let (true, Some(interface), Some(session)) =
            (access.is_native(), &self.interface, self.node.session())
        {
            self.leaves.left(channel, interface, group, session.session().source);
        }
    }

    /// Sends a message if that is possible.
    fn send(&mut self, kind: Message, message: &Feedback, to: SocketAddr) {
        let sent = self.try_send(message, to);
        if let Err(error) = &sent {
            tracing::debug!(%error, %to, "a message was not sent");
        }
        match kind {
            Message::Report if sent.is_ok() => self.counters.reports += 1,
            Message::Report => self.counters.unsent_reports += 1,
            Message::Completion if sent.is_ok() => {
                let is_first = self.access.as_ref().is_some_and(Access::note_completion);
                self.node.completion_sent(is_first);
            }
            Message::Completion | Message::Other => {}
        }
    }

    fn try_send(&self, message: &Feedback, to: SocketAddr) -> io::Result<()> {
        let through = self.access.as_ref().and_then(|access| access.send_feedback(message.bytes(), to));
        match (through, &self.reports) {
            (Some(sent), _) => sent,
            (None, Some(reports)) => reports.send_to(message.bytes(), to).map(|_| ()),
            (None, None) => Ok(()),
        }
    }
}
