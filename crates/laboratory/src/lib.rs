//! The laboratory: scenario files in, tables, data and reports out.
//!
//! A [`scenario`] file is read and checked, run in replications over the simulator, and its
//! measurements become [`results`]: a table, `summary.json`, `series.parquet` and `report.html`.
//! A [`sweep`] does that for every cell of a grid of values, [`compare`] for each of several protocols.
//! A [`scoreboard`] runs every protocol in every cell of a suite and judges each. [`agree`] compares the simulated with the emulated world. [`lint`] finds what makes the results of a scenario doubtful. A [`design`] says beforehand what a
//! choice of a protocol's parameters is expected to do.

#[cfg(test)]
extern crate alloc;

pub mod agree;
pub mod compare;
pub mod design;
pub mod lint;
pub mod results;
pub mod run;
pub mod scenario;
pub mod scoreboard;
pub mod sweep;
pub mod why;

/// The built-in family: every protocol of `layercast-protocols`.
pub use layercast_builtin::BuiltIn;
