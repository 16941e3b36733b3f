//! The whole program: what it prints, where, its exit status, and the files that it leaves.
//!
//! The snapshots are what a user sees. After a change that is meant, look at the difference and run the
//! tests with `INSTA_UPDATE=always`.

#[cfg(all(feature = "transport", target_os = "linux"))]
mod active;
#[cfg(all(feature = "emulator", target_os = "linux"))]
mod agree;
mod command_line;
#[cfg(all(feature = "emulator", target_os = "linux"))]
mod emulate;
#[cfg(all(feature = "emulator", target_os = "linux"))]
mod emulated;
mod explain;
mod explore;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod first_steps;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod flute;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod hosts;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod key;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod objects;
mod package;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod packages;
mod pages;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod reception;
mod refusals;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod relay;
mod scoreboard;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod security;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod service;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod sessions;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod streams;
mod sweep;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod transfer;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod units;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod watch;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program in the folder of the tests' scenarios, with nothing of the developer's environment.
fn layercast(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercast"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"));
    command.env_remove("LAYERCAST_LOG").env_remove("COLUMNS").args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    layercast(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program speaks UTF-8")
}

/// An empty directory of a test's own.
fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("the directory for tests can be made");
    directory
}
