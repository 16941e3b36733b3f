//! Instances of the file delivery table (RFC 6726, section 3.4).

use core::fmt::{self, Write as _};
use std::sync::Arc;

use base64ct::{Base64, Encoding as _};

use super::text::{base64, escaped, hex, unbase64, unhex};
use super::{BlockHashes, Coding, FEC_NO_CODE, FEC_RAPTORQ, NoCode, Oti, OtiError, Sha256};
use crate::disk::Attributes;
use crate::percent;

/// The XML namespace of attributes that FLUTE does not define.
const OWN: &str = "urn:layercast:fdt";
/// The most entries that a reader takes from an instance.
const ENTRIES_MAX: usize = 4096;

/// An instance of the table. The instances of a session are a log: one with a higher number adds objects, replaces
/// those of the same path, or removes some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The number of this instance, which the header of its packets repeats without a checksum. None where the source is
    /// not ours.
    pub number: Option<u32>,
    /// The first instance of the log; those before are history. None where the source is not ours: then every instance
    /// stands alone.
    pub first: Option<u32>,
    /// Whether no later instance has something new (RFC 6726, section 3.4.2).
    pub complete: bool,
    /// When the instance expires, in seconds since 1900.
    pub expires_s: u64,
    /// Whether the source wants completion messages.
    pub wants_completions: bool,
    /// The session description as text; empty where there is none.
    pub session: String,
    /// The objects.
    pub entries: Vec<Entry>,
    /// Objects of earlier instances that are no longer a part of the session.
    pub removed: Vec<u32>,
}

/// An object of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number (TOI), not 0.
    pub toi: u32,
    /// Its path, with `/` between the parts.
    pub path: String,
    /// What it is.
    pub content: Content,
    /// The hashes of its source blocks as leaves of RFC 9162, of a signed object of several blocks; else empty.
    pub leaves: Arc<[Sha256]>,
    /// Permissions and times.
    pub attributes: Attributes,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A file.
    File {
        /// Its symbols.
        coding: Coding,
        /// Its hash; none from sources that do not give it.
        sha256: Option<Sha256>,
    },
    /// A folder without files.
    Folder,
}

impl Entry {
    /// The hashes of its blocks, if the sender is trusted who wrote this entry.
    pub fn block_hashes(&self) -> BlockHashes {
        let Content::File { coding: Coding::RaptorQ(oti), sha256 } = self.content else {
            return BlockHashes::None;
        };
        match sha256 {
            Some(sha256) if oti.blocks() == 1 => BlockHashes::Whole(sha256),
            _ if self.leaves.len() == usize::from(oti.blocks()) => {
                BlockHashes::Leaves(Arc::clone(&self.leaves))
            }
            _ => BlockHashes::None,
        }
    }
}

/// Why an instance is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// It is not XML, or not in UTF-8.
    Xml,
    /// The named field is missing or invalid.
    Field(&'static str),
    /// Its packets had another number in their header.
    Number {
        /// The number in the instance.
        own: u32,
        /// The number in the header.
        header: u32,
    },
    /// A file has an unsupported FEC encoding.
    Encoding(u64),
    /// A file's transmission information is invalid.
    Oti(OtiError),
    /// It has too many entries.
    Long,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Xml => write!(f, "the file delivery table is not XML"),
            TableError::Field(name) => write!(f, "the file delivery table has no valid {name}"),
            TableError::Number { own, header } => {
                write!(f, "instance {own} of the file delivery table came as instance {header}")
            }
            TableError::Encoding(id) => {
                write!(f, "a file has FEC encoding {id}; 0 (no code) and 6 (RaptorQ) are supported")
            }
            TableError::Oti(error) => write!(f, "the file delivery table: {error}"),
            TableError::Long => write!(f, "the file delivery table has more than {ENTRIES_MAX} entries"),
        }
    }
}

impl core::error::Error for TableError {}

const SYMBOL: &str = "FEC-OTI-Encoding-Symbol-Length";
const ENCODING: &str = "FEC-OTI-FEC-Encoding-ID";
const SCHEME: &str = "FEC-OTI-Scheme-Specific-Info";
const BLOCK: &str = "FEC-OTI-Maximum-Source-Block-Length";

impl Instance {
    /// The instance as XML.
    pub fn to_xml(&self) -> String {
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = write!(
            xml,
            "<FDT-Instance xmlns=\"urn:ietf:params:xml:ns:fdt\" xmlns:lc=\"{OWN}\" Expires=\"{}\"",
            self.expires_s
        );
        if self.complete {
            xml.push_str(" Complete=\"true\"");
        }
        if let Some(number) = self.number {
            let _ = write!(xml, " lc:Number=\"{number}\"");
        }
        if let Some(first) = self.first {
            let _ = write!(xml, " lc:First=\"{first}\"");
        }
        if self.wants_completions {
            xml.push_str(" lc:Completions=\"true\"");
        }
        xml.push('>');
        for entry in &self.entries {
            match entry.content {
                Content::File { coding, sha256 } => write_file(&mut xml, entry, coding, sha256),
                Content::Folder => {
                    let _ = write!(
                        xml,
                        "<lc:Folder Path=\"{}\" TOI=\"{}\"",
                        percent::encode(&entry.path),
                        entry.toi
                    );
                }
            }
            write_attributes(&mut xml, entry.attributes);
            xml.push_str("/>");
        }
        for toi in &self.removed {
            let _ = write!(xml, "<lc:Removed TOI=\"{toi}\"/>");
        }
        if !self.session.is_empty() {
            let _ = write!(xml, "<lc:Session>{}</lc:Session>", escaped(&self.session));
        }
        xml.push_str("</FDT-Instance>");
        xml
    }

    /// The instance from XML. Never panics.
    ///
    /// # Errors
    /// Why it is invalid.
    pub fn from_xml(bytes: &[u8]) -> Result<Instance, TableError> {
        let text = str::from_utf8(bytes).map_err(|_| TableError::Xml)?;
        let document = roxmltree::Document::parse(text).map_err(|_| TableError::Xml)?;
        let root = document.root_element();
        if root.tag_name().name() != "FDT-Instance" {
            return Err(TableError::Field("FDT-Instance"));
        }
        let mut instance = Instance {
            number: own_number(root, "Number")?,
            first: own_number(root, "First")?,
            complete: root.attribute("Complete") == Some("true"),
            expires_s: number(root.attribute("Expires").ok_or(TableError::Field("Expires"))?, "Expires")?,
            wants_completions: root.attribute((OWN, "Completions")) == Some("true"),
            session: String::new(),
            entries: Vec::new(),
            removed: Vec::new(),
        };
        for node in root.children().filter(roxmltree::Node::is_element) {
            match node.tag_name().name() {
                "File" => instance.entries.push(read_file(root, node)?),
                "Folder" => instance.entries.push(Entry {
                    toi: read_toi(node)?,
                    path: read_path(node, "Path")?,
                    content: Content::Folder,
                    leaves: Arc::default(),
                    attributes: read_attributes(node)?,
                }),
                "Removed" => instance.removed.push(read_toi(node)?),
                "Session" => instance.session = node.text().unwrap_or_default().to_owned(),
                _ => {}
            }
            if instance.entries.len() + instance.removed.len() > ENTRIES_MAX {
                return Err(TableError::Long);
            }
        }
        Ok(instance)
    }
}

fn write_file(xml: &mut String, entry: &Entry, coding: Coding, sha256: Option<Sha256>) {
    let _ = write!(
        xml,
        "<File Content-Location=\"{}\" TOI=\"{}\" Content-Length=\"{length}\" Transfer-Length=\"{length}\" \
         {ENCODING}=\"{}\" {SYMBOL}=\"{}\"",
        percent::encode(&entry.path),
        entry.toi,
        coding.encoding_id(),
        coding.symbol_size(),
        length = coding.length(),
    );
    let _ = match coding {
        Coding::RaptorQ(oti) => write!(xml, " {SCHEME}=\"{}\"", base64(oti.scheme())),
        Coding::NoCode(coding) => write!(xml, " {BLOCK}=\"{}\"", coding.max_block()),
    };
    if let Some(hash) = sha256 {
        let _ = write!(xml, " lc:SHA-256=\"{}\"", hex(&hash));
    }
    if !entry.leaves.is_empty() {
        let _ = write!(xml, " lc:Blocks=\"{}\"", Base64::encode_string(entry.leaves.as_flattened()));
    }
}

fn write_attributes(xml: &mut String, attributes: Attributes) {
    if let Some(mode) = attributes.mode {
        let _ = write!(xml, " lc:Mode=\"{mode:o}\"");
    }
    if let Some(modified) = attributes.modified_ns {
        let _ = write!(xml, " lc:Modified=\"{modified}\"");
    }
}

fn number<T: core::str::FromStr>(text: &str, name: &'static str) -> Result<T, TableError> {
    text.trim().parse().map_err(|_| TableError::Field(name))
}

fn own_number(node: roxmltree::Node<'_, '_>, name: &'static str) -> Result<Option<u32>, TableError> {
    node.attribute((OWN, name)).map(|text| number(text, name)).transpose()
}

fn read_toi(node: roxmltree::Node<'_, '_>) -> Result<u32, TableError> {
    let toi = number(node.attribute("TOI").ok_or(TableError::Field("TOI"))?, "TOI")?;
    if toi == 0 { Err(TableError::Field("TOI")) } else { Ok(toi) }
}

fn read_path(node: roxmltree::Node<'_, '_>, name: &'static str) -> Result<String, TableError> {
    node.attribute(name).and_then(percent::decode).ok_or(TableError::Field(name))
}

fn read_attributes(node: roxmltree::Node<'_, '_>) -> Result<Attributes, TableError> {
    let mode = node.attribute((OWN, "Mode")).map(|mode| u32::from_str_radix(mode, 8));
    let modified = node.attribute((OWN, "Modified")).map(str::parse::<i64>);
    Ok(Attributes {
        // Not the bits that give a program another user's rights.
        mode: mode.transpose().map_err(|_| TableError::Field("Mode"))?.map(|mode| mode & 0o777),
        modified_ns: modified.transpose().map_err(|_| TableError::Field("Modified"))?,
    })
}

/// The hashes of at most 255 blocks, one after the other.
fn read_leaves(text: &str) -> Option<Arc<[Sha256]>> {
    let mut room = [0; 255 * 32];
    match Base64::decode(text, &mut room).ok()?.as_chunks() {
        (leaves, []) => Some(leaves.into()),
        _ => None,
    }
}

fn read_file(root: roxmltree::Node<'_, '_>, file: roxmltree::Node<'_, '_>) -> Result<Entry, TableError> {
    let text = |name: &'static str| {
        // FLUTE allows the FEC attributes at the file or at the instance.
        file.attribute(name).or_else(|| root.attribute(name)).ok_or(TableError::Field(name))
    };
    let integer = |name| number::<u64>(text(name)?, name);
    if text("Content-Encoding").is_ok() {
        return Err(TableError::Field("Content-Encoding: compressed files are not supported"));
    }
    let length = integer("Transfer-Length").or_else(|_| integer("Content-Length"))?;
    let symbol = u16::try_from(integer(SYMBOL)?).map_err(|_| TableError::Field(SYMBOL))?;
    let coding = match integer(ENCODING)? {
        id if id == u64::from(FEC_RAPTORQ) => {
            let scheme = unbase64(text(SCHEME)?).ok_or(TableError::Field(SCHEME))?;
            Coding::RaptorQ(Oti::new(length, symbol, scheme).map_err(TableError::Oti)?)
        }
        id if id == u64::from(FEC_NO_CODE) => {
            let block = u32::try_from(integer(BLOCK)?).map_err(|_| TableError::Field(BLOCK))?;
            Coding::NoCode(NoCode::new(length, symbol, block).map_err(TableError::Oti)?)
        }
        other => return Err(TableError::Encoding(other)),
    };
    let sha256 = match file.attribute((OWN, "SHA-256")) {
        None => None,
        Some(hash) => Some(unhex(hash).ok_or(TableError::Field("SHA-256"))?),
    };
    let leaves = match file.attribute((OWN, "Blocks")) {
        None => Arc::default(),
        Some(text) => read_leaves(text).ok_or(TableError::Field("Blocks"))?,
    };
    Ok(Entry {
        toi: read_toi(file)?,
        path: read_path(file, "Content-Location")?,
        content: Content::File { coding, sha256 },
        leaves,
        attributes: read_attributes(file)?,
    })
}
