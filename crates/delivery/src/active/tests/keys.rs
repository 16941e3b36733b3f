//! Chunks are protected from end to end, by keys that relays do not have; and what a receiver has that came late.

use layercast_core::option::RawValue;

use super::*;
use crate::node::ReceiveError;
use crate::security::encryption::Salt;
use crate::security::keys::GroupKey;
use crate::security::protection::{Outgoing, Scheme};
use crate::security::sequence::{SEQUENCE_MAX, Sequence};

fn group_key(byte: u8) -> GroupKey {
    GroupKey::from_seed(&[byte; 32])
}

/// A session protected by the key 1, whose receivers have the keys that are given.
fn protected(protocol: &str, is_encrypted: bool, keys: &dyn Fn(usize) -> Option<GroupKey>) -> Net {
    let protocol: Protocol = deployed(protocol).expect("a protocol");
    let (key, salt) = (group_key(1), is_encrypted.then_some(Salt([5; 16])));
    let session = Session { group_key: Some(key.fingerprint().to_string()), salt, ..session(&protocol) };
    let (scheme, mut numbers) = (Scheme::of(&key, salt, session.tsi), Sequence::after(0));
    numbers.grant(SEQUENCE_MAX);
    let receivers = |node: usize, settings: &mut ReceiverSettings| settings.group_key = keys(node);
    Net::of(session, &protocol, &TREE, &LENGTHS, 0.03, &receivers, |source| {
        source.protect(Outgoing::new(scheme, numbers));
    })
}

fn taking(net: &Net, node: usize) -> &Taking {
    let Node::Receiver(taking) = &net.nodes[node] else { panic!("node {node} is a receiver") };
    taking
}

#[test]
fn relays_repeat_what_they_cannot_read() {
    for protocol in ["amca", "nca"] {
        for is_encrypted in [false, true] {
            let mut net = protected(protocol, is_encrypted, &|_| Some(group_key(1)));
            assert!(net.run(600), "{protocol}: the source is not done at {}", net.now);
            net.assert_complete(&LENGTHS);
            for node in [2, 3, 5, 6] {
                let counters = taking(&net, node).node.protection().copied();
                assert!(counters.is_none_or(|counters| counters.forged() == 0), "{counters:?}");
            }
        }
    }
}

#[test]
fn a_receiver_without_the_key_takes_nothing() {
    let mut net = protected("amca", true, &|node| match node {
        2 => None,
        3 => Some(group_key(2)),
        _ => Some(group_key(1)),
    });
    net.run(10);
    for node in [2, 3] {
        let one = taking(&net, node);
        let refused = matches!(&one.ended, Some(Err(Failure::Session(ReceiveError::GroupKey { .. }))));
        assert!(refused && one.node.sink.disk().files().next().is_none(), "{:?}", one.ended);
    }
    assert!(net.run(600), "the others are served on");
    [5, 6].iter().for_each(|&node| taking(&net, node).assert_complete(node, &LENGTHS));
}

/// Copies with other bytes are dropped, and what they stand for is repaired: files come whole.
#[test]
fn changed_pieces_are_as_good_as_lost() {
    let (mut complete, mut rejected) = (0, 0);
    for seed in 0..u64::from(cases(12)) {
        let mut net = protected("nca", seed % 2 == 0, &|_| Some(group_key(1)));
        net.changed = Some(Stream::new(seed, "changed"));
        net.run(60);
        for node in [2, 3, 5, 6] {
            let one = taking(&net, node);
            rejected += one.counters().malformed;
            for (path, bytes) in one.node.sink.disk().files().filter(|(path, _)| !path.starts_with('.')) {
                let index: usize =
                    path.rsplit('/').next().and_then(|name| name.parse().ok()).expect("a number");
                assert!(bytes == content(index, LENGTHS[index]), "seed {seed}, node {node}: {path}");
            }
            complete += usize::from(one.node.sink.is_complete());
        }
    }
    assert!(complete > 0, "the headers of the protocol are not protected, but most sessions go on");
    assert!(rejected > 0, "some of the copies were chunks");
}

#[test]
fn who_comes_late_keeps_what_comes_and_says_so() {
    let lengths = [2_000_000, 700_000];
    let mut protocol: Protocol = deployed("amca").expect("a protocol");
    // What is needed no more is kept for so many packets.
    protocol.set("buffer_packets", RawValue::from_text("600")).expect("an option");
    let mut net = Net::of(session(&protocol), &protocol, &[0, 0], &lengths, 0.0, &|_, _| {}, |_| {});
    let mut late = Some(std::mem::replace(
        &mut net.nodes[2],
        Node::Relay(Box::new(RelayNode::new(
            "amca",
            &up(0),
            &down(),
            Time::ZERO,
            [random(9, 2), random(9, 3)],
        ))),
    ));
    net.gone.push(2);
    let begun = |net: &Net| matches!(&net.nodes[0], Node::Source(source, _) if source.reached() > 1200);
    while !begun(&net) {
        assert!(!net.run(1), "there is more to send");
    }
    net.nodes[2] = late.take().expect("the receiver");
    net.gone.clear();
    assert!(net.run(600), "the source is not done at {}", net.now);
    let one = taking(&net, 2);
    assert!(one.notices.contains(&"came_late"), "{:?}", one.notices);
    let ended = matches!(&one.ended, Some(Err(Failure::Session(ReceiveError::SessionEnded { .. }))));
    assert!(ended, "{:?}", one.ended);
    // The second file came whole, and of the first a part is kept.
    let progress = one.node.sink.progress();
    assert_eq!((progress.complete, progress.objects), (1, 2), "{progress:?}");
    assert!(one.node.sink.kept().0 > 200, "{:?}", one.node.sink.kept());
}
