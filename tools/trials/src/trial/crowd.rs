//! Many receivers on one machine, one of them very slow and one that comes and goes: whether the others notice, and what
//! the source pays for their number.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;

use super::{Common, group};
use crate::cables::{Cable, Cables};
use crate::content::{self, Scratch};
use crate::process::{Process, Usage};
use crate::program::{self, Program};
use crate::report::Report;

/// The namespaces behind their links: of the crowd, of the slow one, of the one that comes and goes.
const CROWD: usize = 0;
const SLOW: usize = 1;
const FLAPPING: usize = 2;
/// For how long the one that comes and goes is there, and is away.
const FLAP: Duration = Duration::from_secs(3);

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// Numbers of receivers; the last one with the two others and without
    #[arg(long, value_delimiter = ',', default_values_t = [1, 20, 200])]
    pub receivers: Vec<usize>,

    /// The length of the file in bytes
    #[arg(long, default_value_t = 8_000_000)]
    pub length: u64,

    /// The highest rate of the session
    #[arg(long, default_value = "2 Mbit/s")]
    pub to: String,

    /// The rate of the slow one's link in Mbit/s
    #[arg(long, default_value_t = 0.5)]
    pub slow: f64,

    /// The time for a transfer, in seconds
    #[arg(long, default_value_t = 300)]
    pub patience: u64,
}

impl Options {
    /// Small enough for a test.
    pub fn brief(program: PathBuf, out: PathBuf) -> Options {
        let common = Common { program: Some(program), out, seed: 1 };
        Options {
            common,
            receivers: vec![1, 8],
            length: 1_500_000,
            to: "2 Mbit/s".to_owned(),
            slow: 0.5,
            patience: 120,
        }
    }
}

/// What a transfer to a crowd took.
#[derive(Clone, Debug)]
struct Taken {
    /// Seconds of each receiver, the quickest first.
    seconds: Vec<f64>,
    /// How many files were not right.
    wrong: usize,
    /// What the source used by the time at which the first receiver was complete, and how long it had run.
    source: Usage,
    source_s: f64,
}

impl Taken {
    fn quantile(&self, share: f64) -> f64 {
        let place = (share * (self.seconds.len().saturating_sub(1)) as f64).round() as usize;
        self.seconds.get(place).copied().unwrap_or(f64::NAN)
    }

    /// The source's share of a processor without the kernel's, which on one machine delivers to each receiver in the
    /// source's time.
    fn load(&self) -> f64 {
        self.source.user_s / self.source_s
    }
}

/// Runs the trial.
///
/// # Errors
/// If somebody noticed, the source paid for the number of its receivers, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, "crowd")?;
    let program = Program::find(options.common.program.as_deref())?;
    let most = options.receivers.iter().copied().max().context("a number of receivers")?;
    let runs = options.receivers.iter().map(|&count| (count, false)).chain([(most, true)]);
    let mut first: Option<Taken> = None;
    let mut quiet: Option<Taken> = None;
    for (count, is_disturbed) in runs {
        let taken = transfer(options, &program, count, is_disturbed)?;
        let mut is_right = taken.wrong == 0 && taken.seconds.len() == count;
        // A hundredth of a processor and 4 MiB are what a measurement differs by.
        if let Some(first) = &first {
            is_right &= taken.load() <= 1.2 * first.load() + 0.01;
            is_right &= taken.source.peak_kb <= first.source.peak_kb + 4096;
        }
        if let Some(quiet) = quiet.as_ref().filter(|_| is_disturbed) {
            is_right &= taken.quantile(0.5) <= 1.1 * quiet.quantile(0.5) + 1.0;
            is_right &= taken.quantile(1.0) <= 1.1 * quiet.quantile(1.0) + 2.0;
        }
        let line = json!({
            "receivers": count, "disturbed": is_disturbed, "complete": taken.seconds.len(), "wrong": taken.wrong,
            "quickest_s": taken.quantile(0.0), "median_s": taken.quantile(0.5), "slowest_s": taken.quantile(1.0),
            "source_cpu_s": taken.source.cpu_s, "source_user_s": taken.source.user_s, "source_s": taken.source_s, "source_load": taken.load(),
            "source_kb": taken.source.peak_kb,
        });
        report.add(is_right, line)?;
        first.get_or_insert_with(|| taken.clone());
        quiet = (count == most).then_some(taken);
    }
    report.end()
}

/// One that is killed and started again all the time.
struct Flapping {
    process: Option<Process>,
    next: Instant,
}

impl Flapping {
    fn poll(&mut self, start: impl FnOnce() -> Result<Process>) -> Result<()> {
        if Instant::now() < self.next {
            return Ok(());
        }
        self.next = Instant::now() + FLAP;
        self.process = match self.process.take() {
            // Dropped, it is killed: it leaves without a word.
            Some(_) => None,
            None => Some(start()?),
        };
        Ok(())
    }
}

fn transfer(options: &Options, program: &Program, count: usize, is_disturbed: bool) -> Result<Taken> {
    let scratch = Scratch::new("crowd")?;
    let file = scratch.at("file");
    content::write(&file, options.length, options.common.seed)?;
    let free = Cable { mbps: None, queue_ms: 0 };
    let cables = Cables::new(&[free, Cable { mbps: Some(options.slow), queue_ms: 100 }, free])?;
    let (base, path) = (group(1).to_string(), file.display().to_string());
    let sending =
        ["send", &path, "--group", &base, "--from", "128 kbit/s", "--to", &options.to, "--no-announce"];
    let mut source = program.start(&cables.source(), &sending)?;
    program::wait_for(&mut source, "ready", Duration::from_secs(60))?;
    let receive = |link: usize, name: &str| {
        let into = scratch.folder(name)?.display().to_string();
        program.start(&cables.receiver(link), &["receive", "--group", &base, "--into", &into])
    };
    let slow = is_disturbed.then(|| receive(SLOW, "slow")).transpose()?;
    let mut flapping = is_disturbed.then(|| Flapping { process: None, next: Instant::now() });
    let mut crowd = Vec::new();
    for number in 0..count {
        crowd.push((receive(CROWD, &format!("into{number}"))?, None));
    }
    let until = Instant::now() + Duration::from_secs(options.patience);
    let mut used = None;
    while crowd.iter().any(|(_, took)| took.is_none()) && Instant::now() < until {
        for (receiver, took) in &mut crowd {
            if took.is_none() && receiver.poll()?.is_some() {
                *took = Some(receiver.started().elapsed().as_secs_f64());
            }
        }
        if used.is_none() && crowd.iter().any(|(_, took)| took.is_some()) {
            source.measure();
            used = Some((source.usage(), source.started().elapsed().as_secs_f64()));
        }
        if let Some(flapping) = &mut flapping {
            flapping.poll(|| receive(FLAPPING, "flapping"))?;
        }
        thread::sleep(Duration::from_millis(50));
    }
    drop((slow, flapping));
    let mut seconds: Vec<f64> = crowd.iter().filter_map(|(_, took)| *took).collect();
    seconds.sort_by(f64::total_cmp);
    let mut wrong = 0;
    for number in 0..count {
        let received = scratch.at(&format!("into{number}")).join("file");
        wrong += usize::from(!content::is_same(&file, &received).unwrap_or(false));
    }
    let (source, source_s) = used.context("no receiver was complete in time")?;
    Ok(Taken { seconds, wrong, source, source_s })
}
