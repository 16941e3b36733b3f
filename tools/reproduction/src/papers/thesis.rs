//! Colussi's thesis (2004): chapters 4 and 5, the made-up figures of section 6.1, the simulations of section 6.3.

mod equations;
mod grid;
mod lossy;
mod management;
mod shared;
mod simulations;
mod slices;
mod virtual_packets;

use crate::frame::figure::{Paper, Read};
use crate::readings::rhythm::Reading;

/// All that is regenerated.
pub(crate) fn paper() -> Paper {
    let mut figures = Vec::new();
    figures.extend(equations::figures());
    figures.extend(lossy::figures());
    figures.extend(shared::figures());
    figures.push(virtual_packets::figure());
    figures.extend(management::figures());
    figures.extend(simulations::figures());
    figures.sort_by_key(|figure| figure.label);
    Paper {
        name: "thesis",
        title: "Colussi's thesis",
        claims: include_str!("../../claims/thesis.toml"),
        prose: include_str!("../../claims/thesis.txt"),
        studies: [vec![grid::lossy_study(), grid::shared_study()], simulations::studies()].concat(),
        readings: vec![
            Read { primary: Reading::Plain, in_all: true, studies: vec![grid::SHARED] },
            Read { primary: Reading::Together, in_all: true, studies: simulations::COMPETITION.to_vec() },
            Read { primary: Reading::Together, in_all: false, studies: vec![simulations::BURST_STUDY] },
        ],
        variants: Vec::new(),
        figures,
    }
}

#[cfg(test)]
mod tests;
