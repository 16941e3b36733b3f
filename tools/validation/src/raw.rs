//! The file of raw results.

use std::fs;
use std::path::Path;

use anyhow::Context;
use layercast_simulator::tcp::TcpVariant;
use serde::{Serialize, Serializer};

use crate::tcps;

/// Writes results as JSON into a file, whose directory is created if missing.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(path: &Path, results: &impl Serialize) -> anyhow::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)
            .with_context(|| format!("{} cannot be created", directory.display()))?;
    }
    let text = serde_json::to_string_pretty(results)?;
    fs::write(path, text + "\n").with_context(|| format!("{} cannot be written", path.display()))
}

/// Serialises a TCP by its name.
pub(crate) fn tcp<S: Serializer>(tcp: &TcpVariant, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(tcps::name(*tcp))
}
