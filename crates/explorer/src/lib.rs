//! Whole transfers in the simulator, with faults by seed and invariants that are judged.
//!
//! A seed decides everything: the network, the protocol, the files, their changes while they are sent, and the faults
//! ([`Plan`]). Complete senders and receivers of real bytes ([`layercast_delivery`], with the endpoints of
//! [`layercast_protocols`]) run as programs at the nodes of a simulated network, which have disks that fail on purpose
//! ([`disk`]). [`explore`] runs a seed and judges it: what is in place is right, everyone who stays and hears enough
//! finishes, nothing grows without bound, nothing panics.
//!
//! Some seeds decide on a second session of their files, over relays whose routers take part.
//!
//! The same seed gives the same run, on every machine. So a seed that fails can be run again, step by step.

pub mod disk;
mod fault;
mod forgery;
mod judge;
mod listener;
mod packer;
mod plan;
mod receiver;
mod relay;
mod source;
mod state;
mod tree;
mod wire;
mod world;

pub use fault::Fault;
pub use judge::Broken;
pub use plan::{Plan, Protection, ReceiverPlan};
pub use world::{Outcome, Step};

/// Runs the transfer of a seed and judges it. `watch` gets what happens, step by step.
///
/// # Errors
/// The first invariant that is broken.
pub fn explore(seed: u64, watch: &mut dyn FnMut(&Step)) -> Result<Outcome, Broken> {
    let outcome = world::World::new(Plan::of(seed)).run(watch)?;
    let of_tree = tree::Tree::of(seed).map(|tree| tree.run(watch)).transpose()?.unwrap_or_default();
    Ok(Outcome {
        at: outcome.at,
        packets: outcome.packets + of_tree.packets,
        faults: outcome.faults + of_tree.faults,
        starts: outcome.starts + of_tree.starts,
    })
}
