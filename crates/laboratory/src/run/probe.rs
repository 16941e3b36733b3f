//! Probes: sampling links and flows between the steps of a run.

use layercast_core::contract::GaugeKind;
use layercast_core::family::Family;
use layercast_core::units::{Duration, Time};
use layercast_simulator::{LinkId, Simulation, TcpId};

use super::levels;
use super::values::{counters, kbps_or_nan};
use super::world::{World, WorldFlow, WorldFlowId};
use crate::scenario::{ProbePlan, Quantity, Scenario, Subject};

/// All probes of a replication and their samples.
pub(super) struct Probes<'s> {
    probes: Vec<Probe<'s>>,
    duration: Duration,
}

struct Probe<'s> {
    plan: &'s ProbePlan,
    /// The time of the next sample.
    next: Time,
    /// The counts up to the last sample, by quantity.
    counted: Vec<u64>,
    values: Vec<Vec<f64>>,
}

impl<'s> Probes<'s> {
    pub(super) fn new(scenario: &'s Scenario) -> Probes<'s> {
        let probe = |plan: &'s ProbePlan| Probe {
            plan,
            next: Time::ZERO + plan.every,
            counted: vec![0; plan.what.len()],
            values: vec![Vec::new(); plan.what.len()],
        };
        Probes { probes: scenario.probes.iter().map(probe).collect(), duration: scenario.duration }
    }

    /// The time of the next sample of any probe, if it is within the run.
    pub(super) fn next(&self) -> Option<Time> {
        let next = self.probes.iter().map(|probe| probe.next).min();
        next.filter(|&next| next.since(Time::ZERO) <= self.duration)
    }

    /// Samples all probes that are due.
    pub(super) fn sample<F: Family>(&mut self, world: &World<F>, now: Time) {
        for probe in self.probes.iter_mut().filter(|probe| probe.next == now) {
            probe.sample(world, now);
            probe.next = now + probe.plan.every;
        }
    }

    /// The samples: by probe, then by quantity.
    pub(super) fn into_values(self) -> Vec<Vec<Vec<f64>>> {
        self.probes.into_iter().map(|probe| probe.values).collect()
    }
}

impl Probe<'_> {
    fn sample<F: Family>(&mut self, world: &World<F>, now: Time) {
        let every_s = self.plan.every.as_secs_f64();
        for ((&what, counted), values) in self.plan.what.iter().zip(&mut self.counted).zip(&mut self.values) {
            let mut gained = |count: u64| {
                let gained = count.saturating_sub(*counted);
                *counted = count;
                gained as f64
            };
            let value = match self.plan.subject {
                Subject::Link(link) => {
                    of_link(world.simulation(), world.links[link], what, every_s, &mut gained)
                }
                Subject::Flow(flow) => {
                    let flow = &world.flows[flow];
                    let value = of_flow(world.simulation(), flow, what, now, every_s, &mut gained);
                    // A flow that does not exist yet has no values.
                    if now < flow.start { f64::NAN } else { value }
                }
            };
            values.push(value);
        }
    }
}

fn of_link<F: Family>(
    simulation: &Simulation<F>,
    link: LinkId,
    what: Quantity,
    every_s: f64,
    gained: &mut impl FnMut(u64) -> f64,
) -> f64 {
    let (queue, counters) = (simulation.queue_state(link), simulation.link_counters(link));
    match what {
        Quantity::QueuePackets => queue.packets as f64,
        Quantity::QueueBytes => queue.bytes as f64,
        Quantity::QueueAverage => queue.average.unwrap_or(f64::NAN),
        Quantity::Sent => gained(counters.bytes) * 8.0 / every_s / 1e3,
        Quantity::Drops => gained(counters.queue_drops + counters.losses),
        Quantity::Marks => gained(counters.marks),
        // The scenario reader accepts nothing else for a link.
        _ => f64::NAN,
    }
}

fn of_flow<F: Family>(
    simulation: &Simulation<F>,
    flow: &WorldFlow,
    what: Quantity,
    now: Time,
    every_s: f64,
    gained: &mut impl FnMut(u64) -> f64,
) -> f64 {
    if what == Quantity::Throughput {
        return gained(counters(simulation, flow).received_bytes) * 8.0 / every_s / 1e3;
    }
    match flow.id {
        WorldFlowId::Tcp(id) => of_tcp(simulation, id, what),
        // The scenario reader accepts only the throughput of a constant-rate flow.
        WorldFlowId::Udp(_) => f64::NAN,
        WorldFlowId::Outside => {
            let known = flow.outside();
            let value = match what {
                Quantity::Cwnd => known.and_then(|known| known.cwnd),
                Quantity::Ssthresh => known.and_then(|known| known.ssthresh),
                _ => None,
            };
            value.unwrap_or(f64::NAN)
        }
        WorldFlowId::Receiver(id) => {
            let estimates = simulation.receiver_estimates(id);
            match what {
                Quantity::Level => f64::from(levels::level_at(simulation.level_changes(id), now).as_number()),
                Quantity::Rate => kbps_or_nan(estimates.rate),
                Quantity::SmoothedRate => kbps_or_nan(estimates.smoothed_rate),
                Quantity::Loss => estimates.loss.unwrap_or(f64::NAN),
                Quantity::Rtt => estimates.rtt.map_or(f64::NAN, |rtt| rtt.as_secs_f64() * 1e3),
                Quantity::Gauge(gauge) => {
                    let value = if gauge.is_source {
                        simulation.source_gauge(id, gauge.index)
                    } else {
                        simulation.receiver_gauge(id, gauge.index)
                    };
                    let is_count = gauge.spec.kind == GaugeKind::Count;
                    let shown = |value| if is_count { gained(value as u64) } else { value };
                    value.map_or(f64::NAN, shown)
                }
                // The scenario reader accepts nothing else for a receiver.
                _ => f64::NAN,
            }
        }
    }
}

fn of_tcp<F: Family>(simulation: &Simulation<F>, id: TcpId, what: Quantity) -> f64 {
    let Some(state) = simulation.tcp_state(id) else { return f64::NAN };
    match what {
        Quantity::Cwnd => state.cwnd,
        Quantity::Ssthresh => state.ssthresh as f64,
        Quantity::Flight => (state.highest_sent - state.highest_ack) as f64,
        // The scenario reader accepts nothing else for a connection.
        _ => f64::NAN,
    }
}
