//! Sending and receiving files: transfers of the crate `layercast` for Python.

mod given;
mod said;

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

/// Calls a function of Python for a task that waits.
struct Call(Py<PyAny>);

impl Wake for Call {
    fn wake(self: Arc<Call>) {
        // Not while the interpreter ends.
        Python::try_attach(|py| {
            if let Err(error) = self.0.call0(py) {
                error.write_unraisable(py, None);
            }
        });
    }
}

#[pymethods]
impl Running {
    /// Waits for the next event; None after the last. Ctrl-C cancels the transfer.
    fn next(&self, py: Python<'_>) -> PyResult<Option<TransferEvent>> {
        either!(self, transfer => next(py, transfer))
    }

    /// The events that wait, and none after the last; None if there are none yet: then `wake` is called, from any thread, when
    /// it is worth asking again.
    fn poll(&self, wake: Py<PyAny>) -> Option<Vec<TransferEvent>> {
        let waker = Waker::from(Arc::new(Call(wake)));
        either!(self, transfer => poll(transfer, &mut Context::from_waker(&waker)))
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

fn next<E: Seen>(py: Python<'_>, transfer: &Transfer<E>) -> PyResult<Option<TransferEvent>> {
    let (event, interrupted) =
        waiting::wait(py, || transfer.cancel(), None, |_| transfer.events().next().map(E::seen))?;
    if interrupted { Err(PyKeyboardInterrupt::new_err(())) } else { Ok(event) }
}

fn poll<E: Seen>(transfer: &Transfer<E>, context: &mut Context<'_>) -> Option<Vec<TransferEvent>> {
    let mut events = Vec::new();
    loop {
        match transfer.poll_event(context) {
            Poll::Ready(Some(event)) => events.push(event.seen()),
            // Who gets events asks again.
            Poll::Ready(None) => return Some(events),
            Poll::Pending => return (!events.is_empty()).then_some(events),
        }
    }
}

fn finish<E: Seen>(
    py: Python<'_>,
    transfer: &Transfer<E>,
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
                    said = Python::attach(|py| say.call1(py, (event.seen(),)).map(|_| ()));
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

fn outcome<E: Seen>(py: Python<'_>, transfer: &Transfer<E>) -> PyResult<Py<PyAny>> {
    match transfer.try_wait() {
        Some(Ok(outcome)) => E::ended(py, outcome),
        Some(Err(error)) => Err(errors::transfer(py, &error)),
        None => Err(errors::no_outcome(py)),
    }
}

fn progress<E: Seen>(py: Python<'_>, transfer: &Transfer<E>) -> PyResult<Option<Py<PyAny>>> {
    transfer.progress().map(|progress| E::shown(py, &progress)).transpose()
}
