//! The edges of a topology.

use std::collections::BTreeMap;

use crate::scenario::tables::Parallel;

/// An edge between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    /// How fast it is, if the file says so.
    pub(super) bit_per_s: Option<f64>,
    /// Its delay in microseconds, if the places of both ends are known.
    pub(super) delay_us: Option<u64>,
}

impl Edge {
    /// What messages call it.
    pub(super) fn title(&self) -> String {
        format!("{} to {}", self.from, self.to)
    }
}

/// The name of the link between two nodes, and whether the ends must be given too since it does not
/// show them.
pub(super) fn link_name(from: &str, to: &str) -> (String, bool) {
    (format!("{from}-{to}"), from.contains('-') || to.contains('-'))
}

/// One edge for each pair of nodes. Those that lead from a node to itself are left out, and the nodes go to `loops`.
pub(super) fn combine(
    edges: Vec<Edge>,
    parallel: Parallel,
    loops: &mut Vec<String>,
) -> Result<Vec<Edge>, String> {
    let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut combined: Vec<Edge> = Vec::new();
    for edge in edges {
        if edge.from == edge.to {
            loops.push(edge.from);
            continue;
        }
        let (one, other) = (edge.from.clone().min(edge.to.clone()), edge.from.clone().max(edge.to.clone()));
        let index = *found.entry((one, other)).or_insert(combined.len());
        let Some(present) = combined.get_mut(index) else {
            combined.push(edge);
            continue;
        };
        match parallel {
            Parallel::Refuse => {
                return Err(format!(
                    "there are several edges between `{}` and `{}`; write `parallel = \"fastest\"` or \"sum\"",
                    edge.from, edge.to
                ));
            }
            Parallel::Fastest if edge.bit_per_s > present.bit_per_s => *present = edge,
            Parallel::Fastest => {}
            Parallel::Sum => {
                let rates = [present.bit_per_s, edge.bit_per_s];
                present.bit_per_s = rates.iter().any(Option::is_some).then(|| rates.iter().flatten().sum());
                present.delay_us = present.delay_us.into_iter().chain(edge.delay_us).min();
            }
        }
    }
    if combined.is_empty() { Err("no edge leads from one node to another".to_owned()) } else { Ok(combined) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_edges_are_refused_or_become_one() {
        let edge = |from: &str, to: &str, mbps: Option<f64>, delay_us| Edge {
            from: from.to_owned(),
            to: to.to_owned(),
            bit_per_s: mbps.map(|mbps| mbps * 1e6),
            delay_us,
        };
        let edges = vec![
            edge("A", "B", Some(10.0), Some(7)),
            edge("A", "C", None, None),
            edge("B", "A", Some(30.0), Some(5)),
            edge("A", "B", None, Some(9)),
        ];
        let combine = |edges, parallel| combine(edges, parallel, &mut Vec::new());
        assert!(combine(edges.clone(), Parallel::Refuse).unwrap_err().contains("between `B` and `A`"));
        let fastest = combine(edges.clone(), Parallel::Fastest).unwrap();
        assert_eq!(fastest, [edges[2].clone(), edges[1].clone()]);
        let sum = combine(edges.clone(), Parallel::Sum).unwrap();
        assert_eq!(sum, [edge("A", "B", Some(40.0), Some(5)), edges[1].clone()]);
    }

    #[test]
    fn edges_from_a_node_to_itself_are_left_out_and_named() {
        let edge = |from: &str, to: &str| Edge {
            from: from.to_owned(),
            to: to.to_owned(),
            bit_per_s: None,
            delay_us: None,
        };
        let mut loops = Vec::new();
        let kept = combine(
            vec![edge("A", "A"), edge("A", "B"), edge("B", "B"), edge("A", "A")],
            Parallel::Refuse,
            &mut loops,
        );
        assert_eq!(kept.unwrap(), [edge("A", "B")]);
        assert_eq!(loops, ["A", "B", "A"]);
        let none = combine(vec![edge("A", "A")], Parallel::Refuse, &mut loops).unwrap_err();
        assert!(none.contains("no edge leads from one node to another"), "{none}");
    }
}
