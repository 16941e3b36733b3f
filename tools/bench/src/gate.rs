//! The gate on speed: instructions per packet hop, which are the same on every run, against stored values.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::case::Case;
use crate::instructions;

/// Small, so that valgrind takes seconds.
const CASES: [Case; 2] = [
    Case::Dumbbell { connections: 50, mbps: 50, seconds: 4 },
    Case::Tree { leaves: 100, per_leaf: 1, seconds: 4 },
];

/// How far a case may be above its stored value. Compilers and inlining move the count by a few per cent.
const TOLERANCE: f64 = 0.1;

#[derive(Args)]
pub(crate) struct Options {
    /// The file with the stored values: a line for each case.
    golden: PathBuf,
    /// Store what is measured now.
    #[arg(long)]
    update: bool,
}

/// Compares instructions per hop with the stored values.
pub(crate) fn gate(options: &Options) -> Result<()> {
    if !instructions::available() {
        bail!("valgrind is missing. On Debian: apt-get install valgrind");
    }
    let mut lines = String::new();
    let stored = if options.update {
        String::new()
    } else {
        fs::read_to_string(&options.golden).with_context(|| {
            format!("{} cannot be read; `make instructions` writes it", options.golden.display())
        })?
    };
    let mut slower = Vec::new();
    let program = std::env::current_exe()?;
    for case in CASES {
        let measured = instructions::per_hop(&program, case)?;
        writeln!(lines, "{case}: {measured:.0}")?;
        if options.update {
            continue;
        }
        let name = format!("{case}: ");
        let known = stored.lines().find_map(|line| line.strip_prefix(&name)?.parse::<f64>().ok());
        let known = known.with_context(|| format!("no value for {case}; `make instructions` stores it"))?;
        println!("{case}: {measured:.0} instructions per hop, stored {known:.0}");
        if measured > known * (1.0 + TOLERANCE) {
            slower.push(format!(
                "{case}: {measured:.0} instructions per hop, more than {known:.0} and a tenth"
            ));
        }
    }
    if options.update {
        fs::write(&options.golden, &lines)?;
        print!("{lines}");
    } else if !slower.is_empty() {
        bail!(
            "the simulator became slower; if that is meant, run `make instructions`\n{}",
            slower.join("\n")
        );
    }
    Ok(())
}
