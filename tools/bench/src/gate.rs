//! The gate on speed: instructions per packet hop, which are the same on every run, against stored values.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::case::Case;
use crate::delivery::Protection;
use crate::{instructions, scenario};

/// Small, so that valgrind takes seconds.
fn cases() -> Vec<Case> {
    let networks = [
        Case::Dumbbell { connections: 50, mbps: 50, seconds: 4 },
        Case::Tree { leaves: 100, per_leaf: 1, seconds: 4 },
    ];
    let transfers = [Protection::Plain, Protection::Encrypted]
        .map(|protection| Case::Delivery { protection, kilobytes: 500 });
    let scenarios = scenario::ALL.map(|(name, seconds)| Case::Scenario { name, seconds });
    networks.into_iter().chain(scenarios).chain(transfers).collect()
}

/// How far a case may be above its stored value. The same program gives the same count to a tenth of this, whatever else the
/// machine does; another compiler may not.
const TOLERANCE: f64 = 0.02;

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
    for case in cases() {
        let measured = instructions::per_hop(&program, case)?;
        writeln!(lines, "{case}: {measured:.0}")?;
        if options.update {
            continue;
        }
        let name = format!("{case}: ");
        let known = stored.lines().find_map(|line| line.strip_prefix(&name)?.parse::<f64>().ok());
        let known = known.with_context(|| format!("no value for {case}; `make instructions` stores it"))?;
        let change = measured / known - 1.0;
        let text = format!(
            "{case}: {measured:.0} instructions per packet, stored {known:.0}: {:+.1} %",
            100.0 * change
        );
        // A gain that is not stored can be lost unnoticed.
        println!("{text}{}", if change < -TOLERANCE { "; `make instructions` keeps that" } else { "" });
        if change > TOLERANCE {
            slower.push(text);
        }
    }
    if options.update {
        fs::write(&options.golden, &lines)?;
        print!("{lines}");
    } else if !slower.is_empty() {
        bail!("slower than stored; if that is meant, run `make instructions`\n{}", slower.join("\n"));
    }
    Ok(())
}
