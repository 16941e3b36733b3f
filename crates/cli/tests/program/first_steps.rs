//! The first steps of docs/transport.md, typed as they are printed there.

use std::fs;
use std::path::Path;
use std::process::Command;

use layercast_testkit::{Missing, skip};

use super::{scratch, text};

/// The blocks of commands in a section of a page.
fn commands(page: &str, section: &str) -> String {
    let start = page.find(&format!("\n## {section}\n")).expect("the section");
    let rest = &page[start + 4..];
    let section = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
    let blocks = section.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.collect()
}

/// A shell in namespaces of its own: devices and named network namespaces, so that none of them touches the machine's.
fn private_shell(script: &str) -> Command {
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "--net", "bash", "-e", "-c"]).arg(format!("mount -t tmpfs none /run\n{script}"));
    shell
}

#[test]
fn the_first_steps_work_as_printed() {
    let can =
        private_shell("ip netns add one && ip link add cable netns one type veth peer name plug").output();
    match can {
        Ok(output) if output.status.success() => {}
        Ok(output) => return skip(Missing::Netns, text(&output.stderr).trim()),
        Err(error) => return skip(Missing::Netns, error),
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/transport.md");
    let script = commands(&fs::read_to_string(page).expect("the page"), "First steps");
    assert!(script.contains("layercast send") && script.contains("layercast doctor"), "{script}");
    let directory = scratch("first-steps");
    let program = Path::new(env!("CARGO_BIN_EXE_layercast")).parent().expect("its folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = private_shell(&script)
        .current_dir(&directory)
        .env("PATH", format!("{}:{path}", program.display()))
        .output()
        .expect("a shell");
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{error}");
    // Each command did what the page says.
    for expected in [
        "photos\n  239.1.2.0:5500 from 10.9.0.1",
        "2 files in inbox: complete",
        "1 of 1 receivers complete",
        "the same",
    ] {
        assert!(out.contains(expected), "no {expected:?}: {out}{error}");
    }
    assert!(!out.contains("WRONG"), "{out}");
}
