//! The two grids of chapters 4 and 5 (thesis, table 1), and how their numbers are asked for.

use crate::frame::figure::Data;
use crate::frame::scale::tick_label;
use crate::frame::study::{Quantity, Study, Sweep};
use crate::samples::{Placed, Samples};

/// Packet loss probabilities (table 1).
pub(super) const LOSSES: [f64; 6] = [0.001, 0.005, 0.01, 0.03, 0.05, 0.1];
/// Sending rates in packets per round trip (table 1).
pub(super) const RATES: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Numbers of TCP flows (table 1).
pub(super) const FLOWS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// One packet of 1000 bytes per round trip of 100 ms, in kbit/s.
const PACKET_KBPS: u32 = 80;
/// A flow's share of the shared link, in packets per round trip (section 4.1.4).
const FAIR_SHARE: u32 = 16;
/// The same in kbit/s.
pub(super) const FAIR_KBPS: f64 = (FAIR_SHARE * PACKET_KBPS) as f64;

/// The loss event rate of the constant-rate flow.
pub(super) const LIP: Quantity = Quantity { flow: "cbr", metric: "lip_loss" };
/// Its loss rate by aggregation periods.
pub(super) const LAP: Quantity = Quantity { flow: "cbr", metric: "lap_loss" };
/// The rate that follows from LIP.
pub(super) const LIP_RATE: Quantity = Quantity { flow: "cbr", metric: "lip_rate_kbps" };
/// The rate that follows from LAP.
pub(super) const LAP_RATE: Quantity = Quantity { flow: "cbr", metric: "lap_rate_kbps" };
/// What the constant-rate flow loses.
pub(super) const CBR_LOSS: Quantity = Quantity { flow: "cbr", metric: "loss_rate" };
/// TFRC's loss event rate.
pub(super) const TFRC_LOSS: Quantity = Quantity { flow: "tfrc", metric: "loss" };
/// TFRC's throughput.
pub(super) const TFRC_RATE: Quantity = Quantity { flow: "tfrc", metric: "throughput_kbps" };
/// What TCP loses of its packets.
pub(super) const TCP_LOSS: Quantity = Quantity { flow: "tcp", metric: "loss_rate" };
/// TCP's throughput.
pub(super) const TCP_RATE: Quantity = Quantity { flow: "tcp", metric: "throughput_kbps" };

const METRICS: &[&str] =
    &["throughput_kbps", "loss_rate", "loss", "lip_loss", "lap_loss", "lip_rate_kbps", "lap_rate_kbps"];

/// The sweep over sending rates up to one of them.
fn rates_up_to(highest: u32) -> String {
    format!("session.cbr.layers.base={PACKET_KBPS} kbit/s..{} kbit/s*2", highest * PACKET_KBPS)
}

/// The grid over loss probability and sending rate on the artificially lossy link: 48 cells.
pub(super) fn lossy_study() -> Study {
    let losses: Vec<String> = LOSSES.iter().map(f64::to_string).collect();
    let vary = vec![format!("link.G1-G2.loss.forward={}", losses.join(",")), rates_up_to(128)];
    Study {
        name: "lossy-link",
        scenario: "thesis/lossy-link",
        sweeps: vec![Sweep { outer: None, set: Vec::new(), vary }],
        metrics: METRICS,
    }
}

/// The study of the shared link.
pub(super) const SHARED: &str = "shared-link";

/// The grid over the number of TCP and the sending rate on the shared link: 39 cells. The bottleneck grows
/// with the number of TCP, so each has a sweep of its own.
pub(super) fn shared_study() -> Study {
    let sweep = |flows: u32| {
        let rate_kbps = (flows + 2) * FAIR_SHARE * PACKET_KBPS;
        // 1.5 times the bandwidth-delay product of 100 ms.
        let queue_bytes = rate_kbps * 100 / 8 * 3 / 2;
        let sinks: Vec<String> = (1..=flows).map(|number| format!("\"T{number}\"")).collect();
        let set = vec![
            format!("flow.tcp.to=[{}]", sinks.join(", ")),
            format!("link.G1-G2.rate={rate_kbps} kbit/s"),
            format!("link.G1-G2.queue.limit={queue_bytes} bytes"),
        ];
        Sweep {
            outer: Some(flows),
            set,
            vary: vec![rates_up_to(rates_beside(flows).last().copied().unwrap_or(1))],
        }
    };
    Study {
        name: SHARED,
        scenario: "thesis/shared-link",
        sweeps: FLOWS.map(sweep).to_vec(),
        metrics: METRICS,
    }
}

/// The sending rates below half of the bottleneck with a number of TCPs (section 4.1.4).
pub(super) fn rates_beside(flows: u32) -> Vec<u32> {
    RATES.into_iter().filter(|rate| 2 * rate < (flows + 2) * FAIR_SHARE).collect()
}

/// The numbers of TCPs with which a sending rate is below half of the bottleneck.
pub(super) fn flows_beside(rate: u32) -> Vec<u32> {
    FLOWS.into_iter().filter(|flows| rates_beside(*flows).contains(&rate)).collect()
}

/// A share in percent, without needless digits.
pub(super) fn percent(share: f64) -> String {
    tick_label(share * 100.0)
}

/// A cell of a grid: where it is, and where its numbers are.
#[derive(Clone, Copy)]
pub(super) struct PlotCell<'d> {
    data: &'d Data,
    study: &'static str,
    outer: f64,
    rate: u32,
}

/// The cell of a loss probability and a sending rate.
pub(super) fn lossy(data: &Data, loss: f64, rate: u32) -> PlotCell<'_> {
    PlotCell { data, study: "lossy-link", outer: loss, rate }
}

/// The cell of a number of TCP and a sending rate.
pub(super) fn shared(data: &Data, flows: u32, rate: u32) -> PlotCell<'_> {
    PlotCell { data, study: SHARED, outer: f64::from(flows), rate }
}

impl PlotCell<'_> {
    /// The samples of a quantity there.
    pub(super) fn of(self, quantity: Quantity) -> Samples {
        let at = [self.outer, f64::from(self.rate * PACKET_KBPS)];
        self.data.study(self.study).samples(&at, quantity)
    }

    /// The sending rate in packets per round trip.
    pub(super) fn sending_rate(self) -> u32 {
        self.rate
    }

    /// One quantity over another, there.
    pub(super) fn ratio(self, one: Quantity, other: Quantity) -> Samples {
        self.of(one).over(&self.of(other))
    }

    /// A loss rate over the loss probability of the position.
    pub(super) fn over_loss(self, quantity: Quantity) -> Samples {
        self.of(quantity).times(1.0 / self.outer)
    }

    /// How much further, in factors, LAP's rate lies from another than LIP's does: below zero if it lies
    /// nearer.
    pub(super) fn lap_is_further_from(self, other: Quantity) -> Samples {
        let distance = |rate| self.ratio(rate, other).each(|ratio| libm::log(ratio).abs());
        distance(LAP_RATE).less(&distance(LIP_RATE))
    }

    /// These samples with the position's name.
    pub(super) fn named(self, samples: Samples) -> Placed {
        let rate = format!("{} packet{}/RTT", self.rate, if self.rate == 1 { "" } else { "s" });
        let name = match self.study {
            "shared-link" => format!("{} TCP, {rate}", self.outer),
            _ => format!("{} %, {rate}", percent(self.outer)),
        };
        (name, samples)
    }
}

/// All cells of the lossy grid.
pub(super) fn all_lossy(data: &Data) -> impl Iterator<Item = PlotCell<'_>> {
    LOSSES.into_iter().flat_map(move |loss| RATES.into_iter().map(move |rate| lossy(data, loss, rate)))
}

/// All cells of the shared grid with at least a number of TCPs.
pub(super) fn all_shared(data: &Data, least_flows: u32) -> impl Iterator<Item = PlotCell<'_>> {
    let flows = FLOWS.into_iter().filter(move |flows| *flows >= least_flows);
    flows.flat_map(move |flows| rates_beside(flows).into_iter().map(move |rate| shared(data, flows, rate)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shared_grid_is_that_of_the_thesis() {
        let study = shared_study();
        let rates: Vec<usize> = FLOWS.map(|flows| rates_beside(flows).len()).to_vec();
        assert_eq!(rates, [5, 5, 6, 7, 8, 8], "errata, E34");
        assert_eq!(flows_beside(32), [4, 8, 16, 32]);
        let eight = &study.sweeps[3];
        assert_eq!(eight.set[1..], ["link.G1-G2.rate=12800 kbit/s", "link.G1-G2.queue.limit=240000 bytes"]);
        assert_eq!(eight.vary, ["session.cbr.layers.base=80 kbit/s..5120 kbit/s*2"]);
    }
}
