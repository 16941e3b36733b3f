//! `layercast explore`: transfers with faults, a seed each.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use layercast_explorer::{Broken, Outcome, Plan};

use crate::arguments::Explore;
use crate::commands::Failure;
use crate::output::print;
use crate::progress::Progress;

/// The maximum number of broken seeds that are printed.
const SHOWN: usize = 20;

thread_local! {
    /// The seed that this thread runs, for the message of a panic.
    static SEED: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn explore(arguments: &Explore) -> Result<(), Failure> {
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
        crate::output::complain(&format!(
            "seed {} panicked; `layercast explore --seed {0}` repeats it",
            SEED.get()
        ));
        before(panic);
    }));
}
