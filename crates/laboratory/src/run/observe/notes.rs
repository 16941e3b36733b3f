//! `notes.jsonl`: the events and trace events of receivers, one per line.

use layercast_core::family::Family;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use layercast_core::units::Time;
use layercast_simulator::{ReceiverEntry, ReceiverEvent};

use super::super::world::{World, WorldFlowId};
use crate::results::note::{Belief, Note, NoteLine};
use crate::results::{PartialFile, ResultsError};
use crate::scenario::Scenario;

fn note(event: ReceiverEvent) -> Note {
    match event {
        ReceiverEvent::Join(channel) => Note::Join { channel: channel.0 },
        ReceiverEvent::Leave(channel) => Note::Leave { channel: channel.0 },
        ReceiverEvent::Trace(event) => Note::of(event, Belief::default()),
    }
}

fn write(writer: &mut impl Write, replication: u32, at: Time, flow: &str, what: Note) -> io::Result<()> {
    let line = NoteLine { replication, time_s: at.as_secs_f64(), flow: Cow::Borrowed(flow), what };
    serde_json::to_writer(&mut *writer, &line).map_err(io::Error::from)?;
    writer.write_all(b"\n")
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
    directory.join(format!("notes-{number}.jsonl.partial"))
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
        let mut notes = NoteFile { path, number, flows, writer: BufWriter::new(file), entries: Vec::new() };
        for session in &scenario.sessions {
            let what = Note::session(session.protocol.name(), &session.layers, None);
            for receiver in &session.receivers {
                write(&mut notes.writer, number, Time::ZERO, &receiver.flow, what.clone())
                    .map_err(|source| ResultsError::Write { path: notes.path.clone(), source })?;
            }
        }
        Ok(notes)
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
        let NoteFile { path, number, flows, writer, entries } = self;
        for (at, flow, event) in entries.drain(..) {
            let name = flows.get(flow).map_or("", String::as_str);
            write(writer, *number, at, name, note(event))
                .map_err(|source| ResultsError::Write { path: path.clone(), source })?;
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
    let mut whole = PartialFile::create(&path)?;
    let mut join = || -> io::Result<()> {
        for number in 1..=replications {
            let part = part(directory, number);
            io::copy(&mut File::open(&part)?, &mut whole)?;
            fs::remove_file(part)?;
        }
        Ok(())
    };
    join().map_err(|source| ResultsError::Write { path: path.clone(), source })?;
    whole.complete()
}
