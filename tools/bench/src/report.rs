//! All cases and their report.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::case::Case;
use crate::measurement::Measurement;
use crate::peer::{self, Peer};
use crate::row::{Column, Row};
use crate::{history, instructions, tables};

/// The options of a benchmark run.
#[derive(Args)]
pub(crate) struct Options {
    /// The project's folder.
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// Runs of each program in each case, in turn; medians are reported, with the smallest and the largest.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Simulated seconds of the dumbbells.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Only the cases of one network.
    #[arg(long)]
    only: Option<Kind>,
    /// Also the trees of a million receivers, which take minutes and gigabytes.
    #[arg(long)]
    large: bool,
    /// This program built by profile (`make pgo`), in turn with this one.
    #[arg(long, value_name = "PROGRAM")]
    by_profile: Option<PathBuf>,
    /// The program of csg-htsim, which `make bench HTSIM=/path/of/the/checkout` builds and gives.
    #[arg(long, value_name = "PROGRAM")]
    htsim: Option<PathBuf>,
    /// Without csg-htsim and ns-2.
    #[arg(long)]
    alone: bool,
    /// Where to add the results.
    #[arg(long)]
    history: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    Dumbbells,
    Trees,
}

fn dumbbells(seconds: u32) -> impl Iterator<Item = Case> {
    let sizes = [(100, 100), (100, 1000), (1000, 100), (1000, 1000)];
    sizes.into_iter().map(move |(connections, mbps)| Case::Dumbbell { connections, mbps, seconds })
}

fn trees(large: bool) -> impl Iterator<Item = Case> {
    let alone = [1_000, 10_000, 100_000].into_iter().chain(large.then_some(1_000_000));
    let alone = alone.map(|leaves| (leaves, 1));
    let together = [(100, 100), (100, 1_000)].into_iter().chain(large.then_some((1_000, 1_000)));
    alone.chain(together).map(|(leaves, per_leaf)| Case::Tree { leaves, per_leaf, seconds: 10 })
}

/// The case for counting instructions: long enough to be representative, short enough for an emulated
/// machine.
fn counted(case: Case) -> Option<Case> {
    match case {
        Case::Dumbbell { connections: 100, mbps: 100, .. } => Some(case.lasting(10)),
        Case::Tree { leaves: 1_000, per_leaf: 1, .. } => Some(case),
        _ => None,
    }
}

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Result<()> {
    let peers = if options.alone || options.only == Some(Kind::Trees) { Vec::new() } else { peers(options) };
    let counting = instructions::available();
    if !counting {
        eprintln!(
            "valgrind is missing, so instructions are not counted (on Debian: apt-get install valgrind)"
        );
    }
    let mut builds = vec![("plain", std::env::current_exe()?)];
    builds.extend(options.by_profile.clone().map(|program| ("by profile", program)));
    let cases = dumbbells(options.seconds).filter(|_| options.only != Some(Kind::Trees));
    let cases = cases.chain(trees(options.large).filter(|_| options.only != Some(Kind::Dumbbells)));
    let mut rows = Vec::new();
    for case in cases {
        rows.push(measure(case, &builds, &peers, options.rounds, counting)?);
    }
    println!("{}", tables::own(&rows));
    for table in tables::peers(&rows).iter().flatten() {
        println!("\n{table}");
    }
    if let Some(file) = &options.history {
        history::add(&options.root, file, &rows)?;
    }
    Ok(())
}

/// Those that are there. The others are named with what to do.
fn peers(options: &Options) -> Vec<Peer> {
    let htsim = options.htsim.as_deref().map(peer::htsim);
    if htsim.is_none() {
        eprintln!(
            "csg-htsim is skipped: name a checkout of https://github.com/Broadcom/csg-htsim, make bench HTSIM=/path"
        );
    }
    let ns2 = peer::ns2(&options.root);
    if ns2.is_none() {
        eprintln!("ns-2 is skipped: ns is missing (on Debian: apt-get install ns2)");
    }
    htsim.into_iter().chain(ns2).collect()
}

/// All programs take turns, so that they see the same machine.
fn measure(
    case: Case,
    builds: &[(&'static str, PathBuf)],
    peers: &[Peer],
    rounds: u32,
    counting: bool,
) -> Result<Row> {
    let mut columns = Vec::new();
    for (name, program) in builds {
        let counted = counted(case).filter(|_| counting);
        let instructions_per_hop = counted.map(|case| instructions::per_hop(program, case)).transpose()?;
        columns.push(Column { name, ours: true, runs: Vec::new(), instructions_per_hop });
    }
    // The set-up of ns-2 may take longer than the run, and is the same in every round.
    let mut turns = Vec::new();
    if let Case::Dumbbell { connections, mbps, seconds } = case {
        for peer in peers {
            eprintln!("{case}: set-up of {}", peer.name);
            turns.push((peer, [connections, mbps, seconds], peer.set_up_s(connections, mbps)?));
            columns.push(Column {
                name: peer.name,
                ours: false,
                runs: Vec::new(),
                instructions_per_hop: None,
            });
        }
    }
    for round in 1..=rounds {
        eprintln!("{case}: round {round} of {rounds}");
        let ours = builds.iter().map(|(_, program)| case.run_apart(program));
        let theirs = turns.iter().map(|&(peer, numbers, set_up_s)| peer.run(numbers, set_up_s));
        for (column, run) in columns.iter_mut().zip(ours.chain(theirs)) {
            let run: Measurement = run?;
            eprintln!("  {}: {:.2} M hops / CPU s", column.name, run.hops_per_s() / 1e6);
            column.runs.push(run);
        }
    }
    Ok(Row { case, columns })
}
