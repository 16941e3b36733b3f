//! A source on a socket.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use layercast_core::Always as _;
use layercast_core::contract::{Ecn, Estimates};
use layercast_core::family::AnyProtocol;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_core::wire::MAX_REPORT;
use layercast_delivery::accept::Incoming;
use layercast_delivery::node::{Content, Packet, Source};
use layercast_delivery::security::feedback::TAG_BYTES;
use layercast_delivery::session::Session;
use layercast_protocols::registry::Protocol;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::clock::until;
use super::outbox::Outbox;
use super::socket::{PacketSocket, open_source, set_ecn};
use super::unicast_path::SecondPath;
use super::{Clock, Inbox, Interface, UnicastPath};
use crate::error::Error;

/// How long a due packet waits for others of the same wake-up. Encoding a repair symbol takes tens of
/// microseconds, so without a limit the first of a large batch would be late.
const LONGEST_DELAY: Duration = Duration::from_us(200);
/// How long a source that has sent packets tries on when the network takes none.
pub const OUTAGE_MAX: Duration = Duration::from_secs(60);
/// The most messages of a second path's receivers that are read at once.
const HEARD_MAX: usize = 1024;
/// The longest message of a receiver that is read.
const FEEDBACK_MAX: usize = 2 * MAX_REPORT + TAG_BYTES;

/// The host of a source: its socket, and the packets that are due.
#[derive(Debug)]
pub struct SourceHost<P: AnyProtocol = Protocol> {
    /// The source.
    pub node: Source<P::Family>,
    socket: PacketSocket,
    clock: Clock,
    outbox: Outbox,
    /// When the first packet in the outbox was written.
    since: Time,
    inbox: Inbox,
    /// The second path of all packets, if there is one.
    second_path: Option<SecondPath>,
    /// Messages of a second path's receivers that are not taken yet: from where, and how many bytes.
    heard: Vec<(SocketAddr, [u8; FEEDBACK_MAX], usize)>,
    /// Whether routers may mark packets.
    ecn: Ecn,
    /// Since when the network takes no packets, and the system's reason.
    outage: Option<(Time, io::Error)>,
    /// What ends the session.
    failure: Option<Error>,
    /// System calls that sent packets.
    send_calls: u64,
}

impl<P: AnyProtocol> SourceHost<P> {
    /// Opens the socket and creates the source. `session` gets the number that the source drew, and the
    /// port for feedback: the requested one, or with 0 the one that the system assigned.
    ///
    /// # Errors
    /// If the description is invalid, or the system's error.
    pub fn new(
        interface: &Interface,
        protocol: &P,
        mut session: Session,
        feedback_port: u16,
        ttl: u8,
        seed: u64,
    ) -> Result<SourceHost<P>, Error> {
        let socket = open_source(interface, session.group, feedback_port, ttl)?;
        if let Ok(address) = socket.as_udp().local_addr() {
            session.feedback.set_port(address.port());
        }
        let node = Source::new(protocol, session, Stream::new(seed, "source"))?;
        Ok(SourceHost {
            outbox: Outbox::new(node.room()),
            node,
            socket,
            clock: Clock::default(),
            since: Time::ZERO,
            inbox: Inbox::new(FEEDBACK_MAX),
            second_path: None,
            heard: Vec::new(),
            ecn: Ecn::Capable,
            outage: None,
            failure: None,
            send_calls: 0,
        })
    }

    /// The session description, complete.
    pub fn session(&self) -> &Session {
        self.node.session()
    }

    /// The source's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// How many system calls have sent packets.
    pub fn send_calls(&self) -> u64 {
        self.send_calls
    }

    /// The source's estimates.
    pub fn estimates(&self) -> Estimates {
        self.node.estimates(self.clock.now())
    }

    /// The system's reason why the network takes no packets now, and since when.
    pub fn outage(&self) -> Option<(Time, &io::Error)> {
        self.outage.as_ref().map(|(since, error)| (*since, error))
    }

    /// Whether data may be marked by routers in place of being dropped (RFC 3168). It may from the start.
    ///
    /// # Errors
    /// The system's error.
    pub fn set_ecn(&mut self, ecn: bool) -> Result<(), Error> {
        self.ecn = if ecn { Ecn::Capable } else { Ecn::NotCapable };
        if let Some(second) = &mut self.second_path {
            second.ecn = self.ecn;
        }
        set_ecn(self.socket.as_udp(), ecn)
            .map_err(|source| Error::socket("set the ECN field".to_owned(), self.session().group, source))
    }

    /// As [`Source::bound`].
    pub fn bound(&mut self, on_demand: bool) {
        self.node.bound(self.clock.now(), on_demand);
    }

    /// Sends all packets by a second path too, or by it alone. Called before the start.
    pub fn add_unicast_path(&mut self, path: Box<dyn UnicastPath>, only: bool) {
        self.second_path = Some(SecondPath { path, only, ecn: self.ecn });
    }

    /// Goes on from another address, since this host no longer has the old one. The session's description is another one then.
    ///
    /// # Errors
    /// The system's error.
    pub fn move_to(&mut self, interface: &Interface, ttl: u8) -> Result<(), Error> {
        let (group, port) = (self.session().group, self.session().feedback.port());
        // Somebody may have the port there.
        let socket =
            open_source(interface, group, port, ttl).or_else(|_| open_source(interface, group, 0, ttl))?;
        let port = socket.as_udp().local_addr().map_or(port, |address| address.port());
        self.node.moved(interface.address, port);
        (self.socket, self.outage) = (socket, None);
        if let Some(second) = &mut self.second_path {
            second.path.moved(interface.address);
        }
        self.set_ecn(self.ecn == Ecn::Capable)
    }

    /// Starts the session.
    ///
    /// # Errors
    /// What ends it at once.
    pub fn start(&mut self, content: &mut impl Content<Error = Error>) -> Result<(), Error> {
        let now = self.clock.now();
        self.node.start(now);
        self.node.handle_timer(now, content);
        self.send(now, content)
    }

    /// Ends the session: its last packets announce the end.
    ///
    /// # Errors
    /// If they could not be sent.
    pub fn stop(&mut self, content: &mut impl Content<Error = Error>) -> Result<(), Error> {
        let now = self.clock.now();
        self.node.stop(now);
        self.send(now, content)
    }

    /// Waits for feedback or the next deadline, not beyond `latest`, and processes them.
    ///
    /// # Errors
    /// What ends the session.
    pub fn step(&mut self, latest: Time, content: &mut impl Content<Error = Error>) -> Result<(), Error> {
        let wake = self.node.deadline().map_or(latest, |deadline| deadline.min(latest));
        let own = &self.socket;
        let second = self.second_path.as_ref().map(|second| second.path.socket());
        let mut waits =
            [own, second.unwrap_or(own)].map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN));
        let count = 1 + usize::from(second.is_some());
        let waited = waits.get_mut(..count).always("there are two");
        // An interrupted wait is over: the caller checks whether to stop.
        let ready = ppoll(waited, Some(TimeSpec::from(until(self.clock.now(), wake))), None).unwrap_or(0);
        let has_errors = waits[0].revents().is_some_and(|events| events.contains(PollFlags::POLLERR));
        let [is_own, is_unicast] = waits.map(|wait| ready > 0 && wait.any().unwrap_or(false));
        if ready > 0 && has_errors {
            self.socket.drop_errors();
        }
        if is_own {
            self.receive_feedback(content)?;
        }
        self.serve_unicast_path(is_unicast, content)?;
        let now = self.clock.now();
        self.node.handle_timer(now, content);
        self.send(now, content)
    }

    fn receive_feedback(&mut self, content: &mut impl Content<Error = Error>) -> Result<(), Error> {
        self.inbox.clear();
        if let Err(error) = self.inbox.drain(&self.socket, None, &self.clock) {
            tracing::debug!(%error, "feedback could not be read");
        }
        for index in 0..self.inbox.len() {
            let Some((datagram, bytes)) = self.inbox.get(index) else { break };
            // The arrival times are before now; the source uses its own clock.
            let now = self.clock.now();
            self.node.handle(now, datagram.incoming(), datagram.ecn, bytes);
            self.send(now, content)?;
        }
        Ok(())
    }

    /// Reads what the receivers say by a second path.
    fn serve_unicast_path(
        &mut self,
        is_ready: bool,
        content: &mut impl Content<Error = Error>,
    ) -> Result<(), Error> {
        let Some(SecondPath { path, .. }) = &mut self.second_path else { return Ok(()) };
        path.poll();
        if !is_ready {
            return Ok(());
        }
        // What they say may have packets sent, for which the path must be here.
        let mut heard = std::mem::take(&mut self.heard);
        path.read(&mut |from, message| {
            let mut bytes = [0; FEEDBACK_MAX];
            if let Some(place) = bytes.get_mut(..message.len()).filter(|_| heard.len() < HEARD_MAX) {
                place.copy_from_slice(message);
                heard.push((from, bytes, message.len()));
            }
        });
        let mut taken = Ok(());
        for (from, bytes, length) in heard.drain(..) {
            let bytes = bytes.get(..length).always("a message fits its room");
            let incoming = Incoming { from, channel: None, is_cut: false };
            let now = self.clock.now();
            self.node.handle(now, incoming, Ecn::NotCapable, bytes);
            taken = taken.and_then(|()| self.send(now, content));
        }
        self.heard = heard;
        taken
    }

    /// Sends all packets that the source has since the input at `now`.
    fn send(&mut self, mut now: Time, content: &mut impl Content<Error = Error>) -> Result<(), Error> {
        loop {
            if self.outbox.is_full() || (!self.outbox.is_empty() && now.since(self.since) > LONGEST_DELAY) {
                self.flush(now);
            }
            match self.node.poll(now, self.outbox.room(), content) {
                Ok(Some(Packet { channel: Some(channel), to, place })) => {
                    if self.outbox.is_empty() {
                        self.since = now;
                    }
                    self.outbox.add(channel, to, place.start, place.len());
                    // To write a packet may take long.
                    now = self.clock.now();
                }
                Ok(Some(Packet { channel: None, to, place })) => self.answer(to, place),
                // What was refused is an input, which may have packets sent.
                Ok(None) if !self.outbox.is_empty() => self.flush(now),
                Ok(None) => break,
                Err(error) => self.failure = Some(error),
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
        }
        Ok(())
    }

    fn answer(&mut self, to: SocketAddr, place: std::ops::Range<usize>) {
        let bytes = self.outbox.room().get(place).always("it was written there");
        if let Err(error) = self.socket.as_udp().send_to(bytes, to) {
            tracing::debug!(%error, %to, "an answer to a receiver was not sent");
        }
    }

    /// Sends the batch.
    fn flush(&mut self, now: Time) {
        let (node, failure, outage) = (&mut self.node, &mut self.failure, &mut self.outage);
        let mut report = |channel: Channel, to: SocketAddr, sent: io::Result<usize>| match sent {
            Ok(length) => {
                node.sent(length);
                *outage = None;
            }
            // A network that never took a packet is a mistake, not an outage.
            Err(error) if is_outage(&error) && node.counters().packets > 0 => {
                node.refused(now, channel, false);
                let since = outage.as_ref().map_or(now, |(since, _)| *since);
                if now.since(since) >= OUTAGE_MAX {
                    let after = std::time::Duration::from(now.since(since));
                    let reason = error.to_string();
                    failure.get_or_insert_with(|| Error::UplinkDown { group: to, after, reason });
                }
                *outage = Some((since, error));
            }
            Err(error) if is_passing(&error) => node.refused(now, channel, true),
            Err(error) => {
                _ = failure.get_or_insert_with(|| Error::socket(format!("send to {to}"), to, error))
            }
        };
        self.send_calls += self.outbox.flush(self.socket.as_udp(), self.second_path.as_mut(), &mut report);
    }
}

/// Whether the error is transient: no buffer space.
fn is_passing(error: &io::Error) -> bool {
    use nix::libc::{ECONNREFUSED, ENOBUFS};
    error.kind() == io::ErrorKind::WouldBlock
        || error.kind() == io::ErrorKind::Interrupted
        || matches!(error.raw_os_error(), Some(ENOBUFS | ECONNREFUSED))
}

/// Whether the error may pass when somebody repairs the network: a link that is down, or no route.
fn is_outage(error: &io::Error) -> bool {
    use nix::libc::{EHOSTUNREACH, ENETDOWN, ENETUNREACH};
    matches!(error.raw_os_error(), Some(ENETDOWN | ENETUNREACH | EHOSTUNREACH))
}
