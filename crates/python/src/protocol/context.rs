//! What the endpoints of one call share: the first exception, and the wish to stop.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use layercast_laboratory::run::Stop;
use pyo3::prelude::*;

use super::given::Role;

/// What went wrong in a protocol.
pub(crate) struct Failure {
    protocol: &'static str,
    role: Role,
    at_ns: u64,
    method: &'static str,
    error: PyErr,
}

/// Shared by all endpoints of the protocols that were read together.
#[derive(Default)]
pub(crate) struct Context {
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
    stop: Mutex<Stop>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("failed", &self.failed).finish_non_exhaustive()
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Context>>> = const { RefCell::new(None) };
}

impl Context {
    /// Reads protocols under a context: those that are looked up meanwhile belong to it.
    pub(crate) fn reading<T>(read: impl FnOnce() -> T) -> (Arc<Context>, T) {
        let context = Arc::new(Context::default());
        let outer = CURRENT.replace(Some(Arc::clone(&context)));
        let found = read();
        CURRENT.set(outer);
        (context, found)
    }

    /// The context of what is read now.
    pub(super) fn current() -> Arc<Context> {
        CURRENT.with_borrow(|current| current.as_ref().map_or_else(Arc::default, Arc::clone))
    }

    /// A run begins that an exception is to stop.
    pub(crate) fn begin(&self, stop: &Stop) {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = stop.clone();
        let old = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(old);
        self.failed.store(false, Ordering::Relaxed);
    }

    /// Whether a protocol has failed: its endpoints then do nothing more.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Keeps the first exception, and wishes that the run stops.
    pub(super) fn fail(
        &self,
        protocol: &'static str,
        role: Role,
        at_ns: u64,
        method: &'static str,
        error: PyErr,
    ) {
        let mut failure = Some(Failure { protocol, role, at_ns, method, error });
        {
            let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_none() {
                std::mem::swap(&mut *first, &mut failure);
            }
        }
        // Outside of the lock: what frees an exception may wait for the interpreter, whose lock another endpoint that
        // fails may hold.
        drop(failure);
        self.failed.store(true, Ordering::Relaxed);
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).wish();
    }

    /// The exception that ended the run.
    ///
    /// # Errors
    /// `layercast.ProtocolError` with the text of the exception and its traceback, if a protocol raised one.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Failure { protocol, role, at_ns, method, error }) = taken else { return Ok(()) };
        // As a value, an exception has its traceback in every version of Python.
        let cause = error.into_value(py).into_bound(py);
        let made = || -> PyResult<PyErr> {
            let traceback = py.import("traceback")?;
            let lines: Vec<String> = traceback.call_method1("format_exception", (&cause,))?.extract()?;
            let seconds = at_ns as f64 / 1e9;
            let text = format!(
                "the {} of `{protocol}` raised an exception in `{method}` at {seconds:.6} s\n{}",
                role.name(),
                lines.concat().trim_end()
            );
            let class = py.import("layercast.errors")?.getattr("ProtocolError")?;
            Ok(PyErr::from_value(class.call1((text,))?))
        };
        let raised = made().unwrap_or_else(|other| other);
        raised.set_cause(py, Some(PyErr::from_value(cause.into_any())));
        Err(raised)
    }
}
