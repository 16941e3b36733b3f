//! The simulations of the thesis in full: what a user waits for.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use clap::Args;

use crate::spread::Spread;
use crate::{process, tables};

/// The options of `thesis`.
#[derive(Args)]
pub(crate) struct Options {
    /// The command, and others to compare with it: another build, another version.
    #[arg(required = true, value_name = "LAYERCAST")]
    programs: Vec<PathBuf>,
    /// Runs of each program in each simulation, in turn; medians are reported, with the smallest and the largest.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Replications, instead of those of the scenarios.
    #[arg(long)]
    replications: Option<u32>,
}

/// Seconds of processor time and of the clock.
#[derive(Clone, Copy, Default)]
struct Times {
    cpu_s: f64,
    wall_s: f64,
}

/// Runs all simulations with all programs, on as many threads as there are cores, and prints their times.
pub(crate) fn run(options: &Options) -> Result<()> {
    let listed = process::run(Command::new(&options.programs[0]).args(["list", "--scenarios", "--plain"]))?;
    let names = simulations(&listed.output);
    if names.is_empty() {
        bail!("{} lists no simulation of the thesis", options.programs[0].display());
    }
    let heads = options
        .programs
        .iter()
        .flat_map(|program| ["CPU", "wall"].map(|what| format!("{}, {what}, s", program.display())));
    let mut table = tables::plain(std::iter::once("simulation".to_owned()).chain(heads));
    // Of each program, of each round, over all simulations.
    let mut sums = vec![vec![Times::default(); options.rounds as usize]; options.programs.len()];
    for name in names {
        let mut taken = vec![Vec::new(); options.programs.len()];
        for _ in 0..options.rounds {
            for (at, program) in options.programs.iter().enumerate() {
                let times = one(program, name, options.replications)?;
                eprintln!("{name}, {}: {:.2} s, {:.2} s", program.display(), times.cpu_s, times.wall_s);
                taken[at].push(times);
            }
        }
        for (sum, times) in sums.iter_mut().flatten().zip(taken.iter().flatten()) {
            sum.cpu_s += times.cpu_s;
            sum.wall_s += times.wall_s;
        }
        table.add_row(std::iter::once(name.to_owned()).chain(cells(&taken)));
    }
    table.add_row(std::iter::once("all".to_owned()).chain(cells(&sums)));
    println!("{table}");
    Ok(())
}

fn one(program: &Path, name: &str, replications: Option<u32>) -> Result<Times> {
    let replications = replications.map(|count| format!("--replications={count}"));
    let finished = process::run(Command::new(program).args(["run", "--quiet", name]).args(replications))?;
    Ok(Times { cpu_s: finished.cpu_s, wall_s: finished.wall_s })
}

fn cells(programs: &[Vec<Times>]) -> impl Iterator<Item = String> {
    programs.iter().flat_map(|rounds| {
        let cpu = Spread::of(rounds.iter().map(|times| times.cpu_s));
        let wall = Spread::of(rounds.iter().map(|times| times.wall_s));
        [cpu, wall].map(|spread| spread.map_or(String::new(), |spread| spread.text(2)))
    })
}

/// The numbered simulations among the names that `layercast list --scenarios --plain` prints.
fn simulations(listed: &str) -> Vec<&str> {
    listed.lines().map(str::trim).filter(|name| name.starts_with("thesis/simulation-")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulations_are_found_among_the_scenarios() {
        let listed =
            "amca/finite\nthesis/lossy-link\nthesis/simulation-1-lazy\nthesis/simulation-2\nwebrc/equation\n";
        assert_eq!(simulations(listed), ["thesis/simulation-1-lazy", "thesis/simulation-2"]);
        assert!(simulations("").is_empty());
    }
}
