//! `until_broken FROM COUNT` runs seeds until an invariant breaks, and says which and after how long. `tools/mutants.sh` runs it
//! on trees with a planted mistake.

#![allow(clippy::disallowed_methods, reason = "how long the search took")]

use std::process::ExitCode;
use std::time::Instant;

use layercast_explorer::explore;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let &[from, count] = numbers.as_slice() else {
        eprintln!("until_broken FROM COUNT");
        return ExitCode::from(2);
    };
    let begin = Instant::now();
    for seed in from..from + count {
        if let Err(broken) = explore(seed, &mut |_| {}) {
            println!("seed {seed} after {:.1} s: {broken}", begin.elapsed().as_secs_f64());
            return ExitCode::FAILURE;
        }
    }
    println!("no invariant is broken in {count} seeds, after {:.1} s", begin.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}
