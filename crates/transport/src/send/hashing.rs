//! The hashes of long files, computed while they are sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use layercast_delivery::catalogue::Item;
use layercast_delivery::object::Sha256;

use super::scan::{Found, FoundItem, Reading, hashed};
use crate::background;
use crate::error::Error;

/// The name of a file, with its hash or why there is none.
type Named = (String, Result<Sha256, Error>);

/// Hashes of so long are named together (CHOICE): each time there are further instances of the table.
const TOGETHER: Duration = Duration::from_secs(1);

/// A thread that reads files for their hashes until all are read or this is dropped.
#[derive(Debug)]
pub(super) struct Hashing {
    hashes: Receiver<Vec<Named>>,
    end: Arc<AtomicBool>,
}

impl Hashing {
    /// Reads those of these files that have no hash; none if all have one.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub(super) fn start(found: &Found, how: Reading) -> Result<Option<Hashing>, Error> {
        let lacks_hash = |(_, item): &&(FoundItem, Item)| matches!(item.file, Some((_, None)));
        let files: Vec<FoundItem> = found.iter().filter(lacks_hash).map(|(file, _)| file.clone()).collect();
        if files.is_empty() {
            return Ok(None);
        }
        let (done, hashes) = channel();
        let end = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&end);
        let run = move || {
            background::yield_to_packets();
            let mut read = Vec::new();
            let mut since = Instant::now();
            let last = files.len() - 1;
            for (number, file) in files.into_iter().enumerate() {
                let item = hashed(&file, how, &mut |_| !flag.load(Ordering::Relaxed));
                let hash = item.and_then(|item| match item.file {
                    Some((_, Some(sha256))) => Ok(sha256),
                    _ => Err(Error::FileChanged { path: file.path }),
                });
                read.push((file.name, hash));
                if number < last && since.elapsed() < TOGETHER {
                    continue;
                }
                since = Instant::now();
                if done.send(std::mem::take(&mut read)).is_err() {
                    return;
                }
            }
        };
        let spawned = thread::Builder::new().name("hash".into()).spawn(run);
        spawned.map_err(|source| Error::Socket { what: "start a thread that reads files".into(), source })?;
        Ok(Some(Hashing { hashes, end }))
    }

    /// The next files that were read.
    ///
    /// # Errors
    /// If there are none yet, or no further ones will come.
    pub(super) fn take(&self) -> Result<Vec<Named>, TryRecvError> {
        self.hashes.try_recv()
    }
}

impl Drop for Hashing {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}
