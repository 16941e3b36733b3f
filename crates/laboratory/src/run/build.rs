//! From the plan of a scenario to a simulation that is ready to run.

mod routers;

use std::collections::{BTreeMap, BTreeSet};

use layercast_core::family::{AnyProtocol as _, Family};
use layercast_core::session::{Rates, SessionPlan as Session};
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};
use layercast_simulator::{
    ArrivalsConfig, Demand, EcnField, Latency, LinkConfig, LinkId, Network, NodeId, ObjectConfig,
    ReceiverConfig, ReceiverList, SessionConfig, Simulation, TcpConfig, TcpId, UdpConfig,
};

use super::draws::{arrivals_start, draw_span, flow_start, receiver_start, session_start};
use super::world::{World, WorldFlow, WorldFlowId};
use super::{RunError, RunRequest};
use crate::results::{Experiment, FlowInfo, GroupInfo, LinkInfo, ProbeInfo, TrafficKind};
use crate::scenario::{
    self, DemandPlan, Draw, FlowPlan, LinkDirection, ProbePlan, Scenario, SessionPlan, Subject, Traffic,
};

/// Why a scenario that reads well cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The protocol is not of the family that is to be simulated.
    #[error(
        "session {session} runs {protocol}, which is not in the family that is simulated; run it with the family that it was read with"
    )]
    Family {
        /// The session.
        session: String,
        /// Its protocol.
        protocol: &'static str,
    },
}

/// What a session's data carries.
fn ecn_field(ecn: bool, is_scalable: bool) -> EcnField {
    match (ecn, is_scalable) {
        (false, _) => EcnField::NotCapable,
        (true, false) => EcnField::Classic,
        (true, true) => EcnField::Scalable,
    }
}

/// Builds the world of one replication.
pub(super) fn world<F: Family>(scenario: &Scenario, seed: u64) -> Result<World<F>, RunError> {
    let (network, nodes, links) = network(scenario, seed)?;
    let mut simulation = Simulation::new(network, seed);
    simulation.record_link_delays();
    for edge in &scenario.edges {
        simulation.set_edge(nodes[edge.node], edge.config);
    }
    let (mut flows, mut channels) = (Vec::new(), Vec::new());
    for session in &scenario.sessions {
        channels.push(add_session(scenario, session, seed, &nodes, &mut simulation, &mut flows)?);
    }
    schedule_crashes(scenario, &flows, &mut simulation);
    for flow in &scenario.flows {
        add_flows(flow, seed, &nodes, &scenario.nodes, &mut simulation, &mut flows)?;
    }
    Ok(World { running: Box::new(simulation), flows, links, channels })
}

/// Lets the hosts of edges crash. `flows` are those of the sessions.
fn schedule_crashes<F: Family>(scenario: &Scenario, flows: &[WorldFlow], simulation: &mut Simulation<F>) {
    let crashes: BTreeMap<usize, Time> =
        scenario.edges.iter().filter_map(|edge| Some((edge.node, edge.crash?))).collect();
    let places = scenario.sessions.iter().flat_map(|session| &session.receivers);
    for (flow, place) in flows.iter().zip(places) {
        if let (WorldFlowId::Receiver(id), Some(&at)) = (flow.id, crashes.get(&place.node)) {
            simulation.crash_receiver(id, at);
        }
    }
}

/// Adds the flows of one table and what starts their transfers, on its own to each node.
fn add_flows<F: Family>(
    plan: &FlowPlan,
    seed: u64,
    nodes: &[NodeId],
    node_names: &[String],
    simulation: &mut Simulation<F>,
    flows: &mut Vec<WorldFlow>,
) -> Result<(), RunError> {
    // The senders to each node, in the order of the nodes: `count` of one node follow each other.
    let mut senders: Vec<(usize, Vec<TcpId>)> = Vec::new();
    for place in &plan.to {
        let start = flow_start(plan, place, seed);
        let (from, to, stop, name) = (nodes[plan.from], nodes[place.node], plan.stop, place.flow.clone());
        let id = match &plan.traffic {
            &Traffic::Udp { rate, packet_size, pauses } => {
                let is_call = plan.kind == Some(TrafficKind::Call);
                let config = UdpConfig { from, to, rate, packet_size, pauses, is_call, start, stop, name };
                WorldFlowId::Udp(simulation.add_udp(config)?)
            }
            Traffic::Tcp { options, demand: plan } => {
                let (options, demand) = (options.clone(), demand(plan.clone()));
                let config = TcpConfig { from, to, options, demand, start, stop, name };
                let id = simulation.add_tcp(config)?;
                match senders.last_mut().filter(|(node, _)| *node == place.node) {
                    Some((_, ids)) => ids.push(id),
                    None => senders.push((place.node, vec![id])),
                }
                WorldFlowId::Tcp(id)
            }
        };
        flows.push(WorldFlow { id, start, has_object: false, outside: None });
    }
    if let &Traffic::Tcp { demand: DemandPlan::Arrivals { gap, .. }, .. } = &plan.traffic {
        let start = arrivals_start(plan, seed);
        let has_one_node = senders.len() == 1;
        for (node, flows) in senders {
            let node = node_names.get(node).map_or("", String::as_str);
            let name = if has_one_node { plan.name.clone() } else { format!("{}@{node}", plan.name) };
            simulation.add_arrivals(ArrivalsConfig { gap_s: gap, flows, start, stop: plan.stop, name });
        }
    }
    Ok(())
}

fn demand(plan: DemandPlan) -> Demand {
    match plan {
        DemandPlan::Transfers { size, gap } => Demand::Transfers { bytes: size, gap_s: Some(gap) },
        DemandPlan::Arrivals { size, .. } => Demand::Transfers { bytes: size, gap_s: None },
        DemandPlan::OnOff { on, off } => Demand::OnOff { on_s: on, off_s: off },
        DemandPlan::Pages(config) => Demand::Pages(config),
        DemandPlan::Player(config) => Demand::Player(config),
        DemandPlan::Endless => Demand::Endless,
    }
}

/// A network, its nodes in the order of the scenario, and its links in the order of the experiment.
pub(super) type Topology = (Network, Vec<NodeId>, Vec<LinkId>);

pub(super) fn network(scenario: &Scenario, seed: u64) -> Result<Topology, RunError> {
    let mut network = Network::new();
    let nodes: Vec<NodeId> = scenario.nodes.iter().map(|name| network.add_node(name)).collect();
    let mut links = Vec::new();
    for link in &scenario.links {
        let forward_delay = draw_span(link.forward.delay, seed, &format!("delay/{}/forward", link.name));
        let backward_delay = if link.shared_delay {
            forward_delay
        } else {
            draw_span(link.backward.delay, seed, &format!("delay/{}/backward", link.name))
        };
        let forward = direction(&link.forward, forward_delay);
        let backward = direction(&link.backward, backward_delay);
        let id = network.add_link(nodes[link.from], nodes[link.to], forward, backward)?;
        network.vary_link(id, link.forward.variation.clone())?;
        network.vary_link(id.reverse(), link.backward.variation.clone())?;
        links.extend([id, id.reverse()]);
    }
    Ok((network, nodes, links))
}

fn direction(plan: &LinkDirection, delay: Duration) -> LinkConfig {
    LinkConfig {
        rate: plan.rate,
        delay,
        queue: plan.queue,
        loss: plan.loss.clone(),
        loss_place: plan.loss_place,
        loss_marks: plan.loss_marks,
    }
}

fn add_session<F: Family>(
    scenario: &Scenario,
    plan: &SessionPlan,
    seed: u64,
    nodes: &[NodeId],
    simulation: &mut Simulation<F>,
    flows: &mut Vec<WorldFlow>,
) -> Result<u16, RunError> {
    let wrong_family = || BuildError::Family { session: plan.name.clone(), protocol: plan.protocol.name() };
    let protocol: &F::Protocol = plan.protocol.get().ok_or_else(wrong_family)?;
    let session = Session { layers: plan.layers.clone(), packet_size: plan.packet_size };
    let channels = protocol.requirements().channels(&session);
    let start = session_start(plan, seed);
    let stream = |part: &str| Stream::new(seed, &format!("session/{}/{part}", plan.name));
    let mut receivers = ReceiverList::default();
    let mut starts = Vec::new();
    for place in &plan.receivers {
        let start = receiver_start(plan, place, seed);
        starts.push(start);
        receivers.push(ReceiverConfig {
            node: nodes[place.node],
            receiver: protocol.receiver(session.clone(), stream(&place.flow)),
            start,
            stop: plan.stop,
            join_latency: latency(plan.join_latency),
            leave_latency: latency(plan.leave_latency),
        });
    }
    let making = routers::Making {
        scenario,
        plan,
        protocol,
        session: &session,
        nodes,
        start: starts.iter().fold(start, |earliest, &start| earliest.min(start)),
        seed,
    };
    let routers = making.routers(simulation)?;
    let is_reliable = protocol.requirements().is_reliable();
    let object = plan.object.map(|object| object.packets(plan.packet_size, is_reliable));
    let config = SessionConfig {
        source_node: nodes[plan.source],
        source: protocol.source(session, stream("source")),
        channels,
        ecn: ecn_field(plan.ecn, protocol.requirements().is_scalable()),
        observes_late_packets: protocol.requirements().observes_late_packets(),
        name: plan.name.clone(),
        start,
        stop: plan.stop,
        receivers,
        packets: object.filter(|_| is_reliable).or(plan.packets.map(u64::from)),
        routers,
    };
    let ids = simulation.add_session(config)?;
    if let (false, Some(packets), Some(object), Some(id)) = (is_reliable, object, plan.object, ids.first()) {
        let leave_when_complete = object.leave_when_complete;
        simulation.distribute(id.session(), ObjectConfig { packets, leave_when_complete });
    }
    let ids = ids.into_iter().map(WorldFlowId::Receiver);
    let has_object = plan.object.is_some();
    flows.extend(ids.zip(starts).map(|(id, start)| WorldFlow { id, start, has_object, outside: None }));
    Ok(channels)
}

/// The latency of a session's joins or leaves.
pub fn latency(draw: Draw<Duration>) -> Latency {
    match draw {
        Draw::Fixed(span) => span.into(),
        Draw::Uniform { low, high } => Latency::uniform(low, high),
    }
}

fn probe_info(scenario: &Scenario, plan: &ProbePlan) -> ProbeInfo {
    let (kind, name) = match plan.subject {
        Subject::Link(link) => ("link", scenario.link_names().swap_remove(link)),
        Subject::Flow(flow) => ("flow", scenario.flow_names().swap_remove(flow).name),
    };
    ProbeInfo {
        name: plan.name.clone(),
        subject: format!("{kind} {name}"),
        quantities: plan.what.iter().map(|quantity| quantity.name()).collect(),
        every_ns: plan.every.as_ns(),
    }
}

/// The description of the scenario for the results.
pub fn experiment(scenario: &Scenario, request: &RunRequest) -> Experiment {
    let flows = flow_infos(scenario);
    let indices: BTreeMap<&str, usize> =
        flows.iter().enumerate().map(|(index, flow)| (flow.name.as_str(), index)).collect();
    let index = |name: &String| indices.get(name.as_str()).copied();
    let groups = scenario
        .groups
        .iter()
        .map(|group| GroupInfo {
            name: group.name.clone(),
            flows: group.flows.iter().filter_map(index).collect(),
        })
        .collect();
    let directions = scenario.links.iter().flat_map(|link| [&link.forward, &link.backward]);
    let links = scenario
        .link_names()
        .into_iter()
        .zip(directions)
        .map(|(name, direction)| LinkInfo {
            name,
            rate_kbps: direction.rate.as_kbps(),
            delay: match direction.delay {
                Draw::Fixed(delay) => delay.to_string(),
                Draw::Uniform { low, high } => format!("{low} to {high}"),
            },
            queue: direction.queue.to_string(),
        })
        .collect();
    Experiment {
        scenario: request.id.clone(),
        title: scenario.name.clone(),
        description: scenario.description.clone(),
        scenario_hash: hash(&request.text, scenario),
        scenario_text: request.text.clone(),
        command: request.command.clone(),
        world: "simulated",
        seed: scenario.seed,
        duration_s: scenario.duration.as_secs_f64(),
        windows_s: scenario
            .windows
            .iter()
            .map(|window| [window.start.as_secs_f64(), window.end.as_secs_f64()])
            .collect(),
        series_bin_s: scenario.series_bin.as_secs_f64(),
        groups,
        links,
        paper: scenario.paper.clone(),
        remarks: scenario::default_queue::remark(scenario).into_iter().collect(),
        probes: scenario.probes.iter().map(|plan| probe_info(scenario, plan)).collect(),
        findings: Vec::new(),
        flows,
    }
}

/// What the results need to know of each flow.
pub(super) fn flow_infos(scenario: &Scenario) -> Vec<FlowInfo> {
    // The flows of a table that is not a session are named after the table.
    let making = scenario.flows.iter().filter(|plan| plan.has_transfers()).flat_map(ends);
    let transfers: BTreeSet<&str> = making.collect();
    let of_library = scenario.flows.iter().filter_map(|plan| Some((plan, plan.kind?)));
    let kinds: BTreeMap<&str, TrafficKind> =
        of_library.flat_map(|(plan, kind)| ends(plan).map(move |flow| (flow, kind))).collect();
    let info = |flow| flow_info(scenario, &transfers, &kinds, flow);
    scenario.flow_names().into_iter().map(info).collect()
}

/// The names of the flows of a table.
fn ends(plan: &FlowPlan) -> impl Iterator<Item = &str> {
    plan.to.iter().map(|place| place.flow.as_str())
}

/// `transfers` are the names of the unicast flows that make some, `kinds` those of the traffic library.
fn flow_info(
    scenario: &Scenario,
    transfers: &BTreeSet<&str>,
    kinds: &BTreeMap<&str, TrafficKind>,
    flow: scenario::FlowName,
) -> FlowInfo {
    let session = scenario.sessions.iter().find(|session| Some(&session.name) == flow.session.as_ref());
    let kbps = |session: &SessionPlan| {
        let table = &session.layers;
        table.layers().map(|layer| table.cumulative(layer).as_kbps()).collect()
    };
    FlowInfo {
        has_transfers: transfers.contains(flow.name.as_str())
            || session.is_some_and(|session| session.packets.is_some()),
        has_object: session.is_some_and(|session| session.object.is_some()),
        is_constant_rate: flow.protocol == scenario::protocols::UDP,
        traffic: kinds.get(flow.name.as_str()).copied(),
        name: flow.name,
        protocol: flow.protocol,
        role: flow.role,
        session: flow.session,
        node: flow.node,
        level_rates_kbps: session.map(kbps).unwrap_or_default(),
        one_rate: session
            .is_some_and(|session| session.protocol.requirements().character().rates != Rates::Layers),
    }
}

/// A digest of the scenario's text and of the rows, traces and rates in files that it names, so that
/// runs can be distinguished in merged files.
pub(super) fn hash(text: &str, scenario: &Scenario) -> String {
    use sha2::{Digest, Sha256};
    let mut digest = Sha256::new_with_prefix(text.as_bytes());
    scenario.files.iter().for_each(|file| digest.update(file.as_bytes()));
    for variation in
        scenario.links.iter().flat_map(|link| [&link.forward.variation, &link.backward.variation])
    {
        for time in variation.trace.iter().flat_map(|trace| trace.times_ms()) {
            digest.update(time.to_le_bytes());
        }
        for change in &variation.changes {
            digest.update(change.at.as_ns().to_le_bytes());
            digest.update(change.rate.map_or(0.0, Rate::as_bps).to_le_bytes());
        }
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
