//! A relay that sends on by multicast on its link: a source, by unicast alone, a relay, and a snooping bridge with two receivers.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::lab::lab;
use crate::lab::transfer::{TempDir, receiver_of};

/// Waits until a log has a line with these words after `from` bytes.
fn line_with(log: &Path, words: &str, from: usize, within: Duration) -> String {
    let until = Instant::now() + within;
    loop {
        let text = fs::read_to_string(log).unwrap();
        let rest = text.get(from..).unwrap_or_default();
        if let Some(line) = rest.lines().find(|line| line.contains(words)) {
            return line.to_owned();
        }
        assert!(Instant::now() < until, "no {words:?} in {text}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A file to two receivers, of which one is killed and comes back; then both are done, and no channel is held.
fn through_a_relay(name: &str, group: &str, source: &str, parent: &str) {
    let Some(lab) = lab(&[50, 50]) else { return };
    lab.add_origin();
    for (namespace, address) in [("0", "fd77::2"), ("1", "fd77::3")] {
        lab.run(namespace, "ip route add 10.78.0.0/24 via 10.77.0.1");
        lab.run(namespace, &format!("ip addr add {address}/64 dev up0 nodad"));
        lab.run(namespace, "ip route add fd78::/64 via fd77::1");
    }
    lab.run("origin", "ip route add 224.0.0.0/4 dev up0");
    // The bridge may be the querier of IPv6: reports of MLDv1 go to routers alone then.
    lab.run("bridge", "ip link set br0 type bridge mcast_mld_version 2");
    lab.run("bridge", "ip link set source type bridge_slave mcast_router 2");
    let temp = TempDir::new(name);
    let (file, log) = (temp.0.join("file"), temp.0.join("relay.log"));
    let data: Vec<u8> = (0..6_000_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(&file, &data).unwrap();
    let sender = lab.start("origin", &format!("serve {group} {}", file.display()), &temp.0.join("send.log"));
    let relay = lab.start("source", &format!("relay {group} {source} {parent} up0"), &log);
    line_with(&log, "READY", 0, Duration::from_secs(10));
    let one = receiver_of(&lab, &temp, 0, group, source);
    line_with(&log, "JOINED 0", 0, Duration::from_secs(10));
    let mut two = receiver_of(&lab, &temp, 1, group, source);
    line_with(&log, "hosts: 2", 0, Duration::from_secs(20));
    line_with(&log, "JOINED 1", 0, Duration::from_secs(20));
    // One of two leaves: the base channel stays.
    let length = fs::read_to_string(&log).unwrap().len();
    two.child.kill().unwrap();
    two.child.wait().unwrap();
    line_with(&log, "hosts: 1", length, Duration::from_secs(10));
    let between = fs::read_to_string(&log).unwrap();
    assert!(!between[length..].contains("LEFT 0"), "{between}");
    let two = receiver_of(&lab, &temp, 1, group, source);
    let until = Instant::now() + Duration::from_secs(90);
    let logs = [one.log.clone(), two.log.clone()];
    for one in [one, two] {
        one.finish(&data, until, 5);
    }
    for log in logs {
        // Reports went to the source itself.
        let text = fs::read_to_string(&log).unwrap();
        let done = text.lines().find(|line| line.contains("RECEIVED IN")).unwrap();
        assert!(done.contains("rtt: Some"), "{done}");
    }
    let last = line_with(&log, "LEFT 0", length, Duration::from_secs(10));
    assert_eq!(last, "LEFT 0");
    line_with(&log, "hosts: 0", fs::read_to_string(&log).unwrap().len(), Duration::from_secs(10));
    drop((relay, sender));
}

#[test]
fn any_source_multicast() {
    through_a_relay("local-any", "239.1.2.0", "any", "10.78.0.2:5600");
}

#[test]
fn source_specific_multicast() {
    through_a_relay("local-ssm", "232.1.2.0", "10.78.0.2", "10.78.0.2:5600");
}

#[test]
fn multicast_of_ipv6() {
    through_a_relay("local-v6", "ff15::1:200", "any", "[fd78::2]:5600");
}

#[test]
fn a_link_that_packets_come_from_is_refused() {
    let Some(lab) = lab(&[50]) else { return };
    let temp = TempDir::new("local-loop");
    let said = |local: &str| {
        let log = temp.0.join(format!("{local}.log"));
        let child = lab.start("source", &format!("relay 239.1.2.0 any none {local}"), &log);
        let line = line_with(&log, "RELAYED", 0, Duration::from_secs(10));
        drop(child);
        line
    };
    assert!(said("up0").contains("LocalIsUpstream"), "{}", said("up0"));
    assert!(said("nowhere").contains("NoSuchInterface"), "{}", said("nowhere"));
}
