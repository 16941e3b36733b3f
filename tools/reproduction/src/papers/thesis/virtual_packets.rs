//! Figure 16: virtual packets while the sending rate grows, under 5 % loss.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Seq, Size};
use layercast_kit::estimator::{
    Fate, LossConfig, LossMethod, LossPanel, Packet, PanelConfig, SendTime, VirtualConfig, VirtualLoss,
};

use crate::frame::figure::{
    Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table, curve,
};
use crate::frame::scale::Scale;
use crate::samples::Samples;

const LOSS: f64 = 0.05;
const RTT: Duration = Duration::from_ms(100);
/// How long the rate grows, and from where to where; the thesis states neither.
const DURATION_S: f64 = 300.0;
const FROM_BYTES_PER_S: f64 = 10_000.0;
const TO_BYTES_PER_S: f64 = 640_000.0;
/// One point of the figure is the mean over so long.
const BIN_S: f64 = 10.0;
const LARGE: Size = Size::from_bytes(1000);
const SMALL: Size = Size::from_bytes(100);

const LARGE_CBR: &str = "CBR, 1000 bytes";
const SMALL_CBR: &str = "CBR, 100 bytes";
const BY_LAST: &str = "VP, lost with its last packet";
const BY_ANY: &str = "VP, lost with any packet";

pub(super) fn figure() -> Figure {
    Figure {
        label: Label::Figure(16),
        title: "Virtual packets at 5 % loss while the sending rate grows",
        section: "4.3.4",
        kind: Kind::Trace,
        panels: Box::new(panels),
        supplies: vec![
            Supply::new(|_, panels| {
                let ratio = mean_over(panels, 1, BY_LAST, 50.0, DURATION_S)
                    .over(&mean_over(panels, 0, LARGE_CBR, 50.0, DURATION_S));
                Measurements::of("VP over CBR of large packets", vec![("50 to 300 s".to_owned(), ratio)])
            }),
            Supply::new(|_, panels| {
                let ratio = mean_over(panels, 1, SMALL_CBR, 50.0, DURATION_S)
                    .over(&mean_over(panels, 1, BY_LAST, 50.0, DURATION_S));
                Measurements::of("CBR of small packets over VP", vec![("50 to 300 s".to_owned(), ratio)])
            }),
            Supply::new(|_, panels| {
                let ratio = mean_over(panels, 1, BY_LAST, 250.0, DURATION_S)
                    .over(&mean_over(panels, 1, BY_LAST, 10.0, 60.0));
                Measurements::of("VP from 250 s on over VP from 10 to 60 s", vec![("both".to_owned(), ratio)])
            }),
        ],
    }
}

/// The mean of a curve between two times, in each repetition.
fn mean_over(panels: &[Panel], panel: usize, name: &str, from: f64, to: f64) -> Samples {
    let Some(curve) = curve(panels, panel, name) else { return Samples::default() };
    let within: Vec<&Samples> =
        curve.points.iter().filter(|(at, _)| *at > from && *at < to).map(|(_, samples)| samples).collect();
    let repetitions = within.first().map_or(0, |samples| samples.0.len());
    let mean = |repetition: usize| {
        let values: Vec<f64> = within.iter().filter_map(|samples| *samples.0.get(repetition)?).collect();
        (values.len() == within.len()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    Samples((0..repetitions).map(mean).collect())
}

fn panels(data: &Data) -> Vec<Panel> {
    let repetitions = data.effort.repetitions();
    let large = trajectories(LARGE, &[None], repetitions);
    let virtual_packets = |rule| VirtualConfig::of(LARGE, rule);
    let small = trajectories(
        SMALL,
        &[virtual_packets(VirtualLoss::Representative), virtual_packets(VirtualLoss::Any), None],
        repetitions,
    );
    let named = |names: &[(&str, usize)], trajectories: Vec<Vec<(f64, Samples)>>| -> Vec<Curve> {
        let curves = names.iter().zip(trajectories).map(|(&(name, hue), points)| Curve {
            name: name.to_owned(),
            look: Style::Dots(hue),
            points,
        });
        curves.collect()
    };
    let panel = |title: &str, curves| Panel {
        title: title.to_owned(),
        across: "time, s",
        across_scale: Scale::Linear,
        up_scale: Scale::Linear,
        curves,
        table: Table::About(10),
    };
    vec![
        panel("(a) Packets of 1000 bytes: loss event rate, %", named(&[(LARGE_CBR, 2)], large)),
        panel(
            "(b) Packets of 100 bytes: loss event rate, %",
            named(&[(BY_LAST, 1), (BY_ANY, 6), (SMALL_CBR, 2)], small),
        ),
    ]
}

/// LIP's loss rate over time in percent, for each method of counting the same packets.
fn trajectories(size: Size, methods: &[Option<VirtualConfig>], repetitions: u32) -> Vec<Vec<(f64, Samples)>> {
    let runs: Vec<Vec<Vec<f64>>> = (1..=repetitions).map(|number| run(size, methods, number)).collect();
    let bins = (DURATION_S / BIN_S) as usize;
    let time_series = |method: usize| {
        let point = |bin: usize| {
            let known =
                |run: &Vec<Vec<f64>>| run.get(method)?.get(bin).copied().filter(|value| value.is_finite());
            ((bin as f64 + 0.5) * BIN_S, Samples(runs.iter().map(known).collect()))
        };
        (0..bins).map(point).collect()
    };
    (0..methods.len()).map(time_series).collect()
}

/// One repetition: by method, then by bin.
fn run(size: Size, methods: &[Option<VirtualConfig>], number: u32) -> Vec<Vec<f64>> {
    let loss = LossConfig {
        method: LossMethod::Lip,
        window: 1,
        discount_impact: false,
        initial_rtt: RTT,
        ..LossConfig::default()
    };
    let config = |&virtual_packets: &Option<_>| PanelConfig {
        loss: LossConfig { virtual_packets, ..loss },
        fraction_window: 1000,
    };
    let mut measures: Vec<LossPanel> = methods.iter().map(|method| LossPanel::new(&config(method))).collect();
    let bins = (DURATION_S / BIN_S) as usize;
    let mut sums = vec![vec![(0.0, 0u32); bins]; methods.len()];
    let mut stream = Stream::new(1, &format!("virtual-packets/{}/{number}", size.as_bytes()));
    let (mut now_s, mut seq) = (0.0, 0);
    while now_s < DURATION_S {
        let packet =
            Packet { layer: Layer::BASE, seq: Seq(seq), sent: SendTime::from_us((now_s * 1e6) as u64) };
        let lost = stream.chance(LOSS);
        for (measure, sums) in measures.iter_mut().zip(&mut sums) {
            measure.on_packet(&packet, if lost { Fate::Lost } else { Fate::Received(size) });
            // Before the first loss there is no estimate.
            if let Some((sum, count)) =
                sums.get_mut((now_s / BIN_S) as usize).filter(|_| measure.lip().events() > 0)
            {
                *sum += measure.lip().loss_rate() * 100.0;
                *count += 1;
            }
        }
        let rate = FROM_BYTES_PER_S + (TO_BYTES_PER_S - FROM_BYTES_PER_S) * now_s / DURATION_S;
        now_s += f64::from(size.as_bytes()) / rate;
        seq += 1;
    }
    let mean = |&(sum, count): &(f64, u32)| sum / f64::from(count);
    sums.iter().map(|bins| bins.iter().map(mean).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_a_steady_high_rate_the_estimate_is_that_of_equation_12() {
        // Near the end a round trip has about 62 packets: 1 / (62 + 20 - 1), in percent.
        let large = trajectories(LARGE, &[None], 4);
        let (_, last) = large[0].last().unwrap();
        assert!((last.mean() / (100.0 / 82.0) - 1.0).abs() < 0.15, "{}", last.mean());
    }
}
