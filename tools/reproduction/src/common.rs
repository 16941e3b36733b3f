//! What readings, studies and papers have in common: what is asked for, sweeps that resume, and tables in pages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use layercast_laboratory::sweep::{Grid, Part, Progress, Store, SweepRequest};
use layercast_protocols::registry::Registry;

/// What is asked for of the readings or the studies.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The directory of the results.
    pub(crate) out: PathBuf,
    /// The page whose tables are written; none for none.
    pub(crate) page: Option<PathBuf>,
    /// Only what has this in its name.
    pub(crate) only: Option<String>,
    /// Two replications of everything.
    pub(crate) quick: bool,
    /// The number of threads.
    pub(crate) jobs: Option<usize>,
}

impl Plan {
    /// Whether what has this name is asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|part| name.contains(part))
    }
}

/// A sweep's grid and the replications of each of its cells: those that are in the directory, and the rest run.
pub(crate) fn finish(
    request: &SweepRequest,
    directory: &Path,
    jobs: Option<usize>,
) -> anyhow::Result<(Grid, Vec<Vec<Part>>)> {
    let grid = Grid::read::<Registry>(request)?;
    fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let store = Store::open(directory, &grid)?;
    let parts = Progress::load(&grid, &store)?.finish::<Registry>(jobs, &|_| {})?.parts;
    Ok((grid, parts))
}

/// A page with something else between two marks, each a line; none if it has none.
pub(crate) fn replaced(page: &str, begin: &str, end: &str, with: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("{begin}\n"))?;
    let (_, after) = rest.split_once(&format!("{end}\n"))?;
    Some(format!("{before}{begin}\n{with}{end}\n{after}"))
}

/// Reads a page of the documentation, of which a part is to be replaced.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// Writes a file, and makes the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
