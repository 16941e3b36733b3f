//! Texts in the attributes of a table.

use core::fmt::Write as _;

use base64ct::Encoding as _;

use super::{Md5, Sha256};
use layercast_core::cannot_be;

/// Text in XML. A bare carriage return is read as a line feed (XML 1.0, section 2.11).
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;")
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn unhex(text: &str) -> Option<Sha256> {
    let mut hash = Sha256::default();
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 2 * hash.len() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(pairs) {
        let &[high, low] = pair else { return cannot_be("chunks are exact") };
        *byte = hex_digit(high)? << 4 | hex_digit(low)?;
    }
    Some(hash)
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Four bytes in Base64 (RFC 4648, section 4).
pub(super) fn base64(bytes: [u8; 4]) -> String {
    let bits = u64::from(u32::from_be_bytes(bytes)) << 4;
    let digit = |index: u32| char::from(BASE64[(bits >> (index * 6) & 63) as usize]);
    let mut text: String = (0..6).rev().map(digit).collect();
    text.push_str("==");
    text
}

/// An MD5 in Base64, as HTTP has it (RFC 1864).
pub(super) fn base64_md5(hash: Md5) -> String {
    base64ct::Base64::encode_string(&hash)
}

pub(super) fn unbase64_md5(text: &str) -> Option<Md5> {
    let mut hash = Md5::default();
    let bytes = base64ct::Base64::decode(text.trim(), &mut hash).ok()?;
    (bytes.len() == size_of::<Md5>()).then_some(hash)
}

pub(super) fn unbase64(text: &str) -> Option<[u8; 4]> {
    let digits = text.trim().strip_suffix("==").filter(|digits| digits.len() == 6)?;
    let mut bits = 0u64;
    for byte in digits.bytes() {
        bits = bits << 6 | BASE64.iter().position(|&known| known == byte)? as u64;
    }
    (bits & 15 == 0).then_some(((bits >> 4) as u32).to_be_bytes())
}
