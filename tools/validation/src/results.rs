//! What all sections measured.

use serde::Serialize;

use crate::{constant, exact, random_loss, shared};

/// All measurements.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) random_loss: random_loss::Outcome,
    pub(crate) shared: shared::Outcome,
    pub(crate) constant: constant::Outcome,
    pub(crate) exact: Vec<exact::Result>,
}
