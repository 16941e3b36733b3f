//! Sending and receiving files and live data: transfers of the crate `layercast` for Python.

mod given;
mod live;
mod said;

use std::io::{PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use layercast::{
    Receiver, ReceiverBuilder, Receiving, Sender, SenderBuilder, Sending, StreamReceiving, StreamSending,
    Transfer,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::{errors, waiting};
pub(crate) use live::{
    StreamLayerReceived, StreamLayerSent, StreamReceiveProgress, StreamReceived, StreamSendProgress,
    StreamSent,
};
use said::Seen;
pub(crate) use said::{ReceiveProgress, Received, SendProgress, Sent, TransferEvent};

/// A transfer that runs.
#[pyclass(frozen, name = "Transfer", module = "layercast")]
pub(crate) struct Running(Kind);

enum Kind {
    Sending(Sending),
    Receiving(Receiving),
    StreamSending(StreamSending),
    StreamReceiving(StreamReceiving),
}

/// Does the same with a transfer of either kind.
macro_rules! either {
    ($running:expr, $transfer:ident => $done:expr) => {
        match &$running.0 {
            Kind::Sending($transfer) => $done,
            Kind::Receiving($transfer) => $done,
            Kind::StreamSending($transfer) => $done,
            Kind::StreamReceiving($transfer) => $done,
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
    let sender = paths.into_iter().fold(Sender::builder(), SenderBuilder::path);
    let sender = given::sender(py, sender, &settings)?;
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
    let receiver = given::receiver(py, Receiver::builder().into(into), &settings)?;
    let started = py.detach(|| receiver.start());
    Ok(Running(Kind::Receiving(started.map_err(|error| errors::start(py, &error))?)))
}

/// Starts to send live data: an input for each layer is a path, or None for a pipe. The descriptors to write to, which are the
/// caller's, in the order of the layers. Each setting is the name of a parameter and a text.
#[pyfunction]
pub(crate) fn start_stream_send(
    py: Python<'_>,
    inputs: Vec<Option<PathBuf>>,
    settings: Vec<(String, String)>,
) -> PyResult<(Running, Vec<RawFd>)> {
    let mut ends: Vec<PipeWriter> = Vec::new();
    let sender = inputs.into_iter().try_fold(Sender::stream_builder(), |sender, input| -> PyResult<_> {
        if let Some(path) = input {
            return Ok(sender.path(path));
        }
        let (data, end) = pipe()?;
        ends.push(end);
        Ok(sender.input(data))
    })?;
    let sender = given::sender(py, sender, &settings)?;
    let started = py.detach(|| sender.start()).map_err(|error| errors::start(py, &error))?;
    Ok((Running(Kind::StreamSending(started)), ends.into_iter().map(IntoRawFd::into_raw_fd).collect()))
}

/// Starts to receive live data, into a folder or so many pipes, one for each layer. The descriptors to read from, which are the
/// caller's. Each setting is the name of a parameter and a text.
#[pyfunction]
pub(crate) fn start_stream_receive(
    py: Python<'_>,
    into: Option<PathBuf>,
    pipes: usize,
    settings: Vec<(String, String)>,
) -> PyResult<(Running, Vec<RawFd>)> {
    let receiver = into.into_iter().fold(Receiver::stream_builder(), ReceiverBuilder::into);
    let mut ends = Vec::new();
    let receiver = (0..pipes).try_fold(receiver, |receiver, _| -> PyResult<_> {
        let (end, output) = pipe()?;
        ends.push(end);
        Ok(receiver.output(output))
    })?;
    let receiver = given::receiver(py, receiver, &settings)?;
    let started = py.detach(|| receiver.start()).map_err(|error| errors::start(py, &error))?;
    Ok((Running(Kind::StreamReceiving(started)), ends.into_iter().map(IntoRawFd::into_raw_fd).collect()))
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
