//! A file over multicast on the loopback interface, source and receivers in one process.

mod demand;
mod embedded;
use crate::fixture;
mod folders;
mod groups;
mod relays;
mod reports;
mod security;
mod streams;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::option::RawValue;
use layercast_core::units::Rate;
use layercast_delivery::node::ReceiveError;
use layercast_delivery::reception::{ReceptionEvent, ReceptionSettings};
use layercast_delivery::session::Session;
use layercast_transport::event::{Event, Progress};
use layercast_transport::receive::{Known, ReceiveOptions, ReceiveProgress, receive};
use layercast_transport::send::{Ends, SendOptions, Sent, Stopped, send};
use layercast_transport::{Error, Notice};

use crate::fixture::{TempDir, content};
use crate::lo::works_here;

/// Each test has its own number, and by it a port: sessions with other numbers do not meet, though a session takes this group
/// and those of its further channels after it.
fn group(number: u8) -> SocketAddr {
    SocketAddrV4::new(Ipv4Addr::new(239, 255, 78, number), layercast_testkit::port(number)).into()
}

fn sending(number: u8, protocol: &str, ends: Ends) -> SendOptions {
    SendOptions {
        ends,
        seed: Some(u64::from(number) + 1),
        name: format!("test {number}"),
        ..fixture::sending(group(number), protocol)
    }
}

fn receiving(number: u8, into: PathBuf) -> ReceiveOptions {
    ReceiveOptions {
        interface: Some("127.0.0.1".to_owned()),
        ..fixture::receiving(Known::Group(group(number), None), into)
    }
}

/// A source in a thread, until it ends or is stopped.
struct Source {
    stop: Arc<AtomicBool>,
    session: std::sync::mpsc::Receiver<Session>,
    notices: std::sync::mpsc::Receiver<Notice>,
    thread: thread::JoinHandle<Result<Sent, Error>>,
}

fn start(path: PathBuf, options: SendOptions) -> Source {
    let stop = Arc::new(AtomicBool::new(false));
    let (announce, session) = std::sync::mpsc::channel();
    let (notify, notices) = std::sync::mpsc::channel();
    let flag = Arc::clone(&stop);
    let mut say = move |event: &Event| match event {
        Event::Ready(ready) => announce.send(ready.session.clone()).unwrap_or_default(),
        Event::Notice(notice) => notify.send(notice.clone()).unwrap_or_default(),
        _ => {}
    };
    let thread = thread::spawn(move || send(&[path], &options, &flag, &mut say));
    Source { stop, session, notices, thread }
}

impl Source {
    fn session(&self) -> Session {
        self.session.recv_timeout(Duration::from_secs(10)).unwrap()
    }

    /// The first notice that fits.
    fn notice(&self, fits: impl Fn(&Notice) -> bool) -> Notice {
        loop {
            let notice = self.notices.recv_timeout(Duration::from_secs(20)).unwrap();
            if fits(&notice) {
                return notice;
            }
        }
    }

    fn end(self) -> Result<Sent, Error> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn get(options: &ReceiveOptions) -> Result<(PathBuf, ReceiveProgress), Error> {
    let done = receive(options, &AtomicBool::new(false), &mut |_| {})?;
    Ok((options.into.join(done.name.clone().unwrap_or_default()), done))
}

#[test]
fn two_receivers_get_the_file_and_the_source_counts_them() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("two");
    let data = content(1_500_000);
    let ends = Ends { completions: Some(2), after: Some(Duration::from_secs(60)), ..Ends::default() };
    let source = start(temp.with("a file.bin", &data), sending(1, "elm", ends));
    source.session();
    let other = receiving(1, temp.directory("other"));
    let other = thread::spawn(move || get(&other));
    let (path, report) = get(&receiving(1, temp.directory("one"))).unwrap();
    assert_eq!(path, temp.0.join("one/a file.bin"));
    assert_eq!(fs::read(path).unwrap(), data);
    assert_eq!(fs::read(other.join().unwrap().unwrap().0).unwrap(), data);
    assert!(report.counters.reports > 0, "{report:?}");
    assert!(report.estimates.rtt.is_some(), "{report:?}");
    assert_eq!(
        report.counters.node.accept.malformed
            + report.counters.node.accept.other_session
            + report.counters.node.accept.misplaced,
        0
    );
    assert_eq!(fs::read_dir(temp.0.join("one")).unwrap().count(), 1);
    let sent = source.thread.join().unwrap().unwrap();
    assert_eq!((sent.stopped, sent.missing(&ends)), (Stopped::Completions, Some(0)));
    assert_eq!(sent.completed.len(), 2);
    assert!(sent.completed.iter().all(|address| address.ip() == Ipv4Addr::LOCALHOST), "{sent:?}");
    assert_ne!(sent.completed[0], sent.completed[1]);
    assert_eq!(sent.progress.counters.bad_feedback, 0);
}

#[test]
fn the_other_protocols_carry_files_too() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("others");
    for (number, protocol) in [(2, "rlc"), (3, "fixed"), (100, "smcc")] {
        let data = content(400_000);
        let source = start(temp.with(protocol, &data), sending(number, protocol, Ends::default()));
        let session = source.session();
        let known = Known::Session(Box::new(session));
        let options = ReceiveOptions { known, ..receiving(number, temp.directory("into")) };
        let (path, report) = get(&options).unwrap();
        assert_eq!(fs::read(path).unwrap(), data);
        assert_eq!(report.counters.node.accept.malformed, 0);
        assert_eq!(source.end().unwrap().stopped, Stopped::Interrupted);
    }
}

#[test]
fn strange_packets_change_nothing_but_counters() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("strange");
    let data = content(1_000_000);
    let source = start(temp.with("file", &data), sending(4, "elm", Ends::default()));
    let session = source.session();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let SocketAddr::V4(to) = session.group else { panic!("IPv4") };
    let attack = thread::spawn(move || {
        // From the source's own address, as another program on its host could.
        let say = socket2::Socket::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        say.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        let listener =
            UdpSocket::from(socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).unwrap());
        let listener = socket2::Socket::from(listener);
        listener.set_reuse_address(true).unwrap();
        listener.bind(&to.into()).unwrap();
        listener.join_multicast_v4(to.ip(), &Ipv4Addr::LOCALHOST).unwrap();
        listener.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let listener = UdpSocket::from(listener);
        let mut packet = [0; 2000];
        let mut number = 0u32;
        while !flag.load(Ordering::Relaxed) {
            let Ok(length) = listener.recv(&mut packet) else { continue };
            number += 1;
            let original = &packet[..length];
            // Our own packets come back too: answer only some.
            if !number.is_multiple_of(16) {
                continue;
            }
            let mut other = original.to_vec();
            if let Some(tsi) = other.get_mut(8..12) {
                tsi.copy_from_slice(&[1, 2, 3, 4]);
            }
            let random: Vec<u8> = (0..number % 1400).map(|at| ((at * number) >> 3) as u8).collect();
            for bytes in [&original[..length / 3], &random, &other, original] {
                say.send_to(bytes, &to.into()).unwrap();
            }
        }
    });
    let outcome = get(&receiving(4, temp.directory("into")));
    stop.store(true, Ordering::Relaxed);
    attack.join().unwrap();
    let (path, report) = outcome.unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    assert!(report.counters.node.accept.malformed > 0, "{report:?}");
    assert!(report.counters.node.accept.other_session > 0, "{report:?}");
    assert!(report.assembly.needless > 0, "{report:?}");
    source.end().unwrap();
}

#[test]
fn errors_say_what_is_wrong() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("errors");
    let file = temp.with("file", &content(100_000));
    let into = temp.directory("into");
    let never = AtomicBool::new(false);
    let try_send = |options: &SendOptions, path: &PathBuf| {
        send(std::slice::from_ref(path), options, &never, &mut |_| {}).map(|_| ()).unwrap_err()
    };

    let wrong = SendOptions { interface: Some("nosuch0".to_owned()), ..sending(5, "elm", Ends::default()) };
    let error = try_send(&wrong, &file);
    assert!(
        matches!(&error, Error::NoSuchInterface { name, known } if name == "nosuch0" && known.contains(&"lo".to_owned())),
        "{error}"
    );

    let unicast = SocketAddr::new(Ipv4Addr::new(10, 1, 2, 3).into(), 5000);
    let wrong = SendOptions { group: unicast, ..sending(5, "elm", Ends::default()) };
    assert!(matches!(try_send(&wrong, &file), Error::Session(_)));
    let wrong = ReceiveOptions { known: Known::Group(unicast, None), ..receiving(5, into.clone()) };
    assert!(matches!(get(&wrong), Err(Error::Receive(ReceiveError::WrongGroup { .. }))));

    let gone = temp.0.join("nosuch");
    assert!(matches!(try_send(&sending(5, "elm", Ends::default()), &gone), Error::File { .. }));

    let silent = ReceiveOptions { start_within: Duration::from_millis(600), ..receiving(6, into.clone()) };
    let error = get(&silent).unwrap_err();
    assert!(
        matches!(&error, Error::Receive(ReceiveError::Silent { reasons, .. }) if reasons.contains("querier")),
        "{error}"
    );

    let nowhere = receiving(5, temp.0.join("no/such/directory"));
    assert!(matches!(get(&nowhere), Err(Error::File { .. })));

    // The file is removed while it is sent; the receiver gets the end of the session.
    let source = start(temp.with("going", &content(50_000_000)), sending(7, "elm", Ends::default()));
    source.session();
    let options = receiving(7, into.clone());
    let receiver = thread::spawn(move || get(&options));
    thread::sleep(Duration::from_millis(1200));
    fs::remove_file(temp.0.join("going")).unwrap();
    let outcome = source.thread.join().unwrap();
    assert!(matches!(outcome, Err(Error::FileVanished { .. })), "{outcome:?}");
    let error = receiver.join().unwrap().unwrap_err();
    let partial = into.join(".layercast");
    assert!(
        matches!(&error, Error::Kept { reason, path, .. }
            if matches!(**reason, Error::Receive(ReceiveError::SessionEnded { .. })) && *path == partial),
        "{error}"
    );
    assert!(partial.exists());

    // A file of that name exists.
    fs::write(into.join("file"), b"mine").unwrap();
    let source = start(file, sending(8, "elm", Ends::default()));
    source.session();
    assert!(matches!(get(&receiving(8, into.clone())), Err(Error::FileExists { .. })));
    assert_eq!(fs::read(into.join("file")).unwrap(), b"mine");
    let settings = ReceptionSettings { replace: true, mirror: false };
    let replacing = ReceiveOptions { settings, ..receiving(8, into.clone()) };
    get(&replacing).unwrap();
    assert_eq!(fs::read(into.join("file")).unwrap(), content(100_000));
    source.end().unwrap();
}

#[test]
fn sending_ends_by_rounds_and_by_time() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("ends");
    let file = temp.with("file", &content(300_000));
    let rounds = Ends { rounds: Some(2), ..Ends::default() };
    // Nobody listens.
    let all = |options: SendOptions| SendOptions { on_demand: false, ..options };
    let sent = start(file.clone(), all(sending(9, "elm", rounds))).thread.join().unwrap().unwrap();
    assert_eq!((sent.stopped, sent.missing(&rounds)), (Stopped::Rounds, None));
    // A busy machine sends what was due meanwhile, and then looks.
    assert!((2.0..3.0).contains(&sent.progress.rounds), "{}", sent.progress.rounds);
    let time = Ends { after: Some(Duration::from_secs(1)), ..Ends::default() };
    let rate = |sent: &Sent| sent.progress.counters.packets as f64 / sent.progress.elapsed.as_secs_f64();
    let sent = start(file.clone(), all(sending(10, "elm", time))).thread.join().unwrap().unwrap();
    assert_eq!(sent.stopped, Stopped::Time);
    // Sixteen Mbit/s of packets of a thousand bytes, some a little smaller than that.
    assert!((1200.0..2100.0).contains(&rate(&sent)), "{:?}", sent.progress);
    // Without the option the base alone, 4 Mbit/s.
    let sent = start(file, sending(10, "elm", time)).thread.join().unwrap().unwrap();
    assert!((300.0..550.0).contains(&rate(&sent)), "{:?}", sent.progress);
}

/// Waves that end and begin, on fifty channels of which a receiver joins at most ten: slots of half a
/// second, and a base layer that is fast enough for them. Source and receiver share the options.
#[test]
fn waves_carry_a_file_over_many_more_channels_than_are_joined() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("waves");
    let data = content(1_500_000);
    let ends = Ends { completions: Some(1), after: Some(Duration::from_secs(60)), ..Ends::default() };
    let mut options = sending(40, "webrc", ends);
    options.layers = LayerTable::from_rates([Rate::from_mbps(8.0)]).unwrap();
    for (name, value) in [("slot", "500 ms"), ("quiet", "20 s"), ("base_rate", "20"), ("word", "long")] {
        options.protocol.set(name, RawValue::from_text(value)).unwrap();
    }
    let source = start(temp.with("a file.bin", &data), options);
    assert_eq!(source.session().channels, 50);
    let (path, report) = match get(&receiving(40, temp.directory("one"))) {
        Ok(got) => got,
        Err(error) => panic!("{error:?}; the source: {:?}", source.end()),
    };
    assert_eq!(fs::read(path).unwrap(), data);
    // A thousand packets per second with all waves joined; a wave is joined every 50 ms at best.
    assert!(report.elapsed < Duration::from_secs(20), "{report:?}");
    assert!(report.counters.node.level_changes > 6, "{report:?}");
    assert_eq!(
        report.counters.node.accept.malformed
            + report.counters.node.accept.other_session
            + report.counters.node.accept.misplaced,
        0
    );
    assert_eq!(report.counters.node.failed_joins, 0);
    source.end().unwrap();
}

/// The end that was asked for did not come: `missing` says how many receivers lack.
#[test]
fn a_receiver_that_is_waited_for_and_never_comes_is_missing() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("missing");
    let data = content(200_000);
    let ends = Ends { completions: Some(2), ..Ends::default() };
    let source = start(temp.with("file", &data), sending(150, "elm", ends));
    source.session();
    get(&receiving(150, temp.directory("one"))).unwrap();
    // The receiver returns after its last completion was sent, at the latest.
    let sent = source.end().unwrap();
    assert_eq!((sent.stopped, sent.completed.len(), sent.missing(&ends)), (Stopped::Interrupted, 1, Some(1)));
}

/// A protocol for one receiver serves the first, and ends the second.
#[test]
fn a_second_receiver_of_tfrc_is_turned_away() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("one");
    let data = content(6_000_000);
    let mut sending = sending(174, "tfrc", Ends::default());
    // It announces itself.
    sending.protocol.deploy();
    let source = start(temp.with("file", &data), sending);
    let known = Known::Session(Box::new(source.session()));
    let options = |name: &str| {
        let known = known.clone();
        let patience = Duration::from_secs(20);
        ReceiveOptions { known, patience, ..receiving(174, temp.directory(name)) }
    };
    let first = options("first");
    let flag = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&flag);
    let (begin, begun) = std::sync::mpsc::channel();
    let first = thread::spawn(move || {
        receive(&first, &ended, &mut |event| {
            if let Event::Progress(Progress::Receive(progress)) = event
                && progress.counters.reports > 0
            {
                begin.send(()).unwrap_or_default();
            }
        })
    });
    begun.recv_timeout(Duration::from_secs(20)).unwrap();
    let error = get(&options("second")).unwrap_err();
    let reason = match error {
        Error::Kept { reason, .. } => *reason,
        other => other,
    };
    assert!(
        matches!(&reason, Error::Receive(ReceiveError::Full { protocol, most: 1 }) if protocol == "tfrc"),
        "{reason}"
    );
    source.notice(|notice| matches!(notice, Notice::TurnedAway { protocol: "tfrc", most: 1, .. }));
    flag.store(true, Ordering::Relaxed);
    // Complete, or stopped by its user; not turned away.
    if let Err(error) = first.join().unwrap() {
        assert!(
            matches!(&error, Error::Kept { reason, .. } if matches!(**reason, Error::Interrupted)),
            "{error}"
        );
    }
    assert!(source.end().unwrap().progress.counters.turned_away > 0);
}

#[test]
fn two_senders_of_one_group_are_noticed_by_both_and_by_receivers() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("senders");
    let one = start(temp.with("one", &content(20_000_000)), sending(178, "elm", Ends::default()));
    one.session();
    // Another seed, so that it has another number.
    let other = SendOptions { seed: Some(1), ..sending(178, "elm", Ends::default()) };
    let two = start(temp.with("two", &content(20_000_000)), other);
    two.session();
    let is_other = |notice: &Notice| matches!(notice, Notice::OtherSender { is_ours: true, .. });
    one.notice(is_other);
    two.notice(is_other);
    let stop = AtomicBool::new(false);
    let (mut noticed, mut since) = (0, None);
    let mut say = |event: &Event| {
        if let Event::Notice(Notice::OtherSession { .. }) = event {
            noticed += 1;
            since.get_or_insert_with(std::time::Instant::now);
        }
        // The other one goes on sending.
        if since.is_some_and(|since| since.elapsed() > Duration::from_secs(2)) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let outcome = receive(&receiving(178, temp.directory("into")), &stop, &mut say);
    assert_eq!(noticed, 1, "it is said once: {outcome:?}");
    one.end().unwrap();
    two.end().unwrap();
}

/// A pipe would block for ever; and a file is hashed only as long as nobody stops it.
#[test]
fn a_pipe_is_refused_at_once_and_hashing_can_be_stopped() {
    let temp = TempDir::new("pipe");
    let pipe = temp.0.join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let options = sending(182, "elm", Ends::default());
    let error = send(&[pipe], &options, &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("not a plain file"), "{error}");
    let file = temp.with("file", &content(1_000_000));
    let stopped = send(&[file], &options, &AtomicBool::new(true), &mut |_| {});
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
}

/// Waits until a folder has these files and no other, its own ones left out.
fn becomes(folder: &std::path::Path, files: &[(&str, &[u8])]) {
    let begin = std::time::Instant::now();
    let has = || {
        let names =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names.iter().map(String::as_str).eq(files.iter().map(|(name, _)| *name))
            && files
                .iter()
                .all(|(name, content)| fs::read(folder.join(name)).is_ok_and(|found| found == *content))
    };
    while !has() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{:?}",
            fs::read_dir(folder).unwrap().collect::<Vec<_>>()
        );
        thread::sleep(Duration::from_millis(100));
    }
}
