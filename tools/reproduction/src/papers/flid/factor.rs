//! Section V-A: the factor between layers (figures 4 and 5), and slots against the nominal round-trip time.

use layercast_core::units::Duration;
use layercast_protocols::flid::Target;

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply};
use crate::frame::study::Measured;
use crate::frame::time_series::Points;
use crate::samples::{Placed, Samples};

use super::shapes::{at, dots, line, panel};
use super::studies::{FACTORS, SHOWN, SLOTS_S};

/// The bottleneck in kbit/s.
const LINK_KBPS: f64 = 10_000.0;
const PACKET_KBIT: f64 = 8.0;

/// A cell with the session `flid`.
#[derive(Clone)]
pub(super) struct Cell<'d> {
    /// The study.
    pub(super) measured: &'d Measured,
    /// The position.
    pub(super) at: Vec<f64>,
}

impl Cell<'_> {
    fn of(&self, metric: &str) -> Samples {
        self.measured.of(&self.at, "flid", metric)
    }
}

/// The use of the link in percent.
pub(super) fn used(cell: &Cell<'_>) -> Samples {
    cell.of("throughput_kbps").times(100.0 / LINK_KBPS)
}

/// Packets lost in the window.
pub(super) fn lost(cell: &Cell<'_>) -> Samples {
    cell.of("lost_packets")
}

/// Slots of the window in which packets were lost: a receiver falls once in each of them.
pub(super) fn falls(cell: &Cell<'_>) -> Samples {
    cell.of("leaves_per_min").times(50.0 / 60.0)
}

/// Packets lost in a loss event that the receiver caused, where drops belong together with less than 250 ms between them.
pub(super) fn lost_per_event(cell: &Cell<'_>) -> Samples {
    cell.of("own_lost_per_event")
}

fn cell(data: &Data, factor: f64) -> Cell<'_> {
    Cell { measured: data.study("factor"), at: vec![factor] }
}

pub(super) fn figures() -> Vec<Figure> {
    vec![choice(), time_series(), slots()]
}

fn choice() -> Figure {
    Figure {
        label: Label::Figure(4),
        title: "The choice of the factor between layers",
        section: "V-A",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let curve = |name: &str, hue, value: &dyn Fn(&Cell<'_>) -> Samples| {
                dots(name, hue, FACTORS.map(|factor| (factor, value(&cell(data, factor)))))
            };
            const ACROSS: &str = "factor between layers";
            vec![
                panel("Use of the link, %", ACROSS, vec![curve("FLID-DL", 1, &used)]),
                panel("Packets lost in 50 s", ACROSS, vec![curve("FLID-DL", 1, &lost)]),
                panel(
                    "Packets lost for each",
                    ACROSS,
                    vec![
                        curve("slot with loss", 1, &|cell| lost(cell).over(&falls(cell))),
                        curve("loss event caused", 2, &lost_per_event),
                    ],
                ),
                panel("Slots with loss in 50 s", ACROSS, vec![curve("FLID-DL", 1, &falls)]),
            ]
        }),
        supplies: vec![
            Supply::new(|data, _| Measurements::of("Use of the link in %", at_both(data, used))),
            Supply::new(|data, _| {
                Measurements::of("Packets lost for each loss event caused", at_both(data, lost_per_event))
            }),
            Supply::new(|data, _| {
                let [little, much] = SHOWN.map(|factor| lost(&cell(data, factor)));
                let position = at("c = 2.0 over c = 1.3", much.over(&little));
                Measurements::of("Packets lost, c = 2.0 over c = 1.3", vec![position])
            }),
            Supply::new(|data, _| {
                let [seldom, often] = SHOWN.map(|factor| falls(&cell(data, factor)));
                let position = at("c = 2.0 over c = 1.3", often.over(&seldom));
                Measurements::of("Slots with loss, c = 2.0 over c = 1.3", vec![position])
            }),
        ],
    }
}

/// A number at both factors that the paper shows.
fn at_both(data: &Data, value: fn(&Cell<'_>) -> Samples) -> Vec<Placed> {
    SHOWN.map(|factor| at(format!("c = {factor:.1}"), value(&cell(data, factor)))).to_vec()
}

/// What was dropped in each bin of 250 ms.
fn drops(data: &Data, factor: f64, replication: u32) -> Points {
    let Some(time_series) = course_of(data, factor) else { return Vec::new() };
    let [from, to] = time_series.window_s();
    let all = time_series.probe(replication, "bottleneck", "drops").into_iter();
    all.filter(|(at, _)| *at > from && *at <= to).collect()
}

/// How many bins have drops.
fn bins(drops: &Points) -> f64 {
    drops.iter().filter(|(_, count)| *count > 0.0).count() as f64
}

fn course_of(data: &Data, factor: f64) -> Option<&crate::frame::time_series::TimeSeries> {
    data.study("factor-trajectories").time_series(Some((factor * 10.0).round() as u32))
}

/// A number of each replication of the trajectories.
fn of_each(data: &Data, factor: f64, value: &dyn Fn(&Points) -> Option<f64>) -> Samples {
    let replications = course_of(data, factor).into_iter().flat_map(|time_series| time_series.replications());
    Samples(replications.map(|replication| value(&drops(data, factor, replication))).collect())
}

fn per_bin(drops: &Points) -> Option<f64> {
    let total: f64 = drops.iter().map(|(_, count)| count).sum();
    Some(bins(drops)).filter(|bins| *bins > 0.0).map(|bins| total / bins)
}

fn time_series() -> Figure {
    Figure {
        label: Label::Figure(5),
        title: "Throughput and losses of one session, every 250 ms of one run",
        section: "V-A",
        kind: Kind::Sweep,
        panels: Box::new(|data| SHOWN.iter().flat_map(|&factor| course_panels(data, factor)).collect()),
        supplies: vec![
            Supply::new(|data, _| {
                let [one, other] = SHOWN.map(|factor| of_each(data, factor, &per_bin));
                let position: Placed = at("c = 2.0 over c = 1.3", other.over(&one));
                Measurements::of("Packets lost in an interval of 250 ms with loss", vec![position])
            }),
            Supply::new(|data, _| {
                let [one, other] = SHOWN.map(|factor| of_each(data, factor, &|drops| Some(bins(drops))));
                let position = at("c = 2.0 over c = 1.3", other.over(&one));
                Measurements::of("Intervals of 250 ms with loss", vec![position])
            }),
        ],
    }
}

fn course_panels(data: &Data, factor: f64) -> Vec<Panel> {
    const ACROSS: &str = "time in s";
    let throughput = course_of(data, factor).map(|time_series| {
        let [from, to] = time_series.window_s();
        let all = time_series.throughput(1, "flid@R").into_iter();
        all.filter(|(at, _)| *at > from && *at <= to).collect::<Points>()
    });
    let lost = Curve::exact("lost", Style::Marks(2), drops(data, factor, 1));
    vec![
        panel(
            &format!("Throughput in kbit/s, c = {factor:.1}"),
            ACROSS,
            vec![line("throughput", 1, throughput.unwrap_or_default())],
        )
        .about(10),
        panel(&format!("Packets lost, c = {factor:.1}"), ACROSS, vec![lost]).about(10),
    ]
}

fn slot_cell(data: &Data, slot_s: f64) -> Samples {
    let outer = SLOTS_S.iter().position(|known| *known == slot_s).unwrap_or_default();
    data.study("slots").of(&[outer as f64, slot_s], "flid", "throughput_kbps")
}

fn slots() -> Figure {
    Figure {
        label: Label::Other("V-A, slots"),
        title: "The length of a slot against the nominal round-trip time, at 4 % loss",
        section: "V-A",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let target = Target::new(Duration::from_ms(100)).rate(0.04) * PACKET_KBIT;
            let flid = SLOTS_S.map(|slot_s| (slot_s / 0.1, slot_cell(data, slot_s)));
            let tcp =
                Curve::exact("TCP by equation 1", Style::Guide, SLOTS_S.map(|slot_s| (slot_s / 0.1, target)));
            let curves = vec![dots("FLID-DL", 1, flid), tcp];
            vec![
                panel("Throughput in kbit/s", "slot over nominal round-trip time", curves)
                    .by_factors_across(),
            ]
        }),
        supplies: vec![
            Supply::new(|data, _| {
                let position = |&slot_s: &f64| at(format!("{slot_s} s"), slot_cell(data, slot_s));
                Measurements::of("Throughput over the slot", SLOTS_S[4..].iter().map(position).collect())
            }),
            Supply::new(|data, _| {
                let target = Target::new(Duration::from_ms(100)).rate(0.04) * PACKET_KBIT;
                let position = at("0.5 s", slot_cell(data, 0.5).times(1.0 / target));
                Measurements::of("Throughput over TCP's by equation 1", vec![position])
            }),
        ],
    }
}
