//! Wei and Zhang's report (2000): the trajectories of section III, the experiments of section IV.

mod choice;
mod fairness;
mod grid;
mod parameters;
mod trajectories;

use crate::frame::figure::Paper;

/// All that is regenerated.
pub(crate) fn paper() -> Paper {
    let mut figures = trajectories::figures();
    figures.extend(parameters::figures());
    figures.extend(fairness::figures());
    figures.push(choice::layers());
    figures.push(choice::table());
    figures.sort_by_key(|figure| figure.label);
    Paper {
        name: "wei-zhang",
        title: "Wei and Zhang's report",
        claims: include_str!("../../claims/wei-zhang.toml"),
        prose: include_str!("../../claims/wei-zhang.txt"),
        studies: grid::studies(),
        readings: grid::readings(),
        variants: Vec::new(),
        figures,
    }
}

#[cfg(test)]
mod tests;
