//! Threads that decode blocks while packets are received.

use std::sync::mpsc::{Receiver, Sender, channel};

use layercast_delivery::object::{DecodeJob, Decoded};
use layercast_delivery::reception::Decoders;
use layercast_delivery::reception::JobOf;

use crate::background;

/// The maximum number of threads (CHOICE): each needs some four times the memory of a block. One processor is left to the
/// thread that receives.
const THREADS_MAX: usize = 2;

/// The threads.
#[derive(Debug)]
pub(super) struct Threads {
    jobs: Sender<(JobOf, DecodeJob)>,
    done: Receiver<(JobOf, Decoded)>,
    count: usize,
    working: usize,
}

impl Threads {
    /// Starts them; none if that is not possible: then blocks are decoded between packets.
    pub(super) fn start() -> Option<Threads> {
        let (jobs, work) = channel::<(JobOf, DecodeJob)>();
        let (finished, done) = channel();
        let decode = move |(of, job): (JobOf, DecodeJob)| finished.send((of, job.run())).is_ok();
        let count = background::start("decode", background::threads(THREADS_MAX), work, decode);
        (count > 0).then_some(Threads { jobs, done, count, working: 0 })
    }
}

impl Decoders for Threads {
    fn has_room(&self) -> bool {
        self.working < self.count
    }

    fn begin(&mut self, of: JobOf, job: DecodeJob) {
        if self.jobs.send((of, job)).is_ok() {
            self.working += 1;
        }
    }

    fn take(&mut self) -> Option<(JobOf, Decoded)> {
        let done = self.done.try_recv().ok()?;
        self.working -= 1;
        Some(done)
    }

    fn is_working(&self) -> bool {
        self.working > 0
    }
}
