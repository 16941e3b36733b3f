//! What names a session: the line that `send` prints, and what `receive` makes of the operator's words.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, Instant};

use anyhow::Context as _;
use layercast_delivery::announce::directory::{Directory, Entry, FindError, Owner, Refusal};
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::announce::url::SessionUrl;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{PublicKey, SecretKey};
use layercast_delivery::session::Session;
use layercast_transport::finding::Sought;
use layercast_transport::listening::Listener;
use layercast_transport::receive::Known;

use crate::failure::Failure;
use crate::net::arguments::group;
use crate::net::failure::{failure, not_found};
use crate::net::key::{read_as, sign_description};
use crate::output::{complain, print};

/// The shortest wait for an announcement by default: those of a session are up to 40 s apart.
const ANNOUNCED_WITHIN: StdDuration = StdDuration::from_secs(45);
/// The interval of checks for an interruption by the user.
const POLL_INTERVAL: StdDuration = StdDuration::from_millis(200);

/// Whether a file has a description in SDP.
pub(crate) fn is_sdp(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sdp"))
}

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
    pub(crate) quiet: bool,
}

/// What is known of the session that `receive` was asked for. One that is named by its name is looked for among those that
/// are announced.
pub(crate) fn sought(seek: &Seek<'_>, stop: &AtomicBool) -> Result<Sought, Failure> {
    let (named, keys) = (seek.named, seek.keys.clone());
    let file = named.filter(|named| is_description(named));
    if let Some(path) = seek.file.or(file.map(Path::new)) {
        return Sought::by_description(path, keys).map_err(not_found);
    }
    match (named, seek.group) {
        (Some(url), _) if is_url(url) => Sought::by_url(url, keys).map_err(not_found),
        (Some(name), _) => announced(name, seek, stop),
        (None, Some(group)) => Ok(Sought::new(Known::Group(group, seek.source), None, keys)),
        (None, None) => Err(Failure::Input("error: name a session or a group".to_owned())),
    }
}

/// Whether a word is the URL of a session.
fn is_url(word: &str) -> bool {
    word.split_once("://").is_some()
}

/// The session that is announced under a name. Its place counts, and its salt; the rest is learnt from its packets, whose
/// table one of the keys must have signed too. So a restarted sender is followed.
fn announced(name: &str, seek: &Seek<'_>, stop: &AtomicBool) -> Result<Sought, Failure> {
    let keys = seek.keys.clone();
    let within = seek.start_within.unwrap_or(seek.patience.max(ANNOUNCED_WITHIN));
    if !seek.quiet {
        complain(&format!("note: waiting for the announcement of `{name}`"));
    }
    let entry = find(name, &keys, seek.interface, within, stop)?;
    if !seek.quiet {
        complain(&format!("note: `{name}` is announced, {}", signed_by(&entry.owner, &keys)));
    }
    let unusable = |error: String| Failure::Other(anyhow::anyhow!("`{name}` cannot be received: {error}"));
    let description = &entry.description;
    if let Some(session) = description.flute_session().map_err(|error| unusable(error.to_string()))? {
        // The announcement may be signed.
        return Ok(Sought::new(Known::Flute(session), None, keys));
    }
    let text = description.session_text().map_err(|error| unusable(error.to_string()))?;
    let session: Session = text
        .parse()
        .map_err(|error: layercast_delivery::session::SessionError| unusable(error.to_string()))?;
    let known = Known::Group(session.group, Some(session.source));
    Ok(Sought { relays: description.relays(), ..Sought::new(known, session.salt, keys) })
}

/// Whether one of the keys signs for a session; of no keys, anyone may.
fn is_trusted(owner: &Owner, keys: &[PublicKey]) -> bool {
    keys.is_empty() || owner.key().is_some_and(|signer| keys.iter().any(|key| key.to_bytes() == *signer))
}

/// Who vouches for a session, in words.
pub(crate) fn signed_by(owner: &Owner, keys: &[PublicKey]) -> String {
    match owner {
        Owner::Host(host) => format!("not signed, from {host}"),
        Owner::Key(bytes) => {
            let Ok(key) = PublicKey::from_bytes(bytes) else { return "signed by an invalid key".to_owned() };
            let trust = match keys {
                [] => "",
                keys if keys.contains(&key) => ", which is trusted",
                _ => ", which is not trusted",
            };
            format!("signed by {}{trust}", key.fingerprint())
        }
    }
}

/// Waits for the announcement of a session that one of the keys has signed.
fn find(
    name: &str,
    keys: &[PublicKey],
    interface: Option<&str>,
    within: StdDuration,
    stop: &AtomicBool,
) -> Result<Entry, Failure> {
    let mut listener = Listener::open(interface, keys).map_err(failure)?;
    let mut forged = None;
    let begin = Instant::now();
    loop {
        let fitting: Vec<&Entry> = listener
            .directory()
            .sessions()
            .filter(|entry| entry.description.name == name && is_trusted(&entry.owner, keys))
            .collect();
        match &fitting[..] {
            [] => {}
            [one] => return Ok((*one).clone()),
            several => {
                let lines = several.iter().filter_map(|entry| entry.url()).map(|url| url.to_string());
                let error = FindError::Ambiguous { name: name.to_owned(), lines: lines.collect() };
                return Err(Failure::Other(error.into()));
            }
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Other(anyhow::anyhow!("interrupted")));
        }
        if begin.elapsed() >= within {
            return Err(unfound(name, keys, listener.directory(), within, forged));
        }
        let patience = POLL_INTERVAL.min(within.saturating_sub(begin.elapsed()));
        listener
            .wait(patience, &mut |_, change, from| {
                if let Err(Refusal::Forged | Refusal::OtherKey) = change {
                    forged = Some(from);
                }
            })
            .map_err(failure)?;
    }
}

/// Why no session was found.
fn unfound(
    name: &str,
    keys: &[PublicKey],
    directory: &Directory,
    within: StdDuration,
    forged: Option<IpAddr>,
) -> Failure {
    let waited = within.as_secs();
    let wrong = forged.map_or(String::new(), |from| {
        format!(". Announcements from {from} with a wrong signature were refused")
    });
    let refused = directory.sessions().find(|entry| entry.description.name == name);
    let text = match refused {
        Some(entry) => {
            let names: Vec<String> = keys.iter().map(|key| key.fingerprint().to_string()).collect();
            format!(
                "`{name}` is refused: it is {}, and only sessions that {} has signed are received{wrong}",
                signed_by(&entry.owner, keys),
                names.join(" or "),
            )
        }
        None => {
            let reason = directory.find(name).map_or_else(|error| error.to_string(), |_| String::new());
            format!(
                "{reason} (after {waited} s){wrong}. `layercast sessions` lists what is announced, with --interface as here"
            )
        }
    };
    Failure::Other(anyhow::Error::msg(text))
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
