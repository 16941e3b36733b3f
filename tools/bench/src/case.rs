//! The benchmark cases and their measurements.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Subcommand;
use cpu_time::ProcessTime;
use layercast_core::units::Time;
use layercast_simulator::ReceiverId;
use serde::{Deserialize, Serialize};

use crate::{memory, networks, process};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// A network with its load.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Case {
    /// Long SACK connections over one bottleneck, 100 ms there and back.
    Dumbbell {
        /// How many.
        connections: u32,
        /// The rate of the bottleneck, in Mbit/s.
        mbps: u32,
        /// The simulated time in seconds.
        seconds: u32,
    },
    /// One source of 1 Mbit/s in four layers, a balanced tree of fan-out 10.
    Tree {
        /// The number of leaf nodes.
        leaves: u32,
        /// The number of receivers per leaf.
        per_leaf: u32,
        /// The simulated time in seconds.
        seconds: u32,
    },
}

/// The measurements of a run of a case, by this program or a peer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// Processor time to set the network up, in seconds. That of a peer is its whole time for a run of 0 s.
    pub(crate) set_up_s: f64,
    /// Processor time to run it, in seconds.
    pub(crate) run_s: f64,
    /// Transmissions of a packet on a link.
    pub(crate) hops: u64,
    /// Packets delivered to receivers of the session; zero for a dumbbell.
    pub(crate) deliveries: u64,
    /// The peak resident memory, where the system reports it.
    pub(crate) peak_bytes: Option<u64>,
}

impl Measurement {
    /// Packet hops per second of processor time.
    pub(crate) fn hops_per_s(&self) -> f64 {
        self.hops as f64 / self.run_s
    }
}

impl Case {
    /// The same case with another simulated time.
    pub(crate) fn lasting(self, seconds: u32) -> Case {
        match self {
            Case::Dumbbell { connections, mbps, .. } => Case::Dumbbell { connections, mbps, seconds },
            Case::Tree { leaves, per_leaf, .. } => Case::Tree { leaves, per_leaf, seconds },
        }
    }

    /// Runs it in this process.
    pub(crate) fn run(self) -> Result<Measurement> {
        let begun = ProcessTime::now();
        let (mut simulation, receivers, seconds) = self.set_up()?;
        let set_up = begun.elapsed();
        let begun = ProcessTime::now();
        simulation.run_until(Time::from_secs_f64(f64::from(seconds)));
        let run: Duration = begun.elapsed();
        Ok(Measurement {
            set_up_s: set_up.as_secs_f64(),
            run_s: run.as_secs_f64(),
            hops: simulation.engine_counters().packet_hops,
            deliveries: receivers.iter().map(|&id| simulation.receiver_counters(id).received_packets).sum(),
            peak_bytes: memory::peak("self"),
        })
    }

    fn set_up(self) -> Result<(Simulation, Vec<ReceiverId>, u32)> {
        Ok(match self {
            Case::Dumbbell { connections, mbps, seconds } => {
                (networks::dumbbell(connections, f64::from(mbps))?, Vec::new(), seconds)
            }
            Case::Tree { leaves, per_leaf, seconds } => {
                let (simulation, receivers) = networks::tree(leaves, per_leaf)?;
                (simulation, receivers, seconds)
            }
        })
    }

    /// The arguments of the command line that runs it.
    pub(crate) fn arguments(self) -> Vec<String> {
        let (name, numbers) = match self {
            Case::Dumbbell { connections, mbps, seconds } => ("dumbbell", [connections, mbps, seconds]),
            Case::Tree { leaves, per_leaf, seconds } => ("tree", [leaves, per_leaf, seconds]),
        };
        ["case", name].map(String::from).into_iter().chain(numbers.map(|number| number.to_string())).collect()
    }

    /// Runs it in a process of `program`, a build of this one, so that its memory is measured separately.
    pub(crate) fn run_apart(self, program: &Path) -> Result<Measurement> {
        let finished = process::run(Command::new(program).args(self.arguments()))?;
        serde_json::from_str(&finished.output)
            .with_context(|| format!("what {} printed for {self}", program.display()))
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Case::Dumbbell { connections, mbps, seconds } => {
                write!(f, "dumbbell, {connections} connections, {mbps} Mbit/s, {seconds} s")
            }
            Case::Tree { leaves, per_leaf: 1, seconds } => write!(f, "tree, {leaves} receivers, {seconds} s"),
            Case::Tree { leaves, per_leaf, seconds } => {
                write!(f, "tree, {leaves} leaves of {per_leaf} receivers, {seconds} s")
            }
        }
    }
}
