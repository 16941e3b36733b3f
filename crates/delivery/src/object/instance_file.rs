//! Files in an instance of the table (RFC 6726, section 3.4.2), of our sources and of others.

use std::sync::Arc;

use base64ct::{Base64, Encoding as _};

use super::fields::{OWN, number, own_number, read_attributes, read_toi};
use super::text::{unbase64, unhex};
use super::{
    Coding, Compressed, Content, ContentEncoding, Entry, FEC_NO_CODE, FEC_RAPTORQ, FilePart, NoCode, Oti,
    OtiError, PartsError, Sha256, TableError,
};
use crate::percent;

pub(super) const SYMBOL: &str = "FEC-OTI-Encoding-Symbol-Length";
pub(super) const ENCODING: &str = "FEC-OTI-FEC-Encoding-ID";
pub(super) const SCHEME: &str = "FEC-OTI-Scheme-Specific-Info";
pub(super) const BLOCK: &str = "FEC-OTI-Maximum-Source-Block-Length";

/// DEFLATE makes nothing more than 1032 times shorter.
const MOST_SHRUNK: u64 = 1100;

type Node<'a, 'b> = roxmltree::Node<'a, 'b>;

/// The text of an attribute. FLUTE allows most at the file or at the instance.
fn text<'a>(root: Node<'a, '_>, file: Node<'a, '_>, name: &'static str) -> Result<&'a str, TableError> {
    file.attribute(name).or_else(|| root.attribute(name)).ok_or(TableError::Field(name))
}

/// A file. One that cannot be received is an entry as well, so that the others of the instance can.
pub(super) fn read_file(root: Node<'_, '_>, file: Node<'_, '_>) -> Result<Entry, TableError> {
    let location = file.attribute("Content-Location").ok_or(TableError::Field("Content-Location"))?;
    let toi = read_toi(file)?;
    let path = read_location(location).ok_or(TableError::Field("Content-Location"))?;
    let mut entry = Entry::new(toi, path, Content::Folder);
    entry.attributes = read_attributes(file)?;
    let content = read_coding(root, file).and_then(|coding| {
        entry.compressed = read_compressed(root, file, coding.length())?;
        entry.md5 = match file.attribute("Content-MD5") {
            None => None,
            Some(hash) => Some(unbase64(hash).ok_or(TableError::Field("Content-MD5"))?),
        };
        let sha256 = match file.attribute((OWN, "SHA-256")) {
            None => None,
            Some(hash) => Some(unhex(hash).ok_or(TableError::Field("SHA-256"))?),
        };
        entry.tag = match file.attribute((OWN, "Tag")) {
            None => None,
            Some(tag) => Some(unhex(tag).ok_or(TableError::Field("Tag"))?),
        };
        if let Some(text) = file.attribute((OWN, "Blocks")) {
            entry.leaves = read_leaves(text).ok_or(TableError::Field("Blocks"))?;
        }
        if let Some(files) = own_number(file, "Package")? {
            // Its files could not be told from others of the same name.
            let is_plain = sha256.is_some() && entry.compressed.is_none();
            entry.package = Some(files).filter(|_| is_plain);
            entry.package.ok_or(TableError::Field("Package"))?;
        }
        if let Some(part) = read_part(file, coding.length())? {
            let refuse = |reason| Err(TableError::Parts(reason));
            if sha256.is_none() {
                return refuse(PartsError::Hash);
            }
            if entry.compressed.is_some() || entry.package.is_some() {
                return refuse(PartsError::Kind);
            }
            let Some(path) = entry.path.strip_suffix(&part.suffix()) else {
                return refuse(PartsError::Name);
            };
            entry.path = path.to_owned();
            // The hash of the file is that of its parts.
            (entry.part, entry.md5) = (Some(part), None);
        }
        // Only what is in a partial file of its own, and is put in place as it is, can wait for its hash.
        let is_plain = entry.compressed.is_none() && entry.package.is_none() && entry.part.is_none();
        if entry.tag.is_some() && !(is_plain && entry.md5.is_none() && coding.symbols() > 0) {
            return Err(TableError::Field("Tag"));
        }
        Ok(Content::File { coding, sha256 })
    });
    entry.content = content.unwrap_or_else(Content::Unsupported);
    Ok(entry)
}

/// Which part of a file an object of `own` bytes is; none if it is no part.
fn read_part(file: Node<'_, '_>, own: u64) -> Result<Option<FilePart>, TableError> {
    let Some(number) = own_number::<u64>(file, "Part")? else { return Ok(None) };
    let field = |name| own_number::<u64>(file, name)?.ok_or(TableError::Field(name));
    let (count, offset, length) = (field("Parts")?, field("Offset")?, field("Length")?);
    let whole = file.attribute((OWN, "Whole")).ok_or(TableError::Parts(PartsError::Hash))?;
    let whole = unhex(whole).ok_or(TableError::Field("Whole"))?;
    FilePart::read(number, count, offset, own, length, whole).map(Some).map_err(TableError::Parts)
}

/// The hashes of at most 255 blocks, one after the other.
fn read_leaves(text: &str) -> Option<Arc<[Sha256]>> {
    let mut room = [0; 255 * 32];
    match Base64::decode(text, &mut room).ok()?.as_chunks() {
        (leaves, []) => Some(leaves.into()),
        _ => None,
    }
}

/// The path of a file from its URI: of `http://host/a/b` or `file:///a/b` that is `a/b`.
fn read_location(location: &str) -> Option<String> {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let path = match location.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => {
            rest.split_once('/').map_or("", |(_, path)| path).trim_start_matches('/')
        }
        _ => location,
    };
    percent::decode(path)
}

fn read_coding(root: Node<'_, '_>, file: Node<'_, '_>) -> Result<Coding, TableError> {
    let integer = |name| number::<u64>(text(root, file, name)?, name);
    let length = integer("Transfer-Length").or_else(|_| integer("Content-Length"))?;
    let encoding = integer(ENCODING)?;
    if ![FEC_NO_CODE, FEC_RAPTORQ].map(u64::from).contains(&encoding) {
        return Err(TableError::Oti(OtiError::Encoding(encoding)));
    }
    let symbol = u16::try_from(integer(SYMBOL)?).map_err(|_| TableError::Field(SYMBOL))?;
    if encoding == u64::from(FEC_RAPTORQ) {
        let scheme = unbase64(text(root, file, SCHEME)?).ok_or(TableError::Field(SCHEME))?;
        return Oti::new(length, symbol, scheme).map(Coding::RaptorQ).map_err(TableError::Oti);
    }
    let block = u32::try_from(integer(BLOCK)?).map_err(|_| TableError::Field(BLOCK))?;
    NoCode::new(length, symbol, block).map(Coding::NoCode).map_err(TableError::Oti)
}

/// How a file is compressed that is `length` bytes long in packets.
fn read_compressed(
    root: Node<'_, '_>,
    file: Node<'_, '_>,
    length: u64,
) -> Result<Option<Compressed>, TableError> {
    let Ok(word) = text(root, file, "Content-Encoding") else { return Ok(None) };
    let Some(encoding) = ContentEncoding::from_word(word).map_err(|()| TableError::Compression)? else {
        return Ok(None);
    };
    // It bounds what is written.
    let whole: u64 = number(
        file.attribute("Content-Length").ok_or(TableError::Field("Content-Length"))?,
        "Content-Length",
    )?;
    if whole > length.saturating_mul(MOST_SHRUNK) {
        return Err(TableError::Field("Content-Length"));
    }
    Ok(Some(Compressed { encoding, length: whole }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_become_paths_below_the_folder() {
        let path = |uri| read_location(uri).unwrap_or_default();
        assert_eq!(path("file:///a/b%20c"), "a/b c");
        assert_eq!(path("http://host.example:80/a/b?x=1"), "a/b?x=1");
        assert_eq!(path("https://host"), "");
        assert_eq!(path("a/b"), "a/b");
        // What is not safe stays so, and is refused by its path.
        assert_eq!(path("/etc/passwd"), "/etc/passwd");
        assert_eq!(path("file:///../x"), "../x");
        assert_eq!(path("file:////etc/passwd"), "etc/passwd");
        assert_eq!(path("file:///a/%2e%2e/%2e%2e/x"), "a/../../x");
        assert_eq!(path("../a://b/c"), "../a://b/c");
    }
}
