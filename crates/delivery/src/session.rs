//! The session description: what a receiver must know to join (RFC 5651, section 6; RFC 5775, section 2.4).
//!
//! It is a short text that reads as TOML:
//!
//! ```text
//! layercast = 1
//! session = 305419896
//! protocol = "elm"
//! source = "192.0.2.1"
//! group = "239.1.2.0:5500"
//! feedback = "192.0.2.1:5501"
//! packet = 1000
//! layers = [128000, 128000, 256000]
//! ```
//!
//! `group` is the base layer's; channel i is sent to the address i higher, to the same port. `packet` is
//! the size in bytes with IP and UDP headers, `layers` are the rates of the layers, each alone, in bit/s,
//! from the base up. If a protocol does not send each layer on its own channel, `channels` gives their
//! number; if packets are authenticated, `group_key` is the fingerprint of the key, and if they are encrypted, `salt` has 32
//! hexadecimal digits; if source and receivers must agree on
//! options of the protocol, the table `options` has them as text. A session of live data in place of files has the table
//! `stream`. Unknown keys are ignored.

use core::fmt::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use crate::security::encryption::Salt;
use crate::security::protection::AUTH_BYTES;
use crate::sender::symbol_size;
use crate::stream::{self, DEADLINES, LONGEST_UNIT, StreamPlan};
use layercast_core::family::AnyProtocol;
use layercast_core::layers::{LayerError, LayerTable};
use layercast_core::option::RawValue;
use layercast_core::session::{PlanError, SessionPlan};
use layercast_core::units::{Channel, Level, Rate, Size};
use layercast_protocols::active::DATA_HEADER;
use layercast_protocols::registry::{self, Protocol};
use toml_edit::{Document, Item, Table, Value};

use crate::address::higher;
pub use crate::address::is_usable_group;
use crate::groups::{GroupRange, scoped};

/// The maximum number of channels of a session.
pub const MAX_CHANNELS: u16 = 1024;
/// The smallest and the largest packet in bytes. The smallest leaves space for symbols after the longest
/// header, the largest fits jumbo frames.
pub const PACKET_BYTES: core::ops::RangeInclusive<u32> = 256..=9000;
/// The highest rate of a layer in bit/s: up to here a rate holds every whole number.
pub const RATE_MAX_BPS: f64 = 9_007_199_254_740_992.0;
/// What a packet of a session whose routers take part has before its LCT packet: the head of its link
/// ([`Data`](crate::relay::message::Data), IPv4), and the longest header of a protocol.
const ROUTED_BYTES: u32 = 12 + DATA_HEADER as u32;
/// The headers of IPv4 (RFC 791, without options) and UDP (RFC 768).
const IPV4_UDP_BYTES: u32 = 28;

/// A session description.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// The session number (TSI).
    pub tsi: u32,
    /// The congestion control protocol, by its name in the registry.
    pub protocol: String,
    /// The source address of data packets; all others are rejected.
    pub source: IpAddr,
    /// The group and port of the base layer.
    pub group: SocketAddr,
    /// Where reports and completions go.
    pub feedback: SocketAddr,
    /// The size of a packet with all headers.
    pub packet: Size,
    /// The layers.
    pub layers: LayerTable,
    /// How many channels there are.
    pub channels: u16,
    /// The options of the protocol on which all must agree, by name, as text.
    pub agreed: Vec<(String, String)>,
    /// The fingerprint of the group key by which packets are authenticated (RFC 6584, section 5); none if they are not.
    pub group_key: Option<String>,
    /// The salt with which packets are encrypted; none if they are not.
    pub salt: Option<Salt>,
    /// What receivers of live data must know; none if the session has files.
    pub stream: Option<StreamPlan>,
}

/// Why a text is not a session description.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionError {
    /// It is not TOML.
    Text(String),
    /// A key is missing, or its value is invalid.
    Key(&'static str),
    /// An unsupported version.
    Version(i64),
    /// There is no such protocol.
    Protocol {
        /// Its name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The layers are invalid.
    Layers(LayerError),
    /// Not all groups are multicast addresses that a session may use.
    Group(IpAddr),
    /// The groups do not all have the scope of the first one.
    Scope {
        /// The first.
        group: IpAddr,
        /// How many groups the session needs.
        channels: u16,
        /// The highest address from which on so many groups have this scope.
        highest: IpAddr,
    },
    /// The size of packets is not in [`PACKET_BYTES`].
    Packet(i64),
    /// The protocol needs another number of channels, or there are more than [`MAX_CHANNELS`].
    Channels(u16),
    /// An option is missing, is not one of the session's, or has an invalid value.
    Option(String),
    /// The protocol needs active routers, which multicast does not have.
    Routers(String),
    /// The protocol repeats packets, which needs a file.
    Reliable(String),
    /// The protocol cannot carry the layers.
    Plan(PlanError),
    /// The protocol does not send each layer on a channel of its own, as a stream needs it.
    Stream(String),
    /// The deadline or the units of a stream are out of range.
    StreamPlan,
    /// It contradicts the packets that brought it.
    Mismatch(String),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session description: ")?;
        match self {
            SessionError::Text(error) => write!(f, "{}", error.trim_end()),
            SessionError::Key(key) => write!(f, "`{key}` is missing or invalid"),
            SessionError::Version(version) => write!(f, "version {version} is not supported"),
            SessionError::Protocol { name, known } => {
                write!(f, "unknown protocol `{name}`; use one of {known}")
            }
            SessionError::Layers(error) => write!(f, "{error}"),
            SessionError::Group(group) => write!(
                f,
                "{group} is not a multicast group for a session: use one from 224.0.1.0 to 239.255.255.255, or ff03:: to \
                 fffe::, and not of one link"
            ),
            SessionError::Scope { group, channels, highest } => write!(
                f,
                "the session needs {channels} groups, and of those from {group} on the last are not in its scope: use \
                 {highest} or a lower address as the group"
            ),
            SessionError::Packet(bytes) => write!(
                f,
                "packets of {bytes} bytes; they must have {} to {}",
                PACKET_BYTES.start(),
                PACKET_BYTES.end()
            ),
            SessionError::Channels(needed) => {
                write!(f, "the protocol needs {needed} channels; at most {MAX_CHANNELS} are possible")
            }
            SessionError::Option(name) => write!(f, "the option `{name}` is missing or invalid"),
            SessionError::Routers(name) => write!(
                f,
                "the protocol `{name}` needs active routers: send it over relays, with `--reliable` and `--serve`, or simulate it with `layercast run`"
            ),
            SessionError::Reliable(name) => write!(
                f,
                "the protocol `{name}` repeats what was lost, for which the transport has no form; simulate it with `layercast run`"
            ),
            SessionError::Plan(error) => write!(f, "{error}"),
            SessionError::Stream(name) => write!(
                f,
                "the protocol `{name}` does not send each layer on a channel of its own, which a stream needs; use one of {}",
                stream_protocols().join(", ")
            ),
            SessionError::StreamPlan => write!(
                f,
                "the deadline of a stream is {} to {}, and its units have 1 to {LONGEST_UNIT} bytes",
                DEADLINES.start(),
                DEADLINES.end()
            ),
            SessionError::Mismatch(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for SessionError {}

/// The bytes of the headers of IP (without options or extensions) and UDP.
pub fn ip_udp_bytes(address: IpAddr) -> u32 {
    if address.is_ipv4() { IPV4_UDP_BYTES } else { IPV4_UDP_BYTES + 20 }
}

impl Session {
    /// Checks the description of a session of one of Layercast's protocols.
    ///
    /// # Errors
    /// What is invalid.
    pub fn check(&self) -> Result<(), SessionError> {
        self.check_of::<Protocol>()
    }

    /// Checks the description of a session of one of these protocols.
    ///
    /// # Errors
    /// What is invalid.
    pub fn check_of<P: AnyProtocol>(&self) -> Result<(), SessionError> {
        if let Err(highest) = scoped(self.group.ip(), self.channels) {
            let (group, channels) = (self.group.ip(), self.channels);
            return Err(match highest {
                Some(highest) => SessionError::Scope { group, channels, highest },
                None => SessionError::Group(group),
            });
        }
        if self.source.is_ipv4() != self.group.is_ipv4() {
            return Err(SessionError::Key("source"));
        }
        if !PACKET_BYTES.contains(&self.packet.as_bytes()) {
            return Err(SessionError::Packet(i64::from(self.packet.as_bytes())));
        }
        if self.layers.layers().any(|layer| self.layers.rate(layer).as_bps() > RATE_MAX_BPS) {
            return Err(SessionError::Key("layers"));
        }
        // Packets are encrypted with the group key.
        if self.salt.is_some() && self.group_key.is_none() {
            return Err(SessionError::Key("group_key"));
        }
        if self.group.port() == 0 {
            return Err(SessionError::Key("group"));
        }
        if self.feedback.port() == 0
            || self.feedback.ip().is_unspecified()
            || self.feedback.ip().is_multicast()
        {
            return Err(SessionError::Key("feedback"));
        }
        let unknown = || SessionError::Protocol { name: self.protocol.clone(), known: P::names().join(", ") };
        let protocol = P::named(&self.protocol).ok_or_else(unknown)?;
        let protocol = self.agree(protocol)?;
        let (needs, plan) = (protocol.requirements(), self.plan());
        if self.stream.is_some_and(|stream| !stream.is_valid()) {
            return Err(SessionError::StreamPlan);
        }
        if self.stream.is_some() && !carries_streams(&protocol) {
            return Err(SessionError::Stream(self.protocol.clone()));
        }
        needs.check(&plan).map_err(SessionError::Plan)?;
        let needed = needs.channels(&plan);
        if self.channels != needed || needed > MAX_CHANNELS {
            return Err(SessionError::Channels(needed));
        }
        Ok(())
    }

    /// The protocol with the options of the session.
    ///
    /// # Errors
    /// [`SessionError::Option`] names one that is missing, unexpected or invalid.
    pub fn agree<P: AnyProtocol>(&self, mut protocol: P) -> Result<P, SessionError> {
        let names = protocol.requirements().agreed();
        let is_given = |name: &str| self.agreed.iter().any(|(given, _)| given == name);
        if let Some(missing) = names.iter().find(|name| !is_given(name)) {
            return Err(SessionError::Option((*missing).to_owned()));
        }
        for (name, value) in &self.agreed {
            let known = names.contains(&name.as_str());
            if !known || protocol.set(name, RawValue::from_text(value)).is_err() {
                return Err(SessionError::Option(name.clone()));
            }
        }
        Ok(protocol)
    }

    /// The destination of a channel's packets; none for a channel that the session does not have.
    pub fn address(&self, channel: Channel) -> Option<SocketAddr> {
        let group = higher(self.group.ip(), channel.0).filter(|_| channel.0 < self.channels)?;
        Some(SocketAddr::new(group, self.group.port()))
    }

    /// The groups of all channels.
    pub fn groups(&self) -> Option<GroupRange> {
        GroupRange::new(self.group, self.channels)
    }

    /// The bytes of the headers of IP and UDP in each packet.
    pub fn ip_udp_bytes(&self) -> u32 {
        ip_udp_bytes(self.group.ip())
    }

    /// Whether it goes over relays whose routers take part, and not to groups: its protocol has active routers.
    pub fn is_routed(&self) -> bool {
        Protocol::named(&self.protocol).is_some_and(|protocol| protocol.requirements().has_routers())
    }

    /// The size of the symbols that a source sends.
    pub fn symbol_size(&self) -> u16 {
        let tag = if self.group_key.is_some() { AUTH_BYTES as u32 } else { 0 };
        let link = if self.is_routed() { ROUTED_BYTES } else { 0 };
        symbol_size(self.packet, self.ip_udp_bytes() + tag + link)
    }

    /// The size of the symbols of a stream.
    pub fn stream_symbol_size(&self) -> u16 {
        let tag = if self.group_key.is_some() { AUTH_BYTES as u32 } else { 0 };
        stream::symbol_size(self.packet, self.ip_udp_bytes() + tag)
    }

    /// The rates of a receiver's levels, on average: those of the layers, unless the protocol makes layers of its own, and is one
    /// of Layercast's.
    pub fn levels(&self) -> LayerTable {
        let protocol = Protocol::named(&self.protocol).and_then(|protocol| self.agree(protocol).ok());
        protocol.map_or_else(|| self.layers.clone(), |protocol| self.levels_of(&protocol))
    }

    /// The rates of a receiver's levels, on average, by the session's protocol.
    pub fn levels_of(&self, protocol: &impl AnyProtocol) -> LayerTable {
        let (needs, plan) = (protocol.requirements(), self.plan());
        let rate = |count| needs.level_rate(&plan, Level::from_count(count));
        let levels = LayerTable::from_cumulative((1..=needs.levels(&plan)).map(rate));
        levels.unwrap_or_else(|_| self.layers.clone())
    }

    /// The session plan for the endpoints of the protocol.
    pub fn plan(&self) -> SessionPlan {
        SessionPlan { layers: self.layers.clone(), packet_size: self.packet }
    }
}

/// Whether a protocol can carry streams: each layer has a channel of its own, and the transport carries the protocol.
fn carries_streams(protocol: &impl AnyProtocol) -> bool {
    let needs = protocol.requirements();
    needs.has_static_layers() && !needs.has_routers() && !needs.is_reliable()
}

/// The protocols that can carry streams.
pub fn stream_protocols() -> Vec<&'static str> {
    let carries = |name: &&str| Protocol::named(name).is_some_and(|protocol| carries_streams(&protocol));
    registry::NAMES.iter().copied().filter(carries).collect()
}

/// Rounds the rates of layers to whole bit/s, as a description gives them.
///
/// # Errors
/// If the rate of a layer becomes zero.
pub fn whole_rates(layers: &LayerTable) -> Result<LayerTable, LayerError> {
    let whole = |layer| Rate::from_bps((layers.rate(layer).as_bps() + 0.5).floor());
    LayerTable::from_rates(layers.layers().map(whole))
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "layercast = 1")?;
        writeln!(f, "session = {}", self.tsi)?;
        writeln!(f, "protocol = \"{}\"", self.protocol)?;
        writeln!(f, "source = \"{}\"", self.source)?;
        writeln!(f, "group = \"{}\"", self.group)?;
        writeln!(f, "feedback = \"{}\"", self.feedback)?;
        writeln!(f, "packet = {}", self.packet.as_bytes())?;
        write!(f, "layers = [")?;
        for (index, layer) in self.layers.layers().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}", self.layers.rate(layer).as_bps() as u64)?;
        }
        writeln!(f, "]")?;
        if self.channels != self.layers.count() {
            writeln!(f, "channels = {}", self.channels)?;
        }
        if let Some(key) = &self.group_key {
            write!(f, "group_key = ")?;
            write_quoted(f, key)?;
            writeln!(f)?;
        }
        if let Some(salt) = self.salt {
            writeln!(f, "salt = \"{salt}\"")?;
        }
        if let Some(stream) = self.stream {
            writeln!(f, "stream = {stream}")?;
        }
        for (index, (name, value)) in self.agreed.iter().enumerate() {
            let before = if index == 0 { "options = { " } else { ", " };
            write!(f, "{before}{name} = ")?;
            write_quoted(f, value)?;
        }
        if self.agreed.is_empty() { Ok(()) } else { writeln!(f, " }}") }
    }
}

/// A basic string of TOML: values of options may have line breaks between their parts.
fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

impl FromStr for Session {
    type Err = SessionError;

    fn from_str(text: &str) -> Result<Session, SessionError> {
        Session::read_of::<Protocol>(text)
    }
}

impl Session {
    /// Reads the description of a session of one of these protocols.
    ///
    /// # Errors
    /// What is invalid.
    pub fn read_of<P: AnyProtocol>(text: &str) -> Result<Session, SessionError> {
        let document = Document::parse(text).map_err(|error| SessionError::Text(error.to_string()))?;
        let root = document.as_table();
        let value = |key: &'static str| root.get(key).and_then(Item::as_value).ok_or(SessionError::Key(key));
        let integer = |key| value(key)?.as_integer().ok_or(SessionError::Key(key));
        let word = |key| value(key)?.as_str().ok_or(SessionError::Key(key));
        let version = integer("layercast")?;
        if version != 1 {
            return Err(SessionError::Version(version));
        }
        let packet = integer("packet")?;
        let rates = value("layers")?.as_array().ok_or(SessionError::Key("layers"))?;
        let rate = |value: &Value| value.as_integer().map_or(Rate::ZERO, |bps| Rate::from_bps(bps as f64));
        let layers = LayerTable::from_rates(rates.iter().map(rate)).map_err(SessionError::Layers)?;
        let channels = match root.get("channels") {
            None => layers.count(),
            Some(_) => u16::try_from(integer("channels")?).map_err(|_| SessionError::Key("channels"))?,
        };
        let session = Session {
            tsi: u32::try_from(integer("session")?).map_err(|_| SessionError::Key("session"))?,
            protocol: word("protocol")?.to_owned(),
            source: word("source")?.parse().map_err(|_| SessionError::Key("source"))?,
            group: word("group")?.parse().map_err(|_| SessionError::Key("group"))?,
            feedback: word("feedback")?.parse().map_err(|_| SessionError::Key("feedback"))?,
            packet: Size::from_bytes(u32::try_from(packet).map_err(|_| SessionError::Packet(packet))?),
            layers,
            channels,
            agreed: read_agreed(root)?,
            group_key: match root.get("group_key") {
                None => None,
                Some(_) => Some(word("group_key")?.to_owned()),
            },
            salt: match root.get("salt") {
                None => None,
                Some(_) => Some(word("salt")?.parse().map_err(|_| SessionError::Key("salt"))?),
            },
            stream: match root.get("stream") {
                None => None,
                Some(item) => {
                    let plan = item.as_table_like().and_then(StreamPlan::read);
                    Some(plan.ok_or(SessionError::Key("stream"))?)
                }
            },
        };
        session.check_of::<P>()?;
        Ok(session)
    }
}

/// The table of options, none where it is missing.
fn read_agreed(root: &Table) -> Result<Vec<(String, String)>, SessionError> {
    let Some(item) = root.get("options") else { return Ok(Vec::new()) };
    let table = item.as_table_like().ok_or(SessionError::Key("options"))?;
    let text = |(name, item): (&str, &Item)| {
        let value = item.as_str().ok_or_else(|| SessionError::Option(name.to_owned()))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    table.iter().map(text).collect()
}
