//! Threads that compute, next to those that send and receive packets.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How much such a thread yields to others, as of `nice` (CHOICE).
const NICENESS: i32 = 10;

/// How many such threads this machine has processors for, `most` at most. One is left to the thread that sends or receives.
pub(crate) fn threads(most: usize) -> usize {
    thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).clamp(1, most)
}

/// Starts up to `count` threads that take jobs, until there will be no more or `work` says false. How many were started.
pub(crate) fn start<Job: Send + 'static>(
    name: &str,
    count: usize,
    jobs: Receiver<Job>,
    work: impl Fn(Job) -> bool + Clone + Send + 'static,
) -> usize {
    let jobs = Arc::new(Mutex::new(jobs));
    let mut started = 0;
    for _ in 0..count {
        let (jobs, work) = (Arc::clone(&jobs), work.clone());
        let run = move || {
            yield_to_packets();
            loop {
                // The lock is held while waiting, and given back with a job.
                let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(job) = next else { return };
                if !work(job) {
                    return;
                }
            }
        };
        match thread::Builder::new().name(name.into()).spawn(run) {
            Ok(_) => started += 1,
            Err(error) => tracing::debug!(%error, name, "cannot spawn the thread; its work is done inline"),
        }
    }
    started
}

/// Lets the calling thread yield to those that send and receive: a packet that is not read in time is lost, while a block may
/// be encoded or decoded later.
pub(crate) fn yield_to_packets() {
    // Linux has a priority for each thread, and without a process this is the calling one.
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "a thread that computes keeps its priority");
    }
}
