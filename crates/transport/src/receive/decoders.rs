//! Threads that decode blocks while packets are received.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use layercast_delivery::journal::Identity;
use layercast_delivery::object::{DecodeJob, Decoded};
use layercast_delivery::reception::Decoders;

use crate::background::background;

/// The maximum number of threads (CHOICE): each needs some four times the memory of a block. One processor is left to the
/// thread that receives.
const THREADS_MAX: usize = 2;

/// The threads.
#[derive(Debug)]
pub(super) struct Threads {
    jobs: Sender<(Identity, DecodeJob)>,
    done: Receiver<(Identity, Decoded)>,
    count: usize,
    working: usize,
}

impl Threads {
    /// Starts them; none if that is not possible: then blocks are decoded between packets.
    pub(super) fn start() -> Option<Threads> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let (jobs, work) = channel::<(Identity, DecodeJob)>();
        let (finished, done) = channel();
        let work = Arc::new(Mutex::new(work));
        let mut count = 0;
        for _ in 0..processors.saturating_sub(1).clamp(1, THREADS_MAX) {
            let (work, finished) = (Arc::clone(&work), finished.clone());
            let run = move || {
                background();
                loop {
                    // The lock is held while waiting, and given back with a job.
                    let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((of, job)) = next else { return };
                    if finished.send((of, job.run())).is_err() {
                        return;
                    }
                }
            };
            match thread::Builder::new().name("decode".into()).spawn(run) {
                Ok(_) => count += 1,
                Err(error) => tracing::debug!(%error, "no thread to decode blocks"),
            }
        }
        (count > 0).then_some(Threads { jobs, done, count, working: 0 })
    }
}

impl Decoders for Threads {
    fn has_room(&self) -> bool {
        self.working < self.count
    }

    fn begin(&mut self, of: Identity, job: DecodeJob) {
        if self.jobs.send((of, job)).is_ok() {
            self.working += 1;
        }
    }

    fn take(&mut self) -> Option<(Identity, Decoded)> {
        let done = self.done.try_recv().ok()?;
        self.working -= 1;
        Some(done)
    }

    fn is_working(&self) -> bool {
        self.working > 0
    }
}
