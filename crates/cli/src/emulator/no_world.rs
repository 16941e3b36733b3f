//! `layercast run --world emulated` where it does not exist.

use layercast_core::units::Duration;
use layercast_laboratory::run::{Outcome, RunRequest};
use layercast_laboratory::scenario::Scenario as Plan;

use crate::commands::Failure;

/// Says what is missing.
pub(crate) fn refuse(_plan: &Plan, _limit: Duration) -> Result<(), Failure> {
    Err(Failure::Input(
        "error: this program has no emulated world: it needs Linux, and the features `transport` and `emulator`"
            .to_owned(),
    ))
}

/// Not reached: [`refuse`] refuses before.
pub(crate) fn run(
    plan: &Plan,
    _request: &RunRequest,
    _limit: Duration,
    _progress: &dyn Fn(f64),
) -> Result<Outcome, Failure> {
    Err(Failure::Input(format!("error: {} cannot be emulated by this program", plan.name)))
}
