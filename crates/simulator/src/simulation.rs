//! A simulation: a network, the sessions and connections on it, and the loop that serves events.

use std::collections::BTreeMap;
use std::sync::Arc;

use layercast_core::family::Family;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Time};

use crate::application::{Application, Arrivals, Demand, PlayerCounters, UdpSource};
use crate::call::CallDelays;
use crate::engine::Engine;
use crate::event::{Event, Key};
use crate::link::{DelayHistogram, Link};
use crate::measure::{FlowCounters, LinkCounters};
use crate::network::{LinkId, Network, NetworkError, NodeId};
use crate::paths::{Paths, UnicastPath};
use crate::routing::Routing;
use crate::tcp::{Sender, Sink, TcpLimits, TcpOptions, TcpState};

mod edges;
mod foreign;
mod objects;
mod observe;
mod relayed;
mod routers;
mod serve;
mod session;
mod traffic;

pub use self::foreign::{ForeignArrival, ForeignPacket, ForeignPath};
pub use self::observe::{Carried, DropRecord, LinkRecord};
use self::routers::RouterAgent;
pub use self::routers::{RouterConfig, RouterLife};
use self::session::Session;
pub use self::session::{ReceiverConfig, ReceiverId, ReceiverList, SessionConfig, SessionId};
pub use self::traffic::{ArrivalsConfig, UdpConfig, UdpId};

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

/// A TCP connection of this simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// To an agent, along the path that has its first hop at this place.
    Path { first: u32, agent: u32 },
    /// Down the tree of a session, to all members of the channel.
    Data { session: u32 },
    /// One hop up the tree of a session.
    Membership { session: u32 },
    /// Up the tree of a session to its source, or to the next active router; position is the tree node that
    /// is reached next.
    Up { session: u32 },
    /// Down the tree of a session to one receiver or router; position is its number.
    Down { session: u32 },
}

/// What an event can wake. Large state machines are boxed, and receivers are stored with their session, to
/// keep the table small.
#[derive(Debug)]
enum Agent<F: Family> {
    Source {
        endpoint: Box<F::Source>,
        session: u32,
        /// The number of packets of new data left; none for unlimited data, or after `Input::Finish`.
        left: Option<u64>,
    },
    Router(Box<RouterAgent<F>>),
    Receiver {
        session: u32,
        receiver: u32,
    },
    TcpSender {
        sender: Box<Sender>,
        path: UnicastPath,
        flow: u32,
        stopped: bool,
        /// None for data without end.
        application: Option<Box<Application>>,
        /// The arrivals that start its transfers.
        arrivals: Option<u32>,
    },
    TcpSink {
        sink: Box<Sink>,
        path: UnicastPath,
        flow: u32,
    },
    Arrivals(Box<Arrivals>),
    UdpSource {
        source: Box<UdpSource>,
        path: UnicastPath,
        flow: u32,
    },
    UdpSink {
        flow: u32,
        /// Of a call.
        delays: Option<Box<CallDelays>>,
    },
    /// The end of a path for packets that come from outside.
    Outlet {
        path: UnicastPath,
        flow: u32,
    },
}

/// A running network.
#[derive(Debug)]
pub struct Simulation<F: Family> {
    network: Network,
    routing: Routing,
    seed: u64,
    engine: Engine<F::Header>,
    routes: Vec<Route>,
    paths: Paths,
    agents: Vec<Agent<F>>,
    sessions: Vec<Session<F>>,
    /// The options of the connection that was added last: the next one often has the same.
    tcp_options: Option<Arc<TcpOptions>>,
    /// Of all unicast flows.
    unicast_flows: Vec<FlowCounters>,
    /// The numbers of the edges in the engine.
    edges: BTreeMap<NodeId, u32>,
    /// What has reached outlets since it was last drained.
    foreign: Vec<ForeignArrival<F::Header>>,
    /// Packets from outside that count and were lost; none if nobody asked for them.
    foreign_losses: Option<Vec<(ForeignPath, F::Header)>>,
    events_served: u64,
}

impl<F: Family> Simulation<F> {
    /// A simulation on `network`. `seed` must differ between replications.
    pub fn new(network: Network, seed: u64) -> Simulation<F> {
        let mut engine = Engine::new(network.build_links(seed));
        for (link, variation, losses) in network.variations(seed) {
            engine.vary(link, variation, losses);
        }
        Simulation {
            routing: Routing::new(&network),
            network,
            seed,
            engine,
            routes: Vec::new(),
            paths: Paths::default(),
            agents: Vec::new(),
            sessions: Vec::new(),
            tcp_options: None,
            unicast_flows: Vec::new(),
            edges: BTreeMap::new(),
            foreign: Vec::new(),
            foreign_losses: None,
            events_served: 0,
        }
    }

    /// Adds a TCP connection.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`], [`NetworkError::SameNode`].
    pub fn add_tcp(&mut self, config: TcpConfig) -> Result<TcpId, NetworkError> {
        let forward = self.path_between(config.from, config.to)?;
        let backward = reversed(&forward);
        let sender = self.agents.len() as u32;
        let sink = sender + 1;
        let flow = self.unicast_flows.len() as u32;
        let data = self.add_path(&forward, sink);
        let acks = self.add_path(&backward, sender);
        let stream = Stream::new(self.seed, &format!("tcp/{}", config.name));
        let rates = forward.iter().map(|&link| self.network.rate(link).as_bps());
        let slowest = Rate::from_bps(rates.fold(f64::INFINITY, f64::min));
        let options = self.share(&config.options.on_path(slowest));
        let machine = Box::new(Sender::new(options, stream));
        let stream = Stream::new(self.seed, &format!("application/{}", config.name));
        self.add_agent(Agent::TcpSender {
            sender: machine,
            path: data,
            flow,
            stopped: false,
            application: Application::new(config.demand, stream),
            arrivals: None,
        });
        self.add_agent(Agent::TcpSink { sink: Box::new(Sink::new(&config.options)), path: acks, flow });
        self.unicast_flows.push(FlowCounters::default());
        self.schedule_life(sender, config.start, config.stop);
        Ok(TcpId { sender, sink })
    }

    /// Serves all events up to and including `end`.
    pub fn run_until(&mut self, end: Time) {
        self.serve_until(end);
        let now = self.engine.now();
        for link in &mut self.engine.links {
            link.account_queue(now);
        }
        debug_assert_eq!(
            self.engine.slab.copies(),
            self.engine.carried(),
            "each copy of a packet is in one queue or on one wire"
        );
    }

    /// Serves all events up to and including `end`, and leaves the lengths of queues as they were accounted
    /// for last, so that a call costs nothing for links at which nothing happens.
    pub fn serve_until(&mut self, end: Time) {
        while let Some(entry) = self.engine.events.pop_entry(end) {
            self.engine.current = entry.key;
            self.events_served += 1;
            match entry.arrival() {
                Some(link) => self.serve_arrival(link),
                None => self.serve_event(entry.key, entry.event()),
            }
            if !self.engine.dropped.is_empty() {
                self.account_drops();
            }
        }
        // Nothing else happens at `end`, so anything added between runs comes after it.
        let order = self.engine.current.order;
        self.engine.current = Key { time: end.max(self.engine.current.time), order };
    }

    /// What a connection has received so far.
    pub fn tcp_counters(&self, id: TcpId) -> FlowCounters {
        match &self.agents[id.sink as usize] {
            Agent::TcpSink { flow, .. } | Agent::Outlet { flow, .. } => self.unicast_flows[*flow as usize],
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

    /// How long what has held a connection's sender back since it started.
    pub fn tcp_limits(&self, id: TcpId) -> TcpLimits {
        match &self.agents[id.sender as usize] {
            Agent::TcpSender { sender, .. } => sender.limits(self.engine.now()),
            _ => TcpLimits::default(),
        }
    }

    /// What the player of a connection has done so far; none without one.
    pub fn player_counters(&self, id: TcpId) -> Option<PlayerCounters> {
        match &self.agents[id.sender as usize] {
            Agent::TcpSender { application, .. } => application.as_ref()?.player(self.engine.now()),
            _ => None,
        }
    }

    /// What a link has done so far.
    pub fn link_counters(&self, id: LinkId) -> LinkCounters {
        self.engine.links[id.0 as usize].counters()
    }

    /// Records from now on how long the queue of each link has which delay.
    pub fn record_link_delays(&mut self) {
        self.engine.links.iter_mut().for_each(Link::record_delays);
    }

    /// How long the queue of a link had which delay so far; none if no packet has waited, or without
    /// [`record_link_delays`](Simulation::record_link_delays).
    pub fn link_delay_histogram(&self, id: LinkId) -> Option<&DelayHistogram> {
        self.engine.links[id.0 as usize].delay_histogram()
    }

    /// The present propagation delay of a link.
    pub fn link_delay(&self, id: LinkId) -> Duration {
        self.engine.links[id.0 as usize].delay()
    }

    /// What a link that changes could have carried so far, in bytes: the integral of its rate while it
    /// was up, or [`OPPORTUNITY_BYTES`](crate::OPPORTUNITY_BYTES) for each opportunity of its trace.
    /// None if the link never changes.
    pub fn link_capacity_bytes(&self, id: LinkId) -> Option<f64> {
        self.engine.links[id.0 as usize].capacity_bytes(self.engine.now())
    }

    /// How much work was done so far.
    pub fn engine_counters(&self) -> EngineCounters {
        EngineCounters {
            events: self.events_served,
            packet_hops: self.engine.links.iter().map(|link| link.counters().packets).sum(),
        }
    }

    /// Packets in flight now.
    pub fn packets_in_flight(&self) -> usize {
        self.engine.slab.in_flight()
    }

    /// The links of the path between two nodes: at least one.
    fn path_between(&mut self, from: NodeId, to: NodeId) -> Result<Vec<LinkId>, NetworkError> {
        if from == to {
            return Err(NetworkError::SameNode { node: self.network.node_name(to).to_owned() });
        }
        self.routing.path(&self.network, from, to)
    }

    fn add_path(&mut self, links: &[LinkId], agent: u32) -> UnicastPath {
        let route = self.routes.len() as u32;
        let first = self.paths.add(links, agent);
        self.routes.push(Route::Path { first, agent });
        UnicastPath { first: links[0], route, next: first + 1 }
    }

    /// The options, shared with the connection that was added last if it has the same.
    fn share(&mut self, options: &TcpOptions) -> Arc<TcpOptions> {
        let known = self.tcp_options.take().filter(|known| **known == *options);
        let shared = known.unwrap_or_else(|| Arc::new(options.clone()));
        self.tcp_options = Some(Arc::clone(&shared));
        shared
    }

    fn add_agent(&mut self, agent: Agent<F>) {
        self.agents.push(agent);
        self.engine.timers.push(Default::default());
    }

    fn schedule_life(&mut self, agent: u32, start: Time, stop: Option<Time>) {
        let key = self.engine.events.key_at(start);
        self.engine.events.push(key, Event::Start(agent));
        if let Some(stop) = stop {
            let key = self.engine.events.key_at(stop);
            self.engine.events.push(key, Event::Stop(agent));
        }
    }
}

fn reversed(links: &[LinkId]) -> Vec<LinkId> {
    links.iter().rev().map(|link| link.reverse()).collect()
}
