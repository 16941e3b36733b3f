//! `layercast explore`: transfers with faults, a seed each.

use std::cell;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use clap::Args;
use layercast_explorer::{Broken, Outcome, Plan};

use crate::failure::Failure;
use crate::modes::{CHOOSES, Cell, Mode, Row, Table, USED, no, row};
use crate::output::{complain, print};
use crate::program::Program;
use crate::progress::Progress;

/// The maximum number of broken seeds that are printed.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct Explore {
    /// How many seeds to run
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) seeds: u64,

    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) from: u64,

    /// Run this seed again and print what happens, step by step
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: that of the processors]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,

    /// Do not show progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Whether `layercast explore` runs many seeds or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExploreMode {
    Many,
    One,
}

pub(crate) static EXPLORE: Table<ExploreMode> = Table {
    command: "explore",
    arguments: Explore::augment_args,
    default: ExploreMode::Many,
    modes: &[
        Mode { mode: ExploreMode::Many, by: "", name: "--seeds" },
        Mode { mode: ExploreMode::One, by: "seed", name: "--seed" },
    ],
    facts: &[],
    rows: EXPLORE_ROWS,
};

const ONE_SEED: Cell = no("one seed is run and printed step by step", "use one of them");

const EXPLORE_ROWS: &[Row] = &[
    row("seeds", &[USED, ONE_SEED]),
    row("from", &[USED, ONE_SEED]),
    row("seed", &[CHOOSES, USED]),
    row("jobs", &[USED, ONE_SEED]),
    row("quiet", &[USED, ONE_SEED]),
];

thread_local! {
    /// The seed that this thread runs, for the message of a panic.
    static SEED: cell::Cell<u64> = const { cell::Cell::new(0) };
}

pub(crate) fn explore(arguments: &Explore, program: &Program) -> Result<(), Failure> {
    let foreign = program.foreign();
    if !foreign.is_empty() {
        complain(&format!("note: Layercast's own protocols are explored, without {}", foreign.join(", ")));
    }
    match arguments.seed {
        Some(seed) => again(seed),
        None => many(arguments),
    }
}

/// Runs a seed and prints its plan and what happens.
fn again(seed: u64) -> Result<(), Failure> {
    let plan = Plan::of(seed);
    let mut text = format!(
        "Seed {seed}: {}, {} layers from {}, packets of {} bytes\n",
        plan.protocol, plan.layers, plan.base, plan.packet
    );
    for (number, receiver) in plan.receivers.iter().enumerate() {
        text.push_str(&format!(
            "Receiver {number}: {}, {}, queue of {} packets, loss {:.1} %, duplicates {:.1} %, late {:.1} %\n",
            receiver.rate,
            receiver.delay,
            receiver.queue,
            receiver.loss * 100.0,
            receiver.duplicated * 100.0,
            receiver.delayed * 100.0
        ));
    }
    for change in &plan.changes {
        let files = change.files.iter().map(|(path, bytes)| format!("{path} ({} bytes)", bytes.len()));
        let removed = change.removed.iter().map(|path| format!("without {path}"));
        let all: Vec<String> = files.chain(removed).collect();
        text.push_str(&format!("Files from {}: {}\n", change.at, all.join(", ")));
    }
    let mut steps = String::new();
    let outcome = layercast_explorer::explore(seed, &mut |step| {
        steps.push_str(&format!("{:>12}  {}\n", format!("{}", step.at), step.what));
    });
    print(&format!("{text}\n{steps}"))?;
    match outcome {
        Ok(outcome) => Ok(print(&format!("\nNothing is broken. {}\n", ended(&outcome)))?),
        Err(broken) => Err(Failure::Other(anyhow::Error::msg(format!("seed {seed}: {broken}")))),
    }
}

fn ended(outcome: &Outcome) -> String {
    format!(
        "Everyone is complete at {}, after {} packets, {} faults and {} starts of programs.",
        outcome.at, outcome.packets, outcome.faults, outcome.starts
    )
}

/// Sums over all runs.
#[derive(Default)]
struct Sums {
    packets: u64,
    faults: u64,
    starts: u64,
    broken: Vec<(u64, Broken)>,
}

fn many(arguments: &Explore) -> Result<(), Failure> {
    let jobs = arguments.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let (from, seeds) = (arguments.from, arguments.seeds);
    let progress = Progress::new(format!("{seeds} seeds"), arguments.quiet);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let sums = Mutex::new(Sums::default());
    name_seeds_of_panics();
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= seeds {
                        return;
                    }
                    let seed = from.wrapping_add(number);
                    SEED.set(seed);
                    let outcome = layercast_explorer::explore(seed, &mut |_| {});
                    let mut sums = sums.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    match outcome {
                        Ok(outcome) => {
                            sums.packets += outcome.packets;
                            sums.faults += outcome.faults as u64;
                            sums.starts += u64::from(outcome.starts);
                        }
                        Err(broken) => sums.broken.push((seed, broken)),
                    }
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    progress.set(done as f64 / seeds as f64);
                }
            });
        }
    });
    progress.finish();
    let mut sums = sums.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    sums.broken.sort_by_key(|(seed, _)| *seed);
    let mut text = String::new();
    for (seed, broken) in sums.broken.iter().take(SHOWN) {
        text.push_str(&format!("seed {seed}: {broken}\n"));
    }
    text.push_str(&format!(
        "{seeds} seeds from {from}: {} broken; {} packets, {} faults, {} starts of programs\n",
        sums.broken.len(),
        sums.packets,
        sums.faults,
        sums.starts
    ));
    print(&text)?;
    match sums.broken.first() {
        None => Ok(()),
        Some((seed, _)) => Err(Failure::Other(anyhow::Error::msg(format!(
            "an invariant is broken; `layercast explore --seed {seed}` shows what happens"
        )))),
    }
}

/// Names the seed in which something panicked: a panic may end the program before it is judged.
fn name_seeds_of_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        complain(&format!("seed {} panicked; `layercast explore --seed {0}` repeats it", SEED.get()));
        before(panic);
    }));
}
