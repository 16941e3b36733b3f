//! An emulation as the laboratory measures it.

use std::time::Instant;

use layercast_core::units::{Duration, Time};
use layercast_laboratory::results::Lateness;
use layercast_laboratory::run::{RunError, Running, WorldFlow};
use layercast_simulator::Simulation;

use super::endpoints::Endpoints;
use super::traffic::Traffic;
use crate::emulation::Emulation;
use layercast_simulator::outside::Foreign;

/// How often it is looked whether all processes still run.
const TICK: Duration = Duration::from_ms(500);

/// An emulation with all that runs in its hosts. The fields are dropped in this order.
pub(super) struct Emulated {
    traffic: Traffic,
    endpoints: Endpoints,
    emulation: Emulation,
    limit: Duration,
    at: Time,
}

impl Emulated {
    /// Starts the clock.
    ///
    /// # Errors
    /// What the system does not allow, and processes that are gone.
    pub(super) fn start(
        mut emulation: Emulation,
        mut endpoints: Endpoints,
        mut traffic: Traffic,
        limit: Duration,
    ) -> Result<Emulated, RunError> {
        let begun = Instant::now();
        emulation.start();
        traffic.begin(begun).map_err(RunError::Outside)?;
        endpoints.begin(begun).map_err(RunError::Outside)?;
        Ok(Emulated { traffic, endpoints, emulation, limit, at: Time::ZERO })
    }
}

fn outside(error: crate::Error) -> RunError {
    RunError::Outside(error.to_string())
}

impl Running<Foreign> for Emulated {
    fn simulation(&self) -> &Simulation<Foreign> {
        self.emulation.simulation()
    }

    fn simulation_mut(&mut self) -> &mut Simulation<Foreign> {
        self.emulation.simulation_mut()
    }

    fn run_until(&mut self, end: Time, flows: &mut [WorldFlow]) -> Result<(), RunError> {
        // Also where no time passes.
        loop {
            self.at = (self.at + TICK).min(end);
            self.emulation.run_until(self.at).map_err(outside)?;
            self.endpoints.check().map_err(RunError::Outside)?;
            self.traffic.check().map_err(RunError::Outside)?;
            if self.at >= end {
                break;
            }
        }
        self.traffic.update(self.emulation.simulation(), flows);
        Ok(())
    }

    fn lateness(&mut self) -> Option<Lateness> {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let lateness = self.emulation.lateness();
        Some(Lateness {
            packets: lateness.deliveries.count(),
            median_ms: ms(lateness.deliveries.quantile(0.5)),
            p99_ms: ms(lateness.deliveries.quantile(0.99)),
            largest_ms: ms(lateness.deliveries.most()),
            intake_p99_ms: ms(lateness.turns.quantile(0.99)),
            overruns: lateness.overruns,
            limit_ms: ms(self.limit),
        })
    }
}
