//! PLM from outside: the contract, sessions, fair queues, the laboratory.

mod contract;
mod fair;
mod scenario;
mod session;
