//! The bias of the loss event rate and its cure (thesis, chapters 4 and 5): at N packets per round-trip
//! time and independent loss p, LIP finds p / (1 + (N - 1) p) and LAP finds p.
//!
//! Each cell of the grid is fed until there were 20 000 loss events. Then a count of events or losses has a
//! standard error of 0.7 % at most, and a time average, in which some eight events are correlated, of about
//! 1 %.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Seq, Size};
use layercast_kit::estimator::{
    Fate, ImpactAverage, LossConfig, LossMethod, LossPanel, Packet, PanelConfig, SendTime,
};
use layercast_testkit::{cases, runs_long};

const EVENTS: u64 = 20_000;
const LOSSES: [f64; 6] = [0.001, 0.005, 0.01, 0.03, 0.05, 0.1];
const PACKETS_PER_RTT: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// A multiple of every number of packets, so that a round trip holds exactly that many.
const RTT_US: u64 = 128_000;
const SIZE: Size = Size::from_bytes(1000);

fn panel(impact: ImpactAverage) -> LossPanel {
    let loss = LossConfig {
        method: LossMethod::Lip,
        discounting: None,
        window: 1,
        impact,
        discount_impact: false,
        initial_rtt: Duration::from_us(RTT_US),
        ..LossConfig::default()
    };
    LossPanel::new(&PanelConfig { loss, fraction_window: 1000 })
}

/// The results of one cell of the grid.
struct Cell {
    /// Counted by LIP and by LAP, over packets.
    counted: [f64; 2],
    /// Averages over time of LIP's and LAP's loss rates.
    average: [f64; 2],
}

fn measure(loss: f64, packets_per_rtt: u64, impact: ImpactAverage) -> Cell {
    let mut panel = panel(impact);
    let mut stream = Stream::new(1, &format!("bias/{loss}/{packets_per_rtt}"));
    let spacing_us = RTT_US / packets_per_rtt;
    let (mut sums, mut looks, mut seq) = ([0.0; 2], 0u64, 0);
    // The rates change little from packet to packet; reading them at every one would take most of the time.
    let every = (0.02 / loss).max(1.0) as u64;
    while panel.lip().events() < EVENTS {
        let sent = SendTime::from_us(seq * spacing_us);
        let packet = Packet { layer: Layer::BASE, seq: Seq(seq), sent };
        panel.on_packet(&packet, if stream.chance(loss) { Fate::Lost } else { Fate::Received(SIZE) });
        seq += 1;
        // The averages are over eight intervals.
        if seq % every == 0 && panel.lip().events() > 8 {
            sums[0] += panel.lip().loss_rate();
            sums[1] += panel.lap().loss_rate();
            looks += 1;
        }
    }
    let packets = panel.packets() as f64;
    let counted = [panel.lip().events(), panel.lap().counted()].map(|count| count as f64 / packets);
    Cell { counted, average: sums.map(|sum| sum / looks as f64) }
}

/// Every cell must hold; those that do not are listed with their ratios.
fn check(impact: ImpactAverage, losses: &[f64]) {
    let mut wrong = Vec::new();
    for &loss in losses {
        // Every second one has the same trend.
        for packets_per_rtt in PACKETS_PER_RTT.into_iter().step_by(2 / cases(2) as usize) {
            let cell = measure(loss, packets_per_rtt, impact);
            let biased = loss / (1.0 + (packets_per_rtt - 1) as f64 * loss);
            for (name, index, truth) in [("LIP", 0, biased), ("LAP", 1, loss)] {
                let (counted, average) = (cell.counted[index] / truth, cell.average[index] / truth);
                if !(0.97..=1.03).contains(&counted) || !(0.97..=1.10).contains(&average) {
                    wrong.push(format!(
                        "{name} at p = {loss}, {packets_per_rtt} packets per round trip: counted {counted:.3}, average {average:.3}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "of what theory says:\n{}", wrong.join("\n"));
}

#[test]
fn lip_sinks_with_the_sending_rate_and_lap_does_not() {
    // Seldom losses need the most packets.
    let losses = if runs_long("losses below one percent") { &LOSSES[..] } else { &LOSSES[2..] };
    check(ImpactAverage::Mean, losses);
}

#[test]
fn weighted_impacts_do_as_well() {
    check(ImpactAverage::Weighted, &[0.01, 0.1]);
}
