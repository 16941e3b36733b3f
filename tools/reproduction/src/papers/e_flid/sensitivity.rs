//! What the values do that the paper leaves open.

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply};
use crate::frame::study::Study;
use crate::samples::{Placed, Samples};

use super::fairness::{self, further_from_tcp};
use super::grid::{
    Along, LOSSES, PlotCell, Step, Whose, by_count, by_loss, over_counts, panel, sharing_with_tcp,
};
use super::lossy;

mod settings;

use settings::{ECN_QUEUES, JOINS, QUEUES, Setting, TCPS, WITHOUT_MARKS};

/// Numbers of sessions at which open values are varied.
const COUNTS: [u32; 3] = [4, 8, 16];
/// That of long runs.
const LONG_COUNT: u32 = 8;
/// Lengths of runs in seconds: the one of all studies, and the one that the paper prints.
const LENGTHS: [u32; 2] = [100, 6000];

const LONG_FLID: &str = "long-flid";
const LONG_E_FLID: &str = "long-e-flid";
const NARROW_FLID: &str = "narrow-flid";
const NARROW_E_FLID: &str = "narrow-e-flid";

pub(super) fn studies() -> Vec<Study> {
    let all = [&TCPS[..], &QUEUES, &ECN_QUEUES, &JOINS, &WITHOUT_MARKS].concat();
    let mut studies: Vec<Study> = all
        .into_iter()
        .map(|Setting { study, step, set, .. }| {
            let few = move |count| [vec!["replications=5".to_owned()], set(count)].concat();
            by_count(study, step, &COUNTS, few)
        })
        .collect();
    let narrow = &["link.G1-G2.rate=16 Mbit/s", "replications=5"];
    studies.extend([
        by_loss(NARROW_FLID, "e-flid/lossy-bottleneck-flid", lossy::BOTTLENECK, &LOSSES, narrow),
        by_loss(NARROW_E_FLID, "e-flid/lossy-bottleneck", lossy::BOTTLENECK, &LOSSES, narrow),
    ]);
    studies.extend([(LONG_FLID, Step::Lost), (LONG_E_FLID, Step::Marked)].map(|(name, step)| {
        by_count(name, step, &[LONG_COUNT], |_| {
            ["replications=3", "duration=6000 s", "windows=[[\"100 s\", \"end\"]]"].map(String::from).to_vec()
        })
    }));
    studies
}

/// Those with a drop-tail queue that are compared with the first experiment.
pub(super) fn read() -> Vec<&'static str> {
    let lost = [&TCPS[..], &QUEUES, &JOINS].concat().into_iter().filter(|one| one.step == Step::Lost);
    lost.map(|one| one.study).filter(|study| *study != "queue-red").collect()
}

pub(super) fn figures() -> Vec<Figure> {
    let figure = |label, title, panels: fn(&Data) -> Vec<Panel>, supplies| Figure {
        label: Label::Other(label),
        title,
        section: "3, open values",
        kind: Kind::Sweep,
        panels: Box::new(panels),
        supplies,
    };
    vec![
        figure("TCP", "Reno, NewReno or SACK", |data| ratios(data, &TCPS, true), quantities_of_tcp()),
        figure("Queue", "Without marks", |data| ratios(data, &QUEUES, true), quantities_of_queues()),
        figure(
            "RED",
            "Its parameters with marks",
            |data| ratios(data, &ECN_QUEUES, false),
            quantities_of_red(),
        ),
        figure(
            "Receivers",
            "Joins, leaves, shares of increase_probabilities",
            |data| ratios(data, &JOINS, true),
            quantities_of_joins(),
        ),
        figure(
            "Bottleneck",
            "Half of its rate for sessions alone",
            |data| lossy::alone([NARROW_FLID, NARROW_E_FLID], data),
            lossy::quantities_alone([NARROW_FLID, NARROW_E_FLID]),
        ),
        figure("Length", "Runs of 6000 s", long, quantities_of_length()),
        figure("Bleached", "Marks that are taken away", without_marks, quantities_without_marks()),
    ]
}

/// Sessions over TCP for each setting, together with the figure's own; a panel for each step.
fn ratios(data: &Data, settings: &[Setting], with_flid: bool) -> Vec<Panel> {
    let of_step = |step: Step, title: &str| {
        let own = match step {
            Step::Lost => fairness::FLID,
            Step::Marked => fairness::E_FLID,
        };
        let all = std::iter::once(("as in figure 2", own))
            .chain(settings.iter().filter(|one| one.step == step).map(|one| (one.label, one.study)));
        let curves = all.enumerate().map(|(hue, (label, study))| {
            over_counts(label, hue, &COUNTS, |count| sharing_with_tcp(data, study, count).over_tcp())
        });
        panel(title, Along::Count, curves.collect())
    };
    let mut panels = Vec::new();
    if with_flid {
        panels.push(of_step(Step::Lost, "FLID-DL over TCP"));
    }
    if settings.iter().any(|setting| setting.step == Step::Marked) {
        panels.push(of_step(Step::Marked, "E-FLID-DL over TCP"));
    }
    panels
}

/// A number at each number of sessions, for each of some settings.
fn at_settings<'d>(
    data: &'d Data,
    settings: &[Setting],
    step: Step,
    value: impl Fn(PlotCell<'d>) -> Samples,
) -> Vec<Placed> {
    let settings = settings.iter().filter(|setting| setting.step == step);
    let cells = settings
        .flat_map(|setting| COUNTS.map(|count| (setting, sharing_with_tcp(data, setting.study, count))));
    let named = cells.map(|(setting, cell)| {
        let (name, samples) = cell.named(value(cell));
        (format!("{name}, {}", setting.label), samples)
    });
    named.collect()
}

/// E-FLID-DL is less far from TCP than FLID-DL in these pairs of studies.
fn nearer(data: &Data, pairs: impl Iterator<Item = (&'static str, [&'static str; 2])>) -> Measurements {
    let cells = pairs.flat_map(|(label, pair)| {
        let cells = further_from_tcp(data, pair, &COUNTS).into_iter();
        cells.map(move |(name, samples)| (format!("{name}, {label}"), samples))
    });
    Measurements::of(
        "How much further from TCP E-FLID-DL is than FLID-DL, as a difference of logarithms",
        cells.collect(),
    )
}

/// The settings of E-FLID-DL with those of FLID-DL under the same name.
fn pairs(settings: &'static [Setting]) -> impl Iterator<Item = (&'static str, [&'static str; 2])> {
    let of_step = |step| settings.iter().filter(move |setting: &&Setting| setting.step == step);
    of_step(Step::Marked).filter_map(move |marked| {
        let lost = of_step(Step::Lost).find(|lost| lost.label == marked.label)?;
        Some((marked.label, [marked.study, lost.study]))
    })
}

fn quantities_of_tcp() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| nearer(data, pairs(&TCPS))),
        Supply::new(|data, _| {
            Measurements::of("FLID-DL over TCP", at_settings(data, &TCPS, Step::Lost, PlotCell::over_tcp))
        }),
        Supply::new(|data, _| {
            let cells = at_settings(data, &TCPS, Step::Marked, PlotCell::over_tcp);
            Measurements::of("E-FLID-DL over TCP", cells)
        }),
    ]
}

fn quantities_of_queues() -> Vec<Supply> {
    vec![Supply::new(|data, _| {
        nearer(data, QUEUES.iter().map(|queue| (queue.label, [fairness::E_FLID, queue.study])))
    })]
}

fn quantities_of_red() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            Measurements::of(
                "E-FLID-DL over TCP",
                at_settings(data, &ECN_QUEUES, Step::Marked, PlotCell::over_tcp),
            )
        }),
        Supply::new(|data, _| {
            nearer(data, ECN_QUEUES.iter().map(|queue| (queue.label, [queue.study, fairness::FLID])))
        }),
    ]
}

fn quantities_of_joins() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| nearer(data, pairs(&JOINS))),
        Supply::new(|data, _| {
            let leaves = JOINS.iter().filter(|one| one.label == settings::AT_ONCE);
            let cells = leaves.flat_map(|one| {
                let own = match one.step {
                    Step::Lost => fairness::FLID,
                    Step::Marked => fairness::E_FLID,
                };
                COUNTS.map(|count| {
                    let [changed, own] = [one.study, own].map(|study| sharing_with_tcp(data, study, count));
                    let rate = |cell: PlotCell<'_>| cell.kbps(Whose::Layered);
                    let (name, samples) = changed.named(rate(changed).over(&rate(own)));
                    (format!("{name}, {}", one.step.protocol()), samples)
                })
            });
            Measurements::of("Throughput over that with leaves of 2 to 4 s", cells.collect())
        }),
    ]
}

fn long(data: &Data) -> Vec<Panel> {
    let curve = |name: &str, hue, studies: [&'static str; 2]| {
        let cells = LENGTHS
            .into_iter()
            .zip(studies)
            .map(|(length, study)| (f64::from(length), sharing_with_tcp(data, study, LONG_COUNT).over_tcp()));
        Curve { name: name.to_owned(), look: Style::Dots(hue), points: cells.collect() }
    };
    vec![panel(
        "Layered over TCP, n = 8",
        Along::Length,
        vec![
            curve("FLID-DL", 2, [fairness::FLID, LONG_FLID]),
            curve("E-FLID-DL", 1, [fairness::E_FLID, LONG_E_FLID]),
        ],
    )]
}

fn quantities_of_length() -> Vec<Supply> {
    vec![Supply::new(|data, _| {
        Measurements::of(
            "How much further from TCP E-FLID-DL is than FLID-DL, as a difference of logarithms",
            further_from_tcp(data, [LONG_E_FLID, LONG_FLID], &[LONG_COUNT]),
        )
    })]
}

fn without_marks(data: &Data) -> Vec<Panel> {
    let curves = WITHOUT_MARKS.iter().enumerate().flat_map(|(index, setting)| {
        [("E-FLID-DL", Whose::Layered, 2 * index), ("TCP", Whose::Tcp, 2 * index + 1)].map(
            |(flow, whose, hue)| {
                let name = format!("{flow}, {}", setting.label);
                over_counts(&name, hue, &COUNTS, |count| {
                    sharing_with_tcp(data, setting.study, count).kbps(whose)
                })
            },
        )
    });
    vec![panel("Mean throughput, kbit/s", Along::Count, curves.collect())]
}

fn quantities_without_marks() -> Vec<Supply> {
    let of = |index: usize| {
        move |data: &Data| {
            at_settings(
                data,
                WITHOUT_MARKS.get(index..=index).unwrap_or_default(),
                Step::Marked,
                PlotCell::over_tcp,
            )
        }
    };
    vec![
        Supply::new(move |data, _| Measurements::of("E-FLID-DL over TCP, by the letter", of(0)(data))),
        Supply::new(move |data, _| Measurements::of("E-FLID-DL over TCP, with the rule", of(1)(data))),
    ]
}
