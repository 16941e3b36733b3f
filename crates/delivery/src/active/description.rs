//! What all nodes must know of a session: a short text that reads as TOML, which goes down from hop to hop.

use core::fmt::{self, Write as _};
use std::str::FromStr;

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::option::RawValue;
use layercast_core::session::SessionPlan;
use layercast_core::units::{Rate, Size};
use layercast_protocols::active::DATA_HEADER;
use layercast_protocols::registry::Protocol;
use toml_edit::{Document, Item};

use crate::session::{PACKET_BYTES, ip_udp_bytes};
use std::net::{IpAddr, Ipv4Addr};

/// The longest description in bytes, so that it fits into a packet.
pub const DESCRIPTION_MAX: usize = 1024;
/// The most options.
const OPTIONS_MAX: usize = 64;
/// The bytes before a packet on its link downwards (`crate::relay::message::Data`, IPv4).
const LINK_BYTES: u32 = 12;

/// A description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The number of the session, drawn by its source: another one is another session.
    pub session: u32,
    /// The protocol, by its name in the registry.
    pub protocol: String,
    /// The size of packets with data, all headers included.
    pub packet: Size,
    /// Options of the protocol that its nodes share, by name, as text.
    pub options: Vec<(String, String)>,
}

/// Why a text is no description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// It is too long, or not TOML.
    #[error("it is not a description: {0}")]
    Text(String),
    /// A key is missing, or its value is invalid.
    #[error("`{0}` is missing or invalid")]
    Key(&'static str),
    /// There is no such protocol, or it has no routers.
    #[error("there is no protocol `{0}` with active routers; use amca or nca")]
    Protocol(String),
    /// The protocol has no such option, or it has not this value.
    #[error("the option `{0}` is unknown or invalid")]
    Option(String),
}

impl Description {
    /// The protocol with the options.
    ///
    /// # Errors
    /// [`DescriptionError::Protocol`], [`DescriptionError::Option`].
    pub fn protocol(&self) -> Result<Protocol, DescriptionError> {
        let named = Protocol::named(&self.protocol).filter(|protocol| protocol.requirements().has_routers());
        let mut protocol = named.ok_or_else(|| DescriptionError::Protocol(self.protocol.clone()))?;
        protocol.deploy();
        for (name, value) in &self.options {
            let set = protocol.set(name, RawValue::from_text(value));
            set.map_err(|_| DescriptionError::Option(name.clone()))?;
        }
        Ok(protocol)
    }

    /// The plan of the session. These protocols have one layer, and decide on its rate themselves.
    pub fn plan(&self) -> Option<SessionPlan> {
        let layers = LayerTable::between(Rate::from_mbps(1.0), Rate::from_mbps(1.0)).ok()?;
        Some(SessionPlan { layers, packet_size: self.packet })
    }

    /// The bytes of data in a packet.
    pub fn piece(&self) -> usize {
        let headers = ip_udp_bytes(IpAddr::V4(Ipv4Addr::UNSPECIFIED)) + LINK_BYTES;
        (self.packet.as_bytes().saturating_sub(headers) as usize).saturating_sub(DATA_HEADER)
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "layercast = 1")?;
        writeln!(f, "session = {}", self.session)?;
        writeln!(f, "protocol = \"{}\"", self.protocol)?;
        write!(f, "packet = {}", self.packet.as_bytes())?;
        for (index, (name, value)) in self.options.iter().enumerate() {
            f.write_str(if index == 0 { "\noptions = { " } else { ", " })?;
            write!(f, "{name} = \"")?;
            for c in value.chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
                    c => f.write_char(c)?,
                }
            }
            f.write_char('"')?;
        }
        if self.options.is_empty() { f.write_str("\n") } else { f.write_str(" }\n") }
    }
}

impl FromStr for Description {
    type Err = DescriptionError;

    fn from_str(text: &str) -> Result<Description, DescriptionError> {
        if text.len() > DESCRIPTION_MAX {
            return Err(DescriptionError::Text(format!("{} bytes", text.len())));
        }
        let document = Document::parse(text).map_err(|error| DescriptionError::Text(error.to_string()))?;
        let root = document.as_table();
        let value =
            |key: &'static str| root.get(key).and_then(Item::as_value).ok_or(DescriptionError::Key(key));
        let integer = |key| value(key)?.as_integer().ok_or(DescriptionError::Key(key));
        if integer("layercast")? != 1 {
            return Err(DescriptionError::Key("layercast"));
        }
        let packet = u32::try_from(integer("packet")?).ok().filter(|bytes| PACKET_BYTES.contains(bytes));
        let mut options = Vec::new();
        if let Some(item) = root.get("options") {
            let table = item.as_table_like().ok_or(DescriptionError::Key("options"))?;
            for (name, item) in table.iter().take(OPTIONS_MAX) {
                let text = item.as_str().ok_or_else(|| DescriptionError::Option(name.to_owned()))?;
                options.push((name.to_owned(), text.to_owned()));
            }
        }
        let protocol = value("protocol")?.as_str().ok_or(DescriptionError::Key("protocol"))?.to_owned();
        let description = Description {
            session: u32::try_from(integer("session")?).map_err(|_| DescriptionError::Key("session"))?,
            protocol,
            packet: Size::from_bytes(packet.ok_or(DescriptionError::Key("packet"))?),
            options,
        };
        description.protocol()?;
        Ok(description)
    }
}
