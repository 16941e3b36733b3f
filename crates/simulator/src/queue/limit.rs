//! How much queues hold.

use std::fmt;
use std::str::FromStr;

use layercast_core::option::{Kind, OptionType, RawValue};
use layercast_core::units::Size;

/// How much a queue holds. The packet in transmission is never part of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything.
    Unlimited,
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
}

impl QueueLimit {
    /// Whether what waits has reached the limit, so that one packet more exceeds it.
    pub(super) fn is_reached(self, packets: usize, bytes: u64) -> bool {
        match self {
            QueueLimit::Unlimited => false,
            QueueLimit::Packets(limit) => packets as u64 >= u64::from(limit),
            QueueLimit::Bytes(limit) => bytes >= limit,
        }
    }

    /// Whether what waits is more than the limit.
    pub(super) fn is_exceeded(self, packets: usize, bytes: u64) -> bool {
        match self {
            QueueLimit::Unlimited => false,
            QueueLimit::Packets(limit) => packets as u64 > u64::from(limit),
            QueueLimit::Bytes(limit) => bytes > limit,
        }
    }
}

/// The text is not the limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotALimit;

impl FromStr for QueueLimit {
    type Err = NotALimit;

    /// `unlimited`, a number of packets, or a size; neither may be zero.
    fn from_str(text: &str) -> Result<QueueLimit, NotALimit> {
        let text = text.trim();
        if text == "unlimited" {
            return Ok(QueueLimit::Unlimited);
        }
        let packets = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"));
        if let Some(packets) = packets {
            let packets: u32 = packets.trim().parse().map_err(|_| NotALimit)?;
            return if packets > 0 { Ok(QueueLimit::Packets(packets)) } else { Err(NotALimit) };
        }
        let bytes = u64::from(text.parse::<Size>().map_err(|_| NotALimit)?.as_bytes());
        if bytes > 0 { Ok(QueueLimit::Bytes(bytes)) } else { Err(NotALimit) }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLimit::Unlimited => write!(f, "unlimited"),
            QueueLimit::Packets(limit) => write!(f, "{limit} packets"),
            QueueLimit::Bytes(limit) => write!(f, "{limit} bytes"),
        }
    }
}

impl OptionType for QueueLimit {
    const KIND: Kind = Kind::Format {
        words: "\"unlimited\", \"45000 bytes\" or \"50 packets\"",
        pattern: "unlimited|[0-9][0-9_]*(\\.[0-9]+)?([eE][+-]?[0-9]+)? *(packets?|bytes|byte|B|kB|MB)",
    };
    // A limit has no bounds but its format; in which unit they would be given is open.
    type Bound = u32;

    fn bounded(&self) -> Option<&u32> {
        None
    }

    fn read(value: RawValue<'_>) -> Result<QueueLimit, String> {
        let limit = match value {
            RawValue::Text(text) => text.parse().ok(),
            RawValue::Integer(_) | RawValue::Number(_) | RawValue::Flag(_) => None,
        };
        limit.ok_or_else(|| format!("expected {}", Self::KIND))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}
