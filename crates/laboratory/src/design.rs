//! Designing a protocol before it runs: what a choice of parameters is expected to do.

pub mod flid;
mod plot;
pub mod wei_zhang;

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::results::ResultsError;
use crate::results::files::write_whole;
use crate::results::json;
use crate::results::text::decimal;

/// The files that a design was written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The numbers.
    pub json: PathBuf,
    /// The picture.
    pub svg: PathBuf,
}

/// Writes `design.json` and `design.svg` into a directory, which is made if it is not there.
///
/// # Errors
/// [`ResultsError`] if a file cannot be made.
fn write(directory: &Path, design: &impl Serialize, svg: &str) -> Result<Written, ResultsError> {
    let path = |name: &str| directory.join(name);
    let (json_path, svg_path) = (path("design.json"), path("design.svg"));
    std::fs::create_dir_all(directory)
        .map_err(|source| ResultsError::Write { path: directory.to_owned(), source })?;
    let text = json::to_string(design)
        .map_err(|source| ResultsError::Write { path: json_path.clone(), source: io::Error::from(source) })?;
    write_whole(&json_path, text.as_bytes())?;
    write_whole(&svg_path, svg.as_bytes())?;
    Ok(Written { json: json_path, svg: svg_path })
}

/// A number with about three digits.
fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        99.5.. => 0,
        9.95.. => 1,
        _ => 2,
    };
    decimal(value, decimals)
}
