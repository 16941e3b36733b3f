//! `sweep.parquet`: one row per cell, replication, window, flow, group or link, and metric.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::Type;

use super::axis::Axis;
use super::grid::{Cell, Grid};
use super::metric::{Kind, Metric};
use super::part::{Measured, Part};
use super::runner::Outcome;
use crate::results::ResultsError;
use crate::results::columns::{self, optional, required, text};
use crate::results::files::PartialFile;

/// One value and what it is of.
struct Row<'a> {
    replication: u32,
    window: usize,
    metric: &'a Metric,
    name: &'a str,
    value: Option<f64>,
}

/// Writes the file, under a partial name first: a row group for each cell.
pub(super) fn write(path: &Path, outcome: &Outcome<'_>) -> std::result::Result<(), ResultsError> {
    let file = PartialFile::create(path)?;
    let file = write_rows(file, outcome)
        .map_err(|source| ResultsError::Parquet { path: path.to_owned(), source })?;
    file.complete()
}

/// The columns: one for each key, of numbers where its values are numbers.
fn schema(grid: &Grid) -> Result<Type> {
    let column = |name: &str, physical: Physical, logical: Option<LogicalType>, repetition: Repetition| {
        let column = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        column.with_logical_type(logical).build().map(Arc::new)
    };
    let words =
        |name: &str| column(name, Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED);
    let whole = |name: &str, physical: Physical, bit_width: i8| {
        let unsigned = LogicalType::integer(bit_width, false);
        column(name, physical, Some(unsigned), Repetition::REQUIRED)
    };
    let mut fields = vec![words("scenario")?, words("scenario_hash")?, whole("cell", Physical::INT32, 32)?];
    for Axis { key, scale, .. } in &grid.axes {
        fields.push(match scale {
            Some(_) => column(key, Physical::DOUBLE, None, Repetition::REQUIRED)?,
            None => words(key)?,
        });
    }
    fields.extend([
        whole("replication", Physical::INT32, 32)?,
        whole("seed", Physical::INT64, 64)?,
        whole("window", Physical::INT32, 32)?,
        words("kind")?,
        words("name")?,
        words("metric")?,
        column("value", Physical::DOUBLE, None, Repetition::OPTIONAL)?,
    ]);
    Type::group_type_builder("sweep").with_fields(fields).build()
}

fn write_rows<W: Write + Send>(file: W, outcome: &Outcome<'_>) -> Result<W> {
    let grid = outcome.grid;
    let mut writer = columns::writer_of(file, schema(grid)?)?;
    for (cell, parts) in grid.cells.iter().zip(&outcome.parts) {
        let rows = rows(grid, parts);
        let mut group = writer.next_row_group()?;
        let all = |value| vec![value; rows.len()];
        text(&mut group, &all(cell.experiment.scenario.as_str()))?;
        text(&mut group, &all(cell.experiment.scenario_hash.as_str()))?;
        required::<Int32Type, _>(&mut group, &vec![cell.number as i32; rows.len()])?;
        keys(&mut group, grid, cell, rows.len())?;
        // Parquet keeps an unsigned number in the signed one of the same bits.
        let replications: Vec<i32> = rows.iter().map(|row| row.replication.cast_signed()).collect();
        required::<Int32Type, _>(&mut group, &replications)?;
        required::<Int64Type, _>(&mut group, &vec![grid.seed.cast_signed(); rows.len()])?;
        let windows: Vec<i32> = rows.iter().map(|row| row.window as i32).collect();
        required::<Int32Type, _>(&mut group, &windows)?;
        text(&mut group, &rows.iter().map(|row| row.metric.kind.name()).collect::<Vec<_>>())?;
        text(&mut group, &rows.iter().map(|row| row.name).collect::<Vec<_>>())?;
        text(&mut group, &rows.iter().map(|row| row.metric.name).collect::<Vec<_>>())?;
        optional::<DoubleType, _>(&mut group, &rows.iter().map(|row| row.value).collect::<Vec<_>>())?;
        group.close()?;
    }
    writer.into_inner()
}

fn keys<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    grid: &Grid,
    cell: &Cell,
    count: usize,
) -> Result<()> {
    for ((axis, &index), value) in grid.axes.iter().zip(&cell.at).zip(grid.values(cell)) {
        match axis.scale.as_ref().and_then(|scale| scale.numbers.get(index)) {
            Some(&number) => required::<DoubleType, _>(group, &vec![number; count])?,
            None => text(group, &vec![value; count])?,
        }
    }
    Ok(())
}

/// The rows of a cell: by replication, window, kind, name, metric.
fn rows<'a>(grid: &'a Grid, parts: &'a [Part]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for part in parts {
        for (window, measured) in part.windows.iter().enumerate() {
            let mut add = |kind: Kind, subjects: &'a [Measured]| {
                for subject in subjects {
                    for metric in grid.metrics.iter().filter(|metric| metric.kind == kind) {
                        let Some(&value) = subject.values.get(metric.name) else { continue };
                        let (name, replication) = (subject.name.as_str(), part.replication);
                        rows.push(Row { replication, window: window + 1, metric, name, value });
                    }
                }
            };
            add(Kind::Flow, &measured.flows);
            add(Kind::Group, &measured.groups);
            add(Kind::Link, &measured.links);
        }
    }
    rows
}
