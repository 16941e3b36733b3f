//! `probes.parquet`: one row per replication, probe, quantity and sample.

use std::path::Path;

use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;

use super::columns::{self, optional, required, text};
use super::error::ResultsError;
use super::experiment::Experiment;
use super::files::PartialFile;
use super::replication::Replication;

/// The columns. Required ones always have a value.
const SCHEMA: &str = "
message probes {
  REQUIRED BYTE_ARRAY scenario (STRING);
  REQUIRED BYTE_ARRAY scenario_hash (STRING);
  REQUIRED INT64 seed (INTEGER(64, false));
  REQUIRED INT32 replication (INTEGER(32, false));
  REQUIRED BYTE_ARRAY probe (STRING);
  REQUIRED BYTE_ARRAY subject (STRING);
  REQUIRED BYTE_ARRAY quantity (STRING);
  REQUIRED DOUBLE time_s;
  OPTIONAL DOUBLE value;
}";

/// Writes the file, under a partial name first, with the replications by number: a row group for each
/// probe of each.
///
/// # Errors
/// When it cannot be written, or a replication does not fit the experiment.
pub fn write(
    path: &Path,
    experiment: &Experiment,
    replications: &[Replication],
) -> std::result::Result<(), ResultsError> {
    experiment.check(replications)?;
    let file = PartialFile::create(path)?;
    let mut replications: Vec<&Replication> = replications.iter().collect();
    replications.sort_by_key(|replication| replication.number);
    let file = write_rows(file, experiment, &replications)
        .map_err(|source| ResultsError::Parquet { path: path.to_owned(), source })?;
    file.complete()
}

fn write_rows<W: std::io::Write + Send>(
    file: W,
    experiment: &Experiment,
    replications: &[&Replication],
) -> Result<W> {
    let mut writer = columns::writer(file, SCHEMA)?;
    for replication in replications {
        for (info, probe) in experiment.probes.iter().zip(&replication.probes) {
            let rows: usize = probe.iter().map(Vec::len).sum();
            let times = || probe.iter().flat_map(|values| (0..values.len()).map(|look| info.time_s(look)));
            let named = info.quantities.iter().zip(probe);
            let quantities: Vec<&str> =
                named.flat_map(|(name, values)| std::iter::repeat_n(*name, values.len())).collect();
            let known = |value: &f64| Some(*value).filter(|value| value.is_finite());
            let values: Vec<Option<f64>> = probe.iter().flatten().map(known).collect();
            let mut group = writer.next_row_group()?;
            text(&mut group, &vec![experiment.scenario.as_str(); rows])?;
            text(&mut group, &vec![experiment.scenario_hash.as_str(); rows])?;
            // Parquet keeps an unsigned number in the signed one of the same bits.
            required::<Int64Type, _>(&mut group, &vec![experiment.seed.cast_signed(); rows])?;
            required::<Int32Type, _>(&mut group, &vec![replication.number.cast_signed(); rows])?;
            text(&mut group, &vec![info.name.as_str(); rows])?;
            text(&mut group, &vec![info.subject.as_str(); rows])?;
            text(&mut group, &quantities)?;
            required::<DoubleType, _>(&mut group, &times().collect::<Vec<_>>())?;
            optional::<DoubleType, _>(&mut group, &values)?;
            group.close()?;
        }
    }
    writer.into_inner()
}
