//! The systemd units of the package and the files of arguments that they read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use layercast_testkit::skip::{Missing, skip};

use super::{scratch, text};

/// The units of services, each with the folder of its files of arguments and the example in it.
const SERVICES: &[(&str, &str)] = &[
    ("send", "packaging/config/send.conf"),
    ("receive", "packaging/config/receive.conf"),
    ("relay", "packaging/config/relay.conf"),
];

/// The first version that judges units which are not installed.
const OFFLINE: u32 = 250;

/// The highest exposure allowed, in tenths: `systemd-analyze` calls up to 2.0 "OK" and 10 is a service as root without any
/// restriction. What is left is that the services need the network.
const EXPOSURE: &str = "20";

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(project(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The folder of the units below a root of the test's own, with the tests' program in the place of the installed one.
fn units(root: &Path) -> Vec<PathBuf> {
    let folder = root.join("usr/lib/systemd/system");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let entries = fs::read_dir(project("packaging/systemd")).expect("there are units");
    let copy = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("it can be listed").path();
        let unit = fs::read_to_string(&path).expect("the unit is text");
        let copied = folder.join(path.file_name().expect("it has a name"));
        let unit = unit.replace("/usr/bin/layercast", env!("CARGO_BIN_EXE_layercast"));
        fs::write(&copied, unit).expect("the unit can be copied");
        copied
    };
    entries.map(copy).collect()
}

/// Runs `systemd-analyze`, or records that it is missing.
fn analyze(command: impl FnOnce(&mut Command)) -> Option<Output> {
    let mut analyze = Command::new("systemd-analyze");
    command(&mut analyze);
    let output = analyze.output();
    if let Err(error) = &output {
        skip(Missing::Systemd, format!("systemd-analyze: {error}"));
    }
    output.ok()
}

#[test]
fn systemd_reads_the_package_units() {
    let units = units(&scratch("units"));
    assert_eq!(units.len(), 5, "{units:?}");
    let Some(output) = analyze(|command| _ = command.args(["verify", "--man=no"]).args(&units)) else {
        return;
    };
    let said = text(&output.stderr);
    // The two keys of the back-off are new in version 254; those before say so and go on.
    let is_complaint =
        |line: &&str| !line.contains("Unknown key 'RestartSteps'") && !line.contains("'RestartMaxDelaySec'");
    let complaints: Vec<&str> = said.lines().filter(is_complaint).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn services_of_the_package_are_hardened() {
    let root = scratch("hardened");
    units(&root);
    let Some(version) = analyze(|command| _ = command.arg("--version")) else { return };
    let version: u32 =
        text(&version.stdout).split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    if version < OFFLINE {
        return skip(Missing::Systemd, format!("version {version} judges installed units only"));
    }
    for (name, _) in SERVICES {
        let output = analyze(|command| {
            let root = format!("--root={}", root.display());
            command.args(["security", "--offline=true", "--threshold", EXPOSURE, "--no-pager", &root]);
            command.arg(format!("layercast-{name}@example.service"));
        });
        let output = output.expect("its version was just asked for");
        let judged = text(&output.stdout);
        assert!(judged.contains("Overall exposure level"), "{output:?}");
        assert_eq!(output.status.code(), Some(0), "{judged}");
    }
}

#[test]
fn examples_of_arguments_are_those_of_the_program() {
    for (name, example) in SERVICES {
        let conf = read(example);
        let line = conf.lines().find_map(|line| line.strip_prefix("ARGUMENTS='")?.strip_suffix('\''));
        let arguments = line.unwrap_or_else(|| panic!("{example} sets no ARGUMENTS"));
        // With --help the program reads the arguments before it and does nothing.
        let mut words = vec![*name];
        words.extend(arguments.split('"').enumerate().flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().collect::<Vec<_>>(),
            _ => vec![part],
        }));
        words.push("--help");
        let output = super::run(&words);
        assert_eq!(output.status.code(), Some(0), "{example}: {}", text(&output.stderr));
    }
}

#[test]
fn units_use_the_paths_of_the_package() {
    let manifest = read("crates/cli/Cargo.toml");
    assert!(manifest.contains("[\"target/release/layercast\", \"usr/bin/\""));
    for (name, example) in SERVICES {
        let service = read(&format!("packaging/systemd/layercast-{name}@.service"));
        let has = |line: String| assert!(service.lines().any(|found| found == line), "{name} lacks {line}");
        has(format!("ExecStart=/usr/bin/layercast {name} $ARGUMENTS"));
        has(format!("EnvironmentFile=/etc/layercast/{name}/%i.conf"));
        let installed = format!("[\"../../{example}\", \"etc/layercast/{name}/example.conf\", \"644\"]");
        assert!(manifest.contains(&installed), "the package lacks {installed}");
    }
}
