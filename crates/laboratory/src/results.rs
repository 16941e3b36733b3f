//! What a run measured: statistics, files and the report.
