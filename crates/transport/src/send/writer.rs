//! Writes the state of a sender while it sends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use layercast_core::units::Time;
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::send_state::{Numbers, Storing};

use super::files::Files;
use super::state::replace;
use crate::error::Error;
use crate::notice::Notice;

/// How many packet numbers are granted by a state. What is left of them when the sender ends is lost: there are enough for
/// 65,536 starts.
const GRANT: u64 = 1 << 24;

/// Writes the state again and again, in a thread: a slow disk does not stop sending.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    storing: Storing,
    /// The packet numbers that the file grants.
    granted: Arc<AtomicU64>,
    queue: Option<SyncSender<(Vec<u8>, u64)>>,
    errors: Receiver<io::Error>,
    thread: Option<JoinHandle<()>>,
    has_failed: bool,
}

impl Writer {
    /// Writes the first state, so that a path that cannot be written is known at once. `numbers` are those of the sender
    /// before; if packets `are_numbered`, more are granted.
    pub(super) fn start(
        path: &Path,
        files: &Files,
        numbers: Numbers,
        are_numbered: bool,
    ) -> Result<Writer, Error> {
        let mut storing = Storing::after(numbers, if are_numbered { GRANT } else { 0 });
        let first = storing.first();
        replace(path, &files.state(&first)).map_err(|error| Error::file("write", path, error))?;
        storing.stored(first.numbers.granted);
        let granted = Arc::new(AtomicU64::new(first.numbers.granted));
        let stored = Arc::clone(&granted);
        let (queue, work) = sync_channel::<(Vec<u8>, u64)>(1);
        let (failed, errors) = sync_channel(1);
        let to = path.to_owned();
        let run = move || {
            for (state, numbers) in work {
                match replace(&to, &state) {
                    Ok(()) => stored.store(numbers, Ordering::Release),
                    // One error is enough.
                    Err(error) => drop(failed.try_send(error)),
                }
            }
        };
        let thread = thread::Builder::new().name("state".into()).spawn(run).map_err(|source| {
            Error::Socket { what: "start a thread that writes the state".into(), source }
        })?;
        let (queue, thread) = (Some(queue), Some(thread));
        Ok(Writer { path: path.to_owned(), storing, granted, queue, errors, thread, has_failed: false })
    }

    /// The sender's packet numbers.
    pub(super) fn sequence(&self) -> Sequence {
        self.storing.sequence()
    }

    /// The highest packet number that the file grants.
    pub(super) fn granted(&self) -> u64 {
        self.storing.numbers().granted
    }

    /// Writes the state if it is due; with more packet numbers, if few of those that are granted are left. A notice at the
    /// first failure.
    pub(super) fn poll(&mut self, now: Time, files: &Files, left: Option<u64>) -> Option<Notice> {
        self.storing.stored(self.granted.load(Ordering::Acquire));
        if let Some(queue) = &self.queue
            && let Some(due) = self.storing.due(now, files.rounds(), left)
        {
            let state = files.state(&due);
            let bytes = state.len();
            // The disk may be slow.
            let sent = queue.try_send((state, due.numbers.granted));
            self.storing.begun(now, &due, bytes, sent.is_ok());
            if let Err(TrySendError::Disconnected(_)) = sent {
                self.queue = None;
            }
        }
        let error = self.errors.try_recv().ok().filter(|_| !self.has_failed)?;
        self.has_failed = true;
        Some(Notice::StateNotWritten { path: self.path.clone(), reason: error.to_string() })
    }

    /// Writes the last state.
    pub(super) fn finish(mut self, files: &Files) -> Option<Notice> {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.storing.stored(self.granted.load(Ordering::Acquire));
        let error = replace(&self.path, &files.state(&self.storing.last())).err()?;
        Some(Notice::StateNotWritten { path: self.path, reason: error.to_string() })
    }
}
