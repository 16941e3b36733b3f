//! A packet of this transport as a value.

use core::fmt;

use layercast_core::Always as _;
use layercast_core::family::AnyHeader;
use layercast_core::lct::{Cci, ContentError, Extension, Frame, LctFields, MAX_FRAME};
use layercast_core::units::Level;
use layercast_protocols::registry;

use super::{Fdt, HET_CENC, HET_DEMAND, HET_FDT, HET_FTI, HET_POLL, Poll, View, demand};

/// The longest extensions that the transport adds: FDT, CENC, FTI, a poll and the known demand.
const MAX_FURTHER: usize = 4 + 4 + 16 + Poll::BYTES + 4;
/// The lengths of extensions in words.
const FTI_WORDS: u8 = 4;
const POLL_WORDS: u8 = (Poll::BYTES / 4) as u8;
/// The content encoding of an instance: zlib (RFC 6726, section 3.4.3).
const ZLIB: u8 = 1;

/// The longest LCT header of this transport: all extensions at once.
pub const MAX_HEADER: usize = MAX_FRAME + MAX_FURTHER;

/// FEC object transmission information as a packet carries it (RFC 5775, section 4.2): 14 bytes
/// whose meaning depends on the FEC encoding. The transport reads them in `object`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fti(pub [u8; 14]);

/// The LCT header of a packet of this transport, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// The protocol's LCT fields: CCI, TSI, flag A and the protocol's extension. Without a session number
    /// in them, that of the field `tsi` is written.
    pub fields: LctFields,
    /// The session (TSI).
    pub tsi: u32,
    /// The object (TOI).
    pub toi: u32,
    /// Whether the object ends (flag B).
    pub close_object: bool,
    /// The FEC encoding id, as codepoint (RFC 6726, section 5.1).
    pub codepoint: u8,
    /// The instance of the file delivery table that the packet is a part of; with object 0 only.
    pub fdt: Option<Fdt>,
    /// Whether that instance is compressed with zlib.
    pub is_compressed: bool,
    /// FEC object transmission information of this object.
    pub fti: Option<Fti>,
    /// A poll of the receivers.
    pub poll: Option<Poll>,
    /// The level of which the source knows that it is in demand; receivers that hold more say so.
    pub known_level: Option<Level>,
}

/// Why a valid LCT packet is not one of this transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOurs {
    /// Congestion control information of more than 64 bits.
    Cci {
        /// Its length in bytes.
        len: usize,
    },
    /// A session or object number that does not have 32 bits.
    Ids {
        /// Lengths of the two in bytes.
        lengths: (usize, usize),
    },
    /// It carries no extension of a known protocol.
    NoProtocol,
    /// The protocol's extension is too long.
    Extension(ContentError),
    /// The extension with FEC information has a wrong length, the FDT extension a wrong version, or the content encoding
    /// is not supported.
    Flute,
}

impl fmt::Display for NotOurs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotOurs::Cci { len } => write!(f, "congestion control information of {len} bytes"),
            NotOurs::Ids { lengths: (tsi, toi) } => {
                write!(f, "session and object numbers of {tsi} and {toi} bytes")
            }
            NotOurs::NoProtocol => write!(f, "no extension of a known protocol"),
            NotOurs::Extension(error) => write!(f, "{error}"),
            NotOurs::Flute => write!(f, "an unsupported FTI, FDT or CENC extension"),
        }
    }
}

impl core::error::Error for NotOurs {}

impl Repr {
    /// Writes the header to the start of `room` and returns its length.
    pub fn write(&self, room: &mut [u8; MAX_HEADER]) -> usize {
        let mut further = [0; MAX_FURTHER];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            // The buffer has space for all extensions, so nothing is ever truncated.
            if let Some(space) = further.get_mut(at..at + part.len()) {
                space.copy_from_slice(part);
            }
            at += part.len();
        };
        if let Some(fdt) = self.fdt {
            put(&[HET_FDT]);
            put(&fdt.content());
        }
        if self.is_compressed {
            put(&[HET_CENC, ZLIB, 0, 0]);
        }
        if let Some(Fti(content)) = &self.fti {
            put(&[HET_FTI, FTI_WORDS]);
            put(content);
        }
        if let Some(poll) = self.poll {
            put(&[HET_POLL, POLL_WORDS]);
            put(&poll.content());
        }
        if let Some(known) = self.known_level {
            put(&[HET_DEMAND]);
            put(&demand::content(known));
        }
        let frame = Frame {
            fields: self.fields,
            tsi: self.tsi,
            toi: self.toi,
            close_object: self.close_object,
            codepoint: self.codepoint,
            further: further.get(..at).always("all extensions fit"),
        };
        frame.write(room)
    }

    /// The fields of a packet, if it is one of this transport. Unknown extensions are ignored (RFC 5651,
    /// section 5.2.1).
    ///
    /// # Errors
    /// Why it is not one of this transport.
    pub fn read(view: &View<'_>) -> Result<Repr, NotOurs> {
        Repr::read_of::<registry::Header>(view)
    }

    /// The same with the protocols of another family.
    ///
    /// # Errors
    /// As [`Repr::read`].
    pub fn read_of<H: AnyHeader>(view: &View<'_>) -> Result<Repr, NotOurs> {
        let cci = Cci::of(view.cci()).ok_or(NotOurs::Cci { len: view.cci().len() })?;
        let lengths = view.id_lengths();
        let (Some(tsi), Some(toi), (4, 4)) = (view.tsi(), view.toi(), lengths) else {
            return Err(NotOurs::Ids { lengths });
        };
        let (mut own, mut fdt, mut fti, mut is_compressed) = (None, None, None, false);
        let (mut poll, mut known_level) = (None, None);
        for extension in view.extensions() {
            match extension.kind {
                HET_FTI => fti = Some(Fti(extension.content.try_into().map_err(|_| NotOurs::Flute)?)),
                HET_FDT => fdt = Some(Fdt::read(extension.content).ok_or(NotOurs::Flute)?),
                HET_CENC => match extension.content {
                    [0, ..] => {}
                    [ZLIB, ..] => is_compressed = true,
                    _ => return Err(NotOurs::Flute),
                },
                HET_POLL => poll = Poll::read(extension.content),
                HET_DEMAND => known_level = demand::read(extension.content),
                kind if H::is_lct_extension(kind) => {
                    own = Some(Extension::new(kind, extension.content).map_err(NotOurs::Extension)?);
                }
                _ => {}
            }
        }
        let extension = own.ok_or(NotOurs::NoProtocol)?;
        let tsi = tsi as u32;
        let end_of_session = view.close_session();
        Ok(Repr {
            fields: LctFields { cci, session: Some(tsi), end_of_session, extension },
            tsi,
            toi: toi as u32,
            close_object: view.close_object(),
            codepoint: view.codepoint(),
            fdt,
            is_compressed,
            fti,
            poll,
            known_level,
        })
    }
}
