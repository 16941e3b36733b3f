//! Tests of the whole reader.

mod built_in;
mod demand;
mod errors;
mod generated;
mod overrides;
mod queues;
mod reading;
