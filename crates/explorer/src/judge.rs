//! What must hold.

use layercast_core::units::Time;
use layercast_delivery::placing::OWN_FOLDER;

use crate::disk::FaultyDisk;
use crate::plan::Plan;

/// An invariant that is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A file in place has a content that no source sent.
    #[error("at {at}, receiver {receiver} has {path:?} in place with {length} bytes that no source sent")]
    WrongContent {
        /// When it was seen.
        at: Time,
        /// Whose.
        receiver: usize,
        /// The path.
        path: String,
        /// How long it is.
        length: usize,
    },
    /// A receiver that says it is complete lacks a file or has an old version.
    #[error("at {at}, receiver {receiver} is complete and {path:?} is missing or old")]
    Incomplete {
        /// When.
        at: Time,
        /// Which.
        receiver: usize,
        /// The path.
        path: String,
    },
    /// A receiver that heard enough did not finish.
    #[error("receiver {receiver} did not finish by {at}: {state}")]
    Unfinished {
        /// The end of the run.
        at: Time,
        /// Which.
        receiver: usize,
        /// What it was doing.
        state: String,
    },
    /// A receiver keeps more than it can need.
    #[error("at {at}, receiver {receiver} keeps {bytes} bytes of its own, and can need {most}")]
    Growth {
        /// When.
        at: Time,
        /// Which.
        receiver: usize,
        /// The bytes of its own files.
        bytes: usize,
        /// The most that it can need.
        most: usize,
    },
}

/// Whether what is in place at a receiver is right at all times.
pub(crate) fn look(plan: &Plan, at: Time, receiver: usize, disk: &FaultyDisk) -> Result<(), Broken> {
    let own = format!("{OWN_FOLDER}/");
    let mut bytes = 0;
    for (path, content) in disk.files() {
        if path.starts_with(&own) {
            bytes += content.len();
        } else if !plan.versions(&path).any(|version| version == content) {
            return Err(Broken::WrongContent { at, receiver, path, length: content.len() });
        }
    }
    // A partial file of every version, its record with as many repair symbols, and the heads of records; what is in a
    // package may be in several, with indices, and once more on its way to its place.
    let all: usize =
        plan.changes.iter().flat_map(|change| &change.files).chain(&plan.others).map(|(_, b)| b.len()).sum();
    let most = if plan.packs { 8 } else { 3 } * all + 100_000;
    if bytes > most { Err(Broken::Growth { at, receiver, bytes, most }) } else { Ok(()) }
}

/// Whether a receiver that says so has all files.
pub(crate) fn complete(
    plan: &Plan,
    at: Time,
    receiver: usize,
    disk: &FaultyDisk,
    of_other: bool,
) -> Result<(), Broken> {
    let files = disk.files();
    let has =
        |path: &str, bytes: &[u8]| files.iter().any(|(other, content)| other == path && content == bytes);
    let others = plan.others.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    let wanted: Vec<(&str, &[u8])> = if of_other { others.collect() } else { plan.last_files() };
    match wanted.into_iter().find(|(path, bytes)| !has(path, bytes)) {
        Some((path, _)) => Err(Broken::Incomplete { at, receiver, path: path.to_owned() }),
        None => Ok(()),
    }
}
