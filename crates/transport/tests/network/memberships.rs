//! Joins and leaves over a snooping bridge: of dynamic layers as the protocol says, and how long leaves take.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::lab::transfer::{TempDir, receiver};
use crate::lab::{Lab, lab};

/// The channels that a receiver holds by its log.
fn held(log: &Path) -> BTreeSet<u32> {
    let mut held = BTreeSet::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        if let Some(channel) = line.strip_prefix("JOINED ").and_then(number) {
            held.insert(channel);
        } else if let Some(channel) = line.strip_prefix("LEFT ").and_then(number) {
            held.remove(&channel);
        }
    }
    held
}

/// The channels that the bridge forwards to a port, by its table.
fn forwarded(lab: &Lab, port: &str) -> BTreeSet<u32> {
    let table = lab.output("bridge", "bridge mdb show dev br0");
    let of_port = table.lines().filter(|line| line.contains(&format!("port {port} ")));
    let group = |line: &str| line.split("grp 239.1.2.").nth(1)?.split(' ').next()?.parse().ok();
    of_port.filter_map(group).collect()
}

/// What has arrived at a receiver's interface, in bytes.
fn arrived(lab: &Lab, namespace: &str) -> f64 {
    lab.output(namespace, "cat /sys/class/net/up0/statistics/rx_bytes").trim().parse().unwrap()
}

/// The number after a word in the last line that has it.
fn last_number(log: &Path, word: &str) -> f64 {
    let text = fs::read_to_string(log).unwrap();
    let line = text.lines().rfind(|line| line.contains(word));
    let number = line.and_then(|line| line.split(word).nth(1)?.trim().split(' ').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("no {word} in {text}"))
}

/// Bytes that arrived at a receiver's interface, and those that it has taken by its log.
struct Counted {
    arrived: f64,
    taken: f64,
}

/// Both at once: just after a line of the log, whose lines are half a second apart. A look that a busy machine delayed does not count, as the
/// two would be of different times.
fn counted(lab: &Lab, log: &Path) -> Counted {
    let mut before = last_number(log, " BYTES ");
    let until = Instant::now() + Duration::from_secs(5);
    let mut looked = Instant::now();
    loop {
        let taken = last_number(log, " BYTES ");
        if taken > before || Instant::now() > until {
            let arrived = arrived(lab, "0");
            if looked.elapsed() < Duration::from_millis(200) || Instant::now() > until {
                return Counted { arrived, taken };
            }
            before = taken;
        }
        looked = Instant::now();
        thread::sleep(Duration::from_millis(10));
    }
}

/// Each protocol with dynamic layers: what it says that it holds is what the bridge forwards, and nothing else
/// arrives.
#[test]
fn joins_and_leaves_of_dynamic_layers_reach_the_bridge() {
    let Some(lab) = lab(&[6]) else { return };
    for control in ["flid-dl", "webrc", "tide"] {
        let temp = TempDir::new(control);
        let file = temp.0.join("file");
        fs::write(&file, vec![7; 50_000_000]).unwrap();
        let role = format!("send {} 200 1.5 8 {control}", file.display());
        let source = lab.start("source", &role, &temp.0.join("send.log"));
        let mut one = receiver(&lab, &temp, 0, "one");
        thread::sleep(Duration::from_secs(12));
        let before = counted(&lab, &one.log);
        // The bridge prunes a tenth of a second after a leave, the log is written a little after that, and what is read is not of one
        // instant: with a leave in each half second more than half of the looks agree. Without pruning hardly one would.
        let (mut agreed, mut looks) = (0, 0);
        let until = Instant::now() + Duration::from_secs(12);
        while Instant::now() < until {
            looks += 1;
            let held = held(&one.log);
            agreed += u32::from(!held.is_empty() && forwarded(&lab, "r0") == held);
            thread::sleep(Duration::from_millis(250));
        }
        assert!(
            2 * agreed >= looks,
            "{control}: {agreed} of {looks}: {:?} {:?}",
            held(&one.log),
            forwarded(&lab, "r0")
        );
        let text = fs::read_to_string(&one.log).unwrap();
        let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
        // WEBRC has slots of ten seconds.
        assert!(count("LEFT ") >= 2 && count("JOINED ") >= 5, "{control}: {text}");
        // Ethernet adds 14 bytes to packets of 1000, and a leave takes a tenth of a second.
        let after = counted(&lab, &one.log);
        let (arrived, taken) = (after.arrived - before.arrived, after.taken - before.taken);
        let ratio = arrived / taken;
        assert!((0.9..1.2).contains(&ratio), "{control}: {arrived} bytes arrived and {taken} were taken");
        one.child.kill().unwrap();
        one.child.wait().unwrap();
        drop(source);
        // The groups of the killed one are pruned before the next session uses them.
        thread::sleep(Duration::from_secs(2));
    }
}

/// The time that a leave takes, as the receiver measured it, in seconds.
fn measured(log: &Path, within: Duration) -> f64 {
    let until = Instant::now() + within;
    loop {
        let text = fs::read_to_string(log).unwrap();
        let shown = text.lines().rev().find_map(|line| line.split(" LEAVE ").nth(1)?.trim().parse().ok());
        if let Some(longest) = shown.filter(|&longest: &f64| longest >= 0.0) {
            return longest;
        }
        assert!(Instant::now() < until, "no leave was measured: {text}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// ELM leaves a layer that its path does not carry; the bridge prunes it as late as it is told to.
#[test]
fn the_time_that_leaves_take_is_measured() {
    for (interval_cs, least, most) in [(10, 0.0, 0.5), (120, 1.0, 2.0)] {
        let Some(lab) = lab(&[2]) else { return };
        lab.run("bridge", &format!("ip link set br0 type bridge mcast_last_member_interval {interval_cs}"));
        let temp = TempDir::new(&format!("leaves{interval_cs}"));
        let file = temp.0.join("file");
        fs::write(&file, vec![7; 50_000_000]).unwrap();
        let source =
            lab.start("source", &format!("send {} 700 2 3", file.display()), &temp.0.join("send.log"));
        let one = receiver(&lab, &temp, 0, "one");
        // What arrives after the bridge has pruned waits in a queue of a tenth of a second.
        let seconds = measured(&one.log, Duration::from_secs(90));
        assert!((least..most).contains(&seconds), "{seconds} s of {interval_cs} hundredths");
        drop(source);
    }
}
