//! What must hold.

use std::collections::BTreeSet;

use layercast_core::units::Time;
use layercast_delivery::placing::OWN_FOLDER;
use layercast_delivery::record;

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
    /// A file of the user's is not as it was.
    #[error("at {at}, receiver {receiver} has changed {path:?}, which is the user's own")]
    NotOurs {
        /// When.
        at: Time,
        /// Which.
        receiver: usize,
        /// The path.
        path: String,
    },
    /// A mirror that says it is in step has a file that the source does not have.
    #[error("at {at}, receiver {receiver} is in step and has {path:?}, which the source does not have")]
    OutOfStep {
        /// When.
        at: Time,
        /// Which.
        receiver: usize,
        /// The path.
        path: String,
    },
    /// A forged packet passed the check of protected packets.
    #[error("at {at}, receiver {receiver} took a forged packet")]
    Forged {
        /// When.
        at: Time,
        /// Which.
        receiver: usize,
    },
    /// A packet passed the check of protected packets twice.
    #[error("at {at}, receiver {receiver} took a packet a second time")]
    Replayed {
        /// When.
        at: Time,
        /// Which.
        receiver: usize,
    },
    /// A source sent two packets of one number, so with one nonce.
    #[error("at {at}, source {source_number} used packet number {packet} after {highest}")]
    NumberAgain {
        /// When.
        at: Time,
        /// Which.
        source_number: usize,
        /// The number.
        packet: u64,
        /// The highest that it had used.
        highest: u64,
    },
    /// A damaged state of a source was read, or one that is whole was not.
    #[error("at {at}, source {source_number} reads a state that is damaged ({is_damaged}): {reason}")]
    State {
        /// When.
        at: Time,
        /// Which.
        source_number: usize,
        /// Whether its disk has damaged it.
        is_damaged: bool,
        /// What it says.
        reason: String,
    },
    /// A receiver that listens to announcements keeps too many.
    #[error("at {at}, receiver {receiver} keeps {excess} announced sessions too many")]
    Listener {
        /// When.
        at: Time,
        /// Which.
        receiver: usize,
        /// How many more than it may keep.
        excess: usize,
    },
    /// An AMT relay has tunnels to gateways that did not ask for them.
    #[error("at {at}, the AMT relay has {tunnels} tunnels, more than gateways have asked for")]
    Tunnels {
        /// When.
        at: Time,
        /// How many.
        tunnels: usize,
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
pub(crate) fn check(plan: &Plan, at: Time, receiver: usize, disk: &FaultyDisk) -> Result<(), Broken> {
    let own = format!("{OWN_FOLDER}/");
    let mut bytes = 0;
    let files = disk.files();
    for (path, content) in &files {
        let is_users = plan.own.iter().any(|(own, bytes)| own == path && bytes == content);
        if path.starts_with(&own) {
            bytes += content.len();
        } else if !is_users && !plan.versions(path).any(|version| version == content) {
            let path = path.clone();
            return Err(Broken::WrongContent { at, receiver, path, length: content.len() });
        }
    }
    for own in &plan.own {
        // One of another content is replaced.
        let is_kept = plan.versions(&own.0).all(|version| version == own.1);
        if is_kept && !files.contains(own) {
            return Err(Broken::NotOurs { at, receiver, path: own.0.clone() });
        }
    }
    // A partial file of every version, its record with as many repair symbols, and the heads of records; what is in a
    // package may be in several, with indices, and once more on its way to its place.
    let all: usize =
        plan.changes.iter().flat_map(|change| &change.files).chain(&plan.others).map(|(_, b)| b.len()).sum();
    let most = if plan.packs { 8 } else { 3 } * all + 100_000;
    if bytes > most { Err(Broken::Growth { at, receiver, bytes, most }) } else { Ok(()) }
}

/// Files that were about to be in place when a program was killed, by the record of a mirror. If the source has none of that
/// path afterwards they stay, as they may be the user's.
fn unsure(files: &[(String, Vec<u8>)]) -> BTreeSet<String> {
    let placed = files.iter().find(|(path, _)| *path == format!("{OWN_FOLDER}/placed"));
    // Records follow the line of the head.
    let end = placed.and_then(|(_, bytes)| bytes.iter().position(|&byte| byte == b'\n'));
    let mut rest = placed.and_then(|(_, bytes)| bytes.get(end? + 1..)).unwrap_or_default();
    let mut unsure = BTreeSet::new();
    while let Some((body, after)) = record::split(rest) {
        rest = after;
        let Some((step, path)) = body.split_first() else { break };
        let path = String::from_utf8_lossy(path).into_owned();
        if *step == b'?' {
            unsure.insert(path)
        } else {
            unsure.remove(&path)
        };
    }
    unsure
}

/// Whether a receiver that says so has all files, and as a mirror no others; `was_killed` is whether any of its programs was.
pub(crate) fn complete(
    plan: &Plan,
    at: Time,
    receiver: usize,
    disk: &FaultyDisk,
    of_other: bool,
    was_killed: bool,
) -> Result<(), Broken> {
    let files = disk.files();
    let has =
        |path: &str, bytes: &[u8]| files.iter().any(|(other, content)| other == path && content == bytes);
    let others = plan.others.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    let wanted: Vec<(&str, &[u8])> = if of_other { others.collect() } else { plan.last_files() };
    if let Some((path, _)) = wanted.iter().find(|(path, bytes)| !has(path, bytes)) {
        return Err(Broken::Incomplete { at, receiver, path: (*path).to_owned() });
    }
    if !plan.is_mirror {
        return Ok(());
    }
    let own = format!("{OWN_FOLDER}/");
    let unsure = if was_killed { unsure(&files) } else { BTreeSet::new() };
    let belongs = |path: &str| {
        path.starts_with(&own) || wanted.iter().any(|(other, _)| *other == path) || unsure.contains(path)
    };
    match files.iter().find(|file| !belongs(&file.0) && !plan.own.contains(file)) {
        Some((path, _)) => Err(Broken::OutOfStep { at, receiver, path: path.clone() }),
        None => Ok(()),
    }
}
