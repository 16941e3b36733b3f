//! The artificially lossy link: figures 6, 7, 8, 12 and 13 of chapter 4, 18, 19, 20, 24 and 25 of
//! chapter 5. All are slices of one grid.

use crate::frame::figure::{Claim, Data, Figure, Kind, Label, Panel};
use crate::frame::finding::{Bound, Finding, Placed};
use crate::frame::samples::Samples;
use crate::frame::scale::Scale;
use crate::frame::study::Quantity;

use super::grid::{
    FAIR_RATE, LAP, LAP_RATE, LIP, LIP_RATE, LOSSES, PlotCell, RATES, SAME_RATE, TCP_RATE, TFRC_RATE,
    all_lossy, lossy, percent,
};
use super::slices::{Along, Chapter, family, panel, panels};

/// What counts as about the same loss rate.
const NEAR: Bound = Bound::Within(0.8, 1.25);

pub(super) fn figures() -> Vec<Figure> {
    vec![
        overview(6, "4.3.1", Chapter::Four, claims_of_the_overview()),
        row(7, "4.3.1", Chapter::Four, 1, claims_at_one_packet()),
        row(8, "4.3.1", Chapter::Four, 16, claims_at_sixteen_packets()),
        column(12, "4.3.3", Chapter::Four, 0.001, claims_at_little_loss()),
        column(13, "4.3.3", Chapter::Four, 0.03, claims_at_much_loss()),
        overview(18, "5.2.1", Chapter::Five, claims_of_the_overview_with_lap()),
        row(19, "5.2.1", Chapter::Five, 1, claims_at_one_packet_with_lap()),
        row(20, "5.2.1", Chapter::Five, 16, claims_at_sixteen_packets_with_lap()),
        column(24, "5.2.3", Chapter::Five, 0.001, claims_at_little_loss_with_lap()),
        column(25, "5.2.3", Chapter::Five, 0.03, claims_at_much_loss_with_lap()),
    ]
}

/// Over the loss probability, at one sending rate.
fn row(number: u32, section: &'static str, chapter: Chapter, rate: u32, claims: Vec<Claim>) -> Figure {
    Figure {
        label: Label::Figure(number),
        title: match rate {
            1 => "One packet per round trip on the lossy link",
            _ => "Sixteen packets per round trip on the lossy link",
        },
        section,
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let positions: Vec<(f64, PlotCell<'_>)> =
                LOSSES.iter().map(|&loss| (loss * 100.0, lossy(data, loss, rate))).collect();
            panels(chapter, Along::Loss, &positions)
        }),
        claims,
    }
}

/// Over the sending rate, at one loss probability.
fn column(number: u32, section: &'static str, chapter: Chapter, loss: f64, claims: Vec<Claim>) -> Figure {
    Figure {
        label: Label::Figure(number),
        title: if loss < 0.01 { "The lossy link at 0.1 % loss" } else { "The lossy link at 3 % loss" },
        section,
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let positions: Vec<(f64, PlotCell<'_>)> =
                RATES.iter().map(|&rate| (f64::from(rate), lossy(data, loss, rate))).collect();
            panels(chapter, Along::Rate, &positions)
        }),
        claims,
    }
}

/// A curve over the sending rate for each loss probability, instead of a surface.
fn overview(number: u32, section: &'static str, chapter: Chapter, claims: Vec<Claim>) -> Figure {
    Figure {
        label: Label::Figure(number),
        title: match chapter {
            Chapter::Four => "LIP on the lossy link, overview",
            Chapter::Five => "LAP on the lossy link, overview",
        },
        section,
        kind: Kind::Sweep,
        panels: Box::new(move |data| overview_panels(data, chapter)),
        claims,
    }
}

fn overview_panels(data: &Data, chapter: Chapter) -> Vec<Panel> {
    let rows: Vec<Vec<(f64, PlotCell<'_>)>> = LOSSES
        .iter()
        .map(|&loss| RATES.iter().map(|&rate| (f64::from(rate), lossy(data, loss, rate))).collect())
        .collect();
    let names = || LOSSES.iter().map(|loss| format!("{} %", percent(*loss)));
    let curves = |value: &dyn Fn(PlotCell<'_>) -> Samples| family(names(), &rows, value);
    let (loss_title, rate_title, losses, rates) = match chapter {
        Chapter::Four => (
            "Loss event rate (LIP), %",
            "Calculated rate, kbit/s",
            curves(&|position| position.of(LIP).times(100.0)),
            curves(&|position| position.of(LIP_RATE)),
        ),
        Chapter::Five => (
            "Loss fraction by LAP, %",
            "Calculated rate by LAP over TCP's throughput",
            curves(&|position| position.of(LAP).times(100.0)),
            curves(&|position| position.ratio(LAP_RATE, TCP_RATE)),
        ),
    };
    let up_scale = if chapter == Chapter::Four { Scale::Logarithmic } else { Scale::Linear };
    vec![
        panel(loss_title, Along::Rate, Scale::Logarithmic, losses),
        panel(rate_title, Along::Rate, up_scale, rates),
    ]
}

/// A number at each loss probability, at one sending rate.
fn at_rate<'d>(data: &'d Data, rate: u32, value: impl Fn(PlotCell<'d>) -> Samples) -> Vec<Placed> {
    let positions = LOSSES.iter().map(|&loss| lossy(data, loss, rate));
    positions.map(|position| position.named(value(position))).collect()
}

/// A number at each sending rate, at one loss probability.
fn at_loss<'d>(data: &'d Data, loss: f64, value: impl Fn(PlotCell<'d>) -> Samples) -> Vec<Placed> {
    let positions = RATES.iter().map(|&rate| lossy(data, loss, rate));
    positions.map(|position| position.named(value(position))).collect()
}

/// A number at one position.
fn here(position: PlotCell<'_>, samples: Samples) -> Vec<Placed> {
    vec![position.named(samples)]
}

/// LIP at each sending rate over LIP at half of it.
fn steps_down(data: &Data, losses: &[f64]) -> Vec<Placed> {
    let steps = losses.iter().flat_map(|&loss| {
        RATES.windows(2).map(move |pair| {
            let [before, after] = [pair[0], pair[1]].map(|rate| lossy(data, loss, rate));
            after.named(after.of(LIP).over(&before.of(LIP)))
        })
    });
    steps.collect()
}

fn ratio_at_rate(what: &str, bound: Bound, data: &Data, rate: u32, pair: (Quantity, Quantity)) -> Finding {
    Finding::each(what, bound, at_rate(data, rate, |position| position.ratio(pair.0, pair.1)))
}

fn ratio_at_loss(what: &str, bound: Bound, data: &Data, loss: f64, pair: (Quantity, Quantity)) -> Finding {
    Finding::each(what, bound, at_loss(data, loss, |position| position.ratio(pair.0, pair.1)))
}

fn claims_of_the_overview() -> Vec<Claim> {
    vec![
        Claim::new(
            "The estimated loss event rate grows in proportion to the loss probability only at very low sending rates.",
            |data, _| {
                let many = lossy(data, 0.1, 128);
                Finding::each(
                    "LIP over the loss probability at one packet",
                    NEAR,
                    at_rate(data, 1, |position| position.over_loss(LIP)),
                )
                .and(Finding::each(
                    "At a high rate",
                    Bound::Below(0.5),
                    here(many, many.over_loss(LIP)),
                ))
            },
        ),
        Claim::new("It falls as the sending rate grows.", |data, _| {
            Finding::each(
                "LIP over that at half of the sending rate, from 1 % loss",
                Bound::Below(1.0),
                steps_down(data, &LOSSES[2..]),
            )
        }),
        Claim::new(
            "At high sending rates it falls as the loss probability grows (also said of figure 11).",
            |data, _| {
                let steps = LOSSES.windows(2).map(|pair| {
                    let [before, after] = [pair[0], pair[1]].map(|loss| lossy(data, loss, 128));
                    after.named(after.of(LIP).over(&before.of(LIP)))
                });
                Finding::each("LIP over that at the next lower loss probability, at 128 packets", Bound::Below(1.0), steps.collect())
                .because("By equation 12 it cannot sink: 1 / (N - 1 + 1/p) grows with p towards 1 / (N - 1). It levels off.")
            },
        ),
    ]
}

fn claims_at_one_packet() -> Vec<Claim> {
    vec![Claim::new("The loss event rate is almost the packet loss rate.", |data, _| {
        Finding::each(
            "LIP over the loss probability",
            NEAR,
            at_rate(data, 1, |position| position.over_loss(LIP)),
        )
    })]
}

fn claims_at_sixteen_packets() -> Vec<Claim> {
    vec![
        Claim::new(
            "Frequent losses make the average interval depend on the packets sent in a period: the estimate falls behind the loss probability.",
            |data, _| {
                let [little, much] = [0.001, 0.1].map(|loss| lossy(data, loss, 16));
                let fallen = much.over_loss(LIP).over(&little.over_loss(LIP));
                Finding::each(
                    "LIP over the loss probability, as a share of the same at 0.1 % loss",
                    Bound::Below(0.5),
                    here(much, fallen),
                )
            },
        ),
        Claim::new("The average interval is N - 1 + 1/p packets (eq. 12).", |data, _| {
            let expected = |loss: f64| 15.0 + 1.0 / loss;
            let positions = LOSSES.iter().map(|&loss| {
                let position = lossy(data, loss, 16);
                position.named(position.of(LIP).times(expected(loss)))
            });
            Finding::each("LIP times that", Bound::Within(0.85, 1.15), positions.collect())
        }),
    ]
}

fn claims_at_little_loss() -> Vec<Claim> {
    vec![Claim::new("The constant rate's calculated rate follows TFRC and TCP.", |data, _| {
        ratio_at_loss("LIP's rate over TFRC's", SAME_RATE, data, 0.001, (LIP_RATE, TFRC_RATE))
            .and(ratio_at_loss("Over TCP's", SAME_RATE, data, 0.001, (LIP_RATE, TCP_RATE)))
    })]
}

fn claims_at_much_loss() -> Vec<Claim> {
    vec![
        Claim::new("The estimated loss event rate falls rapidly with the sending rate.", |data, _| {
            let [one, many] = [1, 128].map(|rate| lossy(data, 0.03, rate));
            Finding::each(
                "LIP over that at half of the sending rate",
                Bound::Below(1.0),
                steps_down(data, &[0.03]),
            )
            .and(Finding::each(
                "Over that at one packet",
                Bound::Below(0.3),
                here(many, many.of(LIP).over(&one.of(LIP))),
            ))
        }),
        Claim::new("That gives a too high calculated rate.", |data, _| {
            let positions = [64, 128].map(|rate| lossy(data, 0.03, rate));
            let positions = positions.map(|position| position.named(position.ratio(LIP_RATE, TCP_RATE)));
            Finding::each("LIP's rate over TCP's", Bound::Above(1.5), positions.to_vec())
        }),
    ]
}

fn claims_of_the_overview_with_lap() -> Vec<Claim> {
    vec![
        Claim::new(
            "LAP's estimate grows in proportion to the loss probability, whatever the sending rate.",
            |data, _| {
                let positions = all_lossy(data).map(|position| position.named(position.over_loss(LAP)));
                Finding::each("LAP over the loss probability", NEAR, positions.collect())
            },
        ),
        Claim::new("The calculated rate over TCP's shows no dramatic unfairness anywhere.", |data, _| {
            let positions =
                all_lossy(data).map(|position| position.named(position.ratio(LAP_RATE, TCP_RATE)));
            Finding::each("LAP's rate over TCP's", FAIR_RATE, positions.collect())
        }),
        Claim::new("LAP does at least as well as LIP (section 5.2.4).", |data, _| {
            let positions =
                all_lossy(data).map(|position| position.named(position.lap_is_further_from(TCP_RATE)));
            Finding::each(
                "How much further from TCP LAP's rate lies than LIP's, as a difference of logarithms",
                Bound::Below(0.1),
                positions.collect(),
            )
        }),
    ]
}

fn claims_at_one_packet_with_lap() -> Vec<Claim> {
    vec![
        Claim::new("LAP closely follows LIP and TFRC at all loss probabilities.", |data, _| {
            ratio_at_rate("LAP's rate over LIP's", SAME_RATE, data, 1, (LAP_RATE, LIP_RATE))
                .and(ratio_at_rate("Over TFRC's", SAME_RATE, data, 1, (LAP_RATE, TFRC_RATE)))
        }),
        Claim::new("At one packet per round trip LAP does the same as LIP.", |data, _| {
            ratio_at_rate("LAP over LIP", Bound::Within(0.99, 1.01), data, 1, (LAP, LIP))
                .because("A period is one measured round trip, a little longer than 100 ms, so it holds two packets and not one; the difference is the loss probability itself.")
        }),
    ]
}

fn claims_at_sixteen_packets_with_lap() -> Vec<Claim> {
    vec![
        Claim::new("LIP badly underestimates the congestion, and its rate rockets.", |data, _| {
            let much = lossy(data, 0.1, 16);
            Finding::each("LIP over the loss probability", Bound::Below(0.5), here(much, much.over_loss(LIP)))
                .and(Finding::each(
                    "Its rate over TCP's",
                    Bound::Above(2.0),
                    here(much, much.ratio(LIP_RATE, TCP_RATE)),
                ))
        }),
        Claim::new("LAP follows the closed loop of TFRC.", |data, _| {
            ratio_at_rate("LAP's rate over TFRC's", SAME_RATE, data, 16, (LAP_RATE, TFRC_RATE))
        }),
        Claim::new("LAP's estimate is accurate in extreme conditions too.", |data, _| {
            Finding::each(
                "LAP over the loss probability",
                NEAR,
                at_rate(data, 16, |position| position.over_loss(LAP)),
            )
        }),
    ]
}

fn claims_at_little_loss_with_lap() -> Vec<Claim> {
    vec![Claim::new(
        "LAP, LIP, TFRC and TCP do almost the same over a wide range of sending rates.",
        |data, _| {
            ratio_at_loss("LAP's rate over TCP's", SAME_RATE, data, 0.001, (LAP_RATE, TCP_RATE))
                .and(ratio_at_loss("LIP's", SAME_RATE, data, 0.001, (LIP_RATE, TCP_RATE)))
                .and(ratio_at_loss("TFRC's", SAME_RATE, data, 0.001, (TFRC_RATE, TCP_RATE)))
        },
    )]
}

fn claims_at_much_loss_with_lap() -> Vec<Claim> {
    vec![
        Claim::new("LIP begins to fall at eight packets per round trip already.", |data, _| {
            let [one, eight] = [1, 8].map(|rate| lossy(data, 0.03, rate));
            Finding::each(
                "LIP over that at one packet",
                Bound::Below(0.95),
                here(eight, eight.of(LIP).over(&one.of(LIP))),
            )
        }),
        Claim::new("LAP's estimate is accurate over the whole span of sending rates.", |data, _| {
            Finding::each(
                "LAP over the loss probability",
                NEAR,
                at_loss(data, 0.03, |position| position.over_loss(LAP)),
            )
        }),
    ]
}
