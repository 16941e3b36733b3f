//! What a child and its parent say to each other, and the header of data (`docs/wire-format.md`).
//!
//! The first byte is the kind. Numbers are in network byte order, addresses have 16 bytes, IPv4 as mapped into IPv6 (RFC 4291,
//! section 2.5.5.2).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use layercast_core::Always as _;
use layercast_core::units::Channel;

use super::channels::{ChannelSet, SET_BYTES};
use super::session::SessionKey;

/// The version of these messages.
pub const VERSION: u8 = 1;
/// The longest message that is not data.
pub const MESSAGE_MAX: usize = 256;
/// The longest message to the source that a [`Message::Feedback`] carries.
pub const FEEDBACK_MAX: usize = MESSAGE_MAX - FEEDBACK_HEAD;
/// The most relays that a refusal names: with them it is no longer than what it answers.
pub const ALTERNATIVES_MAX: usize = 3;
/// The longest header of data.
pub const DATA_HEAD_MAX: usize = 24;
/// Through how many relays data may go: what is sent in a circle ends.
pub const HOPS_MAX: u8 = 16;
/// The length of a challenge. No message that it answers is shorter.
pub const CHALLENGE_BYTES: usize = 28;

const DATA_V4: u8 = 0x40;
const DATA_V6: u8 = 0x41;
const HELLO: u8 = 0x42;
const OPEN: u8 = 0x43;
const CHALLENGE: u8 = 0x44;
const WELCOME: u8 = 0x45;
const REFUSAL: u8 = 0x46;
const MEMBERSHIP: u8 = 0x47;
const ACK: u8 = 0x48;
const KEEP_ALIVE: u8 = 0x49;
const ALIVE: u8 = 0x4a;
const GOODBYE: u8 = 0x4b;
const FEEDBACK: u8 = 0x4c;
const UNKNOWN: u8 = 0x4d;

const HELLO_BYTES: usize = 72;
const FEEDBACK_HEAD: usize = 32;
/// The least bytes of a set, so that a challenge may answer a membership.
const SET_LEAST: usize = 16;

/// Why a relay does not serve a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has as many children as it may have.
    Full,
    /// It sends as much as it may send.
    Rate,
    /// It does not serve this session.
    Session,
    /// It does not know this version of the messages.
    Version,
    /// It is about to end.
    Closing,
}

impl Reason {
    const ALL: [Reason; 5] = [Reason::Full, Reason::Rate, Reason::Session, Reason::Version, Reason::Closing];

    fn code(self) -> u8 {
        self as u8 + 1
    }

    fn from_code(code: u8) -> Option<Reason> {
        Reason::ALL.into_iter().find(|reason| reason.code() == code)
    }
}

impl core::fmt::Display for Reason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Reason::Full => "it has as many children as it may have",
            Reason::Rate => "it sends at the highest rate that it may use",
            Reason::Session => "it does not serve this session",
            Reason::Version => "it does not know this version of the protocol between relays",
            Reason::Closing => "it ends",
        })
    }
}

/// Other relays that a refusal names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alternatives {
    all: [Option<SocketAddr>; ALTERNATIVES_MAX],
}

impl Alternatives {
    /// The first of these addresses.
    pub fn new(addresses: impl IntoIterator<Item = SocketAddr>) -> Alternatives {
        let mut addresses = addresses.into_iter().map(canonical);
        Alternatives { all: std::array::from_fn(|_| addresses.next()) }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = SocketAddr> + use<> {
        self.all.into_iter().flatten()
    }
}

/// A message that is not data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'m> {
    /// A child asks to be served. Without a cookie it is answered by a challenge to the address that it came from.
    Hello {
        /// A number of the child's that all answers repeat.
        nonce: u64,
        /// The session that it wants.
        session: SessionKey,
        /// What the challenge had.
        cookie: Option<[u8; 16]>,
        /// Its number from before, if its address has changed.
        previous: Option<u64>,
    },
    /// The child is to repeat the cookie, which shows that it is where it says.
    Challenge {
        /// The child's number.
        nonce: u64,
        /// What it is to repeat.
        cookie: [u8; 16],
    },
    /// The child is served.
    Welcome {
        /// The child's number of the hello.
        nonce: u64,
        /// Its number from now on, which only it and the parent know.
        child: u64,
        /// The session's number in the header of data.
        handle: u32,
        /// After how many milliseconds the child asks whether the parent is there.
        keep_alive_ms: u16,
    },
    /// The child is not served, or no longer.
    Refusal {
        /// The child's number of the hello.
        nonce: u64,
        /// Why.
        reason: Reason,
        /// Who may serve it.
        alternatives: Alternatives,
    },
    /// All channels that a child holds. Of several the one with the highest number counts.
    Membership {
        /// The child.
        child: u64,
        /// Counts its memberships, modulo 2^32.
        number: u32,
        /// The channels.
        held: ChannelSet,
    },
    /// The newest membership that the parent knows.
    Ack {
        /// The child.
        child: u64,
        /// The number.
        number: u32,
    },
    /// A child asks whether its parent is there.
    KeepAlive {
        /// The child.
        child: u64,
        /// Its time, which the answer repeats.
        time: u64,
        /// How many packets of data it has received, modulo 2^32.
        received: u32,
    },
    /// The answer.
    Alive {
        /// The child.
        child: u64,
        /// The time of what this answers.
        time: u64,
        /// How many packets of data the parent did not send to this child since their queue was full, modulo 2^32.
        dropped: u32,
        /// How many relays there are from the parent up to the source or to multicast.
        depth: u8,
    },
    /// A child leaves.
    Goodbye {
        /// The child.
        child: u64,
    },
    /// A message of a receiver to the source.
    Feedback {
        /// The child that passes it on.
        child: u64,
        /// Where it goes.
        to: SocketAddr,
        /// The message.
        message: &'m [u8],
    },
    /// The parent knows no such child.
    Unknown {
        /// The number.
        child: u64,
    },
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// There are too few, or too many.
    #[error("it has {0} bytes, which is no length of its kind")]
    Length(usize),
    /// There is no such kind.
    #[error("there is no kind {0:#04x}")]
    Kind(u8),
    /// Another version.
    #[error("version {version} is not supported")]
    Version {
        /// It.
        version: u8,
        /// The child's number, for the answer.
        nonce: u64,
    },
    /// A field has a value that it cannot have.
    #[error("a field has a value that it cannot have")]
    Field,
}

/// The header before a packet of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// How many relays it has gone through.
    pub hops: u8,
    /// Its channel.
    pub channel: Channel,
    /// The session's number at the parent.
    pub handle: u32,
    /// The address that sent it first.
    pub source: IpAddr,
}

impl Data {
    /// Whether bytes begin as data does.
    pub fn is_data(bytes: &[u8]) -> bool {
        matches!(bytes.first(), Some(&(DATA_V4 | DATA_V6)))
    }

    /// The header of bytes, and its length; none if they are not data.
    pub fn read(bytes: &[u8]) -> Option<(Data, usize)> {
        let (&[kind, hops, high, low, a, b, c, d], rest) = bytes.split_first_chunk::<8>()?;
        let (source, length): (IpAddr, usize) = match kind {
            DATA_V4 => ((*rest.first_chunk::<4>()?).into(), 12),
            DATA_V6 => ((*rest.first_chunk::<16>()?).into(), 24),
            _ => return None,
        };
        let (channel, handle) = (Channel(u16::from_be_bytes([high, low])), u32::from_be_bytes([a, b, c, d]));
        Some((Data { hops, channel, handle, source }, length))
    }

    /// Writes the header; its length.
    pub fn write(&self, room: &mut [u8; DATA_HEAD_MAX]) -> usize {
        let mut writer = Writer { room, at: 0 };
        writer.put(&[if self.source.is_ipv4() { DATA_V4 } else { DATA_V6 }, self.hops]);
        writer.put(&self.channel.0.to_be_bytes());
        writer.put(&self.handle.to_be_bytes());
        match self.source {
            IpAddr::V4(source) => writer.put(&source.octets()),
            IpAddr::V6(source) => writer.put(&source.octets()),
        }
        writer.at
    }
}

struct Writer<'r> {
    room: &'r mut [u8],
    at: usize,
}

impl Writer<'_> {
    /// Writes what fits, which is all: the room has the length of the longest message.
    fn put(&mut self, bytes: &[u8]) {
        if let Some(place) = self.room.get_mut(self.at..self.at + bytes.len()) {
            place.copy_from_slice(bytes);
            self.at += bytes.len();
        }
    }

    fn address(&mut self, address: IpAddr) {
        let mapped = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        self.put(&mapped.octets());
    }
}

struct Reader<'m> {
    bytes: &'m [u8],
}

impl<'m> Reader<'m> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = rest;
        Some(*chunk)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn address(&mut self) -> Option<IpAddr> {
        self.take::<16>().map(|octets| Ipv6Addr::from(octets).to_canonical())
    }
}

/// An address as all messages have it.
pub fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

impl<'m> Message<'m> {
    /// Reads a message.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(bytes: &'m [u8]) -> Result<Message<'m>, MessageError> {
        let length = MessageError::Length(bytes.len());
        if bytes.len() > MESSAGE_MAX {
            return Err(length);
        }
        let (&[kind, one, two, three], rest) = bytes.split_first_chunk::<4>().ok_or(length)?;
        let mut reader = Reader { bytes: rest };
        let message = match kind {
            HELLO | OPEN => hello(&mut reader, kind == OPEN, one, two).ok_or(length)??,
            CHALLENGE => (|| Some(Message::Challenge { nonce: reader.u64()?, cookie: reader.take()? }))()
                .ok_or(length)?,
            WELCOME => (|| {
                let (nonce, child) = (reader.u64()?, reader.u64()?);
                Some(Message::Welcome { nonce, child, handle: reader.u32()?, keep_alive_ms: reader.u16()? })
            })()
            .ok_or(length)?,
            REFUSAL => {
                let reason = Reason::from_code(one).ok_or(MessageError::Field)?;
                if usize::from(two) > ALTERNATIVES_MAX {
                    return Err(MessageError::Field);
                }
                let nonce = reader.u64().ok_or(length)?;
                let all: Option<Vec<SocketAddr>> =
                    (0..two).map(|_| Some(SocketAddr::new(reader.address()?, reader.u16()?))).collect();
                Message::Refusal { nonce, reason, alternatives: Alternatives::new(all.ok_or(length)?) }
            }
            MEMBERSHIP => {
                let (child, number) = (reader.u64().ok_or(length)?, reader.u32().ok_or(length)?);
                let bytes = reader.bytes.get(..one.into()).ok_or(length)?;
                let held = ChannelSet::from_bytes(bytes).ok_or(MessageError::Field)?;
                Message::Membership { child, number, held }
            }
            ACK => (|| Some(Message::Ack { child: reader.u64()?, number: reader.u32()? }))().ok_or(length)?,
            KEEP_ALIVE => (|| {
                let (child, time) = (reader.u64()?, reader.u64()?);
                Some(Message::KeepAlive { child, time, received: reader.u32()? })
            })()
            .ok_or(length)?,
            ALIVE => (|| {
                let (child, time) = (reader.u64()?, reader.u64()?);
                Some(Message::Alive { child, time, dropped: reader.u32()?, depth: three })
            })()
            .ok_or(length)?,
            GOODBYE => Message::Goodbye { child: reader.u64().ok_or(length)? },
            FEEDBACK => {
                let child = reader.u64().ok_or(length)?;
                let (address, port) = (reader.address().ok_or(length)?, reader.u16().ok_or(length)?);
                let _reserved = reader.u16().ok_or(length)?;
                Message::Feedback { child, to: SocketAddr::new(address, port), message: reader.bytes }
            }
            UNKNOWN => Message::Unknown { child: reader.u64().ok_or(length)? },
            kind => return Err(MessageError::Kind(kind)),
        };
        Ok(message)
    }

    /// Writes the message; its length. The message of a [`Message::Feedback`] has at most [`FEEDBACK_MAX`] bytes, of which more
    /// are left out.
    pub fn write(&self, room: &mut [u8; MESSAGE_MAX]) -> usize {
        let mut writer = Writer { room, at: 0 };
        match *self {
            Message::Hello { nonce, session, cookie, previous } => {
                let kind = if cookie.is_some() { OPEN } else { HELLO };
                writer.put(&[kind, VERSION, u8::from(session.source.is_some()), 0]);
                writer.put(&nonce.to_be_bytes());
                writer.address(session.group.ip());
                writer.address(session.source.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
                writer.put(&session.group.port().to_be_bytes());
                writer.put(&[0; 2]);
                writer.put(&cookie.unwrap_or_default());
                writer.put(&previous.unwrap_or(0).to_be_bytes());
            }
            Message::Challenge { nonce, cookie } => {
                writer.put(&[CHALLENGE, 0, 0, 0]);
                writer.put(&nonce.to_be_bytes());
                writer.put(&cookie);
            }
            Message::Welcome { nonce, child, handle, keep_alive_ms } => {
                writer.put(&[WELCOME, VERSION, 0, 0]);
                writer.put(&nonce.to_be_bytes());
                writer.put(&child.to_be_bytes());
                writer.put(&handle.to_be_bytes());
                writer.put(&keep_alive_ms.to_be_bytes());
            }
            Message::Refusal { nonce, reason, alternatives } => {
                writer.put(&[REFUSAL, reason.code(), alternatives.iter().count() as u8, 0]);
                writer.put(&nonce.to_be_bytes());
                for one in alternatives.iter() {
                    writer.address(one.ip());
                    writer.put(&one.port().to_be_bytes());
                }
            }
            Message::Membership { child, number, held } => {
                let (bytes, length): ([u8; SET_BYTES], usize) = held.to_bytes();
                let length = length.max(SET_LEAST);
                writer.put(&[MEMBERSHIP, length as u8, 0, 0]);
                writer.put(&child.to_be_bytes());
                writer.put(&number.to_be_bytes());
                writer.put(bytes.get(..length).always("a set fits its room"));
            }
            Message::Ack { child, number } => {
                writer.put(&[ACK, 0, 0, 0]);
                writer.put(&child.to_be_bytes());
                writer.put(&number.to_be_bytes());
            }
            Message::KeepAlive { child, time, received } => {
                writer.put(&[KEEP_ALIVE, 0, 0, 0]);
                writer.put(&child.to_be_bytes());
                writer.put(&time.to_be_bytes());
                writer.put(&received.to_be_bytes());
                writer.put(&[0; 4]);
            }
            Message::Alive { child, time, dropped, depth } => {
                writer.put(&[ALIVE, 0, 0, depth]);
                writer.put(&child.to_be_bytes());
                writer.put(&time.to_be_bytes());
                writer.put(&dropped.to_be_bytes());
            }
            Message::Goodbye { child } => {
                writer.put(&[GOODBYE, 0, 0, 0]);
                writer.put(&child.to_be_bytes());
            }
            Message::Feedback { child, to, message } => {
                writer.put(&[FEEDBACK, 0, 0, 0]);
                writer.put(&child.to_be_bytes());
                writer.address(to.ip());
                writer.put(&to.port().to_be_bytes());
                writer.put(&[0; 2]);
                writer.put(
                    message
                        .get(..message.len().min(FEEDBACK_MAX))
                        .always("the length is limited by the message"),
                );
            }
            Message::Unknown { child } => {
                writer.put(&[UNKNOWN, 0, 0, 0]);
                writer.put(&child.to_be_bytes());
            }
        }
        writer.at
    }
}

/// The rest of a hello; none if it is too short.
fn hello<'m>(
    reader: &mut Reader<'m>,
    has_cookie: bool,
    version: u8,
    flags: u8,
) -> Option<Result<Message<'m>, MessageError>> {
    // The shortest that is answered is as long as the longest answer.
    if reader.bytes.len() + 4 < HELLO_BYTES {
        return None;
    }
    let nonce = reader.u64()?;
    if version != VERSION {
        return Some(Err(MessageError::Version { version, nonce }));
    }
    let (group, source, port) = (reader.address()?, reader.address()?, reader.u16()?);
    let _reserved = reader.u16()?;
    let (cookie, previous) = (reader.take()?, reader.u64()?);
    let session =
        SessionKey { group: SocketAddr::new(group, port), source: (flags & 1 != 0).then_some(source) };
    let previous = Some(previous).filter(|previous| *previous != 0);
    let cookie = has_cookie.then_some(cookie);
    Some(Ok(Message::Hello { nonce, session, cookie, previous }))
}

#[cfg(test)]
mod tests;
