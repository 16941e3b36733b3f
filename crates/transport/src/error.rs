//! The errors of the transport, with texts for users.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use layercast_delivery::announce::directory::FindError;
use layercast_delivery::catalogue::CatalogueError;
use layercast_delivery::node::ReceiveError;
use layercast_delivery::object::NameError;
use layercast_delivery::protocols::ProtocolError;
use layercast_delivery::reception::ObjectError;
use layercast_delivery::security::protection::ProtectError;

/// Why a transfer could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such interface.
    #[error("no interface `{name}`{}", known_interfaces(.known))]
    NoSuchInterface {
        /// The requested name.
        name: String,
        /// The available interfaces.
        known: Vec<String>,
    },
    /// The network is not ready: an interface has no address, or is down. This may pass.
    #[error("{reason}")]
    NotReady {
        /// What is missing, with what helps.
        reason: String,
    },
    /// A relay would send packets on to the link that they come from.
    #[error(
        "packets come by multicast from {interface} itself, so they would be sent on in a circle: name another interface with --interface, or a relay with --parent"
    )]
    LocalIsUpstream {
        /// The interface.
        interface: String,
    },
    /// No interface leads to the group.
    #[error("no route to the group {group}: name an interface, or add a route for 224.0.0.0/4 (ff00::/8)")]
    NoRoute {
        /// The group.
        group: SocketAddr,
    },
    /// The system denies permission.
    #[error("no permission to {what}: {source}")]
    NoPermission {
        /// The failed operation.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The disk is full.
    #[error("the disk is full: cannot allocate {}", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file that is being sent was removed.
    #[error("{} was removed while it was being sent", path.display())]
    FileVanished {
        /// The file.
        path: PathBuf,
    },
    /// The file that is being sent was modified.
    #[error("{} changed while it was being sent: its receivers cannot complete it", path.display())]
    FileChanged {
        /// The file.
        path: PathBuf,
    },
    /// A file of that name exists.
    #[error("{} exists already: move it, or replace it with --replace", path.display())]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// Another process receives the same file into the same directory.
    #[error("another receiver is writing to {}", path.display())]
    FileBusy {
        /// The file.
        path: PathBuf,
    },
    /// The file's name is not safe to write to.
    #[error("the file name {name:?} from the source is not safe: {source}")]
    Name {
        /// The name.
        name: String,
        /// Why it is invalid.
        source: NameError,
    },
    /// A file could not be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// The failed operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// All symbols arrived, but the file's hash was wrong several times.
    #[error(
        "the file's hash is wrong each time: another source may be sending to the group, or the file changed"
    )]
    Hash,
    /// Some objects could not be received.
    #[error("{} of {all} objects could not be received:{}", failed.len(), list(.failed))]
    Objects {
        /// How many the session has.
        all: usize,
        /// Those that failed, and why.
        failed: Vec<(String, ObjectError)>,
    },
    /// A session was not found, was refused, or ended before it was complete.
    #[error(transparent)]
    Receive(ReceiveError),
    /// A name leads to no session that is announced.
    #[error(transparent)]
    Announced(#[from] AnnouncedError),
    /// An option of a protocol cannot be used.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// What was to be sent cannot be.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A packet cannot be authenticated.
    #[error(transparent)]
    Protect(#[from] ProtectError),
    /// An option that has no meaning for a session of another FLUTE sender.
    #[error("{what} cannot be used with a session of another FLUTE sender: remove it")]
    NotOfFlute {
        /// The option.
        what: &'static str,
    },
    /// A stream has one input for each layer.
    #[error("a stream has one input for each layer, and there are {inputs} inputs for {layers} layers")]
    StreamInputs {
        /// How many inputs were given.
        inputs: usize,
        /// How many layers.
        layers: usize,
    },
    /// The state of an earlier sender cannot be used.
    #[error("the state in {} cannot be used: {reason}", path.display())]
    State {
        /// Its file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// The packages of small files cannot be kept while they are sent.
    #[error(
        "cannot keep packages of small files in {}: {source}: make space there, name another folder by --state or TMPDIR, \
         or send each file on its own with --no-packages", folder.display()
    )]
    Packages {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is nothing to send.
    #[error("there is nothing to send: {}", path.display())]
    Nothing {
        /// What was named.
        path: PathBuf,
    },
    /// The session cannot be described in SDP, or announced.
    #[error(transparent)]
    Announce(#[from] layercast_delivery::announce::announcer::AnnounceError),
    /// The session description is invalid.
    #[error(transparent)]
    Session(#[from] layercast_delivery::session::SessionError),
    /// A reception ended early, and what arrived is kept.
    #[error(
        "{reason}. {held} of {needed} symbols are kept in {}: receive into the same directory again to continue with them",
        path.display()
    )]
    Kept {
        /// Why it ended.
        reason: Box<Error>,
        /// The folder of partial files.
        path: PathBuf,
        /// Symbols kept.
        held: u64,
        /// Symbols needed.
        needed: u64,
    },
    /// Packets of this size would be sent in fragments.
    #[error(
        "packets of {packet} bytes exceed the {mtu} bytes that {interface} carries at once (its MTU): they would be sent in fragments, and a packet is lost with any of them. Use --packet \"{mtu} bytes\" or less"
    )]
    AboveMtu {
        /// The size of packets with all headers, in bytes.
        packet: u32,
        /// The most that the interface carries, in bytes.
        mtu: u32,
        /// The interface.
        interface: String,
    },
    /// The network took no packets for too long.
    #[error("the network took no packets for {group} for {} s: {reason}", after.as_secs())]
    UplinkDown {
        /// The group.
        group: SocketAddr,
        /// The length of the outage.
        after: Duration,
        /// The system's reason.
        reason: String,
    },
    /// What happens could not be reported.
    #[error("events cannot be written: {0}")]
    Report(io::Error),
    /// A socket operation failed.
    #[error("cannot {what}: {source}")]
    Socket {
        /// The failed operation.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// Its name for programs, which does not change: of an error that keeps what arrived, that of the reason.
    pub fn name(&self) -> &'static str {
        match self {
            Error::NoSuchInterface { .. } => "no_such_interface",
            Error::NotReady { .. } => "not_ready",
            Error::LocalIsUpstream { .. } => "local_is_upstream",
            Error::NoRoute { .. } => "no_route",
            Error::NoPermission { .. } => "no_permission",
            Error::DiskFull { .. } => "disk_full",
            Error::Receive(error) => error.name(),
            Error::Announced(error) => error.name(),
            Error::Protocol(error) => error.name(),
            Error::FileVanished { .. } => "file_vanished",
            Error::FileChanged { .. } => "file_changed",
            Error::FileExists { .. } => "file_exists",
            Error::FileBusy { .. } => "file_busy",
            Error::Name { .. } => "unsafe_name",
            Error::File { .. } => "file",
            Error::Hash => "wrong_hash",
            Error::Objects { .. } => "objects_failed",
            Error::Catalogue(_) => "catalogue",
            Error::Nothing { .. } => "nothing_to_send",
            Error::Session(_) => "wrong_session",
            Error::Kept { reason, .. } => reason.name(),
            Error::AboveMtu { .. } => "above_mtu",
            Error::UplinkDown { .. } => "uplink_down",
            Error::Interrupted => "interrupted",
            Error::Report(_) => "output",
            Error::Protect(_) => "protect",
            Error::NotOfFlute { .. } => "not_of_flute",
            Error::Announce(_) => "announce",
            Error::StreamInputs { .. } => "stream_inputs",
            Error::State { .. } => "state",
            Error::Packages { .. } => "packages",
            Error::Socket { .. } => "socket",
        }
    }
}

/// Why a name leads to no session.
#[derive(Debug, thiserror::Error)]
pub enum AnnouncedError {
    /// Several sessions have it.
    #[error(transparent)]
    Ambiguous(FindError),
    /// None of the keys that count has signed it.
    #[error(
        "`{name}` is refused: it is {signed}, and only sessions that {keys} has signed are received{forged}"
    )]
    Refused {
        /// The name.
        name: String,
        /// Who vouches for it.
        signed: String,
        /// The fingerprints of the keys.
        keys: String,
        /// What else was refused, in words; empty if nothing was.
        forged: String,
    },
    /// None has it.
    #[error(
        "{reason} (after {} s){forged}. `layercast sessions` lists what is announced, with --interface as here",
        within.as_secs()
    )]
    Unknown {
        /// Which there are.
        reason: String,
        /// How long it was waited for.
        within: Duration,
        /// What was refused, in words; empty if nothing was.
        forged: String,
    },
    /// Its description is wrong.
    #[error("`{name}` cannot be received: {reason}")]
    Unusable {
        /// The name.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

impl AnnouncedError {
    /// Its name for programs, which does not change.
    pub fn name(&self) -> &'static str {
        match self {
            AnnouncedError::Ambiguous(_) => "ambiguous",
            AnnouncedError::Refused { .. } => "not_signed",
            AnnouncedError::Unknown { .. } => "session_not_found",
            AnnouncedError::Unusable { .. } => "wrong_session",
        }
    }
}

impl From<ReceiveError> for Error {
    fn from(error: ReceiveError) -> Error {
        match error {
            ReceiveError::Interrupted => Error::Interrupted,
            ReceiveError::Protocol(error) => Error::Protocol(error),
            error => Error::Receive(error),
        }
    }
}

/// The first of many objects, a line each.
fn list(failed: &[(String, ObjectError)]) -> String {
    const SHOWN: usize = 20;
    // A new line in a name is none of the list.
    let line =
        |(path, reason): &(String, ObjectError)| format!("\n  {}: {reason}", path.replace('\n', "\\n"));
    let lines = failed.iter().take(SHOWN).map(line);
    let more = failed.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    lines.chain([rest]).collect()
}

fn known_interfaces(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; use one of {}", known.join(", ")) }
}

impl Error {
    /// An error of a file; common causes get their own variants.
    pub fn file(what: &'static str, path: &Path, source: io::Error) -> Error {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Error::NoPermission { what: format!("{what} {}", path.display()), source }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::DiskFull { path },
            _ => Error::File { what, path, source },
        }
    }

    /// Whether it may pass without a change of the arguments.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Error::Receive(error) => error.may_pass(),
            error => !matches!(error, Error::Interrupted | Error::NoPermission { .. } | Error::Report(_)),
        }
    }

    /// An error of a socket; common causes get their own variants.
    pub fn socket(what: impl Into<String>, group: SocketAddr, source: io::Error) -> Error {
        let what = what.into();
        match source.kind() {
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => Error::NoRoute { group },
            io::ErrorKind::PermissionDenied => Error::NoPermission { what, source },
            // A join without a usable interface returns this.
            _ if source.raw_os_error() == Some(nix::libc::ENODEV) => Error::NoRoute { group },
            _ => Error::Socket { what, source },
        }
    }
}
