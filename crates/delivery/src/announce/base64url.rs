//! Keys of 32 bytes as text: base64url without padding (RFC 4648, section 5).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// How many characters 32 bytes have.
const DIGITS: usize = 43;

/// 32 bytes as 43 characters.
pub(super) fn encode(bytes: &[u8; 32]) -> String {
    let digit = |bits: u32, shift: u32| char::from(ALPHABET[(bits >> shift & 63) as usize]);
    let mut text = String::with_capacity(DIGITS + 1);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().chain(&[0, 0]).take(3).fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
        // Three bytes are four digits; the last two bytes are three.
        text.extend([18, 12, 6, 0].iter().take(chunk.len() + 1).map(|&shift| digit(bits, shift)));
    }
    text
}

/// 32 bytes from 43 characters; none if they are not the one form of a key.
pub(super) fn decode(text: &str) -> Option<[u8; 32]> {
    if text.len() != DIGITS {
        return None;
    }
    let mut bytes = [0; 32];
    let mut free = bytes.iter_mut();
    let (mut bits, mut count) = (0u32, 0);
    for digit in text.bytes() {
        let value = ALPHABET.iter().position(|&known| known == digit)?;
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            *free.next()? = (bits >> count) as u8;
            bits &= (1 << count) - 1;
        }
    }
    // The two bits after the last byte are zero, so that a key has one spelling.
    (bits == 0).then_some(bytes)
}
