//! AMCA over DyRAM in random trees: every receiver that stays gets all packets, in order, whatever is lost.

mod network;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};
use layercast_protocols::amca::{Options, Profile};
use network::{Change, Link, Network, piece};

const TREES: u64 = 1000;
const DEEPEST: usize = 5;
const LONGEST: Time = Time::from_ns(6 * 3600 * 1_000_000_000);

fn below(stream: &mut Stream, bound: u64) -> u64 {
    stream.bits() % bound
}

/// A random network: its shape, its links, the nodes that take part, and the changes.
fn random(seed: u64) -> (Network, u64) {
    let stream = &mut Stream::new(seed, "tree");
    let count = 1 + below(stream, 11) as usize;
    let (mut parents, mut depths) = (Vec::new(), vec![0]);
    for index in 1..=count {
        let fit: Vec<usize> = (0..index).filter(|&node| depths[node] < DEEPEST).collect();
        let parent = fit[below(stream, fit.len() as u64) as usize];
        parents.push(parent);
        depths.push(depths[parent] + 1);
    }
    let worst = 0.1 * stream.uniform();
    let links: Vec<Link> = parents
        .iter()
        .map(|_| Link {
            delay: Duration::from_us(1000 + below(stream, 30_000)),
            jitter: Duration::from_us(below(stream, 3) * below(stream, 20_000)),
            loss_down: worst * stream.uniform(),
            loss_up: worst * stream.uniform(),
            doubled: 0.05 * stream.uniform(),
        })
        .collect();
    let kind = below(stream, 4);
    let active: Vec<bool> = parents.iter().map(|_| kind > 0 && (kind == 1 || stream.chance(0.6))).collect();
    let options = Options {
        profile: [Profile::Backlog, Profile::Count, Profile::Literal][below(stream, 3) as usize],
        buffer_packets: [16, 64, 100_000][below(stream, 3) as usize],
        report_every: [4, 16, 32][below(stream, 3) as usize],
        aggregate_at_source: stream.chance(0.5),
        // Here a packet may be lost many times over.
        stall_limit: Duration::from_secs(36_000),
        ..Options::default()
    };
    let pieces = 1 + below(stream, 80);
    let mut network = Network::new(&options, &parents, &links, &active, pieces, seed);
    for router in network.routers() {
        for _ in 0..below(stream, 3) {
            let at = Time::from_ns(below(stream, 25_000) * 1_000_000);
            let change = if stream.chance(0.6) { Change::Activate } else { Change::Deactivate };
            network.plan(at, router, change);
        }
    }
    for receiver in network.receivers() {
        if stream.chance(0.15) {
            network.plan(Time::from_ns(below(stream, 20_000) * 1_000_000), receiver, Change::Leave);
        }
    }
    (network, pieces)
}

fn check(seed: u64) -> u64 {
    let (mut network, pieces) = random(seed);
    assert!(network.run(LONGEST), "tree {seed} is not done at {}", network.now);
    let expected: Vec<u64> = (0..pieces).map(piece).collect();
    for receiver in network.receivers() {
        let delivered = network.delivered(receiver);
        if network.has_left(receiver) {
            assert!(expected.starts_with(delivered), "tree {seed}, receiver {receiver}");
        } else {
            assert_eq!(delivered, expected, "tree {seed}, receiver {receiver}");
        }
    }
    network.handled
}

/// Trees from `first` to before `end`, every `step`-th.
fn check_trees(first: u64, end: u64, step: usize) {
    let handled: u64 = (first..end).step_by(step).map(check).sum();
    assert!(handled > 100 * (end - first) / step as u64, "{handled} packets");
}

#[test]
fn receivers_that_stay_get_everything_in_even_trees() {
    check_trees(0, TREES, 2);
}

#[test]
fn receivers_that_stay_get_everything_in_odd_trees() {
    check_trees(1, TREES, 2);
}

/// Forty times as many, about a minute: for changes of the protocol.
#[test]
#[ignore = "a minute; the thousand trees above are run each time"]
fn receivers_that_stay_get_everything_in_many_trees() {
    check_trees(TREES, 41 * TREES, 1);
}
