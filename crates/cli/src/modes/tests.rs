//! Each flag of each command in each mode: refused with its reason, or seen in what the mode gets.

#![cfg(all(feature = "emulator", target_os = "linux"))]

use std::ffi::OsString;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use clap::{Arg, ArgAction, CommandFactory as _};
use layercast_delivery::announce::describing::{Size, describe};
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_protocols::registry::Protocol;

use super::*;
use crate::command_line::{Arguments, Command as Parsed, checked, modes as text_of_all, read};
use crate::emulator::Command as Emulator;
use crate::emulator::endpoint::{ENDPOINT, plan};
use crate::lab::{Command as Lab, EXPLORE, RUN};
use crate::net::{Command as Net, RECEIVE, RELAY, ReceiveConfig, RelayConfig, SEND, SendConfig};

const GROUP: &str = "239.1.2.0:5500";

/// Calls a macro with each table.
macro_rules! each_table {
    ($call:ident) => {
        $call!(SEND);
        $call!(RECEIVE);
        $call!(RELAY);
        $call!(RUN);
        $call!(EXPLORE);
        $call!(ENDPOINT);
    };
}

/// The files that flags name.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("layercast-modes-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("a file");
        let key = |made: KeyFile, name: &str| write(name, made.to_text().to_string());
        let secret = KeyFile::secret(SecretKey::from_seed(&[7; 32]), "secret").expect("a key");
        key(secret.public_half().expect("its public half"), "public");
        key(secret, "secret");
        key(KeyFile::group(GroupKey::from_seed(&[7; 32]), "group").expect("a key"), "group");
        let Parsed::Lab(Lab::Emulator(Emulator::Endpoint(endpoint))) =
            read(base("endpoint", "source").words()).expect("a line").0.command
        else {
            unreachable!("an endpoint")
        };
        let session = plan(&endpoint).expect("a plan").session().expect("a session");
        let relays = ["192.0.2.9:5600".parse::<std::net::SocketAddr>().expect("an address")];
        let size = Size { files: 1, bytes: 1 };
        let described = describe(&session, 0, "name", None, 16, size, &relays).expect("a description");
        write("session.sdp", described.write().expect("its text"));
        folder
    })
}

fn path(name: &str) -> String {
    folder().join(name).display().to_string()
}

/// A command line: its command, and flags with their words.
#[derive(Clone, Debug)]
struct Line(&'static str, Vec<(String, Vec<String>)>);

impl Line {
    /// Sets a flag, in place of those that name the same.
    fn set(&self, flag: &str, words: Vec<String>) -> Line {
        let same: &[&str] = match flag {
            "named" | "group" | "session" if self.0 == "receive" => &["named", "group", "session"],
            "outputs" => &["into"],
            _ => &[],
        };
        let mut line = self.clone();
        line.1.retain(|(other, _)| other != flag && !same.contains(&other.as_str()));
        line.1.push((flag.to_owned(), words));
        line
    }

    fn with(&self, flag: &str) -> Line {
        self.set(flag, sample(self, flag)).besides(flag)
    }

    /// With a flag also next to those that name the same.
    fn and(&self, flag: &str) -> Line {
        let mut line = self.clone();
        line.1.retain(|(other, _)| other != flag);
        line.1.push((flag.to_owned(), sample(self, flag)));
        line.besides(flag)
    }

    /// With what clap asks for besides a flag.
    fn besides(self, flag: &str) -> Line {
        let line = self;
        match (line.0, flag) {
            ("run", "probes" | "captures" | "notes") => line.with("out"),
            ("run", "capture_replication") => line.with("captures"),
            _ => line,
        }
    }

    fn without(&self, flag: &str) -> Line {
        let mut line = self.clone();
        line.1.retain(|(other, _)| other != flag);
        // What clap asks for instead.
        match (self.0, flag) {
            ("receive", "group") => line.with("session"),
            ("relay", "sessions") => line.with("allow"),
            _ => line,
        }
    }

    fn has(&self, flag: &str) -> bool {
        self.1.iter().any(|(other, _)| other == flag)
    }

    fn words(&self) -> Vec<OsString> {
        let flags = self.1.iter().flat_map(|(_, words)| words);
        ["layercast", self.0].into_iter().map(OsString::from).chain(flags.map(OsString::from)).collect()
    }

    fn matches(&self) -> ArgMatches {
        let (_, matches) = read(self.words()).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        matches.subcommand().expect("a command").1.clone()
    }

    /// What the mode gets.
    fn configured(&self) -> String {
        let (arguments, matches) = read(self.words()).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let given = checked(&matches).unwrap_or_else(|error| panic!("{self:?}: {error:?}"));
        let stop = AtomicBool::new(false);
        match &arguments.command {
            Parsed::Net(Net::Send(send)) => text(SendConfig::<Protocol>::of(send, &given)),
            Parsed::Net(Net::Receive(receive)) => text(ReceiveConfig::of(receive, &given, &stop)),
            Parsed::Net(Net::Relay(relay)) => text(RelayConfig::of(relay, &given)),
            Parsed::Lab(Lab::Emulator(Emulator::Endpoint(endpoint))) => text(plan(endpoint)),
            // These have no options but their arguments.
            command => format!("{command:?}"),
        }
    }

    /// Why the whole program refuses it.
    fn refused(&self) -> String {
        let (_, matches) = read(self.words()).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        match checked(&matches) {
            Err(Failure::Input(text)) => text,
            other => panic!("{self:?}: {other:?}"),
        }
    }
}

fn text<T: Debug>(made: Result<T, Failure>) -> String {
    format!("{:?}", made.unwrap_or_else(|error| panic!("{error:?}")))
}

fn of_command(name: &str) -> Command {
    let mut whole = Arguments::command();
    whole.build();
    whole.find_subcommand(name).expect("a command").clone()
}

/// The line of a mode without flags that may be left out.
fn base(command: &'static str, mode: &str) -> Line {
    let flags: Vec<(&str, Vec<String>)> = match command {
        "endpoint" => {
            let pairs = [
                ("protocol", "elm"),
                ("layers", "100000,100000"),
                ("packet", "1000"),
                ("group", GROUP),
                ("source", "127.0.0.1"),
                ("feedback-port", "5501"),
                ("address", "127.0.0.1"),
                ("number", "1"),
                ("seed", "1"),
            ];
            let flag =
                |(name, value): (&'static str, &str)| (name, vec![format!("--{name}"), value.to_owned()]);
            let role = ("role", vec![mode.to_owned()]);
            let all = std::iter::once(role).chain(pairs.into_iter().map(flag));
            return Line(command, all.map(|(name, words)| (name.replace('-', "_"), words)).collect());
        }
        "send" => {
            let paths =
                if mode == "--stream" { vec!["a".to_owned(), "b".to_owned()] } else { vec!["a".to_owned()] };
            vec![("paths", paths), ("group", vec!["--group".to_owned(), GROUP.to_owned()])]
        }
        "receive" if mode == "flute://..." => {
            vec![
                ("named", vec!["flute://239.1.2.0:5500?tsi=1".to_owned()]),
                ("into", vec!["--into".into(), "d".into()]),
            ]
        }
        "receive" => vec![
            ("group", vec!["--group".to_owned(), GROUP.to_owned()]),
            ("into", vec!["--into".into(), "d".into()]),
        ],
        "relay" => vec![("sessions", vec![GROUP.to_owned()])],
        "run" => vec![("name", vec!["thesis/simulation-2".to_owned()])],
        _ => Vec::new(),
    };
    let line = Line(command, flags.into_iter().map(|(flag, words)| (flag.to_owned(), words)).collect());
    match (command, mode) {
        ("run", "--world emulated") => line.with("world"),
        ("explore", "--seed") => line.with("seed"),
        ("send" | "receive", "--stream") => line.with("stream"),
        ("send", "--reliable") => line.with("serve").with("reliable"),
        ("receive", "--reliable") => line.with("relays").with("reliable"),
        ("relay", "--parent") => line.with("parents"),
        ("relay", "--protocol") => line.with("parents").with("protocol"),
        _ => line,
    }
}

/// The words of a flag, with a value that is neither its default nor in a base line.
fn sample(line: &Line, flag: &str) -> Vec<String> {
    let command = of_command(line.0);
    let argument = command.get_arguments().find(|argument| argument.get_id() == flag).expect("a flag");
    let long = argument.get_long().map(|long| format!("--{long}"));
    if matches!(argument.get_action(), ArgAction::SetTrue) {
        return long.into_iter().collect();
    }
    let value = match (line.0, flag) {
        ("send", "control") => if line.has("reliable") { "nca" } else { "rlc" }.to_owned(),
        ("relay", "protocol") => if line.has("protocol") { "nca" } else { "amca" }.to_owned(),
        ("endpoint", "protocol") => "rlc".to_owned(),
        ("endpoint", "layers") => "200000,100000".to_owned(),
        ("send", "options") if line.has("reliable") => "alpha=0.25".to_owned(),
        ("endpoint", "options") | ("send", "options") => "dither=0.25".to_owned(),
        ("endpoint", "role") => {
            let is_receiver = line.words().iter().any(|word| word == "receiver");
            if is_receiver { "source" } else { "receiver" }.to_owned()
        }
        ("run", "probes" | "captures") => "A-B".to_owned(),
        ("run", "capture_replication") => "7".to_owned(),
        ("run", "world") if line.has("world") => "simulated".to_owned(),
        ("relay", "sessions") => "239.7.0.0:7000".to_owned(),
        ("endpoint", "packet") => "900".to_owned(),
        ("send", "group_key") | ("receive", "group_key") => path("group"),
        ("send", "key") => path("secret"),
        ("receive", "keys") => path("public"),
        ("receive", "session") => path("session.sdp"),
        ("receive", "named") if line.has("named") => "flute://239.1.2.0:5500?tsi=7".to_owned(),
        ("receive", "named") => format!("layercast://{GROUP}?source=192.0.2.1"),
        (_, "relays" | "parents" | "alternatives" | "amt" | "serve") => {
            if line.has(flag) { "127.0.0.8:7777" } else { "127.0.0.7:7777" }.to_owned()
        }
        ("receive", "into") => "e".to_owned(),
        (_, "packet") => "1000 bytes".to_owned(),
        (_, "factor" | "layers") => "3".to_owned(),
        ("send", "from" | "base") => "200 kbit/s".to_owned(),
        (_, "to") => "7 Mbit/s".to_owned(),
        (_, "rates") => "1 Mbit/s,2 Mbit/s".to_owned(),
        _ => any_value(argument),
    };
    long.into_iter().chain([value]).collect()
}

/// A value that the parser of a flag takes.
fn any_value(argument: &Arg) -> String {
    if let Some(last) = argument.get_possible_values().last() {
        return last.get_name().to_owned();
    }
    const VALUES: &[&str] = &[
        "7",
        "0.5",
        "7 s",
        "7 Mbit/s",
        "700 bytes",
        "127.0.0.7",
        "127.0.0.7:7777",
        "239.7.0.0:7000",
        "239.7.0.0/16",
        "x=7",
    ];
    let alone = Command::new("alone").no_binary_name(true).arg(argument.clone());
    let long = argument.get_long().map(|long| format!("--{long}"));
    let fits = |value: &&str| {
        let words = long.iter().cloned().chain([(*value).to_owned()]);
        alone.clone().try_get_matches_from(words).is_ok()
    };
    let found = VALUES.iter().copied().find(fits);
    found.unwrap_or_else(|| panic!("name a value of {} in `sample`", argument.get_id())).to_owned()
}

/// The lines of all modes of a table, each a base line in which a flag's needs are met.
fn lines<M: Copy + PartialEq>(
    table: &'static Table<M>,
) -> impl Iterator<Item = (usize, &'static Mode<M>, Line)> {
    table.modes.iter().enumerate().map(|(column, mode)| (column, mode, base(table.command, mode.name)))
}

fn check_rows<M: Copy + PartialEq>(table: &'static Table<M>) {
    let command = of_command(table.command);
    let ids = command.get_arguments().map(|argument| argument.get_id().as_str()).filter(|id| *id != "help");
    let ids: Vec<&str> = ids.collect();
    for id in &ids {
        let rows = table.rows.iter().filter(|row| row.flag == *id).count();
        assert_eq!(rows, 1, "`{}`: the flag `{id}` has {rows} rows in its table", table.command);
    }
    let is_known = |name: &str| ids.contains(&name) || table.facts.iter().any(|fact| fact.name == name);
    for row in table.rows {
        assert!(ids.contains(&row.flag), "`{}` has no flag `{}`", table.command, row.flag);
        assert_eq!(row.cells.len(), table.modes.len(), "{}", row.flag);
        let named = row.rules.iter().flat_map(|rule| rule.with.iter().chain(rule.without));
        named.for_each(|name| assert!(is_known(name), "{}: {name}", row.flag));
    }
    for argument in command.get_arguments() {
        let others = command.get_arg_conflicts_with(argument);
        assert!(others.is_empty(), "the table refuses, not clap: {argument}");
    }
    for (_, mode, line) in lines(table) {
        let given = table.given(&line.matches());
        assert!(table.mode(&given) == mode.mode, "{line:?}");
    }
}

fn check_cells<M: Copy + PartialEq>(table: &'static Table<M>) -> (usize, usize) {
    let (mut refused, mut used) = (0, 0);
    let names = Names::of(table);
    for (column, mode, line) in lines(table) {
        for row in table.rows {
            let with = line.with(row.flag);
            match row.cells[column] {
                Cell::Chooses => {
                    let chosen = table.mode(&table.given(&with.matches()));
                    assert!(chosen != mode.mode, "{with:?}");
                }
                Cell::Refused(Reason { why, instead }) => {
                    let flag = names.of_flag(row.flag);
                    let with = line.and(row.flag);
                    let text = with.refused();
                    let error = format!(
                        "error: {flag} cannot be used with `{} {}`: {why}\n  = help: {instead}",
                        table.command, mode.name
                    );
                    assert!(text.contains(&error), "{with:?}: {text}");
                    refused += 1;
                }
                Cell::Used if line.has(row.flag) && with.words() == line.words() => {
                    assert_eq!(row.flag, mode.by, "a flag of the base line has no other value");
                }
                Cell::Used => {
                    let needed = row.rules.iter().filter(|rule| rule.with.iter().all(|name| line.has(name)));
                    let needed = needed.filter_map(|rule| {
                        rule.without
                            .iter()
                            .copied()
                            .find(|name| table.rows.iter().any(|row| row.flag == *name))
                    });
                    let line = needed
                        .filter(|name| !line.has(name))
                        .fold(line.clone(), |line, name| line.with(name));
                    // A group of local scope is announced anyway.
                    let global = vec!["--group".to_owned(), "232.1.2.0:5500".to_owned()];
                    let line = if row.flag == "announce" { line.set("group", global) } else { line };
                    let (before, after) = (line.configured(), line.with(row.flag).configured());
                    assert!(before != after, "`{} {}` does not read {}", table.command, mode.name, row.flag);
                    used += 1;
                }
            }
        }
    }
    (refused, used)
}

fn check_rules<M: Copy + PartialEq>(table: &'static Table<M>) -> usize {
    let mut checked = 0;
    let names = Names::of(table);
    for (column, _, line) in lines(table) {
        for row in table.rows.iter().filter(|row| matches!(row.cells[column], Cell::Used)) {
            for rule in row.rules {
                let mut wrong = line.with(row.flag);
                for without in rule.without {
                    if wrong.has(without) {
                        wrong = wrong.without(without);
                    }
                    if (table.command, *without) == ("send", "described") {
                        wrong = wrong.with("no_announce");
                    }
                }
                for with in if rule.with.is_empty() { &[""][..] } else { rule.with } {
                    let wrong = if with.is_empty() { wrong.clone() } else { wrong.and(with) };
                    let text = wrong.refused();
                    let other = if with.is_empty() { names.all(rule.without) } else { names.of_flag(with) };
                    let what = if with.is_empty() { "needs" } else { "cannot be used with" };
                    let Reason { why, instead } = rule.reason;
                    let error = format!(
                        "error: {} {what} {other}: {why}\n  = help: {instead}",
                        names.of_flag(row.flag)
                    );
                    assert!(text.contains(&error), "{wrong:?}: {text}\n{error}");
                    checked += 1;
                }
            }
        }
    }
    checked
}

#[test]
fn every_flag_is_in_the_table_of_its_command_and_clap_refuses_nothing_beside_it() {
    macro_rules! check {
        ($table:expr) => {
            check_rows(&$table);
        };
    }
    each_table!(check);
}

#[test]
fn every_flag_is_refused_with_its_reason_or_seen_in_what_the_mode_gets() {
    let (mut refused, mut used, mut rules) = (0, 0, 0);
    macro_rules! check {
        ($table:expr) => {
            let (more_refused, more_used) = check_cells(&$table);
            refused += more_refused;
            used += more_used;
            rules += check_rules(&$table);
        };
    }
    each_table!(check);
    assert!(refused > 80 && used > 150 && rules > 30, "{refused} refused, {used} used, {rules} by others");
}

#[test]
fn all_refusals_come_at_once() {
    let line = base("send", "--reliable").with("follow").with("state").with("rounds").with("ttl");
    let text = line.refused();
    for flag in ["--follow", "--state", "--rounds", "--ttl"] {
        let error = format!("error: {flag} cannot be used with `send --reliable`: ");
        assert_eq!(text.matches(&error).count(), 1, "{text}");
    }
    assert!(text.contains("nothing is sent to groups"), "{text}");
}

#[test]
fn the_tables_are_listed_with_all_reasons() {
    let text = text_of_all();
    let of_reliable = text.split("  not with `send --reliable`:\n").nth(1).expect("its part");
    assert!(of_reliable.contains("--follow, --state\n      reliable sessions send each file once"), "{text}");
    assert!(text.contains("  --encrypt needs --group-key\n"), "{text}");
    assert!(!text.contains("endpoint"), "commands that are hidden stay so");
}
