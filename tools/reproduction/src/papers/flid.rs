//! The FLID-DL paper (Byers, Horn, Luby, Mitzenmacher, Shaver 2002).

pub(crate) mod coordination;
mod equations;
mod factor;
mod fairness;
mod open_points;
mod paths;
mod readings;
mod shapes;
mod signals;
mod static_layers;
mod studies;

use crate::frame::figure::{Paper, Read, Variant};
use crate::readings::rhythm::Reading;

/// All that is regenerated.
pub(crate) fn paper() -> Paper {
    let mut figures = Vec::new();
    figures.extend(signals::figures());
    figures.extend(equations::figures());
    figures.extend(factor::figures());
    figures.extend(readings::figures());
    figures.push(static_layers::figure());
    figures.push(coordination::figure());
    figures.extend(paths::figures());
    figures.extend(fairness::figures());
    figures.sort_by_key(|figure| figure.label);
    let variant = |name, with, of, by| Variant { name, with, replaced: vec![(of, by)] };
    Paper {
        name: "flid",
        title: "The FLID-DL paper",
        claims: include_str!("../../claims/flid-dl.toml"),
        prose: include_str!("../../claims/flid-dl.txt"),
        studies: studies::all(),
        readings: vec![
            Read { primary: Reading::Together, in_all: true, studies: studies::JUDGED.to_vec() },
            Read { primary: Reading::Together, in_all: false, studies: studies::COMPARED.to_vec() },
        ],
        variants: vec![
            variant("one-way", "joins that take a one-way delay", "factor", "factor-one-way"),
            variant("hill-climbing", "shares by hill climbing", "factor", "factor-hill-climbing"),
            variant("red", "RED at the bottleneck", "factor", "factor-red"),
            variant("four-red", "RED before four sessions", "four-sessions", "four-sessions-red"),
            variant("sack", "TCP SACK", "beside-tcp", "beside-tcp-sack"),
        ],
        figures,
    }
}

#[cfg(test)]
mod tests;
