//! Header extensions (RFC 5651, section 5.2).

use super::PacketError;

pub use layercast_core::wire::taken::{
    HET_AUTH, HET_CENC, HET_DEMAND, HET_FDT, HET_FTI, HET_NOP, HET_POLL, HET_TIME,
};

/// Types from here on have one word and no length.
const FIXED_FROM: u8 = 128;

/// One extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Its type.
    pub kind: u8,
    /// Its content, without type and length: 3 bytes from type 128 on, else whole words less 2.
    pub content: &'a [u8],
}

/// The extensions of a header that has been checked.
#[derive(Clone, Copy, Debug)]
pub struct Extensions<'a> {
    rest: &'a [u8],
}

impl<'a> Extensions<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Extensions<'a> {
        Extensions { rest }
    }

    /// Whether the extensions fill their part of the header exactly.
    pub(super) fn check(mut rest: &[u8]) -> Result<(), PacketError> {
        while !rest.is_empty() {
            (_, rest) = split(rest)?;
        }
        Ok(())
    }

    /// The first extension of a type.
    pub fn find(mut self, kind: u8) -> Option<&'a [u8]> {
        self.find_map(|extension| (extension.kind == kind).then_some(extension.content))
    }
}

impl<'a> Iterator for Extensions<'a> {
    type Item = Extension<'a>;

    fn next(&mut self) -> Option<Extension<'a>> {
        // All extensions were checked before, so an error here only means the end.
        let (extension, rest) = split(self.rest).ok()?;
        self.rest = rest;
        Some(extension)
    }
}

fn split(rest: &[u8]) -> Result<(Extension<'_>, &[u8]), PacketError> {
    let Some(&[kind, length]) = rest.first_chunk() else {
        return Err(PacketError::Truncated { need: 2, have: rest.len() });
    };
    let (start, end) = if kind < FIXED_FROM { (2, usize::from(length) * 4) } else { (1, 4) };
    match (rest.get(start..end), rest.get(end..)) {
        (Some(content), Some(rest)) => Ok((Extension { kind, content }, rest)),
        _ => Err(PacketError::ExtensionLength { kind }),
    }
}

/// The content of an FDT extension (RFC 6726, section 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fdt {
    /// The number of the instance, 20 bits.
    instance: u32,
}

impl Fdt {
    /// FLUTE's version (RFC 6726, section 3.4.1).
    const VERSION: u8 = 2;

    /// An instance; its number counts modulo 2^20.
    pub fn new(instance: u32) -> Fdt {
        Fdt { instance: instance & 0xf_ffff }
    }

    /// The number of the instance.
    pub fn instance(self) -> u32 {
        self.instance
    }

    /// The content as bytes.
    pub(super) fn content(self) -> [u8; 3] {
        let [_, high, middle, low] = self.instance.to_be_bytes();
        [Fdt::VERSION << 4 | high, middle, low]
    }

    /// Reads the content; none for another version of FLUTE.
    pub(crate) fn read(content: &[u8]) -> Option<Fdt> {
        match content {
            &[high, middle, low] if high >> 4 == Fdt::VERSION => {
                Some(Fdt { instance: u32::from_be_bytes([0, high & 15, middle, low]) })
            }
            _ => None,
        }
    }
}
