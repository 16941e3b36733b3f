//! What serves children: a socket, the machine of a relay, and the copies of packets.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use layercast_core::Always as _;
use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Rate, Time};
use layercast_delivery::node::{Above, Relay, RelayOutput, RelaySettings};
use layercast_delivery::relay::message::{Alternatives, DATA_HEAD_MAX, MESSAGE_MAX};
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::{Allowed, SessionKey};

use super::fan_out::FanOut;
use super::link::Link;
use super::status::cpu_s;
use super::tunnel::for_socket;
use crate::error::Error;
use crate::event::RelayStatus;
use crate::host::{Clock, Inbox, PacketSocket, RUN_BYTES, RUN_PACKETS, Unwrapped, open_unicast};
use crate::random_secret;

/// The most packets of children that are looked at before data is forwarded again.
const READS: usize = 4;

/// How children are served.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where hellos are awaited.
    pub listen: SocketAddr,
    /// The sessions that are served.
    pub allowed: Allowed,
    /// Relays that are named to children that are refused.
    pub alternatives: Alternatives,
    /// What it does at most.
    pub limits: Limits,
    /// The highest rate of all that is sent to children.
    pub highest: Option<Rate>,
}

impl ServeOptions {
    /// Serves one session to so many children.
    pub fn of_session(listen: SocketAddr, session: SessionKey, children: usize) -> ServeOptions {
        ServeOptions {
            listen,
            allowed: Allowed { sessions: vec![session], prefixes: Vec::new() },
            alternatives: Alternatives::default(),
            limits: Limits { children, per_address: children, ..Limits::default() },
            highest: None,
        }
    }
}

/// Serves children. What the machine wants beyond their socket goes to the host.
#[derive(Debug)]
pub(super) struct Server {
    socket: PacketSocket,
    is_v6: bool,
    node: Relay,
    fan_out: FanOut,
    inbox: Inbox,
    clock: Clock,
}

impl Server {
    /// Opens the socket.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn open(options: &ServeOptions, above: Above) -> Result<Server, Error> {
        let ServeOptions { listen, ref allowed, alternatives, limits, highest } = *options;
        let socket = open_unicast(listen)?;
        let (clock, allowed) = (Clock::default(), allowed.clone());
        let settings = RelaySettings { allowed, alternatives, limits, highest, above };
        Ok(Server {
            socket,
            is_v6: listen.is_ipv6(),
            node: Relay::new(settings, clock.now(), random_secret()?),
            fan_out: FanOut::new(listen.is_ipv6()),
            inbox: Inbox::new(MESSAGE_MAX),
            clock,
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn address(&self) -> std::io::Result<SocketAddr> {
        self.socket.as_udp().local_addr()
    }

    /// The socket of children.
    pub(super) fn socket(&self) -> &PacketSocket {
        &self.socket
    }

    /// Its clock.
    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// The sessions that some child wants, each with its place.
    pub(super) fn sessions(&self) -> impl Iterator<Item = (usize, SessionKey)> {
        self.node.sessions()
    }

    /// Reads what children say, and answers.
    pub(super) fn read(&mut self, host: &mut dyn FnMut(RelayOutput)) {
        for _ in 0..READS {
            self.inbox.clear();
            if let Err(error) = self.inbox.drain(&self.socket, None, &self.clock) {
                tracing::debug!(%error, "messages of children could not be read");
            }
            if self.inbox.is_empty() {
                return;
            }
            let now = self.clock.now();
            for index in 0..self.inbox.len() {
                let Some((datagram, bytes)) = self.inbox.get(index) else { break };
                self.node.handle(now, datagram.from, bytes);
                self.carry_out(host);
            }
        }
    }

    /// Takes what came from the relay above a session: packets of data lose what is before them, and everything else is taken
    /// out.
    pub(super) fn unwrap(&mut self, session: usize, inbox: &mut Inbox) {
        let now = self.clock.now();
        inbox.unwrap(|datagram, bytes| {
            let (data, length) = self.node.handle_above(now, session, datagram.from, bytes)?;
            let from = SocketAddr::new(data.source, 0);
            Some(Unwrapped { channel: data.channel, from, bytes: length..bytes.len(), ecn: None })
        });
    }

    /// Sends on by multicast on a link, too.
    pub(super) fn set_link(&mut self, link: Link) {
        self.fan_out.link = Some(link);
    }

    /// When there is something to do; what is due on the link is not known here.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.node.deadline()
    }

    /// Does what is due, and reads what hosts of the link report.
    pub(super) fn poll(&mut self, host: &mut dyn FnMut(RelayOutput)) {
        let now = self.clock.now();
        let held = self.fan_out.link.as_mut().and_then(|link| link.work(now));
        for (key, held) in held.unwrap_or_default() {
            self.node.hold_link(now, key, held);
        }
        self.node.handle_timer(now);
        self.carry_out(host);
    }

    /// Sends packets of one channel of a source to all children that hold it. They may have any lengths.
    pub(super) fn forward<'p>(
        &mut self,
        session: usize,
        channel: Channel,
        source: SocketAddr,
        packets: impl IntoIterator<Item = &'p [u8]>,
        ecn: Ecn,
    ) {
        let mut packets = packets.into_iter().peekable();
        while packets.peek().is_some()
            && let Some(copies) = self.node.copies(session, channel, source)
        {
            // Packets of one length, the last one shorter perhaps, of which the kernel cuts a run.
            let (mut count, mut bytes, mut length, mut is_over) = (0, 0, 0, false);
            let run: [IoSlice<'_>; RUN_PACKETS] = std::array::from_fn(|index| {
                let fits = |next: &&[u8]| {
                    let most = RUN_BYTES - RUN_PACKETS * DATA_HEAD_MAX;
                    index == 0 || (!is_over && next.len() <= length && bytes + next.len() <= most)
                };
                let Some(next) = packets.next_if(fits) else {
                    is_over = true;
                    return IoSlice::new(&[]);
                };
                if index == 0 {
                    length = next.len();
                }
                is_over |= next.len() < length;
                count += 1;
                bytes += next.len();
                IoSlice::new(next)
            });
            let run = run.get(..count).always("a run has a limit");
            let now = self.clock.now();
            self.fan_out.send(now, self.socket.as_udp(), &mut self.node, copies, run, ecn);
        }
    }

    /// Ends: children are to go elsewhere.
    pub(super) fn close(&mut self, host: &mut dyn FnMut(RelayOutput)) {
        self.node.close();
        self.carry_out(host);
    }

    fn carry_out(&mut self, host: &mut dyn FnMut(RelayOutput)) {
        while let Some(output) = self.node.poll() {
            let RelayOutput::ToChild(to, message) = output else {
                host(output);
                continue;
            };
            let sent = self.socket.as_udp().send_to(message.bytes(), for_socket(to, self.is_v6));
            if let Err(error) = sent {
                tracing::debug!(%error, %to, "an answer was not sent");
            }
        }
    }

    /// What it does now.
    pub(super) fn status(&self) -> RelayStatus {
        let link = self.fan_out.link.as_ref().map(Link::status);
        let (node, send_calls) = (self.node.state(self.clock.now()), self.fan_out.calls());
        RelayStatus { listen: self.address().ok(), node, send_calls, cpu_s: cpu_s(), link, router: None }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close(&mut |_| {});
    }
}

impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests;
