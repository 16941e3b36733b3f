//! What the values do that the paper leaves open.

use crate::frame::figure::{Claim, Curve, Data, Figure, Kind, Label, Panel, Style};
use crate::frame::finding::{Bound, Finding, Placed};
use crate::frame::samples::Samples;
use crate::frame::study::Study;

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

pub(super) fn figures() -> Vec<Figure> {
    let figure = |label, title, panels: fn(&Data) -> Vec<Panel>, claims| Figure {
        label: Label::Other(label),
        title,
        section: "3, open values; claims are ours",
        kind: Kind::Sweep,
        panels: Box::new(panels),
        claims,
    };
    vec![
        figure("TCP", "Reno, NewReno or SACK", |data| ratios(data, &TCPS, true), claims_of_tcp()),
        figure("Queue", "Without marks", |data| ratios(data, &QUEUES, true), claims_of_queues()),
        figure("RED", "Its parameters with marks", |data| ratios(data, &ECN_QUEUES, false), claims_of_red()),
        figure(
            "Receivers",
            "Joins, leaves, shares of increase_probabilities",
            |data| ratios(data, &JOINS, true),
            claims_of_joins(),
        ),
        figure(
            "Bottleneck",
            "Half of its rate for sessions alone",
            |data| lossy::alone([NARROW_FLID, NARROW_E_FLID], data),
            lossy::claims_alone([NARROW_FLID, NARROW_E_FLID]),
        ),
        figure("Length", "Runs of 6000 s", long, claims_of_length()),
        figure("Bleached", "Marks that are taken away", without_marks, claims_without_marks()),
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
fn nearer(data: &Data, pairs: impl Iterator<Item = (&'static str, [&'static str; 2])>) -> Finding {
    let cells = pairs.flat_map(|(label, pair)| {
        let cells = further_from_tcp(data, pair, &COUNTS).into_iter();
        cells.map(move |(name, samples)| (format!("{name}, {label}"), samples))
    });
    Finding::each(
        "How much further from TCP E-FLID-DL is than FLID-DL, as a difference of logarithms",
        Bound::Below(0.0),
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

fn claims_of_tcp() -> Vec<Claim> {
    vec![
        Claim::new("Whichever TCP: E-FLID-DL is nearer to TCP than FLID-DL.", |data, _| {
            nearer(data, pairs(&TCPS))
        }),
        Claim::new("Whichever TCP: TCP takes noticeably more than FLID-DL.", |data, _| {
            Finding::each(
                "FLID-DL over TCP",
                Bound::Below(1.0),
                at_settings(data, &TCPS, Step::Lost, PlotCell::over_tcp),
            )
        }),
        Claim::new("E-FLID-DL's share does not depend on TCP.", |data, _| {
            let cells = at_settings(data, &TCPS, Step::Marked, PlotCell::over_tcp);
            Finding::each("E-FLID-DL over TCP", super::grid::SAME_RATE, cells)
        }),
    ]
}

fn claims_of_queues() -> Vec<Claim> {
    vec![Claim::new("Whatever queue FLID-DL has: E-FLID-DL is nearer to TCP.", |data, _| {
        nearer(data, QUEUES.iter().map(|queue| (queue.label, [fairness::E_FLID, queue.study])))
    })]
}

fn claims_of_red() -> Vec<Claim> {
    vec![
        Claim::new("Whatever RED's parameters: E-FLID-DL and TCP have about the same.", |data, _| {
            Finding::each(
                "E-FLID-DL over TCP",
                super::grid::SAME_RATE,
                at_settings(data, &ECN_QUEUES, Step::Marked, PlotCell::over_tcp),
            )
        }),
        Claim::new(
            "Whatever RED's parameters: it is nearer to TCP than FLID-DL without marks.",
            |data, _| {
                nearer(data, ECN_QUEUES.iter().map(|queue| (queue.label, [queue.study, fairness::FLID])))
            },
        ),
    ]
}

fn claims_of_joins() -> Vec<Claim> {
    vec![
        Claim::new("Whatever receivers do: E-FLID-DL is nearer to TCP than FLID-DL.", |data, _| {
            nearer(data, pairs(&JOINS))
        }),
        Claim::new("How long leaves take changes nothing.", |data, _| {
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
            Finding::each(
                "Throughput over that with leaves of 2 to 4 s",
                Bound::Within(0.9, 1.1),
                cells.collect(),
            )
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

fn claims_of_length() -> Vec<Claim> {
    vec![Claim::new("In long runs too E-FLID-DL is nearer to TCP than FLID-DL.", |data, _| {
        Finding::each(
            "How much further from TCP E-FLID-DL is than FLID-DL, as a difference of logarithms",
            Bound::Below(0.0),
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

fn claims_without_marks() -> Vec<Claim> {
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
        Claim::new("By the letter of the paper E-FLID-DL without marks starves TCP.", move |data, _| {
            Finding::each("E-FLID-DL over TCP", Bound::Above(10.0), of(0)(data))
        }),
        Claim::new("With the rule for paths without marks TCP keeps a fair share.", move |data, _| {
            Finding::each("E-FLID-DL over TCP", super::grid::FAIR_RATE, of(1)(data))
        }),
    ]
}
