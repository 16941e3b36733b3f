//! The wire form of a protocol's headers: where each is placed in an LCT packet or in a report.
//!
//! Data travels in LCT packets (RFC 5651), identified by the type of a header extension; feedback travels by
//! unicast in reports, identified by their first byte. The numbers of each protocol are listed in one
//! place, its [family](crate::family!), which passes them to the functions here.

use core::fmt;
use core::net::{IpAddr, SocketAddr};

use crate::contract::Header;
use crate::lct::{Cci, LctFields};
use crate::units::{Channel, Layer};

/// The UDP port of data, unless a session names another.
pub const DATA_PORT: u16 = 5500;

/// Reads the group of a session's base layer: an address with a port, or with [`DATA_PORT`].
///
/// # Errors
/// If it is no address, or has no port that packets can be sent to.
pub fn group(text: &str) -> Result<SocketAddr, GroupError> {
    let alone = |_| text.parse().map(|address: IpAddr| SocketAddr::new(address, DATA_PORT));
    let group: SocketAddr = text.parse().or_else(alone).map_err(|_| GroupError::Address)?;
    if group.port() == 0 { Err(GroupError::Port) } else { Ok(group) }
}

/// Why a text is not the group of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupError {
    /// It is no address.
    Address,
    /// Its port is 0.
    Port,
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GroupError::Address => f.write_str(
                "an address of IPv4 or IPv6, with a port or without, such as 239.1.2.0:5500 or [ff15::1:0]:5500",
            ),
            GroupError::Port => {
                write!(f, "port 0 is none to send to: use one from 1 to 65535, or none for {DATA_PORT}")
            }
        }
    }
}

impl core::error::Error for GroupError {}

/// The UDP port of feedback in what the simulator captures.
pub const FEEDBACK_PORT: u16 = 5501;

/// The longest report in bytes.
pub const MAX_REPORT: usize = 44;

pub mod taken {
    //! The transport's own numbers: types of LCT header extensions, and first bytes of messages from receivers and to
    //! them. A family in which a protocol has one of them [does not compile](crate::family!).

    macro_rules! taken {
        ($(#[doc = $all:literal])* $list:ident: $( $(#[doc = $doc:literal])* $name:ident = $number:literal; )+) => {
            $( $(#[doc = $doc])* pub const $name: u8 = $number; )+

            $(#[doc = $all])*
            pub const $list: &[u8] = &[$($name),+];
        };
    }

    taken! {
        /// All types of LCT header extensions that the transport writes or reads.
        EXTENSIONS:
        /// No operation (RFC 5651, section 5.2.1).
        HET_NOP = 0;
        /// Authentication (RFC 5651, section 5.2.1): a group MAC, checked before anything else.
        HET_AUTH = 1;
        /// Times; recognised and not used (RFC 5651, section 5.2.2).
        HET_TIME = 2;
        /// FEC object transmission information (RFC 5775, section 4.2).
        HET_FTI = 64;
        /// A poll of receivers; of the types that a protocol instantiation assigns itself (RFC 5651, section 9.1), like
        /// those of the congestion controls.
        HET_POLL = 120;
        /// File delivery table instance (RFC 6726, section 3.4.1).
        HET_FDT = 192;
        /// Content encoding of an instance of the file delivery table (RFC 6726, section 3.4.3).
        HET_CENC = 193;
        /// The level in demand that the source knows of; one word.
        HET_DEMAND = 248;
    }

    taken! {
        /// The first bytes of all messages of the transport that share a socket with reports.
        MESSAGES:
        /// A receiver has an object.
        COMPLETION = 0x13;
        /// The source serves no further receiver.
        REFUSAL = 0x18;
        /// How far a receiver is.
        RECEPTION = 0x19;
        /// The level that a receiver holds.
        DEMAND = 0x1a;
    }
}

/// The numbers by which a protocol's packets are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireNumbers {
    /// The types of its LCT header extensions, of those that a protocol instantiation assigns itself
    /// (RFC 5651, section 9.1). Empty for a protocol without a wire form.
    pub extensions: &'static [u8],
    /// The first byte of its reports; none for a protocol without feedback.
    pub report: Option<u8>,
}

impl WireNumbers {
    /// The type of the first extension; 0 for a protocol without a wire form.
    pub fn extension(&self) -> u8 {
        self.extensions.first().copied().unwrap_or_default()
    }
}

/// Which lengths of congestion control information a protocol uses (RFC 5651, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CciLength {
    /// 32 bits.
    Short,
    /// 64 bits.
    Long,
    /// Either.
    Any,
}

impl CciLength {
    /// Whether the protocol uses information of this length.
    pub fn admits(self, cci: Cci) -> bool {
        match self {
            CciLength::Short => matches!(cci, Cci::Short(_)),
            CciLength::Long => matches!(cci, Cci::Long(_)),
            CciLength::Any => true,
        }
    }
}

/// The wire form of a protocol's headers. Decoding never panics.
pub trait Wire: Header {
    /// Why bytes are not a header.
    type Error: core::error::Error + Copy + PartialEq;

    /// The length of the congestion control information.
    const CCI: CciLength = CciLength::Short;

    /// The fields of a data header in an LCT packet; none for feedback.
    fn to_lct(&self, _numbers: &WireNumbers) -> Option<LctFields> {
        None
    }

    /// The data header of an LCT packet whose extension is one of `numbers`.
    ///
    /// # Errors
    /// What is wrong with the fields.
    fn from_lct(fields: &LctFields, numbers: &WireNumbers) -> Result<Self, Self::Error>;

    /// The layer of a data header; of a channel outside the layers, that channel's number. None for feedback.
    fn layer(&self) -> Option<Layer>;

    /// The channel that a data header belongs on; none for feedback.
    fn channel(&self) -> Option<Channel> {
        self.layer().map(Layer::channel)
    }

    /// Writes a report and returns its length; none for a data header.
    fn encode_report(&self, _kind: u8, _bytes: &mut [u8; MAX_REPORT]) -> Option<usize> {
        None
    }

    /// Reads a report whose first byte is `kind`; none if the protocol has no feedback.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    fn decode_report(_kind: u8, _bytes: &[u8]) -> Option<Result<Self, Self::Error>> {
        None
    }
}

/// The error of a protocol without a wire form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoWireForm;

impl fmt::Display for NoWireForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the protocol has no wire form")
    }
}

impl core::error::Error for NoWireForm {}
