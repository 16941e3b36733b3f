//! Reads the layers of a session.

use layercast_core::layers::{LayerError, LayerTable, Phases, Scheme};
use layercast_core::units::Rate;

use super::context::Context;
use super::table::TableReader;
use crate::scenario::problems::Problem;
use crate::scenario::tables::{LAYERS, SchemeKind};

/// The fastest layers: more than a petabit per second is a mistake in the file.
const FASTEST_BPS: f64 = 1e15;

/// The most layers of a scheme that finds their number itself (FLID-DL paper, section V-A).
const MOST: u32 = 30;

/// Reads how layers are described, and checks that they make a structure.
pub(super) fn read(table: &TableReader<'_>, context: &mut Context<'_>) -> Option<LayerTable> {
    let kind: SchemeKind = table.choice("scheme", context)?;
    let name = kind.name();
    // What finds the number of layers itself may have a maximum.
    let finds = kind == SchemeKind::Multiplicative && table.node("above").is_some();
    let (needed, optional): (&[&str], &[&str]) = match kind {
        SchemeKind::Multiplicative if finds => (&["base", "factor", "above"], &["count"]),
        SchemeKind::Multiplicative => (&["base", "factor", "count"], &["above"]),
        SchemeKind::HeavyTail => (&["link", "count"], &[]),
        SchemeKind::Explicit => (&["rates"], &[]),
        SchemeKind::Fractions => (&["capacities", "fractions"], &[]),
        SchemeKind::Doubling | SchemeKind::Equal | SchemeKind::IncreaseByOne => (&["base", "count"], &[]),
    };
    for key in LAYERS.keys().filter(|key| !["scheme", "phases"].contains(key)) {
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
    let scheme = match kind {
        SchemeKind::Multiplicative => {
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
        SchemeKind::HeavyTail => {
            let (link, count) = (table.get("link", context), count(context));
            Scheme::HeavyTail { link: link?, count: count? }
        }
        SchemeKind::Explicit => Scheme::Explicit { rates: table.get("rates", context)? },
        SchemeKind::Fractions => {
            let (capacities, fractions) = (table.get("capacities", context), table.get("fractions", context));
            Scheme::Fractions { capacities: capacities?, fractions: fractions? }
        }
        SchemeKind::Equal => {
            let (base, count) = (base(context), count(context));
            Scheme::Equal { base: base?, count: count? }
        }
        SchemeKind::IncreaseByOne => {
            let (base, count) = (base(context), count(context));
            Scheme::IncreaseByOne { base: base?, count: count? }
        }
        SchemeKind::Doubling => {
            let (base, count) = (base(context), count(context));
            Scheme::Doubling { base: base?, count: count? }
        }
    };
    let phases: Option<Phases> = table.choice("phases", context);
    checked(table, &scheme, context).map(|layers| layers.beginning(phases.unwrap_or_default()))
}

/// The table of a scheme; a scheme without one is reported at the key that decides it.
fn checked(table: &TableReader<'_>, scheme: &Scheme, context: &mut Context<'_>) -> Option<LayerTable> {
    let (message, allowed) = match scheme.table() {
        Ok(layers) if layers.top_rate().as_bps() <= FASTEST_BPS => return Some(layers),
        Ok(layers) => {
            let (count, top) = (layers.count(), layers.top_rate().as_bps());
            (format!("with {count} layers the highest has {top:.3e} bit/s"), TOO_FAST)
        }
        // Rates that grow without end, or layers that vanish against those below.
        Err(error @ (LayerError::Rate { .. } | LayerError::Overflow { .. })) => (error.to_string(), TOO_FAST),
        Err(error) => (error.to_string(), "levels that rise"),
    };
    let node = ["count", "fractions", "rates", "scheme"].into_iter().find_map(|key| table.node(key));
    if let Some(node) = node {
        context.problems.push(Problem::of(node, message).allowed(allowed));
    }
    None
}

const TOO_FAST: &str = "layers of at most 1000000 Gbit/s";
