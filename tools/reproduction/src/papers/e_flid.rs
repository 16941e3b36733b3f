//! The E-FLID-DL paper: Zhu, Ansari, Sahinoglu, Vetro and Sun, "Scalable Layered Multicast with Explicit
//! Congestion Notification" (2003), section 3, and what its open values do.

mod fairness;
mod grid;
mod lossy;
mod sensitivity;

use crate::frame::figure::{Paper, Read};
use crate::readings::rhythm::Reading;

/// All that is regenerated.
pub(crate) fn paper() -> Paper {
    let mut figures = vec![fairness::figure()];
    figures.extend(lossy::figures());
    figures.extend(sensitivity::figures());
    let mut studies = fairness::studies();
    studies.extend(lossy::studies());
    studies.extend(sensitivity::studies());
    Paper {
        name: "e-flid",
        title: "The E-FLID-DL paper",
        claims: include_str!("../../claims/e-flid-dl.toml"),
        prose: include_str!("../../claims/e-flid-dl.txt"),
        studies,
        readings: vec![
            Read { primary: Reading::Together, in_all: true, studies: vec![fairness::FLID] },
            Read { primary: Reading::Together, in_all: false, studies: sensitivity::read() },
        ],
        variants: Vec::new(),
        figures,
    }
}

#[cfg(test)]
mod tests;
