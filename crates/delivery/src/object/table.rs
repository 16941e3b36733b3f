//! The file delivery table (RFC 6726, section 3.4).

use core::fmt::{self, Write as _};

use super::{FEC_RAPTORQ, Oti, OtiError, Sha256, TOI_FILE};

/// The XML namespace of attributes that FLUTE does not define.
const OWN: &str = "urn:layercast:fdt";

/// An instance of the table with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The file's name.
    pub name: String,
    /// Its blocks and symbols.
    pub oti: Oti,
    /// Its hash.
    pub sha256: Sha256,
    /// When the table expires, in seconds since 1900 (RFC 6726, section 3.4.2).
    pub expires_s: u64,
    /// Whether the source wants completion messages.
    pub wants_completions: bool,
    /// The session description as text.
    pub session: String,
}

/// Why a table is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// It is not XML, or not in UTF-8.
    Xml,
    /// The named field is missing or invalid.
    Field(&'static str),
    /// The file is not coded with RaptorQ.
    Encoding,
    /// The file's transmission information is invalid.
    Oti(OtiError),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Xml => write!(f, "the file delivery table is not XML"),
            TableError::Field(name) => write!(f, "the file delivery table has no valid {name}"),
            TableError::Encoding => write!(f, "the file is not coded with RaptorQ"),
            TableError::Oti(error) => write!(f, "the file delivery table: {error}"),
        }
    }
}

impl core::error::Error for TableError {}

impl Table {
    /// The table as XML.
    pub fn to_xml(&self) -> String {
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = write!(
            xml,
            "<FDT-Instance xmlns=\"urn:ietf:params:xml:ns:fdt\" xmlns:lc=\"{OWN}\" Expires=\"{}\" \
             Complete=\"true\"><File Content-Location=\"{}\" TOI=\"{TOI_FILE}\" Content-Length=\"{length}\" \
             Transfer-Length=\"{length}\" FEC-OTI-FEC-Encoding-ID=\"{FEC_RAPTORQ}\" \
             FEC-OTI-Encoding-Symbol-Length=\"{}\" FEC-OTI-Scheme-Specific-Info=\"{}\" lc:SHA-256=\"{}\"",
            self.expires_s,
            percent(&self.name),
            self.oti.symbol_size(),
            base64(self.oti.scheme()),
            hex(&self.sha256),
            length = self.oti.length(),
        );
        if self.wants_completions {
            xml.push_str(" lc:Completions=\"true\"");
        }
        let _ = write!(xml, "/><lc:Session>{}</lc:Session></FDT-Instance>", escaped(&self.session));
        xml
    }

    /// The table from XML. Never panics.
    ///
    /// # Errors
    /// Why it is invalid.
    pub fn from_xml(bytes: &[u8]) -> Result<Table, TableError> {
        let text = str::from_utf8(bytes).map_err(|_| TableError::Xml)?;
        let document = roxmltree::Document::parse(text).map_err(|_| TableError::Xml)?;
        let root = document.root_element();
        let named = |name: &'static str| root.children().find(move |node| node.tag_name().name() == name);
        if root.tag_name().name() != "FDT-Instance" {
            return Err(TableError::Field("FDT-Instance"));
        }
        let file = named("File").ok_or(TableError::Field("File"))?;
        let text = |name: &'static str| {
            // FLUTE allows the FEC attributes at the file or at the instance.
            file.attribute(name).or_else(|| root.attribute(name)).ok_or(TableError::Field(name))
        };
        let number = |name| text(name)?.trim().parse::<u64>().map_err(|_| TableError::Field(name));
        if number("TOI")? != u64::from(TOI_FILE) {
            return Err(TableError::Field("TOI"));
        }
        if number("FEC-OTI-FEC-Encoding-ID")? != u64::from(FEC_RAPTORQ) {
            return Err(TableError::Encoding);
        }
        let length = number("Transfer-Length").or_else(|_| number("Content-Length"))?;
        const SYMBOL: &str = "FEC-OTI-Encoding-Symbol-Length";
        let symbol = u16::try_from(number(SYMBOL)?).map_err(|_| TableError::Field(SYMBOL))?;
        const SCHEME: &str = "FEC-OTI-Scheme-Specific-Info";
        let scheme = unbase64(text(SCHEME)?).ok_or(TableError::Field(SCHEME))?;
        let hash = file.attribute((OWN, "SHA-256")).and_then(unhex).ok_or(TableError::Field("SHA-256"))?;
        let name = unpercent(text("Content-Location")?).ok_or(TableError::Field("Content-Location"))?;
        Ok(Table {
            name,
            oti: Oti::new(length, symbol, scheme).map_err(TableError::Oti)?,
            sha256: hash,
            expires_s: number("Expires")?,
            wants_completions: file.attribute((OWN, "Completions")) == Some("true"),
            session: named("Session").and_then(|node| node.text()).unwrap_or_default().to_owned(),
        })
    }
}

/// Text in XML. A bare carriage return is read as a line feed (XML 1.0, section 2.11).
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;")
}

/// A name as part of a URI: all but unreserved characters become %XX (RFC 3986, section 2.3).
fn percent(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

fn unpercent(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(if byte == b'%' {
            hex_digit(bytes.next()?)? << 4 | hex_digit(bytes.next()?)?
        } else {
            byte
        });
    }
    String::from_utf8(out).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Sha256> {
    let mut hash = Sha256::default();
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 2 * hash.len() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(pairs) {
        let &[high, low] = pair else { return None };
        *byte = hex_digit(high)? << 4 | hex_digit(low)?;
    }
    Some(hash)
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Four bytes in Base64 (RFC 4648, section 4).
fn base64(bytes: [u8; 4]) -> String {
    let bits = u64::from(u32::from_be_bytes(bytes)) << 4;
    let digit = |index: u32| char::from(BASE64[(bits >> (index * 6) & 63) as usize]);
    let mut text: String = (0..6).rev().map(digit).collect();
    text.push_str("==");
    text
}

fn unbase64(text: &str) -> Option<[u8; 4]> {
    let digits = text.trim().strip_suffix("==").filter(|digits| digits.len() == 6)?;
    let mut bits = 0u64;
    for byte in digits.bytes() {
        bits = bits << 6 | BASE64.iter().position(|&known| known == byte)? as u64;
    }
    (bits & 15 == 0).then_some(((bits >> 4) as u32).to_be_bytes())
}
