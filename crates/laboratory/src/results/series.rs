//! `series.parquet`: one row per replication, flow and bin.
//!
//! The rows carry the scenario, its hash and the seed, so that files of many runs merge by being read
//! together. Each replication is a row group. Nothing in the file depends on when or where it was written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::error::ResultsError;
use super::experiment::{Experiment, FlowInfo};
use super::files::partial_name;
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
    let cannot = |source: io::Error| ResultsError::Write { path: path.to_owned(), source };
    let failed = |source| ResultsError::Parquet { path: path.to_owned(), source };
    let partial = partial_name(path);
    let file = BufWriter::new(File::create(&partial).map_err(cannot)?);
    let mut writer = SeriesWriter::new(file, experiment).map_err(failed)?;
    let mut replications: Vec<&Replication> = replications.iter().collect();
    replications.sort_by_key(|replication| replication.number);
    for replication in replications {
        replication.check(experiment)?;
        writer.write(replication).map_err(failed)?;
    }
    let mut file = writer.finish().map_err(failed)?;
    file.flush().and_then(|()| fs::rename(&partial, path)).map_err(cannot)
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
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("layercast".to_owned())
            .build();
        let writer = SerializedFileWriter::new(sink, schema, Arc::new(properties))?;
        Ok(Self { experiment, writer })
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
        text(&mut group, &rows.map(|_, _, _| &experiment.scenario))?;
        text(&mut group, &rows.map(|_, _, _| &experiment.scenario_hash))?;
        // Parquet keeps an unsigned number in the signed one of the same bits.
        required::<Int64Type, _>(&mut group, &rows.map(|_, _, _| experiment.seed.cast_signed()))?;
        required::<Int32Type, _>(&mut group, &rows.map(|_, _, _| replication.number.cast_signed()))?;
        text(&mut group, &rows.map(|flow, _, _| &flow.name))?;
        text(&mut group, &rows.map(|flow, _, _| &flow.protocol))?;
        text(&mut group, &rows.map(|flow, _, _| &flow.node))?;
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

fn text<W: Write + Send>(group: &mut SerializedRowGroupWriter<'_, W>, values: &[&String]) -> Result<()> {
    let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(value.as_str())).collect();
    required::<ByteArrayType, _>(group, &values)
}

fn number<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &Rows<'_>,
    column: impl Fn(&FlowSeries) -> &[f64],
) -> Result<()> {
    let finite = |series, bin: usize| column(series).get(bin).copied().filter(|value| value.is_finite());
    optional::<DoubleType, _>(group, &rows.map(|_, series, bin| finite(series, bin)))
}

fn required<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> Result<()> {
    put::<T, W>(group, values, None)
}

fn optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[Option<T::T>],
) -> Result<()> {
    let defined: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.iter().flatten().cloned().collect();
    put::<T, W>(group, &values, Some(&defined))
}

fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    defined: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns than are written".to_owned()));
    };
    column.typed::<T>().write_batch(values, defined, None)?;
    column.close()
}
