//! Numbers of trajectories: what the replications of an experiment did over time.

use crate::frame::figure::{Curve, Data, Panel, Style, Table};
use crate::frame::scale::Scale;
use crate::frame::time_series::{Points, TimeSeries};
use crate::samples::{Placed, Samples};

use super::studies::{LINKS, PACKET_KBIT};

/// The receivers of the session: what is said of AMCA is said of the first, unless both are meant.
pub(super) const RECEIVERS: [&str; 2] = ["amca@R1", "amca@R2"];
/// The first of them.
pub(super) const AMCA: &str = RECEIVERS[0];
/// The window, in seconds, that decides when a rate is reached.
const STEADY: usize = 5;

/// The replications of one experiment.
#[derive(Clone, Copy)]
pub(super) struct Runs<'d>(Option<&'d TimeSeries>);

/// Those of a study.
pub(super) fn runs<'d>(data: &'d Data, study: &str, outer: Option<u32>) -> Runs<'d> {
    Runs(data.study(study).time_series(outer))
}

/// The points that end after `from` and no later than `to`, in seconds.
fn between(points: &[(f64, f64)], from: f64, to: f64) -> impl Iterator<Item = &(f64, f64)> {
    points.iter().filter(move |(end, _)| *end > from && *end <= to)
}

/// The mean of the seconds from `from` to `to`; none without any.
pub(super) fn mean(points: &[(f64, f64)], from: f64, to: f64) -> Option<f64> {
    let count = between(points, from, to).count();
    let sum: f64 = between(points, from, to).map(|(_, value)| value).sum();
    (count > 0).then(|| sum / count as f64)
}

/// The coefficient of variation of the seconds from `from` to `to`; none where the mean is 0.
pub(super) fn variation(points: &[(f64, f64)], from: f64, to: f64) -> Option<f64> {
    let mean = mean(points, from, to).filter(|mean| *mean > 0.0)?;
    let squares: f64 = between(points, from, to).map(|(_, value)| (value - mean) * (value - mean)).sum();
    let count = between(points, from, to).count();
    Some(libm::sqrt(squares / count as f64) / mean)
}

/// How many seconds after `from` there first is a second where the throughput is where it is asked to be, and the
/// mean of five seconds from there on too; all the time up to `to` if there never is.
pub(super) fn reached(
    points: &[(f64, f64)],
    from: f64,
    to: f64,
    is_there: impl Fn(f64) -> bool,
) -> Option<f64> {
    let all: Points = between(points, from, to).copied().collect();
    let mean = |some: &[(f64, f64)]| some.iter().map(|(_, value)| value).sum::<f64>() / STEADY as f64;
    let has_it = |some: &&[(f64, f64)]| is_there(some[0].1) && is_there(mean(some));
    let first = all.windows(STEADY).find(has_it);
    let begins = first.and_then(|some| some.first()).map_or(to, |(end, _)| end - 1.0);
    (!all.is_empty()).then(|| (begins - from).max(0.0))
}

impl Runs<'_> {
    /// A number of each replication.
    pub(super) fn each(self, value: impl Fn(&TimeSeries, u32) -> Option<f64>) -> Samples {
        let Some(time_series) = self.0 else { return Samples::default() };
        Samples(time_series.replications().map(|number| value(time_series, number)).collect())
    }

    /// The throughput of a flow in kbit/s from one second to another.
    pub(super) fn kbps(self, flow: &str, from: f64, to: f64) -> Samples {
        self.each(|time_series, number| mean(&time_series.throughput(number, flow), from, to))
    }

    /// Its coefficient of variation, second by second.
    pub(super) fn variation(self, flow: &str, from: f64, to: f64) -> Samples {
        self.each(|time_series, number| variation(&time_series.throughput(number, flow), from, to))
    }

    /// How many seconds after `from` a flow's throughput is where it is asked to be.
    pub(super) fn reached(self, flow: &str, from: f64, to: f64, is_there: impl Fn(f64) -> bool) -> Samples {
        self.each(|time_series, number| reached(&time_series.throughput(number, flow), from, to, &is_there))
    }

    /// How many seconds after `from` it is as low as it is on average from `then` to `to`, within a tenth.
    pub(super) fn yielded(self, flow: &str, from: f64, then: f64, to: f64) -> Samples {
        self.each(|time_series, number| {
            let points = time_series.throughput(number, flow);
            let low = mean(&points, then, to)?;
            reached(&points, from, to, |kbps| kbps <= 1.1 * low)
        })
    }

    /// How many packets a link dropped.
    pub(super) fn drops(self, link: &str, from: f64, to: f64) -> Samples {
        self.each(|time_series, number| {
            let drops = time_series.probe(number, link, "drops");
            mean(&drops, from, to).map(|mean| mean * between(&drops, from, to).count() as f64)
        })
    }

    /// How many packets all links dropped in the whole run.
    pub(super) fn all_drops(self) -> Samples {
        let all = LINKS.map(|link| self.drops(link, 0.0, f64::INFINITY));
        Samples::average(&all).times(LINKS.len() as f64)
    }

    /// How long a receiver's transfer took in seconds; none of one that did not end.
    pub(super) fn completion_s(self, flow: &str) -> Samples {
        self.each(|time_series, number| time_series.completion_s(number, flow))
    }

    fn first(self, points: impl Fn(&TimeSeries, u32) -> Points) -> Points {
        let first = self
            .0
            .and_then(|time_series| time_series.replications().next().map(|number| (time_series, number)));
        first.map_or_else(Vec::new, |(time_series, number)| points(time_series, number))
    }

    /// The throughput of a flow in the first replication.
    pub(super) fn time_series(self, flow: &str, name: &str, hue: usize) -> Curve {
        Curve::exact(
            name,
            Style::Line(hue),
            self.first(|time_series, number| time_series.throughput(number, flow)),
        )
    }

    /// The number of multicast packets that a receiver got, in the first replication.
    pub(super) fn packets(self, flow: &str, name: &str, hue: usize) -> Curve {
        let mut sum = 0.0;
        let throughput = self.first(|time_series, number| time_series.throughput(number, flow));
        let packets = throughput.into_iter().map(|(end, kbps)| {
            sum += kbps / PACKET_KBIT;
            (end, sum)
        });
        Curve::exact(name, Style::Line(hue), packets)
    }

    /// What waits at the bottleneck in the first replication.
    pub(super) fn queue(self, name: &str, hue: usize) -> Curve {
        let queue = self.first(|time_series, number| time_series.probe(number, "A-B", "queue_packets"));
        Curve::exact(name, Style::Line(hue), queue)
    }

    /// What a link has dropped so far in the first replication.
    pub(super) fn dropped(self, link: &str, name: &str, hue: usize) -> Curve {
        let mut sum = 0.0;
        let drops = self.first(|time_series, number| time_series.probe(number, link, "drops"));
        let drops = drops.into_iter().map(|(at, drops)| {
            sum += drops;
            (at, sum)
        });
        Curve::exact(name, Style::Line(hue), drops)
    }
}

/// A panel over time.
pub(super) fn over_time(title: &str, curves: Vec<Curve>) -> Panel {
    Panel { table: Table::About(14), ..panel(title, "time, s", curves) }
}

/// A panel with all its points in the table.
pub(super) fn panel(title: &str, across: &'static str, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        across,
        across_scale: Scale::Linear,
        up_scale: Scale::Linear,
        curves,
        table: Table::Whole,
    }
}

/// A number at a position.
pub(super) fn at(name: impl ToString, samples: Samples) -> Placed {
    (name.to_string(), samples)
}
