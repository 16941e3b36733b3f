//! `series.parquet`: one row per replication, flow and bin.
//!
//! The rows carry the scenario, its hash and the seed, so that files of many runs merge by being read
//! together. Each replication is a row group. Nothing in the file depends on when or where it was written.

use std::io::Write;
use std::path::Path;

use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::columns::{self, optional, required, text};
use super::error::ResultsError;
use super::experiment::{Experiment, FlowInfo};
use super::files::PartialFile;
use super::replication::{FlowSeries, Replication};

/// The columns. Required ones always have a value.
const SCHEMA: &str = "
message series {
  REQUIRED BYTE_ARRAY scenario (STRING);
  REQUIRED BYTE_ARRAY scenario_hash (STRING);
  REQUIRED INT64 seed (INTEGER(64, false));
  REQUIRED INT32 replication (INTEGER(32, false));
  REQUIRED BYTE_ARRAY flow (STRING);
  REQUIRED BYTE_ARRAY protocol (STRING);
  REQUIRED BYTE_ARRAY node (STRING);
  REQUIRED DOUBLE time_s;
  OPTIONAL DOUBLE throughput_kbps;
  OPTIONAL INT32 level;
  OPTIONAL DOUBLE rate_kbps;
  OPTIONAL DOUBLE smoothed_rate_kbps;
  OPTIONAL DOUBLE loss;
  OPTIONAL DOUBLE rtt_ms;
  OPTIONAL DOUBLE cwnd_packets;
}";

/// Writes the file, under a partial name first, with the replications by number.
///
/// # Errors
/// When it cannot be written, or a replication does not fit the experiment.
pub fn write(
    path: &Path,
    experiment: &Experiment,
    replications: &[Replication],
) -> std::result::Result<(), ResultsError> {
    let failed = |source| ResultsError::Parquet { path: path.to_owned(), source };
    let file = PartialFile::create(path)?;
    let mut writer = SeriesWriter::new(file, experiment).map_err(failed)?;
    let mut replications: Vec<&Replication> = replications.iter().collect();
    replications.sort_by_key(|replication| replication.number);
    for replication in replications {
        replication.check(experiment)?;
        writer.write(replication).map_err(failed)?;
    }
    writer.finish().map_err(failed)?.complete()
}

/// Writes replication after replication, for a runner that does not want to keep them all.
pub struct SeriesWriter<'a, W: Write + Send> {
    experiment: &'a Experiment,
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> std::fmt::Debug for SeriesWriter<'_, W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SeriesWriter")
            .field("scenario", &self.experiment.scenario)
            .finish_non_exhaustive()
    }
}

impl<'a, W: Write + Send> SeriesWriter<'a, W> {
    /// Starts a file.
    ///
    /// # Errors
    /// When the first bytes cannot be written.
    pub fn new(sink: W, experiment: &'a Experiment) -> Result<Self> {
        Ok(Self { experiment, writer: columns::writer(sink, SCHEMA)? })
    }

    /// Adds one replication.
    ///
    /// # Errors
    /// When it cannot be written or its shape is not the experiment's.
    pub fn write(&mut self, replication: &Replication) -> Result<()> {
        replication.check(self.experiment).map_err(|error| ParquetError::General(error.to_string()))?;
        let rows = Rows { experiment: self.experiment, replication };
        let mut group = self.writer.next_row_group()?;
        let experiment = self.experiment;
        text(&mut group, &rows.map(|_, _, _| experiment.scenario.as_str()))?;
        text(&mut group, &rows.map(|_, _, _| experiment.scenario_hash.as_str()))?;
        // Parquet keeps an unsigned number in the signed one of the same bits.
        required::<Int64Type, _>(&mut group, &rows.map(|_, _, _| experiment.seed.cast_signed()))?;
        required::<Int32Type, _>(&mut group, &rows.map(|_, _, _| replication.number.cast_signed()))?;
        text(&mut group, &rows.map(|flow, _, _| flow.name.as_str()))?;
        text(&mut group, &rows.map(|flow, _, _| flow.protocol.as_str()))?;
        text(&mut group, &rows.map(|flow, _, _| flow.node.as_str()))?;
        required::<DoubleType, _>(&mut group, &rows.map(|_, _, bin| experiment.bin_end_s(bin)))?;
        number(&mut group, &rows, |series| &series.throughput_kbps)?;
        optional::<Int32Type, _>(
            &mut group,
            &rows.map(|_, series, bin| series.level.get(bin).copied().flatten()),
        )?;
        number(&mut group, &rows, |series| &series.rate_kbps)?;
        number(&mut group, &rows, |series| &series.smoothed_rate_kbps)?;
        number(&mut group, &rows, |series| &series.loss)?;
        number(&mut group, &rows, |series| &series.rtt_ms)?;
        number(&mut group, &rows, |series| &series.cwnd_packets)?;
        group.close()?;
        Ok(())
    }

    /// Writes the footer and gives the sink back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<W> {
        self.writer.into_inner()
    }
}

/// The rows of one replication: flow by flow, bin by bin.
struct Rows<'a> {
    experiment: &'a Experiment,
    replication: &'a Replication,
}

impl<'a> Rows<'a> {
    fn map<T>(&self, value: impl Fn(&'a FlowInfo, &'a FlowSeries, usize) -> T) -> Vec<T> {
        let mut column = Vec::new();
        for (info, series) in self.experiment.flows.iter().zip(&self.replication.series.flows) {
            column.extend((0..series.bins()).map(|bin| value(info, series, bin)));
        }
        column
    }
}

fn number<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &Rows<'_>,
    column: impl Fn(&FlowSeries) -> &[f64],
) -> Result<()> {
    let finite = |series, bin: usize| column(series).get(bin).copied().filter(|value| value.is_finite());
    optional::<DoubleType, _>(group, &rows.map(|_, series, bin| finite(series, bin)))
}
