//! Test help: golden vectors, the check of the endpoint contract, a small driver for whole sessions,
//! pages that come from code, Wireshark's dissectors, and the record of tests that cannot run here.

pub mod contract;
pub mod generated;
pub mod golden;
pub mod mrg32k3a;
pub mod pair;
pub mod port;
pub mod skip;
pub mod tshark;

pub use contract::{Operation, check_endpoint, check_source};
pub use pair::{Pair, Path, Record, gauge};
pub use port::port;
pub use skip::{Missing, cases, runs_long, skip};
