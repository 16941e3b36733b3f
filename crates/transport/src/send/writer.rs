//! Writes the state of a sender while it sends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use layercast_core::units::{Duration, Time};

use super::files::Files;
use super::state::replace;
use crate::error::Error;
use crate::notice::Notice;

/// The interval of writing, for each started megabyte.
const EVERY: Duration = Duration::from_secs(1);
const MEGABYTE: usize = 1 << 20;
/// How much is passed over by a sender that is started again, of what was sent between the last two states (CHOICE: it
/// may have sent as much since, and the disk takes its time). There are 2^24 symbols of each block: some are never sent.
const RESERVE: f64 = 2.0;

/// Writes the state again and again, in a thread: a slow disk does not stop sending.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    queue: Option<SyncSender<String>>,
    errors: Receiver<io::Error>,
    thread: Option<JoinHandle<()>>,
    next: Time,
    /// The rounds that were sent when the last state was taken.
    rounds: f64,
    has_failed: bool,
}

impl Writer {
    /// Writes the first state, so that a path that cannot be written is known at once.
    pub(super) fn start(path: &Path, files: &Files) -> Result<Writer, Error> {
        replace(path, &files.state(0.0)).map_err(|error| Error::file("write", path, error))?;
        let (queue, work) = sync_channel::<String>(1);
        let (failed, errors) = sync_channel(1);
        let to = path.to_owned();
        let run = move || {
            for text in work {
                if let Err(error) = replace(&to, &text) {
                    // One error is enough.
                    let _ = failed.try_send(error);
                }
            }
        };
        let thread = thread::Builder::new().name("state".into()).spawn(run).map_err(|source| {
            Error::Socket { what: "start a thread that writes the state".into(), source }
        })?;
        let (queue, thread) = (Some(queue), Some(thread));
        Ok(Writer {
            path: path.to_owned(),
            queue,
            errors,
            thread,
            next: Time::ZERO,
            rounds: 0.0,
            has_failed: false,
        })
    }

    /// Writes the state if it is due. A notice at the first failure.
    pub(super) fn look(&mut self, now: Time, files: &Files) -> Option<Notice> {
        if now >= self.next
            && let Some(queue) = &self.queue
        {
            let rounds = files.rounds();
            let text = files.state(RESERVE * (rounds - self.rounds));
            self.next = now + EVERY * (1 + text.len() / MEGABYTE) as u64;
            match queue.try_send(text) {
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
        let error = replace(&self.path, &files.state(0.0)).err()?;
        Some(Notice::StateNotWritten { path: self.path, reason: error.to_string() })
    }
}
