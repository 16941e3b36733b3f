//! One file to receivers behind links of 3, 6 and 12 Mbit/s at once, through a snooping bridge.

#![allow(clippy::unwrap_used)]

mod lab;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use layercast_testkit::{Missing, skip};

use lab::transfer::{LINKS_MBPS, TempDir, transfer};
use lab::{Lab, ROLE};

/// The rate of the base layer.
const BASE_BPS: f64 = 512e3;

/// A lab of these links; none where that is not possible, and then the test is recorded as skipped.
fn lab(links_mbps: &[u32]) -> Option<Lab> {
    // A lab starts this program again, as the test `child`.
    match Lab::new(links_mbps, &["--ignored", "--exact", "child", "--nocapture"]) {
        Ok(lab) => Some(lab),
        Err(error) => {
            skip(Missing::Netns, error);
            None
        }
    }
}

#[test]
#[ignore = "started by the other tests, in a namespace"]
fn child() {
    if let Ok(role) = std::env::var(ROLE) {
        lab::child::play(&role);
    }
}

#[test]
fn three_links_late_comers_and_a_killed_one() {
    let Some(lab) = lab(&LINKS_MBPS) else { return };
    let within = Duration::from_secs(150);
    let layers = format!("{} 2 5", BASE_BPS / 1e3);
    let finished = transfer(&lab, "small", 4_000_000, &layers, Duration::from_secs(5), 5, within);
    let means: Vec<f64> = finished.iter().take(LINKS_MBPS.len()).map(|one| one.goodput_bps).collect();
    eprintln!("goodput over the last 5 s: {means:.0?} bit/s");
    // How high a receiver is in five seconds depends on when the machine let it run: the simulator's tests assert
    // levels. Here each is between the base layer, less headers and repair, and its link, and one climbs.
    for (mean, link) in means.iter().zip(LINKS_MBPS) {
        let link = f64::from(link) * 1e6;
        assert!((0.8 * BASE_BPS..=link).contains(mean), "{mean} of {link}: {means:?}");
    }
    assert!(means.iter().any(|&mean| mean > 1.6 * BASE_BPS), "no receiver left the base layer: {means:?}");
}

#[test]
fn errors_of_networks_and_disks_say_what_is_wrong() {
    let Some(lab) = lab(&[10, 10]) else { return };
    let temp = TempDir::new("errors");
    let file = temp.0.join("file");
    fs::write(&file, vec![7; 200_000]).unwrap();
    let role = format!("send {} 1000 2 2", file.display());
    let said = |namespace: &str, role: &str, name: &str| {
        let log = temp.0.join(name);
        let mut child = lab.start(namespace, role, &log);
        // Those that fail end by themselves.
        let until = Instant::now() + Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() && Instant::now() < until {
            thread::sleep(Duration::from_millis(50));
        }
        fs::read_to_string(log).unwrap()
    };
    // The bridge's namespace has no addresses, so no route.
    let log = said("bridge", &role, "no-route");
    assert!(log.contains("NoRoute"), "{log}");
    lab.run("1", "ip route add prohibit 239.1.2.0/24");
    let log = said("1", &role, "prohibited");
    assert!(log.contains("NoPermission"), "{log}");
    let log = said("1", &format!("receive {}", temp.0.display()), "prohibited-too");
    assert!(log.contains("FAILED no permission"), "{log}");

    let source = lab.start("source", &role, &temp.0.join("send.log"));
    let full = temp.0.join("full");
    fs::create_dir(&full).unwrap();
    let log = said("0", &format!("receive-full {}", full.display()), "full.log");
    assert!(log.contains("FAILED the disk is full"), "{log}");
    drop(source);
}
