//! What transfers say and what comes of them, as Python sees it. Names are those of `layercast send --json` and `receive --json`.

use layercast::{Event, ObjectEvent, ReceiveEvent, SendEvent};
use pyo3::prelude::*;

/// Something that a transfer says.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct TransferEvent {
    /// The event, as docs/events.md calls it: `ready`, `session`, `progress`, `notice`, `object_complete` and so on; `missed` where
    /// events were thrown away since nobody read them.
    event: &'static str,
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
    fn of(event: &'static str) -> TransferEvent {
        TransferEvent { event, text: String::new(), path: None, count: None, warning: false }
    }

    fn notice(notice: &layercast::Notice) -> TransferEvent {
        let text = notice.to_string();
        TransferEvent { text, warning: notice.is_warning(), ..TransferEvent::of("notice") }
    }

    fn missed(count: u64) -> TransferEvent {
        TransferEvent { count: Some(count), ..TransferEvent::of("missed") }
    }

    fn object(event: &'static str, path: &str) -> TransferEvent {
        TransferEvent { path: Some(path.to_owned()), ..TransferEvent::of(event) }
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
pub(super) trait Seen: Event {
    /// An event.
    fn seen(self) -> TransferEvent;
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

impl Seen for SendEvent {
    fn seen(self) -> TransferEvent {
        match self {
            SendEvent::Hashing { done, .. } => {
                TransferEvent { count: Some(done), ..TransferEvent::of("hashing") }
            }
            SendEvent::Ready(ready) => {
                TransferEvent { text: ready.url().unwrap_or_default(), ..TransferEvent::of("ready") }
            }
            SendEvent::Progress(_) => TransferEvent::of("progress"),
            SendEvent::Reception(_) => TransferEvent::of("reception"),
            SendEvent::Notice(notice) => TransferEvent::notice(&notice),
            SendEvent::Missed(count) => TransferEvent::missed(count),
            other => TransferEvent { text: format!("{other:?}"), ..TransferEvent::of("other") },
        }
    }

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

impl Seen for ReceiveEvent {
    fn seen(self) -> TransferEvent {
        match self {
            ReceiveEvent::Session(session) => {
                let text = format!("{} from {}", session.protocol, session.source);
                TransferEvent { text, ..TransferEvent::of("session") }
            }
            ReceiveEvent::Progress(_) => TransferEvent::of("progress"),
            ReceiveEvent::Object(object) => seen_object(&object),
            ReceiveEvent::Notice(notice) => TransferEvent::notice(&notice),
            ReceiveEvent::Missed(count) => TransferEvent::missed(count),
            other => TransferEvent { text: format!("{other:?}"), ..TransferEvent::of("other") },
        }
    }

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

fn seen_object(event: &ObjectEvent) -> TransferEvent {
    let of = TransferEvent::object;
    match event {
        ObjectEvent::Resumed { path, held, .. } => {
            TransferEvent { count: Some(*held), ..of("object_resumed", path) }
        }
        ObjectEvent::NotRecorded { path } => {
            let text = "what arrives is not recorded, so that a restarted receiver would begin again";
            TransferEvent { text: text.to_owned(), warning: true, ..of("object_not_recorded", path) }
        }
        ObjectEvent::Complete { path, length } => {
            TransferEvent { count: Some(*length), ..of("object_complete", path) }
        }
        ObjectEvent::Present { path } => of("object_present", path),
        ObjectEvent::WrongHash { path } => {
            let text = "it is complete but its hash is wrong: its reception starts again";
            TransferEvent { text: text.to_owned(), warning: true, ..of("object_wrong_hash", path) }
        }
        ObjectEvent::Failed { path, reason } => {
            TransferEvent { text: reason.to_string(), warning: true, ..of("object_failed", path) }
        }
        ObjectEvent::Removed { path } => of("object_removed", path),
        ObjectEvent::Rejected(error) => {
            TransferEvent { text: error.to_string(), warning: true, ..TransferEvent::of("table_rejected") }
        }
    }
}
