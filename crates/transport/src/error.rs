//! What can go wrong, in words for the person at the other end.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::time::Duration;

use layercast_core::option::OptionError;

use crate::object::{NameError, TableError};

/// Why a transfer could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such interface, or it has no address.
    #[error("there is no interface `{name}` with an IPv4 address{}", known_interfaces(.known))]
    NoSuchInterface {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No interface leads to the group.
    #[error("no route to the group {group}: name an interface, or add a route for 224.0.0.0/4")]
    NoRoute {
        /// The group.
        group: SocketAddrV4,
    },
    /// The system does not allow it.
    #[error("no permission to {what}: {source}")]
    NoPermission {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The disk is full.
    #[error("the disk is full: there is no room for {}", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The address is not a multicast group that can be used.
    #[error(
        "{address} is not a multicast group for a session of {layers} layers: take one from 224.0.1.0 to 239.255.255.255"
    )]
    WrongGroup {
        /// The address.
        address: Ipv4Addr,
        /// How many groups are needed.
        layers: usize,
    },
    /// The protocol does not take an option.
    #[error("option {option} of {protocol}: {source}; `layercast list {protocol}` names them")]
    Option {
        /// The protocol.
        protocol: String,
        /// The option.
        option: String,
        /// What is wrong.
        source: OptionError,
    },
    /// A receiver asks for another value of an option on which all must agree.
    #[error("the session sets the option {option} for all its receivers: leave it out here")]
    Agreed {
        /// The option.
        option: String,
    },
    /// Nothing of use came for too long.
    #[error("nothing heard from {group} for {} s. {reasons}", waited.as_secs())]
    Silent {
        /// The base group.
        group: SocketAddrV4,
        /// For how long.
        waited: Duration,
        /// Why that may be.
        reasons: String,
    },
    /// The file that is being sent is gone.
    #[error("{} vanished while it was sent", path.display())]
    FileVanished {
        /// The file.
        path: PathBuf,
    },
    /// The file that is being sent is not the one that was begun.
    #[error("{} changed while it was sent: its receivers cannot complete it", path.display())]
    FileChanged {
        /// The file.
        path: PathBuf,
    },
    /// A file of that name is there.
    #[error("{} is there already: move it away, or allow it to be replaced", path.display())]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else receives the same file into the same directory.
    #[error("another receiver writes to {}", path.display())]
    FileBusy {
        /// The file.
        path: PathBuf,
    },
    /// The file's name is not one to write to.
    #[error("the source calls the file {name:?}: {source}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        source: NameError,
    },
    /// A file could not be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// All symbols came, and again and again they did not make the file that the source described.
    #[error(
        "the file's hash is wrong ({tries} tries): somebody else sends to the group, or the file changed"
    )]
    Hash {
        /// How often it was tried.
        tries: u32,
    },
    /// The file delivery table makes no sense.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The session description makes no sense.
    #[error(transparent)]
    Session(#[from] crate::session::SessionError),
    /// The source ended the session before the file was complete.
    #[error("the source ended the session when {} of {needed} symbols were here", held)]
    SessionEnded {
        /// Symbols held.
        held: u64,
        /// Symbols needed.
        needed: u64,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// The time allowed is over.
    #[error("not complete after {} s: {held} of {needed} symbols are here", after.as_secs())]
    TimeOver {
        /// The time allowed.
        after: Duration,
        /// Symbols held.
        held: u64,
        /// Symbols needed.
        needed: u64,
    },
    /// A socket did not do what was asked.
    #[error("cannot {what}: {source}")]
    Socket {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

fn known_interfaces(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; there are {}", known.join(", ")) }
}

impl Error {
    /// An error of a file, with the common causes told apart.
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

    /// An error of a socket, with the common causes told apart.
    pub fn socket(what: impl Into<String>, group: SocketAddrV4, source: io::Error) -> Error {
        let what = what.into();
        match source.kind() {
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => Error::NoRoute { group },
            io::ErrorKind::PermissionDenied => Error::NoPermission { what, source },
            // Joining without an interface that could be taken says this.
            _ if source.raw_os_error() == Some(nix::libc::ENODEV) => Error::NoRoute { group },
            _ => Error::Socket { what, source },
        }
    }
}
