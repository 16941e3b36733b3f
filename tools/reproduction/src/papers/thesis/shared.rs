//! The shared link: figures 9, 10, 11, 14 and 15 of chapter 4, 21, 22, 23, 26 and 27 of chapter 5. All are
//! slices of one grid.

mod quantities;

use crate::frame::figure::{Data, Figure, Kind, Label, Panel, Supply};
use crate::frame::scale::Scale;
use crate::samples::Samples;

use super::grid::{
    FLOWS, LAP, LAP_RATE, LIP, LIP_RATE, PlotCell, TCP_RATE, flows_beside, rates_beside, shared,
};
use super::slices::{Along, Chapter, family, panel, panels};

pub(super) fn figures() -> Vec<Figure> {
    vec![
        overview(9, "4.3.2", Chapter::Four, quantities::of_the_overview()),
        over_flows(10, "4.3.2", Chapter::Four, 1, quantities::at_one_packet()),
        over_flows(11, "4.3.2", Chapter::Four, 32, quantities::at_many_packets()),
        over_rates(14, "4.3.3", Chapter::Four, 1, quantities::beside_one()),
        over_rates(15, "4.3.3", Chapter::Four, 8, quantities::beside_eight()),
        overview(21, "5.2.2", Chapter::Five, quantities::of_the_overview_with_lap()),
        over_flows(22, "5.2.2", Chapter::Five, 1, quantities::at_one_packet_with_lap()),
        over_flows(23, "5.2.2", Chapter::Five, 32, quantities::at_many_packets_with_lap()),
        over_rates(26, "5.2.3", Chapter::Five, 1, quantities::beside_one_with_lap()),
        over_rates(27, "5.2.3", Chapter::Five, 8, quantities::beside_eight_with_lap()),
    ]
}

/// Over the number of TCP, at one sending rate.
fn over_flows(
    number: u32,
    section: &'static str,
    chapter: Chapter,
    rate: u32,
    supplies: Vec<Supply>,
) -> Figure {
    Figure {
        label: Label::Figure(number),
        title: match rate {
            1 => "One packet per round trip on the shared link",
            _ => "Thirty-two packets per round trip on the shared link",
        },
        section,
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let flows = flows_beside(rate).into_iter();
            let positions: Vec<(f64, PlotCell<'_>)> =
                flows.map(|flows| (f64::from(flows), shared(data, flows, rate))).collect();
            panels(chapter, Along::Flows, &positions)
        }),
        supplies,
    }
}

/// Over the sending rate, with a number of TCPs.
fn over_rates(
    number: u32,
    section: &'static str,
    chapter: Chapter,
    flows: u32,
    supplies: Vec<Supply>,
) -> Figure {
    Figure {
        label: Label::Figure(number),
        title: match flows {
            1 => "The shared link with one TCP",
            _ => "The shared link with eight TCP",
        },
        section,
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let rates = rates_beside(flows).into_iter();
            let positions: Vec<(f64, PlotCell<'_>)> =
                rates.map(|rate| (f64::from(rate), shared(data, flows, rate))).collect();
            panels(chapter, Along::Rate, &positions)
        }),
        supplies,
    }
}

/// A curve over the sending rate for each number of TCPs, instead of a surface.
fn overview(number: u32, section: &'static str, chapter: Chapter, supplies: Vec<Supply>) -> Figure {
    Figure {
        label: Label::Figure(number),
        title: match chapter {
            Chapter::Four => "LIP on the shared link, overview",
            Chapter::Five => "LAP on the shared link, overview",
        },
        section,
        kind: Kind::Sweep,
        panels: Box::new(move |data| overview_panels(data, chapter)),
        supplies,
    }
}

fn overview_panels(data: &Data, chapter: Chapter) -> Vec<Panel> {
    let row = |flows: u32| {
        let rates = rates_beside(flows).into_iter();
        rates.map(|rate| (f64::from(rate), shared(data, flows, rate))).collect::<Vec<_>>()
    };
    let rows = FLOWS.map(row);
    let names = || FLOWS.iter().map(|flows| format!("{flows} TCP"));
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
    vec![
        panel(loss_title, Along::Rate, Scale::Linear, losses),
        panel(rate_title, Along::Rate, Scale::Linear, rates),
    ]
}
