//! Suites: the one that comes with Layercast, and files by path.

use std::path::Path;

use super::error::ScoreboardError;
use crate::scenario::catalogue;
use crate::scenario::suite::Suite;
use crate::scenario::{Catalogue, SuiteFiles, read_suite};

/// What errors and reports call the built-in suite.
pub const BUILT_IN: &str = "the built-in suite";

const TEXT: &str = include_str!("../../../../scenarios/scoreboard/suite.toml");

/// The scenarios next to it.
const FILES: &[(&str, &str)] = &[
    ("bottleneck.toml", include_str!("../../../../scenarios/scoreboard/bottleneck.toml")),
    ("distances.toml", include_str!("../../../../scenarios/scoreboard/distances.toml")),
    ("sites.toml", include_str!("../../../../scenarios/scoreboard/sites.toml")),
];

/// The suite that comes with Layercast.
///
/// # Errors
/// Mistakes in it: with the built-in protocols there are none.
pub fn built_in(catalogue: &Catalogue) -> Result<Suite, ScoreboardError> {
    Ok(read_suite(BUILT_IN, TEXT, SuiteFiles::Given(FILES), catalogue)?)
}

/// The suite of a file.
///
/// # Errors
/// The file cannot be read, or something is wrong in it.
pub fn load(path: &Path, catalogue: &Catalogue) -> Result<Suite, ScoreboardError> {
    let name = path.display().to_string();
    let text = catalogue::read_file(path)
        .map_err(|reason| ScoreboardError::Unreadable { path: path.to_owned(), reason })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(read_suite(&name, &text, SuiteFiles::Folder(folder), catalogue)?)
}
