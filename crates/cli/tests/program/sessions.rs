//! Sessions that are announced, listed, and received by their names and URLs.
//!
//! The groups are of the organisation's scope: other tests announce theirs in the local scope, and share the rate of
//! announcements there.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use layercast_delivery::announce::sap::{Kind, Message, message_hash};
use layercast_delivery::announce::sdp::{Description, Media, Origin};
use layercast_delivery::security::keys::SecretKey;
use layercast_testkit::{Missing, port, skip};
use serde_json::Value;

use super::transfer::lo::works_here;
use super::transfer::{ended, printed, signal, start, transfer, with_file};
use super::{run, text};

/// The group of a test; each has its own port in each run.
fn group(number: u8) -> String {
    format!("239.1.79.{number}:{}", port(number))
}

/// A name that no other run of the tests uses.
fn name(what: &str) -> String {
    format!("{what} {}", std::process::id())
}

fn key(directory: &Path, name: &str) -> (String, String) {
    let secret = directory.join(name).display().to_string();
    let made = run(&["key", "new", &secret]);
    assert!(made.status.success(), "{made:?}");
    let public = format!("{secret}.pub");
    (secret, public)
}

fn fingerprint(public: &str) -> String {
    let shown = text(&run(&["key", "show", public]).stdout);
    let line = shown.lines().find_map(|line| line.strip_prefix("fingerprint"));
    line.expect("a fingerprint").trim().to_owned()
}

/// A listener, and the line of the event that it waits for.
struct Listener {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Listener {
    fn new(arguments: &[&str]) -> Listener {
        let all = [&["sessions", "--json", "--for", "2 min"], arguments].concat();
        let mut child = transfer(&all).spawn().expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("its output"));
        Listener { child, lines }
    }

    /// The next event of this kind about a session, or about all.
    fn event(&mut self, kind: &str, about: Option<&str>) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).expect("its output") > 0, "no event `{kind}`");
            let event: Value = serde_json::from_str(&line).expect("JSON");
            if event["event"] == kind && about.is_none_or(|name| event["name"] == name) {
                return event;
            }
        }
    }

    fn stop(mut self) {
        signal(&self.child, "INT");
        assert!(self.child.wait().expect("its end").success());
    }
}

#[test]
fn a_signed_session_is_listed_and_received_with_its_key_only() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("signed", 50_000);
    let into = directory.join("into");
    let ((secret, public), (_, other)) = (key(&directory, "hall"), key(&directory, "other"));
    let (group, name) = (group(1), name("signed"));
    let mut listener = Listener::new(&["--key", &public]);
    let sending = ["send", &file, "--group", &group, "--to", "8 Mbit/s", "--key", &secret, "--name", &name];
    let (child, _, mut stdout) = start(&sending);
    let mut url = String::new();
    stdout.read_line(&mut url).expect("a line");
    assert!(url.starts_with(&format!("layercast://{group}?source=127.0.0.1&key=")), "{url}");

    let event = listener.event("new", Some(&name));
    assert_eq!(event["group"], group);
    assert_eq!(event["source"], "127.0.0.1");
    assert_eq!(event["protocol"], "tide");
    assert_eq!((&event["layers"], &event["files"], &event["bytes"]), (&16.into(), &1.into(), &50_000.into()));
    assert_eq!((&event["signed_by"], &event["trusted"]), (&fingerprint(&public).into(), &true.into()));
    assert_eq!(event["url"], url.trim_end());
    assert!(event["age_s"].as_u64().is_some_and(|age| age < 600), "{event}");

    let place = into.display().to_string();
    let receive = |session: &str, more: &[&str]| {
        let all = [&["receive", session, "--into", &place, "--replace"], more].concat();
        transfer(&all).output().expect("it runs")
    };
    let refused = receive(&name, &["--key", &other, "--start-within", "20 s"]);
    let (_, error) = printed(&refused);
    assert_eq!(refused.status.code(), Some(1), "{error}");
    let expected = format!(
        "`{name}` is refused: it is signed by {}, which is not trusted, and only sessions that {} has signed are received",
        fingerprint(&public),
        fingerprint(&other)
    );
    assert!(error.contains(&expected), "{error}");
    let contradiction = receive(url.trim_end(), &["--key", &other]);
    assert_eq!(contradiction.status.code(), Some(2), "{contradiction:?}");
    for (session, more) in [(&name[..], &["--key", &public][..]), (url.trim_end(), &[])] {
        let received = receive(session, more);
        assert_eq!(received.status.code(), Some(0), "{session}: {:?}", printed(&received));
        assert_eq!(fs::read(into.join("a file")).expect("the file"), vec![7; 50_000]);
        fs::remove_file(into.join("a file")).expect("the file");
    }
    signal(&child, "TERM");
    listener.event("ended", Some(&name));
    listener.stop();
    let (out, error, status) = ended(child, stdout);
    assert_eq!(status, Some(0), "{out}{error}");
}

#[test]
fn an_unsigned_session_is_received_by_name_url_and_description_and_refused_with_a_key() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("unsigned", 50_000);
    let into = directory.join("into");
    let ((secret, public), (_, other)) = (key(&directory, "hall"), key(&directory, "other"));
    let (group, sdp) = (group(20), directory.join("session.sdp").display().to_string());
    let name = name("unsigned");
    let named = directory.join(&name);
    fs::rename(&file, &named).expect("the file");
    let path = named.display().to_string();
    let (child, _, mut stdout) =
        start(&["send", &path, "--group", &group, "--to", "8 Mbit/s", "--describe", &sdp]);
    let mut url = String::new();
    stdout.read_line(&mut url).expect("a line");
    assert!(!url.contains("key=") && url.contains("&name=unsigned%20"), "{url}");

    let place = into.display().to_string();
    let receive = |session: &str, more: &[&str]| {
        let all = [&["receive", session, "--into", &place], more].concat();
        transfer(&all).output().expect("it runs")
    };
    // The name of the session is that of the file.
    for session in [url.trim_end(), &sdp, &name] {
        let received = receive(session, &[]);
        assert_eq!(received.status.code(), Some(0), "{session}: {:?}", printed(&received));
        fs::remove_file(into.join(&name)).expect("the file");
    }
    let refused = receive(&name, &["--key", &public, "--start-within", "20 s"]);
    assert_eq!(refused.status.code(), Some(1));
    let (_, error) = printed(&refused);
    assert!(error.contains(&format!("`{name}` is refused: it is not signed, from 127.0.0.1")), "{error}");
    // A description with a signature next to it.
    assert!(run(&["key", "sign", &secret, &sdp]).status.success());
    let refused = receive(&sdp, &["--key", &other]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(printed(&refused).1.contains("a key that is not trusted here"), "{:?}", printed(&refused));
    // What is described is signed then, and what is sent is not.
    let refused = receive(&sdp, &["--key", &public]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(printed(&refused).1.contains("the file delivery table is not signed"), "{:?}", printed(&refused));
    signal(&child, "INT");
    ended(child, stdout);
}

#[test]
fn a_wrong_signature_is_reported_and_no_session() {
    if !works_here() {
        return;
    }
    let source = Ipv4Addr::LOCALHOST;
    let origin = Origin::new(source.into(), u64::from(std::process::id()), 1);
    let media = Media {
        port: 5500,
        group: Ipv4Addr::new(239, 1, 79, 60).into(),
        ttl: Some(1),
        channels: 1,
        kbps: None,
        fec: Vec::new(),
    };
    let description = Description {
        origin,
        name: "forged".to_owned(),
        information: None,
        start_s: 0,
        stop_s: 0,
        source: Some(source.into()),
        tsi: 1,
        key: None,
        fec: Vec::new(),
        media: vec![media],
        lines: Vec::new(),
    };
    let payload = description.write().expect("a description");
    let message = Message {
        kind: Kind::Announcement,
        hash: message_hash(&payload),
        origin: source.into(),
        payload: &payload,
    };
    let mut packet = message.write(Some(&SecretKey::from_seed(&[1; 32]))).expect("a packet");
    *packet.last_mut().expect("a byte") = b' ';
    let from = socket2::Socket::from(UdpSocket::bind((source, 0)).expect("a socket"));
    from.set_multicast_if_v4(&source).expect("the interface");
    let to = SocketAddrV4::new(Ipv4Addr::new(239, 195, 255, 255), 9875);
    let mut listener = Listener::new(&[]);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The listener joins at some time: repeat it until it has been received.
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                from.send_to(&packet, &to.into()).expect("a packet");
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        let event = listener.event("refused", None);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(event["from"], "127.0.0.1");
        assert_eq!(event["reason"], "the signature is wrong");
    });
    listener.stop();
}

#[test]
fn words_that_name_no_session_are_refused() {
    let refused = |words: &[&str], status: i32| {
        let output = transfer(&[&["receive", "--into", "."], words].concat()).output().expect("it runs");
        let (_, error) = printed(&output);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {error}");
        error
    };
    assert!(refused(&["http://239.1.2.0:5500"], 2).contains("it must begin with `layercast://`"));
    assert!(refused(&["layercast://239.1.2.0"], 2).contains("has no valid port"));
    assert!(refused(&["no-such.sdp"], 1).contains("no-such.sdp cannot be read"));
    assert!(refused(&["news", "--group", "239.1.2.0"], 2).contains("cannot be used with"));
    assert!(refused(&[], 2).contains("required"));
    if works_here() {
        let error = refused(&["no such session", "--start-within", "1 s"], 1);
        assert!(error.contains("no session `no such session` is announced"), "{error}");
    }
}

/// A network of its own with one interface; 77 where that cannot be made.
const SIX: &str = r#"
ip link add v0 type veth peer name v1 || exit 77
ip link set lo up && ip link set v0 up && ip link set v1 up || exit 77
ip -6 address add fd00::1/64 dev v0 nodad || exit 77
"$0" send "$1" --group '[ff05::79:1]:5500' --base '4 Mbit/s' --interface v0 --name six &
"$0" receive six --interface v0 --into "$2"
status=$?
kill -TERM $! && wait $!
exit $status
"#;

#[test]
fn a_session_of_ipv6_is_received_by_name() {
    let (directory, file) = with_file("six", 50_000);
    let into = directory.join("into");
    let program = env!("CARGO_BIN_EXE_layercast");
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", SIX, program, &file]).arg(&into);
    let output = command.output().expect("unshare");
    let error = text(&output.stderr);
    if output.status.code() == Some(77) || error.contains("unshare failed") {
        skip(Missing::Netns, error);
        return;
    }
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}{error}");
    assert!(out.contains("\nlayercast://[ff05::79:1]:5500?source=fd00::1&name=six\n"), "{out}");
    assert_eq!(fs::read(into.join("a file")).expect("the file"), vec![7; 50_000]);
}

#[test]
fn a_session_that_is_not_announced_says_nothing() {
    if !works_here() {
        return;
    }
    let (_, file) = with_file("silent", 1000);
    let (group, name) = (group(80), name("silent"));
    let arguments = ["send", &file, "--group", &group, "--no-announce", "--to", "2 Mbit/s", "--name", &name];
    let (child, _, stdout) = start(&arguments);
    let mut heard = transfer(&["sessions", "--for", "9 s"]).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut listed = String::new();
    heard.stdout.take().expect("its output").read_to_string(&mut listed).expect("its output");
    assert!(heard.wait().expect("its end").success());
    assert!(!listed.contains(&name), "{listed}");
    signal(&child, "INT");
    ended(child, stdout);
}
