//! A simulation: a network, the sessions and connections on it, and the loop that serves events.

use layercast_protocol::contract::{Belief, Endpoint};
use layercast_protocol::registry::{Receiver, Source};
use layercast_protocol::stream::Stream;
use layercast_protocol::units::{Span, Time};

use crate::core::Core;
use crate::event::{Event, Key};
use crate::host::Way;
use crate::link::Link;
use crate::measure::{FlowCounters, LevelChange, LinkCounters};
use crate::multicast::Tree;
use crate::network::{LinkId, Network, NetworkError, NodeId, ShortestPaths};
use crate::tcp::{Sender, Sink, TcpOptions, TcpState};
use crate::traffic::{Application, Arrivals, Demand, UdpSource};

mod serve;
mod traffic;

pub use traffic::{ArrivalsConfig, UdpConfig, UdpId};

/// A session to simulate.
#[derive(Debug)]
pub struct SessionConfig {
    /// The node of the source.
    pub source_node: NodeId,
    /// The source's endpoint.
    pub source: Source,
    /// How many channels the session has.
    pub channels: u16,
    /// When the source starts.
    pub start: Time,
    /// When it stops, if before the end.
    pub stop: Option<Time>,
    /// The receivers.
    pub receivers: Vec<ReceiverConfig>,
}

/// A receiver of a session.
#[derive(Debug)]
pub struct ReceiverConfig {
    /// Its node.
    pub node: NodeId,
    /// Its endpoint.
    pub receiver: Receiver,
    /// When it starts.
    pub start: Time,
    /// When it stops, if before the end.
    pub stop: Option<Time>,
    /// How long a join takes before its graft sets out.
    pub join_latency: Span,
    /// How long the router above goes on forwarding after a leave.
    pub leave_latency: Span,
}

/// A TCP connection, or several one after another between the same ends.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// The node of the sender.
    pub from: NodeId,
    /// The node of the sink.
    pub to: NodeId,
    /// Its parameters.
    pub options: TcpOptions,
    /// What it has to send.
    pub demand: Demand,
    /// When it starts to send.
    pub start: Time,
    /// When it stops, if before the end.
    pub stop: Option<Time>,
    /// What its random stream is named after; should be unique in the run.
    pub name: String,
}

/// A session of this simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionId(u32);

/// A receiver of a session of this simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverId(u32);

/// A TCP connection of this simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpId {
    sender: u32,
    sink: u32,
}

/// How much work a simulation has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineCounters {
    /// Events served.
    pub events: u64,
    /// Transmissions of a packet on a link, each counted once.
    pub packet_hops: u64,
}

/// Where a route leads.
#[derive(Debug)]
enum Route {
    /// Along these links to an agent.
    Path { links: Vec<LinkId>, agent: u32 },
    /// Down the tree of a session.
    Data { session: u32 },
    /// One hop up the tree of a session.
    Membership { session: u32 },
}

/// What an event can wake. The endpoints are boxed to keep the table small.
#[derive(Debug)]
enum Agent {
    Source {
        endpoint: Box<Source>,
        session: u32,
    },
    Receiver(Box<ReceiverAgent>),
    TcpSender {
        sender: Box<Sender>,
        way: Way,
        flow: u32,
        stopped: bool,
        /// None for data without end.
        application: Option<Box<Application>>,
        /// The arrivals that start its transfers.
        arrivals: Option<u32>,
    },
    TcpSink {
        sink: Box<Sink>,
        way: Way,
        flow: u32,
    },
    Arrivals(Box<Arrivals>),
    UdpSource {
        source: Box<UdpSource>,
        way: Way,
        flow: u32,
    },
    UdpSink {
        flow: u32,
    },
}

#[derive(Debug)]
struct ReceiverAgent {
    endpoint: Receiver,
    session: u32,
    /// Its number in the session's tree.
    receiver: u32,
    to_source: Way,
    join_latency: Span,
    leave_latency: Span,
    counters: FlowCounters,
    level_changes: Vec<LevelChange>,
}

#[derive(Debug)]
struct Session {
    tree: Tree,
    /// Agents of the receivers, in tree order.
    receivers: Vec<u32>,
    /// Ways to the receivers, in tree order.
    to_peers: Vec<Way>,
}

/// A network at work.
#[derive(Debug)]
pub struct Simulation {
    network: Network,
    seed: u64,
    core: Core,
    routes: Vec<Route>,
    agents: Vec<Agent>,
    sessions: Vec<Session>,
    /// Of all unicast flows.
    unicast_flows: Vec<FlowCounters>,
    events_served: u64,
}

impl Simulation {
    /// A simulation on `network`. `seed` should already tell replications apart.
    pub fn new(network: Network, seed: u64) -> Simulation {
        let link = |plan: &crate::network::PlannedLink| {
            let stream = |part: &str| Stream::new(seed, &format!("{part}/{}", plan.name));
            Link::new(plan.config.clone(), stream("link"), stream("queue"))
        };
        let links = network.links().iter().map(link).collect();
        Simulation {
            network,
            seed,
            core: Core::new(links),
            routes: Vec::new(),
            agents: Vec::new(),
            sessions: Vec::new(),
            unicast_flows: Vec::new(),
            events_served: 0,
        }
    }

    /// Adds a TCP connection.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`], [`NetworkError::SameNode`].
    pub fn add_tcp(&mut self, config: TcpConfig) -> Result<TcpId, NetworkError> {
        let paths = self.network.shortest_paths(config.from);
        let forward = self.way_between(&paths, config.to)?;
        let backward = reversed(&forward);
        let sender = self.agents.len() as u32;
        let sink = sender + 1;
        let flow = self.unicast_flows.len() as u32;
        let data = self.add_path(forward, sink);
        let acks = self.add_path(backward, sender);
        let stream = Stream::new(self.seed, &format!("tcp/{}", config.name));
        let machine = Box::new(Sender::new(config.options.clone(), stream));
        let stream = Stream::new(self.seed, &format!("application/{}", config.name));
        self.add_agent(Agent::TcpSender {
            sender: machine,
            way: data,
            flow,
            stopped: false,
            application: Application::new(config.demand, stream),
            arrivals: None,
        });
        self.add_agent(Agent::TcpSink { sink: Box::new(Sink::new(&config.options)), way: acks, flow });
        self.unicast_flows.push(FlowCounters::default());
        self.schedule_life(sender, config.start, config.stop);
        Ok(TcpId { sender, sink })
    }

    /// Adds a session. The receivers' ids are in the order given.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`], [`NetworkError::SameNode`].
    pub fn add_session(&mut self, config: SessionConfig) -> Result<Vec<ReceiverId>, NetworkError> {
        let paths = self.network.shortest_paths(config.source_node);
        let downs = config.receivers.iter().map(|receiver| self.way_between(&paths, receiver.node));
        let downs = downs.collect::<Result<Vec<_>, _>>()?;
        let session = self.sessions.len() as u32;
        let nodes: Vec<NodeId> = config.receivers.iter().map(|receiver| receiver.node).collect();
        let data_route = self.routes.len() as u32;
        self.routes.push(Route::Data { session });
        self.routes.push(Route::Membership { session });
        let channels = usize::from(config.channels);
        let (tree, order) =
            Tree::new(&self.network, config.source_node, &nodes, channels, data_route, data_route + 1)?;

        let source = self.agents.len() as u32;
        self.add_agent(Agent::Source { endpoint: Box::new(config.source), session });
        let count = config.receivers.len();
        let (mut agents, mut to_peers, mut ids) = (vec![0; count], Vec::new(), Vec::with_capacity(count));
        to_peers.resize(count, Way { first: LinkId(0), route: 0 });
        let mut lives = Vec::with_capacity(count);
        for ((receiver, down), &in_tree) in config.receivers.into_iter().zip(downs).zip(&order) {
            let agent = self.agents.len() as u32;
            let up = reversed(&down);
            to_peers[in_tree as usize] = self.add_path(down, agent);
            agents[in_tree as usize] = agent;
            let to_source = self.add_path(up, source);
            self.add_agent(Agent::Receiver(Box::new(ReceiverAgent {
                endpoint: receiver.receiver,
                session,
                receiver: in_tree,
                to_source,
                join_latency: receiver.join_latency,
                leave_latency: receiver.leave_latency,
                counters: FlowCounters::default(),
                level_changes: Vec::new(),
            })));
            lives.push((agent, receiver.start, receiver.stop));
            ids.push(ReceiverId(agent));
        }
        self.sessions.push(Session { tree, receivers: agents, to_peers });
        self.schedule_life(source, config.start, config.stop);
        for (agent, start, stop) in lives {
            self.schedule_life(agent, start, stop);
        }
        Ok(ids)
    }

    /// Serves all events up to and including `end`.
    pub fn run_until(&mut self, end: Time) {
        while let Some((key, event)) = self.core.events.first(end) {
            self.core.current = key;
            self.events_served += 1;
            match event {
                Event::Arrival(link) => self.serve_arrival(link),
                Event::Free(link) => {
                    self.core.events.remove_first();
                    self.core.transmitter_free(LinkId(link));
                }
                Event::Timer(agent) => {
                    self.core.events.remove_first();
                    self.serve_timer(agent, key);
                }
                Event::Membership { route, slot } => {
                    self.core.events.remove_first();
                    if let Route::Membership { session } = self.routes[route as usize] {
                        self.sessions[session as usize].tree.serve_later(&mut self.core, slot);
                    }
                }
                Event::Start(agent) => {
                    self.core.events.remove_first();
                    self.start_agent(agent);
                }
                Event::Stop(agent) => {
                    self.core.events.remove_first();
                    self.stop_agent(agent);
                }
            }
            if !self.core.dropped.is_empty() {
                self.account_drops();
            }
        }
        // Nothing else happens at `end`, so whatever is added between runs comes after it.
        let order = self.core.current.order;
        self.core.current = Key { time: end.max(self.core.current.time), order };
        let now = self.core.now();
        for link in &mut self.core.links {
            link.account_queue(now);
        }
        debug_assert_eq!(
            self.core.slab.copies(),
            self.core.links.iter().map(Link::carried).sum::<usize>(),
            "each copy of a packet is in one queue or on one wire"
        );
    }

    /// What a connection has received so far.
    pub fn tcp_counters(&self, id: TcpId) -> FlowCounters {
        match &self.agents[id.sink as usize] {
            Agent::TcpSink { flow, .. } => self.unicast_flows[*flow as usize],
            _ => FlowCounters::default(),
        }
    }

    /// The state of a connection's sender.
    pub fn tcp_state(&self, id: TcpId) -> Option<TcpState> {
        match &self.agents[id.sender as usize] {
            Agent::TcpSender { sender, .. } => Some(sender.state()),
            _ => None,
        }
    }

    /// What a receiver has received so far.
    pub fn receiver_counters(&self, id: ReceiverId) -> FlowCounters {
        self.receiver(id).map_or(FlowCounters::default(), |receiver| receiver.counters)
    }

    /// What a receiver believes now.
    pub fn receiver_belief(&self, id: ReceiverId) -> Belief {
        self.receiver(id).map_or(Belief::default(), |receiver| receiver.endpoint.belief(self.core.now()))
    }

    /// All changes of a receiver's level so far.
    pub fn level_changes(&self, id: ReceiverId) -> &[LevelChange] {
        self.receiver(id).map_or(&[], |receiver| &receiver.level_changes)
    }

    /// What a link has done so far.
    pub fn link_counters(&self, id: LinkId) -> LinkCounters {
        self.core.links[id.0 as usize].counters
    }

    /// How much work was done so far.
    pub fn engine_counters(&self) -> EngineCounters {
        EngineCounters {
            events: self.events_served,
            packet_hops: self.core.links.iter().map(|link| link.counters.packets).sum(),
        }
    }

    /// Packets in flight now.
    pub fn packets_in_flight(&self) -> usize {
        self.core.slab.in_flight()
    }

    fn receiver(&self, id: ReceiverId) -> Option<&ReceiverAgent> {
        match &self.agents[id.0 as usize] {
            Agent::Receiver(receiver) => Some(receiver),
            _ => None,
        }
    }

    /// The links of the path to `to`: at least one.
    fn way_between(&self, paths: &ShortestPaths, to: NodeId) -> Result<Vec<LinkId>, NetworkError> {
        if to == paths.root {
            return Err(NetworkError::SameNode { node: self.network.node_name(to).to_owned() });
        }
        self.network.path(paths, to)
    }

    fn add_path(&mut self, links: Vec<LinkId>, agent: u32) -> Way {
        let route = self.routes.len() as u32;
        let first = links[0];
        self.routes.push(Route::Path { links, agent });
        Way { first, route }
    }

    fn add_agent(&mut self, agent: Agent) {
        self.agents.push(agent);
        self.core.timers.push(Default::default());
    }

    fn schedule_life(&mut self, agent: u32, start: Time, stop: Option<Time>) {
        let key = self.core.events.key_at(start);
        self.core.events.push(key, Event::Start(agent));
        if let Some(stop) = stop {
            let key = self.core.events.key_at(stop);
            self.core.events.push(key, Event::Stop(agent));
        }
    }
}

fn reversed(links: &[LinkId]) -> Vec<LinkId> {
    links.iter().rev().map(|link| link.reverse()).collect()
}
