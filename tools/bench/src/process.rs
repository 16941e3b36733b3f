//! A process that runs to its end, and what it took.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::memory;

/// What a process printed and took.
pub(crate) struct Finished {
    /// Its standard output.
    pub(crate) output: String,
    /// Its processor time, in seconds.
    pub(crate) cpu_s: f64,
    /// The time it took, in seconds.
    pub(crate) wall_s: f64,
    /// The peak resident memory, where the system reports it.
    pub(crate) peak_bytes: Option<u64>,
}

/// Runs `command` to its end.
///
/// # Errors
///
/// If it cannot be started or ends with another status than 0; the error has what it printed to standard error.
pub(crate) fn run(command: &mut Command) -> Result<Finished> {
    let name = command.get_program().to_string_lossy().into_owned();
    let before = children_cpu_s()?;
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    // Both are read while it runs, since a full pipe would stop it.
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let read = |from: Option<&mut dyn std::io::Read>| {
        let mut bytes = Vec::new();
        from.map_or(Ok(0), |from| from.read_to_end(&mut bytes))
            .map(|_| String::from_utf8_lossy(&bytes).into_owned())
    };
    let number = child.id().to_string();
    let (output, errors, peak_bytes) = std::thread::scope(|scope| {
        let output = scope.spawn(|| read(stdout.as_mut().map(|pipe| pipe as _)));
        let errors = scope.spawn(|| read(stderr.as_mut().map(|pipe| pipe as _)));
        // The system reports the peak only while the process lives.
        let mut peak_bytes = None;
        while !(output.is_finished() && errors.is_finished()) {
            peak_bytes = memory::peak(&number).or(peak_bytes);
            std::thread::sleep(Duration::from_millis(10));
        }
        (output.join(), errors.join(), peak_bytes)
    });
    let status = child.wait()?;
    let wall_s = begun.elapsed().as_secs_f64();
    let (Ok(output), Ok(errors)) = (output, errors) else { bail!("what {name} printed could not be read") };
    let (output, errors) = (output?, errors?);
    if !status.success() {
        bail!("{name} ended with {status}: {}", errors.trim());
    }
    Ok(Finished { output, cpu_s: children_cpu_s()? - before, wall_s, peak_bytes })
}

fn children_cpu_s() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_gives_its_output_and_times() {
        let finished = run(Command::new("sh").args(["-c", "echo out; echo err >&2"])).unwrap();
        assert_eq!(finished.output, "out\n");
        assert!(finished.wall_s > 0.0 && finished.cpu_s >= 0.0);
    }

    #[test]
    fn a_failure_says_what_the_process_printed() {
        let error =
            run(Command::new("sh").args(["-c", "echo reason >&2; exit 3"])).err().unwrap().to_string();
        assert!(error.contains("reason") && error.contains('3'), "{error}");
        let error = run(&mut Command::new("/does/not/exist")).err().unwrap().to_string();
        assert!(error.contains("cannot start /does/not/exist"), "{error}");
    }
}
