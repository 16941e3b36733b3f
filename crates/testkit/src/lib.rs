//! Test help: golden vectors. (The contract check lives here too.)
