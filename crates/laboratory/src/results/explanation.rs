//! Why each receiver has its rate: the key `why` of a receiver in `summary.json`.

use serde::{Deserialize, Serialize};

use super::bottleneck::{Crossing, Limit, LinkLoad, bottleneck};
use super::experiment::{Experiment, FlowInfo, Role};
use super::replication::{LinkMeasures, Replication, WindowMeasures};
use super::statistics::{Statistic, mean};
use super::why::{Cause, HeldBack, ReceiverMeasures};

/// Why a receiver has its rate, over the main window; numbers are means over the replications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The links from the source to the receiver.
    pub path: Vec<String>,
    /// The link of the path that limits it; none if the path has room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<Bottleneck>,
    /// The fullest link of the path and its utilisation, for a path with room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fullest: Option<(String, f64)>,
    /// The loss rate as the receiver estimates it: for many protocols that of loss events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_loss: Option<Statistic>,
    /// The round-trip time as the receiver estimates it, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_rtt_ms: Option<Statistic>,
    /// The fair rate that the receiver calculates, in kbit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_rate_kbps: Option<Statistic>,
    /// The round-trip time of the path, in milliseconds: propagation, transmission, and the mean delays of the
    /// queues, to the receiver and back.
    pub rtt_ms: Statistic,
    /// The same without the queues.
    pub base_rtt_ms: Statistic,
    /// From the receiver's start to the end of slow start, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_start_s: Option<Statistic>,
    /// Of a receiver that had its object before the window's end: until when it was measured, in seconds of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_until_s: Option<Statistic>,
    /// In how many replications slow start went on at the end of the measurement.
    pub still_in_slow_start: usize,
    /// What kept it from a higher level, for which share of the window: the largest share first.
    pub held_back: Vec<Held>,
    /// The causes of its changes of level in the window, per replication: the most frequent first.
    pub causes: Vec<CauseSummary>,
}

impl Explanation {
    /// The link that limits the receiver, or else the fullest of its path.
    #[must_use]
    pub fn most_loaded_link(&self) -> Option<&str> {
        let fullest = || self.fullest.as_ref().map(|(link, _)| link.as_str());
        self.bottleneck.as_ref().map(|found| found.link.as_str()).or_else(fullest)
    }
}

/// The link that limits a receiver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// `FROM-TO`.
    pub link: String,
    /// Why it limits.
    pub by: Limit,
    /// What it could carry, in kbit/s.
    pub capacity_kbps: f64,
    /// Busy time over the window, 0 to 1.
    pub utilisation: f64,
    /// The share of the packets offered to it that it dropped, lost or marked.
    pub loss: f64,
    /// The mean delay of its queue, in milliseconds.
    pub queue_delay_ms: f64,
    /// How many sessions and TCP connections share it; one that has data for a part of the time counts as that
    /// part.
    pub sharing: f64,
    /// The equal share of one of them, in kbit/s; none where the link loses packets whatever its load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_share_kbps: Option<f64>,
}

/// What kept a receiver from a higher level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// What.
    pub by: HeldBack,
    /// For which share of the window, 0 to 1.
    pub share: f64,
}

/// The changes of level for one cause, in layers per replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CauseSummary {
    /// The cause.
    pub cause: String,
    /// Layers joined.
    pub joins: f64,
    /// Layers left.
    pub leaves: f64,
}

/// What explanations are made of: the experiment, its replications, and what crosses each link.
pub(super) struct Explaining<'a> {
    experiment: &'a Experiment,
    windows: Vec<&'a WindowMeasures>,
    paths: &'a [Vec<usize>],
    loads: Vec<LinkLoad>,
    crossings: Vec<Crossing>,
}

impl<'a> Explaining<'a> {
    /// None where no replication has the paths of flows.
    pub(super) fn new(experiment: &'a Experiment, runs: &[&'a Replication]) -> Option<Explaining<'a>> {
        let paths = runs.iter().map(|run| &run.paths).find(|paths| !paths.is_empty())?;
        let windows: Vec<&WindowMeasures> = runs.iter().filter_map(|run| run.windows.first()).collect();
        let loads = (0..experiment.links.len()).map(|link| load(&windows, link)).collect();
        let crossings = crossings(experiment, &windows, paths);
        Some(Explaining { experiment, windows, paths, loads, crossings })
    }

    fn link_mean(&self, link: usize, of: impl Fn(&LinkMeasures) -> f64) -> f64 {
        mean_of(&self.windows, |window| window.links.get(link).map(&of))
    }

    fn receivers(&self, flow: usize) -> impl Iterator<Item = Option<&ReceiverMeasures>> {
        self.windows.iter().map(move |window| window.flows.get(flow)?.receiver.as_deref())
    }

    /// The explanation of a flow; none for flows that are not receivers of a session.
    pub(super) fn explain(&self, flow: usize) -> Option<Explanation> {
        self.receivers(flow).flatten().next()?;
        let path = self.paths.get(flow)?;
        let statistic = |of: fn(&ReceiverMeasures) -> Option<f64>| {
            let statistic = Statistic::new(self.receivers(flow).map(|measures| of(measures?)));
            statistic.mean.is_some().then_some(statistic)
        };
        let round_trip = |with_queues: bool| {
            Statistic::new(self.windows.iter().map(|window| round_trip_ms(window, path, with_queues)))
        };
        let until =
            Statistic::new(self.windows.iter().map(|window| window.flows.get(flow)?.measured_until_s));
        let bottleneck = self.bottleneck(path);
        Some(Explanation {
            measured_until_s: until.mean.is_some().then_some(until),
            path: path
                .iter()
                .filter_map(|&link| Some(self.experiment.links.get(link)?.name.clone()))
                .collect(),
            fullest: if bottleneck.is_none() { self.fullest(path) } else { None },
            bottleneck,
            estimated_loss: statistic(|measures| measures.estimated_loss),
            estimated_rtt_ms: statistic(|measures| measures.estimated_rtt_ms),
            estimated_rate_kbps: statistic(|measures| measures.estimated_rate_kbps),
            rtt_ms: round_trip(true),
            base_rtt_ms: round_trip(false),
            slow_start_s: statistic(|measures| measures.slow_start_s),
            still_in_slow_start: self.receivers(flow).flatten().filter(|m| m.still_in_slow_start).count(),
            held_back: self.held_back(flow),
            causes: self.causes(flow),
        })
    }

    fn bottleneck(&self, path: &[usize]) -> Option<Bottleneck> {
        let loads: Vec<LinkLoad> =
            path.iter().map(|&link| self.loads.get(link).copied().unwrap_or_default()).collect();
        let (place, by) = bottleneck(&loads)?;
        let (load, link) = (loads[place], path[place]);
        let capacity_kbps = self.link_mean(link, |measures| measures.capacity_kbps);
        let crossing = self.crossings.get(link).copied().unwrap_or_default();
        Some(Bottleneck {
            link: self.experiment.links.get(link)?.name.clone(),
            by,
            capacity_kbps: or_zero(capacity_kbps),
            utilisation: or_zero(load.utilisation),
            loss: or_zero(load.queue_loss + load.error_loss + load.marked),
            queue_delay_ms: or_zero(self.link_mean(link, LinkMeasures::queue_delay_ms)),
            sharing: crossing.sharing,
            // What loses packets whatever its load is not shared out.
            fair_share_kbps: if by == Limit::Errors { None } else { crossing.share_kbps(capacity_kbps) },
        })
    }

    fn fullest(&self, path: &[usize]) -> Option<(String, f64)> {
        let used = path.iter().filter_map(|&link| Some((link, self.loads.get(link)?.utilisation)));
        let (link, most) = used
            .filter(|(_, used)| used.is_finite())
            .reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        Some((self.experiment.links.get(link)?.name.clone(), most))
    }

    fn held_back(&self, flow: usize) -> Vec<Held> {
        let share = |by: HeldBack| {
            let shares: Vec<f64> =
                self.receivers(flow).flatten().map(|measures| measures.held_back[by as usize]).collect();
            Held { by, share: mean(&shares).unwrap_or(0.0) }
        };
        let mut held: Vec<Held> =
            HeldBack::ALL.iter().map(|&by| share(by)).filter(|held| held.share > 0.0).collect();
        held.sort_by(|a, b| b.share.total_cmp(&a.share));
        held
    }

    fn causes(&self, flow: usize) -> Vec<CauseSummary> {
        let mut totals: Vec<(Cause, u64, u64)> = Vec::new();
        for count in self.receivers(flow).flatten().flat_map(|measures| &measures.causes) {
            match totals.iter_mut().find(|(cause, ..)| *cause == count.cause) {
                Some((_, joins, leaves)) => {
                    *joins += count.joins;
                    *leaves += count.leaves;
                }
                None => totals.push((count.cause, count.joins, count.leaves)),
            }
        }
        totals.sort_by_key(|&(cause, joins, leaves)| (std::cmp::Reverse((joins + leaves, joins)), cause));
        let runs = self.receivers(flow).flatten().count().max(1) as f64;
        totals
            .into_iter()
            .map(|(cause, joins, leaves)| CauseSummary {
                cause: cause.to_string(),
                joins: joins as f64 / runs,
                leaves: leaves as f64 / runs,
            })
            .collect()
    }
}

impl LinkMeasures {
    /// The mean delay of the queue, in milliseconds.
    #[must_use]
    pub fn queue_delay_ms(&self) -> f64 {
        self.queue_delay.as_ref().map_or(0.0, |delay| delay.mean_ms)
    }

    /// The delay of the queue that was not exceeded for this share of the window, in milliseconds.
    #[must_use]
    pub fn queue_delay_quantile_ms(&self, share: f64) -> f64 {
        self.queue_delay.as_ref().map_or(0.0, |delay| delay.quantile_ms(share, self.window_s))
    }
}

/// The mean over the windows that have a value; NaN if none has.
fn mean_of(windows: &[&WindowMeasures], of: impl Fn(&WindowMeasures) -> Option<f64>) -> f64 {
    let values: Vec<f64> = windows.iter().filter_map(|window| of(window)).filter(|v| v.is_finite()).collect();
    mean(&values).unwrap_or(f64::NAN)
}

fn load(windows: &[&WindowMeasures], link: usize) -> LinkLoad {
    let share = |of: fn(&LinkMeasures) -> u64| {
        mean_of(windows, |window| {
            let measures = window.links.get(link)?;
            let offered = measures.packets + measures.drops;
            Some(if offered > 0 { of(measures) as f64 / offered as f64 } else { 0.0 })
        })
    };
    LinkLoad {
        utilisation: mean_of(windows, |window| Some(window.links.get(link)?.utilisation)),
        queue_loss: share(|measures| measures.drops - measures.losses),
        error_loss: share(|measures| measures.losses),
        marked: share(|measures| measures.marks),
    }
}

/// The round-trip time over a path and back over the other directions of its links.
fn round_trip_ms(window: &WindowMeasures, path: &[usize], with_queues: bool) -> Option<f64> {
    let mut total = 0.0;
    // The two directions of a link are next to each other.
    for link in path.iter().flat_map(|&link| [link, link ^ 1]) {
        let measures = window.links.get(link)?;
        let queue = if with_queues { measures.queue_delay_ms() } else { 0.0 };
        total += measures.propagation_ms + measures.transmission_ms + queue;
    }
    Some(total)
}

/// What crosses each link: sessions once, connections for the time in which they have data.
fn crossings(experiment: &Experiment, windows: &[&WindowMeasures], paths: &[Vec<usize>]) -> Vec<Crossing> {
    let mut crossings = vec![Crossing::default(); experiment.links.len()];
    // Receivers of a session are next to each other, so the last session seen on a link suffices.
    let mut seen: Vec<Option<&str>> = vec![None; experiment.links.len()];
    for ((flow, info), path) in experiment.flows.iter().enumerate().zip(paths) {
        for &link in path {
            let (Some(crossing), Some(seen)) = (crossings.get_mut(link), seen.get_mut(link)) else {
                continue;
            };
            if info.role == Role::Receiver {
                let session = info.session.as_deref();
                crossing.sharing += if *seen == session { 0.0 } else { 1.0 };
                *seen = session;
            } else if info.is_constant_rate {
                crossing.constant_kbps +=
                    known(windows, |window| Some(window.flows.get(flow)?.throughput_kbps));
            } else {
                crossing.sharing += active_share(windows, flow, info);
            }
        }
    }
    crossings
}

/// The share of the window in which a connection had data to send.
fn active_share(windows: &[&WindowMeasures], flow: usize, info: &FlowInfo) -> f64 {
    if info.traffic.is_some() {
        // Users pause within a page and players when their buffer is full.
        return 1.0
            - known(windows, |window| window.flows.get(flow)?.limited.as_ref()?.limited_by_application);
    }
    if !info.has_transfers {
        return 1.0;
    }
    known(windows, |window| {
        let measures = window.flows.get(flow)?;
        let busy_s = measures.transfers? * measures.completion_s.unwrap_or(0.0);
        let window_s = window.links.first()?.window_s;
        Some((busy_s / window_s).clamp(0.0, 1.0))
    })
}

/// As [`mean_of`]; zero if none has a value.
fn known(windows: &[&WindowMeasures], of: impl Fn(&WindowMeasures) -> Option<f64>) -> f64 {
    or_zero(mean_of(windows, of))
}

/// JSON has no number for what is not finite.
fn or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}
