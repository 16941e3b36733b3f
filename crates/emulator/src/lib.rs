//! The simulator's links between real hosts, on the wall clock.
//!
//! An [`Emulation`] is a [`Simulation`](layercast_simulator::Simulation) that follows the system's clock and carries
//! packets of real kernels: links, queues, error models, varying links, multicast trees and their latencies are
//! the simulator's own code. Each host is a network namespace with one TUN device. What a program in it sends is
//! brought into the simulation at the host's node; what the simulation delivers is written to the device of the
//! host that it is for.
//!
//! Bottom-up: [`packet`] (IP headers and membership reports as bytes) · [`Foreign`] (what the simulation sees of
//! them) · `namespace`, `netlink`, `device`, `children` (hosts) · [`membership`] (what each host has joined) ·
//! [`flow`] (what counts for which flow) · [`lateness`] · [`Emulation`] · [`world`] (a scenario of the laboratory).
//!
//! It needs Linux, and the rights of root or a user namespace. Elsewhere the crate is empty, so that all others
//! build there. `docs/emulator.md` has what it can and cannot do, with measurements.

#![cfg(target_os = "linux")]

mod children;
mod clock;
mod device;
mod emulation;
mod error;
pub mod flow;
mod host;
pub mod lateness;
pub mod membership;
mod namespace;
mod netlink;
pub mod packet;
mod report;
mod store;
mod urgent;
pub mod world;

pub use emulation::{
    Dropped, Emulation, FlowPlan, HopPlan, HostPlan, Options, ReadRelayed, ReceiverPlan, SessionPlan,
};
pub use error::Error;
pub use host::{Host, HostId, ask_to_end};
pub use lateness::Lateness;
pub use layercast_simulator::outside::Foreign;
pub use report::{Report, Reports};
