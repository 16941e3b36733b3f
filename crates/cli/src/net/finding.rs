//! What names a session: the line that `send` prints, and what `receive` makes of the operator's words.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, Instant};

use anyhow::Context as _;
use layercast_delivery::announce::directory::{Directory, Entry, FindError, Owner, Refusal};
use layercast_delivery::announce::flute::{FLUTE_SCHEME, FluteSession};
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::announce::url::SessionUrl;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{PublicKey, SecretKey};
use layercast_delivery::session::Session;
use layercast_transport::listening::Listener;
use layercast_transport::receive::Known;

use crate::failure::Failure;
use crate::net::arguments::group;
use crate::net::failure::failure;
use crate::net::key::{read_as, read_description, sign_description, verify_description, wrong};
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

/// The session that `receive` was asked for.
pub(crate) struct Sought {
    pub(crate) known: Known,
    /// The salt of its packets, if they are encrypted.
    pub(crate) salt: Option<Salt>,
    /// Whose signatures count.
    pub(crate) keys: Vec<PublicKey>,
    /// The relays that its description names.
    pub(crate) relays: Vec<SocketAddr>,
}

impl Sought {
    fn new(known: Known, salt: Option<Salt>, keys: Vec<PublicKey>) -> Sought {
        Sought { known, salt, keys, relays: Vec::new() }
    }
}

/// What is known of the session that `receive` was asked for. One that is named by its name is looked for among those that
/// are announced.
pub(crate) fn sought(seek: &Seek<'_>, stop: &AtomicBool) -> Result<Sought, Failure> {
    let (named, mut keys) = (seek.named, seek.keys.clone());
    let file = named.filter(|named| is_description(named));
    if let Some(path) = seek.file.or(file.map(Path::new)) {
        return described(path, &keys);
    }
    if let Some(line) = named.filter(|named| named.starts_with(FLUTE_SCHEME)) {
        let session: FluteSession =
            line.parse().map_err(|error| Failure::Input(format!("error: {line}: {error}")))?;
        return Ok(Sought::new(Known::Flute(session), None, keys));
    }
    match (named, seek.group) {
        (Some(url), _) if is_url(url) => {
            let url: SessionUrl =
                url.parse().map_err(|error| Failure::Input(format!("error: {url}: {error}")))?;
            trust(&url, &mut keys)?;
            let known = Known::Group(SocketAddr::new(url.group, url.port), url.source);
            Ok(Sought::new(known, url.salt, keys))
        }
        (Some(name), _) => announced(name, seek, stop),
        (None, Some(group)) => Ok(Sought::new(Known::Group(group, seek.source), None, keys)),
        (None, None) => Err(Failure::Input("error: name a session or a group".to_owned())),
    }
}

/// Whether a word is the URL of a session.
fn is_url(word: &str) -> bool {
    word.split_once("://").is_some()
}

/// Takes the key of a URL, if the operator has not said which keys count.
fn trust(url: &SessionUrl, keys: &mut Vec<PublicKey>) -> Result<(), Failure> {
    let Some(bytes) = &url.key else { return Ok(()) };
    let key = PublicKey::from_bytes(bytes)
        .map_err(|error| Failure::Input(format!("error: the key of the URL: {error}")))?;
    if keys.is_empty() {
        keys.push(key);
    }
    if keys.contains(&key) {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "error: the URL names the key {}, and --key another one; which of them is the sender's?",
        key.fingerprint()
    )))
}

/// A session by the file of its description, and the relays that this names.
fn described(path: &Path, keys: &[PublicKey]) -> Result<Sought, Failure> {
    let bytes = read_description(path)?;
    if !keys.is_empty() {
        verify_description(path, &bytes, keys)?;
    }
    let mut relays = Vec::new();
    let text = if is_sdp(path) {
        let description = Description::read(&bytes).map_err(|error| wrong(path, error))?;
        if let Some(session) = description.flute_session().map_err(|error| wrong(path, error))? {
            // Its file may be signed.
            return Ok(Sought::new(Known::Flute(session), None, keys.to_vec()));
        }
        relays = description.relays();
        description.session_text().map_err(|error| wrong(path, error))?
    } else {
        String::from_utf8(bytes).map_err(|_| wrong(path, "it is not text; is it another file?"))?
    };
    let session: Session = text.parse().map_err(|error| wrong(path, error))?;
    Ok(Sought { relays, ..Sought::new(Known::Session(Box::new(session)), None, keys.to_vec()) })
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
    match described(Path::new(named), &[])?.known {
        Known::Session(session) => Ok(SessionKey { group: session.group, source: Some(session.source) }),
        known => Ok(SessionKey { group: known.group(), source: known.source() }),
    }
}
