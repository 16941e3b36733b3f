//! What a run records while it proceeds: captures of links and the trace events of receivers.
//!
//! Everything is collected between the steps of the run and goes to files at once, so that no more
//! than a step's worth is held. Observing changes no result.

mod addresses;
mod capture;
mod notes;

use layercast_core::family::Family;
use std::collections::BTreeSet;
use std::path::PathBuf;

use super::world::World;
use crate::results::ResultsError;
use crate::scenario::Scenario;

use self::capture::Capture;
use self::notes::NoteFile;

pub(super) use self::notes::join as join_notes;

/// What a run records in addition to its results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Where files go; the directory exists.
    pub directory: PathBuf,
    /// The links to capture, by their numbers in [`crate::results::Experiment::links`]: each has two
    /// directions. The file of the link `A-B` is `capture-A-B.pcap`.
    pub captures: Vec<usize>,
    /// The replication that is captured, from 1.
    pub capture_replication: u32,
    /// Whether `notes.jsonl` is written.
    pub notes: bool,
}

/// The files of one replication.
pub(super) struct Observer {
    captures: Vec<Capture>,
    notes: Option<NoteFile>,
}

impl Observer {
    /// Opens the files of a replication and starts to look.
    pub(super) fn start<F: Family>(
        scenario: &Scenario,
        world: &mut World<F>,
        number: u32,
        observation: Option<&Observation>,
    ) -> Result<Observer, ResultsError> {
        let mut observer = Observer { captures: Vec::new(), notes: None };
        let Some(observation) = observation else { return Ok(observer) };
        if observation.notes {
            world.simulation_mut().keep_logs();
            observer.notes = Some(NoteFile::create(&observation.directory, number, scenario)?);
        }
        if observation.capture_replication == number {
            let links: BTreeSet<usize> = observation.captures.iter().map(|direction| direction / 2).collect();
            for link in links {
                let captured = [2 * link, 2 * link + 1].map(|number| observation.captures.contains(&number));
                observer.captures.extend(Capture::create(
                    &observation.directory,
                    scenario,
                    world,
                    link,
                    captured,
                )?);
            }
        }
        Ok(observer)
    }

    /// Writes what happened since the last call.
    pub(super) fn collect<F: Family>(&mut self, world: &mut World<F>) -> Result<(), ResultsError> {
        for capture in &mut self.captures {
            capture.collect(world)?;
        }
        self.notes.as_mut().map_or(Ok(()), |notes| notes.collect(world))
    }

    /// Completes the files.
    pub(super) fn finish(self) -> Result<(), ResultsError> {
        self.captures.into_iter().try_for_each(Capture::finish)?;
        self.notes.map_or(Ok(()), NoteFile::finish)
    }
}
