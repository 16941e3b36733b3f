//! PLM from outside: the contract, sessions, fair queues, the laboratory, commands, files.

mod commands;
mod contract;
mod fair;
mod scenario;
mod session;
mod transfer;
