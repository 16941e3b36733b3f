//! What transfers say and what comes of them, as Python sees it. Names are those of `layercast send --json` and `receive --json`.

use layercast::{Event, Kind, Receives, Sends};
use pyo3::prelude::*;
use serde_json::{Map, Value};

/// Something that a transfer says.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct TransferEvent {
    /// The event, as docs/events.md calls it: `ready`, `session`, `progress`, `notice`, `object_complete` and so on; `missed` where
    /// events were thrown away since nobody read them.
    event: String,
    /// What it says, in words for people; empty if there is no more to say. Of `ready` the session's URL.
    text: String,
    /// The path of the file that it is about.
    path: Option<String>,
    /// The length of a complete file, the bytes that were hashed, how many events were missed.
    count: Option<u64>,
    /// Whether something is wrong.
    warning: bool,
}

impl TransferEvent {
    /// An event, by its fields in JSON.
    pub(super) fn of(event: &Event) -> TransferEvent {
        let fields = match serde_json::to_value(event) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let text_of = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let counts = ["count", "symbols_held", "bytes"].map(|name| fields.get(name).and_then(Value::as_u64));
        let (text, warning) = match event {
            Event::Ready(ready) => (ready.url(), false),
            Event::Session(session) => (Some(format!("{} from {}", session.protocol, session.source)), false),
            Event::Notice(notice) => (Some(notice.to_string()), notice.is_warning()),
            Event::Object(object) => (object.text(), object.is_warning()),
            _ => (None, false),
        };
        TransferEvent {
            event: text_of("event").unwrap_or_default(),
            text: text.unwrap_or_default(),
            path: text_of("path"),
            count: counts.into_iter().flatten().next().filter(|_| !matches!(event, Event::Progress(_))),
            warning,
        }
    }
}

#[pymethods]
impl TransferEvent {
    fn __repr__(&self) -> String {
        let words = self.path.iter().chain((!self.text.is_empty()).then_some(&self.text));
        let words: Vec<&str> = words.map(String::as_str).collect();
        format!("<TransferEvent {}: {}>", self.event, words.join(": "))
    }
}

/// How far a transmission is.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct SendProgress {
    /// Seconds since the start.
    elapsed_s: f64,
    /// Symbols sent for each that the files have.
    rounds: f64,
    /// Packets sent.
    packets: u64,
    /// Their bytes with all headers.
    bytes: u64,
    /// How many receivers have said that they are complete.
    receivers_complete: usize,
}

/// What was sent, and who has it.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct Sent {
    /// Why it ended: `time`, `rounds`, `completions`, `all_complete` or `interrupted`.
    reason: &'static str,
    /// The progress at the end.
    progress: Py<SendProgress>,
    /// The addresses of the receivers that have said that they are complete, in the order of their reports.
    completed: Vec<String>,
    /// About how many receivers there were at the end; None if they were not asked.
    receivers: Option<f64>,
    /// How many files changed or vanished while they were being sent.
    objects_withdrawn: usize,
    /// How many files were left out that receivers lack by it.
    files_left_out: usize,
}

/// How far a reception is.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct ReceiveProgress {
    /// Seconds since the start.
    elapsed_s: f64,
    /// Files and empty folders of the session that are known.
    objects: usize,
    /// Those in their place.
    objects_complete: usize,
    /// Those that cannot be received.
    objects_failed: usize,
    /// The bytes of all.
    objects_bytes: u64,
    /// The least number of symbols that they need.
    symbols_needed: u64,
    /// How many of these are here.
    symbols_held: u64,
    /// Bits of the files per second over the last interval.
    goodput_bps: f64,
    /// The level of the receiver: of 0 it holds the base layer alone; -1 before.
    level: i32,
    /// The share of packets that were lost over the last seconds; None before the first packet.
    packets_lost: Option<f64>,
    /// The round-trip time in milliseconds, where the congestion control measures it.
    rtt_ms: Option<f64>,
}

/// What was received.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct Received {
    /// The folder of the files.
    folder: String,
    /// The path of the file, if the session had one alone.
    path: Option<String>,
    /// The progress at the end.
    progress: Py<ReceiveProgress>,
}

/// A kind of transfers as Python sees it.
pub(super) trait Seen: Kind {
    /// How far it is.
    fn shown(py: Python<'_>, progress: &Self::Progress) -> PyResult<Py<PyAny>>;
    /// What came of it.
    fn ended(py: Python<'_>, outcome: Self::Outcome) -> PyResult<Py<PyAny>>;
}

impl From<&layercast::SendProgress> for SendProgress {
    fn from(progress: &layercast::SendProgress) -> SendProgress {
        SendProgress {
            elapsed_s: progress.elapsed.as_secs_f64(),
            rounds: progress.rounds,
            packets: progress.counters.packets,
            bytes: progress.counters.bytes,
            receivers_complete: progress.completions,
        }
    }
}

impl Seen for Sends {
    fn shown(py: Python<'_>, progress: &layercast::SendProgress) -> PyResult<Py<PyAny>> {
        Ok(Py::new(py, SendProgress::from(progress))?.into_any())
    }

    fn ended(py: Python<'_>, sent: layercast::Sent) -> PyResult<Py<PyAny>> {
        let sent = Sent {
            reason: sent.stopped.name(),
            progress: Py::new(py, SendProgress::from(&sent.progress))?,
            completed: sent.completed.iter().map(ToString::to_string).collect(),
            receivers: sent.reception.map(|reception| reception.summary.receivers.mean),
            objects_withdrawn: sent.withdrawn,
            files_left_out: sent.left_out,
        };
        Ok(Py::new(py, sent)?.into_any())
    }
}

impl From<&layercast::ReceiveProgress> for ReceiveProgress {
    fn from(progress: &layercast::ReceiveProgress) -> ReceiveProgress {
        let (objects, estimates) = (&progress.objects, &progress.estimates);
        ReceiveProgress {
            elapsed_s: progress.elapsed.as_secs_f64(),
            objects: objects.objects,
            objects_complete: objects.complete,
            objects_failed: objects.failed,
            objects_bytes: objects.bytes,
            symbols_needed: objects.needed,
            symbols_held: objects.held,
            goodput_bps: progress.goodput_bps,
            level: estimates.level.as_number(),
            packets_lost: progress.packets_lost,
            rtt_ms: estimates.rtt.map(|rtt| rtt.as_secs_f64() * 1e3),
        }
    }
}

impl Seen for Receives {
    fn shown(py: Python<'_>, progress: &layercast::ReceiveProgress) -> PyResult<Py<PyAny>> {
        Ok(Py::new(py, ReceiveProgress::from(progress))?.into_any())
    }

    fn ended(py: Python<'_>, received: layercast::Received) -> PyResult<Py<PyAny>> {
        let received = Received {
            path: received.path().map(|path| path.to_string_lossy().into_owned()),
            folder: received.folder.to_string_lossy().into_owned(),
            progress: Py::new(py, ReceiveProgress::from(&received.progress))?,
        };
        Ok(Py::new(py, received)?.into_any())
    }
}
