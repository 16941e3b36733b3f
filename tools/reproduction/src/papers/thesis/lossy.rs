//! The artificially lossy link: figures 6, 7, 8, 12 and 13 of chapter 4, 18, 19, 20, 24 and 25 of
//! chapter 5. All are slices of one grid.

use crate::frame::figure::{Data, Figure, Kind, Label, Measurements, Panel, Supply};
use crate::frame::scale::Scale;
use crate::frame::study::Quantity;
use crate::samples::{Placed, Samples};

use super::grid::{
    LAP, LAP_RATE, LIP, LIP_RATE, LOSSES, PlotCell, RATES, TCP_RATE, TFRC_RATE, all_lossy, lossy, percent,
};
use super::slices::{Along, Chapter, family, panel, panels};

pub(super) fn figures() -> Vec<Figure> {
    vec![
        overview(6, "4.3.1", Chapter::Four, quantities_of_the_overview()),
        row(7, "4.3.1", Chapter::Four, 1, quantities_at_one_packet()),
        row(8, "4.3.1", Chapter::Four, 16, quantities_at_sixteen_packets()),
        column(12, "4.3.3", Chapter::Four, 0.001, quantities_at_little_loss()),
        column(13, "4.3.3", Chapter::Four, 0.03, quantities_at_much_loss()),
        overview(18, "5.2.1", Chapter::Five, quantities_of_the_overview_with_lap()),
        row(19, "5.2.1", Chapter::Five, 1, quantities_at_one_packet_with_lap()),
        row(20, "5.2.1", Chapter::Five, 16, quantities_at_sixteen_packets_with_lap()),
        column(24, "5.2.3", Chapter::Five, 0.001, quantities_at_little_loss_with_lap()),
        column(25, "5.2.3", Chapter::Five, 0.03, quantities_at_much_loss_with_lap()),
    ]
}

/// Over the loss probability, at one sending rate.
fn row(number: u32, section: &'static str, chapter: Chapter, rate: u32, supplies: Vec<Supply>) -> Figure {
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
        supplies,
    }
}

/// Over the sending rate, at one loss probability.
fn column(number: u32, section: &'static str, chapter: Chapter, loss: f64, supplies: Vec<Supply>) -> Figure {
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
        supplies,
    }
}

/// A curve over the sending rate for each loss probability, instead of a surface.
fn overview(number: u32, section: &'static str, chapter: Chapter, supplies: Vec<Supply>) -> Figure {
    Figure {
        label: Label::Figure(number),
        title: match chapter {
            Chapter::Four => "LIP on the lossy link, overview",
            Chapter::Five => "LAP on the lossy link, overview",
        },
        section,
        kind: Kind::Sweep,
        panels: Box::new(move |data| overview_panels(data, chapter)),
        supplies,
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

/// LIP at each sending rate: the replications at all of these loss probabilities, one after the other.
fn over_rates(data: &Data, losses: &[f64]) -> Vec<Placed> {
    let at = |rate: u32| {
        let all = losses.iter().flat_map(|&loss| lossy(data, loss, rate).of(LIP).0);
        (format!("{rate} packets"), Samples(all.collect()))
    };
    RATES.map(at).to_vec()
}

fn ratio_at_rate(what: &'static str, data: &Data, rate: u32, one: Quantity, other: Quantity) -> Measurements {
    Measurements::of(what, at_rate(data, rate, |position| position.ratio(one, other)))
}

fn ratio_at_loss(what: &'static str, data: &Data, loss: f64, one: Quantity, other: Quantity) -> Measurements {
    Measurements::of(what, at_loss(data, loss, |position| position.ratio(one, other)))
}

fn quantities_of_the_overview() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let many = lossy(data, 0.1, 128);
            Measurements::of(
                "LIP over the loss probability at one packet",
                at_rate(data, 1, |position| position.over_loss(LIP)),
            )
            .and(Measurements::of(
                "LIP over the loss probability at 128 packets",
                here(many, many.over_loss(LIP)),
            ))
        }),
        Supply::new(|data, _| {
            Measurements::of("LIP over the sending rate, from 1 % loss", over_rates(data, &LOSSES[2..]))
        }),
        Supply::new(|data, _| {
            let levels = LOSSES.map(|loss| lossy(data, loss, 128));
            let levels = levels.map(|position| position.named(position.of(LIP)));
            Measurements::of("LIP over the loss probability, at 128 packets", levels.to_vec())
        }),
    ]
}

fn quantities_at_one_packet() -> Vec<Supply> {
    vec![Supply::new(|data, _| {
        Measurements::of(
            "LIP over the loss probability",
            at_rate(data, 1, |position| position.over_loss(LIP)),
        )
    })]
}

fn quantities_at_sixteen_packets() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let [little, much] = [0.001, 0.1].map(|loss| lossy(data, loss, 16));
            let fallen = much.over_loss(LIP).over(&little.over_loss(LIP));
            Measurements::of(
                "LIP over the loss probability, as a share of the same at 0.1 % loss",
                here(much, fallen),
            )
        }),
        Supply::new(|data, _| {
            let expected = |loss: f64| 15.0 + 1.0 / loss;
            let positions = LOSSES.iter().map(|&loss| {
                let position = lossy(data, loss, 16);
                position.named(position.of(LIP).times(expected(loss)))
            });
            Measurements::of("LIP times N - 1 + 1/p", positions.collect())
        }),
    ]
}

fn quantities_at_little_loss() -> Vec<Supply> {
    vec![Supply::new(|data, _| {
        ratio_at_loss("LIP's rate over TFRC's", data, 0.001, LIP_RATE, TFRC_RATE).and(ratio_at_loss(
            "LIP's rate over TCP's",
            data,
            0.001,
            LIP_RATE,
            TCP_RATE,
        ))
    })]
}

fn quantities_at_much_loss() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let [one, many] = [1, 128].map(|rate| lossy(data, 0.03, rate));
            Measurements::of("LIP over the sending rate", over_rates(data, &[0.03])).and(Measurements::of(
                "LIP at 128 packets over that at one",
                here(many, many.of(LIP).over(&one.of(LIP))),
            ))
        }),
        Supply::new(|data, _| {
            let positions = [64, 128].map(|rate| lossy(data, 0.03, rate));
            let positions = positions.map(|position| position.named(position.ratio(LIP_RATE, TCP_RATE)));
            Measurements::of("LIP's rate over TCP's", positions.to_vec())
        }),
    ]
}

fn quantities_of_the_overview_with_lap() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let positions = all_lossy(data).map(|position| position.named(position.over_loss(LAP)));
            Measurements::of("LAP over the loss probability", positions.collect())
        }),
        Supply::new(|data, _| {
            let positions =
                all_lossy(data).map(|position| position.named(position.ratio(LAP_RATE, TCP_RATE)));
            Measurements::of("LAP's rate over TCP's", positions.collect())
        }),
        Supply::new(|data, _| {
            let positions =
                all_lossy(data).map(|position| position.named(position.lap_is_further_from(TCP_RATE)));
            Measurements::of(
                "How much further from TCP LAP's rate lies than LIP's, as a difference of logarithms",
                positions.collect(),
            )
        }),
    ]
}

fn quantities_at_one_packet_with_lap() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            ratio_at_rate("LAP's rate over LIP's", data, 1, LAP_RATE, LIP_RATE).and(ratio_at_rate(
                "LAP's rate over TFRC's",
                data,
                1,
                LAP_RATE,
                TFRC_RATE,
            ))
        }),
        Supply::new(|data, _| ratio_at_rate("LAP over LIP", data, 1, LAP, LIP)),
    ]
}

fn quantities_at_sixteen_packets_with_lap() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let much = lossy(data, 0.1, 16);
            Measurements::of("LIP over the loss probability", here(much, much.over_loss(LIP)))
                .and(Measurements::of("LIP's rate over TCP's", here(much, much.ratio(LIP_RATE, TCP_RATE))))
        }),
        Supply::new(|data, _| ratio_at_rate("LAP's rate over TFRC's", data, 16, LAP_RATE, TFRC_RATE)),
        Supply::new(|data, _| {
            Measurements::of(
                "LAP over the loss probability",
                at_rate(data, 16, |position| position.over_loss(LAP)),
            )
        }),
    ]
}

fn quantities_at_little_loss_with_lap() -> Vec<Supply> {
    vec![Supply::new(|data, _| {
        ratio_at_loss("LAP's rate over TCP's", data, 0.001, LAP_RATE, TCP_RATE)
            .and(ratio_at_loss("LIP's rate over TCP's", data, 0.001, LIP_RATE, TCP_RATE))
            .and(ratio_at_loss("TFRC's rate over TCP's", data, 0.001, TFRC_RATE, TCP_RATE))
    })]
}

fn quantities_at_much_loss_with_lap() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let [one, eight] = [1, 8].map(|rate| lossy(data, 0.03, rate));
            Measurements::of("LIP over that at one packet", here(eight, eight.of(LIP).over(&one.of(LIP))))
        }),
        Supply::new(|data, _| {
            Measurements::of(
                "LAP over the loss probability",
                at_loss(data, 0.03, |position| position.over_loss(LAP)),
            )
        }),
    ]
}
