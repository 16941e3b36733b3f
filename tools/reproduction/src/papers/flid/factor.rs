//! Section V-A: the factor between layers (figures 4 and 5), and slots against the nominal round-trip time.

use layercast_core::units::Duration;
use layercast_protocols::flid::Target;

use crate::frame::figure::{Claim, Curve, Data, Figure, Kind, Label, Panel, Style};
use crate::frame::finding::{Bound, Finding, Placed};
use crate::frame::samples::Samples;
use crate::frame::study::Measured;
use crate::frame::time_series::Points;

use super::shapes::{at, dots, line, panel};
use super::studies::{FACTORS, SHOWN, SLOTS_S};

/// The bottleneck in kbit/s.
const LINK_KBPS: f64 = 10_000.0;
/// The least ratio of packets lost at factor 2.0: 2.5 in one run of the paper, with a margin for chance.
pub(super) const LEAST_RATIO: f64 = 1.8;
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
        claims: vec![
            used_claim(SHOWN[0], "Factor 1.3 uses 85 % of the link.", Bound::Within(80.0, 90.0)),
            used_claim(SHOWN[1], "Factor 2.0 uses 59 % of the link.", Bound::Within(50.0, 68.0)),
            event_claim(SHOWN[0], "Factor 1.3 loses 47 packets a loss event.", Bound::Within(30.0, 70.0)),
            event_claim(SHOWN[1], "Factor 2.0 loses 17 packets a loss event.", Bound::Within(11.0, 25.0)),
            Claim::new("Factor 2.0 loses 2.5 times as many packets over the 50 s.", |data, _| {
                let [little, much] = SHOWN.map(|factor| lost(&cell(data, factor)));
                let position = at("c = 2.0 over c = 1.3", much.over(&little));
                Finding::each("Packets lost", Bound::Above(LEAST_RATIO), vec![position])
            }),
            Claim::new("Large jumps of the rate cause more frequent loss.", |data, _| {
                let [seldom, often] = SHOWN.map(|factor| falls(&cell(data, factor)));
                let position = at("c = 2.0 over c = 1.3", often.over(&seldom));
                Finding::each("Slots with loss", Bound::Above(1.0), vec![position])
            }),
        ],
    }
}

fn used_claim(factor: f64, says: &'static str, bound: Bound) -> Claim {
    Claim::new(says, move |data, _| {
        let position = at(format!("c = {factor:.1}"), used(&cell(data, factor)));
        Finding::each("Use of the link in %", bound, vec![position])
    })
}

fn event_claim(factor: f64, says: &'static str, bound: Bound) -> Claim {
    Claim::new(says, move |data, _| {
        let cell = cell(data, factor);
        let name = || format!("c = {factor:.1}");
        let by_slot = lost(&cell).over(&falls(&cell));
        Finding::each(
            "Packets lost for each loss event caused",
            bound,
            vec![at(name(), lost_per_event(&cell))],
        )
        .because(&format!("Per slot with loss it is {}.", crate::frame::samples::format_samples(&by_slot)))
    })
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
        claims: vec![
            Claim::new(
                "An interval with loss has 47 lost packets at 1.3 and 17 at 2.0: fewer.",
                |data, _| {
                    let [one, other] = SHOWN.map(|factor| of_each(data, factor, &per_bin));
                    let position: Placed = at("c = 2.0 over c = 1.3", other.over(&one));
                    Finding::each(
                        "Packets lost in an interval of 250 ms with loss",
                        Bound::Below(1.0),
                        vec![position],
                    )
                },
            ),
            Claim::new("There are more intervals with loss at 2.0.", |data, _| {
                let [one, other] = SHOWN.map(|factor| of_each(data, factor, &|drops| Some(bins(drops))));
                let position = at("c = 2.0 over c = 1.3", other.over(&one));
                Finding::each("Intervals of 250 ms with loss", Bound::Above(1.0), vec![position])
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
        claims: vec![
            Claim::new(
                "Longer slots get less: a slot of twice the length holds a loss more often.",
                |data, _| {
                    let position = |pair: &[f64]| -> Placed {
                        at(format!("{} s", pair[1]), slot_cell(data, pair[1]).over(&slot_cell(data, pair[0])))
                    };
                    let positions = SLOTS_S[4..].windows(2).map(position).collect();
                    Finding::each(
                        "Throughput over that with the next shorter slot",
                        Bound::Below(1.0),
                        positions,
                    )
                },
            ),
            Claim::new("Five nominal round-trip times leave a reasonable rate.", |data, _| {
                let target = Target::new(Duration::from_ms(100)).rate(0.04) * PACKET_KBIT;
                let position = at("0.5 s", slot_cell(data, 0.5).times(1.0 / target));
                Finding::each("Throughput over TCP's by equation 1", Bound::Within(0.5, 2.0), vec![position])
            }),
        ],
    }
}
