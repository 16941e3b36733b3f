//! Test help: golden vectors. (The contract check lives here too.)

pub mod golden;
