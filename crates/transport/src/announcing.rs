//! A source's announcements of its session (SAP, RFC 2974): what they say, and when they are sent.

use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_delivery::announce::announcer::Announcer;
use layercast_delivery::announce::interval::Pace;
use layercast_delivery::announce::sap::{PORT, Packet, announcement_group};
use layercast_delivery::announce::sdp::{Description, Origin, SDP_MAX, SdpError};
use layercast_delivery::announce::signature::Signer;
use layercast_delivery::security::keys::{PublicKey, SecretKey};
use layercast_delivery::session::Session;

use crate::error::Error;
use crate::host::{Clock, Inbox, Interface, PacketSocket, open_announcer, open_group, until};

/// Seconds between the years 1900 and 1970 (RFC 5905, section 6).
const NTP_OFFSET_S: u64 = 2_208_988_800;

/// The longest announcement that is read: a description, a payload type and a signature.
pub(crate) const ANNOUNCEMENT_MAX: usize = SDP_MAX + 256;

/// The lines of a description that give the size of what is sent. Receivers of the session have no use for them.
const FILES: &str = "files";
const BYTES: &str = "bytes";

/// How much a session sends, at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of files and empty folders.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Size {
    /// What a description says; none if it says nothing.
    pub fn of(description: &Description) -> Option<Size> {
        let value = |key: &str| {
            let mut lines = description.lines.iter();
            lines.find(|(found, _)| found == key)?.1.parse::<u64>().ok()
        };
        Some(Size { files: usize::try_from(value(FILES)?).ok()?, bytes: value(BYTES)? })
    }
}

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

/// Describes a session that starts now, for announcements and files, and names relays. `ttl` is that of its packets.
///
/// # Errors
/// If the name cannot be written, or the description is too long.
pub fn describe(
    session: &Session,
    name: &str,
    key: Option<PublicKey>,
    ttl: u8,
    size: Size,
    relays: &[SocketAddr],
) -> Result<Description, SdpError> {
    let start_s = ntp_now_s();
    // A time as RFC 8866, section 5.2, recommends, with the session's number in the place of its fraction, so that two
    // sessions that start in one second differ.
    let id = start_s << 32 | u64::from(session.tsi);
    let origin = Origin::new(session.source, id, 1);
    let mut description = Description::of_session(session, name, origin, ttl)?;
    description.start_s = start_s;
    description.key = key.map(PublicKey::to_bytes);
    description.lines.push((FILES.to_owned(), size.files.to_string()));
    description.lines.push((BYTES.to_owned(), size.bytes.to_string()));
    description.name_relays(relays);
    description.write()?;
    Ok(description)
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
