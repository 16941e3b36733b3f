//! What the packets of protocols with active routers are made of: words in network byte order, and a checksum.

use alloc::vec::Vec;

/// Bytes end within a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutShort;

pub(crate) fn words(bytes: &mut Vec<u8>, words: &[u32]) {
    bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
}

/// The next 32 bits.
pub(crate) fn word(rest: &mut &[u8]) -> Result<u32, CutShort> {
    let (word, left) = rest.split_first_chunk().ok_or(CutShort)?;
    *rest = left;
    Ok(u32::from_be_bytes(*word))
}

/// The next 64 bits.
pub(crate) fn double(rest: &mut &[u8]) -> Result<u64, CutShort> {
    let (high, low) = (word(rest)?, word(rest)?);
    Ok(u64::from(high) << 32 | u64::from(low))
}

/// Writes the checksum of a packet into its field, which begins at `field` and lies within the packet.
pub(crate) fn seal(packet: &mut [u8], field: usize) {
    let sum = checksum(packet, field).to_be_bytes();
    packet[field..field + 4].copy_from_slice(&sum);
}

/// The checksum of a packet, its own field, which begins at `field` and lies within the packet, taken as 0.
pub(crate) fn checksum(packet: &[u8], field: usize) -> u32 {
    let (before, after) = (&packet[..field], &packet[field + 4..]);
    !update(update(update(u32::MAX, before), &[0; 4]), after)
}

/// CRC-32 of ISO 3309, as Ethernet has it.
fn update(state: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(state, |state, &byte| TABLE[usize::from(state as u8 ^ byte)] ^ state >> 8)
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut remainder = index as u32;
        let mut bit = 0;
        while bit < 8 {
            let divides = remainder & 1 == 1;
            remainder >>= 1;
            if divides {
                remainder ^= 0xedb8_8320;
            }
            bit += 1;
        }
        table[index] = remainder;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(!update(u32::MAX, b"123456789"), 0xcbf4_3926);
        let mut packet = *b"0123456789ab\xff\xff\xff\xffcd";
        assert_eq!(checksum(&packet, 12), !update(u32::MAX, b"0123456789ab\0\0\0\0cd"));
        let sum = checksum(&packet, 12);
        seal(&mut packet, 12);
        assert_eq!(packet[12..16], sum.to_be_bytes());
        assert_eq!(checksum(&packet, 12), sum);
    }
}
