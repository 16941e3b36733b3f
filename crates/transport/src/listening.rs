//! A listener to announcements (SAP, RFC 2974), which learns which sessions there are.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;

use layercast_core::units::Time;
use layercast_delivery::announce::directory::{Change, Directory, Limits, Refusal};
use layercast_delivery::announce::sap::{LISTEN, PORT};
use layercast_delivery::announce::signature::Ed25519;
use layercast_delivery::security::keys::PublicKey;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::announcing::{ANNOUNCEMENT_MAX, ntp_now_s};
use crate::error::Error;
use crate::host::{Clock, Inbox, Interface, PacketSocket, open_group};

/// Gets what an announcement has changed in the directory, or why it has not, and the address that it came from.
pub type Say<'a> = dyn FnMut(&Directory, &Result<Change, Refusal>, IpAddr) + 'a;

/// The members of the groups of announcements.
#[derive(Debug)]
pub(crate) struct Announcements {
    sockets: Vec<PacketSocket>,
    inbox: Inbox,
}

/// What members of the groups of announcements have received.
#[derive(Debug)]
pub struct Listener {
    announcements: Announcements,
    clock: Clock,
    directory: Directory,
}

impl Announcements {
    /// Joins the groups, as [`Listener::open`] says.
    pub(crate) fn open(interface: Option<&str>) -> Result<Announcements, Error> {
        let mut sockets = Vec::new();
        let mut failed = None;
        for group in LISTEN.map(|group| SocketAddr::new(group, PORT)) {
            match Interface::find(interface, group).and_then(|found| open_group(&found, group, None)) {
                Ok(socket) => sockets.push(socket),
                Err(error) => {
                    tracing::debug!(%group, %error, "announcements of this group are not received");
                    failed = failed.or(Some(error));
                }
            }
        }
        match failed {
            Some(error) if sockets.is_empty() => Err(error),
            _ => Ok(Announcements { sockets, inbox: Inbox::new(ANNOUNCEMENT_MAX) }),
        }
    }

    /// Passes what has come to `take`, with the address that it came from, without waiting.
    pub(crate) fn read(&mut self, clock: &Clock, take: &mut dyn FnMut(IpAddr, &[u8])) -> Result<(), Error> {
        self.inbox.clear();
        for socket in &self.sockets {
            self.inbox
                .drain(socket, None, clock)
                .map_err(|error| Error::Socket { what: "read announcements".to_owned(), source: error })?;
        }
        for index in 0..self.inbox.len() {
            let Some((datagram, bytes)) = self.inbox.get(index) else { break };
            take(datagram.from.ip(), bytes);
        }
        Ok(())
    }
}

impl Listener {
    /// Joins the groups of announcements of all scopes, of IPv4 and IPv6, as far as the interface has them: that of the
    /// name or address, or of the route to each group. The sessions of `trusted` keys are the last to be displaced when
    /// there are too many.
    ///
    /// # Errors
    /// If no group can be joined.
    pub fn open(interface: Option<&str>, trusted: &[PublicKey]) -> Result<Listener, Error> {
        let announcements = Announcements::open(interface)?;
        let clock = Clock::default();
        let mut directory = Directory::new(Limits::default(), ntp_now_s());
        trusted.iter().for_each(|key| directory.trust(key.to_bytes()));
        Ok(Listener { announcements, clock, directory })
    }

    /// Waits for announcements, for as long as `most`, and takes in those that are there. `say` gets
    /// each.
    ///
    /// # Errors
    /// If a socket cannot be read.
    pub fn wait(&mut self, most: Duration, say: &mut Say<'_>) -> Result<(), Error> {
        self.directory.expire(self.clock.now());
        let sockets = &self.announcements.sockets;
        let mut waits: Vec<_> =
            sockets.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
        if ppoll(&mut waits, Some(TimeSpec::from(most)), None).unwrap_or(0) == 0 {
            return Ok(());
        }
        let now = self.clock.now();
        self.announcements.read(&self.clock, &mut |from, bytes| {
            let change = self.directory.receive(bytes, from, &Ed25519, now);
            say(&self.directory, &change, from);
        })
    }

    /// What is known.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The time by which the directory's entries are dated.
    pub fn now(&self) -> Time {
        self.clock.now()
    }
}
