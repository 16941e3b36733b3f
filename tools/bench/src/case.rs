//! The benchmark cases and their measurements.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Subcommand;
use cpu_time::ProcessTime;
use layercast_core::units::Time;
use layercast_simulator::ReceiverId;

use crate::delivery::{self, Protection};
use crate::measurement::Measurement;
use crate::{memory, networks, process, scenario};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// A network with its load, or a transfer.
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
    /// A scenario of `tools/bench/gate`, with the laboratory's measures.
    Scenario {
        /// The name of its file.
        #[arg(value_parser = scenario::named)]
        name: &'static str,
        /// The simulated time in seconds.
        seconds: u32,
    },
    /// A file, from the sender's to the receiver's machine; one packet of twenty is lost.
    Delivery {
        /// Whether packets are encrypted.
        #[arg(value_enum)]
        protection: Protection,
        /// Its length in kilobytes.
        kilobytes: u32,
    },
}

impl Case {
    /// The same case with another length: simulated seconds, or kilobytes.
    pub(crate) fn lasting(self, length: u32) -> Case {
        match self {
            Case::Dumbbell { connections, mbps, .. } => Case::Dumbbell { connections, mbps, seconds: length },
            Case::Tree { leaves, per_leaf, .. } => Case::Tree { leaves, per_leaf, seconds: length },
            Case::Scenario { name, .. } => Case::Scenario { name, seconds: length },
            Case::Delivery { protection, .. } => Case::Delivery { protection, kilobytes: length },
        }
    }

    /// The part of it that is not measured, since most of it is set-up: one of no length, or of the least that there can be.
    pub(crate) fn begun(self) -> Case {
        self.lasting(match self {
            Case::Dumbbell { .. } | Case::Tree { .. } => 0,
            Case::Scenario { .. } | Case::Delivery { .. } => 1,
        })
    }

    /// Runs it in this process.
    pub(crate) fn run(self) -> Result<Measurement> {
        match self {
            Case::Dumbbell { connections, mbps, seconds } => {
                simulate(seconds, || Ok((networks::dumbbell(connections, f64::from(mbps))?, Vec::new())))
            }
            Case::Tree { leaves, per_leaf, seconds } => {
                simulate(seconds, || networks::tree(leaves, per_leaf))
            }
            Case::Scenario { name, seconds } => scenario::run(name, seconds),
            Case::Delivery { protection, kilobytes } => delivery::run(protection, kilobytes),
        }
    }

    /// The arguments of the command line that runs it.
    pub(crate) fn arguments(self) -> Vec<String> {
        let words = match self {
            Case::Dumbbell { connections, mbps, seconds } => {
                format!("dumbbell {connections} {mbps} {seconds}")
            }
            Case::Tree { leaves, per_leaf, seconds } => format!("tree {leaves} {per_leaf} {seconds}"),
            Case::Scenario { name, seconds } => format!("scenario {name} {seconds}"),
            Case::Delivery { protection, kilobytes } => format!("delivery {protection} {kilobytes}"),
        };
        ["case"].into_iter().chain(words.split(' ')).map(String::from).collect()
    }

    /// Runs it in a process of `program`, a build of this one, so that its memory is measured separately.
    pub(crate) fn run_apart(self, program: &Path) -> Result<Measurement> {
        let finished = process::run(Command::new(program).args(self.arguments()))?;
        serde_json::from_str(&finished.output)
            .with_context(|| format!("what {} printed for {self}", program.display()))
    }
}

/// Sets a simulation up and runs it.
fn simulate(
    seconds: u32,
    set_up: impl FnOnce() -> Result<(Simulation, Vec<ReceiverId>)>,
) -> Result<Measurement> {
    let begun = ProcessTime::now();
    let (mut simulation, receivers) = set_up()?;
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
            Case::Scenario { name, seconds } => write!(f, "{name}, {seconds} s"),
            Case::Delivery { protection, kilobytes } => write!(f, "delivery, {protection}, {kilobytes} kB"),
        }
    }
}
