//! A thread that runs when it has to: packets must not wait for a processor that others use.

use std::fs;
use std::io;
use std::time::Duration;

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// The priority among threads that run before all others (sched(7)): a low one, since most threads have none.
const PRIORITY: u8 = 10;

/// Lets the calling thread run before all that have no priority (SCHED_FIFO). Threads that it starts inherit this.
pub(crate) fn become_urgent() -> io::Result<()> {
    let refused = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
    let priority = ThreadPriorityValue::try_from(PRIORITY).map_err(|error| refused(&error))?;
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), policy)
        .map_err(|error| match error {
            thread_priority::Error::OS(code) => io::Error::from_raw_os_error(code),
            other => refused(&format!("{other:?}")),
        })
}

/// The processor time of the calling thread.
pub(crate) fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(ns.unwrap_or_default())
}
