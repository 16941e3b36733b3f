//! The grids of the four experiments, and how their numbers are asked for.

use crate::frame::figure::{Curve, Data, Panel, Style, Table};
use crate::frame::scale::{Scale, tick_label};
use crate::frame::study::{Quantity, Study, Sweep};
use crate::samples::{Placed, Samples};

/// Numbers of sessions and of TCP: 2 to 16 (section 3; steps of 2 are our reading).
pub(super) const COUNTS: [u32; 8] = [2, 4, 6, 8, 10, 12, 14, 16];
/// Probabilities of link loss; the paper states none.
pub(super) const LOSSES: [f64; 8] = [0.0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1];
/// The sessions of the scenarios; those of the first eight have lossy links in the fourth experiment.
pub(super) const SESSIONS: [&str; 16] =
    ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15", "m16"];
/// How many receivers have lossy links in the fourth experiment.
const LOSSY: usize = 8;

const METRICS: &[&str] = &["throughput_kbps", "loss_rate", "mean_level"];

/// The two steps of the first two experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// FLID-DL, where nothing is marked.
    Lost,
    /// ECN-capable E-FLID-DL and TCP.
    Marked,
}

impl Step {
    /// The protocol of its sessions.
    pub(super) fn protocol(self) -> &'static str {
        match self {
            Step::Lost => "FLID-DL",
            Step::Marked => "E-FLID-DL",
        }
    }
}

/// A grid over the number of sessions sharing with as many TCPs, with further settings per number.
pub(super) fn by_count(
    name: &'static str,
    step: Step,
    counts: &[u32],
    further: impl Fn(u32) -> Vec<String>,
) -> Study {
    let sweep = |&count: &u32| Sweep {
        outer: Some(count),
        set: [from_count(step, count), further(count)].concat(),
        // A sweep that varies nothing keeps trajectories; the number of TCP is its only value.
        vary: vec![format!("flow.tcp.count={count}")],
    };
    let scenario = match step {
        Step::Lost => "e-flid/fairness-flid",
        Step::Marked => "e-flid/fairness",
    };
    Study { name, scenario, sweeps: counts.iter().map(sweep).collect(), metrics: METRICS }
}

/// The setting for a number of sessions: TCPs, bottleneck and queue. The other sessions end at once.
fn from_count(step: Step, count: u32) -> Vec<String> {
    let queue = match step {
        Step::Lost => vec![("limit", format!("{} packets", 5 * count))],
        Step::Marked => vec![
            ("min_threshold", (2 * count).to_string()),
            ("max_threshold", (5 * count).to_string()),
            ("limit", format!("{} packets", 10 * count)),
        ],
    };
    let mut set = vec![format!("link.G1-G2.rate={} Mbit/s", 2 * count)];
    set.extend(queue.into_iter().map(|(key, value)| format!("link.G1-G2.queue.{key}={value}")));
    for name in SESSIONS.iter().skip(count as usize) {
        set.extend([format!("session.{name}.start=0 s"), format!("session.{name}.stop=1 ms")]);
    }
    set
}

/// A grid over the link loss of a scenario, at this key.
pub(super) fn by_loss(
    name: &'static str,
    scenario: &'static str,
    key: &str,
    losses: &[f64],
    further: &[&str],
) -> Study {
    let losses: Vec<String> = losses.iter().map(f64::to_string).collect();
    let sweep = Sweep {
        outer: None,
        set: further.iter().map(|&set| set.to_owned()).collect(),
        vary: vec![format!("{key}={}", losses.join(","))],
    };
    Study { name, scenario, sweeps: vec![sweep], metrics: METRICS }
}

/// Whose numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The receivers of all sessions that run.
    Layered,
    /// Of those, the ones with lossy links in the fourth experiment.
    Lossy,
    /// The others.
    Lossless,
    /// TCP.
    Tcp,
}

/// A cell of a grid.
#[derive(Clone, Copy)]
pub(super) struct PlotCell<'d> {
    data: &'d Data,
    study: &'static str,
    at: f64,
    along: Along,
}

/// The cell of a number of sessions.
pub(super) fn sharing_with_tcp<'d>(data: &'d Data, study: &'static str, count: u32) -> PlotCell<'d> {
    PlotCell { data, study, at: f64::from(count), along: Along::Count }
}

/// The cell of a link loss.
pub(super) fn losing<'d>(data: &'d Data, study: &'static str, loss: f64) -> PlotCell<'d> {
    PlotCell { data, study, at: loss, along: Along::Loss }
}

impl PlotCell<'_> {
    /// A metric, as the mean over flows.
    pub(super) fn of(self, whose: Whose, metric: &'static str) -> Samples {
        let running = match self.along {
            Along::Count => self.at as usize,
            Along::Loss | Along::Length => SESSIONS.len(),
        };
        let running = SESSIONS.get(..running).unwrap_or_default();
        let (lossy, lossless) = running.split_at(LOSSY.min(running.len()));
        let names = match whose {
            Whose::Layered => running,
            Whose::Lossy => lossy,
            Whose::Lossless => lossless,
            Whose::Tcp => &["tcp"],
        };
        let study = self.data.study(self.study);
        let all: Vec<Samples> =
            names.iter().map(|flow| study.samples(&self.coordinates(), Quantity { flow, metric })).collect();
        mean(&all)
    }

    /// Where the cell is in its study: a number of sessions is the outer factor and the axis.
    fn coordinates(self) -> Vec<f64> {
        match self.along {
            Along::Loss => vec![self.at],
            Along::Count | Along::Length => vec![self.at, self.at],
        }
    }

    /// Mean throughput in kbit/s.
    pub(super) fn kbps(self, whose: Whose) -> Samples {
        self.of(whose, "throughput_kbps")
    }

    /// The mean level.
    pub(super) fn level(self, whose: Whose) -> Samples {
        self.of(whose, "mean_level")
    }

    /// Throughput of sessions over that of TCP.
    pub(super) fn over_tcp(self) -> Samples {
        self.kbps(Whose::Layered).over(&self.kbps(Whose::Tcp))
    }

    /// How far that is from one, as a logarithm: the same for half and for double.
    pub(super) fn unfairness(self) -> Samples {
        self.over_tcp().each(|ratio| libm::log(ratio).abs())
    }

    /// These samples with the position's name.
    pub(super) fn named(self, samples: Samples) -> Placed {
        let name = match self.along {
            Along::Count => format!("n = {}", self.at),
            Along::Loss => format!("{} %", percent(self.at)),
            Along::Length => format!("{} s", self.at),
        };
        (name, samples)
    }
}

/// The mean of samples, replication by replication; none where one has none.
fn mean(all: &[Samples]) -> Samples {
    let replications = all.iter().map(|samples| samples.0.len()).min().unwrap_or(0);
    let of_one = |replication: usize| {
        let values = all.iter().map(|samples| samples.0.get(replication).copied().flatten());
        let sum = values.sum::<Option<f64>>();
        sum.map(|sum| sum / all.len() as f64)
    };
    Samples((0..replications).map(of_one).collect())
}

/// What is along the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// The number of sessions.
    Count,
    /// The link loss.
    Loss,
    /// How long a run is.
    Length,
}

/// A plot.
pub(super) fn panel(title: &str, along: Along, curves: Vec<Curve>) -> Panel {
    let (across, across_scale) = match along {
        Along::Count => ("sessions, and as many TCP", Scale::Linear),
        Along::Loss => ("link loss, %", Scale::Linear),
        Along::Length => ("length of a run, s", Scale::Logarithmic),
    };
    Panel {
        title: title.to_owned(),
        across,
        across_scale,
        up_scale: Scale::Linear,
        curves,
        table: Table::Whole,
    }
}

/// A curve over the number of sessions.
pub(super) fn over_counts(name: &str, hue: usize, counts: &[u32], value: impl Fn(u32) -> Samples) -> Curve {
    let points = counts.iter().map(|&count| (f64::from(count), value(count))).collect();
    Curve { name: name.to_owned(), look: Style::Dots(hue), points }
}

/// A curve over the link loss.
pub(super) fn over_losses(name: &str, hue: usize, value: impl Fn(f64) -> Samples) -> Curve {
    let points = LOSSES.iter().map(|&loss| (loss * 100.0, value(loss))).collect();
    Curve { name: name.to_owned(), look: Style::Dots(hue), points }
}

/// A share in percent, without needless digits.
fn percent(share: f64) -> String {
    tick_label(share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_of_the_first_experiment_is_the_papers() {
        let study = by_count("x", Step::Marked, &COUNTS, |_| Vec::new());
        let four = &study.sweeps[1];
        assert_eq!(four.outer, Some(4));
        assert_eq!(
            four.set[..4],
            [
                "link.G1-G2.rate=8 Mbit/s",
                "link.G1-G2.queue.min_threshold=8",
                "link.G1-G2.queue.max_threshold=20",
                "link.G1-G2.queue.limit=40 packets"
            ]
        );
        assert_eq!(four.vary, ["flow.tcp.count=4"]);
        assert_eq!(four.set.len(), 4 + 2 * 12, "twelve sessions end at once");
        assert_eq!(study.sweeps[7].set.len(), 4);
    }

    #[test]
    fn a_mean_is_taken_in_each_replication() {
        let all = [Samples(vec![Some(1.0), Some(4.0), None]), Samples::of([3.0, 8.0, 1.0])];
        assert_eq!(mean(&all).0, [Some(2.0), Some(6.0), None]);
        assert_eq!(mean(&[Samples::default(), Samples::of([1.0])]), Samples::default());
        assert_eq!(mean(&[]), Samples::default());
    }
}
