//! Instances of the file delivery table (RFC 6726, section 3.4).

use core::fmt::Write as _;

use base16ct::lower::encode_string as hex;
use base64ct::{Base64, Encoding as _};

use super::entry::ENTRIES_MAX;
use super::fields::{OWN, number, own_number, read_attributes, read_path, read_toi};
use super::instance_file::{BLOCK, ENCODING, SCHEME, SYMBOL, read_file};
use super::text::escaped;
use super::{Coding, Compressed, Content, Entry, Sha256, TableError, Toi};
use crate::disk::Attributes;
use crate::percent;

/// An instance of the table. The instances of a session are a log: one with a higher number adds objects, replaces
/// those of the same path, or removes some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    pub removed: Vec<Toi>,
    /// Files that are no longer a part of the session, each with the package that they were in.
    pub removed_files: Vec<(Toi, String)>,
}

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
                // Our sources have none.
                Content::Unsupported(_) => continue,
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
        for (toi, path) in &self.removed_files {
            let _ = write!(xml, "<lc:Removed TOI=\"{toi}\" Path=\"{}\"/>", percent::encode(path));
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
            complete: root.attribute("Complete").is_some_and(|value| matches!(value.trim(), "true" | "1")),
            expires_s: number(root.attribute("Expires").ok_or(TableError::Field("Expires"))?, "Expires")?,
            wants_completions: root.attribute((OWN, "Completions")) == Some("true"),
            session: String::new(),
            entries: Vec::new(),
            removed: Vec::new(),
            removed_files: Vec::new(),
        };
        for node in root.children().filter(roxmltree::Node::is_element) {
            match node.tag_name().name() {
                "File" => instance.entries.push(read_file(root, node)?),
                "Folder" => {
                    let entry = Entry::new(read_toi(node)?, read_path(node, "Path")?, Content::Folder);
                    instance.entries.push(Entry { attributes: read_attributes(node)?, ..entry });
                }
                "Removed" if node.has_attribute("Path") => {
                    instance.removed_files.push((read_toi(node)?, read_path(node, "Path")?));
                }
                "Removed" => instance.removed.push(read_toi(node)?),
                "Session" => instance.session = node.text().unwrap_or_default().to_owned(),
                _ => {}
            }
            let entries = instance.entries.len() + instance.removed.len() + instance.removed_files.len();
            if entries > ENTRIES_MAX {
                return Err(TableError::Long);
            }
        }
        Ok(instance)
    }
}

fn write_file(xml: &mut String, entry: &Entry, coding: Coding, sha256: Option<Sha256>) {
    let _ = write!(
        xml,
        "<File Content-Location=\"{}\" TOI=\"{}\" Content-Length=\"{}\" Transfer-Length=\"{}\" \
         {ENCODING}=\"{}\" {SYMBOL}=\"{}\"",
        percent::encode(&entry.location()),
        entry.toi,
        entry.own_length(),
        coding.length(),
        coding.encoding_id(),
        coding.symbol_size(),
    );
    let _ = match coding {
        Coding::RaptorQ(oti) => write!(xml, " {SCHEME}=\"{}\"", Base64::encode_string(&oti.scheme())),
        Coding::NoCode(coding) => write!(xml, " {BLOCK}=\"{}\"", coding.max_block()),
    };
    if let Some(Compressed { encoding, .. }) = entry.compressed {
        let _ = write!(xml, " Content-Encoding=\"{encoding}\"");
    }
    if let Some(md5) = entry.md5 {
        let _ = write!(xml, " Content-MD5=\"{}\"", Base64::encode_string(&md5));
    }
    if let Some(hash) = sha256 {
        let _ = write!(xml, " lc:SHA-256=\"{}\"", hex(&hash));
    }
    if let Some(tag) = entry.tag {
        let _ = write!(xml, " lc:Tag=\"{}\"", hex(&tag));
    }
    if let Some(files) = entry.package {
        let _ = write!(xml, " lc:Package=\"{files}\"");
    }
    if let Some(part) = entry.part {
        let _ = write!(
            xml,
            " lc:Part=\"{}\" lc:Parts=\"{}\" lc:Offset=\"{}\" lc:Length=\"{}\" lc:Whole=\"{}\"",
            u64::from(part.number) + 1,
            part.layout.count(),
            part.offset(),
            part.layout.length(),
            hex(&part.sha256),
        );
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
