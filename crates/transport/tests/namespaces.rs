//! One file to receivers behind links of 3, 6 and 12 Mbit/s at once, through a snooping bridge.

#![allow(clippy::unwrap_used)]

mod lab;

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Rate, Size};
use layercast_protocols::registry::Protocol;
use layercast_transport::receive::{Known, ReceiveOptions, receive};
use layercast_transport::send::{Ends, SendOptions, send};

use lab::{Lab, ROLE};

const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 1, 2, 0), 5500);
const LINKS_MBPS: [u32; 3] = [3, 6, 12];

/// The roles of the program when a lab starts it again: `send FILE BASE_KBPS FACTOR COUNT`, `receive DIR`,
/// or `receive-full DIR` with a full directory. It prints a line per half second.
#[test]
#[ignore = "started by the other tests, in a namespace"]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let words: Vec<_> = role.split(' ').collect();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        flag.store(true, Ordering::Relaxed);
    });
    match words[..] {
        ["send", file, base, factor, count] => {
            let base = Rate::from_kbps(base.parse().unwrap());
            let layers = LayerTable::multiplicative(factor.parse().unwrap(), base, count.parse().unwrap());
            let options = SendOptions {
                group: GROUP,
                interface: None,
                feedback_port: 0,
                protocol: Protocol::named("elm").unwrap(),
                layers: layers.unwrap(),
                packet: Size::from_bytes(1000),
                ttl: 4,
                ends: Ends::default(),
                seed: None,
            };
            let outcome =
                send(Path::new(file), &options, &stop, &mut |_| {}, &mut |report| println!("{report:?}"));
            println!("SENT {outcome:?}");
        }
        ["receive", into] | ["receive-full", into] => {
            if words[0] == "receive-full" {
                // In a mount namespace of our own, which `ip netns exec` made.
                let mounted = std::process::Command::new("mount")
                    .args(["-t", "tmpfs", "-o", "size=64k", "none", into])
                    .status();
                assert!(mounted.unwrap().success());
            }
            let options = ReceiveOptions {
                known: Known::Group(GROUP, None),
                interface: None,
                into: PathBuf::from(into),
                replace: true,
                patience: Duration::from_secs(20),
                within: None,
                protocol_options: Vec::new(),
                seed: None,
            };
            let mut last = 0.0f64;
            let mut print = |report: &layercast_transport::receive::ReceiveProgress| {
                let at = report.elapsed.as_secs_f64();
                if at - last >= 0.4 {
                    println!(
                        "AT {at:.1} LEVEL {} GOODPUT {:.0} SYMBOLS {}/{} LOSS {:.4}",
                        report.estimates.level,
                        report.goodput_bps,
                        report.symbols.1,
                        report.symbols.0,
                        report.estimates.loss.unwrap_or(0.0)
                    );
                    last = at;
                }
            };
            match receive(&options, &stop, &mut print) {
                Ok((path, report)) => {
                    println!("RECEIVED {} IN {:.1} {report:?}", path.display(), report.elapsed.as_secs_f64())
                }
                Err(error) => println!("FAILED {error}"),
            }
        }
        _ => panic!("no such role: {role}"),
    }
}

/// A directory that is removed when it is dropped.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> TempDir {
        let path = std::env::temp_dir().join(format!("layercast-lab-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Receiver {
    child: Child,
    log: PathBuf,
    into: PathBuf,
}

fn receiver(lab: &Lab, temp: &TempDir, namespace: usize, name: &str) -> Receiver {
    let (into, log) = (temp.0.join(name), temp.0.join(format!("{name}.log")));
    fs::create_dir_all(&into).unwrap();
    let child = lab.start(&namespace.to_string(), &format!("receive {}", into.display()), &log);
    Receiver { child, log, into }
}

impl Receiver {
    /// Waits until it has the file, and compares.
    fn finish(mut self, data: &[u8], until: Instant) -> Vec<f64> {
        while self.child.try_wait().unwrap().is_none() {
            let log = || fs::read_to_string(&self.log).unwrap();
            assert!(Instant::now() < until, "not complete: {}", log());
            thread::sleep(Duration::from_millis(200));
        }
        let log = fs::read_to_string(&self.log).unwrap();
        assert!(log.contains("RECEIVED"), "{log}");
        assert!(fs::read(self.into.join("file")).unwrap() == data, "the file differs");
        let rate = |line: &str| line.split(' ').nth(5)?.parse().ok();
        log.lines().filter(|line| line.starts_with("AT")).filter_map(rate).collect()
    }
}

/// Sends `length` bytes to three receivers, a fourth that joins later, and one that is killed and
/// started again. Returns each first receiver's goodput in bit/s over its last `last_s` seconds.
fn transfer(
    name: &str,
    length: usize,
    layers: &str,
    late: Duration,
    last_s: usize,
    within: Duration,
) -> Option<Vec<f64>> {
    let lab = Lab::new(&LINKS_MBPS)?;
    let temp = TempDir::new(name);
    let data: Vec<u8> = (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
    let file = temp.0.join("file");
    fs::write(&file, &data).unwrap();
    let until = Instant::now() + within;
    let source = lab.start("source", &format!("send {} {layers}", file.display()), &temp.0.join("send.log"));
    let receivers: Vec<_> =
        (0..3).map(|number| receiver(&lab, &temp, number, &format!("r{number}"))).collect();
    // A receiver that is killed and restarted later in the same directory.
    let mut killed = receiver(&lab, &temp, 2, "again");
    thread::sleep(late);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    assert!(killed.into.join("file.partial").exists(), "{}", fs::read_to_string(&killed.log).unwrap());
    let again = receiver(&lab, &temp, 2, "again");
    let late = receiver(&lab, &temp, 1, "late");
    let mut means = Vec::new();
    for one in receivers {
        let rates = one.finish(&data, until);
        let tail = &rates[rates.len().saturating_sub(2 * last_s)..];
        means.push(tail.iter().sum::<f64>() / tail.len().max(1) as f64);
    }
    again.finish(&data, until);
    late.finish(&data, until);
    drop(source);
    Some(means)
}

#[test]
fn three_links_late_comers_and_a_killed_one() {
    let within = Duration::from_secs(150);
    let Some(means) = transfer("small", 4_000_000, "512 2 5", Duration::from_secs(5), 5, within) else {
        return;
    };
    eprintln!("goodput over the last 5 s: {means:.0?} bit/s");
    // Each is at least at the level that fits half its link, and not above its link.
    for (mean, link) in means.iter().zip(LINKS_MBPS) {
        let link = f64::from(link) * 1e6;
        assert!((0.25 * link..=link).contains(mean), "{mean} of {link}: {means:?}");
    }
}

#[test]
fn errors_of_networks_and_disks_say_what_is_wrong() {
    let Some(lab) = Lab::new(&[10, 10]) else { return };
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

/// The large run of docs/transport.md: `LAYERS='128 1.3 20'` tries others than doubling ones.
#[test]
#[ignore = "some minutes"]
fn fifty_megabytes() {
    let layers = std::env::var("LAYERS").unwrap_or_else(|_| "128 2 8".to_owned());
    let within = Duration::from_secs(1200);
    let Some(means) = transfer("large", 50_000_000, &layers, Duration::from_secs(60), 60, within) else {
        return;
    };
    for (mean, link) in means.iter().zip(LINKS_MBPS) {
        println!(
            "{link} Mbit/s: {:.2} Mbit/s over the last 60 s, {:.0} %",
            mean / 1e6,
            mean / 1e4 / f64::from(link)
        );
    }
}

/// The three receivers alone, from 60 to 180 s, for comparison with `scenarios/transport/three-links.toml`.
#[test]
#[ignore = "some minutes"]
fn alone_for_three_minutes() {
    let layers = std::env::var("LAYERS").unwrap_or_else(|_| "128 2 8".to_owned());
    let Some(lab) = Lab::new(&LINKS_MBPS) else { return };
    let temp = TempDir::new("alone");
    let file = temp.0.join("file");
    fs::write(&file, vec![7; 250_000_000]).unwrap();
    let source = lab.start("source", &format!("send {} {layers}", file.display()), &temp.0.join("send.log"));
    let receivers: Vec<_> =
        (0..3).map(|number| receiver(&lab, &temp, number, &format!("r{number}"))).collect();
    thread::sleep(Duration::from_secs(182));
    for (mut one, link) in receivers.into_iter().zip(LINKS_MBPS) {
        one.child.kill().unwrap();
        one.child.wait().unwrap();
        let log = fs::read_to_string(&one.log).unwrap();
        let (mut count, mut goodput, mut level, mut loss) = (0.0, 0.0, 0.0, 0.0);
        for line in log.lines().filter(|line| line.starts_with("AT")) {
            let words: Vec<_> = line.split(' ').collect();
            let number = |index: usize| words[index].parse::<f64>().unwrap_or(-1.0);
            if (60.0..180.0).contains(&number(1)) {
                count += 1.0;
                goodput += number(5);
                level += number(3);
                loss += number(9);
            }
        }
        println!(
            "{link} Mbit/s: goodput {:.0} kbit/s, mean level {:.2}, loss believed {:.2} %",
            goodput / count / 1e3,
            level / count,
            loss / count * 100.0
        );
    }
    drop(source);
}
