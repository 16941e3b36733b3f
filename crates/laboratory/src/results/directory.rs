//! What a directory for results holds already, so that nothing is lost or mixed when it is used again.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What a command leaves in its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The results of a run.
    Run,
    /// A sweep, complete or not.
    Sweep,
    /// A comparison.
    Comparison,
    /// Comparisons with several TCPs.
    Against,
    /// A comparison of the worlds.
    Agreement,
    /// A scoreboard.
    Scoreboard,
}

impl Holds {
    const ALL: [Holds; 6] =
        [Holds::Run, Holds::Sweep, Holds::Comparison, Holds::Against, Holds::Agreement, Holds::Scoreboard];

    fn is_in(self, directory: &Path) -> bool {
        self.marks().iter().any(|mark| directory.join(mark).exists())
    }

    /// The files by which it is known.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Holds::Run => &["summary.json"],
            Holds::Sweep => &["sweep.json", "parts/plan.json"],
            Holds::Comparison => &["compare.json"],
            Holds::Against => &["against.json"],
            Holds::Agreement => &["agree.json"],
            Holds::Scoreboard => &["scoreboard.json"],
        }
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Holds::Run => "the results of a run",
            Holds::Sweep => "a sweep",
            Holds::Comparison => "a comparison",
            Holds::Against => "a comparison against several TCPs",
            Holds::Agreement => "a comparison of both worlds",
            Holds::Scoreboard => "a scoreboard",
        })
    }
}

/// Why results cannot go into a directory.
#[derive(Debug, thiserror::Error)]
pub enum NotUsable {
    /// It holds results of another command, some of which would be overwritten.
    #[error(
        "error: {} holds {holds}, and {wanted} would overwrite parts of it\n  = help: give another directory to --out, or \
         remove that one first",
        directory.display()
    )]
    Holds {
        /// The directory.
        directory: PathBuf,
        /// What is there.
        holds: Holds,
        /// What is to be written.
        wanted: Holds,
    },
    /// Another process writes its results there.
    #[error(
        "error: another process writes its results to {}\n  = help: wait until it ends, or give another directory to --out",
        directory.display()
    )]
    Busy {
        /// The directory.
        directory: PathBuf,
    },
}

/// What a directory holds.
#[must_use]
pub fn holds(directory: &Path) -> Option<Holds> {
    Holds::ALL.into_iter().find(|holds| holds.is_in(directory))
}

/// The directories below one that hold the results of a run, such as those of a comparison, by name.
#[must_use]
pub fn runs_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| Holds::Run.is_in(path)).collect();
    found.sort();
    found
}

/// A directory that no other process writes its results to while this lives.
#[derive(Debug)]
pub struct Claim(#[expect(dead_code, reason = "the lock lasts as long as the file is open")] Option<File>);

/// Checks that a directory holds no results of another kind than those that are to be written.
///
/// # Errors
/// [`NotUsable::Holds`].
pub fn check(directory: &Path, wanted: Holds) -> Result<(), NotUsable> {
    match Holds::ALL.into_iter().find(|holds| *holds != wanted && holds.is_in(directory)) {
        Some(holds) => Err(NotUsable::Holds { directory: directory.to_owned(), holds, wanted }),
        None => Ok(()),
    }
}

/// Checks a directory, which exists, and keeps other processes from claiming it.
///
/// # Errors
/// [`NotUsable`].
pub fn claim(directory: &Path, wanted: Holds) -> Result<Claim, NotUsable> {
    check(directory, wanted)?;
    lock(directory).map(Claim)
}

/// Locks a directory; nothing if its file system has no locks.
#[cfg(unix)]
fn lock(directory: &Path) -> Result<Option<File>, NotUsable> {
    use rustix::fs::{FlockOperation, flock};
    let Ok(file) = File::open(directory) else { return Ok(None) };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(NotUsable::Busy { directory: directory.to_owned() }),
        Err(_) => Ok(None),
    }
}

/// Elsewhere a directory is no file that can be locked.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "as on Unix")]
fn lock(_: &Path) -> Result<Option<File>, NotUsable> {
    Ok(None)
}

/// Removes what an earlier run left in the directory besides the files that every run writes again: notes,
/// captures and probes of that run would be taken for those of the new one.
///
/// # Errors
/// A file cannot be removed.
pub fn remove_extras(directory: &Path) -> io::Result<()> {
    if !directory.join("summary.json").exists() {
        return Ok(());
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_capture = name.starts_with("capture-") && name.ends_with(".pcap");
        if is_capture || name == "notes.jsonl" || name == "probes.parquet" {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
