//! Section V-D: random loss and heterogeneous delays; and the model against the simulation.

use layercast_protocols::flid::{Target, heuristic};

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Style, Supply, curve};
use crate::frame::scale::tick_label;
use crate::samples::{Placed, Samples};

use super::equations::{model, rtt};
use super::shapes::{at, dots, panel};
use super::studies::{DELAYS_MS, LOSSES, TREE_LINKS, TREE_LOSSES};

const PACKET_KBIT: f64 = 8.0;
const SIMULATED: &str = "simulated";
const CHAIN: &str = "chain of section IV-C, corrected";

pub(super) fn figures() -> Vec<Figure> {
    vec![tree(), delays(), chain()]
}

fn percent(loss: f64) -> String {
    format!("{} %", tick_label(loss * 100.0))
}

/// The throughput of a receiver, or of the TCP, with a loss on one of the links.
fn in_tree(data: &Data, link: usize, loss: f64, name: &str) -> Samples {
    data.study("tree").of(&[link as f64, loss], name, "throughput_kbps")
}

fn tree() -> Figure {
    Figure {
        label: Label::Other("V-D, random loss"),
        title: "Random loss at a trunk, a branch or a leaf of a tree with 16 receivers",
        section: "V-D",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let panels = TREE_LOSSES.map(|loss| {
                let curves = TREE_LINKS.iter().enumerate().map(|(link, name)| {
                    let points = (1..=16)
                        .map(|host| (f64::from(host), in_tree(data, link, loss, &format!("flid@R{host}"))));
                    dots(&format!("loss on {name}"), link + 1, points)
                });
                panel(
                    &format!("Throughput in kbit/s at {} loss", percent(loss)),
                    "receiver",
                    curves.collect(),
                )
                .by_factors_up()
            });
            panels.to_vec()
        }),
        supplies: vec![
            Supply::new(|data, _| {
                let positions = TREE_LOSSES.iter().flat_map(|&loss| {
                    TREE_LINKS.iter().enumerate().skip(1).map(move |(link, name)| {
                        let one = in_tree(data, link, loss, "flid@R1");
                        let trunk = in_tree(data, 0, loss, "flid@R1");
                        at(format!("{name}, {}", percent(loss)), one.over(&trunk))
                    })
                });
                Measurements::of("R1 over R1 with the loss on the trunk", positions.collect())
            }),
            Supply::new(|data, _| {
                let others = |loss: f64| -> Vec<Placed> {
                    let position = |(link, host): (usize, u32)| {
                        let clean = in_tree(data, link, loss, &format!("flid@R{host}"));
                        let lossy = in_tree(data, link, loss, "flid@R1");
                        at(
                            format!("R{host}, loss of {} on {}", percent(loss), TREE_LINKS[link]),
                            clean.over(&lossy),
                        )
                    };
                    [(1, 5), (2, 2), (2, 16)].map(position).to_vec()
                };
                let positions = TREE_LOSSES.into_iter().flat_map(others).collect();
                Measurements::of("A receiver without loss over R1, which loses", positions)
            }),
            Supply::new(|data, _| {
                let position = |&loss: &f64| {
                    let [flid, tcp] = ["flid@R1", "tcp"].map(|name| in_tree(data, 0, loss, name));
                    at(percent(loss), flid.over(&tcp))
                };
                Measurements::of("FLID-DL over TCP", TREE_LOSSES.iter().map(position).collect())
            }),
        ],
    }
}

/// The throughput of the receiver at a one-way delay; `waiting` receivers wait for their top layer's packets.
fn at_delay(data: &Data, waiting: u32, loss: f64, delay_ms: u32) -> Samples {
    let flow = format!("flid@R{delay_ms}");
    data.study("delays").of(&[f64::from(waiting), loss], &flow, "throughput_kbps")
}

fn delays() -> Figure {
    Figure {
        label: Label::Other("V-D, delays"),
        title: "Receivers at various distances",
        section: "V-D",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let panels = TREE_LOSSES.map(|loss| {
                let curve = |name: &str, hue, waiting| {
                    let points =
                        DELAYS_MS.map(|delay| (f64::from(delay), at_delay(data, waiting, loss, delay)));
                    dots(name, hue, points)
                };
                let curves = vec![curve("FLID-DL", 1, 0), curve("waits for its top layer", 2, 1)];
                let title = format!("Throughput in kbit/s at {} loss", percent(loss));
                panel(&title, "one-way delay in ms", curves).by_factors_across()
            });
            panels.to_vec()
        }),
        supplies: vec![
            Supply::new(|data, _| {
                let positions = TREE_LOSSES.into_iter().flat_map(|loss| {
                    [50, 100, 200].map(|delay| {
                        let ratio = at_delay(data, 0, loss, delay).over(&at_delay(data, 0, loss, 10));
                        at(format!("{delay} ms, {}", percent(loss)), ratio)
                    })
                });
                Measurements::of("Throughput over that at 10 ms, up to 200 ms", positions.collect())
            }),
            Supply::new(|data, _| {
                let positions = TREE_LOSSES.into_iter().flat_map(|loss| {
                    [600, 1000].map(|delay| {
                        let ratio = at_delay(data, 0, loss, delay).over(&at_delay(data, 0, loss, 10));
                        at(format!("{delay} ms, {}", percent(loss)), ratio)
                    })
                });
                Measurements::of("Throughput over that at 10 ms, beyond a slot", positions.collect())
            }),
        ],
    }
}

fn simulated(data: &Data, loss: f64) -> Samples {
    data.study("model").of(&[loss], "flid", "throughput_kbps")
}

fn chain() -> Figure {
    Figure {
        label: Label::Other("IV-C, model"),
        title: "The model against the simulation, with independent loss",
        section: "IV-C",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let (model, target) = (model(1.3, 0.5), Target::new(rtt()));
            let increase_probabilities = heuristic(&model, &target);
            let mean = |loss| model.mean_rate(&increase_probabilities, loss) * PACKET_KBIT;
            let chain = Curve::exact(CHAIN, Style::Line(1), LOSSES.map(|loss| (loss * 100.0, mean(loss))));
            let tcp = LOSSES.map(|loss| (loss * 100.0, target.rate(loss) * PACKET_KBIT));
            let tcp = Curve::exact("TCP by equation 1", Style::Guide, tcp);
            let points = LOSSES.map(|loss| (loss * 100.0, simulated(data, loss)));
            let curves = vec![dots(SIMULATED, 2, points), chain, tcp];
            vec![
                panel("Throughput in kbit/s", "packet loss probability, %", curves)
                    .by_factors_across()
                    .by_factors_up(),
            ]
        }),
        supplies: vec![Supply::new(|_, panels| {
            let (Some(found), Some(chain)) = (curve(panels, 0, SIMULATED), curve(panels, 0, CHAIN)) else {
                return Measurements::of("Simulated over the chain's", Vec::new());
            };
            let position = |(loss, rate): &(f64, Samples)| {
                at(format!("{} %", tick_label(*loss)), rate.times(1.0 / chain.at(*loss).mean()))
            };
            Measurements::of("Simulated over the chain's", found.points.iter().map(position).collect())
        })],
    }
}
