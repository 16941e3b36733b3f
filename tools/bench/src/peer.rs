//! Other simulators on the same dumbbell.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::measurement::Measurement;
use crate::process;

/// A simulator that runs the dumbbell: its arguments end with connections, Mbit/s and seconds.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The name in tables and, with `_` for `-`, in the history.
    pub(crate) name: &'static str,
    program: PathBuf,
    /// The arguments before the numbers.
    arguments: Vec<PathBuf>,
    /// Transmissions of a packet on a link, as the program prints them.
    hops: fn(&str) -> Option<u64>,
}

/// The names of all peers, in the order of the columns.
pub(crate) const NAMES: [&str; 2] = ["csg-htsim", "ns-2"];

/// csg-htsim, whose program was built from `tools/bench/htsim/dumbbell.cpp`.
pub(crate) fn htsim(program: &Path) -> Peer {
    Peer { name: NAMES[0], program: program.to_owned(), arguments: Vec::new(), hops: htsim_hops }
}

/// ns-2, with `validation/dumbbell.tcl` below `root`; none where `ns` is not installed.
pub(crate) fn ns2(root: &Path) -> Option<Peer> {
    let found = Command::new("sh").args(["-c", "command -v ns"]).stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success()).then(|| Peer {
        name: NAMES[1],
        program: "ns".into(),
        arguments: vec![root.join("validation/dumbbell.tcl")],
        hops: ns2_hops,
    })
}

/// `hops 4452915`.
fn htsim_hops(output: &str) -> Option<u64> {
    output.lines().find_map(|line| line.strip_prefix("hops "))?.parse().ok()
}

/// `acked 741604 sent 744895 hops ~ 4452915`, whatever ns-2 prints before.
fn ns2_hops(output: &str) -> Option<u64> {
    let (_, number) = output.lines().rev().find_map(|line| line.split_once(" hops ~ "))?;
    let number: i64 = number.trim().parse().ok()?;
    // Before its first acknowledgement a connection counts one too few.
    Some(u64::try_from(number).unwrap_or(0))
}

impl Peer {
    /// The processor time of a run that ends at 0 s, in seconds.
    pub(crate) fn set_up_s(&self, connections: u32, mbps: u32) -> Result<f64> {
        Ok(self.process([connections, mbps, 0])?.0.cpu_s)
    }

    /// A run, without its set-up of `set_up_s` seconds.
    pub(crate) fn run(&self, numbers: [u32; 3], set_up_s: f64) -> Result<Measurement> {
        let (finished, hops) = self.process(numbers)?;
        let run_s = finished.cpu_s - set_up_s;
        Ok(Measurement { set_up_s, run_s, hops, deliveries: 0, peak_bytes: finished.peak_bytes })
    }

    fn process(&self, numbers: [u32; 3]) -> Result<(process::Finished, u64)> {
        let numbers = numbers.map(|number| number.to_string());
        let mut command = Command::new(&self.program);
        let finished = process::run(command.args(&self.arguments).args(numbers))?;
        let hops = (self.hops)(&finished.output)
            .with_context(|| format!("{} printed no hops: {:?}", self.name, finished.output))?;
        Ok((finished, hops))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_of_htsim() {
        assert_eq!(htsim_hops("hops 4452915\n"), Some(4_452_915));
        assert_eq!(htsim_hops("a note\nhops 12\n"), Some(12));
        assert_eq!(htsim_hops(""), None);
        assert_eq!(htsim_hops("hops many\n"), None);
    }

    #[test]
    fn hops_of_ns2() {
        assert_eq!(ns2_hops("acked 741604 sent 744895 hops ~ 4452915\n"), Some(4_452_915));
        assert_eq!(ns2_hops("warning: hops ~ of another kind\nacked 7 sent 8 hops ~ 43\n"), Some(43));
        assert_eq!(ns2_hops("acked -100 sent 0 hops ~ -500\n"), Some(0));
        assert_eq!(ns2_hops("couldn't read file\n"), None);
    }

    #[test]
    fn a_program_that_prints_no_hops_is_named() {
        let peer = htsim(Path::new("echo"));
        let error = peer.run([1, 2, 3], 0.0).err().unwrap().to_string();
        assert!(error.contains("csg-htsim printed no hops") && error.contains("1 2 3"), "{error}");
    }
}
