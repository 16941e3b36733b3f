//! What needs neither a network nor a model: dynamic layers (example 1, figure 1), the structures of section IV-A, and
//! signals (example 3, table I).

use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Rate};
use layercast_kit::dynamic::{ChannelRotation, silent_slots};
use layercast_protocols::flid::{ReverseCounter, signal};

use crate::frame::figure::{Curve, Figure, Kind, Label, Measurements, Style, Supply, curve};
use crate::samples::{Placed, Samples};

use super::shapes::{at, panel};

/// Example 1: four layers with the rates 1, 2, 3 and 4 (see the errata), slots of 1 s, leaves of at most 1.5 s.
const LAYERS: u16 = 4;
const SLOTS: u64 = 7;
/// Example 4.
const RISES: [f64; 4] = [0.33, 0.21, 0.09, 0.0];
/// Table I: the value of the reversed counter, and the signal.
const TABLE: [(f64, i32); 8] =
    [(0.5, -1), (0.25, 0), (0.75, -1), (0.125, 1), (0.625, -1), (0.375, -1), (0.875, -1), (0.0625, 2)];
const VALUE: &str = "reversed counter";
const SIGNAL: &str = "signal";

pub(super) fn figures() -> Vec<Figure> {
    vec![wheel(), structures(), table()]
}

fn silent() -> u16 {
    silent_slots(Duration::from_ms(1000), Duration::from_ms(1500))
}

/// The rate of a dynamic layer in a slot.
fn rate(group: u16, slot: u64) -> f64 {
    let wheel = ChannelRotation { layers: LAYERS, silent: silent() };
    wheel.layer_of(group, slot).map_or(0.0, |layer| f64::from(layer) + 1.0)
}

/// Whether all of some pairs are equal, as a number that is asked to be 0: the largest difference.
fn difference(pairs: impl IntoIterator<Item = (f64, f64)>) -> Vec<Placed> {
    let largest = pairs.into_iter().map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    vec![at("all of them", Samples::exactly(largest))]
}

fn wheel() -> Figure {
    Figure {
        label: Label::Figure(1),
        title: "The rates of two dynamic layers in seven slots (example 1)",
        section: "III-C",
        kind: Kind::Trace,
        panels: Box::new(|_| {
            let time_series = |group| (0..SLOTS).map(move |slot| (slot as f64, rate(group, slot)));
            let curves = [0u16, 1].map(|group| {
                Curve::exact(&format!("d_{group}"), Style::Dots(usize::from(group) + 1), time_series(group))
            });
            vec![panel("Rate", "slot", curves.to_vec())]
        }),
        supplies: vec![
            Supply::new(|_, _| {
                Measurements::of("Silent slots, off by", difference([(f64::from(silent()), 3.0)]))
            }),
            Supply::new(|_, _| {
                let expected = [4.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0];
                // d_0 begins at the base in slot 0 or wherever its turn is; it is looked at from its highest rate on.
                let begins = (0..SLOTS).find(|&slot| rate(0, slot) == 4.0).unwrap_or(SLOTS);
                let found =
                    expected.iter().zip(begins..).map(|(rate_then, slot)| (*rate_then, rate(0, slot)));
                Measurements::of("Rates of the first layer, off by", difference(found))
            }),
            Supply::new(|_, panels| {
                let (Some(first), Some(second)) = (curve(panels, 0, "d_0"), curve(panels, 0, "d_1")) else {
                    return Measurements::of("Rates of the next layer, off by", Vec::new());
                };
                let later =
                    first.points.iter().map(|(slot, rate)| (rate.mean(), second.at(slot + 1.0).mean()));
                Measurements::of(
                    "Rates of the next layer, off by",
                    difference(later.take(SLOTS as usize - 1)),
                )
            }),
        ],
    }
}

/// The top rates of the structures with 20 layers in kbit/s, with what the paper says.
fn structures() -> Figure {
    let base = Rate::from_kbps(20.0);
    let tables = move || {
        [
            ("equal", LayerTable::equal(base, 20), 400.0),
            ("increase by one", LayerTable::increase_by_one(base, 20), 4200.0),
            ("doubling", LayerTable::doubling(base, 20), 1e7),
            ("multiplicative, 1.3", LayerTable::multiplicative(1.3, base, 20), 2900.0),
        ]
    };
    Figure {
        label: Label::Other("IV-A, structures"),
        title: "The cumulative rates of 20 layers",
        section: "IV-A",
        kind: Kind::Analytic,
        panels: Box::new(move |_| {
            let curve = |(index, (name, table, _)): (usize, (&str, Result<LayerTable, _>, f64))| {
                let table: Option<LayerTable> = table.ok();
                let points = table.iter().flat_map(|table| {
                    table.layers().map(move |layer| (f64::from(layer.0), table.cumulative(layer).as_kbps()))
                });
                Curve::exact(name, Style::Dots(index + 1), points)
            };
            let curves = tables().into_iter().enumerate().map(curve).collect();
            vec![panel("Cumulative rate in kbit/s", "level", curves).by_factors_up()]
        }),
        supplies: vec![Supply::new(move |_, _| {
            let position = |(name, table, says): (&str, Result<LayerTable, _>, f64)| {
                let table: Option<LayerTable> = table.ok();
                at(name, Samples(vec![table.map(|table| table.top_rate().as_kbps() / says)]))
            };
            Measurements::of("Top rate over that of the paper", tables().into_iter().map(position).collect())
        })],
    }
}

fn counted(slot: usize) -> f64 {
    let mut counter = ReverseCounter::new(1, 4);
    counter.advance(slot as u64);
    counter.value()
}

fn named(slot: usize) -> f64 {
    signal(&RISES, counted(slot)).map_or(-1.0, f64::from)
}

fn table() -> Figure {
    Figure {
        label: Label::Other("Table I"),
        title: "Signals of the first eight slots (examples 3 and 4)",
        section: "IV-C",
        kind: Kind::Trace,
        panels: Box::new(|_| {
            let slots = || (0..TABLE.len()).map(|slot| slot as f64 + 1.0);
            let values = slots().map(|slot| (slot, counted(slot as usize - 1)));
            let signals = slots().map(|slot| (slot, named(slot as usize - 1)));
            vec![
                panel("Value of the counter", "slot", vec![Curve::exact(VALUE, Style::Dots(1), values)]),
                panel("Increase signal", "slot", vec![Curve::exact(SIGNAL, Style::Dots(2), signals)]),
            ]
        }),
        supplies: vec![
            Supply::new(|_, _| {
                let pairs = TABLE.iter().enumerate().map(|(slot, (value, _))| (counted(slot), *value));
                Measurements::of("Counter, off by", difference(pairs))
            }),
            Supply::new(|_, _| {
                let pairs = TABLE.iter().enumerate().map(|(slot, (_, name))| (named(slot), f64::from(*name)));
                Measurements::of("Signals, off by", difference(pairs))
            }),
            Supply::new(|_, _| {
                let value = ReverseCounter::new(0b01_0011, 6).value();
                Measurements::of("Example 3, off by", difference([(value, 0.781_25)]))
            }),
        ],
    }
}
