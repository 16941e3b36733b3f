//! Receivers as child processes, and the transfer of a file to several of them.

use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use super::Lab;

/// The links of three receivers.
pub(crate) const LINKS_MBPS: [u32; 3] = [3, 6, 12];

/// A directory that is removed when it is dropped.
pub(crate) struct TempDir(pub(crate) PathBuf);

impl TempDir {
    pub(crate) fn new(name: &str) -> TempDir {
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

/// A receiver in a namespace.
pub(crate) struct Receiver {
    pub(crate) child: Child,
    /// What it prints.
    pub(crate) log: PathBuf,
    into: PathBuf,
}

/// Starts a receiver with a directory and a log of its own.
pub(crate) fn receiver(lab: &Lab, temp: &TempDir, namespace: usize, name: &str) -> Receiver {
    let (into, log) = (temp.0.join(name), temp.0.join(format!("{name}.log")));
    fs::create_dir_all(&into).unwrap();
    let child = lab.start(&namespace.to_string(), &format!("receive {}", into.display()), &log);
    Receiver { child, log, into }
}

/// The same of a group, from a source if that is an address.
pub(crate) fn receiver_of(
    lab: &Lab,
    temp: &TempDir,
    namespace: usize,
    group: &str,
    source: &str,
) -> Receiver {
    let (into, log) =
        (temp.0.join(format!("into{namespace}")), temp.0.join(format!("receive{namespace}.log")));
    fs::create_dir_all(&into).unwrap();
    let role = format!("receive-from {group} {source} {}", into.display());
    Receiver { child: lab.start(&namespace.to_string(), &role, &log), log, into }
}

/// What a receiver needed for the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    /// From its start until the file was whole, in seconds.
    pub(crate) took_s: f64,
    /// Its goodput in bit/s at the end.
    pub(crate) goodput_bps: f64,
}

impl Receiver {
    /// Waits until it has the file, and compares. `last_s` is the time over which its goodput is averaged.
    pub(crate) fn finish(mut self, data: &[u8], until: Instant, last_s: usize) -> Finished {
        while self.child.try_wait().unwrap().is_none() {
            let log = || fs::read_to_string(&self.log).unwrap();
            assert!(Instant::now() < until, "not complete: {}", log());
            thread::sleep(Duration::from_millis(200));
        }
        let log = fs::read_to_string(&self.log).unwrap();
        assert!(log.contains("RECEIVED"), "{log}");
        assert!(fs::read(self.into.join("file")).unwrap() == data, "the file differs");
        let rate = |line: &str| line.split(' ').nth(5)?.parse().ok();
        let rates: Vec<f64> = log.lines().filter(|line| line.starts_with("AT")).filter_map(rate).collect();
        let tail = &rates[rates.len().saturating_sub(2 * last_s)..];
        let took = log.lines().find_map(|line| line.strip_prefix("RECEIVED IN ")?.split(' ').next());
        Finished {
            took_s: took.and_then(|seconds| seconds.parse().ok()).unwrap(),
            goodput_bps: tail.iter().sum::<f64>() / tail.len().max(1) as f64,
        }
    }
}

/// Sends `length` bytes to three receivers, a fourth that joins later, and one that is killed and
/// started again. Returns what the first three needed, then the restarted one and the late one; goodput is that
/// over the last `last_s` seconds.
pub(crate) fn transfer(
    lab: &Lab,
    name: &str,
    length: usize,
    layers: &str,
    late: Duration,
    last_s: usize,
    within: Duration,
) -> Vec<Finished> {
    let sending = Sending::start(lab, name, length, layers);
    let Sending { temp, data, .. } = &sending;
    let until = Instant::now() + within;
    let receivers = sending.three(lab);
    // A receiver that is killed and restarted later in the same directory.
    let mut killed = receiver(lab, temp, 2, "again");
    thread::sleep(late);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    assert!(killed.into.join(".layercast").exists(), "{}", fs::read_to_string(&killed.log).unwrap());
    let again = receiver(lab, temp, 2, "again");
    let late = receiver(lab, temp, 1, "late");
    let all = receivers.into_iter().chain([again, late]);
    all.map(|one| one.finish(data, until, last_s)).collect()
}

/// Sends `length` bytes to three receivers that start together, and to no others. Returns what each needed.
pub(crate) fn transfer_to_three(
    lab: &Lab,
    name: &str,
    length: usize,
    layers: &str,
    last_s: usize,
    within: Duration,
) -> Vec<Finished> {
    let sending = Sending::start(lab, name, length, layers);
    let until = Instant::now() + within;
    sending.three(lab).into_iter().map(|one| one.finish(&sending.data, until, last_s)).collect()
}

/// Sends `length` bytes in parts to a receiver that is killed twice and to one that stays, through a restart of the source.
pub(crate) fn transfer_of_parts(lab: &Lab, length: usize, layers: &str, within: Duration) {
    let mut sending = Sending::start_as("send-parts", lab, "parts", length, layers);
    let until = Instant::now() + within;
    let stays = receiver(lab, &sending.temp, 0, "stays");
    for again in 0..3 {
        let mut killed = receiver(lab, &sending.temp, 1, "again");
        let own = killed.into.join(".layercast");
        let records = || {
            let own = fs::read_dir(&own).into_iter().flatten().flatten();
            own.filter(|entry| entry.path().extension().is_some_and(|end| end == "symbols")).count()
        };
        while records() < 2 && killed.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "{}", fs::read_to_string(&killed.log).unwrap());
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(1500));
        killed.child.kill().unwrap();
        killed.child.wait().unwrap();
        if again == 1 {
            sending.source.kill().unwrap();
            sending.source.wait().unwrap();
            sending.source = lab.start("source", &sending.role, &sending.temp.0.join("again.log"));
        }
    }
    let again = receiver(lab, &sending.temp, 1, "again");
    for one in [again, stays] {
        let into = one.into.clone();
        one.finish(&sending.data, until, 1);
        assert_eq!(fs::read_dir(into).unwrap().count(), 1, "no partial file and no record are left");
    }
}

/// A source that sends until this is dropped.
struct Sending {
    source: Child,
    role: String,
    data: Vec<u8>,
    temp: TempDir,
}

impl Sending {
    fn start(lab: &Lab, name: &str, length: usize, layers: &str) -> Sending {
        Sending::start_as("send", lab, name, length, layers)
    }

    fn start_as(role: &str, lab: &Lab, name: &str, length: usize, layers: &str) -> Sending {
        let temp = TempDir::new(name);
        let data: Vec<u8> =
            (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
        let file = temp.0.join("file");
        fs::write(&file, &data).unwrap();
        let role = format!("{role} {} {layers}", file.display());
        let source = lab.start("source", &role, &temp.0.join("send.log"));
        Sending { source, role, data, temp }
    }

    fn three(&self, lab: &Lab) -> Vec<Receiver> {
        (0..3).map(|number| receiver(lab, &self.temp, number, &format!("r{number}"))).collect()
    }
}
