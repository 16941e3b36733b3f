//! The results' files, table and report, over invented data and edge cases.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails; helpers of tests are not seen as tests"
)]

mod conforming;
mod made_up;

#[path = "results/report.rs"]
mod report;
#[path = "results/series.rs"]
mod series;
#[path = "results/statistics.rs"]
mod statistics;
#[path = "results/summary.rs"]
mod summary;
#[path = "results/table.rs"]
mod table;
