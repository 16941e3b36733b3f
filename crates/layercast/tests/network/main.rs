//! Transfers by the public interface, over the loopback interface.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../examples/live.rs"]
mod live;
#[path = "../../../transport/tests/network/lo.rs"]
mod lo;
#[path = "../../examples/named.rs"]
mod named;
#[path = "../../examples/receive.rs"]
mod receiving;
#[path = "../../examples/reliable.rs"]
mod reliable;
#[path = "../../examples/send.rs"]
mod sending;

use std::fs;
use std::io::{Read as _, Write as _, pipe};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use layercast::keys::{GroupKey, KeyFile, SecretKey, read_key};
use layercast::{
    Error, Event, ObjectEvent, Rate, Receiver, ReceiverBuilder, Sender, SenderBuilder, Sending, Stopped,
    StreamEnded, StreamSends, StreamStopped, Units,
};
use layercast_delivery::announce::describing::{Size, describe};
use layercast_delivery::announce::sap::{Kind, Message, PORT, announcement_group, message_hash};
use layercast_delivery::session::Session;
use lo::works_here;

/// Each test has its own groups, and each run its own port.
fn group(number: u8) -> String {
    format!("239.255.80.{number}:{}", layercast_testkit::port(number))
}

/// A directory with a file and an empty folder.
fn folder(name: &str, content: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix(name).tempdir().unwrap();
    fs::write(folder.path().join("file"), content).unwrap();
    fs::create_dir(folder.path().join("inbox")).unwrap();
    folder
}

fn content(length: u32) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

fn sender(file: PathBuf, number: u8) -> SenderBuilder {
    let sender = Sender::builder().group(group(number)).path(file).interface("127.0.0.1").ttl(1);
    sender.control("elm").from(Rate::from_mbps(4.0)).to(Rate::from_mbps(16.0)).announce(false)
}

fn receiver(number: u8) -> ReceiverBuilder {
    let minute = Duration::from_secs(60);
    Receiver::builder()
        .group(group(number))
        .interface("127.0.0.1")
        .patience(Duration::from_secs(5))
        .within(minute)
}

/// The URL of a session, once it is on.
fn url(sending: &Sending) -> String {
    let ready = sending.events().find_map(|event| match event {
        Event::Ready(ready) => ready.url(),
        _ => None,
    });
    ready.unwrap()
}

#[test]
fn the_programs_of_the_documentation_transfer_a_file() {
    if !works_here() {
        return;
    }
    let data = content(400_000);
    let folder = folder("examples", &data);
    let (path, inbox) = (folder.path().join("file"), folder.path().join("inbox"));
    let sender = thread::spawn(move || {
        let sent = sending::send(path.to_str().unwrap(), &group(0), "127.0.0.1");
        sent.map_err(|error| error.to_string())
    });
    let received = receiving::receive(&group(0), inbox.to_str().unwrap(), "127.0.0.1").unwrap();
    assert_eq!(received.path(), Some(inbox.join("file")));
    assert!(fs::read(inbox.join("file")).unwrap() == data);
    let sent = sender.join().unwrap().unwrap();
    assert_eq!((sent.stopped, sent.completed.len()), (Stopped::Completions, 1));
}

#[test]
fn a_transfer_is_awaited_with_tokio() {
    if !works_here() {
        return;
    }
    let data = content(400_000);
    let folder = folder("tokio", &data);
    let inbox = folder.path().join("inbox");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let sending = sender(folder.path().join("file"), 60).until_complete(1).start().unwrap();
        let receiving = receiver(60).into(&inbox).start().unwrap();
        let (mut sessions, mut files) = (0, Vec::new());
        while let Some(event) = receiving.next_event().await {
            match event {
                Event::Session(_) => sessions += 1,
                Event::Object(ObjectEvent::Complete { path, length }) => files.push((path, length)),
                _ => {}
            }
        }
        assert_eq!((sessions, files), (1, vec![("file".to_owned(), 400_000)]));
        assert_eq!((receiving.share(), receiving.is_over()), (Some(1.0), true));
        let received = receiving.finished().await.unwrap();
        assert_eq!(received.progress.objects.complete, 1);
        assert_eq!(sending.finished().await.unwrap().stopped, Stopped::Completions);
    });
    assert!(fs::read(inbox.join("file")).unwrap() == data);
}

#[test]
fn a_session_is_found_by_its_url_and_read_with_its_key() {
    if !works_here() {
        return;
    }
    let data = content(200_000);
    let folder = folder("url", &data);
    let (inbox, file) = (folder.path().join("inbox"), folder.path().join("site.key"));
    let key = GroupKey::from_seed(&[7; 32]);
    fs::write(&file, KeyFile::group(key.clone(), "site").unwrap().to_text()).unwrap();
    let sending = sender(folder.path().join("file"), 120).group_key(key).encrypt().start().unwrap();
    let key = read_key(&file, KeyFile::into_group).unwrap();
    let found = Receiver::builder().session_url(&url(&sending)).interface("127.0.0.1").group_key(key);
    let received = found.into(&inbox).start().unwrap().wait().unwrap();
    assert_eq!(received.path(), Some(inbox.join("file")));
    assert!(fs::read(inbox.join("file")).unwrap() == data);
    sending.cancel();
    assert_eq!(sending.wait().unwrap().stopped, Stopped::Interrupted);
}

#[test]
fn a_session_is_found_by_its_description() {
    if !works_here() {
        return;
    }
    let data = content(200_000);
    let folder = folder("described", &data);
    let (inbox, file) = (folder.path().join("inbox"), folder.path().join("file.session"));
    let sending = sender(folder.path().join("file"), 180).start().unwrap();
    let ready = sending.events().find_map(|event| match event {
        Event::Ready(ready) => Some(ready),
        _ => None,
    });
    fs::write(&file, ready.unwrap().session.to_string()).unwrap();
    let found = Receiver::builder().description_file(&file).interface("127.0.0.1").into(&inbox);
    let received = found.start().unwrap().wait().unwrap();
    assert_eq!(received.progress.objects.complete, 1);
    assert!(fs::read(inbox.join("file")).unwrap() == data);
}

#[test]
fn a_dropped_sender_ends_its_session() {
    if !works_here() {
        return;
    }
    let folder = folder("dropped", &content(3_000_000));
    let inbox = folder.path().join("inbox");
    let sending = sender(folder.path().join("file"), 220).start().unwrap();
    let receiving = receiver(220).into(&inbox).start().unwrap();
    for event in &receiving {
        if let Event::Session(_) = event {
            break;
        }
    }
    drop(sending);
    let error = receiving.wait().unwrap_err();
    assert!(matches!(error, Error::Kept { .. } | Error::Receive(_)), "{error}");
}

#[test]
fn a_cancelled_receiver_says_so() {
    if !works_here() {
        return;
    }
    let folder = folder("cancelled", b"");
    let receiving = receiver(240).into(folder.path().join("inbox")).start().unwrap();
    receiving.cancel();
    assert!(matches!(receiving.wait(), Err(Error::Interrupted)));
}

/// A name that no other run announces.
fn name(of: &str) -> String {
    format!("{of}-{}", std::process::id())
}

#[test]
fn the_program_of_the_documentation_finds_a_file_by_its_name() {
    if !works_here() {
        return;
    }
    let data = content(100_000);
    let folder = folder("named", &data);
    let (path, inbox) = (folder.path().join("file"), folder.path().join("inbox"));
    let sender = thread::spawn(move || {
        let sent = named::send(&name("named"), "127.0.0.1", path.to_str().unwrap(), &group(20));
        sent.map_err(|error| error.to_string())
    });
    let received = named::receive(&name("named"), "127.0.0.1", inbox.to_str().unwrap()).unwrap();
    assert_eq!(received.path(), Some(inbox.join("file")));
    assert!(fs::read(inbox.join("file")).unwrap() == data);
    assert_eq!(sender.join().unwrap().unwrap().stopped, Stopped::Completions);
}

#[test]
fn the_program_of_the_documentation_transfers_live_data() {
    if !works_here() {
        return;
    }
    let sender =
        thread::spawn(move || live::send(&group(30), "127.0.0.1", 50).map_err(|error| error.to_string()));
    let mut times = Vec::new();
    let received = live::receive(&group(30), "127.0.0.1", |time| times.push(time)).unwrap();
    assert!(times.len() > 10 && times.is_sorted(), "{times:?}");
    assert_eq!(received.ended, StreamEnded::Session);
    assert_eq!(received.progress.layers[0].counters.units, times.len() as u64);
    let sent = sender.join().unwrap().unwrap();
    assert_eq!((sent.stopped, sent.progress.layers[0].input.units), (StreamStopped::Inputs, 50));
}

#[test]
fn the_program_of_the_documentation_sends_reliably_to_two_receivers() {
    let data = content(300_000);
    let folder = folder("reliable", &data);
    let path = folder.path().join("file").display().to_string();
    // Free until now: nothing is sent to the group.
    let listen = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let received = ["first", "second"].map(|name| {
        let inbox = folder.path().join(name);
        fs::create_dir(&inbox).unwrap();
        let receive = move || {
            let received = reliable::receive(&group(170), inbox.to_str().unwrap(), listen);
            received.map_err(|error| error.to_string())
        };
        thread::spawn(receive)
    });
    let sent = reliable::send(&path, &group(170), listen).unwrap();
    assert_eq!((sent.stopped, sent.withdrawn), (Stopped::AllComplete, 0));
    for received in received {
        let received = received.join().unwrap().unwrap();
        assert_eq!(received.progress.objects.complete, 1);
        assert!(fs::read(received.path().unwrap()).unwrap() == data);
    }
}

fn live_sender(number: u8) -> SenderBuilder<StreamSends> {
    let sender = Sender::stream_builder().group(group(number)).interface("127.0.0.1").ttl(1);
    sender.to(Rate::from_mbps(2.0)).deadline(Duration::from_secs(5)).announce(false)
}

#[test]
fn live_data_is_found_by_its_name_and_read_with_its_key() {
    if !works_here() {
        return;
    }
    let key = GroupKey::from_seed(&[8; 32]);
    let (data, mut handle) = pipe().unwrap();
    let secret = SecretKey::from_seed(&[9; 32]);
    let (public, other) = (secret.public(), SecretKey::from_seed(&[1; 32]).public());
    let sender = live_sender(40).announce(true).name(&name("live")).group_key(key.clone()).encrypt();
    let sender = sender.key(secret);
    let (mut got, output) = pipe().unwrap();
    let receiver = Receiver::stream_builder().session_name(&name("live")).interface("127.0.0.1");
    // The first announcement may take a while, and longer where other tests announce sessions too.
    let receiver = receiver.start_within(Duration::from_secs(90));
    let receiving = receiver.group_key(key).key(other).key(public).output(output).start().unwrap();
    let sending = sender.units(Units::Length).input(data).start().unwrap();
    assert!(receiving.events().any(|event| matches!(event, Event::Session(_))));
    let unit = [&100_u32.to_be_bytes()[..], &[7; 100]].concat();
    let mut found = vec![0; unit.len()];
    // What was sent before the receiver has joined is not for it.
    let writer = thread::spawn(move || {
        while handle.write_all(&unit).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
        unit
    });
    got.read_exact(&mut found).unwrap();
    sending.cancel();
    assert_eq!(sending.wait().unwrap().stopped, StreamStopped::Interrupted);
    assert!(writer.join().unwrap() == found);
    let mut rest = Vec::new();
    got.read_to_end(&mut rest).unwrap();
    let received = receiving.wait().unwrap();
    assert_eq!((received.ended, received.progress.protection.forged()), (StreamEnded::Session, 0));
    assert_eq!(received.progress.layers[0].counters.bytes as usize, (found.len() + rest.len()) / 104 * 100);
}

#[test]
fn live_data_that_nobody_reads_is_left() {
    if !works_here() {
        return;
    }
    let sending = live_sender(45).input(std::io::repeat(7)).start().unwrap();
    let (got, output) = pipe().unwrap();
    let receiver = Receiver::stream_builder().group(group(45)).interface("127.0.0.1").output(output);
    let receiving = receiver.start().unwrap();
    drop(got);
    assert_eq!(receiving.wait().unwrap().ended, StreamEnded::Outputs);
    assert!(!sending.is_over());
}

#[test]
fn a_name_that_is_not_announced_says_so_and_can_be_cancelled() {
    if !works_here() {
        return;
    }
    let folder = folder("unnamed", b"");
    let sought = || {
        let receiver = Receiver::builder().session_name(&name("nobody")).interface("127.0.0.1");
        receiver.into(folder.path().join("inbox"))
    };
    let error = sought().start_within(Duration::from_millis(300)).start().unwrap().wait().unwrap_err();
    assert!(error.name() == "session_not_found" && error.to_string().contains("is announced"), "{error}");
    let receiving = sought().start().unwrap();
    receiving.cancel();
    assert!(matches!(receiving.wait(), Err(Error::Interrupted)));
}

/// An announcement of a session under a name, sent to the group of its scope over the loopback interface.
fn announce(session: &Session, name: &str) {
    let size = Size { files: 1, bytes: 1 };
    let description = describe(session, 3_900_000_000, name, None, 1, size, &[]).unwrap();
    let payload = description.write().unwrap();
    let (kind, hash) = (Kind::Announcement, message_hash(&payload));
    let packet = Message { kind, hash, origin: session.source, payload: &payload }.write(None).unwrap();
    // The address that it is bound to decides on the interface.
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.send_to(&packet, (announcement_group(session.group.ip()), PORT)).unwrap();
}

#[test]
fn a_receiver_that_a_forged_announcement_led_astray_takes_the_next_one() {
    if !works_here() {
        return;
    }
    let data = content(200_000);
    for keep_going in [false, true] {
        let folder = folder("astray", &data);
        let inbox = folder.path().join("inbox");
        let (number, name) = (150 + 10 * u8::from(keep_going), name(&format!("astray {keep_going}")));
        let sending = sender(folder.path().join("file"), number).start().unwrap();
        let session = sending.events().find_map(|event| match event {
            Event::Ready(ready) => Some(ready.session),
            _ => None,
        });
        let session = session.unwrap();
        let mut elsewhere = session.clone();
        elsewhere.group.set_port(session.group.port() + 1);
        let receiver = Receiver::builder().session_name(&name).interface("127.0.0.1").into(&inbox);
        let receiver = receiver.patience(Duration::from_secs(2)).within(Duration::from_secs(60));
        let receiver = if keep_going { receiver.keep_going() } else { receiver };
        let receiving = receiver.start().unwrap();
        let (is_astray, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    announce(if is_astray.load(Ordering::Relaxed) { &session } else { &elsewhere }, &name);
                    thread::sleep(Duration::from_millis(100));
                }
            });
            for event in &receiving {
                match event {
                    Event::Notice(notice) if notice.name() == "listening" => {
                        is_astray.store(true, Ordering::Relaxed);
                    }
                    Event::Object(ObjectEvent::Complete { .. }) if keep_going => receiving.cancel(),
                    _ => {}
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let ended = receiving.wait();
        assert!(is_astray.into_inner() && (keep_going || ended.is_ok()), "{ended:?}");
        assert!(fs::read(inbox.join("file")).unwrap() == data);
    }
}
