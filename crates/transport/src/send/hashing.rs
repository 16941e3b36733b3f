//! The hashes of long files, computed while they are sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use layercast_delivery::object::{Cut, Sha256};

use super::scan::{Found, FoundItem, hashed};
use crate::background;
use crate::error::Error;

/// Threads that read files for their hashes until all are read or this is dropped.
#[derive(Debug)]
pub(super) struct Hashing {
    hashes: Receiver<(String, Result<Sha256, Error>)>,
    end: Arc<AtomicBool>,
}

impl Hashing {
    /// Reads those of these files that have no hash; none if all have one.
    pub(super) fn start(found: &Found, cut: Cut) -> Option<Hashing> {
        let lacks_hash = |(_, item): &&_| {
            matches!(item, layercast_delivery::catalogue::Item { file: Some((_, None)), .. })
        };
        let (queue, jobs) = channel();
        let mut count = 0;
        for (file, _) in found.iter().filter(lacks_hash) {
            // The other end is here.
            let _ = queue.send(file.clone());
            count += 1;
        }
        if count == 0 {
            return None;
        }
        let (done, hashes) = channel();
        let end = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&end);
        let work = move |file: FoundItem| {
            let read = hashed(&file, cut, &mut |_| !flag.load(Ordering::Relaxed));
            let hash = read.and_then(|item| match item.file {
                Some((_, Some(sha256))) => Ok(sha256),
                _ => Err(Error::FileChanged { path: file.path }),
            });
            done.send((file.name, hash)).is_ok()
        };
        background::start("hash", background::threads(count), jobs, work);
        Some(Hashing { hashes, end })
    }

    /// The name of a file that was read, with its hash or why there is none; an error if no further ones will come.
    pub(super) fn take(&self) -> Result<Option<(String, Result<Sha256, Error>)>, ()> {
        match self.hashes.try_recv() {
            Ok(hash) => Ok(Some(hash)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(()),
        }
    }
}

impl Drop for Hashing {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}
