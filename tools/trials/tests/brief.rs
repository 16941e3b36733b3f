//! Each trial in brief, with the command as tests are built with, which `make tools` builds first.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

use layercast_emulator::Error;
use layercast_testkit::{Missing, skip};
use layercast_trials::peers::{self, speed};
use layercast_trials::trial::{amca, crowd, forged, kills, links, losses, share, soak, storm};

fn out() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("trials")
}

/// The command, where there is one and the system permits what trials need.
fn program(needs_hosts: bool) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let program = target.join("debug/layercast");
    assert!(program.exists(), "there is no {}: `make tools` builds it", program.display());
    let made = layercast_emulator::Emulation::new(
        layercast_simulator::Network::new(),
        Vec::new(),
        layercast_emulator::Options::default(),
        1,
    );
    match made {
        Err(error @ (Error::Rights { .. } | Error::Tun { .. })) if needs_hosts => {
            skip(Missing::Netns, error);
            None
        }
        _ => Some(program),
    }
}

#[test]
fn hostile_packets_change_nothing() {
    let Some(program) = program(true) else { return };
    storm::run(&storm::Options::brief(program, out())).unwrap();
}

#[test]
fn transfers_survive_kills() {
    let Some(program) = program(false) else { return };
    kills::run(&kills::Options::brief(program, out())).unwrap();
}

#[test]
fn forged_packets_cost_little() {
    let Some(program) = program(true) else { return };
    forged::run(&forged::Options::brief(program, out())).unwrap();
}

#[test]
fn files_arrive_over_a_lossy_link() {
    let Some(program) = program(true) else { return };
    losses::run(&losses::Options::brief(program, out())).unwrap();
}

#[test]
fn faults_are_given_to_a_tool() {
    let Some(program) = program(true) else { return };
    peers::run(&peers::Options::brief(program, out())).unwrap();
}

#[test]
fn a_tool_is_timed() {
    let Some(program) = program(true) else { return };
    speed::run(&speed::Options::brief(program, out())).unwrap();
}

#[test]
fn hostile_packets_are_nothing_to_state_machines() {
    soak::run(&soak::Options::brief(out())).unwrap();
}

#[test]
fn receivers_behind_different_links_get_a_file() {
    let Some(program) = program(true) else { return };
    links::run(&links::Options::brief(program, out())).unwrap();
}

#[test]
fn a_crowd_does_not_notice_a_slow_one_and_one_that_comes_and_goes() {
    let Some(program) = program(true) else { return };
    crowd::run(&crowd::Options::brief(program, out())).unwrap();
}

#[test]
fn a_bottleneck_is_shared_with_the_kernels_tcp() {
    let Some(program) = program(true) else { return };
    let trials = Path::new(env!("CARGO_BIN_EXE_layercast-trials"));
    share::run(&share::Options::brief(program, out()), trials).unwrap();
}

#[test]
fn amca_runs_over_relays_that_take_part() {
    let Some(program) = program(true) else { return };
    amca::run(&amca::Options::brief(program, out())).unwrap();
}
