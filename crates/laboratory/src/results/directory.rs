//! What a directory for results holds already, so that nothing is lost or mixed when it is used again.

use std::fmt;
use std::fs;
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

/// A directory holds results of another command, some of which would be overwritten.
#[derive(Debug, thiserror::Error)]
#[error(
    "error: {} holds {holds}, and {wanted} would overwrite parts of it\n  = help: give another directory to --out, or \
     remove that one first",
    directory.display()
)]
pub struct OtherResults {
    /// The directory.
    pub directory: PathBuf,
    /// What is there.
    pub holds: Holds,
    /// What is to be written.
    pub wanted: Holds,
}

/// Checks that a directory holds no results of another kind than those that are to be written.
///
/// # Errors
/// [`OtherResults`].
pub fn check(directory: &Path, wanted: Holds) -> Result<(), OtherResults> {
    let is_there = |holds: &Holds| holds.marks().iter().any(|mark| directory.join(mark).exists());
    match Holds::ALL.into_iter().filter(|holds| *holds != wanted).find(is_there) {
        Some(holds) => Err(OtherResults { directory: directory.to_owned(), holds, wanted }),
        None => Ok(()),
    }
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
