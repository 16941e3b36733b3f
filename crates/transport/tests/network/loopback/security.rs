//! Keys: what a receiver takes with each of them, next to forgers, and what it says when they do not fit.

use std::io::ErrorKind;
use std::net::UdpSocket;

use layercast_delivery::packet::Completion;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::feedback::FeedbackMac;
use layercast_delivery::security::keys::{GroupKey, PublicKey, SecretKey};
use layercast_delivery::security::protection::Rejection;
use layercast_delivery::security::signed::SignatureError;
use layercast_delivery::signed_table::Untrusted;

use super::*;

fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

fn trusting(number: u8, into: PathBuf, key: PublicKey) -> ReceiveOptions {
    ReceiveOptions { keys: vec![key], ..receiving(number, into) }
}

fn reason(error: Error) -> Error {
    match error {
        Error::Kept { reason, .. } => *reason,
        other => other,
    }
}

#[test]
fn a_session_is_taken_if_a_trusted_key_has_signed_it() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("signed");
    let data = content(3_000_000);
    let file = temp.with("file", &data);
    let options = SendOptions { key: Some(key(1)), ..sending(200, "elm", Ends::default()) };
    let source = start(file.clone(), options);
    source.session();
    let (path, report) = get(&trusting(200, temp.directory("right"), key(1).public())).unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    assert_eq!((report.untrusted_tables, report.assembly.forged), (0, 0));
    // Who asks for no key takes it too.
    let (path, _) = get(&receiving(200, temp.directory("any"))).unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    let wrong = refusal(&trusting(200, temp.directory("wrong"), key(2).public()));
    let expected = Untrusted::Signature(SignatureError::Key);
    assert!(
        matches!(&wrong, Error::Receive(ReceiveError::NotSigned { reason, .. }) if *reason == expected),
        "{wrong}"
    );
    source.end().unwrap();

    let source = start(file, sending(204, "elm", Ends::default()));
    source.session();
    let unsigned = refusal(&trusting(204, temp.directory("unsigned"), key(1).public()));
    let is_unsigned =
        matches!(&unsigned, Error::Receive(ReceiveError::NotSigned { reason: Untrusted::Unsigned, .. }));
    assert!(is_unsigned, "{unsigned}");
    source.end().unwrap();
}

/// Why a session is refused, by a receiver that waits for another one for a few seconds.
fn refusal(options: &ReceiveOptions) -> Error {
    get(&ReceiveOptions { start_within: Duration::from_secs(5), ..options.clone() }).unwrap_err()
}

/// Anyone can send a session: a receiver with a key waits on for the one that fits it, and says what it passes over.
#[test]
fn a_receiver_with_a_key_waits_for_its_own_session_whatever_else_is_sent() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("waits");
    let (data, evil) = (content(30_000), temp.with("evil", &content(100_000)));
    let group_key = GroupKey::from_seed(&[1; 32]);
    let own = temp.with("own", &data);
    // With another session number than the plain session, which is of the same host.
    let own_number = |number| SendOptions { seed: Some(1000), ..sending(number, "elm", Ends::default()) };
    let signed = SendOptions { key: Some(key(1)), ..own_number(236) };
    let grouped = SendOptions { group_key: Some(group_key.clone()), ..own_number(254) };
    let trusting = trusting(236, temp.directory("signed"), key(1).public());
    let with_key = ReceiveOptions { group_key: Some(group_key), ..receiving(254, temp.directory("grouped")) };
    let cases = [(236, signed, trusting, "table_rejected"), (254, grouped, with_key, "passed_over")];
    for (number, sends, receives, notice) in cases {
        let plain = start(evil.clone(), sending(number, "elm", Ends::default()));
        plain.session();
        let options = ReceiveOptions { start_within: Duration::from_secs(60), ..receives };
        let receiver = thread::spawn(move || {
            let mut notices = Vec::new();
            let received = receive(&options, &AtomicBool::new(false), &mut |event| {
                if let Event::Notice(notice) = event {
                    notices.push(notice.name());
                }
            });
            (received.map(|_| fs::read(options.into.join("own")).unwrap()), notices)
        });
        // Longer than a receiver looks at what it cannot use before it says so.
        thread::sleep(Duration::from_secs(5));
        let source = start(own.clone(), sends);
        let (received, notices) = receiver.join().unwrap();
        assert!(received.unwrap() == data);
        assert!(notices.iter().filter(|name| **name == notice).count() == 1, "{notices:?}");
        source.end().unwrap();
        plain.end().unwrap();
    }
}

/// Sends what `forge` makes of the session's packets, from the address of the source, until it is stopped.
fn attack(
    to: SocketAddr,
    stop: Arc<AtomicBool>,
    forge: impl Fn(u32, &[u8]) -> Option<Vec<u8>> + Send + 'static,
) -> thread::JoinHandle<u64> {
    let SocketAddr::V4(to) = to else { panic!("IPv4") };
    thread::spawn(move || {
        let say = socket2::Socket::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        say.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        let own = say.local_addr().unwrap().as_socket_ipv4().unwrap().port();
        let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).unwrap();
        listener.set_reuse_address(true).unwrap();
        listener.bind(&to.into()).unwrap();
        listener.join_multicast_v4(to.ip(), &Ipv4Addr::LOCALHOST).unwrap();
        listener.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let listener = UdpSocket::from(listener);
        let (mut packet, mut heard, mut sent) = ([0; 2000], 0, 0);
        while !stop.load(Ordering::Relaxed) {
            let (length, from) = match listener.recv_from(&mut packet) {
                Ok(received) => received,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
                Err(error) => panic!("{error}"),
            };
            // Its own packets come back too.
            if from.port() == own {
                continue;
            }
            heard += 1;
            if let Some(bytes) = forge(heard, &packet[..length]) {
                say.send_to(&bytes, &to.into()).unwrap();
                sent += 1;
            }
        }
        sent
    })
}

/// The words of the LCT header, which have the object number at their end.
fn is_table(packet: &[u8]) -> bool {
    packet.get(12..16) == Some(&[0; 4])
}

#[test]
fn forged_tables_and_symbols_cost_blocks_and_no_wrong_byte_is_kept() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("forged");
    let data = content(3_000_000);
    let options = SendOptions { key: Some(key(1)), ..sending(208, "elm", Ends::default()) };
    let source = start(temp.with("file", &data), options);
    let session = source.session();
    let stop = Arc::new(AtomicBool::new(false));
    // Tables under the number of the next instance, which is in EXT_FDT, all the time, and symbols for four seconds.
    let attacker = attack(session.group, Arc::clone(&stop), |heard, packet| {
        let mut forged = packet.to_vec();
        if is_table(packet) {
            let fdt = forged.windows(2).position(|two| two[0] == 192 && two[1] >> 4 == 2)?;
            forged[fdt + 3] ^= 1;
            return Some(forged);
        }
        let last = forged.len() - 1;
        // Other content under a number that has not been sent yet: a repair symbol.
        forged[last] ^= 1;
        let id = forged.len() - session_symbol(packet)?;
        forged[id - 2] ^= 0x40;
        (heard < 2000 && heard % 100 == 0).then_some(forged)
    });
    let (path, report) = get(&trusting(208, temp.directory("into"), key(1).public())).unwrap();
    stop.store(true, Ordering::Relaxed);
    let sent = attacker.join().unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    assert!(sent > 10, "{sent} forged packets");
    assert!(report.untrusted_tables > 0 && report.assembly.forged > 0, "{sent} forged packets: {report:?}");
    source.end().unwrap();
}

/// The length of the symbol in a packet: packets have symbols of one size, after the payload id.
fn session_symbol(packet: &[u8]) -> Option<usize> {
    let view = layercast_delivery::packet::View::new(packet).ok()?;
    view.payload().len().checked_sub(4)
}

fn encrypting(number: u8, group_key: &GroupKey) -> SendOptions {
    SendOptions {
        group_key: Some(group_key.clone()),
        encrypts: true,
        ..sending(number, "elm", Ends::default())
    }
}

#[test]
fn an_encrypted_session_needs_its_key_and_its_salt() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("encrypted");
    let data = content(1_000_000);
    let (right, wrong) = (GroupKey::from_seed(&[1; 32]), GroupKey::from_seed(&[2; 32]));
    let source = start(temp.with("file", &data), encrypting(212, &right));
    let session = source.session();
    let salt = session.salt;
    assert!(salt.is_some());
    let with = |name: &str, key: Option<&GroupKey>, salt: Option<Salt>| ReceiveOptions {
        group_key: key.cloned(),
        salt,
        ..receiving(212, temp.directory(name))
    };
    let (path, report) = get(&with("right", Some(&right), salt)).unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    assert!(report.protection.accepted > 1000 && report.protection.forged() == 0, "{report:?}");
    let described = ReceiveOptions {
        known: Known::Session(Box::new(session.clone())),
        ..with("described", Some(&right), None)
    };
    assert_eq!(fs::read(get(&described).unwrap().0).unwrap(), data);

    let error = |options: &ReceiveOptions| reason(refusal(options));
    let refused = error(&with("wrong", Some(&wrong), salt));
    assert!(matches!(refused, Error::Receive(ReceiveError::WrongGroupKey { .. })), "{refused}");
    let refused = error(&with("salt", Some(&right), Some(Salt([0; 16]))));
    assert!(matches!(refused, Error::Receive(ReceiveError::WrongGroupKey { .. })), "{refused}");
    let refused = error(&with("missing", None, None));
    assert!(matches!(refused, Error::Receive(ReceiveError::Encrypted)), "{refused}");
    let refused = error(&with("no-salt", Some(&right), None));
    assert!(matches!(refused, Error::Receive(ReceiveError::NoSalt)), "{refused}");
    assert!(refused.to_string().contains("use its URL"), "{refused}");
    // A description says so at once.
    let without = ReceiveOptions { known: Known::Session(Box::new(session)), ..with("none", None, None) };
    assert!(matches!(error(&without), Error::Receive(ReceiveError::GroupKey { .. })));
    source.end().unwrap();
}

#[test]
fn a_session_with_a_mac_needs_its_key_and_no_salt() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("mac");
    let data = content(500_000);
    let file = temp.with("file", &data);
    let (right, wrong) = (GroupKey::from_seed(&[1; 32]), GroupKey::from_seed(&[2; 32]));
    let options = SendOptions { encrypts: false, ..encrypting(216, &right) };
    let source = start(file.clone(), options);
    let session = source.session();
    let stop = Arc::new(AtomicBool::new(false));
    // Packets that came before, and packets with a number that has not come yet: it is after two bytes of EXT_AUTH.
    let attacker = attack(session.group, Arc::clone(&stop), |heard, packet| {
        let mut forged = packet.to_vec();
        let auth = forged.windows(2).position(|two| *two == [1, 6])?;
        forged[auth + 5] ^= (heard % 2) as u8;
        Some(forged)
    });
    let with = |name: &str, key: &GroupKey| ReceiveOptions {
        group_key: Some(key.clone()),
        ..receiving(216, temp.directory(name))
    };
    let (path, report) = get(&with("right", &right)).unwrap();
    stop.store(true, Ordering::Relaxed);
    attacker.join().unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    let (forged, replayed) = (report.protection.forged(), report.protection.rejected(Rejection::Replayed));
    assert!(forged > 20 && replayed > 20 && report.protection.accepted > 400, "{forged} forged: {report:?}");
    let refused = refusal(&with("wrong", &wrong));
    assert!(matches!(refused, Error::Receive(ReceiveError::WrongGroupKey { .. })), "{refused}");
    let salted = ReceiveOptions { salt: Some(Salt([0; 16])), ..with("salted", &right) };
    let refused = refusal(&salted);
    assert!(matches!(refused, Error::Receive(ReceiveError::NotEncrypted)), "{refused}");
    source.end().unwrap();
    // What has no protection is not taken with a key.
    let source = start(file, sending(220, "elm", Ends::default()));
    source.session();
    let unprotected = ReceiveOptions { known: Known::Group(group(220), None), ..with("none", &right) };
    let refused = refusal(&unprotected);
    assert!(matches!(refused, Error::Receive(ReceiveError::NotAuthenticated)), "{refused}");
    source.end().unwrap();
}

/// A receiver that knows the salt follows a sender that was started again, whose packet numbers go on.
#[test]
fn a_sender_with_a_state_keeps_its_salt_and_uses_no_packet_number_again() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("numbers");
    let data = content(800_000);
    let (file, state) = (temp.with("file", &data), temp.0.join("state"));
    let group_key = GroupKey::from_seed(&[3; 32]);
    let options = |seed: u64| SendOptions {
        state: Some(state.clone()),
        seed: Some(seed),
        key: Some(key(1)),
        ..encrypting(224, &group_key)
    };
    let granted = || {
        // A record of JSON, between its length and its checksum.
        let bytes = fs::read(&state).unwrap();
        let begin = bytes.iter().position(|byte| *byte == b'{').unwrap();
        let state = serde_json::Deserializer::from_slice(&bytes[begin..]).into_iter().next();
        let state: serde_json::Value = state.unwrap().unwrap();
        (state["salt"].as_str().unwrap().parse::<Salt>().unwrap(), state["granted"].as_u64().unwrap())
    };
    let mut sessions = Vec::new();
    for (life, into) in [(1, "first"), (2, "second")] {
        let source = start(file.clone(), options(life));
        let session = source.session();
        assert_eq!(granted(), (session.salt.unwrap(), life << 24), "stored before the first packet");
        sessions.push(session);
        let options = ReceiveOptions {
            group_key: Some(group_key.clone()),
            salt: sessions[0].salt,
            ..trusting(224, temp.directory(into), key(1).public())
        };
        assert_eq!(fs::read(get(&options).unwrap().0).unwrap(), data);
        source.end().unwrap();
    }
    assert_eq!(sessions[0].salt, sessions[1].salt);
    assert_ne!(sessions[0].tsi, sessions[1].tsi);
}

/// Who does not know the group key cannot report, complete or turn away in a receiver's place.
#[test]
fn a_group_key_authenticates_what_receivers_send() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("feedback");
    let data = content(1_500_000);
    let group_key = GroupKey::from_seed(&[3; 32]);
    let ends = Ends { completions: Some(1), after: Some(Duration::from_secs(30)), ..Ends::default() };
    let options = SendOptions { encrypts: false, ends, ..encrypting(228, &group_key) };
    let source = start(temp.with("file", &data), options);
    let session = source.session();
    let attacker = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let receiver = std::num::NonZeroU64::new(99).unwrap();
    let plain = Completion { tsi: session.tsi, toi: 0, receiver }.to_bytes();
    let wrong = FeedbackMac::new(&GroupKey::from_seed(&[4; 32]), session.tsi);
    let mut room = [0; 100];
    let tagged = wrong.protect(&plain, &mut room).unwrap();
    for _ in 0..10 {
        attacker.send_to(&plain, session.feedback).unwrap();
        attacker.send_to(tagged, session.feedback).unwrap();
    }
    let options = ReceiveOptions { group_key: Some(group_key), ..receiving(228, temp.directory("into")) };
    assert_eq!(fs::read(get(&options).unwrap().0).unwrap(), data);
    let sent = source.thread.join().unwrap().unwrap();
    assert_eq!((sent.stopped, sent.completed.len()), (Stopped::Completions, 1));
    let counters = sent.progress.counters;
    assert_eq!((counters.forged_feedback, counters.bad_feedback), (20, 0), "{counters:?}");
    assert!(counters.reports > 0 && counters.completions > 0, "{counters:?}");
}
