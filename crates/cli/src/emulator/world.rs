//! `layercast run --world emulated`.

use layercast_core::units::Duration;
use layercast_delivery::relay::message::Data;
use layercast_emulator::world::{self, WorldError, WorldOptions};
use layercast_laboratory::run::{Outcome, RunRequest};
use layercast_laboratory::scenario::Scenario as Plan;

use crate::commands::{Failure, counted};
use crate::emulator::endpoint;
use crate::output::complain;

fn options(limit: Duration) -> Result<WorldOptions<'static>, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::Other(anyhow::Error::msg(format!("the path of this program is not known: {error}")))
    })?;
    let read_relayed = |bytes: &[u8]| Data::read(bytes).map(|(data, length)| (data.channel, length));
    Ok(WorldOptions { program, check: &endpoint::check, read_relayed, limit })
}

/// Refuses a scenario that has what the emulated world has not.
pub(crate) fn refuse(plan: &Plan, limit: Duration) -> Result<(), Failure> {
    let checked = world::check(plan, &options(limit)?);
    checked.map_err(|refused| Failure::Input(format!("error: {refused}")))
}

/// Runs a scenario in the emulated world, and says before how long that takes.
pub(crate) fn run(
    plan: &Plan,
    request: &RunRequest,
    limit: Duration,
    progress: &dyn Fn(f64),
) -> Result<Outcome, Failure> {
    let each_s = plan.duration.as_secs_f64();
    complain(&format!(
        "Emulated in real time: {} of {}, {:.0} s in all.",
        counted(plan.replications as usize, "replication"),
        plan.duration,
        each_s * f64::from(plan.replications),
    ));
    world::run(plan, request, &options(limit)?, progress).map_err(|error| match error {
        WorldError::Refused(refused) => Failure::Input(format!("error: {refused}")),
        other => Failure::Other(anyhow::Error::msg(other.to_string())),
    })
}
