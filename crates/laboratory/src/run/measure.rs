//! Running a world step by step and reading its counters after each.

use std::ops::ControlFlow;

use layercast_core::family::Family;
use layercast_core::units::Time;
use layercast_simulator::tcp::TcpLimits;
use layercast_simulator::{
    DelayHistogram, FlowCounters, LinkCounters, Memberships, ObjectProgress, Simulation,
};

use super::RunError;
use super::applications::Application;
use super::completions::{Completions, before};
use super::growth::Growth;
use super::levels;
use super::limits::shares;
use super::loss_events::LossEvents;
use super::movement::FairLevels;
use super::observe::Observer;
use super::probe::Probes;
use super::queue_delays::QueueDelays;
use super::values::{counters, kbps_or_nan};
use super::world::{World, WorldFlow, WorldFlowId};
use crate::results::{
    EngineMeasures, FlowMeasures, FlowSeries, LinkMeasures, ObjectMeasures, QueueDelay, Replication, Series,
    WindowMeasures,
};
use crate::scenario::{Scenario, Window};

/// How many steps a replication takes: one for each bin of the time series.
pub fn step_count(scenario: &Scenario) -> usize {
    bin_ends(scenario).len()
}

fn bin_ends(scenario: &Scenario) -> Vec<Time> {
    let (duration, bin) = (scenario.duration.as_ns(), scenario.series_bin.as_ns().max(1));
    let count = duration.div_ceil(bin);
    (1..=count).map(|number| Time::from_ns((number * bin).min(duration))).collect()
}

/// The counters of all flows and links at one moment.
#[derive(Clone, Default)]
struct Snapshot {
    flows: Vec<FlowCounters>,
    links: Vec<LinkCounters>,
    /// The capacity of each link so far, in bytes, if its rate changes.
    capacities: Vec<Option<f64>>,
    /// How long each queue had which delay so far.
    delays: Vec<Option<DelayHistogram>>,
    /// How often each flow has asked for channels.
    asked: Vec<Memberships>,
    /// What has limited each flow that is a TCP.
    limits: Vec<TcpLimits>,
    applications: Vec<Application>,
}

impl Snapshot {
    fn take<F: Family>(world: &World<F>) -> Snapshot {
        let simulation = world.simulation();
        Snapshot {
            flows: world.flows.iter().map(|flow| counters(simulation, flow)).collect(),
            links: world.links.iter().map(|&link| simulation.link_counters(link)).collect(),
            delays: world.links.iter().map(|&link| simulation.link_delay_histogram(link).cloned()).collect(),
            capacities: world.links.iter().map(|&link| simulation.link_capacity_bytes(link)).collect(),
            asked: world.flows.iter().map(|flow| asked(simulation, flow)).collect(),
            limits: world.flows.iter().map(|flow| limits(simulation, flow)).collect(),
            applications: world.flows.iter().map(|flow| Application::of(simulation, flow)).collect(),
        }
    }
}

fn asked<F: Family>(simulation: &Simulation<F>, flow: &WorldFlow) -> Memberships {
    match flow.id {
        WorldFlowId::Receiver(id) => simulation.memberships(id),
        _ => Memberships::default(),
    }
}

fn limits<F: Family>(simulation: &Simulation<F>, flow: &WorldFlow) -> TcpLimits {
    match flow.id {
        WorldFlowId::Tcp(id) => simulation.tcp_limits(id),
        _ => TcpLimits::default(),
    }
}

/// Runs the world to its end and measures it. Calls `step` after each bin, which may stop it.
pub(super) fn measure<F: Family>(
    scenario: &Scenario,
    world: &mut World<F>,
    observer: &mut Observer,
    step: &dyn Fn() -> ControlFlow<()>,
) -> Result<Replication, RunError> {
    let bins = bin_ends(scenario);
    let edges = || scenario.windows.iter().flat_map(|window| [window.start, window.end]);
    let mut stops: Vec<Time> = bins.iter().copied().chain(edges()).collect();
    stops.sort_unstable();
    stops.dedup();

    let mut queue_delays = QueueDelays::new(world);
    let mut series = Series { flows: vec![FlowSeries::default(); world.flows.len()], ..Series::default() };
    let mut at_edges: Vec<(Time, Snapshot)> = vec![(Time::ZERO, Snapshot::take(world))];
    let mut received_before = vec![0; world.flows.len()];
    let (mut next_bin, mut bin_start) = (0, Time::ZERO);
    let mut probes = Probes::new(scenario);
    let mut growth = Growth::new(scenario);
    let mut losses = LossEvents::start(world);
    let mut completions = Completions::new(world.flows.len());
    for stop in stops {
        while let Some(look) = probes.next().filter(|&look| look <= stop) {
            growth.run_until(world, look)?;
            probes.sample(world, look);
        }
        growth.run_until(world, stop)?;
        observer.collect(world)?;
        losses.collect(world);
        completions.observe(world, stop);
        if edges().any(|edge| edge == stop) {
            at_edges.push((stop, Snapshot::take(world)));
        }
        if bins.get(next_bin) == Some(&stop) {
            let bin = Window { start: bin_start, end: stop };
            record_bin(world, &bin, &completions, &mut received_before, &mut series);
            queue_delays.record(world, next_bin, stop.since(bin_start));
            (next_bin, bin_start) = (next_bin + 1, stop);
            if step().is_break() {
                return Err(RunError::Stopped);
            }
        }
    }
    losses.finish(world);
    series.queue_delay_ms = queue_delays.into_series(bins.len());
    let fair = FairLevels::new(scenario, &series);
    let windows = scenario
        .windows
        .iter()
        .map(|window| {
            let mut measures = measure_window(world, scenario, window, &completions, &at_edges);
            let (start, end) = (at_edge(&at_edges, window.start), at_edge(&at_edges, window.end));
            let asked = completions.asked(window, &start.asked, &end.asked);
            fair.add_movement(world, window, &completions, &asked, &losses, &mut measures);
            let limits = end.limits.iter().zip(&start.limits).map(|(end, start)| end.since(*start));
            for ((flow, limits), measures) in world.flows.iter().zip(limits).zip(&mut measures.flows) {
                measures.limited = matches!(flow.id, WorldFlowId::Tcp(_)).then(|| shares(limits));
            }
            let applications = end.applications.iter().zip(&start.applications);
            for ((end, start), measures) in applications.zip(&mut measures.flows) {
                end.measure(start, measures);
            }
            measures
        })
        .collect();
    let engine = world.simulation().engine_counters();
    Ok(Replication {
        number: 0,
        windows,
        series,
        probes: probes.into_values(),
        paths: Vec::new(),
        lateness: world.running.lateness(),
        engine: EngineMeasures { events: engine.events, packet_hops: engine.packet_hops, cpu_s: 0.0 },
    })
}

fn record_bin<F: Family>(
    world: &World<F>,
    bin: &Window,
    completions: &Completions,
    before: &mut [u64],
    series: &mut Series,
) {
    let simulation = world.simulation();
    let (now, length_s) = (bin.end, bin.end.since(bin.start).as_secs_f64());
    for ((index, flow), (before, series)) in
        world.flows.iter().enumerate().zip(before.iter_mut().zip(&mut series.flows))
    {
        let received = counters(simulation, flow).received_bytes;
        let kbps = (received - *before) as f64 * 8.0 / length_s / 1e3;
        *before = received;
        let is_measured = completions.part(index, bin).is_some();
        series.throughput_kbps.push(if now < flow.start || !is_measured { f64::NAN } else { kbps });
        match flow.id {
            // What a receiver estimated last is no estimate of what follows.
            WorldFlowId::Receiver(_) if completions.of(index).is_some() => {
                series.level.push(None);
                let estimates = [&mut series.rate_kbps, &mut series.smoothed_rate_kbps];
                let estimates = estimates.into_iter().chain([&mut series.loss, &mut series.rtt_ms]);
                estimates.for_each(|values| values.push(f64::NAN));
            }
            WorldFlowId::Receiver(id) => {
                let estimates = simulation.receiver_estimates(id);
                let level = levels::level_at(simulation.level_changes(id), now);
                series.level.push((now >= flow.start).then_some(level.as_number()));
                series.rate_kbps.push(kbps_or_nan(estimates.rate));
                series.smoothed_rate_kbps.push(kbps_or_nan(estimates.smoothed_rate));
                series.loss.push(estimates.loss.unwrap_or(f64::NAN));
                series.rtt_ms.push(estimates.rtt.map_or(f64::NAN, |rtt| rtt.as_secs_f64() * 1e3));
            }
            WorldFlowId::Tcp(id) => {
                let cwnd = simulation.tcp_state(id).map_or(f64::NAN, |state| state.cwnd);
                series.cwnd_packets.push(if now < flow.start { f64::NAN } else { cwnd });
            }
            WorldFlowId::Outside => {
                let cwnd = flow.outside().and_then(|known| known.cwnd).filter(|_| now >= flow.start);
                series.cwnd_packets.push(cwnd.unwrap_or(f64::NAN));
            }
            WorldFlowId::Udp(_) => {}
        }
    }
}

/// The counters at an edge of a window.
fn at_edge(at_edges: &[(Time, Snapshot)], at: Time) -> &Snapshot {
    // The first is from the run's start, before which there is no edge.
    let found = at_edges.partition_point(|(time, _)| *time <= at).saturating_sub(1);
    &at_edges[found].1
}

fn measure_window<F: Family>(
    world: &World<F>,
    scenario: &Scenario,
    window: &Window,
    completions: &Completions,
    at_edges: &[(Time, Snapshot)],
) -> WindowMeasures {
    let (start, end) = (at_edge(at_edges, window.start), at_edge(at_edges, window.end));
    let length_s = window.end.since(window.start).as_secs_f64();
    let flows = world
        .flows
        .iter()
        .enumerate()
        .zip(start.flows.iter().zip(&end.flows))
        .map(|((index, flow), (start, end))| {
            let mut measures = match completions.part(index, window) {
                Some((part, done)) => {
                    let last = done.map_or(end, |done| &done.counters);
                    measure_flow(world, flow, &part, done.map(|done| done.until), start, last)
                }
                None => {
                    FlowMeasures { throughput_kbps: f64::NAN, loss_rate: f64::NAN, ..FlowMeasures::default() }
                }
            };
            let done = completions.of(index).filter(|done| done.until < window.end);
            measures.measured_until_s = done.map(|done| done.until.as_secs_f64());
            if let WorldFlowId::Receiver(id) = flow.id {
                // What comes when it has left comes on the links all the same.
                measures.late_kbps = Some(kbps(end.late_bytes - start.late_bytes, length_s));
                if flow.has_object {
                    add_object(&mut measures, world.simulation().object_progress(id), flow.start);
                }
            }
            measures
        })
        .collect();
    let rates = scenario.links.iter().flat_map(|link| [link.forward.rate, link.backward.rate]);
    let capacities = start.capacities.iter().zip(&end.capacities);
    let could_carry = rates.zip(capacities).map(|(rate, capacities)| match capacities {
        (Some(start), Some(end)) => (end - start) * 8.0,
        _ => rate.as_bps() * length_s,
    });
    let delays = start.delays.iter().zip(&end.delays);
    let links = could_carry
        .zip(start.links.iter().zip(&end.links))
        .zip(delays.zip(&world.links))
        .map(|((could_carry_bits, (start, end)), (delays, &id))| {
            let (bits, packets) = ((end.bytes - start.bytes) as f64 * 8.0, end.packets - start.packets);
            let capacity_kbps = share(could_carry_bits, length_s) / 1e3;
            LinkMeasures {
                utilisation: share(bits, could_carry_bits),
                drops: (end.queue_drops + end.losses) - (start.queue_drops + start.losses),
                losses: end.losses - start.losses,
                packets,
                marks: end.marks - start.marks,
                mean_queue_packets: (end.queue_packet_ns - start.queue_packet_ns) as f64 / 1e9 / length_s,
                window_s: length_s,
                capacity_kbps,
                propagation_ms: world.simulation().link_delay(id).as_secs_f64() * 1e3,
                transmission_ms: if packets > 0 { bits / packets as f64 / capacity_kbps } else { 0.0 },
                queue_delay: delays
                    .1
                    .as_ref()
                    .map(|end| Box::new(queue_delay(delays.0.as_ref(), end, length_s))),
            }
        })
        .collect();
    WindowMeasures { flows, links }
}

/// The delay of a queue over a window from its states at both ends.
fn queue_delay(start: Option<&DelayHistogram>, end: &DelayHistogram, length_s: f64) -> QueueDelay {
    let within = end.since(start);
    QueueDelay {
        mean_ms: within.integral() as f64 / 1e15 / length_s,
        held: within.bins().map(|(delay, time)| (delay.as_secs_f64() * 1e3, time.as_secs_f64())).collect(),
    }
}

/// A fraction of the total; NaN if that is zero.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

fn measure_flow<F: Family>(
    world: &World<F>,
    flow: &WorldFlow,
    window: &Window,
    until: Option<Time>,
    start: &FlowCounters,
    end: &FlowCounters,
) -> FlowMeasures {
    let length_s = window.end.since(window.start).as_secs_f64();
    let sent = end.sent_packets - start.sent_packets;
    let lost = end.lost_packets - start.lost_packets;
    let mut measures = FlowMeasures {
        throughput_kbps: kbps(end.received_bytes - start.received_bytes, length_s),
        loss_rate: if sent > 0 { lost as f64 / sent as f64 } else { f64::NAN },
        lost_packets: lost,
        ..FlowMeasures::default()
    };
    // A receiver of a session without end has no transfers, and its results do not report any.
    if let WorldFlowId::Tcp(_) | WorldFlowId::Receiver(_) | WorldFlowId::Outside = flow.id {
        let transfers = end.transfers - start.transfers;
        let took_s = (end.transfer_ns - start.transfer_ns) as f64 / 1e9;
        measures.transfers = Some(transfers as f64);
        measures.completion_s = (transfers > 0).then(|| took_s / transfers as f64);
    }
    if let WorldFlowId::Receiver(id) = flow.id {
        let changes = before(world.simulation().level_changes(id), until);
        measures.level_changes = Some(levels::joins_and_leaves(changes, window.end) as f64);
        measures.mean_level = Some(levels::mean_level(changes, window.start, window.end));
        measures.settled_after_s = levels::settled_after_s(changes, flow.start, window.end);
    }
    measures
}

fn kbps(bytes: u64, length_s: f64) -> f64 {
    bytes as f64 * 8.0 / length_s / 1e3
}

/// What a receiver has of the object at the end of the run.
fn add_object(measures: &mut FlowMeasures, progress: Option<ObjectProgress>, start: Time) {
    let Some(progress) = progress else { return };
    let since = |from: Time| progress.completed.map(|at| at.since(from).as_secs_f64());
    measures.completion_s = since(start);
    measures.object = Some(ObjectMeasures {
        received: (progress.packets as f64 / progress.needed.max(1) as f64).min(1.0),
        since_source_s: since(progress.source_start),
    });
}
