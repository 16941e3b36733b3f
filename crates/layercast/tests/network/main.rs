//! Transfers by the public interface, over the loopback interface.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../../transport/tests/network/lo.rs"]
mod lo;
#[path = "../../examples/receive.rs"]
mod receiving;
#[path = "../../examples/send.rs"]
mod sending;

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use layercast::keys::{GroupKey, KeyFile, read_key};
use layercast::{
    Error, Event, ObjectEvent, Rate, Receiver, ReceiverBuilder, Sender, SenderBuilder, Sending, Stopped,
};
use lo::works_here;

/// Each test has its own groups, and each run its own port.
fn group(number: u8) -> String {
    format!("239.255.80.{number}:{}", 20_000 + std::process::id() % 20_000)
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
