//! Test help: golden vectors, the check of the endpoint contract, a small driver for whole sessions, and
//! pages generated from code.

pub mod contract;
pub mod generated;
pub mod golden;
pub mod mrg32k3a;
pub mod pair;

pub use contract::{Operation, check_endpoint};
pub use pair::{Pair, Path, Record};
