//! The errors of the transport, with texts for users.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use layercast_core::option::OptionError;

use layercast_delivery::catalogue::CatalogueError;
use layercast_delivery::object::NameError;
use layercast_delivery::reception::ObjectError;
use layercast_delivery::search::SearchError;
use layercast_delivery::security::keys::Fingerprint;
use layercast_delivery::security::protection::ProtectError;
use layercast_delivery::signed_table::Untrusted;

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
    /// The address is not a usable multicast group.
    #[error(
        "{address} is not a multicast group for a session of {layers} layers: use one from 224.0.1.0 to 239.255.255.255, or ff03:: to fffe::"
    )]
    WrongGroup {
        /// The address.
        address: IpAddr,
        /// How many groups are needed.
        layers: usize,
    },
    /// The protocol responds to the fraction of marks, for which this transport does not send ECT(1).
    #[error("{protocol} responds to the fraction of marks with these options, which is for simulations only")]
    SimulatedOnly {
        /// The protocol.
        protocol: String,
    },
    /// The protocol rejects an option.
    #[error("option {option} of {protocol}: {source}; `layercast list {protocol}` shows all options")]
    Option {
        /// The protocol.
        protocol: String,
        /// The option.
        option: String,
        /// What is wrong.
        source: OptionError,
    },
    /// A receiver sets an option that the session fixes for all receivers.
    #[error("the session fixes the option {option} for all its receivers: remove it here")]
    Agreed {
        /// The option.
        option: String,
    },
    /// No valid packet arrived for too long.
    #[error("no valid packet from {group} for {} s. {reasons}. `layercast doctor --group {group}` looks for the cause", waited.as_secs())]
    Silent {
        /// The base group.
        group: SocketAddr,
        /// The length of the silence.
        waited: Duration,
        /// Possible reasons.
        reasons: String,
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
    /// What was to be sent cannot be.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A packet cannot be authenticated.
    #[error(transparent)]
    Protect(#[from] ProtectError),
    /// The session's packets are authenticated, and there is no key or another one.
    #[error("the session is authenticated by the group key {fingerprint}: {reason}")]
    GroupKey {
        /// The fingerprint of the session's key.
        fingerprint: String,
        /// What is wrong.
        reason: String,
    },
    /// The receiver demands authentication, and the session has none.
    #[error(
        "the session's packets are not authenticated, and a group key was given here: remove it, or ask the sender for --group-key"
    )]
    NotAuthenticated,
    /// No packet is authentic.
    #[error(
        "no packet of the session is authentic by the group key {given}: ask the sender for the file of its key, and for the URL of this session"
    )]
    WrongGroupKey {
        /// The key that was given.
        given: Fingerprint,
    },
    /// The session is encrypted, and there is no key.
    #[error("the session's packets are encrypted: give the sender's group key with --group-key FILE")]
    Encrypted,
    /// The session is encrypted, and there is no salt.
    #[error(
        "the session's packets are encrypted, and its group alone does not tell how: use its URL, its SDP file or the name by which it is announced"
    )]
    NoSalt,
    /// The session should be encrypted, and is not.
    #[error(
        "the session's packets are not encrypted, and by the description that was given here they should be: ask the sender"
    )]
    NotEncrypted,
    /// The session's table is not signed by a key that is trusted.
    #[error("the session is refused: {reason}. Only what {} has signed is received", keys.join(" or "))]
    NotSigned {
        /// The fingerprints of the keys that are trusted.
        keys: Vec<String>,
        /// What is wrong.
        reason: Untrusted,
    },
    /// An option that has no meaning for a session of another FLUTE sender.
    #[error("{what} cannot be used with a session of another FLUTE sender: remove it")]
    NotOfFlute {
        /// The option.
        what: &'static str,
    },
    /// The session has live data, and files were asked for.
    #[error("the session is a stream of live data, not of files: receive it with --stream")]
    IsStream,
    /// The session has files, and live data was asked for.
    #[error("the session has files, not a stream of live data: receive it without --stream")]
    NotStream,
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
    /// The session could not be found by its table.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The session cannot be described in SDP, or announced.
    #[error(transparent)]
    Announce(#[from] layercast_delivery::announce::announcer::AnnounceError),
    /// The session description is invalid.
    #[error(transparent)]
    Session(#[from] layercast_delivery::session::SessionError),
    /// The source ended the session before the file was complete.
    #[error("the source ended the session after {} of {needed} symbols", held)]
    SessionEnded {
        /// Symbols received.
        held: u64,
        /// Symbols needed.
        needed: u64,
    },
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
    /// The session has as many receivers as its protocol serves.
    #[error(
        "the source turned this receiver away: {protocol} serves at most {most} at a time and is full. Try again later, or ask the sender for a protocol that serves many, such as tide"
    )]
    Full {
        /// The protocol.
        protocol: String,
        /// How many receivers it serves.
        most: usize,
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
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// The time limit is over.
    #[error("not complete after {} s: {held} of {needed} symbols received", after.as_secs())]
    TimeOver {
        /// The time limit.
        after: Duration,
        /// Symbols received.
        held: u64,
        /// Symbols needed.
        needed: u64,
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
            Error::WrongGroup { .. } => "wrong_group",
            Error::SimulatedOnly { .. } => "simulated_only",
            Error::Option { .. } | Error::Agreed { .. } => "option",
            Error::Silent { .. } => "silent",
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
            Error::Search(_) => "session_not_found",
            Error::Session(_) => "wrong_session",
            Error::SessionEnded { .. } => "session_ended",
            Error::Kept { reason, .. } => reason.name(),
            Error::Full { .. } => "full",
            Error::AboveMtu { .. } => "above_mtu",
            Error::UplinkDown { .. } => "uplink_down",
            Error::Interrupted => "interrupted",
            Error::TimeOver { .. } => "time_over",
            Error::Report(_) => "output",
            Error::Protect(_) => "protect",
            Error::GroupKey { .. } => "group_key",
            Error::NotAuthenticated => "not_authenticated",
            Error::WrongGroupKey { .. } => "wrong_group_key",
            Error::Encrypted => "encrypted",
            Error::NoSalt => "no_salt",
            Error::NotEncrypted => "not_encrypted",
            Error::NotSigned { .. } => "not_signed",
            Error::NotOfFlute { .. } => "not_of_flute",
            Error::Announce(_) => "announce",
            Error::IsStream | Error::NotStream => "other_content",
            Error::StreamInputs { .. } => "stream_inputs",
            Error::State { .. } => "state",
            Error::Packages { .. } => "packages",
            Error::Socket { .. } => "socket",
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

    /// Whether it says that no session was found that can be received, since nothing came or what came does not fit the keys.
    pub(crate) fn is_of_search(&self) -> bool {
        matches!(
            self,
            Error::Silent { .. }
                | Error::NotSigned { .. }
                | Error::WrongGroupKey { .. }
                | Error::NotAuthenticated
                | Error::NotEncrypted
                | Error::NoSalt
                | Error::Encrypted
        )
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
