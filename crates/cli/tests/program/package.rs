//! What a package installs next to the program: manual pages and completions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use layercast_testkit::skip::{Missing, skip};

use super::{run, scratch, text};

/// The commands that `--help` lists after these words.
fn listed(words: &[&str]) -> Vec<String> {
    let help = text(&run(&[words, &["--help"]].concat()).stdout);
    let Some((_, rest)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = rest.lines().take_while(|line| !line.is_empty());
    // A description that goes on in the next line stands further to the right.
    let names = lines.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The words of every command, the program's own (none) included.
fn commands() -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    for name in listed(&[]) {
        let parts = listed(&[&name]);
        found.extend(parts.into_iter().map(|part| vec![name.clone(), part]));
        found.push(vec![name]);
    }
    found
}

/// Writes the manual pages into a directory of the test's own.
fn pages(name: &str) -> PathBuf {
    let directory = scratch(name).join("man");
    let output = run(&["man", "--out", directory.to_str().expect("the path is text")]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    directory
}

fn paths(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory is there");
    entries.map(|entry| entry.expect("it can be listed").path()).collect()
}

/// Whether a program is installed.
fn is_there(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[test]
fn the_package_has_the_version_that_the_program_prints() {
    let output = run(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), format!("layercast {}\n", env!("CARGO_PKG_VERSION")));
    let changelog =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/debian/changelog"));
    let changelog = changelog.expect("the package has a changelog");
    let newest = format!("layercast ({}-1) ", env!("CARGO_PKG_VERSION"));
    assert!(changelog.starts_with(&newest), "packaging/debian/changelog does not begin with {newest}");
}

#[test]
fn every_command_has_a_manual_page_with_all_its_options() {
    let directory = pages("pages");
    let commands = commands();
    assert!(commands.len() > 10, "the commands were not found: {commands:?}");
    let mut expected = BTreeSet::new();
    for words in &commands {
        let file = format!("{}.1", [&["layercast".to_owned()], words.as_slice()].concat().join("-"));
        let page =
            fs::read_to_string(directory.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let page = page.replace("\\-", "-");
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let help = text(&run(&words).stdout);
        let flags = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
        for flag in flags.map(|flag| flag.trim_end_matches(|c: char| !c.is_alphanumeric())) {
            assert!(page.contains(flag), "{file} does not mention {flag}");
        }
        expected.insert(file);
    }
    let names =
        paths(&directory).iter().filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect();
    assert_eq!(expected, names, "pages of commands that --help does not list");
}

#[test]
fn readers_of_manual_pages_accept_them() {
    let pages = paths(&pages("lint"));
    if is_there("mandoc", &["-Tlint"]) {
        let output = Command::new("mandoc").args(["-Tlint", "-Wwarning"]).args(&pages).output();
        let said = text(&output.expect("mandoc starts").stdout);
        // The program does not know when it was released, and a date of the build would differ in every build.
        let complaints: Vec<&str> = said.lines().filter(|line| !line.contains("missing date")).collect();
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    } else {
        skip(Missing::Man, "mandoc is not installed");
    }
    if is_there("man", &["--version"]) {
        for page in &pages {
            let output = Command::new("man").arg("--warnings").arg("--local-file").arg(page).output();
            let output = output.expect("man starts");
            assert_eq!(
                (output.status.code(), text(&output.stderr)),
                (Some(0), String::new()),
                "{}",
                page.display()
            );
            assert!(text(&output.stdout).contains("SYNOPSIS"), "{}", page.display());
        }
    } else {
        skip(Missing::Man, "man is not installed");
    }
}

#[test]
fn pages_that_cannot_be_written_are_reported() {
    let file = scratch("no-directory").join("file");
    fs::write(&file, "").expect("the file can be written");
    let output = run(&["man", "--out", file.to_str().expect("the path is text")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nothing can be written to the directory"), "{output:?}");
}

/// The completions of a shell in a file.
fn completions(shell: &str) -> (PathBuf, String) {
    let output = run(&["completions", shell]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let script = text(&output.stdout);
    let path = scratch(&format!("completions-{shell}")).join("layercast");
    fs::write(&path, &script).expect("the script can be written");
    (path, script)
}

#[test]
fn shells_read_their_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let (path, script) = completions(shell);
        for name in listed(&[]) {
            assert!(script.contains(&name), "{shell} does not complete {name}");
        }
        assert!(!script.contains("endpoint"), "{shell} completes a command that --help does not list");
        if !is_there(shell, &["--version"]) {
            skip(Missing::Shell, format!("{shell} is not installed"));
            continue;
        }
        let read = Command::new(shell).arg("-n").arg(&path).output().expect("the shell starts");
        let said = (read.status.code(), text(&read.stdout), text(&read.stderr));
        assert_eq!(said, (Some(0), String::new(), String::new()), "{shell} does not read its completions");
    }
}

#[test]
fn bash_completes_words() {
    let (path, _) = completions("bash");
    if !is_there("bash", &["--version"]) {
        return skip(Missing::Shell, "bash is not installed");
    }
    let complete = |words: &str| {
        let script = "set -eu; source \"$1\"; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); \
                      last=${COMP_WORDS[COMP_CWORD]}; _layercast layercast \"$last\" \"\"; echo \"${COMPREPLY[*]}\"";
        let output =
            Command::new("bash").args(["--norc", "-c", script, "bash"]).arg(&path).arg(words).output();
        let output = output.expect("bash starts");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
        text(&output.stdout).trim().to_owned()
    };
    assert_eq!(complete("layercast rec"), "receive");
    assert_eq!(complete("layercast receive --pat"), "--patience");
    assert_eq!(complete("layercast completions f"), "fish");
}

#[test]
fn an_unknown_shell_is_refused() {
    let output = run(&["completions", "tcsh"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("[possible values: bash, zsh, fish]"), "{output:?}");
}
