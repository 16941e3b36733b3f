//! `layercast emulate`: the network of a scenario for programs of a user's own.

mod commands;
mod running;
mod table;

use std::fmt::Write as _;
use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context as _;
use layercast_core::units::Duration;
use layercast_emulator::world::{Bare, Carried, WorldError};
use layercast_emulator::{Host, Lateness};
use layercast_laboratory::lint;

use self::commands::Node;
use self::running::Running;
use crate::arguments::Emulate;
use crate::commands::{Failure, counted, read};
use crate::lab::warnings;
use crate::net::transfer::stop_flag;
use crate::output::{complain, complain_lines, print};

/// How often it is looked whether commands have ended.
const STEP: Duration = Duration::from_ms(100);
/// How often the table is refreshed.
const REFRESH: std::time::Duration = std::time::Duration::from_secs(1);
/// How long commands have to end when they are asked to.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
/// The table's links where the height of the terminal is not known.
const MOST_LINKS: usize = 20;

fn emulation(error: impl Into<WorldError>) -> Failure {
    Failure::Other(anyhow::Error::msg(error.into().to_string()))
}

pub(crate) fn emulate(arguments: &Emulate) -> Result<(), Failure> {
    let commands = commands::split(&arguments.commands).map_err(Failure::Input)?;
    let (plan, text) = read(&arguments.scenario.name, &arguments.scenario.overrides, &[])?;
    let nodes = commands::find(&commands, &plan.nodes).map_err(Failure::Input)?;
    if arguments.scenario.deny_warnings {
        warnings::warn(&arguments.scenario, &lint::emulated(lint::before(&plan, &text)))?;
    }
    let stop = stop_flag()?;
    let is_terminated = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&is_terminated))
        .context("signals cannot be caught")?;

    let mut bare = Bare::new(&plan).map_err(emulation)?;
    let hosts = bare.emulation.hosts();
    if commands.is_empty() {
        print(&entrances(&hosts))?;
    }
    let addressed: Vec<Node> = hosts
        .iter()
        .map(|host| Node { name: host.name().to_owned(), ipv4: host.ipv4(), ipv6: host.ipv6() })
        .collect();
    bare.emulation.start();
    let mut running = Running::default();
    for (&node, (_, words)) in nodes.iter().zip(&commands) {
        let is_last = running.count() + 1 == commands.len();
        let words: Vec<String> = words.iter().map(|word| commands::fill(word, &addressed)).collect();
        running.start(&hosts[node], &words, is_last)?;
    }

    let begun = Instant::now();
    let mut shown = Shown::new(!arguments.quiet && commands.is_empty(), &bare);
    while !stop.load(Ordering::Relaxed) && !running.has_ended() {
        advance(&mut bare)?;
        running.look();
        shown.refresh(&bare)?;
    }
    running.ask_others_to_end();
    let asked = Instant::now();
    while asked.elapsed() < GRACE && !running.all_have_ended() {
        advance(&mut bare)?;
        running.look();
    }
    shown.clear();
    if !arguments.quiet {
        let nothing = vec![Carried::default(); bare.link_names.len()];
        let carried = bare.carried();
        let seconds = begun.elapsed().as_secs_f64();
        let table = table::render(&bare.link_names, (&nothing, &carried), seconds, usize::MAX);
        complain_lines(&format!("Carried in {seconds:.1} s:\n{}", table.trim_end()));
    }
    say_lateness(bare.emulation.lateness(), arguments);
    drop(bare);
    running.status(if is_terminated.load(Ordering::Relaxed) { 143 } else { 130 })
}

fn advance(bare: &mut Bare) -> Result<(), Failure> {
    let next = bare.emulation.now() + STEP;
    bare.emulation.run_until(next).map_err(emulation)
}

/// How to enter each host.
fn entrances(hosts: &[Host]) -> String {
    let width = hosts.iter().map(|host| host.name().chars().count()).max().unwrap_or(0);
    let mut text = format!("{}, until Ctrl-C:\n", counted(hosts.len(), "host"));
    // Within a user namespace its rights are needed too.
    let whole_range = |map: String| map.split_ascii_whitespace().nth(2) == Some("4294967295");
    let is_initial = fs::read_to_string("/proc/self/uid_map").map_or(true, whole_range);
    let enter = if is_initial {
        "sudo nsenter".to_owned()
    } else {
        format!("nsenter --user=/proc/{}/ns/user --preserve-credentials", std::process::id())
    };
    for host in hosts {
        let (name, v4, v6) = (host.name(), host.ipv4(), host.ipv6());
        let path = host.path();
        let _ = writeln!(text, "{name:<width$}  {v4}  {v6}  {enter} --net={} COMMAND", path.display());
    }
    text
}

fn say_lateness(lateness: &Lateness, arguments: &Emulate) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let late = &lateness.deliveries;
    if !arguments.quiet {
        complain(&format!(
            "Of {} packets 99 % left within {:.3} ms of their time, half of them within {:.3} ms.",
            late.count(),
            ms(late.quantile(0.99)),
            ms(late.quantile(0.5)),
        ));
    }
    if !lateness.is_within(arguments.lateness) {
        complain(&format!(
            "warning: packets were too late: 99 % left within {:.3} ms and were taken within {:.3} ms, where {} is the \
             limit, and {} were lost on the way to the emulator; what programs have measured does not stand. Use lower \
             rates or fewer hosts, or a machine with nothing else to do",
            ms(late.quantile(0.99)),
            ms(lateness.turns.quantile(0.99)),
            arguments.lateness,
            lateness.overruns,
        ));
    }
}

/// The table on a terminal.
struct Shown {
    is_shown: bool,
    /// When it was drawn for the last time, and what links had carried then.
    drawn: Instant,
    before: Vec<Carried>,
    /// How many lines of the terminal it has.
    lines: usize,
}

impl Shown {
    fn new(is_wanted: bool, bare: &Bare) -> Shown {
        let is_shown = is_wanted && std::io::stderr().is_terminal();
        Shown { is_shown, drawn: Instant::now(), before: bare.carried(), lines: 0 }
    }

    fn refresh(&mut self, bare: &Bare) -> Result<(), Failure> {
        let elapsed = self.drawn.elapsed();
        if !self.is_shown || elapsed < REFRESH {
            return Ok(());
        }
        let height = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
        // The heading, the line for links that are not shown, and that of the cursor.
        let most = height.map_or(MOST_LINKS, |height| height.saturating_sub(3).max(1));
        let now = bare.carried();
        let table = table::render(&bare.link_names, (&self.before, &now), elapsed.as_secs_f64(), most);
        self.clear();
        write!(std::io::stderr().lock(), "{table}").context("the table cannot be shown")?;
        self.lines = table.lines().count();
        self.before = now;
        self.drawn = Instant::now();
        Ok(())
    }

    /// Removes it from the terminal.
    fn clear(&mut self) {
        if self.lines > 0 {
            let _ = write!(std::io::stderr().lock(), "\x1b[{}F\x1b[J", self.lines);
            self.lines = 0;
        }
    }
}
