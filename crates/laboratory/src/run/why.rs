//! Why receivers have their rates: what a world knows of it when its run is over.

use std::collections::BTreeMap;

use layercast_core::family::Family;
use layercast_core::units::{Duration, Time};
use layercast_simulator::{LevelChange, LinkId};

use super::completions::before;
use super::world::{World, WorldFlow, WorldFlowId};
use crate::results::why::{Cause, CauseCount, HeldBack, LevelMark, ReceiverMeasures};
use crate::results::{FlowInfo, FlowSeries, Replication};
use crate::scenario::{Scenario, Window};

/// The links that each flow's data cross, as indices into the experiment's.
pub(super) fn paths<F: Family>(world: &World<F>) -> Vec<Vec<usize>> {
    let index: BTreeMap<LinkId, usize> =
        world.links.iter().enumerate().map(|(index, &link)| (link, index)).collect();
    let simulation = world.simulation();
    let known = |links: &[LinkId]| links.iter().filter_map(|link| index.get(link).copied()).collect();
    let path = |flow: &WorldFlow| match flow.id {
        WorldFlowId::Receiver(id) => known(&simulation.receiver_path(id)),
        WorldFlowId::Tcp(id) => known(simulation.tcp_path(id)),
        WorldFlowId::Udp(id) => known(simulation.udp_path(id)),
        WorldFlowId::Outside => flow.outside().map_or(Vec::new(), |outside| known(&outside.links)),
    };
    world.flows.iter().map(path).collect()
}

/// Adds the changes of level to the series of each receiver.
pub(super) fn add_changes<F: Family>(world: &World<F>, replication: &mut Replication) {
    for (flow, series) in world.flows.iter().zip(&mut replication.series.flows) {
        let WorldFlowId::Receiver(id) = flow.id else { continue };
        let mark = |change: &LevelChange| LevelMark {
            at_s: change.at.as_secs_f64(),
            from: change.from.as_number(),
            to: change.to.as_number(),
            cause: change.cause,
        };
        series.changes = world.simulation().level_changes(id).iter().map(mark).collect();
    }
}

/// Adds to the main window what is known of each receiver.
pub(super) fn add_receivers<F: Family>(
    scenario: &Scenario,
    world: &World<F>,
    flows: &[FlowInfo],
    replication: &mut Replication,
) {
    let Some(window) = scenario.windows.first() else { return };
    let Some(measures) = replication.windows.first_mut() else { return };
    let time = |seconds: f64| Time::ZERO + Duration::from_secs_f64(seconds);
    let bin_s = scenario.series_bin.as_secs_f64();
    let each = world.flows.iter().zip(flows).zip(&replication.series.flows).zip(&mut measures.flows);
    for (((flow, info), series), measures) in each {
        let WorldFlowId::Receiver(id) = flow.id else { continue };
        let until = measures.measured_until_s.map(time);
        if until.is_some_and(|until| until <= window.start) {
            continue;
        }
        let looked = Looked {
            changes: before(world.simulation().level_changes(id), until),
            slow_start_ended: world.simulation().slow_start_ended(id),
            born: flow.start,
            window: &Window { end: until.unwrap_or(window.end), ..*window },
        };
        measures.receiver = Some(Box::new(looked.measures(info, series, bin_s)));
    }
}

/// What is known of one receiver.
struct Looked<'a> {
    changes: &'a [LevelChange],
    slow_start_ended: Option<Time>,
    born: Time,
    window: &'a Window,
}

impl Looked<'_> {
    fn measures(&self, info: &FlowInfo, series: &FlowSeries, bin_s: f64) -> ReceiverMeasures {
        let in_window = self.bins(series.bins(), bin_s);
        let mean = |values: &[f64]| {
            let known = in_window.iter().filter_map(|&(bin, _)| values.get(bin));
            let known: Vec<f64> = known.copied().filter(|value| value.is_finite()).collect();
            crate::results::statistics::mean(&known)
        };
        let rate = rate_of(series);
        ReceiverMeasures {
            slow_start_s: self.slow_start_end().map(|end| end.since(self.born).as_secs_f64()),
            still_in_slow_start: self.slow_start_end().is_some()
                && self.slow_start_ended_in_window().is_none(),
            estimated_loss: mean(&series.loss),
            estimated_rtt_ms: mean(&series.rtt_ms),
            estimated_rate_kbps: mean(rate),
            causes: causes(self.changes, self.window),
            held_back: self.held_back(info, series, rate, &in_window),
        }
    }

    /// The bins that end in the window, and when.
    fn bins(&self, count: usize, bin_s: f64) -> Vec<(usize, Time)> {
        let end = |bin: usize| Time::from_ns(((bin + 1) as f64 * bin_s * 1e9) as u64);
        let within = |at: Time| at > self.window.start && at <= self.window.end;
        (0..count).map(|bin| (bin, end(bin))).filter(|&(_, at)| within(at)).collect()
    }

    /// The end of slow start as far as it was before the window's end.
    fn slow_start_ended_in_window(&self) -> Option<Time> {
        self.slow_start_ended.filter(|&at| at <= self.window.end)
    }

    /// When slow start ended, or the window's end if it had not; none without slow start.
    fn slow_start_end(&self) -> Option<Time> {
        let joined = self.changes.iter().any(|change| change.cause == Cause::SlowStart);
        let ended = self.slow_start_ended_in_window();
        if joined || self.slow_start_ended.is_some() { Some(ended.unwrap_or(self.window.end)) } else { None }
    }

    fn held_back(
        &self,
        info: &FlowInfo,
        series: &FlowSeries,
        rate: &[f64],
        bins: &[(usize, Time)],
    ) -> [f64; HeldBack::ALL.len()] {
        let mut shares = [0.0; HeldBack::ALL.len()];
        for &(bin, at) in bins {
            let level = series.level.get(bin).copied().flatten();
            let held = self.held_at(info, level, rate.get(bin).copied().unwrap_or(f64::NAN), at);
            shares[held as usize] += 1.0 / bins.len() as f64;
        }
        shares
    }

    fn held_at(&self, info: &FlowInfo, level: Option<i32>, rate_kbps: f64, at: Time) -> HeldBack {
        if at < self.born {
            return HeldBack::NotStarted;
        }
        let Some(level) = level.and_then(|level| usize::try_from(level).ok()) else {
            return HeldBack::NoLayer;
        };
        if info.one_rate || info.level_rates_kbps.len() < 2 {
            return HeldBack::Source;
        }
        if self.slow_start_end().is_some_and(|end| at <= end) {
            return HeldBack::SlowStart;
        }
        let Some(&next_kbps) = info.level_rates_kbps.get(level + 1) else { return HeldBack::TopLayer };
        if rate_kbps.is_finite() {
            return if rate_kbps < next_kbps { HeldBack::FairRate } else { HeldBack::Waiting };
        }
        let before = self.changes.partition_point(|change| change.at <= at);
        let last = before.checked_sub(1).and_then(|last| self.changes.get(last));
        if last.is_some_and(|change| change.to < change.from) { HeldBack::Losses } else { HeldBack::Waiting }
    }
}

/// The rate that decisions use, or else the one that is calculated.
fn rate_of(series: &FlowSeries) -> &[f64] {
    let known = |values: &[f64]| values.iter().any(|value| value.is_finite());
    if known(&series.smoothed_rate_kbps) { &series.smoothed_rate_kbps } else { &series.rate_kbps }
}

/// The layers joined and left within the window, by cause: most joins first, then most leaves.
fn causes(changes: &[LevelChange], window: &Window) -> Vec<CauseCount> {
    let mut counts: BTreeMap<Cause, (u64, u64)> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.at > window.start && change.at <= window.end) {
        let (from, to) = (u64::from(change.from.layer_count()), u64::from(change.to.layer_count()));
        let (joins, leaves) = counts.entry(change.cause).or_default();
        *joins += to.saturating_sub(from);
        *leaves += from.saturating_sub(to);
    }
    let mut counts: Vec<CauseCount> =
        counts.into_iter().map(|(cause, (joins, leaves))| CauseCount { cause, joins, leaves }).collect();
    counts.sort_by_key(|count| std::cmp::Reverse((count.joins, count.leaves)));
    counts
}

#[cfg(test)]
mod tests {
    use layercast_core::units::Level;

    use super::super::levels::tests::at;
    use super::*;
    use crate::results::Role;

    fn change(at_s: f64, from: u16, to: u16, cause: Cause) -> LevelChange {
        LevelChange { at: at(at_s), from: Level::from_count(from), to: Level::from_count(to), cause }
    }

    fn info(rates: &[f64]) -> FlowInfo {
        FlowInfo {
            name: "elm@R1".to_owned(),
            protocol: "elm".to_owned(),
            role: Role::Receiver,
            session: Some("elm".to_owned()),
            node: "R1".to_owned(),
            level_rates_kbps: rates.to_vec(),
            traffic: None,
            has_transfers: false,
            one_rate: false,
            has_object: false,
            is_constant_rate: false,
        }
    }

    fn share(measures: &ReceiverMeasures, held: HeldBack) -> f64 {
        (measures.held_back[held as usize] * 1000.0).round() / 1000.0
    }

    #[test]
    fn each_second_of_the_window_has_one_reason() {
        let changes = [
            change(2.5, 0, 1, Cause::Start),
            change(3.5, 1, 2, Cause::SlowStart),
            change(6.5, 2, 3, Cause::RateAbove),
            change(8.5, 3, 2, Cause::RateBelow),
        ];
        let window = Window { start: at(0.0), end: at(10.0) };
        let looked =
            Looked { changes: &changes, slow_start_ended: Some(at(4.5)), born: at(1.5), window: &window };
        // At the ends of seconds 1 to 10.
        let level = [-1, -1, 0, 1, 1, 1, 2, 2, 1, 1].map(Some).to_vec();
        let nan = f64::NAN;
        let rate = vec![nan, nan, nan, 250.0, 250.0, 500.0, 600.0, 600.0, 200.0, 200.0];
        let series = FlowSeries {
            throughput_kbps: vec![0.0; 10],
            level,
            smoothed_rate_kbps: rate,
            loss: vec![nan, nan, nan, nan, 0.01, 0.01, 0.01, 0.01, 0.03, 0.03],
            ..FlowSeries::default()
        };
        let measures = looked.measures(&info(&[128.0, 256.0, 512.0]), &series, 1.0);
        // 1: not started; 2: no layer; 3 and 4: slow start; 5 and 6: rate below the third layer's 512; 7 and 8:
        // all three layers; 9 and 10: rate below again.
        let expected = [
            (HeldBack::NotStarted, 0.1),
            (HeldBack::NoLayer, 0.1),
            (HeldBack::SlowStart, 0.2),
            (HeldBack::FairRate, 0.4),
            (HeldBack::TopLayer, 0.2),
            (HeldBack::Waiting, 0.0),
        ];
        for (held, expected) in expected {
            assert_eq!(share(&measures, held), expected, "{held:?}");
        }
        assert_eq!(measures.slow_start_s, Some(3.0));
        assert!(!measures.still_in_slow_start);
        assert!((measures.estimated_loss.unwrap_or(0.0) - 0.1 / 6.0).abs() < 1e-12);
        let counts: Vec<(Cause, u64, u64)> =
            measures.causes.iter().map(|count| (count.cause, count.joins, count.leaves)).collect();
        assert_eq!(
            counts,
            [
                (Cause::Start, 1, 0),
                (Cause::SlowStart, 1, 0),
                (Cause::RateAbove, 1, 0),
                (Cause::RateBelow, 0, 1)
            ]
        );
    }

    #[test]
    fn without_a_calculated_rate_the_last_change_decides() {
        let changes = [change(0.5, 0, 1, Cause::Start), change(3.5, 1, 2, Cause::SynchronisationPoint)];
        let window = Window { start: at(0.0), end: at(4.0) };
        let looked = Looked { changes: &changes, slow_start_ended: None, born: at(0.0), window: &window };
        let at_second = |second: f64, level| {
            looked.held_at(&info(&[128.0, 256.0, 512.0]), Some(level), f64::NAN, at(second))
        };
        assert_eq!(at_second(4.0, 1), HeldBack::Waiting);
        let fell = [change(0.5, 0, 2, Cause::Start), change(3.5, 2, 1, Cause::Loss)];
        let looked = Looked { changes: &fell, ..looked };
        let held = looked.held_at(&info(&[128.0, 256.0, 512.0]), Some(0), f64::NAN, at(4.0));
        assert_eq!(held, HeldBack::Losses);
        assert_eq!(looked.slow_start_end(), None);
        let one = looked.held_at(&info(&[128.0]), Some(0), f64::NAN, at(4.0));
        assert_eq!(one, HeldBack::Source);
    }

    #[test]
    fn slow_start_that_has_not_ended_lasts_to_the_windows_end() {
        let changes = [change(1.0, 0, 1, Cause::Start), change(5.0, 1, 2, Cause::SlowStart)];
        let window = Window { start: at(2.0), end: at(9.0) };
        let looked =
            Looked { changes: &changes, slow_start_ended: Some(at(9.5)), born: at(1.0), window: &window };
        let measures = looked.measures(&info(&[1.0, 2.0]), &FlowSeries::default(), 1.0);
        assert_eq!((measures.slow_start_s, measures.still_in_slow_start), (Some(8.0), true));
    }
}
