//! A kill leaves nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::linux::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use layercast_core::units::{Rate, Time};

use crate::lab::{line, slow_link};

/// The environment variable with which this program starts itself as the one that is killed.
const ROLE: &str = "LAYERCAST_EMULATOR_VICTIM";

/// The network namespaces in which processes are.
fn namespaces() -> BTreeSet<u64> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let of = |path: &Path| fs::metadata(path.join("ns/net")).ok().map(|namespace| namespace.st_ino());
    processes.filter_map(|process| of(&process.path())).collect()
}

/// Plays the one that is killed: hosts with a process, a child of it that has detached itself, and a network that
/// runs. Prints what must go.
#[test]
fn victim() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let Some((mut emulation, hosts)) = line(slow_link(Rate::from_mbps(10.0), 5), 1) else {
        println!("\nSKIP");
        return;
    };
    let mut children = Vec::new();
    for host in &hosts {
        let mut command = Command::new("sh");
        command.args(["-c", "setsid sleep 1000 & exec sleep 1000"]).stdin(Stdio::null());
        let child = host.spawn(command).unwrap();
        let inode = fs::metadata(host.path()).unwrap().st_ino();
        println!("\nPROCESS {} NAMESPACE {inode}", child.id());
        children.push(child);
    }
    println!("\nREADY");
    emulation.run_until(Time::from_secs_f64(1000.0)).unwrap();
    children.iter_mut().for_each(|child| drop(child.wait()));
}

#[test]
fn nothing_remains_after_a_kill() {
    let program = std::env::current_exe().unwrap();
    let mut victim = Command::new(program)
        .args(["--exact", "kill::victim", "--nocapture"])
        .env(ROLE, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let (mut processes, mut inodes) = (Vec::new(), Vec::new());
    for text in BufReader::new(victim.stdout.take().unwrap()).lines() {
        let text = text.unwrap();
        let words: Vec<&str> = text.split(' ').collect();
        match words[..] {
            ["PROCESS", process, "NAMESPACE", inode] => {
                processes.push(process.to_owned());
                inodes.push(inode.parse::<u64>().unwrap());
            }
            ["READY"] => break,
            // It has said why.
            ["SKIP"] => {
                victim.wait().unwrap();
                return;
            }
            _ => {}
        }
    }
    assert_eq!(processes.len(), 2);
    let before = namespaces();
    assert!(inodes.iter().all(|inode| before.contains(inode)), "the processes are in their namespaces");
    victim.kill().unwrap();
    victim.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let after = namespaces();
        let gone = inodes.iter().all(|inode| !after.contains(inode))
            && processes.iter().all(|process| !Path::new("/proc").join(process).exists());
        if gone {
            return;
        }
        assert!(Instant::now() < deadline, "{processes:?} or namespaces {inodes:?} remain");
        std::thread::sleep(Duration::from_millis(20));
    }
}
