//! Sending and receiving files: transfers of the crate `layercast` for Python.

mod given;
mod said;

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use layercast::{Receiving, Sending, Transfer};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::{errors, waiting};
use said::Seen;
pub(crate) use said::{ReceiveProgress, Received, SendProgress, Sent, TransferEvent};

/// A transfer that runs.
#[pyclass(frozen, name = "Transfer", module = "layercast")]
pub(crate) struct Running(Kind);

enum Kind {
    Sending(Sending),
    Receiving(Receiving),
}

/// Does the same with a transfer of either kind.
macro_rules! either {
    ($running:expr, $transfer:ident => $done:expr) => {
        match &$running.0 {
            Kind::Sending($transfer) => $done,
            Kind::Receiving($transfer) => $done,
        }
    };
}

/// Starts to send. Each setting is the name of a parameter and a text.
#[pyfunction]
pub(crate) fn start_send(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    settings: Vec<(String, String)>,
) -> PyResult<Running> {
    let sender = given::sender(py, paths, &settings)?;
    let started = py.detach(|| sender.start());
    Ok(Running(Kind::Sending(started.map_err(|error| errors::start(py, &error))?)))
}

/// Starts to receive into a folder. Each setting is the name of a parameter and a text.
#[pyfunction]
pub(crate) fn start_receive(
    py: Python<'_>,
    into: PathBuf,
    settings: Vec<(String, String)>,
) -> PyResult<Running> {
    let receiver = given::receiver(py, into, &settings)?;
    let started = py.detach(|| receiver.start());
    Ok(Running(Kind::Receiving(started.map_err(|error| errors::start(py, &error))?)))
}

/// What an event loop watches to know that a transfer has something to say: a descriptor that becomes readable. The transfer's
/// thread writes a byte, since a thread that enters Python while the interpreter ends aborts the process.
#[pyclass(frozen, module = "layercast")]
pub(crate) struct Wakes {
    read: UnixStream,
    waker: Waker,
}

/// The end to write to.
struct Written(UnixStream);

impl Wake for Written {
    fn wake(self: Arc<Written>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Written>) {
        // One that is full is readable, and after the loop has closed its end nobody waits.
        let _ = (&self.0).write(&[0]);
    }
}

#[pymethods]
impl Wakes {
    #[new]
    fn new() -> PyResult<Wakes> {
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        write.set_nonblocking(true)?;
        Ok(Wakes { read, waker: Waker::from(Arc::new(Written(write))) })
    }

    /// The descriptor.
    fn fileno(&self) -> i32 {
        self.read.as_raw_fd()
    }

    /// Makes it unreadable, before who watches it asks again.
    fn clear(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.read).read(&mut bytes), Ok(count) if count > 0) {}
    }
}

#[pymethods]
impl Running {
    /// Waits for the next event; None after the last. Ctrl-C cancels the transfer.
    fn next(&self, py: Python<'_>) -> PyResult<Option<TransferEvent>> {
        either!(self, transfer => next(py, transfer))
    }

    /// The events that wait, and none after the last; None if there are none yet: then `wakes` becomes readable when it is worth
    /// asking again.
    fn poll(&self, wakes: &Wakes) -> Option<Vec<TransferEvent>> {
        either!(self, transfer => poll(transfer, &mut Context::from_waker(&wakes.waker)))
    }

    /// Waits for the end, and meanwhile calls `progress` with the share that is done, and `say` with each event. What they
    /// raise cancels the transfer, and so does Ctrl-C. Whether this did.
    fn finish(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, say: Py<PyAny>) -> PyResult<bool> {
        either!(self, transfer => finish(py, transfer, progress, &say))
    }

    /// The outcome of a transfer that is over, once.
    fn outcome(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        either!(self, transfer => outcome(py, transfer))
    }

    /// Asks it to end.
    fn cancel(&self) {
        either!(self, transfer => transfer.cancel());
    }

    /// Whether it has ended.
    #[getter]
    fn is_over(&self) -> bool {
        either!(self, transfer => transfer.is_over())
    }

    /// The share that is done, from 0 to 1; None if that is not known, or there is no end.
    #[getter]
    fn share(&self) -> Option<f64> {
        either!(self, transfer => transfer.share())
    }

    /// How far it is; None before it first says so.
    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        either!(self, transfer => progress(py, transfer))
    }
}

fn next<K: Seen>(py: Python<'_>, transfer: &Transfer<K>) -> PyResult<Option<TransferEvent>> {
    let (event, interrupted) = waiting::wait(
        py,
        || transfer.cancel(),
        None,
        |_| transfer.events().next().map(|event| TransferEvent::of(&event)),
    )?;
    if interrupted { Err(PyKeyboardInterrupt::new_err(())) } else { Ok(event) }
}

fn poll<K: Seen>(transfer: &Transfer<K>, context: &mut Context<'_>) -> Option<Vec<TransferEvent>> {
    let mut events = Vec::new();
    loop {
        match transfer.poll_event(context) {
            Poll::Ready(Some(event)) => events.push(TransferEvent::of(&event)),
            // Who gets events asks again.
            Poll::Ready(None) => return Some(events),
            Poll::Pending => return (!events.is_empty()).then_some(events),
        }
    }
}

fn finish<K: Seen>(
    py: Python<'_>,
    transfer: &Transfer<K>,
    progress: Option<&Bound<'_, PyAny>>,
    say: &Py<PyAny>,
) -> PyResult<bool> {
    let (said, interrupted) = waiting::wait(
        py,
        || transfer.cancel(),
        progress,
        |share| {
            let mut said = Ok(());
            for event in transfer {
                transfer.share().into_iter().for_each(|done| share.set(done));
                if said.is_ok() {
                    said = Python::attach(|py| say.call1(py, (TransferEvent::of(&event),)).map(|_| ()));
                }
                if said.is_err() {
                    transfer.cancel();
                }
            }
            said
        },
    )?;
    said.map(|()| interrupted)
}

fn outcome<K: Seen>(py: Python<'_>, transfer: &Transfer<K>) -> PyResult<Py<PyAny>> {
    match transfer.try_wait() {
        Some(Ok(outcome)) => K::ended(py, outcome),
        Some(Err(error)) => Err(errors::transfer(py, &error)),
        None => Err(errors::no_outcome(py)),
    }
}

fn progress<K: Seen>(py: Python<'_>, transfer: &Transfer<K>) -> PyResult<Option<Py<PyAny>>> {
    transfer.progress().map(|progress| K::shown(py, &progress)).transpose()
}
