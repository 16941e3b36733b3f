//! Queues without a limit that grow beyond what memory should hold: the run ends with an error.

use layercast_core::family::Family;
use layercast_core::units::{Duration, Rate, Time};

use super::RunError;
use super::world::World;
use crate::scenario::{QueueLimit, Scenario, Traffic};

/// The most packets that may wait in all queues together: with their headers about half a gigabyte.
const MOST_WAITING: usize = 4_000_000;

/// A queue has grown without end.
#[derive(Debug, thiserror::Error)]
#[error(
    "the queue of {link} has grown to {packets} packets at {at}, and what waits in all queues no longer fits: it never \
     drops and is offered more than it carries; give the link a queue with a limit, such as \
     `queue = {{ limit = \"100 packets\" }}`, or lower the load"
)]
pub struct UnboundedQueue {
    /// The direction of the link.
    pub link: String,
    /// How many packets wait there.
    pub packets: usize,
    /// When it was noticed.
    pub at: Time,
}

/// Watches the queues between the steps of a run.
pub(super) struct Growth<'s> {
    scenario: &'s Scenario,
    /// How far the run is.
    at: Time,
    /// How often it looks at least; none if no queue can grow.
    every: Option<Duration>,
}

impl<'s> Growth<'s> {
    /// For a run of a scenario from its start.
    pub(super) fn new(scenario: &'s Scenario) -> Growth<'s> {
        let mut directions = scenario.links.iter().flat_map(|link| [&link.forward, &link.backward]);
        let can_grow = directions.any(|direction| direction.queue.limit() == Some(QueueLimit::Unlimited));
        let every = can_grow.then(|| {
            // So that between two looks no more arrive than may wait in all.
            let every = Duration::from_secs_f64(MOST_WAITING as f64 / packets_per_s(scenario).max(1.0));
            every.max(Duration::from_us(100))
        });
        Growth { scenario, at: Time::ZERO, every }
    }

    /// Lets the world advance up to a time, in stretches if queues may grow.
    ///
    /// # Errors
    /// A queue has grown too long, or the world cannot go on.
    pub(super) fn run_until<F: Family>(&mut self, world: &mut World<F>, end: Time) -> Result<(), RunError> {
        let Some(every) = self.every else { return world.run_until(end) };
        // Even where no time passes: what happens at this instant belongs before it.
        loop {
            self.at = (self.at + every).min(end);
            world.run_until(self.at)?;
            self.check(world)?;
            if self.at >= end {
                return Ok(());
            }
        }
    }

    fn check<F: Family>(&self, world: &World<F>) -> Result<(), UnboundedQueue> {
        let waiting = || world.links.iter().map(|&link| world.simulation().queue_state(link).packets);
        if waiting().sum::<usize>() <= MOST_WAITING {
            return Ok(());
        }
        let (link, packets) = waiting().enumerate().max_by_key(|(_, packets)| *packets).unwrap_or_default();
        let link = self.scenario.link_names().into_iter().nth(link).unwrap_or_default();
        Err(UnboundedQueue { link, packets, at: self.at })
    }
}

/// How many packets all senders together may send in a second.
fn packets_per_s(scenario: &Scenario) -> f64 {
    let rates = scenario.links.iter().flat_map(|link| [link.forward.rate, link.backward.rate]);
    let fastest = rates.map(Rate::as_bps).fold(0.0, f64::max);
    let flows = scenario.flows.iter().map(|plan| {
        let (bps, size) = match &plan.traffic {
            Traffic::Udp { rate, packet_size, .. } => (rate.as_bps(), *packet_size),
            // Acknowledgements come at the rate of a link, and each lets at most two packets go.
            Traffic::Tcp { options, .. } => (2.0 * fastest, options.packet_size),
        };
        plan.to.len() as f64 * bps / size.as_bits().max(1) as f64
    });
    let sessions = scenario
        .sessions
        .iter()
        .map(|plan| plan.layers.top_rate().as_bps() / plan.packet_size.as_bits().max(1) as f64);
    flows.chain(sessions).sum()
}
