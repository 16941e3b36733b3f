//! Percent-encoding (RFC 3986, section 2.1).

use core::fmt::Write as _;

/// Text as a path or a query of a URI: all but `/` and unreserved characters become %XX (section 2.3). A `/` stands for itself in
/// both (section 3.4).
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// The text; none if a `%` is not followed by two hexadecimal digits, or the result is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => (digit(bytes.next()?)? << 4 | digit(bytes.next()?)?) as u8,
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}
