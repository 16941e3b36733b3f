//! `layercast receive` takes sessions of another FLUTE sender, the crate `flute`, over multicast on the loopback
//! interface.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use ::flute::core::lct::Cenc;
use ::flute::core::{Oti, UDPEndpoint};
use ::flute::sender::{CarouselRepeatMode, Config, CreateFromBuffer, Sender, TransferConfig};

use super::relay::{Killed, free_port};
use super::transfer::lo::works_here;
use super::transfer::{group, printed, transfer};
use super::{layercast, scratch};

/// A sender that repeats its files until it is dropped, and then closes the session.
struct Session {
    stop: Arc<AtomicBool>,
    sender: Option<JoinHandle<()>>,
}

impl Session {
    /// Starts to send these files with this code and compression; `complete` is what the table says. `rounds` of none is
    /// without an end.
    fn start(
        group: &str,
        tsi: u64,
        files: Vec<(&'static str, Vec<u8>)>,
        (oti, cenc): (Oti, Cenc),
        (complete, rounds): (bool, Option<u32>),
    ) -> Session {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let to: SocketAddr = group.parse().expect("an address");
        let sender = thread::spawn(move || {
            let socket = socket2::Socket::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket"));
            socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).expect("the interface");
            let endpoint = UDPEndpoint::new(None, to.ip().to_string(), to.port());
            let mut sender = Sender::new(endpoint, tsi, &oti, &Config::default());
            for (path, content) in files {
                let mode = CarouselRepeatMode::DelayBetweenTransfers(Duration::ZERO);
                let config = TransferConfig::builder()
                    .max_transfer_count(rounds.unwrap_or(1_000_000))
                    .carousel_mode(mode)
                    .cenc(cenc)
                    .build();
                let object = CreateFromBuffer::builder()
                    .content(content)
                    .content_type("application/octet-stream".to_owned())
                    .content_location(url::Url::parse(&format!("file:///{path}")).expect("a path"))
                    .config(config)
                    .build();
                sender.add_object(0, object.create().expect("an object")).expect("an object");
            }
            if complete {
                sender.set_complete();
            }
            sender.publish(SystemTime::now()).expect("a table");
            let mut sent = 0u32;
            let limit = rounds.map(|_| 4_000);
            while !flag.load(Ordering::Relaxed) && limit.is_none_or(|limit| sent < limit) {
                // Its receiver joins at some time.
                if let Some(packet) = sender.read(SystemTime::now()) {
                    socket.send_to(&packet, &to.into()).expect("a packet");
                    sent += 1;
                }
                thread::sleep(Duration::from_micros(300));
            }
            let close = sender.read_close_session(SystemTime::now());
            for _ in 0..3 {
                socket.send_to(&close, &to.into()).expect("a packet");
                thread::sleep(Duration::from_millis(20));
            }
        });
        Session { stop, sender: Some(sender) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.sender.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(())) | None) || thread::panicking());
    }
}

fn content(length: usize) -> Vec<u8> {
    (0..length as u32).map(|at| ((at / 3).wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

fn no_code() -> Oti {
    Oti::new_no_code(1000, 64)
}

#[test]
fn a_session_is_received_by_its_line() {
    if !works_here() {
        return;
    }
    let group = group(90);
    let raptorq = Oti::new_raptorq(1000, 128, 32, 1, 4).expect("a code");
    for (name, oti, cenc) in [("gzip", no_code(), Cenc::Gzip), ("raptorq", raptorq, Cenc::Null)] {
        let into = scratch(&format!("flute-{name}"));
        let files = vec![("a/big", content(400_000)), ("small", content(10))];
        let _session = Session::start(&group, 0x1_2345_6789, files, (oti, cenc), (true, None));
        let line = format!("flute://{group}?tsi={}&source=127.0.0.1", 0x1_2345_6789u64);
        let output = transfer(&["receive", &line, "--into", &into.display().to_string()]).output();
        let output = output.expect("it runs");
        let (out, error) = printed(&output);
        assert_eq!(output.status.code(), Some(0), "{name}: {out}{error}");
        assert!(error.contains(&format!("note: receiving {line}, without congestion control")), "{error}");
        assert!(out.contains("2 files in"), "{out}");
        assert!(fs::read(into.join("a/big")).expect("a file") == content(400_000), "{name}");
        assert_eq!(fs::read(into.join("small")).expect("a file"), content(10));
    }
}

#[test]
fn a_session_is_received_through_a_relay() {
    if !works_here() {
        return;
    }
    let group = group(94);
    let (into, listen) = (scratch("flute-relay"), free_port().to_string());
    let _session =
        Session::start(&group, 9, vec![("a", content(100_000))], (no_code(), Cenc::Null), (true, None));
    let relay = ["relay", &group, "--listen", &listen, "--interface", "127.0.0.1", "--quiet"];
    let _relay = Killed(layercast(&relay).stdout(Stdio::null()).spawn().expect("the program starts"));
    let line = format!("flute://{group}?tsi=9");
    let directory = into.display().to_string();
    let output =
        transfer(&["receive", &line, "--into", &directory, "--relay", &listen, "--relay-only"]).output();
    let (out, error) = printed(&output.expect("it runs"));
    assert!(fs::read(into.join("a")).is_ok_and(|bytes| bytes == content(100_000)), "{out}{error}");
    assert!(out.contains("complete"), "{out}");
}

/// Nothing in a name of the network is obeyed by a terminal, forges a line, or shows its end first.
#[test]
fn a_forged_name_is_shown_escaped() {
    if !works_here() {
        return;
    }
    let group = group(93);
    let forged = "x%0Aimage.iso:%20complete%1B[2J%C2%9B31m%E2%80%AEgpj.exe";
    let shown = "x\\u000aimage.iso: complete\\u001b[2J\\u009b31m\\u202egpj.exe";
    let files = vec![(forged, content(10)), ("a%E2%80%AEgpj.exe", content(20))];
    let _session = Session::start(&group, 7, files, (no_code(), Cenc::Null), (true, None));
    let line = format!("flute://{group}?tsi=7&source=127.0.0.1");
    for json in [false, true] {
        let into = scratch("flute-forged");
        let mut command = transfer(&["receive", &line, "--into", &into.display().to_string()]);
        let output = command.args(json.then_some("--json")).output().expect("it runs");
        let (out, error) = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{out}{error}");
        for text in [&out, &error] {
            let raw = text.chars().find(|char| (char.is_control() && *char != '\n') || *char == '\u{202e}');
            assert_eq!(raw, None, "{text:?}");
            assert!(!text.contains("\nimage.iso"), "{text}");
        }
        assert!(error.contains(&format!("\nwarning: {shown}: its path is not safe")), "{error}");
        assert!(error.contains("\nerror: 1 of 2 objects could not be received:\n  x\\nimage.iso"), "{error}");
        if json {
            let names = out.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
            assert!(names.into_iter().any(|event| event["path"] == "a\u{202e}gpj.exe"), "{out}");
        }
    }
}

/// A table need not say that it is complete: then the end of the session is the end.
#[test]
fn a_session_is_received_by_sdp_until_its_sender_ends_it() {
    if !works_here() {
        return;
    }
    let (group, into) = (group(91), scratch("flute-sdp"));
    let (address, port) = group.split_once(':').expect("a port");
    let sdp = into.join("session.sdp");
    let text = format!(
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=Files\r\nt=0 0\r\na=flute-tsi:7\r\na=flute-ch:1\r\n\
         m=application {port} FLUTE/UDP *\r\nc=IN IP4 {address}/1\r\n"
    );
    fs::write(&sdp, &text).expect("a description");
    let folder = into.join("into");
    fs::create_dir(&folder).expect("a folder");
    let (sdp, folder) = (sdp.display().to_string(), folder.display().to_string());
    let receiver = transfer(&["receive", &sdp, "--into", &folder]).spawn().expect("it runs");
    let files = vec![("one", content(50_000)), ("two", content(60_000))];
    let session = Session::start(&group, 7, files, (no_code(), Cenc::Null), (false, Some(1000)));
    let output = receiver.wait_with_output().expect("its end");
    drop(session);
    let (out, error) = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{out}{error}");
    assert!(fs::read(into.join("into/two")).expect("a file") == content(60_000));
    // Several channels: how receivers should share them is not known.
    let several = text.replace("flute-ch:1", "flute-ch:2").replace("/1\r\n", "/1/2\r\n");
    fs::write(&sdp, several).expect("a description");
    let (_, error) = printed(&transfer(&["receive", &sdp, "--into", &folder]).output().expect("it runs"));
    assert!(error.contains("a FLUTE session of 2 channels"), "{error}");
}

#[test]
fn what_does_not_fit_such_a_session_is_said() {
    if !works_here() {
        return;
    }
    let (group, into) = (group(92), scratch("flute-wrong"));
    let folder = into.display().to_string();
    let refused = |words: &[&str], status: i32| {
        let output = transfer(&[&["receive", "--into", &folder], words].concat()).output().expect("it runs");
        let (_, error) = printed(&output);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {error}");
        error
    };
    let line = format!("flute://{group}?tsi=7");
    assert!(refused(&[&line, "--mirror"], 2).contains("--mirror cannot be used with `receive flute://...`"));
    let without = format!("flute://{group}");
    assert!(refused(&[&without], 2).contains("it needs the number of the session"));
    // Another session is there, and then a code that is not supported.
    let reed_solomon = Oti::new_reed_solomon_rs28(1000, 20, 4).expect("a code");
    let files = vec![("file", content(50_000))];
    let _session = Session::start(&group, 8, files, (reed_solomon, Cenc::Null), (true, None));
    let error = refused(&[&line, "--patience", "1 s"], 1);
    assert!(error.contains("packets of another session"), "{error}");
    // It codes the table in the same way as the files.
    let error = refused(&[&line.replace("=7", "=8"), "--patience", "3 s"], 1);
    assert!(error.contains("FEC encoding 5; 0 (no code) and 6 (RaptorQ) are supported"), "{error}");
    assert!(error.contains("of a session without a usable file delivery table"), "{error}");
}
