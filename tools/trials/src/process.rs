//! Programs that run here or in a host, with what they say, their memory and their processor time.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use layercast_emulator::Host;

/// How often a program is looked at while it is waited for.
const LOOK: Duration = Duration::from_millis(50);
/// How many lines of a program are kept.
const LINES_MAX: usize = 20_000;

/// Where a program runs.
#[derive(Clone, Debug)]
pub enum Place {
    /// On this machine, over the loopback interface.
    Loopback,
    /// In a host of an emulated network.
    Host(Host),
    /// In a network namespace, whose link is `up0`.
    Namespace(String),
}

impl Place {
    /// The interface for a program's multicast.
    pub fn interface(&self) -> &str {
        match self {
            Place::Loopback => "127.0.0.1",
            Place::Host(host) => host.interface(),
            Place::Namespace(_) => "up0",
        }
    }

    /// Starts a command there.
    ///
    /// # Errors
    /// Those of [`Command::spawn`].
    pub fn start(&self, mut command: Command) -> Result<Process> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = match self {
            Place::Loopback => command.spawn(),
            Place::Host(host) => host.spawn(command),
            Place::Namespace(namespace) => {
                // The program takes the place of `ip`, so that it has the number of the process.
                let mut within = Command::new("ip");
                within.args(["netns", "exec", namespace]).arg(command.get_program()).args(command.get_args());
                within.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
            }
        };
        Process::new(child.with_context(|| format!("cannot start {name}"))?)
    }
}

/// What a program used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// The largest resident memory so far, in kB (VmHWM).
    pub peak_kb: u64,
    /// Processor time, in seconds.
    pub cpu_s: f64,
    /// The part of it that is not the kernel's.
    pub user_s: f64,
}

/// A program that was started. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    readers: Vec<JoinHandle<()>>,
    usage: Usage,
    started: Instant,
}

impl Process {
    fn new(mut child: Child) -> Result<Process> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let mut readers = Vec::new();
        let out: Option<Box<dyn Read + Send>> = child.stdout.take().map(|out| Box::new(out) as _);
        let error: Option<Box<dyn Read + Send>> = child.stderr.take().map(|error| Box::new(error) as _);
        for stream in [out, error].into_iter().flatten() {
            let lines = Arc::clone(&lines);
            readers.push(thread::spawn(move || {
                for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                    let mut lines = locked(&lines);
                    if lines.len() == LINES_MAX {
                        // The first and the last say most.
                        lines.remove(LINES_MAX / 2);
                    }
                    lines.push(String::from_utf8_lossy(&line).trim_end().to_owned());
                }
            }));
        }
        Ok(Process { child, lines, readers, usage: Usage::default(), started: Instant::now() })
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// When it was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// What it has printed so far, on both streams.
    pub fn lines(&self) -> Vec<String> {
        locked(&self.lines).clone()
    }

    /// Its exit status, if it has ended; notes what it has used so far.
    ///
    /// # Errors
    /// The system's error.
    pub fn poll(&mut self) -> Result<Option<ExitStatus>> {
        self.measure();
        let status = self.child.try_wait()?;
        if status.is_some() {
            for reader in self.readers.drain(..) {
                let _ = reader.join();
            }
        }
        Ok(status)
    }

    /// Waits until it ends. None if it has not by then.
    ///
    /// # Errors
    /// The system's error.
    pub fn wait_until(&mut self, until: Instant) -> Result<Option<ExitStatus>> {
        loop {
            let status = self.poll()?;
            if status.is_some() || Instant::now() >= until {
                return Ok(status);
            }
            thread::sleep(LOOK);
        }
    }

    /// Kills it (SIGKILL).
    ///
    /// # Errors
    /// The system's error.
    pub fn kill(&mut self) -> Result<()> {
        self.measure();
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end (SIGTERM) and waits; kills it if it has not after this time.
    ///
    /// # Errors
    /// The system's error.
    pub fn end_within(&mut self, time: Duration) -> Result<Option<ExitStatus>> {
        layercast_emulator::ask_to_end(&self.child)?;
        let status = self.wait_until(Instant::now() + time)?;
        if status.is_none() {
            self.kill()?;
        }
        Ok(status)
    }

    /// What it has used, when it was last looked at.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Notes what it has used so far. One that has ended has no numbers any more.
    pub fn measure(&mut self) {
        let of = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).ok();
        let peak = of("status").and_then(|text| {
            text.lines()
                .find_map(|line| line.strip_prefix("VmHWM:")?.split_ascii_whitespace().next()?.parse().ok())
        });
        // The second field, a name in parentheses, may have spaces.
        let ticks = of("stat").and_then(|text| {
            let fields: Vec<u64> = text
                .rsplit(')')
                .next()?
                .split_ascii_whitespace()
                .map(|field| field.parse().unwrap_or(0))
                .collect();
            Some((*fields.get(11)?, *fields.get(12)?))
        });
        if let (Some(peak), Some((user, kernel))) = (peak, ticks) {
            let seconds = |ticks: u64| ticks as f64 / ticks_per_second();
            self.usage = Usage { peak_kb: peak, cpu_s: seconds(user + kernel), user_s: seconds(user) };
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The unit of processor time in `/proc`: USER_HZ, which is 100 on Linux whatever the kernel's own.
fn ticks_per_second() -> f64 {
    100.0
}

fn locked(lines: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}
