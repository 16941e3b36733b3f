//! A source's announcements of its session (SAP, RFC 2974).

use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_delivery::announce::announcer::Announcer;
use layercast_delivery::announce::interval::Pace;
use layercast_delivery::announce::sap::{PORT, Packet, announcement_group};
use layercast_delivery::announce::sdp::{Description, SDP_MAX};
use layercast_delivery::announce::signature::Signer;
use layercast_delivery::security::keys::SecretKey;

use crate::error::Error;
use crate::host::{Clock, Inbox, Interface, PacketSocket, open_announcer, open_group, until};

/// Seconds between the years 1900 and 1970 (RFC 5905, section 6).
const NTP_OFFSET_S: u64 = 2_208_988_800;

/// The longest announcement that is read: a description, a payload type and a signature.
pub(crate) const ANNOUNCEMENT_MAX: usize = SDP_MAX + 256;

/// Seconds since 1900 by the wall clock.
pub fn ntp_now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) + NTP_OFFSET_S
}

/// What people call a session that has no other name: the name of the first path.
pub fn name_of(paths: &[PathBuf]) -> String {
    let first = paths.first().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
    let name = first.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    if name.trim().is_empty() { "session".to_owned() } else { name }
}

/// Announces a session while it is sent.
#[derive(Debug)]
pub(crate) struct Announcing {
    announcer: Announcer,
    to: SocketAddr,
    socket: UdpSocket,
    /// Where the announcements of others are received, with which it shares the rate; none where that fails.
    others: Option<PacketSocket>,
    inbox: Inbox,
}

impl Announcing {
    /// Begins to announce the session of a group.
    ///
    /// # Errors
    /// If the description does not fit into a packet, or there is no socket.
    pub(crate) fn open(
        interface: &Interface,
        group: SocketAddr,
        description: &Description,
        key: Option<&SecretKey>,
        now: Time,
        seed: u64,
    ) -> Result<Announcing, Error> {
        let to = SocketAddr::new(announcement_group(group.ip()), PORT);
        let signer = key.map(|key| key as &dyn Signer);
        let (pace, stream) = (Pace::for_group(to.ip()), Stream::new(seed, "announcements"));
        let announcer = Announcer::new(interface.address, description, signer, pace, now, stream)?;
        let socket = open_announcer(interface, to)?;
        let others = open_group(interface, to, None)
            .inspect_err(|error| tracing::debug!(%error, "the announcements of others are not counted"));
        Ok(Announcing { announcer, to, socket, others: others.ok(), inbox: Inbox::new(ANNOUNCEMENT_MAX) })
    }

    /// Receives what others announce, and sends what is due.
    pub(crate) fn step(&mut self, clock: &Clock) {
        self.listen(clock);
        self.send(clock.now());
    }

    /// Announces the end of the session: the deletion and its copies take two seconds, if the session was announced.
    pub(crate) fn finish(mut self, clock: &Clock) {
        self.announcer.finish(clock.now());
        while self.announcer.deadline() != Time::MAX {
            thread::sleep(until(clock.now(), self.announcer.deadline()));
            self.send(clock.now());
        }
    }

    fn listen(&mut self, clock: &Clock) {
        let Some(socket) = &self.others else { return };
        self.inbox.clear();
        if let Err(error) = self.inbox.drain(socket, None, clock) {
            tracing::debug!(%error, "the announcements of others could not be read");
        }
        for index in 0..self.inbox.len() {
            let Some((_, bytes)) = self.inbox.get(index) else { break };
            if let Ok(packet) = Packet::read(bytes) {
                self.announcer.receive(&packet, clock.now());
            }
        }
    }

    fn send(&mut self, now: Time) {
        while let Some(packet) = self.announcer.poll(now) {
            // What the network does not take now is repeated in a while.
            if let Err(error) = self.socket.send_to(packet, self.to) {
                tracing::debug!(%error, "an announcement was not sent");
            }
        }
    }
}
