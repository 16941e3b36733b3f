//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use layercast_core::units::Duration;

use crate::doc::arguments::{Completions, ManualPages, Reference};
use crate::lab::design::arguments::Design;
use crate::lab::explain::arguments::Explain;
use crate::lab::scoreboard::arguments::Scoreboard;
use crate::lab::trimmed::trimmed;
use crate::net::transfer_arguments::{Receive, Send};

const AFTER_HELP: &str = "\
Examples:
  layercast list                                  list scenarios and protocols
  layercast run thesis/simulation-2               run a built-in scenario and print its table
  layercast run my.toml --out results             keep a report, a summary and time series
  layercast run my.toml --world emulated          run it in real time with the kernel's TCP, as root
  layercast agree my.toml --out both              both worlds side by side, as root
  layercast emulate my.toml -- at B iperf3 -s at A iperf3 -c {B}   programs at its nodes
  layercast why results elm@R1                    why a receiver has its rate
  layercast explain results --receiver elm@R1     the chain of its decisions, of `run --notes`
  layercast run my.toml --set duration='60 s'     change a value for this run
  layercast run my.toml --out results --capture G-R  keep the packets of a link for Wireshark
  layercast sweep my.toml --vary link.A-B.delay=10ms..90ms/9 --out sweep   run a grid of values
  layercast compare thesis/simulation-3-elm --protocols elm,rlc,fixed   compare three protocols
  layercast scoreboard --brief --out board        judge every protocol in a suite of networks
  layercast check my.toml                         check a file; errors have line and column
  layercast expand my.toml                        print the tables that its templates make
  layercast design flid --layers 30 --rtt '100 ms'   how often FLID's levels may increase
  layercast send FILE --group 239.1.2.0           send a file until interrupted
  layercast receive --group 239.1.2.0 --into DIR  receive the file
  layercast sessions                              list what is sent; `layercast receive NAME` takes it

Exit status: 0 done, 1 failed, 2 wrong usage or input.";

const EMULATE_HELP: &str = "\
Commands start at once. In their words {NODE} is the node's IPv4 address, {NODE.6} its IPv6 address, \
and {at} the word `at`; all else in braces stays. The network is removed when the command listed last \
has ended: the others are asked to end (SIGTERM) and killed two seconds later. Exit status: that of \
the command listed last, or 128 and the number of the signal that ended it.

Examples:
  sudo layercast emulate my.toml                           until Ctrl-C; enter it with nsenter
  sudo layercast emulate my.toml -- at A ping -c 3 {B}     one command
  sudo layercast emulate my.toml -- at B iperf3 -s at A iperf3 -c {B}   until the client ends";

/// Layered multicast whose receivers share the network fairly with TCP
#[derive(Debug, Parser)]
#[command(name = "layercast", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario and print its table
    Run(Run),
    /// Run a scenario for every combination of parameter values; resumes after an interruption
    Sweep(Sweep),
    /// Run a scenario with each of several protocols and compare the results
    Compare(Compare),
    /// Run every protocol in every cell of a suite and judge each; resumes after an interruption
    Scoreboard(Scoreboard),
    /// Run a scenario in the simulated and in the emulated world and compare the results
    Agree(Agree),
    /// Set up the network of a scenario for programs of your own, in real time and without the scenario's traffic
    #[command(after_help = EMULATE_HELP)]
    Emulate(Emulate),
    /// Say why a receiver of a run has its rate
    Why(Why),
    /// Say from a trace why a receiver was at its rate: each decision, its cause and what preceded it
    Explain(Explain),
    /// List what can be run, or show the options of a protocol, queue or TCP, or the keys of a table
    List(List),
    /// Check a scenario file and report its errors
    Check(Check),
    /// Print a scenario as one flat file, with its templates expanded
    Expand(Check),
    /// Compute the expected behaviour of a choice of protocol parameters
    Design(Design),
    /// Run whole file transfers with faults in the simulator, a seed each, and judge what must hold
    Explore(Explore),
    /// Send files and folders to a multicast group, in layers
    Send(Send),
    /// Receive files from a multicast group, at the rate that the path sustains
    Receive(Receive),
    /// Carry sessions through networks without multicast: hold their channels for receivers and other relays, and send the
    /// packets on by unicast
    #[cfg(all(feature = "transport", target_os = "linux"))]
    Relay(crate::net::relay::arguments::Relay),
    /// List the sessions that are announced on the network
    #[cfg(all(feature = "transport", target_os = "linux"))]
    Sessions(crate::net::sessions::arguments::Sessions),
    /// Make, show and use keys, so that receivers know who sends
    #[cfg(all(feature = "transport", target_os = "linux"))]
    Key(crate::net::key::arguments::Key),
    /// Check what keeps multicast from being sent or received here, with remedies; exit status 1 if something is wrong
    #[cfg(all(feature = "transport", target_os = "linux"))]
    Doctor(crate::net::doctor::arguments::Doctor),
    /// Print the completions of a shell
    Completions(Completions),
    /// Write the manual pages
    Man(ManualPages),
    /// Write the whole reference as Markdown: commands, keys, options, scenarios
    Reference(Reference),
    /// Run a source or a receiver without a file, which reports what it does; `run --world emulated` starts it
    #[cfg(all(feature = "emulator", target_os = "linux"))]
    #[command(hide = true)]
    Endpoint(crate::emulator::endpoint::arguments::Endpoint),
}

/// Which scenario, and what to change in it.
#[derive(Debug, Args)]
pub(crate) struct Scenario {
    /// A scenario file, or the name of a built-in scenario such as thesis/simulation-2
    #[arg(value_name = "SCENARIO")]
    pub(crate) name: String,

    /// Change a value of the scenario, such as session.elm.strategy=naive; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,

    /// Treat warnings about the scenario (docs/lints.md) as errors: exit with status 1 before anything runs
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

/// Where a scenario runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum World {
    Simulated,
    Emulated,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// Where it runs: in the simulator, or between network namespaces of this machine with the kernel's TCP and in
    /// real time (docs/emulator.md)
    #[arg(long, value_name = "WORLD", value_enum, default_value_t = World::Simulated)]
    pub(crate) world: World,

    /// Of the emulated world: a replication in which more than 1 % of the packets are later than this is not valid
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    pub(crate) lateness: Duration,

    /// Number of replications [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Seed of all random numbers [default: from the scenario]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Write summary.json, series.parquet and report.html to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Record values over time in DIR/probes.parquet and plot them, such as 'link
    /// G1-G2:queue_packets,queue_bytes@10 ms' or 'flow elm@R1:level'; may be repeated
    #[arg(long = "probe", value_name = "OF:WHAT[@EVERY]", requires = "out")]
    pub(crate) probes: Vec<String>,

    /// Write what a link transmits to DIR/capture-A-B.pcap; LINK is A-B or B-A, DIRECTION forward
    /// (as LINK is written), backward or both; may be repeated
    #[arg(long = "capture", value_name = "LINK[:DIRECTION]", requires = "out")]
    pub(crate) captures: Vec<String>,

    /// The replication to capture
    #[arg(long, value_name = "N", default_value_t = 1, requires = "captures")]
    pub(crate) capture_replication: u32,

    /// Write every join, leave, level change and trace event of the receivers to DIR/notes.jsonl
    #[arg(long, requires = "out")]
    pub(crate) notes: bool,

    /// Print every statistic as comma-separated values in place of the table
    #[arg(long)]
    pub(crate) csv: bool,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Agree {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// Number of simulated replications [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Number of emulated replications, each as long as the scenario's duration; verdicts need three
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) emulated_replications: u32,

    /// How far the emulated value may be from the simulated one
    #[arg(long, value_name = "SHARE", default_value = "15 %", value_parser = crate::lab::agree::tolerance::tolerance, allow_negative_numbers = true)]
    pub(crate) tolerance: f64,

    /// A replication in which more than 1 % of the packets are later than this is not valid
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    pub(crate) lateness: Duration,

    /// Seed of all random numbers, the same for both worlds [default: from the scenario]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads of the simulated world [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Write agree.json and report.html to this directory, and the results of each world to DIR/simulated and
    /// DIR/emulated
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Emulate {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// Warn if more than 1 % of the packets are later than this
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    pub(crate) lateness: Duration,

    /// Do not show what links carry, nor how late packets were unless that was too late
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Commands to run at nodes
    #[arg(last = true, value_name = "at NODE COMMAND...")]
    pub(crate) commands: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Why {
    /// The directory that `run --out` wrote, or a summary.json
    #[arg(value_name = "RESULT")]
    pub(crate) result: PathBuf,

    /// The receiver as the tables name it, such as elm@R1, or the name of its node
    #[arg(value_name = "RECEIVER")]
    pub(crate) receiver: String,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// Give a key several values: a list, a linear range such as 5s..60s/12, or a geometric range such
    /// as 1..128*2. Every combination of the values of all keys is run; may be repeated
    #[arg(long = "vary", value_name = "KEY=V1,V2,...", required = true)]
    pub(crate) vary: Vec<String>,

    /// Report these metrics from summary.json, or probe averages, instead of throughput_kbps,
    /// loss_rate, level_changes, mean_level and jain_index; may be repeated
    #[arg(long = "metric", value_name = "NAME,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) metrics: Vec<String>,

    /// Number of replications of each combination [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Seed of all random numbers, the same for all combinations [default: from the scenario]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Run replications on the Dask cluster of this scheduler, such as tcp://host:8786, by the Python
    /// package of the same version
    #[arg(long, value_name = "ADDRESS", conflicts_with = "jobs")]
    pub(crate) on: Option<String>,

    /// Write sweep.json, sweep.parquet and report.html to this directory, and the state needed to
    /// resume to DIR/parts
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Print every statistic as comma-separated values in place of the table
    #[arg(long)]
    pub(crate) csv: bool,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// The protocols, in the order of the table; `layercast list --protocols` names them
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = trimmed, required = true)]
    pub(crate) protocols: Vec<String>,

    /// The session that runs each protocol in turn; may be repeated [default: all sessions]
    #[arg(long = "session", value_name = "NAME")]
    pub(crate) sessions: Vec<String>,

    /// Set an option of one of the protocols, such as rlc.sp_spacing='320 ms', or its layers,
    /// packet_size or ecn; may be repeated. Protocols other than the scenario's own use their defaults
    /// otherwise
    #[arg(long = "with", value_name = "PROTOCOL.OPTION=VALUE")]
    pub(crate) with: Vec<String>,

    /// Repeat the comparison with each of these in place of the scenario's TCP, such as
    /// tcp-reno,tcp-cubic, and print the shares in one table
    #[arg(long, value_name = "TCP,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) against: Vec<String>,

    /// The protocol that differences are given to [default: the best]
    #[arg(long, value_name = "NAME")]
    pub(crate) reference: Option<String>,

    /// Compare the protocols that can carry the scenario, and list the others with the reason
    #[arg(long)]
    pub(crate) skip_refused: bool,

    /// Number of replications of each protocol [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Seed of all random numbers, the same for all protocols [default: from the scenario]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Write compare.json and report.html to this directory, each protocol's own results to DIR/PROTOCOL, and
    /// those without multicast to DIR/without-multicast;
    /// with --against against.json and report.html, and each comparison to DIR/TCP
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Print every statistic as comma-separated values in place of the table
    #[arg(long, conflicts_with = "against")]
    pub(crate) csv: bool,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Show what can be set on this protocol, queue, traffic or table, such as elm, tcp-cubic, red or
    /// session; `keys` shows all tables of a scenario file, `lints` the warnings about one, `measures` what a suite may judge,
    /// `modes` which flags each mode of a command refuses, and why
    #[arg(value_name = "NAME", conflicts_with_all = ["scenarios", "protocols"])]
    pub(crate) name: Option<String>,

    /// Show the defaults of this profile only, such as ns2-2004 of a TCP
    #[arg(long, requires = "name")]
    pub(crate) profile: Option<String>,

    /// List the built-in scenarios only
    #[arg(long)]
    pub(crate) scenarios: bool,

    /// List the protocols only
    #[arg(long, conflicts_with = "scenarios")]
    pub(crate) protocols: bool,

    /// Print names only, one per line
    #[arg(long)]
    pub(crate) plain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
}

#[derive(Debug, Args)]
pub(crate) struct Explore {
    /// How many seeds to run
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) seeds: u64,

    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) from: u64,

    /// Run this seed again and print what happens, step by step
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: that of the processors]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,

    /// Do not show progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
