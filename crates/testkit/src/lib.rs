//! Test help: golden vectors, the check of the endpoint contract, and a small driver for whole sessions.

pub mod contract;
pub mod golden;
pub mod pair;

pub use contract::{Operation, check_endpoint};
pub use pair::{Pair, Path, Record};
