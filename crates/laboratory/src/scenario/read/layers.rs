//! Reads the layers of a session. What they come to is worked out by the protocol crate.

use layercast_core::layers::{LayerError, LayerTable, Scheme};
use layercast_core::units::Rate;

use super::context::Context;
use super::table::TableReader;
use crate::scenario::problems::Problem;
use crate::scenario::tables::LAYERS;

/// The fastest layers: whoever asks for more than a petabit per second has their number wrong.
const FASTEST_BPS: f64 = 1e15;

/// The most layers of a scheme that finds their number itself (FLID-DL paper, section V-A).
const MOST: u32 = 30;

/// Reads how layers are described, and checks that they make a structure.
pub(super) fn read(table: &TableReader<'_>, context: &mut Context<'_>) -> Option<LayerTable> {
    let name: String = table.get("scheme", context)?;
    // What finds the number of layers itself may be told the most.
    let finds = name == "multiplicative" && table.node("above").is_some();
    let (needed, optional): (&[&str], &[&str]) = match name.as_str() {
        "multiplicative" if finds => (&["base", "factor", "above"], &["count"]),
        "multiplicative" => (&["base", "factor", "count"], &["above"]),
        "heavy-tail" => (&["link", "count"], &[]),
        "explicit" => (&["rates"], &[]),
        "fractions" => (&["capacities", "fractions"], &[]),
        _ => (&["base", "count"], &[]),
    };
    for key in LAYERS.keys().filter(|key| *key != "scheme") {
        match (table.node(key), needed.contains(&key)) {
            (None, true) => table.missing(key, context),
            (Some(node), false) if !optional.contains(&key) => {
                let message = format!("the scheme \"{name}\" does not use `{key}`");
                let allowed = format!("it uses {}", needed.join(", "));
                context.problems.push(Problem::of(node, message).allowed(allowed));
            }
            _ => {}
        }
    }
    let count = |context: &mut Context<'_>| table.get::<u32>("count", context).map(|count| count as u16);
    let base = |context: &mut Context<'_>| table.get::<Rate>("base", context);
    let scheme = match name.as_str() {
        "multiplicative" => {
            let (base, factor) = (base(context), table.get("factor", context));
            if finds {
                let above = table.get("above", context);
                let most = if table.node("count").is_some() { count(context) } else { Some(MOST as u16) };
                Scheme::MultiplicativeAbove { base: base?, factor: factor?, above: above?, most: most? }
            } else {
                let count = count(context);
                Scheme::Multiplicative { base: base?, factor: factor?, count: count? }
            }
        }
        "heavy-tail" => {
            let (link, count) = (table.get("link", context), count(context));
            Scheme::HeavyTail { link: link?, count: count? }
        }
        "explicit" => Scheme::Explicit { rates: table.get("rates", context)? },
        "fractions" => {
            let (capacities, fractions) = (table.get("capacities", context), table.get("fractions", context));
            Scheme::Fractions { capacities: capacities?, fractions: fractions? }
        }
        other => {
            let (base, count) = (base(context), count(context));
            let (base, count) = (base?, count?);
            match other {
                "equal" => Scheme::Equal { base, count },
                "increase-by-one" => Scheme::IncreaseByOne { base, count },
                _ => Scheme::Doubling { base, count },
            }
        }
    };
    checked(table, &scheme, context)
}

/// The table of a scheme; a scheme without one is reported at the key that decides it.
fn checked(table: &TableReader<'_>, scheme: &Scheme, context: &mut Context<'_>) -> Option<LayerTable> {
    let (message, allowed) = match scheme.table() {
        Ok(layers) if layers.top_rate().as_bps() <= FASTEST_BPS => return Some(layers),
        Ok(layers) => {
            let (count, top) = (layers.count(), layers.top_rate().as_bps());
            (format!("with {count} layers the highest has {top:.3e} bit/s"), TOO_FAST)
        }
        // Rates that grow without end, or layers that vanish beside those below.
        Err(error @ LayerError::Rate { .. }) => (error.to_string(), TOO_FAST),
        Err(error) => (error.to_string(), "levels that rise"),
    };
    let node = ["count", "fractions", "rates", "scheme"].into_iter().find_map(|key| table.node(key));
    if let Some(node) = node {
        context.problems.push(Problem::of(node, message).allowed(allowed));
    }
    None
}

const TOO_FAST: &str = "layers of at most 1000000 Gbit/s";
