//! How the packets of a session's channels come to a receiver: by multicast of its network, or through a tunnel.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration as StdDuration;

use layercast_core::contract::Ecn;
use layercast_core::units::Channel;
use layercast_core::{Always as _, cannot_be};
use layercast_delivery::session::MAX_CHANNELS;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::socket::{PacketSocket, open_group};
use super::{Clock, Inbox, Interface};
use crate::error::Error;
use crate::notice::Notice;

/// Up to this number of channels the wait uses a small array.
const FEW_CHANNELS: usize = 32;

/// A path for the packets of a session where the network carries no multicast to this host: something at its other end
/// joins the channels in its place, and sends what comes by unicast.
pub trait Tunnel: fmt::Debug {
    /// The socket by which all of it comes.
    fn socket(&self) -> &PacketSocket;

    /// Has the packets of a channel sent, which goes to this group. Nothing is awaited.
    ///
    /// # Errors
    /// Why this tunnel cannot carry the channel.
    fn join(&mut self, channel: Channel, group: SocketAddr) -> Result<(), Error>;

    /// Has no more packets of a channel sent.
    fn leave(&mut self, channel: Channel, group: SocketAddr);

    /// How long [`Tunnel::work`] need not be called.
    fn rest(&self) -> StdDuration;

    /// Takes what has arrived: packets of channels lose what the tunnel put before them ([`Inbox::unwrap`]), and everything else
    /// is processed and taken out. Then it does what is due.
    fn work(&mut self, inbox: &mut Inbox);

    /// Sends a message to the source through the tunnel; none if such messages go past it.
    fn send_feedback(&self, message: &[u8], to: SocketAddr) -> Option<io::Result<()>>;

    /// Sends a datagram of the receiver itself, where that talks with relays or the source.
    fn send_unicast(&mut self, _to: SocketAddr, _ecn: Ecn, _bytes: &[u8]) {
        cannot_be("this tunnel talks with its other end itself")
    }

    /// A completion was sent; whether it is the first that went this way.
    fn note_completion(&self) -> bool {
        false
    }

    /// Whether what carries messages to the source was there for a while after the first completion was sent to it. One that is gone
    /// takes them in silence.
    fn has_carried(&self) -> bool {
        true
    }

    /// Something that the operator should know, once.
    fn take_notice(&mut self) -> Option<Notice>;
}

/// How the packets of a session's channels come.
#[derive(Debug)]
pub enum Access {
    /// By multicast: a socket for each group that is joined.
    Native(Groups),
    /// Through a tunnel.
    Tunnel(Box<dyn Tunnel>),
}

/// The groups that are joined by this host.
#[derive(Debug)]
pub struct Groups {
    interface: Interface,
    /// The source of source-specific joins, if any.
    source: Option<IpAddr>,
    sockets: Vec<Option<PacketSocket>>,
}

impl Groups {
    /// None is joined yet. With a source all joins are of that source alone (RFC 4607).
    pub fn new(interface: Interface, source: Option<IpAddr>) -> Groups {
        Groups { interface, source, sockets: Vec::new() }
    }

    /// The socket of a channel; none if it is not joined.
    pub fn socket(&self, channel: Channel) -> Option<&PacketSocket> {
        self.sockets.get(channel.index())?.as_ref()
    }

    /// Joins a channel. One that is joined already stays so.
    ///
    /// # Errors
    /// Why it cannot be joined.
    pub fn join(&mut self, channel: Channel, group: SocketAddr) -> Result<(), Error> {
        if channel.0 >= MAX_CHANNELS {
            return Ok(());
        }
        if self.sockets.len() <= channel.index() {
            self.sockets.resize_with(channel.index() + 1, || None);
        }
        let Some(place) = self.sockets.get_mut(channel.index()) else {
            cannot_be::<()>("the list was made longer");
            return Ok(());
        };
        if place.is_none() {
            *place = Some(open_group(&self.interface, group, self.source)?);
        }
        Ok(())
    }

    /// Leaves a channel.
    pub fn leave(&mut self, channel: Channel) {
        // Closing the socket leaves the group; packets waiting in it are discarded.
        if let Some(place) = self.sockets.get_mut(channel.index()) {
            *place = None;
        }
    }

    fn held(&self) -> impl Iterator<Item = (usize, &PacketSocket)> {
        self.sockets.iter().enumerate().filter_map(|(index, socket)| Some((index, socket.as_ref()?)))
    }

    /// Waits, with room for `MOST` channels, and reads; how many reads there were.
    fn wait<const MOST: usize>(&self, inbox: &mut Inbox, clock: &Clock, timeout: StdDuration) -> u64 {
        let timeout = TimeSpec::from(timeout);
        let Some((_, first)) = self.held().next() else {
            let _ = ppoll(&mut [], Some(timeout), None);
            return 0;
        };
        let mut next = self.held();
        let (mut count, mut reads) = (0, 0);
        let mut waits: [PollFd<'_>; MOST] = std::array::from_fn(|_| match next.next() {
            Some((_, socket)) => {
                count += 1;
                PollFd::new(socket.as_fd(), PollFlags::POLLIN)
            }
            // Beyond the entries passed to the kernel.
            None => PollFd::new(first.as_fd(), PollFlags::empty()),
        });
        let waits = waits.get_mut(..count).always("the count is limited");
        // An interrupted wait is over: the caller checks whether to stop.
        if ppoll(waits, Some(timeout), None).unwrap_or(0) == 0 {
            return 0;
        }
        for ((index, socket), wait) in self.held().zip(&*waits) {
            if wait.any().unwrap_or(false) {
                match inbox.drain(socket, Some(Channel(index as u16)), clock) {
                    Ok(calls) => reads += calls,
                    Err(error) => tracing::debug!(%error, channel = index, "packets could not be read"),
                }
            }
        }
        reads
    }
}

impl Access {
    /// Joins a channel. One that is joined already stays so.
    ///
    /// # Errors
    /// Why it cannot be joined.
    pub fn join(&mut self, channel: Channel, group: SocketAddr) -> Result<(), Error> {
        match self {
            Access::Native(groups) => groups.join(channel, group),
            Access::Tunnel(tunnel) => tunnel.join(channel, group),
        }
    }

    /// Leaves a channel.
    pub fn leave(&mut self, channel: Channel, group: SocketAddr) {
        match self {
            Access::Native(groups) => groups.leave(channel),
            Access::Tunnel(tunnel) => tunnel.leave(channel, group),
        }
    }

    /// Waits for packets for no longer than `timeout`, and reads them into the inbox, which is emptied first. Returns the number
    /// of system calls that read.
    pub fn wait(&mut self, inbox: &mut Inbox, clock: &Clock, timeout: StdDuration) -> u64 {
        inbox.clear();
        match self {
            // The poll entries are rebuilt for each wait. Few channels are joined at once, even in a session with many.
            Access::Native(groups) => match groups.held().count() {
                0..=FEW_CHANNELS => groups.wait::<FEW_CHANNELS>(inbox, clock, timeout),
                _ => groups.wait::<{ MAX_CHANNELS as usize }>(inbox, clock, timeout),
            },
            Access::Tunnel(tunnel) => {
                let timeout = timeout.min(tunnel.rest());
                let mut waits = [PollFd::new(tunnel.socket().as_fd(), PollFlags::POLLIN)];
                let mut reads = 0;
                if ppoll(&mut waits, Some(TimeSpec::from(timeout)), None).unwrap_or(0) > 0 {
                    match inbox.drain(tunnel.socket(), None, clock) {
                        Ok(calls) => reads = calls,
                        Err(error) => tracing::debug!(%error, "packets could not be read"),
                    }
                }
                tunnel.work(inbox);
                reads
            }
        }
    }

    /// Sends a datagram to a relay or the source of a session whose routers take part.
    pub(crate) fn send_unicast(&mut self, to: SocketAddr, ecn: Ecn, bytes: &[u8]) {
        match self {
            Access::Native(_) => cannot_be("such a session has no groups"),
            Access::Tunnel(tunnel) => tunnel.send_unicast(to, ecn, bytes),
        }
    }

    /// Sends a message to the source through the tunnel, if there is one that carries it.
    pub(crate) fn send_feedback(&self, message: &[u8], to: SocketAddr) -> Option<io::Result<()>> {
        match self {
            Access::Native(_) => None,
            Access::Tunnel(tunnel) => tunnel.send_feedback(message, to),
        }
    }

    /// Something that the operator should know, once.
    pub fn take_notice(&mut self) -> Option<Notice> {
        match self {
            Access::Native(_) => None,
            Access::Tunnel(tunnel) => tunnel.take_notice(),
        }
    }

    /// A completion was sent; whether it is the first that went this way.
    pub(crate) fn note_completion(&self) -> bool {
        match self {
            Access::Native(_) => false,
            Access::Tunnel(tunnel) => tunnel.note_completion(),
        }
    }

    /// Whether completions have gone further than to a relay that is gone, as far as is known.
    pub(crate) fn has_carried(&self) -> bool {
        match self {
            Access::Native(_) => true,
            Access::Tunnel(tunnel) => tunnel.has_carried(),
        }
    }

    /// Whether packets come by multicast.
    pub fn is_native(&self) -> bool {
        matches!(self, Access::Native(_))
    }
}
