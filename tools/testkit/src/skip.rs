//! Tests that cannot run here: recorded, so that nobody takes them for passed, and failed where they must run.
//!
//! `make test` names a file in `LAYERCAST_SKIPPED`, clears it at its start and prints it at its end. With
//! `LAYERCAST_REQUIRE=netns,tshark` (or `all`), a test that lacks one of these fails instead. Tests that take minutes
//! run with `LAYERCAST_LONG=1` alone.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

/// The environment variable with what must be there, separated by commas.
pub const REQUIRE: &str = "LAYERCAST_REQUIRE";

/// The environment variable with the file to which each skipped test adds a line.
pub const SKIPPED: &str = "LAYERCAST_SKIPPED";

/// The environment variable that asks for tests that take minutes.
pub const LONG: &str = "LAYERCAST_LONG";

/// What a test can lack on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Multicast on the loopback interface.
    Multicast,
    /// Network namespaces, which need root and iproute2.
    Netns,
    /// nftables' `nft`.
    Nft,
    /// Wireshark's `tshark`.
    Tshark,
    /// ns-2 2.35.
    Ns2,
    /// Valgrind.
    Valgrind,
    /// What reads manual pages: mandoc, or man-db's `man`.
    Man,
    /// A shell for which there are completions: bash, zsh or fish.
    Shell,
    /// `systemd-analyze`, which checks units.
    Systemd,
    /// Python of at least 3.10 with venv and the packages of the tests: checked by `tools/python.sh`.
    Python,
    /// A wish for tests that take minutes: [`LONG`].
    Long,
}

impl Missing {
    /// All of them.
    pub const ALL: [Missing; 11] = [
        Missing::Multicast,
        Missing::Netns,
        Missing::Nft,
        Missing::Tshark,
        Missing::Ns2,
        Missing::Valgrind,
        Missing::Man,
        Missing::Shell,
        Missing::Systemd,
        Missing::Python,
        Missing::Long,
    ];

    /// The word for it in [`REQUIRE`] and in the list of skipped tests.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Missing::Multicast => "multicast",
            Missing::Netns => "netns",
            Missing::Nft => "nft",
            Missing::Tshark => "tshark",
            Missing::Ns2 => "ns2",
            Missing::Valgrind => "valgrind",
            Missing::Man => "man",
            Missing::Shell => "shell",
            Missing::Systemd => "systemd",
            Missing::Python => "python",
            Missing::Long => "long",
        }
    }
}

/// Records that the calling test does not run here, and why. The test returns afterwards.
///
/// # Panics
/// When [`REQUIRE`] says that this must be there or has an unknown word, and when the record cannot be written.
pub fn skip(missing: Missing, why: impl Display) {
    let list = std::env::var(REQUIRE).unwrap_or_default();
    let must_run = is_required(&list, missing).unwrap_or_else(|error| panic!("{error}"));
    let word = missing.word();
    assert!(!must_run, "{REQUIRE}={list} does not allow to skip this test: {word} is missing: {why}");
    // Cargo names the package; many have a program `all`.
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let test = test_name(&package, thread::current().name().unwrap_or("?"));
    let line = line(missing, &test, &why.to_string());
    // Around the test harness, which would keep it to itself.
    let _ = write!(io::stderr(), "SKIPPED {line}");
    if let Some(path) = std::env::var_os(SKIPPED).map(PathBuf::from) {
        append(&path, &line).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }
}

/// Whether tests run that take minutes. If not, records that the calling test leaves out `what`.
///
/// # Panics
/// As [`skip`].
pub fn runs_long(what: impl Display) -> bool {
    if !is_long() {
        skip(Missing::Long, format!("{what}: {LONG}=1 runs them"));
    }
    is_long()
}

/// Of how many cases, seeds or members a test is made that has many: of `all` with [`LONG`], of one in 32 otherwise.
#[must_use]
pub fn cases(all: u32) -> u32 {
    if is_long() { all } else { all.div_ceil(32) }
}

fn is_long() -> bool {
    std::env::var_os(LONG).is_some_and(|value| value == "1")
}

/// Whether a list of words has this one. An unknown word is an error: a misspelt one would require nothing.
fn is_required(list: &str, missing: Missing) -> Result<bool, String> {
    let words = || list.split(',').map(str::trim).filter(|word| !word.is_empty());
    let is_known = |word: &str| word == "all" || Missing::ALL.iter().any(|known| known.word() == word);
    if let Some(unknown) = words().find(|word| !is_known(word)) {
        let known = Missing::ALL.map(Missing::word).join(", ");
        return Err(format!("{REQUIRE} has {unknown:?}; it can have all, {known}"));
    }
    Ok(words().any(|word| word == "all" || word == missing.word()))
}

/// `PACKAGE::TEST`, without the project's name.
fn test_name(package: &str, test: &str) -> String {
    let name = package.strip_prefix("layercast-").unwrap_or(package);
    format!("{name}::{test}")
}

/// What is printed and stored, with its end.
fn line(missing: Missing, test: &str, why: &str) -> String {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{test} ({}): {why}\n", missing.word())
}

/// Adds a line in one write, so that lines of several tests stay whole.
fn append(path: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_requirement_names_what_must_be_there() {
        assert_eq!(is_required("", Missing::Netns), Ok(false));
        assert_eq!(is_required("tshark, netns", Missing::Netns), Ok(true));
        assert_eq!(is_required("tshark,netns", Missing::Ns2), Ok(false));
        for missing in Missing::ALL {
            assert_eq!(is_required("all", missing), Ok(true));
            assert_eq!(is_required(missing.word(), missing), Ok(true));
        }
        let error = is_required("netns,ns-2", Missing::Netns).unwrap_err();
        assert!(error.starts_with("LAYERCAST_REQUIRE has \"ns-2\"; it can have all, multicast,"), "{error}");
    }

    #[test]
    fn a_test_is_named_after_its_package() {
        assert_eq!(
            test_name("layercast-transport", "loopback::a_transfer"),
            "transport::loopback::a_transfer"
        );
        assert_eq!(test_name("layercast", "first_steps"), "layercast::first_steps");
    }

    #[test]
    fn each_skip_adds_one_line() {
        let path = std::env::temp_dir().join(format!("layercast-skip-{}.txt", std::process::id()));
        let _ = fs::remove_file(&path);
        append(&path, &line(Missing::Netns, "a::b", "no root\n here")).unwrap();
        append(&path, &line(Missing::Ns2, "c::d", "none")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a::b (netns): no root here\nc::d (ns2): none\n");
        fs::remove_file(path).unwrap();
    }
}
