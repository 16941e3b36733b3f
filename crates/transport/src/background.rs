//! Threads that compute, next to those that send and receive packets.

/// How much such a thread yields to others, as of `nice` (CHOICE).
const NICENESS: i32 = 10;

/// Lets the calling thread yield to those that send and receive: a packet that is not read in time is lost, while a block may
/// be encoded or decoded later.
pub(crate) fn background() {
    // Linux has a priority for each thread, and without a process this is the calling one.
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "a thread that computes keeps its priority");
    }
}
