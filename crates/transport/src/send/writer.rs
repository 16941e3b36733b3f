//! Writes the state of a sender while it sends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use layercast_core::units::{Duration, Time};

use super::files::Files;
use super::state::{Numbers, replace};
use crate::error::Error;
use crate::notice::Notice;

/// The interval of writing, for each started megabyte.
const EVERY: Duration = Duration::from_secs(1);
const MEGABYTE: usize = 1 << 20;
/// How much is passed over by a sender that is started again, of what was sent between the last two states (CHOICE: it
/// may have sent as much since, and the disk takes its time). There are 2^24 symbols of each block: some are never sent.
const RESERVE: f64 = 2.0;
/// How many packet numbers are granted by a state. What is left of them when the sender ends is lost: there are enough for
/// 65,536 starts.
const GRANT: u64 = 1 << 24;

/// Writes the state again and again, in a thread: a slow disk does not stop sending.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    numbers: Numbers,
    /// The packet numbers that the file grants.
    granted: Arc<AtomicU64>,
    queue: Option<SyncSender<(Vec<u8>, u64)>>,
    errors: Receiver<io::Error>,
    thread: Option<JoinHandle<()>>,
    next: Time,
    /// The rounds that were sent when the last state was taken.
    rounds: f64,
    has_failed: bool,
}

impl Writer {
    /// Writes the first state, so that a path that cannot be written is known at once. `numbers` are those of the sender
    /// before; if packets `are_numbered`, more are granted.
    pub(super) fn start(
        path: &Path,
        files: &Files,
        mut numbers: Numbers,
        are_numbered: bool,
    ) -> Result<Writer, Error> {
        if are_numbered {
            numbers.granted = numbers.granted.saturating_add(GRANT);
        }
        replace(path, &files.state(0.0, &numbers)).map_err(|error| Error::file("write", path, error))?;
        let granted = Arc::new(AtomicU64::new(numbers.granted));
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
        Ok(Writer {
            path: path.to_owned(),
            numbers,
            granted,
            queue,
            errors,
            thread,
            next: Time::ZERO,
            rounds: 0.0,
            has_failed: false,
        })
    }

    /// The highest packet number that the file grants.
    pub(super) fn granted(&self) -> u64 {
        self.granted.load(Ordering::Acquire)
    }

    /// Writes the state if it is due; with more packet numbers, if few of those that are granted are left. A notice at the
    /// first failure.
    pub(super) fn look(&mut self, now: Time, files: &Files, left: Option<u64>) -> Option<Notice> {
        if now >= self.next
            && let Some(queue) = &self.queue
        {
            let rounds = files.rounds();
            self.numbers.granted = self.granted();
            if left.is_some_and(|left| left < GRANT / 2) {
                self.numbers.granted = self.numbers.granted.saturating_add(GRANT);
            }
            let state = files.state(RESERVE * (rounds - self.rounds), &self.numbers);
            self.next = now + EVERY * (1 + state.len() / MEGABYTE) as u64;
            match queue.try_send((state, self.numbers.granted)) {
                Ok(()) => self.rounds = rounds,
                // The disk is slow: the next one has more in reserve.
                Err(TrySendError::Full(_)) => {}
                Err(TrySendError::Disconnected(_)) => self.queue = None,
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
        self.numbers.granted = self.granted();
        let error = replace(&self.path, &files.state(0.0, &self.numbers)).err()?;
        Some(Notice::StateNotWritten { path: self.path, reason: error.to_string() })
    }
}
