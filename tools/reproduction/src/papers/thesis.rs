//! Colussi's thesis (2004), chapters 4 and 5, and the made-up figures of section 6.1.

mod equations;
mod grid;
mod lossy;
mod management;
mod shared;
mod slices;
mod virtual_packets;

use crate::frame::figure::{Paper, Variant};

/// All that is regenerated.
pub(crate) fn paper() -> Paper {
    let mut figures = Vec::new();
    figures.extend(equations::figures());
    figures.extend(lossy::figures());
    figures.extend(shared::figures());
    figures.push(virtual_packets::figure());
    figures.extend(management::figures());
    figures.sort_by_key(|figure| figure.label);
    Paper {
        name: "thesis",
        title: "Figures of the thesis",
        preface: include_str!("thesis/preface.txt"),
        studies: vec![grid::lossy_study(), grid::shared_study(), grid::spread_study()],
        variants: vec![Variant {
            name: "spread",
            with: "random sending times",
            replaced: vec![("shared-link", "shared-link-spread")],
        }],
        figures,
    }
}

#[cfg(test)]
mod tests;
