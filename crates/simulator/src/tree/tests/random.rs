//! For any operations of hosts and any losses, the tree eventually forwards what is wanted.

use std::collections::BTreeSet;

use layercast_core::units::{Channel, Duration};
use proptest::prelude::*;

use super::super::{Forwarding, Membership, Tree};
use super::bed::{Bed, CHANNELS, lossy_up};
use crate::edge::{EdgeConfig, LeaveRule};
use crate::loss::LossModel;

/// Nodes with two receivers each; those at B, D and E are behind edges.
const NODES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];
const EDGES: [&str; 3] = ["B", "D", "E"];

#[derive(Clone, Copy, Debug)]
enum Operation {
    Join,
    Leave,
    Crash,
}

/// Every node has what it and those below it want, and nothing is left to do.
fn check_settled(tree: &Tree, wanted: &BTreeSet<(u32, u16)>) -> Result<(), TestCaseError> {
    prop_assert_eq!(tree.agenda.pending(), 0);
    for channel in 0..CHANNELS as u16 {
        let mut below = vec![false; tree.shape.node_count()];
        for node in (0..tree.shape.node_count() as u32).rev() {
            for receiver in tree.receivers_at(node) {
                let wants = wanted.contains(&(receiver, channel));
                let held = tree.membership(receiver, Channel(channel));
                prop_assert_eq!(held == Membership::Joined, wants, "{} {:?}", receiver, held);
                prop_assert!(held != Membership::Waiting);
                below[node as usize] |= wants;
            }
            let children = tree.shape.children_of(node);
            below[node as usize] |= children.clone().any(|child| below[child as usize]);
            prop_assert_eq!(tree.subscribers[tree.slot(node, Channel(channel))] > 0, below[node as usize]);
            for child in children {
                let forwarding = tree.forwarding[tree.slot(child, Channel(channel))];
                let expected = if below[child as usize] { Forwarding::On } else { Forwarding::Off };
                prop_assert_eq!(forwarding, expected, "into {}", child);
            }
        }
    }
    Ok(())
}

fn rule() -> impl Strategy<Value = LeaveRule> {
    prop_oneof![
        Just(LeaveRule::Latency),
        (1u64..3000, 1u32..4, any::<bool>()).prop_map(|(ms, count, tracking)| LeaveRule::Check {
            interval: Duration::from_ms(ms),
            count,
            tracking
        }),
        (0u64..100).prop_map(|ms| LeaveRule::Fast { processing: Duration::from_ms(ms) }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_the_end_what_is_wanted_is_forwarded(
        seed in any::<u64>(),
        rules in prop::collection::vec(rule(), EDGES.len()),
        loss in prop_oneof![Just(0.0), 0.05f64..0.6],
        edge_loss in prop_oneof![Just(0.0), 0.05f64..0.6],
        operations in prop::collection::vec(
            (
                0u64..20_000,
                0u32..12,
                0u16..CHANNELS as u16,
                prop_oneof![4 => Just(Operation::Join), 4 => Just(Operation::Leave), 1 => Just(Operation::Crash)],
                prop_oneof![Just(0u64), 1u64..5000],
            ),
            1..120,
        ),
    ) {
        let up = || lossy_up(if loss > 0.0 { LossModel::Bernoulli(loss) } else { LossModel::None });
        let links =
            [("S", "A"), ("A", "B"), ("A", "C"), ("B", "D"), ("B", "E"), ("C", "F")].map(|(a, b)| (a, b, up()));
        let config = |leave| EdgeConfig { leave, report_loss: edge_loss, leave_loss: edge_loss, ..EdgeConfig::default() };
        let edges: Vec<_> = EDGES.into_iter().zip(rules.into_iter().map(config)).collect();
        let receivers: Vec<&str> = NODES.iter().flat_map(|&node| [node, node]).collect();
        let mut bed = Bed::new(&links, &edges, &receivers, seed);
        let mut wanted = BTreeSet::new();
        let mut now_ms = 0;
        for (wait_ms, receiver, channel, operation, latency_ms) in operations {
            now_ms += wait_ms;
            bed.run(now_ms as f64 / 1e3);
            let latency = Duration::from_ms(latency_ms).into();
            // The receivers of a node are adjacent in the order of the tree.
            let has_edge = bed.tree.group_of(receiver, Channel(0)).is_some();
            match operation {
                Operation::Join => {
                    bed.join_channel(receiver, channel, latency);
                    wanted.insert((receiver, channel));
                }
                // Without an edge a crash is never noticed.
                Operation::Crash if has_edge => {
                    bed.crash(receiver);
                    wanted.retain(|&(member, _)| member != receiver);
                }
                Operation::Leave | Operation::Crash => {
                    bed.leave_channel(receiver, channel, latency);
                    wanted.remove(&(receiver, channel));
                }
            }
        }
        // At most 0.6 is lost: a hundred general queries are enough for all hosts.
        bed.run(now_ms as f64 / 1e3 + 100.0 * 125.0);
        check_settled(&bed.tree, &wanted)?;
        prop_assert_eq!(bed.engine.slab.copies(), 0);
        prop_assert_eq!(bed.refused.len(), 0);
    }
}
