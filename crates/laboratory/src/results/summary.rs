//! `summary.json`: the statistics over all replications, schema version 2. Version 1 is read too.
//!
//! The contract is in `docs/architecture.md`, the published schema in `docs/summary.schema.json`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ResultsError;
use super::experiment::{Experiment, FlowInfo, GroupInfo, Role};
use super::explanation::{Explaining, Explanation};
use super::json;
use super::lateness::LatenessSummary;
use super::limited::Limited;
use super::movement::Movement;
use super::replication::{FlowMeasures, LinkMeasures, Replication};
use super::statistics::{Statistic, jain_index};
use super::traffic::{CallMeasures, TrafficKind, VideoMeasures};

/// The version of the schema that this code writes and reads.
pub const SCHEMA: u32 = 2;

/// The statistics of one experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The schema's version, [`SCHEMA`].
    pub schema: u32,
    /// The scenario's id or file name.
    pub scenario: String,
    /// The scenario's own name.
    #[serde(default)]
    pub title: String,
    /// A digest of what decides the numbers.
    #[serde(default)]
    pub scenario_hash: String,
    /// Where it ran.
    pub world: String,
    /// How many replications there are.
    pub replications: usize,
    /// The seed from which theirs come.
    pub seed: u64,
    /// How long each lasted.
    pub duration_s: f64,
    /// The main measurement window.
    pub window_s: [f64; 2],
    /// Every flow in the main window.
    pub flows: Vec<FlowSummary>,
    /// Every group in the main window.
    pub groups: Vec<GroupSummary>,
    /// Every measured link in the main window.
    pub links: Vec<LinkSummary>,
    /// The further windows.
    pub windows: Vec<WindowSummary>,
    /// How late packets were, in the emulated world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<LatenessSummary>,
    /// What it cost; outside of what determinism compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineSummary>,
}

/// One flow: its identity and its measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// `NAME@NODE`.
    pub name: String,
    /// The protocol's id.
    pub protocol: String,
    /// Receiver or sink.
    pub role: Role,
    /// The session, for receivers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where it was measured.
    pub node: String,
    /// What it did.
    #[serde(flatten)]
    pub measures: FlowStatistics,
    /// Why it has its rate, for receivers of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Explanation>,
}

/// What a flow did in a window. Lateness and those of levels are missing for flows without layers,
/// the two of transfers for flows that make none, those of objects for sessions without one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowStatistics {
    /// Throughput in kbit/s of wire bytes.
    pub throughput_kbps: Statistic,
    /// Lost over sent.
    pub loss_rate: Statistic,
    /// Packets lost; missing in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_packets: Option<Statistic>,
    /// Data that still arrived on channels after the receiver had left them, in kbit/s of wire bytes: load
    /// that the leave had not yet removed from the links. It counts for the last receiver that left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_kbps: Option<Statistic>,
    /// Joins and leaves after the base layer's first join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_changes: Option<Statistic>,
    /// Time average of the level, no layer counting as -1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_level: Option<Statistic>,
    /// When the level came to stay within one of its final median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_after_s: Option<Statistic>,
    /// How the receiver moved between levels.
    #[serde(flatten)]
    pub movement: Option<Movement<Statistic>>,
    /// Transfers that ended, of a flow that makes transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfers: Option<Statistic>,
    /// How long those took on average, in seconds; of a receiver with an object, from its own start until it
    /// had the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<Statistic>,
    /// From the start of the source until a receiver had the object, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_since_source_s: Option<Statistic>,
    /// Whether a receiver had the object at the end of the run: 1 or 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<Statistic>,
    /// Which part of the packets that it needs a receiver had at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_received: Option<Statistic>,
    /// What limited it, of a TCP flow.
    #[serde(flatten)]
    pub limited: Option<Limited<Statistic>>,
    /// How it played, of a player of video.
    #[serde(flatten)]
    pub video: Option<VideoMeasures<Statistic>>,
    /// How its packets came, of a call.
    #[serde(flatten)]
    pub call: Option<CallMeasures<Statistic>>,
}

/// One group and how fairly its flows share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// The group's name.
    pub name: String,
    /// The names of its flows.
    pub flows: Vec<String>,
    /// The Jain index of their throughputs, per replication.
    pub jain_index: Statistic,
}

/// One link in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// `FROM-TO`.
    pub name: String,
    /// Busy time over the window, 0 to 1.
    pub utilisation: Statistic,
    /// Packets dropped by the queue.
    pub drops: Statistic,
    /// Packets marked by the queue.
    pub marks: Statistic,
    /// Time average of the packets in the queue.
    pub mean_queue_packets: Statistic,
    /// Packets that were transmitted; missing in files of earlier versions, as are those below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<Statistic>,
    /// Packets that the error model lost; they are among `drops`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<Statistic>,
    /// The mean over time of the delay of its queue, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_delay_ms: Option<Statistic>,
    /// The delay of its queue that was not exceeded for 95 % of the time, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_delay_p95_ms: Option<Statistic>,
    /// The same for 99 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_delay_p99_ms: Option<Statistic>,
}

/// A further measurement window: what the main one has, without explanations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowSummary {
    /// From and to, in seconds.
    pub window_s: [f64; 2],
    /// Every flow.
    pub flows: Vec<FlowSummary>,
    /// Every group.
    pub groups: Vec<GroupSummary>,
    /// Every measured link; none in files of version 1.
    #[serde(default)]
    pub links: Vec<LinkSummary>,
}

impl WindowSummary {
    /// A flow by its name.
    #[must_use]
    pub fn flow(&self, name: &str) -> Option<&FlowSummary> {
        self.flows.iter().find(|flow| flow.name == name)
    }

    /// A group by its name.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<&GroupSummary> {
        self.groups.iter().find(|group| group.name == name)
    }
}

/// What the whole experiment cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineSummary {
    /// Events served in all replications.
    pub events: u64,
    /// Transmissions of a packet on a link in all replications.
    pub packet_hops: u64,
    /// Seconds from start to end.
    pub wall_s: f64,
    /// Processor seconds of all replications.
    pub cpu_s: f64,
    /// The largest resident memory of the process, if the system reports it.
    pub peak_rss_bytes: Option<u64>,
}

/// What only the runner knows about the cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunCost {
    /// Seconds from start to end.
    pub wall_s: f64,
    /// The largest resident memory of the process, if the system reports it.
    pub peak_rss_bytes: Option<u64>,
}

impl Summary {
    /// The statistics of these replications, which are sorted by number first: the order of
    /// execution must not matter.
    ///
    /// # Errors
    /// When a replication does not fit the experiment.
    pub fn new(
        experiment: &Experiment,
        replications: &[Replication],
        cost: RunCost,
    ) -> Result<Self, ResultsError> {
        experiment.check(replications)?;
        let mut runs: Vec<&Replication> = replications.iter().collect();
        runs.sort_by_key(|run| run.number);
        let over = Over { experiment, runs: &runs };
        Ok(Self {
            schema: SCHEMA,
            scenario: experiment.scenario.clone(),
            title: experiment.title.clone(),
            scenario_hash: experiment.scenario_hash.clone(),
            world: experiment.world.to_owned(),
            replications: runs.len(),
            seed: experiment.seed,
            duration_s: experiment.duration_s,
            window_s: experiment.main_window_s(),
            flows: over.flows(0),
            groups: over.groups(0),
            links: over.links(0),
            windows: (1..experiment.windows_s.len()).map(|window| over.further(window)).collect(),
            lateness: LatenessSummary::new(runs.iter().map(|run| (run.number, run.lateness))),
            engine: Some(over.engine(cost)),
        })
    }

    /// The same without what a run cost, which differs from run to run: for comparing.
    #[must_use]
    pub fn without_engine(&self) -> Self {
        Self { engine: None, ..self.clone() }
    }

    /// The file's text. The same summary gives the same bytes.
    ///
    /// # Panics
    /// Never: every field has a JSON form and keys are strings.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_string(self).expect("a summary always has a JSON form")
    }

    /// Reads the file's text.
    ///
    /// # Errors
    /// When it is not JSON, lacks a field or has another schema version.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let mut value: Value = serde_json::from_str(text)?;
        match value.get("schema").and_then(Value::as_u64) {
            Some(1) => from_version_1(&mut value),
            Some(version) if version != u64::from(SCHEMA) => {
                return Err(serde::de::Error::custom(format!("schema version {version} is not known")));
            }
            _ => {}
        }
        serde_json::from_value(value)
    }
}

/// Version 1 had the flows and groups of further windows under their names, without what identifies them, and no links.
fn from_version_1(summary: &mut Value) {
    summary["schema"] = SCHEMA.into();
    for part in ["flows", "groups"] {
        let known = summary[part].as_array().cloned().unwrap_or_default();
        let windows = summary.get_mut("windows").and_then(Value::as_array_mut);
        for window in windows.into_iter().flatten().filter_map(Value::as_object_mut) {
            let by_name = window.remove(part).unwrap_or_default();
            let in_window = known.iter().filter_map(|subject| {
                let mut fields = by_name.get(subject["name"].as_str()?)?.as_object()?.clone();
                for key in ["name", "protocol", "role", "session", "node", "flows"] {
                    if let Some(value) = subject.get(key) {
                        fields.entry(key).or_insert_with(|| value.clone());
                    }
                }
                Some(Value::Object(fields))
            });
            window.insert(part.to_owned(), in_window.collect());
        }
    }
}

/// The replications in order, and the statistics over them.
struct Over<'a> {
    experiment: &'a Experiment,
    runs: &'a [&'a Replication],
}

impl Over<'_> {
    fn flow_statistic(
        &self,
        window: usize,
        flow: usize,
        measure: impl Fn(&FlowMeasures) -> Option<f64>,
    ) -> Statistic {
        Statistic::new(
            self.runs.iter().map(|run| measure(run.windows.get(window).and_then(|w| w.flows.get(flow))?)),
        )
    }

    fn link_statistic(
        &self,
        window: usize,
        link: usize,
        measure: impl Fn(&LinkMeasures) -> f64,
    ) -> Statistic {
        Statistic::new(
            self.runs
                .iter()
                .map(|run| Some(measure(run.windows.get(window).and_then(|w| w.links.get(link))?))),
        )
    }

    fn flow_measures(&self, window: usize, index: usize, flow: &FlowInfo) -> FlowStatistics {
        let layered = |measure: fn(&FlowMeasures) -> Option<f64>| {
            flow.is_layered().then(|| self.flow_statistic(window, index, measure))
        };
        let transferring = |measure: fn(&FlowMeasures) -> Option<f64>| {
            flow.has_transfers.then(|| self.flow_statistic(window, index, measure))
        };
        let object = |measure: fn(&FlowMeasures) -> Option<f64>| {
            flow.has_object.then(|| self.flow_statistic(window, index, measure))
        };
        FlowStatistics {
            throughput_kbps: self.flow_statistic(window, index, |m| Some(m.throughput_kbps)),
            loss_rate: self.flow_statistic(window, index, |m| Some(m.loss_rate)),
            lost_packets: Some(self.flow_statistic(window, index, |m| Some(m.lost_packets as f64))),
            late_kbps: layered(|m| m.late_kbps),
            level_changes: layered(|m| m.level_changes),
            mean_level: layered(|m| m.mean_level),
            settled_after_s: layered(|m| m.settled_after_s),
            movement: flow.is_layered().then(|| {
                Movement::from_each(|of| {
                    self.flow_statistic(window, index, |m| m.movement.as_ref().and_then(|all| *of(all)))
                })
            }),
            transfers: transferring(|m| m.transfers),
            completion_s: if flow.has_object {
                object(|m| m.completion_s)
            } else {
                transferring(|m| m.completion_s)
            },
            completion_since_source_s: object(|m| m.object?.since_source_s),
            complete: object(|m| Some(m.object?.complete())),
            object_received: object(|m| Some(m.object?.received)),
            limited: flow.is_tcp().then(|| {
                Limited::from_each(|of| {
                    self.flow_statistic(window, index, |m| m.limited.as_ref().and_then(|all| *of(all)))
                })
            }),
            video: (flow.traffic == Some(TrafficKind::Video)).then(|| {
                VideoMeasures::from_each(|of| self.flow_statistic(window, index, |m| of(m.video.as_ref()?)))
            }),
            call: (flow.traffic == Some(TrafficKind::Call)).then(|| {
                CallMeasures::from_each(|of| self.flow_statistic(window, index, |m| of(m.call.as_ref()?)))
            }),
        }
    }

    fn flows(&self, window: usize) -> Vec<FlowSummary> {
        // What explains rates is known of the main window.
        let explaining = Explaining::new(self.experiment, self.runs).filter(|_| window == 0);
        let flows = self.experiment.flows.iter().enumerate();
        flows
            .map(|(index, flow)| FlowSummary {
                name: flow.name.clone(),
                protocol: flow.protocol.clone(),
                role: flow.role,
                session: flow.session.clone(),
                node: flow.node.clone(),
                measures: self.flow_measures(window, index, flow),
                why: explaining.as_ref().and_then(|explaining| explaining.explain(index)),
            })
            .collect()
    }

    fn jain(&self, window: usize, group: &GroupInfo) -> Statistic {
        Statistic::new(self.runs.iter().map(|run| {
            let ([start_s, _], bin_s) =
                (*self.experiment.windows_s.get(window)?, self.experiment.series_bin_s);
            jain_index(&run.windows.get(window)?.together_kbps(&group.flows, &run.series, start_s, bin_s))
        }))
    }

    fn groups(&self, window: usize) -> Vec<GroupSummary> {
        let name_of = |&flow: &usize| self.experiment.flows.get(flow).map(|flow| flow.name.clone());
        let groups = self.experiment.groups.iter();
        groups
            .map(|group| GroupSummary {
                name: group.name.clone(),
                flows: group.flows.iter().filter_map(name_of).collect(),
                jain_index: self.jain(window, group),
            })
            .collect()
    }

    fn links(&self, window: usize) -> Vec<LinkSummary> {
        let links = self.experiment.links.iter().enumerate();
        links
            .map(|(index, link)| LinkSummary {
                name: link.name.clone(),
                utilisation: self.link_statistic(window, index, |m| m.utilisation),
                drops: self.link_statistic(window, index, |m| m.drops as f64),
                marks: self.link_statistic(window, index, |m| m.marks as f64),
                mean_queue_packets: self.link_statistic(window, index, |m| m.mean_queue_packets),
                packets: Some(self.link_statistic(window, index, |m| m.packets as f64)),
                losses: Some(self.link_statistic(window, index, |m| m.losses as f64)),
                queue_delay_ms: Some(self.link_statistic(window, index, LinkMeasures::queue_delay_ms)),
                queue_delay_p95_ms: Some(
                    self.link_statistic(window, index, |m| m.queue_delay_quantile_ms(0.95)),
                ),
                queue_delay_p99_ms: Some(
                    self.link_statistic(window, index, |m| m.queue_delay_quantile_ms(0.99)),
                ),
            })
            .collect()
    }

    fn further(&self, window: usize) -> WindowSummary {
        WindowSummary {
            window_s: self.experiment.windows_s[window],
            flows: self.flows(window),
            groups: self.groups(window),
            links: self.links(window),
        }
    }

    fn engine(&self, cost: RunCost) -> EngineSummary {
        EngineSummary {
            events: self.runs.iter().map(|run| run.engine.events).sum(),
            packet_hops: self.runs.iter().map(|run| run.engine.packet_hops).sum(),
            wall_s: cost.wall_s,
            cpu_s: self.runs.iter().map(|run| run.engine.cpu_s).sum(),
            peak_rss_bytes: cost.peak_rss_bytes,
        }
    }
}
