//! Test help: golden vectors, and the contract check that runs over every endpoint.

pub mod golden;
