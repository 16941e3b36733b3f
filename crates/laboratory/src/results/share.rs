//! A receiver's rate next to that of the TCP that it competes with.

use super::experiment::{Experiment, FlowInfo, Role};
use super::replication::Replication;
use super::statistics::mean;

/// Throughput over the mean of the TCP in a receiver's first group, or else at its node, while the receiver was measured;
/// none without such TCP, or where it got nothing.
pub(crate) fn share_of_tcp(
    experiment: &Experiment,
    replication: &Replication,
    window: usize,
    receiver: usize,
) -> Option<f64> {
    let own = experiment.flows.get(receiver).filter(|flow| flow.role == Role::Receiver)?;
    let competes = |flow: &FlowInfo| flow.role == Role::Sink && flow.is_tcp();
    let group = experiment.groups.iter().find(|group| group.flows.contains(&receiver));
    let tcp = experiment.flows.iter().enumerate().filter(|(place, flow)| {
        group.map_or(flow.node == own.node, |group| group.flows.contains(place)) && competes(flow)
    });
    let members: Vec<usize> = std::iter::once(receiver).chain(tcp.map(|(place, _)| place)).collect();
    let [start_s, _] = *experiment.windows_s.get(window)?;
    let measures = replication.windows.get(window)?;
    let kbps = measures.together_kbps(&members, &replication.series, start_s, experiment.series_bin_s);
    let (own, tcp) = kbps.split_first()?;
    Some(own / mean(tcp).filter(|tcp| *tcp > 0.0)?)
}
