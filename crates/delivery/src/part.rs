//! What a packet of any FLUTE session says of its object, whatever its congestion control.

use crate::object::{ContentEncoding, Toi};
use crate::packet::{Fdt, Fti, HET_CENC, HET_FDT, HET_FTI, NotOurs, Repr, View};

/// The fields of a packet that its object needs (RFC 6726, section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The session (TSI), of up to 48 bits.
    pub tsi: u64,
    /// The object.
    pub toi: Toi,
    /// The FEC encoding id, as codepoint (RFC 6726, section 5.1).
    pub codepoint: u8,
    /// The instance of the file delivery table that the packet is a part of; with object 0 only.
    pub fdt: Option<Fdt>,
    /// How that instance is compressed.
    pub encoding: Option<ContentEncoding>,
    /// FEC information of the object.
    pub fti: Option<Fti>,
}

impl From<&Repr> for Part {
    fn from(repr: &Repr) -> Part {
        Part {
            tsi: repr.tsi.into(),
            toi: repr.toi.into(),
            codepoint: repr.codepoint,
            fdt: repr.fdt,
            encoding: repr.is_compressed.then_some(ContentEncoding::Zlib),
            fti: repr.fti,
        }
    }
}

/// A packet of a FLUTE session of any sender. Session and object numbers have any length of RFC 5651 (section 5.1), and
/// congestion control information has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlutePacket {
    /// The session (TSI), of up to 48 bits.
    pub tsi: u64,
    /// Whether the session ends (flag A).
    pub close_session: bool,
    /// What it carries; none if it carries no object.
    pub part: Option<Part>,
}

impl FlutePacket {
    /// The fields of a packet. Unknown extensions are ignored (RFC 5651, section 5.2.1).
    ///
    /// # Errors
    /// Why it is none of a FLUTE session (RFC 6726).
    pub fn read(view: &View<'_>) -> Result<FlutePacket, NotOurs> {
        let tsi = view.tsi().ok_or(NotOurs::Ids { lengths: view.id_lengths() })?;
        let (mut fdt, mut fti, mut encoding) = (None, None, None);
        for extension in view.extensions() {
            match extension.kind {
                // That of an object's packets is of no use: the table has it.
                HET_FTI => fti = extension.content.try_into().ok().map(Fti),
                HET_FDT => fdt = Some(Fdt::read(extension.content).ok_or(NotOurs::Flute)?),
                HET_CENC => {
                    let &[number, ..] = extension.content else { return Err(NotOurs::Flute) };
                    encoding = ContentEncoding::from_number(number).map_err(|_| NotOurs::Flute)?;
                }
                _ => {}
            }
        }
        // The end of a session may have a number of zero, of bits that a session number of 48 bits brings with it.
        let toi = view.toi().filter(|_| !view.payload().is_empty());
        let part = toi.map(|toi| Part { tsi, toi, codepoint: view.codepoint(), fdt, encoding, fti });
        Ok(FlutePacket { tsi, close_session: view.close_session(), part })
    }
}
