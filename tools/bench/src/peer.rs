//! ns-2 on the same dumbbell.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::memory;

/// The measurements of ns-2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerMeasurement {
    /// Processor time to set the network up, in seconds: that of a process which ends at 0 s.
    pub(crate) set_up_s: f64,
    /// The processor time of the process beyond that, in seconds.
    pub(crate) run_s: f64,
    /// Transmissions of a packet on a link.
    pub(crate) hops: u64,
    /// The peak resident memory.
    pub(crate) peak_bytes: Option<u64>,
}

/// Whether ns-2 is installed.
pub(crate) fn available() -> bool {
    Command::new("sh").args(["-c", "command -v ns"]).stdout(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// The processor time of a run of `validation/dumbbell.tcl` below `root` that ends at 0 s.
pub(crate) fn set_up_s(root: &Path, connections: u32, mbps: u32) -> Result<f64> {
    Ok(process(root, [connections, mbps, 0])?.cpu_s)
}

/// Runs `validation/dumbbell.tcl` below `root`; `set_up_s` is the processor time of its set-up.
pub(crate) fn dumbbell(
    root: &Path,
    [connections, mbps, seconds]: [u32; 3],
    set_up_s: f64,
) -> Result<PeerMeasurement> {
    let whole = process(root, [connections, mbps, seconds])?;
    let run_s = whole.cpu_s - set_up_s;
    Ok(PeerMeasurement { set_up_s, run_s, hops: whole.hops, peak_bytes: whole.peak_bytes })
}

struct Process {
    cpu_s: f64,
    hops: u64,
    peak_bytes: Option<u64>,
}

fn process(root: &Path, arguments: [u32; 3]) -> Result<Process> {
    let before = children_cpu_s()?;
    let mut child = Command::new("ns")
        .arg(root.join("validation/dumbbell.tcl"))
        .args(arguments.map(|number| number.to_string()))
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start ns; install ns-2 (on Debian: apt-get install ns2)")?;
    // The system reports the peak only while the process lives.
    let mut peak_bytes = None;
    while child.try_wait()?.is_none() {
        peak_bytes = memory::peak(&child.id().to_string()).or(peak_bytes);
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output()?;
    let output_text = String::from_utf8_lossy(&output.stdout);
    let Some(hops) = output_text.split_whitespace().last().and_then(|word| word.parse::<i64>().ok()) else {
        bail!("ns printed no hops: {output_text:?}");
    };
    // Before its first acknowledgement a connection counts one too few.
    let hops = u64::try_from(hops).unwrap_or(0);
    Ok(Process { cpu_s: children_cpu_s()? - before, hops, peak_bytes })
}

fn children_cpu_s() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6)
}
