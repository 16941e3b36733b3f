//! Long work next to the interpreter, which can still notice Ctrl-C and show progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// How often signals are looked for and progress is shown.
const EVERY: Duration = Duration::from_millis(50);

/// The fraction of some work that is done.
#[derive(Default)]
pub(crate) struct Share(AtomicU64);

impl Share {
    /// Threads may come out of order: it never goes back. The bits of positive numbers are ordered as they are.
    pub(crate) fn set(&self, share: f64) {
        self.0.fetch_max(share.max(0.0).to_bits(), Ordering::Relaxed);
    }

    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// Runs `work` on a thread of its own, without the interpreter's lock, and meanwhile looks for signals and calls
/// `progress` with the fraction done, from 0 to 1. If either raises, `stop` is called. Gives what the work gave, and
/// whether Ctrl-C stopped it.
///
/// # Errors
/// What a signal's handler or `progress` raised, but for `KeyboardInterrupt`.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    stop: impl Fn() + Sync,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Share) -> T + Send,
) -> PyResult<(T, bool)> {
    let share = Share::default();
    let progress = progress.map(|progress| progress.clone().unbind());
    let look = |share: f64| {
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (share,)).map(|_| ()))
        })
    };
    let (given, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (done, ended) = channel::<()>();
            let (share, mut raised) = (&share, None);
            let worker = scope.spawn(move || {
                let given = work(share);
                drop(done);
                given
            });
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    raised = look(share.get()).err();
                    raised.iter().for_each(|_| stop());
                }
            }
            (worker.join(), raised)
        })
    });
    let given = given.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    match raised {
        None => {
            progress.map_or(Ok(()), |progress| progress.call1(py, (1.0,)).map(|_| ()))?;
            Ok((given, false))
        }
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok((given, true)),
        Some(error) => Err(error),
    }
}
