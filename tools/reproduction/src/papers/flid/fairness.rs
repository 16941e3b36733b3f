//! Section V-E: as many FLID-DL sessions as TCP (figure 9).

use crate::frame::figure::{Data, Figure, Kind, Label, Measurements, Panel, Supply};
use crate::samples::{Placed, Samples};

use super::shapes::{at, dots, panel};
use super::studies::{FLOWS, QUEUES};

/// The share of each flow in kbit/s: n of both kinds share 0.5 n Mbit/s.
const SHARE_KBPS: f64 = 250.0;
const FLID: &str = "FLID-DL";
const TCP: &str = "TCP";

/// Numbers of one queue and one number of pairs.
struct Cell<'d> {
    data: &'d Data,
    queue: u32,
    pairs: u32,
}

impl Cell<'_> {
    fn of(&self, name: &str, metric: &str) -> Samples {
        let at = [f64::from(self.pairs), f64::from(self.pairs * self.queue)];
        self.data.study("beside-tcp").of(&at, name, metric)
    }

    /// Every session's, in the order of their names.
    fn sessions(&self, metric: &str) -> Vec<Samples> {
        (1..=self.pairs).map(|number| self.of(&format!("f{number}"), metric)).collect()
    }

    fn tcps(&self, metric: &str) -> Vec<Samples> {
        let name = |number| if self.pairs == 1 { "tcp@R".to_owned() } else { format!("tcp-{number}@R") };
        (1..=self.pairs).map(|number| self.of(&name(number), metric)).collect()
    }

    fn flid(&self, metric: &str) -> Samples {
        Samples::average(&self.sessions(metric))
    }

    fn tcp(&self, metric: &str) -> Samples {
        Samples::average(&self.tcps(metric))
    }

    /// The mean rate of the sessions over that of the TCP.
    fn ratio(&self) -> Samples {
        self.flid("throughput_kbps").over(&self.tcp("throughput_kbps"))
    }
}

/// The largest or least of each replication.
fn extreme(all: &[Samples], choose: fn(f64, f64) -> f64) -> Samples {
    let replications = all.iter().map(|samples| samples.0.len()).min().unwrap_or(0);
    let one = |index: usize| {
        all.iter().filter_map(|samples| samples.0.get(index).copied().flatten()).reduce(choose)
    };
    Samples((0..replications).map(one).collect())
}

pub(super) fn figures() -> Vec<Figure> {
    let figure = |label, title, queue: u32, supplies: Vec<Supply>| Figure {
        label: Label::Other(label),
        title,
        section: "V-E",
        kind: Kind::Sweep,
        panels: Box::new(move |data| panels(data, queue)),
        supplies,
    };
    let [short, long] = QUEUES;
    let mut of_long = quantities(long);
    of_long.push(Supply::new(move |data, _| {
        let position = |&pairs: &u32| -> Placed {
            let [short, long] = QUEUES.map(|queue| Cell { data, queue, pairs }.ratio());
            at(format!("n = {pairs}"), long.over(&short))
        };
        let positions = FLOWS[1..].iter().map(position).collect();
        Measurements::of("FLID-DL over TCP, 25n over 7n packets", positions)
    }));
    vec![
        figure("Figure 9a", "FLID-DL sharing with TCP, 7n packets of queue", short, quantities(short)),
        figure("Figure 9b", "FLID-DL sharing with TCP, 25n packets of queue", long, of_long),
    ]
}

fn quantities(queue: u32) -> Vec<Supply> {
    vec![
        Supply::new(move |data, _| {
            let position = |&pairs: &u32| at(format!("n = {pairs}"), Cell { data, queue, pairs }.ratio());
            Measurements::of("FLID-DL over TCP", FLOWS[1..].iter().map(position).collect())
        }),
        Supply::new(move |data, _| {
            let position = |&pairs: &u32| -> Placed {
                let all = Cell { data, queue, pairs }.sessions("throughput_kbps");
                let least = extreme(&all, f64::min).over(&Samples::average(&all));
                at(format!("n = {pairs}"), least)
            };
            let positions = FLOWS[1..].iter().map(position).collect();
            Measurements::of("The slowest session over the mean of them", positions)
        }),
    ]
}

fn panels(data: &Data, queue: u32) -> Vec<Panel> {
    let curve = |name: &str, hue, value: &dyn Fn(&Cell<'_>) -> Samples| {
        let points = FLOWS.map(|pairs| (f64::from(pairs), value(&Cell { data, queue, pairs })));
        dots(name, hue, points)
    };
    let over = |samples: Samples| samples.times(1.0 / SHARE_KBPS);
    const ACROSS: &str = "n: sessions, and as many TCP";
    const RATE: &str = "throughput_kbps";
    let rates =
        vec![curve(FLID, 1, &|cell| over(cell.flid(RATE))), curve(TCP, 0, &|cell| over(cell.tcp(RATE)))];
    let ends = vec![
        curve("fastest FLID-DL", 1, &|cell| over(extreme(&cell.sessions(RATE), f64::max))),
        curve("slowest FLID-DL", 6, &|cell| over(extreme(&cell.sessions(RATE), f64::min))),
        curve("fastest TCP", 0, &|cell| over(extreme(&cell.tcps(RATE), f64::max))),
        curve("slowest TCP", 5, &|cell| over(extreme(&cell.tcps(RATE), f64::min))),
    ];
    let losses = vec![
        curve(FLID, 1, &|cell| cell.flid("loss_rate").times(100.0)),
        curve(TCP, 0, &|cell| cell.tcp("loss_rate").times(100.0)),
    ];
    vec![
        panel("Throughput over the fair share", ACROSS, rates).by_factors_across(),
        panel("The same of the fastest and the slowest", ACROSS, ends).by_factors_across(),
        panel("Loss rate, %", ACROSS, losses).by_factors_across(),
    ]
}
