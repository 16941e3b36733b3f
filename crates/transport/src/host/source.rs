//! A source on a socket.

use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;

use layercast_protocol::contract::{
    Arrival, Belief, Endpoint, Header as _, Host, Input, Note, Origin, Payload, Peer, Send, Target, settle,
};
use layercast_protocol::registry::{Header, MAX_FEEDBACK, Protocol, Source};
use layercast_protocol::stream::Stream;
use layercast_protocol::units::{Channel, Size, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::clock::until;
use super::socket::open_source;
use super::{Clock, Heard, Inbox, Interface};
use crate::error::Error;
use crate::packet::{Completion, Fdt, Fti, MAX_HEADER, Repr};
use crate::session::{IP_UDP_BYTES, Session};

/// The most completions that wait to be read.
const COMPLETIONS_MAX: usize = 1024;

/// What the application put into a packet.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Of which object (TOI).
    pub toi: u32,
    /// In which FEC encoding.
    pub codepoint: u8,
    /// If it is a part of the file delivery table.
    pub fdt: Option<Fdt>,
    /// FEC information for a receiver that has none.
    pub fti: Option<Fti>,
    /// How many bytes: FEC payload id and symbol.
    pub length: usize,
}

/// Where a source's payload comes from.
pub trait Supply {
    /// Puts the next payload for a channel into `room`.
    ///
    /// # Errors
    /// Why there is none; this ends the session.
    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<Load, Error>;
}

/// What a source's host counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounters {
    /// Packets sent.
    pub packets: u64,
    /// Their bytes with all headers.
    pub bytes: u64,
    /// Packets that the kernel had no room for.
    pub refused: u64,
    /// Reports taken.
    pub reports: u64,
    /// Completions taken, copies included.
    pub completions: u64,
    /// Feedback that made no sense or was of another session.
    pub bad_feedback: u64,
}

/// A source's socket, and what goes through it.
#[derive(Debug)]
struct Outlet {
    socket: UdpSocket,
    session: Session,
    clock: Clock,
    room: Vec<u8>,
    refused: Vec<Channel>,
    /// What ends the session.
    failure: Option<Error>,
    counters: SourceCounters,
}

/// Drives a source.
#[derive(Debug)]
pub struct SourceHost {
    outlet: Outlet,
    source: Source,
    inbox: Inbox,
    deadline: Option<Time>,
    completions: Vec<Completion>,
}

impl SourceHost {
    /// Opens the socket and makes the source. `session` gets the number that the source drew, and
    /// the port for feedback: the one asked for, or with 0 the one that the system gave.
    ///
    /// # Errors
    /// If the description cannot be held, or what the system says.
    pub fn new(
        interface: &Interface,
        protocol: &Protocol,
        mut session: Session,
        feedback_port: u16,
        ttl: u8,
        seed: u64,
    ) -> Result<SourceHost, Error> {
        let socket = open_source(interface, session.group, feedback_port, ttl)?;
        if let Ok(address) = socket.local_addr() {
            session.feedback.set_port(address.port());
        }
        session.check()?;
        let source = protocol.source(session.plan(), Stream::new(seed, "source"));
        session.tsi = source.session().unwrap_or(session.tsi);
        let outlet = Outlet {
            socket,
            room: vec![0; session.packet.as_bytes() as usize],
            session,
            clock: Clock::default(),
            refused: Vec::new(),
            failure: None,
            counters: SourceCounters::default(),
        };
        let inbox = Inbox::new(2 * MAX_FEEDBACK);
        Ok(SourceHost { outlet, source, inbox, deadline: None, completions: Vec::new() })
    }

    /// The session description, complete.
    pub fn session(&self) -> &Session {
        &self.outlet.session
    }

    /// The source's clock.
    pub fn clock(&self) -> Clock {
        self.outlet.clock
    }

    /// What was counted.
    pub fn counters(&self) -> &SourceCounters {
        &self.outlet.counters
    }

    /// What the source believes.
    pub fn belief(&self) -> Belief {
        self.source.belief(self.outlet.clock.now())
    }

    /// The completions that came since the last call; copies are among them.
    pub fn take_completions(&mut self) -> impl Iterator<Item = Completion> {
        self.completions.drain(..)
    }

    /// Begins the session.
    ///
    /// # Errors
    /// What ends it at once.
    pub fn start(&mut self, supply: &mut impl Supply) -> Result<(), Error> {
        self.tell(self.outlet.clock.now(), Input::Start, supply)
    }

    /// Ends the session: its last packets say so.
    ///
    /// # Errors
    /// If they could not be sent.
    pub fn stop(&mut self, supply: &mut impl Supply) -> Result<(), Error> {
        self.tell(self.outlet.clock.now(), Input::Stop, supply)
    }

    /// Waits for feedback or the next deadline, not beyond `latest`, and does what is due.
    ///
    /// # Errors
    /// What ends the session.
    pub fn step(&mut self, latest: Time, supply: &mut impl Supply) -> Result<(), Error> {
        let now = self.outlet.clock.now();
        let wake = self.deadline.map_or(latest, |deadline| deadline.min(latest));
        let mut waits = [PollFd::new(self.outlet.socket.as_fd(), PollFlags::POLLIN)];
        // An interrupted wait is over: the caller looks whether it should stop.
        let ready = ppoll(&mut waits, Some(TimeSpec::from(until(now, wake))), None).unwrap_or(0);
        if ready > 0 {
            self.hear(supply)?;
        }
        let now = self.outlet.clock.now();
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.tell(now, Input::Timer, supply)?;
        }
        Ok(())
    }

    fn hear(&mut self, supply: &mut impl Supply) -> Result<(), Error> {
        self.inbox.clear();
        if let Err(error) = self.inbox.drain(&self.outlet.socket, None, &self.outlet.clock) {
            tracing::warn!(%error, "feedback could not be read");
        }
        for index in 0..self.inbox.len() {
            let Some((heard, bytes)) = self.inbox.get(index) else { break };
            if Completion::is_one(bytes) {
                match Completion::from_bytes(bytes) {
                    Ok(completion) if completion.tsi == self.outlet.session.tsi => {
                        self.outlet.counters.completions += 1;
                        if self.completions.len() < COMPLETIONS_MAX {
                            self.completions.push(completion);
                        }
                    }
                    _ => self.outlet.counters.bad_feedback += 1,
                }
                continue;
            }
            let (header, length) = (Header::decode_feedback(bytes), bytes.len());
            match header {
                Ok(header) if !heard.cut => {
                    self.outlet.counters.reports += 1;
                    let arrival = arrival(heard, header, length);
                    // Draining gave arrival times before now; the source's own clock runs on.
                    self.tell(self.outlet.clock.now(), Input::Packet(arrival), supply)?;
                }
                _ => self.outlet.counters.bad_feedback += 1,
            }
        }
        Ok(())
    }

    /// One input, then what the kernel refused, as further inputs.
    fn tell(&mut self, now: Time, input: Input<Header>, supply: &mut impl Supply) -> Result<(), Error> {
        let mut host = SendingHost { outlet: &mut self.outlet, supply };
        self.deadline = settle(&mut self.source, now, input, &mut host);
        while let Some(channel) = self.outlet.refused.pop() {
            let mut host = SendingHost { outlet: &mut self.outlet, supply };
            self.deadline = settle(&mut self.source, now, Input::SendRefused(channel), &mut host);
        }
        self.outlet.failure.take().map_or(Ok(()), Err)
    }
}

fn arrival(heard: Heard, header: Header, length: usize) -> Arrival<Header> {
    // Peers are numbered by the host. No source answers one by unicast so far, so one number does.
    let origin = Origin::Peer(Peer(0));
    Arrival { origin, size: Size::from_bytes(length as u32 + IP_UDP_BYTES), ecn: heard.ecn, header }
}

/// What a source's host does for it.
struct SendingHost<'a, S> {
    outlet: &'a mut Outlet,
    supply: &'a mut S,
}

impl<S: Supply> Host<Header> for SendingHost<'_, S> {
    fn send(&mut self, send: Send<Header>) {
        let Target::Channel(channel) = send.target else { return };
        let Some(address) = self.outlet.session.address(channel) else { return };
        for index in 0..send.count {
            if self.outlet.failure.is_some() {
                return;
            }
            let header = if index == 0 { send.header } else { send.header.nth(index) };
            let sent = self.one(channel, address, header, send.payload);
            self.outlet.failure = sent.err();
        }
    }

    fn join(&mut self, _channel: Channel) {}

    fn leave(&mut self, _channel: Channel) {}

    fn note(&mut self, note: Note) {
        tracing::debug!(?note, "source");
    }
}

impl<S: Supply> SendingHost<'_, S> {
    fn one(
        &mut self,
        channel: Channel,
        to: SocketAddrV4,
        header: Header,
        payload: Payload,
    ) -> Result<(), Error> {
        let Some(pieces) = header.to_lct() else { return Ok(()) };
        let now = self.outlet.clock.now();
        let room = &mut self.outlet.room;
        // The payload goes behind the longest header, and then the header right before it.
        let Some((front, back)) = room.split_first_chunk_mut::<MAX_HEADER>() else { return Ok(()) };
        let load = match payload {
            Payload::Next => Some(self.supply.next(channel, now, back)?),
            Payload::None | Payload::Stored(_) => None,
        };
        let empty = Load { toi: 0, codepoint: 0, fdt: None, fti: None, length: 0 };
        let Load { toi, codepoint, fdt, fti, length } = load.unwrap_or(empty);
        let tsi = self.outlet.session.tsi;
        let repr = Repr { pieces, tsi, toi, close_object: false, codepoint, fdt, fti };
        let header_length = repr.write(front);
        let start = MAX_HEADER - header_length;
        front.copy_within(..header_length, start);
        let packet = room.get(start..MAX_HEADER + length).unwrap_or_default();
        let sent = self.outlet.socket.send_to(packet, to);
        self.note_sent(channel, to, sent)
    }

    fn note_sent(
        &mut self,
        channel: Channel,
        to: SocketAddrV4,
        sent: io::Result<usize>,
    ) -> Result<(), Error> {
        let counters = &mut self.outlet.counters;
        match sent {
            Ok(length) => {
                counters.packets += 1;
                counters.bytes += length as u64 + u64::from(IP_UDP_BYTES);
                Ok(())
            }
            Err(error) if is_passing(&error) => {
                counters.refused += 1;
                self.outlet.refused.push(channel);
                Ok(())
            }
            Err(error) => Err(Error::socket(format!("send to {to}"), to, error)),
        }
    }
}

/// Whether the kernel only lacked room, or the link was away for a moment.
fn is_passing(error: &io::Error) -> bool {
    use nix::libc::{ECONNREFUSED, ENETDOWN, ENOBUFS};
    error.kind() == io::ErrorKind::WouldBlock
        || error.kind() == io::ErrorKind::Interrupted
        || matches!(error.raw_os_error(), Some(ENOBUFS | ENETDOWN | ECONNREFUSED))
}
