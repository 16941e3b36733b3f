//! One set of values for ELM and RLC, fitted to simulations 1 and 2 of the thesis alone, then simulations 3 to 5.
//!
//! The thesis says neither its loss and smoothing windows nor RLC's interval, burst and deaf period. All is fitted in
//! the reading that counts for these simulations, together. A grid finds a neighbourhood, a seeded search in it the
//! point; other seeds than the grid's judge the candidates, so that the grid's luck does not decide. The filter of the
//! round-trip time cannot be fitted there: nothing queues in these simulations.

mod outcome;
mod targets;

use layercast_core::math;
use layercast_core::stream::Stream;
use layercast_laboratory::sweep::Part;

use super::experiment::{Case, Runner, samples};
use super::page::{Report, Text};
use crate::readings::rhythm::Reading;
use crate::samples::number;
use targets::{Flows, TARGETS, Target};

/// Values of ELM's loss window, in packets.
const WINDOWS: [f64; 7] = [1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0];
/// Values of LAP's history, in intervals.
const HISTORIES: [f64; 4] = [4.0, 8.0, 16.0, 32.0];
/// Values of ELM's smoothing window, in packets.
const SMOOTHINGS: [f64; 5] = [25.0, 50.0, 100.0, 200.0, 400.0];
/// Values of RLC's base interval, in ms.
const INTERVALS: [f64; 6] = [200.0, 250.0, 280.0, 320.0, 360.0, 420.0];
/// Values of RLC's burst, in packets.
const BURSTS: [f64; 4] = [0.0, 2.0, 4.0, 8.0];
/// Values of RLC's bound on the round-trip time, in ms, of which the deaf period is twice that and more.
const BOUNDS: [f64; 4] = [60.0, 125.0, 250.0, 500.0];
const OF_THE_GRID: u32 = 5;
const OF_A_CANDIDATE: u32 = 15;
/// How many points the search draws.
const DRAWN: usize = 20;
/// The seed of what judges candidates; the grid has the scenario's, 1.
const SEED: u64 = 2;

/// A point: the values of both protocols.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    window: f64,
    history: f64,
    smoothing: f64,
    interval: f64,
    burst: f64,
    bound: f64,
}

impl Point {
    /// What the scenarios have.
    const SCENARIO: Point =
        Point { window: 3.0, history: 8.0, smoothing: 100.0, interval: 320.0, burst: 8.0, bound: 250.0 };

    /// The changes for ELM.
    fn elm(&self) -> [String; 3] {
        [
            format!("session.elm.window={}", self.window),
            format!("session.elm.history={}", self.history),
            format!("session.elm.smoothing_window={}", self.smoothing),
        ]
    }

    /// The changes for RLC.
    fn rlc(&self) -> [String; 3] {
        [
            format!("session.rlc.sp_spacing={} ms", self.interval),
            format!("session.rlc.burst={}", self.burst),
            format!("session.rlc.rtt_bound={} ms", self.bound),
        ]
    }

    fn words(&self) -> String {
        format!(
            "loss window {}, history {}, smoothing window {}; interval {} ms, burst {}, bound on the round-trip time {} ms",
            self.window, self.history, self.smoothing, self.interval, self.burst, self.bound
        )
    }
}

/// Fits, and runs the rest.
pub(super) fn run(runner: &Runner) -> anyhow::Result<Report> {
    let near = grid(runner)?;
    let mut candidates = vec![Point::SCENARIO, near];
    candidates.extend(draw(near));
    let mut judged = Vec::new();
    for (position, point) in candidates.iter().enumerate() {
        let measured = measure(runner, &format!("candidate {position}"), point, &[])?;
        judged.push((error(&measured, None), *point, measured));
    }
    let best = judged.iter().enumerate().min_by(|(_, one), (_, other)| one.0.total_cmp(&other.0));
    let best = best.map_or(0, |(position, _)| position);
    let [(before, _, at_scenario), (after, point, fitted)] = [&judged[0], &judged[best]];
    let mut report = Report::new();
    outcome::run(runner, point, &mut report)?;
    report.page.say("");
    report.page.say(&format!(
        "Fitted: {}. Error {}; with the scenarios' values ({}) {}.",
        point.words(),
        number(*after),
        Point::SCENARIO.words(),
        number(*before)
    ));
    report.page.say(&filters(runner, point, fitted)?);
    fit_table(&mut report.more, at_scenario, fitted);
    for (error, point, _) in &judged {
        let samples = crate::samples::Samples::exactly(*error);
        report.keep("simulations 1 and 2", &point.words(), "error", &samples);
    }
    Ok(report)
}

/// A scenario in the reading that counts.
fn counting(scenario: &'static str) -> anyhow::Result<Case> {
    Case::new(scenario)?.at(Reading::Together.at(0))
}

/// What each target was measured to be.
type Measured = Vec<(&'static Target, f64)>;

/// The targets of simulations 1 and 2 at a point.
fn measure(runner: &Runner, name: &str, point: &Point, more: &[String]) -> anyhow::Result<Measured> {
    let mut measured = Vec::new();
    for scenario in targets::SCENARIOS {
        let mut set = [point.elm().to_vec(), more.to_vec()].concat();
        if scenario == targets::WITH_RLC {
            set.extend(point.rlc());
        }
        let case = counting(scenario)?.with(set);
        let mut cells =
            runner.cells(&format!("{scenario} {name}"), &case, &[], OF_A_CANDIDATE, Some(SEED))?;
        let parts = cells.pop().map(|(_, parts)| parts).unwrap_or_default();
        measured.extend(means(scenario, &parts, None));
    }
    Ok(measured)
}

/// The means of a scenario's targets, of both protocols or of one.
fn means(scenario: &str, parts: &[Part], of: Option<Flows>) -> Measured {
    let wanted = |target: &&Target| target.scenario == scenario && of.is_none_or(|of| target.flows() == of);
    let mean = |target: &'static Target| {
        (target, samples(parts, target.flow, target.metric(), target.window()).mean())
    };
    TARGETS.iter().filter(wanted).map(mean).collect()
}

/// The root of the mean square of the targets' errors, each in units of its tolerance.
fn error(measured: &[(&Target, f64)], of: Option<Flows>) -> f64 {
    let wanted = measured.iter().filter(|(target, _)| of.is_none_or(|of| target.flows() == of));
    let errors: Vec<f64> = wanted.map(|(target, ours)| target.error(*ours)).collect();
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len().max(1) as f64).sqrt()
}

/// The best point of the grid. At 100 Mbit/s nothing affects anything else, so each protocol has a grid of its own.
fn grid(runner: &Runner) -> anyhow::Result<Point> {
    let listed = |values: &[f64], unit: &str| {
        values.iter().map(|value| format!("{value}{unit}")).collect::<Vec<_>>().join(",")
    };
    let elm = [
        format!("session.elm.window={}", listed(&WINDOWS, "")),
        format!("session.elm.history={}", listed(&HISTORIES, "")),
        format!("session.elm.smoothing_window={}", listed(&SMOOTHINGS, "")),
    ];
    let rlc = [
        format!("session.rlc.sp_spacing={}", listed(&INTERVALS, " ms")),
        format!("session.rlc.burst={}", listed(&BURSTS, "")),
        format!("session.rlc.rtt_bound={}", listed(&BOUNDS, " ms")),
    ];
    let elm = best(runner, "grid of ELM", &targets::SCENARIOS, &elm, Flows::Elm)?;
    let rlc = best(runner, "grid of RLC", &[targets::WITH_RLC], &rlc, Flows::Rlc)?;
    match (elm.as_slice(), rlc.as_slice()) {
        (&[window, history, smoothing], &[interval, burst, bound]) => {
            Ok(Point { window, history, smoothing, interval, burst, bound })
        }
        _ => anyhow::bail!("a cell of the grid has other axes: {elm:?}, {rlc:?}"),
    }
}

/// The values of the cell with the least error.
fn best(
    runner: &Runner,
    name: &str,
    scenarios: &[&'static str],
    vary: &[String],
    of: Flows,
) -> anyhow::Result<Vec<f64>> {
    let mut by_cell: Vec<(Vec<f64>, Measured)> = Vec::new();
    for scenario in scenarios {
        let case = counting(scenario)?;
        let cells = runner.cells(&format!("{scenario} {name}"), &case, vary, OF_THE_GRID, None)?;
        if by_cell.is_empty() {
            let values = cells.iter().map(|(values, _)| values.iter().filter_map(|value| magnitude(value)));
            by_cell = values.map(|values| (values.collect(), Vec::new())).collect();
        }
        for ((_, all), (_, parts)) in by_cell.iter_mut().zip(&cells) {
            all.extend(means(scenario, parts, Some(of)));
        }
    }
    let errors = by_cell.into_iter().map(|(values, measured)| (error(&measured, Some(of)), values));
    let least = errors.min_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(least.map(|(_, values)| values).unwrap_or_default())
}

/// The number of a value with a unit.
fn magnitude(value: &str) -> Option<f64> {
    value.trim_matches('"').split(' ').next()?.parse().ok()
}

/// Points between the neighbours of the grid's best.
fn draw(near: Point) -> Vec<Point> {
    let mut stream = Stream::new(1, "studies/joint-fit");
    let mut between = |values: &[f64], value: f64, is_whole: bool| {
        let index = values.iter().position(|&one| one == value).unwrap_or(0);
        let (low, high) = (values[index.saturating_sub(1)], values[(index + 1).min(values.len() - 1)]);
        // By ratios, as the values of the grid are apart; 0 counts as 1 here.
        let (low, high) = (math::ln(low.max(1.0)), math::ln(high));
        let drawn = math::exp(stream.uniform_in(low, high)).round();
        if is_whole && value == 0.0 { drawn - 1.0 } else { drawn }
    };
    let point = |_| Point {
        window: between(&WINDOWS, near.window, false),
        history: between(&HISTORIES, near.history, false),
        smoothing: between(&SMOOTHINGS, near.smoothing, false),
        interval: between(&INTERVALS, near.interval, false),
        burst: between(&BURSTS, near.burst, true),
        bound: between(&BOUNDS, near.bound, false),
    };
    (0..DRAWN).map(point).collect()
}

/// How much the other filters of the round-trip time move ELM's targets.
fn filters(runner: &Runner, point: &Point, fitted: &Measured) -> anyhow::Result<String> {
    let mut words = Vec::new();
    for filter in ["last", "minimum"] {
        let more = [format!("session.elm.rtt_filter={filter}")];
        let other = measure(runner, &format!("filter {filter}"), point, &more)?;
        let change = |((target, ours), (_, other)): (&(&Target, f64), &(&Target, f64))| {
            (target.flows() == Flows::Elm && target.is_throughput()).then(|| (other / ours - 1.0).abs())
        };
        let most = fitted.iter().zip(&other).filter_map(change).fold(0.0, f64::max);
        words.push(format!("`{filter}` moves a throughput by at most {} %", number(most * 100.0)));
    }
    Ok(format!("The filter of the round-trip time stays `ewma`, as the thesis has it: {}.", words.join(", ")))
}

fn fit_table(text: &mut Text, before: &Measured, after: &Measured) {
    text.heading(&["simulation", "flow", "quantity", "thesis:", "scenario's values:", "fitted:"]);
    for ((target, before), (_, after)) in before.iter().zip(after) {
        text.row(&[
            target.scenario.trim_start_matches("thesis/simulation-").to_owned(),
            target.flow.to_owned(),
            target.quantity().to_owned(),
            target.words(),
            number(*before),
            number(*after),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_drawn_between_the_neighbours_of_the_best() {
        let near =
            Point { window: 1.0, history: 8.0, smoothing: 100.0, interval: 420.0, burst: 0.0, bound: 125.0 };
        let drawn = draw(near);
        assert_eq!(drawn.len(), DRAWN);
        for point in &drawn {
            assert!((1.0..=2.0).contains(&point.window) && (50.0..=200.0).contains(&point.smoothing));
            assert!((4.0..=16.0).contains(&point.history));
            assert!((360.0..=420.0).contains(&point.interval) && (60.0..=250.0).contains(&point.bound));
            assert!((0.0..=2.0).contains(&point.burst), "{point:?}");
        }
        assert_eq!(drawn, draw(near), "the search is the same each time");
    }

    #[test]
    fn errors_are_in_units_of_tolerances_and_bounds_have_one_side() {
        let [exact, at_most] =
            [&TARGETS[0], TARGETS.iter().find(|target| target.words() == "< 10").expect("one")];
        assert!(exact.error(exact.value).abs() < 1e-12);
        assert!((exact.error(exact.value * 1.05) - 1.0).abs() < 0.05);
        assert_eq!(at_most.error(4.0), 0.0);
        assert!(at_most.error(20.0) > 1.0);
    }
}
