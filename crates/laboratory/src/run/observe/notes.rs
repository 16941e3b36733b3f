//! `notes.jsonl`: the events and trace events of receivers, one per line.

use layercast_core::family::Family;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use layercast_core::contract::TraceEvent;
use layercast_core::units::Time;
use layercast_simulator::{ReceiverEntry, ReceiverEvent};
use serde::Serialize;

use super::super::world::{World, WorldFlowId};
use crate::results::{ResultsError, partial_name};
use crate::scenario::Scenario;

/// One line. The order of the fields is that of the file.
#[derive(Debug, Serialize)]
struct Line<'a> {
    replication: u32,
    time_s: f64,
    flow: &'a str,
    #[serde(flatten)]
    what: What,
}

/// What happened, under the name that `event` has in the file.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum What {
    Join { channel: u16 },
    Leave { channel: u16 },
    LevelChanged { from: i32, to: i32, cause: String },
    LossEvent { layer: u16, first_lost: u64 },
    SlowStartEnded { level: i32 },
    JoinAttempt { to: i32, joined: bool },
    FirstRoundTrip { rtt_ms: f64 },
    Resynchronised { layer: u16 },
    Silent { waited_s: f64 },
    LateLeave { channel: u16, since_leave_s: f64 },
    LeftBehind { child: u32, waited_s: f64 },
    SessionEnded,
}

impl From<ReceiverEvent> for What {
    fn from(event: ReceiverEvent) -> What {
        let note = match event {
            ReceiverEvent::Join(channel) => return What::Join { channel: channel.0 },
            ReceiverEvent::Leave(channel) => return What::Leave { channel: channel.0 },
            ReceiverEvent::Trace(note) => note,
        };
        match note {
            TraceEvent::LevelChanged { from, to, cause } => {
                What::LevelChanged { from: from.as_number(), to: to.as_number(), cause: cause.to_string() }
            }
            TraceEvent::LossEvent { layer, first_lost } => {
                What::LossEvent { layer: layer.0, first_lost: first_lost.0 }
            }
            TraceEvent::SlowStartEnded { level } => What::SlowStartEnded { level: level.as_number() },
            TraceEvent::JoinAttempt { to, joined } => What::JoinAttempt { to: to.as_number(), joined },
            TraceEvent::FirstRoundTrip { rtt } => What::FirstRoundTrip { rtt_ms: rtt.as_secs_f64() * 1e3 },
            TraceEvent::Resynchronised { layer } => What::Resynchronised { layer: layer.0 },
            TraceEvent::Silent { waited } => What::Silent { waited_s: waited.as_secs_f64() },
            TraceEvent::LateLeave { channel, since_leave } => {
                What::LateLeave { channel: channel.0, since_leave_s: since_leave.as_secs_f64() }
            }
            TraceEvent::LeftBehind { child, waited } => {
                What::LeftBehind { child: child.0, waited_s: waited.as_secs_f64() }
            }
            TraceEvent::SessionEnded => What::SessionEnded,
        }
    }
}

/// The notes of one replication, being written to a file of its own: replications run side by side.
pub(super) struct NoteFile {
    path: PathBuf,
    number: u32,
    flows: Vec<String>,
    writer: BufWriter<File>,
    /// The entries of one step, by time and flow.
    entries: Vec<(Time, usize, ReceiverEvent)>,
}

/// The file of one replication, until all are joined.
fn part(directory: &Path, number: u32) -> PathBuf {
    partial_name(&directory.join(format!("notes-{number}.jsonl")))
}

impl NoteFile {
    pub(super) fn create(
        directory: &Path,
        number: u32,
        scenario: &Scenario,
    ) -> Result<NoteFile, ResultsError> {
        let path = part(directory, number);
        let file =
            File::create(&path).map_err(|source| ResultsError::Write { path: path.clone(), source })?;
        let flows = scenario.flow_names().into_iter().map(|flow| flow.name).collect();
        Ok(NoteFile { path, number, flows, writer: BufWriter::new(file), entries: Vec::new() })
    }

    pub(super) fn collect<F: Family>(&mut self, world: &mut World<F>) -> Result<(), ResultsError> {
        for (flow, known) in world.flows.iter().enumerate() {
            if let WorldFlowId::Receiver(id) = known.id {
                let entries = &mut self.entries;
                let mut keep = |ReceiverEntry { at, event }| entries.push((at, flow, event));
                world.running.simulation_mut().drain_log(id, &mut keep);
            }
        }
        // The sort is stable, so what a flow did at one moment stays in its order.
        self.entries.sort_by_key(|&(at, flow, _)| (at, flow));
        for (at, flow, event) in self.entries.drain(..) {
            let name = self.flows.get(flow).map_or("", String::as_str);
            let line =
                Line { replication: self.number, time_s: at.as_secs_f64(), flow: name, what: event.into() };
            serde_json::to_writer(&mut self.writer, &line)
                .map_err(io::Error::from)
                .and_then(|()| self.writer.write_all(b"\n"))
                .map_err(|source| ResultsError::Write { path: self.path.clone(), source })?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), ResultsError> {
        self.writer.flush().map_err(|source| ResultsError::Write { path: self.path, source })
    }
}

/// Puts the files of all replications behind each other into `notes.jsonl`.
pub(in crate::run) fn join(directory: &Path, replications: u32) -> Result<(), ResultsError> {
    let path = directory.join("notes.jsonl");
    let partial = partial_name(&path);
    let join = || -> io::Result<()> {
        let mut whole = BufWriter::new(File::create(&partial)?);
        for number in 1..=replications {
            let part = part(directory, number);
            io::copy(&mut File::open(&part)?, &mut whole)?;
            fs::remove_file(part)?;
        }
        whole.flush()?;
        fs::rename(&partial, &path)
    };
    join().map_err(|source| ResultsError::Write { path: path.clone(), source })
}
