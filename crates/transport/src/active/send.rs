//! The program of a source.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration as StdDuration;

use layercast_core::Always as _;
use layercast_core::contract::Ecn;
use layercast_core::units::{Duration, Size, Time};
use layercast_delivery::active::description::Description;
use layercast_delivery::active::downlinks::DownOptions;
use layercast_delivery::active::reel::{Contents, FileHead, Reel};
use layercast_delivery::active::source::SourceNode;
use layercast_delivery::object::safe_path;
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::session::SessionKey;
use sha2::{Digest as _, Sha256};

use super::program::{Node, run};
use super::socket::NodeSocket;
use super::{ActiveEvent, ActiveFailure, ActiveProgress};
use crate::host::Clock;
use crate::random_seed;
use crate::relay::random_bytes;

/// How often children ask whether a node is there.
pub(super) const KEEP_ALIVE: Duration = Duration::from_ms(500);

/// The options of a source.
#[derive(Clone, Debug)]
pub struct ActiveSendOptions {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Where relays and receivers are awaited.
    pub serve: SocketAddr,
    /// The session.
    pub session: SessionKey,
    /// The protocol, by name.
    pub protocol: String,
    /// Options of the protocol, for all nodes.
    pub options: Vec<(String, String)>,
    /// The size of packets with all headers.
    pub packet: Size,
    /// The most children.
    pub children: usize,
    /// How long after the first child the source waits for others.
    pub gather: StdDuration,
}

/// Sends files until all receivers have them.
///
/// # Errors
/// Why it could not start or go on.
pub fn send(
    options: &ActiveSendOptions,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&ActiveEvent),
) -> Result<ActiveProgress, ActiveFailure> {
    let description = Description {
        session: random_seed() as u32,
        protocol: options.protocol.clone(),
        packet: options.packet,
        options: options.options.clone(),
    };
    description.protocol()?;
    let (heads, contents) = read_heads(&options.paths)?;
    let reel = Reel::new(&heads, description.piece());
    let down = DownOptions {
        session: options.session,
        children: options.children,
        alternatives: Alternatives::default(),
        keep_alive: KEEP_ALIVE,
    };
    let piece = description.piece() as u64;
    let of = heads.iter().map(|head| head.length).sum();
    let gather = Duration::from_ns(u64::try_from(options.gather.as_nanos()).unwrap_or(u64::MAX));
    let node = SourceNode::new(description, reel, &down, gather, random()?)?;
    let socket = NodeSocket::open(options.serve)?;
    run(&mut Sending { node, contents, piece, of }, socket, &Clock::default(), stop, say)
}

/// Bytes that nobody else knows.
pub(super) fn random() -> Result<[u8; 32], ActiveFailure> {
    let what = || "draw random numbers".to_owned();
    random_bytes().map_err(|source| ActiveFailure::Socket { what: what(), source })
}

struct Sending {
    node: SourceNode,
    contents: Plain,
    piece: u64,
    of: u64,
}

impl Node for Sending {
    fn receive(
        &mut self,
        now: Time,
        from: (SocketAddr, Ecn),
        bytes: &[u8],
        socket: &mut NodeSocket,
    ) -> Result<(), ActiveFailure> {
        let received = self.node.receive(now, from.0, bytes, &mut self.contents, socket);
        received.map_err(ActiveFailure::Contents)
    }

    fn tick(&mut self, now: Time, socket: &mut NodeSocket) -> Result<(), ActiveFailure> {
        self.node.tick(now, &mut self.contents, socket).map_err(ActiveFailure::Contents)
    }

    fn deadline(&self) -> Option<Time> {
        self.node.deadline()
    }

    fn is_done(&mut self, _now: Time) -> Result<bool, ActiveFailure> {
        Ok(self.node.is_done())
    }

    fn progress(&self, now: Time) -> ActiveProgress {
        let (sent, _) = self.node.progress();
        ActiveProgress {
            children: self.node.links().count(),
            bytes: (sent * self.piece).min(self.of),
            of: Some(self.of),
            rate_bps: self.node.rate_bps(now),
            counters: *self.node.counters(),
            unsent: 0,
        }
    }

    fn take_event(&mut self) -> Option<ActiveEvent> {
        None
    }

    fn close(&mut self, socket: &mut NodeSocket) {
        self.node.close(socket);
    }
}

/// Plain files, of which the one that was read last is open.
struct Plain {
    paths: Vec<PathBuf>,
    open: Option<(usize, File)>,
}

impl Contents for Plain {
    fn read(&mut self, file: usize, offset: u64, room: &mut [u8]) -> io::Result<()> {
        let handle = match self.open.take() {
            Some((open, handle)) if open == file => handle,
            _ => File::open(self.paths.get(file).ok_or(io::ErrorKind::NotFound)?)?,
        };
        let read = handle.read_exact_at(room, offset);
        self.open = Some((file, handle));
        read
    }
}

/// The files below these paths, each with its hash.
fn read_heads(paths: &[PathBuf]) -> Result<(Vec<FileHead>, Plain), ActiveFailure> {
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| ActiveFailure::Name { path: path.clone() })?;
        collect(path, name.to_owned(), &mut found)?;
    }
    let mut heads = Vec::with_capacity(found.len());
    for (path, name) in &found {
        safe_path(name).map_err(|_| ActiveFailure::Name { path: path.clone() })?;
        let (length, hash) =
            hash(path).map_err(|source| ActiveFailure::File { path: path.clone(), source })?;
        heads.push(FileHead { path: name.clone(), length, hash });
    }
    let paths = found.into_iter().map(|(path, _)| path).collect();
    Ok((heads, Plain { paths, open: None }))
}

fn collect(path: &Path, name: String, found: &mut Vec<(PathBuf, String)>) -> Result<(), ActiveFailure> {
    let failed = |source| ActiveFailure::File { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        found.push((path.to_owned(), name));
        return Ok(());
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(path).and_then(Iterator::collect);
    let mut entries: Vec<PathBuf> = entries.map_err(failed)?.iter().map(fs::DirEntry::path).collect();
    entries.sort();
    for entry in entries {
        // A link may lead in a circle.
        if entry.is_symlink() {
            continue;
        }
        let last = entry.file_name().and_then(|name| name.to_str());
        let last = last.ok_or_else(|| ActiveFailure::Name { path: entry.clone() })?;
        collect(&entry, format!("{name}/{last}"), found)?;
    }
    Ok(())
}

fn hash(path: &Path) -> io::Result<(u64, [u8; 32])> {
    let (mut file, mut room) = (File::open(path)?, vec![0; 1 << 16]);
    let (mut length, mut hash) = (0, Sha256::new());
    loop {
        match file.read(&mut room)? {
            0 => return Ok((length, hash.finalize().into())),
            count => {
                length += count as u64;
                hash.update(room.get(..count).always("a reader fills no more than its room"));
            }
        }
    }
}
