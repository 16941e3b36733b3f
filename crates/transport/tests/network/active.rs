//! Files in order over a tree of relays that take part, on the loopback interface.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use layercast_core::layers::LayerTable;
use layercast_core::stream::Stream;
use layercast_core::units::Rate;
use layercast_core::units::Size;
use layercast_delivery::protocols::{deployed, set_options};
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::Allowed;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_protocols::registry::Protocol;
use layercast_transport::Error;
use layercast_transport::active::{RouterOptions, relay};
use layercast_transport::receive::{Known, ReceiveOptions, ReceiveProgress, RelayUse, receive};
use layercast_transport::relay::{RelayStatus, ServeOptions};
use layercast_transport::send::{SendOptions, Sent, ServeUse, Stopped, send};

const LENGTH: usize = 600_000;

fn session() -> SessionKey {
    SessionKey { group: "239.255.73.2:5500".parse().unwrap(), source: None }
}

/// What a source and its receivers share.
#[derive(Clone, Default)]
struct Keys {
    group: Option<[u8; 32]>,
    signer: Option<[u8; 32]>,
}

/// A port that nobody uses now.
fn free() -> SocketAddr {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

fn content() -> Vec<u8> {
    let mut stream = Stream::new(4, "content");
    (0..LENGTH).map(|_| stream.bits() as u8).collect()
}

/// A path to `to` that loses packets in both directions, for one child.
struct LossyPath {
    at: SocketAddr,
    dropped: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl LossyPath {
    fn new(to: SocketAddr, loss: f64, seed: u64) -> LossyPath {
        let below = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let above = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        above.connect(to).unwrap();
        let at = below.local_addr().unwrap();
        let (dropped, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let child = Arc::new(std::sync::Mutex::new(None));
        for socket in [&below, &above] {
            socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        }
        let direction = |is_up: bool| {
            let (from, other) = if is_up { (&below, &above) } else { (&above, &below) };
            let (from, other, child) = (Arc::clone(from), Arc::clone(other), Arc::clone(&child));
            let (dropped, stop) = (Arc::clone(&dropped), Arc::clone(&stop));
            let mut stream = Stream::new(seed, if is_up { "up" } else { "down" });
            thread::spawn(move || {
                let mut room = [0; 2048];
                while !stop.load(Ordering::Relaxed) {
                    let Ok((length, source)) = from.recv_from(&mut room) else { continue };
                    if is_up {
                        *child.lock().unwrap() = Some(source);
                    }
                    if stream.chance(loss) {
                        dropped.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    let to = *child.lock().unwrap();
                    let _ = match to {
                        _ if is_up => other.send(&room[..length]),
                        Some(to) => other.send_to(&room[..length], to),
                        None => continue,
                    };
                }
            })
        };
        let threads = vec![direction(true), direction(false)];
        LossyPath { at, dropped, stop, threads }
    }

    /// How many packets it lost.
    fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        self.dropped.load(Ordering::Relaxed)
    }
}

type Running<T> = JoinHandle<Result<T, Error>>;

struct Tree {
    folder: Arc<tempfile::TempDir>,
    stop: Arc<AtomicBool>,
    stop_relays: Arc<AtomicBool>,
    relays: Vec<Running<RelayStatus>>,
    receivers: Vec<(Running<ReceiveProgress>, PathBuf)>,
    keys: Keys,
    protocol: &'static str,
    /// Options of the protocol.
    options: Vec<(String, String)>,
}

impl Tree {
    fn new(protocol: &'static str, options: &[(&str, &str)]) -> Tree {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Tree {
            folder: Arc::new(tempfile::tempdir().unwrap()),
            stop: Arc::default(),
            stop_relays: Arc::default(),
            relays: Vec::new(),
            receivers: Vec::new(),
            keys: Keys::default(),
            protocol,
            options: options.collect(),
        }
    }

    fn source(&self) -> (Running<Sent>, SocketAddr) {
        let (listen, file) = (free(), self.folder.path().join("a file"));
        fs::write(&file, content()).unwrap();
        let mut protocol: Protocol = deployed(self.protocol).unwrap();
        set_options(&mut protocol, &self.options).unwrap();
        let layers = LayerTable::between(Rate::from_mbps(1.0), Rate::from_mbps(1.0)).unwrap();
        let serve = ServeOptions {
            listen,
            allowed: Allowed { sessions: vec![session()], prefixes: Vec::new() },
            alternatives: Alternatives::default(),
            limits: Limits { children: 64, ..Limits::default() },
            highest: None,
        };
        let gather = Duration::from_millis(1500);
        let options = SendOptions {
            packet: Size::from_bytes(1400),
            serve: Some(ServeUse { serve, only: false, gather }),
            group_key: self.keys.group.as_ref().map(GroupKey::from_seed),
            encrypts: self.keys.group.is_some(),
            key: self.keys.signer.as_ref().map(SecretKey::from_seed),
            ..SendOptions::new(session().group, protocol, layers)
        };
        let stop = Arc::clone(&self.stop);
        (thread::spawn(move || send(&[file], &options, &stop, &mut |_| {})), listen)
    }

    fn relay(&mut self, parent: SocketAddr) -> SocketAddr {
        let listen = free();
        let options = RouterOptions {
            session: session(),
            protocol: self.protocol.to_owned(),
            listen,
            parents: vec![parent],
            children: 64,
            alternatives: Alternatives::default(),
        };
        let stop = Arc::clone(&self.stop_relays);
        self.relays.push(thread::spawn(move || relay(&options, &stop, &mut |_| {})));
        listen
    }

    fn receiver(&mut self, parent: SocketAddr) {
        let into = self.folder.path().join(format!("into-{}", self.receivers.len()));
        fs::create_dir_all(&into).unwrap();
        let options = ReceiveOptions {
            relays: RelayUse { relays: vec![parent], ..RelayUse::default() },
            is_routed: true,
            patience: Duration::from_secs(20),
            group_key: self.keys.group.as_ref().map(GroupKey::from_seed),
            keys: self
                .keys
                .signer
                .as_ref()
                .map(|seed| SecretKey::from_seed(seed).public())
                .into_iter()
                .collect(),
            ..ReceiveOptions::new(Known::Group(session().group, None), into.clone())
        };
        let stop = Arc::clone(&self.stop);
        self.receivers.push((thread::spawn(move || receive(&options, &stop, &mut |_| {})), into));
    }

    /// Waits for the end, at most so long. What each receiver, and the source, has done.
    fn end(mut self, source: Running<Sent>, most: Duration) -> (Vec<ReceiveProgress>, Sent) {
        let begin = Instant::now();
        while begin.elapsed() < most
            && !(source.is_finished() && self.receivers.iter().all(|(thread, _)| thread.is_finished()))
        {
            thread::sleep(Duration::from_millis(20));
        }
        self.stop.store(true, Ordering::Relaxed);
        let mut done = Vec::new();
        for (thread, into) in std::mem::take(&mut self.receivers) {
            done.push(thread.join().unwrap().unwrap());
            assert_eq!(fs::read(into.join("a file")).unwrap(), content(), "{}", into.display());
            assert_eq!(names(&into), ["a file"], "partial files are gone");
        }
        let sent = source.join().unwrap().unwrap();
        self.stop_relays.store(true, Ordering::Relaxed);
        for relay in std::mem::take(&mut self.relays) {
            relay.join().unwrap().unwrap();
        }
        (done, sent)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn a_file_comes_in_order_over_a_relay_and_over_two() {
    for protocol in ["amca", "nca"] {
        let mut tree = Tree::new(protocol, &[]);
        let (source, at) = tree.source();
        let first = tree.relay(at);
        let second = tree.relay(first);
        for parent in [first, first, second, second] {
            tree.receiver(parent);
        }
        let (done, sent) = tree.end(source, Duration::from_secs(150));
        assert!(done.iter().all(|one| one.objects.bytes == LENGTH as u64), "{protocol}: {done:?}");
        assert_eq!(sent.stopped, Stopped::AllComplete);
    }
}

#[test]
fn a_file_comes_in_order_over_paths_that_lose_packets() {
    // AMCA takes losses for congestion, and would send at its lowest rate: 1 packet/s unless set.
    let protocols: [(&str, &[(&str, &str)]); 2] = [("amca", &[("rate_min", "50")]), ("nca", &[])];
    for (protocol, options) in protocols {
        let mut tree = Tree::new(protocol, options);
        let (source, at) = tree.source();
        let first = tree.relay(at);
        let to_second = LossyPath::new(first, 0.03, 1);
        let second = tree.relay(to_second.at);
        let below = [first, second, second];
        let paths: Vec<LossyPath> =
            below.into_iter().zip(2..).map(|(to, seed)| LossyPath::new(to, 0.03, seed)).collect();
        paths.iter().for_each(|path| tree.receiver(path.at));
        let (done, sent) = tree.end(source, Duration::from_secs(200));
        let dropped: u64 = paths.into_iter().chain([to_second]).map(LossyPath::end).sum();
        assert!(dropped > 20, "{protocol}: {dropped} packets were lost");
        assert_eq!((done.len(), sent.stopped), (3, Stopped::AllComplete));
    }
}

/// Signed, authenticated and encrypted from end to end: the relay has none of the keys.
#[test]
fn a_file_comes_encrypted_and_signed_over_a_relay_without_keys() {
    let mut tree = Tree::new("nca", &[]);
    tree.keys = Keys { group: Some([3; 32]), signer: Some([4; 32]) };
    let (source, at) = tree.source();
    let first = tree.relay(at);
    [at, first].into_iter().for_each(|parent| tree.receiver(parent));
    let (done, _) = tree.end(source, Duration::from_secs(150));
    for one in done {
        let checked = one.protection;
        assert!(checked.accepted > 400 && checked.forged() == 0, "{checked:?}");
        assert_eq!(one.untrusted_tables, 0);
    }
}

#[test]
fn what_is_there_is_not_written_again() {
    let mut tree = Tree::new("nca", &[]);
    let folder = Arc::clone(&tree.folder);
    let into = folder.path().join("into-0");
    fs::create_dir_all(&into).unwrap();
    fs::write(into.join("a file"), content()).unwrap();
    let before = fs::metadata(into.join("a file")).unwrap().modified().unwrap();
    let (source, at) = tree.source();
    tree.receiver(at);
    tree.end(source, Duration::from_secs(150));
    assert_eq!(fs::metadata(into.join("a file")).unwrap().modified().unwrap(), before);
}
