//! A fault, given to a tool in the middle of a transfer, and what became of it.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::ValueEnum;
use layercast_emulator::Host;

use super::Options;
use super::tool::{Programs, Setting, Tool};
use crate::content::{self, Scratch};
use crate::flood::{self, Flood, Plan};
use crate::hostile::{Hostile, Kind};
use crate::process::{Place, Process};
use crate::wire::{Link, Wire};

/// The share of the file that was sent when something happens.
const AT: f64 = 0.4;
/// The pause between a kill and the next start.
const PAUSE: Duration = Duration::from_millis(500);
/// How often the outcome is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Injected packets per second.
const INJECTED: f64 = 2000.0;
/// The size of a full disk, for a file of five million bytes.
const DISK: &str = "size=2m";

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fault {
    /// Nothing.
    None,
    /// 5 % of the packets to the receiver are lost.
    Loss5,
    /// 30 % are.
    Loss30,
    /// A second receiver starts when a part is sent.
    Late,
    /// The receiver is killed and started again.
    ReceiverKilled,
    /// The sender is.
    SenderKilled,
    /// Random and mutated packets come from another host.
    Corrupted,
    /// The same come from the sender's address; tools with a key for it use one.
    Forged,
    /// The receiver's disk is too small.
    DiskFull,
    /// Two receivers, of 5 and 50 Mbit/s.
    TwoRates,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 10] = [
        Fault::None,
        Fault::Loss5,
        Fault::Loss30,
        Fault::Late,
        Fault::ReceiverKilled,
        Fault::SenderKilled,
        Fault::Corrupted,
        Fault::Forged,
        Fault::DiskFull,
        Fault::TwoRates,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Fault::None => "none",
            Fault::Loss5 => "5 % loss",
            Fault::Loss30 => "30 % loss",
            Fault::Late => "a late joiner",
            Fault::ReceiverKilled => "receiver killed, restarted",
            Fault::SenderKilled => "sender killed, restarted",
            Fault::Corrupted => "corrupted packets, another address",
            Fault::Forged => "corrupted packets, sender's address",
            Fault::DiskFull => "disk full",
            Fault::TwoRates => "5 and 50 Mbit/s",
        }
    }
}

/// What a receiver has at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// The file.
    Right,
    /// Nothing under the file's name.
    Nothing,
    /// A part of its length under its name.
    Part,
    /// Its whole length under its name, with other content.
    Wrong,
}

/// What became of a transfer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What each receiver has.
    pub has: Vec<Has>,
    /// When each had it, in seconds since the sender's start.
    pub took_s: Vec<Option<f64>>,
    /// Bytes that the sender's host sent, injected ones included.
    pub sent_bytes: u64,
    /// The exit status of each receiver, then of the sender, or the negative number of the signal that killed it; none
    /// of one that had not ended.
    pub statuses: Vec<Option<i32>>,
    /// The last line of a receiver that says something, else of the sender.
    pub said: String,
    /// The last lines of all.
    pub lines: Vec<String>,
}

impl Outcome {
    /// In a word for each receiver.
    pub fn verdict(&self) -> String {
        let words = self.has.iter().zip(&self.statuses).map(|(has, status)| {
            let has = match has {
                Has::Right => return "right".to_owned(),
                Has::Nothing => "nothing",
                Has::Part => "a part",
                Has::Wrong => "WRONG CONTENT",
            };
            match status {
                Some(0) => format!("{has}, STATUS 0"),
                Some(signal @ ..0) => format!("{has}, CRASHED by signal {}", -signal),
                Some(status) => format!("{has}, status {status}"),
                None => format!("{has}, goes on"),
            }
        });
        words.collect::<Vec<_>>().join("; ")
    }

    /// When each receiver had the file.
    pub fn seconds(&self) -> String {
        let seconds = self.took_s.iter().map(|took| took.map_or("-".to_owned(), |took| format!("{took:.1}")));
        seconds.collect::<Vec<_>>().join("; ")
    }

    /// Whether it is what we demand of ourselves.
    pub fn is_as_it_must_be(&self, fault: Fault) -> bool {
        match fault {
            Fault::DiskFull => self.has == [Has::Nothing] && self.statuses.first() == Some(&Some(1)),
            _ => self.has.iter().all(|has| *has == Has::Right),
        }
    }
}

/// A small file system, as long as this lives.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(path: &Path) -> Result<SmallDisk> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", DISK, "none"]).arg(path);
        ensure!(mount.status()?.success(), "no small file system at {}", path.display());
        Ok(SmallDisk(path.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// One transfer of a tool with a fault.
///
/// # Errors
/// If it could not be made.
pub(super) fn run(options: &Options, programs: &Programs, tool: Tool, fault: Fault) -> Result<Outcome> {
    let scratch = Scratch::new("peers")?;
    let file = scratch.folder("sent")?.join("file");
    content::write(&file, options.length, options.seed())?;
    let loss = match fault {
        Fault::Loss5 => 0.05,
        Fault::Loss30 => 0.3,
        _ => 0.0,
    };
    let (links, mbps) = match fault {
        // A tool of one rate must not exceed the slow link.
        Fault::TwoRates if tool != Tool::Layercast => (vec![5.0, 50.0], vec![4.5]),
        Fault::TwoRates => (vec![5.0, 50.0], vec![4.0, 8.0, 16.0, 32.0]),
        Fault::Late => (vec![20.0, 20.0], vec![8.0]),
        _ => (vec![20.0], vec![8.0]),
    };
    let links: Vec<Link> = links.into_iter().map(|mbps| Link::new(mbps, 40, loss)).collect();
    let wire = Wire::new(&links, options.seed())?;
    let first = if fault == Fault::Late { 1 } else { links.len() };
    let key = (fault == Fault::Forged).then(|| scratch.at("key"));
    if let Some(key) = &key {
        programs.ours.group_key(key)?;
    }
    let setting = Setting { file, mbps, receivers: first, key, state: scratch.at("state") };
    let mut disk = None;
    let mut intos = Vec::new();
    for number in 0..links.len() {
        let into = scratch.folder(&format!("into{number}"))?;
        if fault == Fault::DiskFull {
            disk = Some(SmallDisk::mount(&into)?);
        }
        intos.push(into);
    }
    let from = Place::Host(wire.source().clone());
    let receive = |number: usize| {
        let place = Place::Host(wire.receiver(number).clone());
        place.start(tool.receiver(programs, &setting, &place, &intos[number]))
    };
    let send = || from.start(tool.sender(programs, &setting, &from));
    let mut receivers = (0..first).map(receive).collect::<Result<Vec<_>>>()?;
    thread::sleep(PAUSE);
    let (before, started) = (sent_bytes(wire.source())?, Instant::now());
    let mut sender = send()?;
    let until = started + Duration::from_secs(options.within);
    let mut flood = None;
    if matches!(fault, Fault::Corrupted | Fault::Forged) {
        flood = Some(inject(&wire, tool, fault, options.seed(), until)?);
    }
    let mut is_due = matches!(fault, Fault::Late | Fault::ReceiverKilled | Fault::SenderKilled);
    let mut took = vec![None; links.len()];
    let mut ended_since = None;
    loop {
        if is_due && (sent_bytes(wire.source())? - before) as f64 >= AT * options.length as f64 {
            is_due = false;
            match fault {
                Fault::Late => receivers.push(receive(1)?),
                Fault::ReceiverKilled => {
                    receivers[0].kill()?;
                    thread::sleep(PAUSE);
                    receivers[0] = receive(0)?;
                }
                _ => {
                    sender.kill()?;
                    thread::sleep(PAUSE);
                    sender = send()?;
                }
            }
        }
        for (into, took) in intos.iter().zip(&mut took) {
            if took.is_none() && has(&setting.file, into)? == Has::Right {
                *took = Some(started.elapsed().as_secs_f64());
            }
        }
        let sender_ended = sender.poll()?.is_some();
        let mut all_ended = true;
        for receiver in &mut receivers {
            all_ended &= receiver.poll()?.is_some();
        }
        // One that has ended has its files in place soon.
        if sender_ended || all_ended {
            ended_since.get_or_insert_with(Instant::now);
        }
        let is_over = ended_since.is_some_and(|since: Instant| since.elapsed() > Duration::from_secs(5));
        if took.iter().all(Option::is_some) || is_over || Instant::now() > until {
            break;
        }
        thread::sleep(LOOK);
    }
    let sent = sent_bytes(wire.source())? - before;
    drop(flood);
    finish(&setting, &intos, receivers, sender, took, sent).inspect(|_| drop(disk))
}

/// Ends the programs that still run, and looks at what there is.
fn finish(
    setting: &Setting,
    intos: &[PathBuf],
    mut receivers: Vec<Process>,
    mut sender: Process,
    took_s: Vec<Option<f64>>,
    sent_bytes: u64,
) -> Result<Outcome> {
    // What has arrived is put into place, and said, in a moment.
    thread::sleep(Duration::from_secs(1));
    // Pages with these words should not have the paths of a machine.
    let folder = setting.state.parent().unwrap_or(Path::new("/")).display().to_string();
    let tails = receivers.iter().chain([&sender]).map(|process| tail(&process.lines()).replace(&folder, ""));
    let lines: Vec<String> = tails.collect();
    let mut statuses = Vec::new();
    for process in receivers.iter_mut().chain([&mut sender]) {
        let status = process.poll()?;
        statuses.push(status.map(|status| status.code().unwrap_or_else(|| -status.signal().unwrap_or(1))));
        if status.is_none() {
            process.end_within(Duration::from_secs(5))?;
        }
    }
    let has = intos.iter().map(|into| has(&setting.file, into)).collect::<Result<Vec<_>>>()?;
    let said = telling(&lines);
    Ok(Outcome { has, took_s, sent_bytes, statuses, said, lines })
}

/// The last lines.
fn tail(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

/// The last line on a failure, of the receivers before the sender; else a receiver's last one.
fn telling(lines: &[String]) -> String {
    const TROUBLE: [&str; 12] = [
        "error",
        "warning",
        "abort",
        "reject",
        "lost",
        "fail",
        "no space",
        "not enough",
        "timed out",
        "timeout",
        "bad ",
        "invalid",
    ];
    let each = || lines.iter().flat_map(|text| text.rsplit(" / "));
    let is_trouble = |line: &&str| TROUBLE.iter().any(|word| line.to_lowercase().contains(word));
    let line = each().find(is_trouble).or_else(|| each().next()).unwrap_or_default();
    line.chars().filter(|one| !one.is_control()).take(120).collect()
}

/// What a receiver has under the file's name.
fn has(file: &Path, into: &Path) -> Result<Has> {
    let path = into.join(file.file_name().unwrap_or_default());
    let Ok(found) = fs::metadata(&path) else { return Ok(Has::Nothing) };
    if found.len() != fs::metadata(file)?.len() {
        return Ok(Has::Part);
    }
    Ok(if content::is_same(file, &path).unwrap_or(false) { Has::Right } else { Has::Wrong })
}

/// The bytes that a host has sent.
fn sent_bytes(host: &Host) -> Result<u64> {
    let text = host.run(|| fs::read_to_string("/proc/thread-self/net/dev"))??;
    let line =
        text.lines().find_map(|line| line.trim_start().strip_prefix(host.interface())?.strip_prefix(':'));
    let field = line.and_then(|line| line.split_ascii_whitespace().nth(8)?.parse().ok());
    field.ok_or_else(|| anyhow::anyhow!("no counters of {}", host.name()))
}

/// Injects packets into the data group, as soon as some of the tool's were heard.
fn inject(wire: &Wire, tool: Tool, fault: Fault, seed: u64, until: Instant) -> Result<Flood> {
    let group = tool.data_group();
    let ears = flood::listener(&Place::Host(wire.stranger().clone()), group)?;
    let mut hostile = Hostile::new(seed);
    while hostile.known().0 < 50 {
        ensure!(Instant::now() < until, "nothing was heard of {} on {group}", tool.name());
        flood::hear(&ears, LOOK, 50, |packet| hostile.hear(packet))?;
    }
    let from = if fault == Fault::Forged { wire.source() } else { wire.stranger() };
    let plan = Plan {
        kinds: vec![Kind::Random, Kind::Mutated, Kind::Mutated],
        to: vec![group.into()],
        per_second: INJECTED,
        most: None,
    };
    Ok(Flood::start(flood::sender(&Place::Host(from.clone()))?, Some(ears), plan, hostile))
}
