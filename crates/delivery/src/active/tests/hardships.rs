//! Nodes that vanish, and datagrams that nobody should send.

use super::*;

/// The children of a relay, and the chunks that a receiver keeps.
fn sizes(node: &Node) -> (usize, usize) {
    match node {
        Node::Source(source, _) => (source.links().count(), 0),
        Node::Relay(relay) => (relay.down().count(), 0),
        Node::Receiver(taking) => (0, taking.node.member().map_or(0, |member| member.kept())),
    }
}

#[test]
fn nodes_that_vanish_hold_nothing_up_for_ever() {
    for protocol in ["amca", "nca"] {
        // A receiver; and a relay, so that the two receivers behind it are lost too.
        for (gone, lost) in [(6, vec![6]), (4, vec![4, 5, 6])] {
            let mut net = Net::new(protocol, &TREE, &LENGTHS, 0.0);
            assert!(!net.run(2), "{protocol}: the source is done at once");
            net.gone.push(gone);
            assert!(net.run(600), "{protocol} without node {gone}: the source is not done at {}", net.now);
            let nodes = std::mem::take(&mut net.nodes).into_iter().enumerate();
            net.nodes = nodes.filter(|(node, _)| !lost.contains(node)).map(|(_, node)| node).collect();
            net.assert_complete(&LENGTHS);
            let kept: Vec<usize> = net.nodes.iter().map(|node| sizes(node).1).collect();
            assert!(kept.iter().all(|kept| *kept < 400), "{protocol}: {kept:?} chunks are kept");
        }
    }
}

#[test]
fn changed_copies_of_datagrams_stop_no_program() {
    for protocol in ["amca", "nca"] {
        for seed in 0..u64::from(cases(192)) {
            let mut net = Net::new(protocol, &TREE, &LENGTHS, 0.01);
            net.changed = Some(Stream::new(seed, "changed"));
            // Without a key they may well stop the session.
            net.run(30);
            for node in &net.nodes {
                let (children, kept) = sizes(node);
                assert!(children <= 6 && kept <= 100_000, "{protocol}: {children} children, {kept} chunks");
            }
        }
    }
}
