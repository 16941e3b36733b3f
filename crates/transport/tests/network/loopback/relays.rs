//! Files through relays, by unicast alone, and by multicast where that comes.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Instant;

use layercast_delivery::relay::child::ParentEvent;
use layercast_delivery::relay::message::{Alternatives, MESSAGE_MAX, Message};
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::{Allowed, SessionKey};
use layercast_transport::event::{Event, Progress};
use layercast_transport::receive::RelayUse;
use layercast_transport::relay::{RelayOptions, RelayStatus, ServeOptions, relay};
use layercast_transport::send::ServeUse;

use super::*;

/// A port that nobody uses now.
fn free_port() -> SocketAddr {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

fn serving(number: u8, listen: SocketAddr, others: &[SocketAddr]) -> ServeOptions {
    let key = SessionKey { group: group(number), source: None };
    ServeOptions {
        listen,
        allowed: Allowed { sessions: vec![key], prefixes: Vec::new() },
        alternatives: Alternatives::new(others.iter().copied()),
        limits: Limits::default(),
        highest: None,
    }
}

/// A relay in a thread.
struct Relaying {
    at: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Result<RelayStatus, Error>>,
}

fn relaying(number: u8, parents: &[SocketAddr], others: &[SocketAddr]) -> Relaying {
    let listen = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
    let options = RelayOptions {
        serve: serving(number, listen, others),
        parents: parents.to_vec(),
        interface: Some("127.0.0.1".to_owned()),
        local: None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let (announce, ready) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        relay(&options, &flag, &mut |event| {
            if let Event::Listening { address: at } = event {
                announce.send(*at).unwrap();
            }
        })
    });
    Relaying { at: ready.recv_timeout(Duration::from_secs(10)).unwrap(), stop, thread }
}

impl Relaying {
    fn end(self) -> RelayStatus {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap().unwrap()
    }
}

fn through(number: u8, into: PathBuf, relays: &[SocketAddr]) -> ReceiveOptions {
    let relays = RelayUse { relays: relays.to_vec(), only: true, ..RelayUse::default() };
    ReceiveOptions { relays, ..receiving(number, into) }
}

/// A source that sends to its children alone.
fn serving_source(number: u8, file: PathBuf, ends: Ends) -> (Source, SocketAddr) {
    let listen = free_port();
    let serve =
        Some(ServeUse { serve: serving(number, listen, &[]), only: true, gather: std::time::Duration::ZERO });
    (start(file, SendOptions { serve, ..sending(number, "elm", ends) }), listen)
}

#[test]
fn a_tree_of_relays_carries_a_file_without_multicast() {
    let temp = TempDir::new("relay-tree");
    let data = content(1_500_000);
    let ends = Ends { completions: Some(3), after: Some(Duration::from_secs(60)), ..Ends::default() };
    let (source, top) = serving_source(30, temp.with("file", &data), ends);
    source.session();
    let upper = relaying(30, &[top], &[]);
    let lower = relaying(30, &[upper.at], &[]);
    let receivers: Vec<_> = [("one", upper.at), ("two", lower.at), ("three", lower.at)]
        .map(|(name, at)| through(30, temp.directory(name), &[at]))
        .into_iter()
        .map(|options| thread::spawn(move || get(&options)))
        .collect();
    for receiver in receivers {
        let (path, report) = receiver.join().unwrap().unwrap();
        assert_eq!(fs::read(path).unwrap(), data);
        // Round-trip times need reports, which went through the relays.
        assert!(report.counters.reports > 0 && report.estimates.rtt.is_some(), "{report:?}");
        assert_eq!(report.counters.node.accept.malformed + report.counters.node.accept.misplaced, 0);
    }
    let sent = source.thread.join().unwrap().unwrap();
    assert_eq!((sent.stopped, sent.missing(&ends)), (Stopped::Completions, Some(0)));
    let (lower, upper) = (lower.end(), upper.end());
    // On a busy machine a child may be silent for so long that it is welcomed again.
    let welcomed = [&lower, &upper].map(|relay| relay.node.counters.welcomed);
    assert!(welcomed.iter().all(|times| (2..=6).contains(times)), "{welcomed:?}");
    assert_eq!((upper.node.depth, lower.node.depth), (1, 2));
    assert!(lower.send_calls < lower.node.packets, "runs are sent by one call: {lower:?}");
}

/// Decoding, and what is done with a file when it is complete, may take longer than a relay waits for a silent child.
#[test]
fn a_receiver_that_is_busy_for_long_still_says_that_it_is_complete() {
    let temp = TempDir::new("relay-busy");
    let data = content(200_000);
    let ends = Ends { completions: Some(1), after: Some(Duration::from_secs(60)), ..Ends::default() };
    let (source, top) = serving_source(44, temp.with("file", &data), ends);
    source.session();
    let one = relaying(44, &[top], &[]);
    let options = through(44, temp.directory("into"), &[one.at]);
    let keep_alive = Duration::from_nanos(Limits::default().keep_alive.as_ns());
    let received = receive(&options, &AtomicBool::new(false), &mut |event| {
        if let Event::Object(_) = event {
            thread::sleep(keep_alive * 8);
        }
    });
    assert!(received.unwrap().objects.is_complete());
    let sent = source.thread.join().unwrap().unwrap();
    assert_eq!(sent.stopped, Stopped::Completions);
    assert!(one.end().node.counters.lost >= 1, "the relay took it for gone");
}

/// What lies between a receiver and its relay: everything passes, until it is cut.
fn cable(relay: SocketAddr) -> (SocketAddr, Arc<AtomicBool>) {
    let open = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (below, above) = (open(), open());
    let at = below.local_addr().unwrap();
    let (cut, child) = (Arc::new(AtomicBool::new(false)), Arc::new(OnceLock::new()));
    let (is_cut, known) = (Arc::clone(&cut), Arc::clone(&child));
    let (down, up) = (below.try_clone().unwrap(), above.try_clone().unwrap());
    // Both threads end with the test's process.
    thread::spawn(move || {
        let mut room = [0; 65_536];
        while let Ok((length, from)) = below.recv_from(&mut room) {
            known.get_or_init(|| from);
            if !is_cut.load(Ordering::Relaxed) {
                up.send_to(&room[..length], relay).unwrap();
            }
        }
    });
    let is_cut = Arc::clone(&cut);
    thread::spawn(move || {
        let mut room = [0; 65_536];
        while let Ok((length, _)) = above.recv_from(&mut room) {
            if !is_cut.load(Ordering::Relaxed)
                && let Some(child) = child.get()
            {
                down.send_to(&room[..length], *child).unwrap();
            }
        }
    });
    (at, cut)
}

/// A relay that dies takes messages in silence, as a wire that is cut does: nothing says that they are lost.
#[test]
fn a_receiver_whose_relay_dies_at_the_end_says_through_the_next_that_it_is_complete() {
    let temp = TempDir::new("relay-dies");
    let data = content(200_000);
    let ends = Ends { completions: Some(1), after: Some(Duration::from_secs(60)), ..Ends::default() };
    let (source, top) = serving_source(54, temp.with("file", &data), ends);
    source.session();
    let (first, second) = (relaying(54, &[top], &[]), relaying(54, &[top], &[]));
    let (at, cut) = cable(first.at);
    let options = through(54, temp.directory("into"), &[at, second.at]);
    let received = receive(&options, &AtomicBool::new(false), &mut |event| {
        if let Event::Object(_) = event {
            cut.store(true, Ordering::Relaxed);
        }
    });
    assert!(received.unwrap().objects.is_complete());
    let sent = source.thread.join().unwrap().unwrap();
    assert_eq!((sent.stopped, sent.missing(&ends)), (Stopped::Completions, Some(0)));
    assert_eq!(second.end().node.counters.welcomed, 1);
    first.end();
}

#[test]
fn a_receiver_goes_to_another_relay_and_keeps_what_it_has() {
    let temp = TempDir::new("relay-moves");
    let data = content(12_000_000);
    let (source, top) = serving_source(36, temp.with("file", &data), Ends::default());
    source.session();
    let (first, second) = (relaying(36, &[top], &[]), relaying(36, &[top], &[]));
    let options = through(36, temp.directory("into"), &[first.at, second.at]);
    let (first_at, second_at) = (first.at, second.at);
    let mut first = Some(first);
    let (mut news, mut held, mut sessions) = (Vec::new(), 0, 0);
    let done = receive(&options, &AtomicBool::new(false), &mut |event| match event {
        Event::Session(_) => sessions += 1,
        Event::Notice(Notice::Relay { news: one }) => news.push(*one),
        Event::Progress(Progress::Receive(progress)) => {
            assert!(progress.objects.held >= held, "nothing is lost");
            held = progress.objects.held;
            if held * 4 > progress.objects.needed
                && let Some(first) = first.take()
            {
                first.end();
            }
        }
        _ => {}
    });
    assert_eq!(fs::read(temp.0.join("into/file")).unwrap(), data);
    assert!(done.is_ok() && first.is_none() && sessions == 1);
    let served: Vec<_> = news.iter().filter(|one| matches!(one, ParentEvent::Served(_))).copied().collect();
    assert_eq!(served, [ParentEvent::Served(first_at), ParentEvent::Served(second_at)], "{news:?}");
    source.end().unwrap();
    second.end();
}

#[test]
fn where_multicast_comes_no_relay_is_asked_and_a_relay_joins_it_for_others() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("relay-native");
    let data = content(1_500_000);
    let ends = Ends { completions: Some(2), after: Some(Duration::from_secs(60)), ..Ends::default() };
    let source = start(temp.with("file", &data), sending(42, "elm", ends));
    source.session();
    let relay = relaying(42, &[], &[]);
    let relays = RelayUse { relays: vec![relay.at], ..RelayUse::default() };
    let native = ReceiveOptions { relays, ..receiving(42, temp.directory("native")) };
    let native = thread::spawn(move || get(&native));
    let (path, report) = get(&through(42, temp.directory("relayed"), &[relay.at])).unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    assert!(report.estimates.rtt.is_some(), "reports reach the source: {report:?}");
    assert_eq!(fs::read(native.join().unwrap().unwrap().0).unwrap(), data);
    assert_eq!(source.thread.join().unwrap().unwrap().missing(&ends), Some(0));
    let status = relay.end();
    assert_eq!((status.node.counters.welcomed, status.node.counters.feedback > 0), (1, true), "{status:?}");
}

#[test]
fn a_flood_of_hellos_from_many_addresses_harms_neither_children_nor_memory() {
    let temp = TempDir::new("relay-flood");
    let data = content(3_000_000);
    let ends = Ends { completions: Some(1), after: Some(Duration::from_secs(60)), ..Ends::default() };
    let (source, top) = serving_source(48, temp.with("file", &data), ends);
    source.session();
    let relay = relaying(48, &[top], &[]);
    let stop = Arc::new(AtomicBool::new(false));
    let (flag, to) = (Arc::clone(&stop), relay.at);
    let flood = thread::spawn(move || {
        let mut room = [0; MESSAGE_MAX];
        let session = SessionKey { group: group(48), source: None };
        let mut sent: u64 = 0;
        // Strangers share the answers that a relay gives to them: the child is to have its own before the flood.
        thread::sleep(Duration::from_secs(1));
        // All of 127.0.0.0/8 is this host.
        let sockets: Vec<_> =
            (0..200u8).filter_map(|one| UdpSocket::bind((IpAddr::from([127, 9, one, 1]), 0)).ok()).collect();
        while !flag.load(Ordering::Relaxed) {
            for socket in &sockets {
                let cookie = sent.is_multiple_of(2).then_some([7; 16]);
                let hello = Message::Hello { nonce: sent, session, cookie, previous: None };
                let length = hello.write(&mut room);
                sent += u64::from(socket.send_to(&room[..length], to).is_ok());
            }
            // As many as a slow machine can read: what does not fit into its socket is lost, a child's messages too.
            thread::sleep(Duration::from_millis(20));
        }
        sent
    });
    let begin = Instant::now();
    let (path, _) = get(&through(48, temp.directory("into"), &[relay.at])).unwrap();
    let took = begin.elapsed();
    assert_eq!(fs::read(path).unwrap(), data);
    stop.store(true, Ordering::Relaxed);
    let sent = flood.join().unwrap();
    let status = relay.end();
    assert!(sent > 4000 || took < Duration::from_secs(3), "{sent} hellos in {took:?}");
    assert_eq!(status.node.counters.welcomed, 1);
    assert!(status.node.counters.challenges + status.node.counters.unanswered > sent / 20, "{status:?}");
    source.thread.join().unwrap().unwrap();
}
