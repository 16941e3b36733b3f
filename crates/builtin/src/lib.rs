//! The simulator with every protocol of Layercast.
//!
//! Builds with little optimisation share generic code: a crate does not generate again what a crate below it has.
//! So the laboratory, the programs above it and their tests take the simulation of the built-in family from here, and
//! this crate alone need be optimised for experiments to be fast.

use layercast_core::units::Time;
use layercast_simulator::{Network, NetworkError, SessionConfig, Simulation};

/// The built-in family: every protocol of `layercast-protocols`.
pub use layercast_protocols::registry::Registry as BuiltIn;

/// A simulation of the built-in family from its beginning to its end: what others take from here.
#[used]
static SIMULATED: Simulate = simulate;

type Simulate = fn(Network, u64, SessionConfig<BuiltIn>, Time) -> Result<(), NetworkError>;

fn simulate(
    network: Network,
    seed: u64,
    session: SessionConfig<BuiltIn>,
    end: Time,
) -> Result<(), NetworkError> {
    let mut simulation = Simulation::new(network, seed);
    simulation.add_session(session)?;
    simulation.run_until(end);
    Ok(())
}
