//! The unicast flows of a scenario as sockets of the kernel's.
//!
//! All sockets are made in the namespaces of their hosts and served by one thread, which sleeps until a socket is ready
//! or a flow has something to do. What a flow draws, it draws from the streams of the simulated world, so starts,
//! sizes and pauses are the same in both.

mod tcp;
mod udp;
mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};
use layercast_laboratory::results::TrafficKind;
use layercast_laboratory::run::{OutsideFlow, WorldFlow, WorldFlowId, outside};
use layercast_laboratory::scenario::{DemandPlan, Distribution, FlowPlan as Plan, Scenario, Traffic as What};
use layercast_simulator::{CallDelays, ForeignPath, Simulation, UdpSource};

use self::tcp::TcpFlow;
use self::udp::UdpFlow;
use super::hosts::{Hosts, Use, uses_ecn};
use super::refusal::congestion_control;
use crate::emulation::{Emulation, FlowPlan};
use crate::error::Error;
use crate::packet::protocol;
use layercast_simulator::outside::Foreign;

/// The first port of a sink; each flow has one.
const FIRST_PORT: u16 = 20_000;

/// What a flow has seen of itself.
#[derive(Clone, Debug, Default)]
struct Seen {
    transfers: u64,
    transfer_ns: u128,
    call: Option<CallDelays>,
}

/// A flow as its thread serves it.
enum Flow {
    Tcp(TcpFlow),
    Udp(UdpFlow),
}

/// When a flow starts and stops.
#[derive(Clone, Copy, Debug)]
struct Life {
    start: Time,
    stop: Option<Time>,
}

/// A flow, its life and what it has seen.
struct Served {
    name: String,
    life: Life,
    flow: Flow,
    seen: Arc<Mutex<Seen>>,
}

/// Transfers that start by themselves on whichever of their flows is free.
struct Arrivals {
    gap: Distribution,
    stream: Stream,
    life: Life,
    flows: Vec<usize>,
    /// Starts that found no flow free.
    waiting: u64,
}

/// The unicast flows of a replication.
pub(super) struct TrafficPlan {
    flows: Vec<Served>,
    arrivals: Vec<Arrivals>,
    known: Vec<Known>,
}

/// Where a flow is in the results and in the simulation.
struct Known {
    /// Its number among the flows of the world.
    flow: usize,
    path: ForeignPath,
    seen: Arc<Mutex<Seen>>,
}

/// Declares all flows to the emulation and adds them to those of the world.
///
/// # Errors
/// If the network does not connect their ends.
pub(super) fn plan(
    emulation: &mut Emulation,
    scenario: &Scenario,
    seed: u64,
    hosts: &Hosts,
    flows: &mut Vec<WorldFlow>,
) -> Result<TrafficPlan, Error> {
    let mut plan = TrafficPlan { flows: Vec::new(), arrivals: Vec::new(), known: Vec::new() };
    for table in &scenario.flows {
        plan.add_table(emulation, scenario, table, seed, hosts, flows)?;
    }
    Ok(plan)
}

impl TrafficPlan {
    fn add_table(
        &mut self,
        emulation: &mut Emulation,
        scenario: &Scenario,
        table: &Plan,
        seed: u64,
        hosts: &Hosts,
        flows: &mut Vec<WorldFlow>,
    ) -> Result<(), Error> {
        let ecn = uses_ecn(&table.traffic);
        let from = hosts.get(Use::of(table.from, ecn));
        // The flows to each node, in the order of the nodes.
        let mut to_nodes: Vec<(usize, Vec<usize>)> = Vec::new();
        for end in &table.to {
            let to = hosts.get(Use::of(end.node, ecn));
            let port = FIRST_PORT + (self.flows.len() % 40_000) as u16;
            let number = match &table.traffic {
                What::Tcp { .. } => protocol::TCP,
                What::Udp { .. } => protocol::UDP,
            };
            let declared = FlowPlan { from, to, protocol: number, from_port: None, to_port: Some(port) };
            let path = emulation.add_flow(declared)?;
            let (Some(sender), Some(sink)) = (emulation.host(from), emulation.host(to)) else { continue };
            let ends = Ends { from: sender.clone(), to: sink.clone(), port };
            let is_call = table.kind == Some(TrafficKind::Call);
            let flow = match &table.traffic {
                What::Tcp { options, demand } => {
                    let stream = Stream::new(seed, &format!("application/{}", end.flow));
                    let control = congestion_control(options.variant).unwrap_or("reno");
                    Flow::Tcp(TcpFlow::new(ends, options, control, demand.clone(), stream))
                }
                What::Udp { rate, packet_size, pauses } => {
                    let stream = Stream::new(seed, &format!("udp/{}", end.flow));
                    let source = UdpSource::new(*rate, *packet_size, *pauses, is_call, stream);
                    Flow::Udp(UdpFlow::new(ends, source, *packet_size, is_call))
                }
            };
            let seen =
                Arc::new(Mutex::new(Seen { call: is_call.then(CallDelays::default), ..Seen::default() }));
            match to_nodes.last_mut().filter(|(node, _)| *node == end.node) {
                Some((_, numbers)) => numbers.push(self.flows.len()),
                None => to_nodes.push((end.node, vec![self.flows.len()])),
            }
            let life = Life { start: outside::flow_start(table, end, seed), stop: table.stop };
            self.known.push(Known { flow: flows.len(), path, seen: Arc::clone(&seen) });
            self.flows.push(Served { name: end.flow.clone(), life, flow, seen });
            let links = emulation.simulation().foreign_path(path).to_vec();
            let known = OutsideFlow { links, ..OutsideFlow::default() };
            let outside = Some(Box::new(known));
            flows.push(WorldFlow { id: WorldFlowId::Outside, start: life.start, has_object: false, outside });
        }
        if let What::Tcp { demand: DemandPlan::Arrivals { gap, .. }, .. } = &table.traffic {
            let life = Life { start: outside::arrivals_start(table, seed), stop: table.stop };
            let has_one_node = to_nodes.len() == 1;
            for (node, numbers) in to_nodes {
                let node = scenario.nodes.get(node).map_or("", String::as_str);
                let name = if has_one_node { table.name.clone() } else { format!("{}@{node}", table.name) };
                let stream = Stream::new(seed, &format!("arrivals/{name}"));
                self.arrivals.push(Arrivals { gap: *gap, stream, life, flows: numbers, waiting: 0 });
            }
        }
        Ok(())
    }
}

/// The hosts of a flow and the port of its sink.
#[derive(Clone, Debug)]
struct Ends {
    from: crate::Host,
    to: crate::Host,
    port: u16,
}

impl Ends {
    /// Where the sink is.
    fn address(&self) -> socket2::SockAddr {
        std::net::SocketAddrV4::new(self.to.ipv4(), self.port).into()
    }
}

/// The unicast flows while they run. When it is dropped, they end.
pub(super) struct Traffic {
    known: Vec<Known>,
    begin: Option<Sender<Instant>>,
    stop: Arc<AtomicBool>,
    failures: Receiver<String>,
    thread: Option<JoinHandle<()>>,
}

impl Traffic {
    /// Opens the sinks and starts the thread, which waits for the beginning.
    ///
    /// # Errors
    /// Which socket could not be made, and why.
    pub(super) fn open(plan: TrafficPlan) -> Result<Traffic, String> {
        let TrafficPlan { flows, arrivals, known } = plan;
        let (begin, begins) = channel();
        let (failed, failures) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        if flows.is_empty() {
            return Ok(Traffic { known, begin: None, stop, failures, thread: None });
        }
        let mut worker = worker::Worker::open(flows, arrivals, Arc::clone(&stop))?;
        let thread = std::thread::Builder::new().name("traffic".to_owned()).spawn(move || {
            // Without a beginning the run has failed.
            let Ok(begun) = begins.recv() else { return };
            if let Err(reason) = worker.run(begun) {
                let _ = failed.send(reason);
            }
        });
        let thread = thread.map_err(|error| format!("a thread cannot be started: {error}"))?;
        Ok(Traffic { known, begin: Some(begin), stop, failures, thread: Some(thread) })
    }

    /// The run begins.
    ///
    /// # Errors
    /// If the thread is gone.
    pub(super) fn begin(&mut self, begun: Instant) -> Result<(), String> {
        match self.begin.take() {
            Some(begin) => begin.send(begun).map_err(|_| "the thread of unicast flows has ended".to_owned()),
            None => Ok(()),
        }
    }

    /// Whether all is well.
    ///
    /// # Errors
    /// Why a flow cannot go on.
    pub(super) fn check(&self) -> Result<(), String> {
        self.failures.try_recv().map_or(Ok(()), Err)
    }

    /// Brings the flows of the world up to date.
    pub(super) fn update(&self, simulation: &Simulation<Foreign>, flows: &mut [WorldFlow]) {
        for known in &self.known {
            let Some(outside) = flows.get_mut(known.flow).and_then(|flow| flow.outside.as_mut()) else {
                continue;
            };
            let seen = known.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            outside.counters = simulation.tcp_counters(known.path.as_tcp());
            outside.counters.transfers = seen.transfers;
            outside.counters.transfer_ns = seen.transfer_ns;
            outside.call.clone_from(&seen.call);
        }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.begin = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Draws a time.
fn draw(distribution: &Distribution, stream: &mut Stream) -> Duration {
    Duration::from_secs_f64(distribution.draw(stream))
}
