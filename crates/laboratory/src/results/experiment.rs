//! What was run: the part of the results that is the same in every replication.

use layercast_simulator::tcp::TcpVariant;
use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::reported::PaperValue;
use super::traffic::TrafficKind;

/// An experiment as the results need to know it. The runner fills it from the scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// The scenario's id (`thesis/simulation-2`) or file name.
    pub scenario: String,
    /// The scenario's own name, a line of plain text.
    pub title: String,
    /// The scenario's description, if it has one.
    pub description: Option<String>,
    /// The scenario file's text as it was run, shown in the report.
    pub scenario_text: String,
    /// A digest of everything that decides the numbers, so that runs can be distinguished in merged files.
    pub scenario_hash: String,
    /// The command line that repeats the run, shown in the report.
    pub command: String,
    /// Where it ran: `simulated`, later also `emulated`.
    pub world: &'static str,
    /// The seed from which the replications' seeds come.
    pub seed: u64,
    /// How long each replication lasts, in seconds.
    pub duration_s: f64,
    /// The measurement windows, in seconds; the first is the main one.
    pub windows_s: Vec<[f64; 2]>,
    /// The length of a bin of the time series, in seconds.
    pub series_bin_s: f64,
    /// The flows, in the order of the tables.
    pub flows: Vec<FlowInfo>,
    /// The groups whose Jain index is reported.
    pub groups: Vec<GroupInfo>,
    /// The links that are measured.
    pub links: Vec<LinkInfo>,
    /// The numbers that the paper reports.
    pub paper: Vec<PaperValue>,
    /// The probes.
    pub probes: Vec<ProbeInfo>,
    /// What makes the results doubtful.
    pub findings: Vec<Finding>,
    /// What a reader of the results should know of the scenario: a sentence each.
    pub remarks: Vec<String>,
}

/// One flow: one receiver's reception of a session, or one unicast connection.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowInfo {
    /// `NAME@NODE`, or `NAME-1@NODE`, `NAME-2@NODE` where there are several.
    pub name: String,
    /// The protocol's id, for example `elm` or `tcp-sack`.
    pub protocol: String,
    /// Whether it receives a layered session or is a unicast sink.
    pub role: Role,
    /// The session, for receivers.
    pub session: Option<String>,
    /// The node where it is measured.
    pub node: String,
    /// Cumulative rates of the layers in kbit/s, lowest first; empty where there are no layers.
    pub level_rates_kbps: Vec<f64>,
    /// Whether its session has one rate for all receivers, set by the source, whatever layers it was given.
    pub one_rate: bool,
    /// Whether it sends at a constant rate, without congestion control, between two nodes.
    pub is_constant_rate: bool,
    /// Which traffic of the library it is, if it is some.
    pub traffic: Option<TrafficKind>,
    /// Whether it makes transfers, whose completion times are reported.
    pub has_transfers: bool,
    /// Whether its session distributes an object, whose completion is reported.
    pub has_object: bool,
}

impl FlowInfo {
    /// The name without the node and without a running number: `tcp` for `tcp-3@R1`.
    #[must_use]
    pub fn family(&self) -> &str {
        let base = self.name.rsplit_once('@').map_or(self.name.as_str(), |(base, _)| base);
        match base.rsplit_once('-') {
            Some((stem, number)) if !stem.is_empty() && is_number(number) => stem,
            _ => base,
        }
    }

    /// Whether the flow has levels to choose from: more than one layer, and a receiver that decides.
    #[must_use]
    pub fn has_levels(&self) -> bool {
        !self.one_rate && self.level_rates_kbps.len() > 1
    }

    /// Whether the flow belongs to a session, with layers or one rate.
    #[must_use]
    pub fn is_layered(&self) -> bool {
        !self.level_rates_kbps.is_empty()
    }

    /// Whether the flow is a TCP.
    #[must_use]
    pub fn is_tcp(&self) -> bool {
        TcpVariant::named(&self.protocol).is_some()
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The kind of a flow's measured end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A receiver of a multicast session.
    Receiver,
    /// The sink of a unicast connection.
    Sink,
}

/// Flows that should share fairly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// The group's name, for example `R1/elm`.
    pub name: String,
    /// Indices into [`Experiment::flows`].
    pub flows: Vec<usize>,
}

/// A measured link, in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkInfo {
    /// `FROM-TO`.
    pub name: String,
    /// The link's rate in kbit/s, infinite where it has none.
    pub rate_kbps: f64,
    /// Its propagation delay, or the range that it is drawn from, as text; empty if unknown.
    pub delay: String,
    /// The kind of its queue and the limit, as text; empty if unknown.
    pub queue: String,
}

/// Quantities sampled over time at their own interval.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeInfo {
    /// The probe's name.
    pub name: String,
    /// The subject: `link G1-G2`, `flow elm@R1`.
    pub subject: String,
    /// The recorded quantities: `queue_packets`, ...
    pub quantities: Vec<&'static str>,
    /// The sampling interval in nanoseconds, so that times are exact.
    pub every_ns: u64,
}

impl ProbeInfo {
    /// When value `index` was taken, in seconds.
    #[must_use]
    pub fn time_s(&self, index: usize) -> f64 {
        ((index as u64 + 1) * self.every_ns) as f64 / 1e9
    }
}

impl Experiment {
    /// The nodes in the order in which flows name them.
    #[must_use]
    pub fn nodes(&self) -> Vec<&str> {
        let mut nodes: Vec<&str> = Vec::new();
        for flow in &self.flows {
            if !nodes.contains(&flow.node.as_str()) {
                nodes.push(&flow.node);
            }
        }
        nodes
    }

    /// The main measurement window; the whole run if none is declared.
    #[must_use]
    pub fn main_window_s(&self) -> [f64; 2] {
        self.windows_s.first().copied().unwrap_or([0.0, self.duration_s])
    }

    /// When a bin of the time series ends, in seconds. The last bin may be short.
    #[must_use]
    pub fn bin_end_s(&self, bin: usize) -> f64 {
        ((bin + 1) as f64 * self.series_bin_s).min(self.duration_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> FlowInfo {
        FlowInfo {
            name: name.to_owned(),
            protocol: "tcp-sack".to_owned(),
            role: Role::Sink,
            session: None,
            node: "R1".to_owned(),
            level_rates_kbps: Vec::new(),
            traffic: None,
            has_transfers: false,
            has_object: false,
            one_rate: false,
            is_constant_rate: false,
        }
    }

    #[test]
    fn a_family_is_the_name_without_node_and_number() {
        for (name, family) in [
            ("tcp@R1", "tcp"),
            ("tcp-3@R1", "tcp"),
            ("tcp-burst-12@R-2", "tcp-burst"),
            ("flid-dl@R1", "flid-dl"),
            ("-1@R1", "-1"),
            ("tcp-2", "tcp"),
        ] {
            assert_eq!(named(name).family(), family, "{name}");
        }
    }
}
