//! Figures of the FLID-DL paper without TCP: the rate of the bottleneck where none is stated, and grafts without delay.

use layercast_laboratory::sweep::Part;

use crate::frame::time_series::TimeSeries;
use crate::papers::flid::coordination::{equal_later, looks};
use crate::samples::{Samples, format_samples};
use crate::studies::experiment::{Case, Meant, Runner, mean};
use crate::studies::page::{Placed, Report};

/// Rates of the bottleneck in Mbit/s; the scenarios have 2.
const RATES: [u32; 4] = [1, 2, 5, 10];
/// That of the scenarios.
const SCENARIO: u32 = 2;
const REPLICATIONS: u32 = 15;

/// What a figure says of a quantity, and the quantity at each set of values. The first is the scenario.
#[derive(Clone)]
struct Figure {
    says: &'static str,
    bound: f64,
    at: Vec<(String, Samples)>,
}

pub(super) fn run(runner: &Runner, report: &mut Report) -> anyhow::Result<()> {
    report.more.heading(&["figure and quantity", "values", "mean:", "is", "conclusion"]);
    let figures = [four_sessions(runner)?, vec![coordination(runner)?, factors(runner)?]].concat();
    for figure in &figures {
        let first = figure.at.first().map(|(_, samples)| Placed::of(samples, figure.bound));
        for (position, (name, samples)) in figure.at.iter().enumerate() {
            report.keep(figure.says, name, "value", samples);
            let placed = Placed::of(samples, figure.bound);
            let conclusion = match first {
                Some(first) if position > 0 => placed.against(first),
                _ => "–",
            };
            report.more.row(&[
                if position == 0 { figure.says.to_owned() } else { String::new() },
                name.clone(),
                format_samples(samples),
                placed.name(figure.bound),
                conclusion.to_owned(),
            ]);
        }
    }
    Ok(())
}

/// The rates, that of the scenario first.
fn rates() -> impl Iterator<Item = u32> {
    [SCENARIO].into_iter().chain(RATES.into_iter().filter(|&rate| rate != SCENARIO))
}

/// The names of rates.
fn named(rate: u32) -> String {
    if rate == SCENARIO { format!("{rate} Mbit/s, as the scenario") } else { format!("{rate} Mbit/s") }
}

/// Section V-B, figures 6 and 7: four sessions with dynamic layers over four with static ones.
fn four_sessions(runner: &Runner) -> anyhow::Result<Vec<Figure>> {
    const STATIC: [&str; 2] = ["defaults.session.protocol=flid-sl", "defaults.session.options={}"];
    let mut figures = [
        Figure { says: "V-B: throughput, dynamic over static layers", bound: 1.0, at: Vec::new() },
        Figure { says: "V-B: loss rate, dynamic over static layers", bound: 1.0, at: Vec::new() },
    ];
    for rate in rates() {
        let dynamic = Case::new("flid/four-sessions")?.with([
            format!("link.A-B.rate={rate} Mbit/s"),
            format!("defaults.session.layers.above={rate} Mbit/s"),
        ]);
        let fixed = dynamic.with(STATIC);
        let dynamic = runner.parts(&format!("four dynamic {rate}"), &dynamic, REPLICATIONS)?;
        let fixed = runner.parts(&format!("four static {rate}"), &fixed, REPLICATIONS)?;
        for (figure, metric) in figures.iter_mut().zip(["throughput_kbps", "loss_rate"]) {
            let of = |parts: &[Part]| {
                let names = |name: &str| name.starts_with('f') && name.contains('@');
                Samples(
                    parts.iter().map(|part| mean(part, Meant { names: &names, metric, window: 0 })).collect(),
                )
            };
            figure.at.push((named(rate), of(&dynamic).over(&of(&fixed))));
        }
    }
    Ok(figures.to_vec())
}

/// The links of the tree, whose way back takes no time.
fn at_once(links: &[&str]) -> Vec<String> {
    let of = |link: &&str| format!("link.{link}.delay_backward=0 s");
    links.iter().map(of).chain(["defaults.link.delay_backward=0 s".to_owned()]).collect()
}

/// Section V-C, figure 8: in how many slots all hosts have one level.
fn coordination(runner: &Runner) -> anyhow::Result<Figure> {
    let mut at = Vec::new();
    let base = Case::new("flid/coordination")?;
    for rate in rates() {
        let case = base.with([
            format!("link.A-B.rate={rate} Mbit/s"),
            format!("session.flid.layers.above={rate} Mbit/s"),
        ]);
        let series = runner.series(&format!("coordination {rate}"), &case, REPLICATIONS)?;
        at.push((named(rate), equal_share(&series)));
    }
    let grafts = base.with(at_once(&["S-A", "A-B"]));
    let series = runner.series("coordination with grafts at once", &grafts, REPLICATIONS)?;
    at.push(("grafts without delay".to_owned(), equal_share(&series)));
    Ok(Figure { says: "V-C: share of the time after 30 s with all hosts on one level", bound: 0.95, at })
}

/// The share of the later looks at which all hosts have one level.
fn equal_share(series: &TimeSeries) -> Samples {
    Samples(series.replications().map(|replication| equal_later(&looks(series, replication))).collect())
}

/// Section V-A, figure 5: what factor 2.0 loses over what factor 1.3 loses.
fn factors(runner: &Runner) -> anyhow::Result<Figure> {
    let base = Case::new("flid/one-bottleneck")?;
    let links = ["S-A", "A-B", "B-R"];
    let boundary = ["session.flid.join_mode=at-boundary".to_owned()];
    let cases = [
        ("joins 115 ms ahead, as the scenario", base.clone()),
        ("joins at the boundary", base.with(&boundary)),
        ("the same, grafts without delay", base.with(&boundary).with(at_once(&links))),
        (
            "joins 60 ms ahead, grafts without delay",
            base.with(["session.flid.join_lead=60 ms"]).with(at_once(&links)),
        ),
    ];
    // The paper has 2.5; what counts as that is what `docs/reproduction/flid.md` counts.
    const LEAST_RATIO: f64 = 1.8;
    let mut at = Vec::new();
    for (name, case) in cases {
        let lost = |factor: &str| -> anyhow::Result<Samples> {
            let case = case.with([format!("session.flid.layers.factor={factor}")]);
            let parts = runner.parts(&format!("factor {factor} {name}"), &case, REPLICATIONS)?;
            Ok(crate::studies::experiment::samples(&parts, "flid@R", "lost_packets", 0))
        };
        at.push((name.to_owned(), lost("2")?.over(&lost("1.3")?)));
    }
    Ok(Figure { says: "V-A: packets lost at factor 2.0 over 1.3", bound: LEAST_RATIO, at })
}
