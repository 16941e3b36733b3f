//! The results' files, table and report, over invented data and edge cases.

mod report;
mod series;
mod statistics;
mod summary;
mod table;
