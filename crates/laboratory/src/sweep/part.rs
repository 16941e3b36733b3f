//! The stored result of one replication of a cell: every measure of every window, whatever metrics are
//! reported, so that a finished sweep can report others without running again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grid::Cell;
use super::probed;
use crate::results::share::share_of_tcp;
use crate::results::statistics::jain_index;
use crate::results::{Experiment, FlowInfo, FlowMeasures, LinkMeasures, Replication, Role, TrafficKind};
use crate::scenario::ProbePlan;

/// The version of part files that this code writes and reads: another one holds other measures.
const SCHEMA: u32 = 5;

/// One replication of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The version.
    pub schema: u32,
    /// The digest of the cell's scenario.
    pub scenario_hash: String,
    /// The replication's number, from 1.
    pub replication: u32,
    /// In the order of the scenario's windows.
    pub windows: Vec<PartWindow>,
}

/// One measurement window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartWindow {
    /// In the order of the experiment's flows.
    pub flows: Vec<Measured>,
    /// In the order of the experiment's groups.
    pub groups: Vec<Measured>,
    /// In the order of the experiment's links.
    pub links: Vec<Measured>,
}

/// The measures of one flow, group or link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// By metric; none where undefined. Metrics that do not apply are absent.
    #[serde(flatten)]
    pub values: BTreeMap<String, Option<f64>>,
}

impl Part {
    /// The measures of a replication, with the means of what these probes of flows saw.
    #[must_use]
    pub fn new(experiment: &Experiment, probes: &[ProbePlan], replication: &Replication) -> Part {
        let windows = (0..replication.windows.len())
            .filter_map(|window| PartWindow::new(experiment, probes, replication, window));
        Part {
            schema: SCHEMA,
            scenario_hash: experiment.scenario_hash.clone(),
            replication: replication.number,
            windows: windows.collect(),
        }
    }

    /// Whether it is this replication of the cell.
    #[must_use]
    pub fn fits(&self, cell: &Cell, replication: u32) -> bool {
        let experiment = &cell.experiment;
        self.schema == SCHEMA
            && self.scenario_hash == experiment.scenario_hash
            && self.replication == replication
            && self.windows.len() == experiment.windows_s.len()
            && self.windows.iter().all(|window| window.fits(experiment))
    }
}

impl PartWindow {
    fn new(
        experiment: &Experiment,
        probes: &[ProbePlan],
        replication: &Replication,
        number: usize,
    ) -> Option<PartWindow> {
        let (window, &window_s) = replication.windows.get(number).zip(experiment.windows_s.get(number))?;
        let flows = experiment.flows.iter().zip(&window.flows);
        let links = experiment.links.iter().zip(&window.links);
        let flows = flows.enumerate().map(|(index, (info, measures))| {
            let mut values = flow(info, measures);
            if info.role == Role::Receiver && experiment.flows.iter().any(FlowInfo::is_tcp) {
                values.push(("share_of_tcp", share_of_tcp(experiment, replication, number, index)));
            }
            values.extend(probed::of_flow(probes, &replication.probes, index, window_s));
            measured(&info.name, values)
        });
        Some(PartWindow {
            flows: flows.collect(),
            groups: experiment
                .groups
                .iter()
                .map(|group| {
                    let (series, bin_s) = (&replication.series, experiment.series_bin_s);
                    let kbps = window.together_kbps(&group.flows, series, window_s[0], bin_s);
                    measured(&group.name, vec![("jain_index", jain_index(&kbps))])
                })
                .collect(),
            links: links.map(|(info, measures)| measured(&info.name, link(measures))).collect(),
        })
    }

    fn fits(&self, experiment: &Experiment) -> bool {
        let same = |measured: &[Measured], names: Vec<&str>| {
            measured.iter().map(|measured| measured.name.as_str()).eq(names)
        };
        same(&self.flows, experiment.flows.iter().map(|flow| flow.name.as_str()).collect())
            && same(&self.groups, experiment.groups.iter().map(|group| group.name.as_str()).collect())
            && same(&self.links, experiment.links.iter().map(|link| link.name.as_str()).collect())
    }
}

fn measured(name: &str, values: Vec<(&str, Option<f64>)>) -> Measured {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let values = values.into_iter().map(|(metric, value)| (metric.to_owned(), finite(value)));
    Measured { name: name.to_owned(), values: values.collect() }
}

/// The metrics that apply to a flow, as in `summary.json`.
fn flow(info: &FlowInfo, measures: &FlowMeasures) -> Vec<(&'static str, Option<f64>)> {
    let mut values = vec![
        ("throughput_kbps", Some(measures.throughput_kbps)),
        ("loss_rate", Some(measures.loss_rate)),
        ("lost_packets", Some(measures.lost_packets as f64)),
    ];
    if info.is_layered() {
        values.extend([
            ("late_kbps", measures.late_kbps),
            ("level_changes", measures.level_changes),
            ("mean_level", measures.mean_level),
            ("settled_after_s", measures.settled_after_s),
        ]);
        values.extend(measures.movement.unwrap_or_default().named());
    }
    if info.has_transfers {
        values.extend([("transfers", measures.transfers), ("completion_s", measures.completion_s)]);
    }
    if let (true, Some(object)) = (info.has_object, measures.object) {
        values.extend([
            ("completion_s", measures.completion_s),
            ("completion_since_source_s", object.since_source_s),
            ("complete", Some(object.complete())),
            ("object_received", Some(object.received)),
        ]);
    }
    if info.traffic == Some(TrafficKind::Video) {
        values.extend(measures.video.unwrap_or_default().named());
    }
    if info.traffic == Some(TrafficKind::Call) {
        values.extend(measures.call.unwrap_or_default().named());
    }
    if info.is_tcp() {
        values.extend(measures.limited.unwrap_or_default().named());
    }
    values
}

fn link(measures: &LinkMeasures) -> Vec<(&'static str, Option<f64>)> {
    vec![
        ("utilisation", Some(measures.utilisation)),
        ("drops", Some(measures.drops as f64)),
        ("marks", Some(measures.marks as f64)),
        ("mean_queue_packets", Some(measures.mean_queue_packets)),
        ("queue_delay_ms", Some(measures.queue_delay_ms())),
        ("queue_delay_p95_ms", Some(measures.queue_delay_quantile_ms(0.95))),
        ("queue_delay_p99_ms", Some(measures.queue_delay_quantile_ms(0.99))),
    ]
}
