//! All cases and their report.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};

use crate::case::{Case, Measurement};
use crate::peer::PeerMeasurement;
use crate::row::Row;
use crate::{history, instructions, peer};

/// The options of a benchmark run.
#[derive(Args)]
pub(crate) struct Options {
    /// The project's folder.
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// Runs of each case; the fastest is reported, since slower ones are due to other load on the machine.
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Simulated seconds of the dumbbells.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Also the tree of a million receivers, which takes minutes and gigabytes.
    #[arg(long)]
    large: bool,
    /// Also ns-2 on the same dumbbells, in turn with ours.
    #[arg(long)]
    peer: bool,
    /// Where to add the results.
    #[arg(long)]
    history: Option<PathBuf>,
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
    if options.peer && !peer::available() {
        bail!("ns is missing; install ns-2 (on Debian: apt-get install ns2) or leave --peer out");
    }
    let counting = instructions::available();
    if !counting {
        eprintln!(
            "valgrind is missing, so instructions are not counted (on Debian: apt-get install valgrind)"
        );
    }
    let mut rows = Vec::new();
    for case in dumbbells(options.seconds).chain(trees(options.large)) {
        eprintln!("{case} ...");
        rows.push(measure(case, options, counting)?);
    }
    println!("{}", table(&rows));
    if options.peer {
        println!("{}", peer_table(&rows));
    }
    if let Some(file) = &options.history {
        history::add(&options.root, file, &rows)?;
    }
    Ok(())
}

/// Ours and the peer alternate, so that both see the same machine.
fn measure(case: Case, options: &Options, counting: bool) -> Result<Row> {
    let (mut best, mut best_peer) = (None::<Measurement>, None::<PeerMeasurement>);
    let in_peer = match case {
        Case::Dumbbell { connections, mbps, seconds } if options.peer => {
            let set_up_s = peer::set_up_s(&options.root, connections, mbps)?;
            Some(([connections, mbps, seconds], set_up_s))
        }
        _ => None,
    };
    for _ in 0..options.runs.max(1) {
        let taken = case.run_apart()?;
        if best.is_none_or(|best| taken.run_s < best.run_s) {
            best = Some(taken);
        }
        if let Some((numbers, set_up_s)) = in_peer {
            let taken = peer::dumbbell(&options.root, numbers, set_up_s)?;
            if best_peer.is_none_or(|best| taken.run_s < best.run_s) {
                best_peer = Some(taken);
            }
        }
    }
    let Some(taken) = best else { bail!("{case} was not run") };
    let counted = counted(case).filter(|_| counting);
    let instructions_per_hop = counted.map(instructions::per_hop).transpose()?;
    Ok(Row { case, taken, instructions_per_hop, peer: best_peer })
}

fn plain_table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(head);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn megabytes(bytes: Option<u64>) -> String {
    bytes.map_or("?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6))
}

fn table(rows: &[Row]) -> Table {
    let mut table = plain_table(&[
        "case",
        "M hops / CPU s",
        "ns a hop",
        "instructions a hop",
        "M deliveries / CPU s",
        "set-up, s",
        "memory, MB",
        "bytes a receiver",
    ]);
    for row in rows {
        let taken = &row.taken;
        let receivers = match row.case {
            Case::Tree { leaves, per_leaf, .. } => Some(f64::from(leaves) * f64::from(per_leaf)),
            Case::Dumbbell { .. } => None,
        };
        let each = receivers.zip(taken.peak_bytes).map(|(count, bytes)| bytes as f64 / count);
        let deliveries = receivers.map(|_| taken.deliveries as f64 / taken.run_s / 1e6);
        let or_blank = |value: Option<f64>, digits: usize| {
            value.map_or(String::new(), |value| format!("{value:.digits$}"))
        };
        table.add_row([
            row.case.to_string(),
            format!("{:.2}", row.hops_per_s() / 1e6),
            format!("{:.0}", 1e9 / row.hops_per_s()),
            or_blank(row.instructions_per_hop, 0),
            or_blank(deliveries, 1),
            format!("{:.3}", taken.set_up_s),
            megabytes(taken.peak_bytes),
            or_blank(each, 0),
        ]);
    }
    table
}

/// The cost of the run without set-up, with the set-up in a separate column.
fn peer_table(rows: &[Row]) -> Table {
    let mut table = plain_table(&[
        "case",
        "ours, M hops / CPU s",
        "ns-2, M hops / CPU s",
        "ratio",
        "set-up, s",
        "ns-2, s",
        "memory, MB",
        "ns-2, MB",
        "ratio",
    ]);
    for row in rows {
        let Some(peer) = row.peer else { continue };
        let theirs = peer.hops as f64 / peer.run_s;
        let memory = row.taken.peak_bytes.zip(peer.peak_bytes);
        table.add_row([
            row.case.to_string(),
            format!("{:.2}", row.hops_per_s() / 1e6),
            format!("{:.2}", theirs / 1e6),
            format!("{:.1}", row.hops_per_s() / theirs),
            format!("{:.3}", row.taken.set_up_s),
            format!("{:.1}", peer.set_up_s),
            megabytes(row.taken.peak_bytes),
            megabytes(peer.peak_bytes),
            memory.map_or("?".to_owned(), |(ours, theirs)| format!("{:.3}", ours as f64 / theirs as f64)),
        ]);
    }
    table
}
