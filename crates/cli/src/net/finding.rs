//! What names a session: the line that `send` prints, and what `receive` makes of the operator's words.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration as StdDuration;

use anyhow::Context as _;
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::announce::url::SessionUrl;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{PublicKey, SecretKey};
use layercast_delivery::session::Session;
use layercast_transport::finding::{Announced, Sought, announced_within, find_announced, is_sdp, signed_by};
use layercast_transport::receive::Known;

use crate::failure::Failure;
use crate::net::arguments::group;
use crate::net::failure::{failure, not_found};
use crate::net::key::{read_as, sign_description};
use crate::output::{complain, print};

/// Whether a word for a session is the file of its description.
pub(crate) fn is_description(word: &str) -> bool {
    [".sdp", ".session"].iter().any(|end| word.ends_with(end))
}

/// The keys that are trusted.
pub(crate) fn trusted(paths: &[PathBuf]) -> Result<Vec<PublicKey>, Failure> {
    paths.iter().map(|path| read_as(path, KeyFile::into_public)).collect()
}

/// Writes the description of the session where that was asked for: before anything is printed, so that a script that
/// waits for the first line finds it.
pub(crate) fn write_description(
    path: Option<&Path>,
    key: Option<&SecretKey>,
    session: &Session,
    description: &Description,
) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let text = if is_sdp(path) { description.write()? } else { session.to_string() };
    std::fs::write(path, &text)
        .with_context(|| format!("the description cannot be written to {}", path.display()))?;
    if let Some(key) = key {
        sign_description(path, text.as_bytes(), key)?;
    }
    Ok(())
}

/// Prints the line that names the session.
pub(crate) fn name_session(json: bool, description: &Description) -> anyhow::Result<()> {
    match description.url() {
        Some(url) if !json => print(&format!("{url}\n")),
        _ => Ok(()),
    }
}

/// What `receive` was given to find its session by.
pub(crate) struct Seek<'a> {
    pub(crate) named: Option<&'a str>,
    pub(crate) group: Option<SocketAddr>,
    pub(crate) source: Option<IpAddr>,
    /// Of a description.
    pub(crate) file: Option<&'a Path>,
    /// Whose signatures count.
    pub(crate) keys: Vec<PublicKey>,
    pub(crate) interface: Option<&'a str>,
    pub(crate) start_within: Option<StdDuration>,
    pub(crate) patience: StdDuration,
    /// Whether the relays that its description names are used.
    pub(crate) takes_relays: bool,
    pub(crate) quiet: bool,
}

/// What is known of the session that `receive` was asked for, and the name by which it was looked for among those that are announced.
pub(crate) fn sought(seek: &Seek<'_>, stop: &AtomicBool) -> Result<(Sought, Option<Announced>), Failure> {
    let (named, keys) = (seek.named, seek.keys.clone());
    let file = named.filter(|named| is_description(named));
    let sought = match (seek.file.or(file.map(Path::new)), named, seek.group) {
        (Some(path), ..) => Sought::by_description(path, keys).map_err(not_found)?,
        (None, Some(url), _) if is_url(url) => Sought::by_url(url, keys).map_err(not_found)?,
        (None, Some(name), _) => {
            let (sought, announced) = by_name(name, seek, stop)?;
            return Ok((sought, Some(announced)));
        }
        (None, None, Some(group)) => Sought::new(Known::Group(group, seek.source), None, keys),
        (None, None, None) => {
            return Err(Failure::Input("error: name a session or a group".to_owned()));
        }
    };
    Ok((sought, None))
}

/// Whether a word is the URL of a session.
fn is_url(word: &str) -> bool {
    word.split_once("://").is_some()
}

/// The session that is announced under a name.
fn by_name(name: &str, seek: &Seek<'_>, stop: &AtomicBool) -> Result<(Sought, Announced), Failure> {
    let keys = &seek.keys;
    if !seek.quiet {
        complain(&format!("note: waiting for the announcement of `{name}`"));
    }
    let within = announced_within(seek.start_within, seek.patience);
    let entry = find_announced(name, keys, seek.interface, within, stop).map_err(failure)?;
    if !seek.quiet {
        complain(&format!("note: `{name}` is announced, {}", signed_by(&entry.owner, keys)));
    }
    let sought = Sought::by_announcement(&entry, keys.clone()).map_err(failure)?;
    Ok((sought, Announced { name: name.to_owned(), within, takes_relays: seek.takes_relays }))
}

/// A session by its URL, its description or its group.
pub(crate) fn session_key(named: &str) -> Result<SessionKey, Failure> {
    let refused = |error: String| Failure::Input(format!("error: {named}: {error}"));
    if named.contains("://") {
        let url: SessionUrl = named.parse().map_err(|error| refused(format!("{error}")))?;
        return Ok(SessionKey { group: SocketAddr::new(url.group, url.port), source: url.source });
    }
    if let Ok(group) = group(named) {
        return Ok(SessionKey { group, source: None });
    }
    match Sought::by_description(Path::new(named), Vec::new()).map_err(not_found)?.known {
        Known::Session(session) => Ok(SessionKey { group: session.group, source: Some(session.source) }),
        known => Ok(SessionKey { group: known.group(), source: known.source() }),
    }
}
