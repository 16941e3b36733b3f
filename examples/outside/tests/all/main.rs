//! PLM from outside: the contract, sessions, fair queues, the laboratory, files.

mod contract;
mod fair;
mod scenario;
mod session;
mod transfer;
