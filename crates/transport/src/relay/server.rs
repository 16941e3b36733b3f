//! What serves children: a socket, the machine of a relay, and the copies of packets.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Duration, Rate, Time};
use layercast_core::{Always as _, cannot_be};
use layercast_delivery::relay::message::{Alternatives, Data, MESSAGE_MAX};
use layercast_delivery::relay::parent::{Change, Feedback, Limits, Parent};
use layercast_delivery::relay::session::{Allowed, SessionKey};

use super::fan_out::FanOut;
use super::link::Link;
use super::status::{RelayStatus, cpu_s, served};
use super::tunnel::for_socket;
use crate::error::Error;
use crate::host::{Clock, Inbox, PacketSocket, RUN_BYTES, RUN_PACKETS, open_unicast};
use crate::random_secret;

/// The most packets of children that are looked at before data is forwarded again.
const READS: usize = 4;
/// How often the rate is measured by which children are refused.
const MEASURED: Duration = Duration::from_secs(1);
/// From this share of the highest rate on children are refused.
const SATURATED: f64 = 0.9;

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

/// Serves children.
#[derive(Debug)]
pub struct Server {
    socket: PacketSocket,
    is_v6: bool,
    parent: Parent,
    fan_out: FanOut,
    inbox: Inbox,
    clock: Clock,
    highest: Option<Rate>,
    /// When the rate was measured last, and the bytes sent until then.
    measured: (Time, u64),
    rate: Rate,
}

impl Server {
    /// Opens the socket.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(options: &ServeOptions) -> Result<Server, Error> {
        let listen = options.listen;
        let socket = open_unicast(listen)?;
        let random = random_secret()?;
        let parent = Parent::new(options.limits, options.allowed.clone(), options.alternatives, random);
        Ok(Server {
            socket,
            is_v6: listen.is_ipv6(),
            parent,
            fan_out: FanOut::new(listen.is_ipv6(), options.highest),
            inbox: Inbox::new(MESSAGE_MAX),
            clock: Clock::default(),
            highest: options.highest,
            measured: (Time::ZERO, 0),
            rate: Rate::from_bps(0.0),
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system's error.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.socket.as_udp().local_addr()
    }

    /// The socket of children.
    pub fn socket(&self) -> &PacketSocket {
        &self.socket
    }

    /// The sessions that some child wants, each with its place.
    pub fn sessions(&self) -> impl Iterator<Item = (usize, SessionKey)> {
        self.parent.sessions()
    }

    /// Says how many relays there are from here up to the source or to multicast.
    pub fn set_depth(&mut self, depth: u8) {
        self.parent.set_depth(depth);
    }

    /// A channel that is needed from now on, or no longer.
    pub fn take_change(&mut self) -> Option<Change> {
        self.parent.take_change()
    }

    /// Reads what children say, and answers. Messages to the source are passed to `pass_on`.
    pub fn read(&mut self, pass_on: &mut dyn FnMut(&Feedback<'_>)) {
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
                if let Some(feedback) = self.parent.message(now, datagram.from, bytes) {
                    pass_on(&feedback);
                }
            }
            self.answer();
        }
    }

    /// Sends on by multicast on a link, too.
    pub(super) fn set_link(&mut self, link: Link) {
        self.fan_out.link = Some(link);
    }

    /// The link on which it sends on by multicast.
    pub(super) fn link(&self) -> Option<&Link> {
        self.fan_out.link.as_ref()
    }

    /// Reads what hosts of the link report, and does what is due there.
    pub(super) fn work_link(&mut self) {
        let now = self.clock.now();
        let held = self.fan_out.link.as_mut().and_then(|link| link.work(now));
        for (key, held) in held.unwrap_or_default() {
            self.parent.hold_link(now, key, held);
        }
    }

    /// Does what is due: looks for children that are gone, and measures the rate.
    pub fn look(&mut self) {
        let now = self.clock.now();
        self.parent.look(now);
        let (then, before) = self.measured;
        let passed = now.since(then);
        if passed >= MEASURED {
            let bytes = self.fan_out.counters().bytes;
            self.rate = Rate::from_bps((bytes - before) as f64 * 8.0 / passed.as_secs_f64());
            self.measured = (now, bytes);
            let is_much = |highest: Rate| self.rate.as_bps() >= SATURATED * highest.as_bps();
            self.parent.set_saturated(self.highest.is_some_and(is_much));
        }
    }

    /// Sends packets of one channel to all children that hold it. They may have any lengths.
    pub fn forward<'p>(
        &mut self,
        session: usize,
        (hops, channel, source): (u8, Channel, std::net::IpAddr),
        packets: impl IntoIterator<Item = &'p [u8]>,
        ecn: Ecn,
    ) {
        if self.parent.holders(session, channel).is_empty() {
            return;
        }
        let Some(handle) = self.parent.handle(session) else {
            return cannot_be("a session with holders is served");
        };
        let data = Data { hops, channel, handle, source };
        let mut packets = packets.into_iter().peekable();
        while packets.peek().is_some() {
            // Packets of one length, the last one shorter perhaps, of which the kernel cuts a run.
            let (mut count, mut bytes, mut length, mut is_over) = (0, 0, 0, false);
            let run: [IoSlice<'_>; RUN_PACKETS] = std::array::from_fn(|index| {
                let fits = |next: &&[u8]| {
                    let most = RUN_BYTES - RUN_PACKETS * layercast_delivery::relay::message::DATA_HEAD_MAX;
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
            let place = (&mut self.parent, session);
            self.fan_out.send(self.clock.now(), self.socket.as_udp(), place, &data, run, ecn);
        }
    }

    /// Ends: children are to go elsewhere.
    pub fn close(&mut self) {
        self.parent.close();
        self.answer();
    }

    fn answer(&mut self) {
        let mut room = [0; MESSAGE_MAX];
        while let Some((to, length)) = self.parent.take_reply(&mut room) {
            let bytes = room.get(..length).always("a message fits its room");
            if let Err(error) = self.socket.as_udp().send_to(bytes, for_socket(to, self.is_v6)) {
                tracing::debug!(%error, %to, "an answer was not sent");
            }
        }
    }

    /// What it does now.
    pub fn status(&self) -> RelayStatus {
        let counters = self.fan_out.counters();
        let (sessions, children) = served(&self.parent, self.clock.now());
        RelayStatus {
            listen: self.address().ok(),
            depth: self.parent.depth(),
            rate: self.rate,
            packets: counters.packets,
            bytes: counters.bytes,
            dropped: counters.dropped,
            send_calls: counters.calls,
            cpu_s: cpu_s(),
            counters: *self.parent.counters(),
            sessions,
            link: self.link().map(Link::status),
            router: None,
            children,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests;
