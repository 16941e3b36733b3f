//! Texts in the attributes of a table.

use base64ct::{Base64, Encoding as _};

use super::Sha256;

/// Text in XML. A bare carriage return is read as a line feed (XML 1.0, section 2.11).
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;")
}

pub(super) fn unhex(text: &str) -> Option<Sha256> {
    let mut hash = Sha256::default();
    let length = base16ct::mixed::decode(text, &mut hash).ok()?.len();
    (length == hash.len()).then_some(hash)
}

/// So many bytes in Base64 (RFC 4648, section 4), as HTTP has an MD5 (RFC 1864).
pub(super) fn unbase64<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    let length = Base64::decode(text.trim(), &mut bytes).ok()?.len();
    (length == BYTES).then_some(bytes)
}
