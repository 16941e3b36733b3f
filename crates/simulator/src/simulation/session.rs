//! Sessions and their receivers.

use layercast_core::contract::{Endpoint as _, Estimates};
use layercast_core::family::{Family, Receivers};
use layercast_core::units::Time;

use super::{Agent, Route, RouterConfig, Simulation};
use crate::measure::{Deliveries, Delivery, FlowCounters, LevelChange, Memberships, ReceiverLog};
use crate::network::{LinkId, NetworkError, NodeId};
use crate::object::Object;
use crate::packet::EcnField;
use crate::tree::{Latencies, Latency, Routes, Tree};

/// A session to simulate.
#[derive(Debug)]
pub struct SessionConfig<F: Family> {
    /// The node of the source.
    pub source_node: NodeId,
    /// The source's endpoint.
    pub source: F::Source,
    /// How many channels the session has.
    pub channels: u16,
    /// Whether its data may be marked, and how receivers respond.
    pub ecn: EcnField,
    /// Whether receivers also get packets that still arrive on channels they have left; see
    /// [`Requirements::observes_late_packets`](layercast_core::session::Requirements::observes_late_packets).
    pub observes_late_packets: bool,
    /// What the random streams of its tree are named after; should be unique in the run.
    pub name: String,
    /// When the source starts.
    pub start: Time,
    /// When it stops, if before the end.
    pub stop: Option<Time>,
    /// The receivers.
    pub receivers: ReceiverList<F>,
    /// How many packets of new data the source has; it gets `Input::Finish` after the last of them. None
    /// for unlimited data.
    pub packets: Option<u64>,
    /// The routers of a protocol with router support, even if there is none; `None` for other protocols.
    pub routers: Option<Vec<RouterConfig<F>>>,
}

/// A receiver of a session.
#[derive(Debug)]
pub struct ReceiverConfig<F: Family> {
    /// Its node.
    pub node: NodeId,
    /// Its endpoint.
    pub receiver: F::Receiver,
    /// When it starts.
    pub start: Time,
    /// When it stops, if before the end.
    pub stop: Option<Time>,
    /// The time from a join to its graft.
    pub join_latency: Latency,
    /// How long the router above goes on forwarding after a leave. An edge at the node may have a
    /// rule of its own.
    pub leave_latency: Latency,
}

/// The receivers of a session, collected from their configurations. A receiver takes only the memory that
/// its own protocol needs, so that a million of them fit.
#[derive(Debug)]
pub struct ReceiverList<F: Family> {
    plans: Vec<ReceiverPlan>,
    endpoints: Option<F::Receivers>,
    /// Whether one was of another protocol than the first.
    mixed: bool,
}

/// The plan of a receiver, without its endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverPlan {
    pub(super) node: NodeId,
    start: Time,
    stop: Option<Time>,
    pub(super) latencies: Latencies,
}

impl<F: Family> Default for ReceiverList<F> {
    fn default() -> Self {
        ReceiverList { plans: Vec::new(), endpoints: None, mixed: false }
    }
}

impl<F: Family> ReceiverList<F> {
    /// Adds a receiver.
    pub fn push(&mut self, config: ReceiverConfig<F>) {
        let latencies = Latencies { join: config.join_latency, leave: config.leave_latency };
        let ReceiverConfig { node, start, stop, .. } = config;
        self.plans.push(ReceiverPlan { node, start, stop, latencies });
        match &mut self.endpoints {
            Some(endpoints) => self.mixed |= !endpoints.push(config.receiver),
            None => self.endpoints = Some(Receivers::one(config.receiver)),
        }
    }
}

impl<F: Family> FromIterator<ReceiverConfig<F>> for ReceiverList<F> {
    fn from_iter<I: IntoIterator<Item = ReceiverConfig<F>>>(configs: I) -> ReceiverList<F> {
        let mut list = ReceiverList::default();
        configs.into_iter().for_each(|config| list.push(config));
        list
    }
}

/// A session of this simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionId(pub(super) u32);

/// A receiver of a session of this simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReceiverId {
    pub(super) session: u32,
    /// Its number in the session's tree.
    pub(super) receiver: u32,
}

impl ReceiverId {
    /// The session that it receives.
    pub fn session(self) -> SessionId {
        SessionId(self.session)
    }
}

/// What a receiver has received so far: the part of its [`FlowCounters`] that every packet changes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Received {
    pub(super) bytes: u64,
    pub(super) packets: u64,
}

/// What else has become of packets to a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exceptions {
    pub(super) marked_packets: u64,
    pub(super) lost_packets: u64,
    pub(super) late_bytes: u64,
}

impl From<(Received, Exceptions)> for FlowCounters {
    fn from((received, exceptions): (Received, Exceptions)) -> FlowCounters {
        let Received { bytes: received_bytes, packets: received_packets } = received;
        let Exceptions { marked_packets, lost_packets, late_bytes } = exceptions;
        FlowCounters {
            received_bytes,
            received_packets,
            marked_packets,
            lost_packets,
            sent_packets: received_packets + lost_packets,
            late_bytes,
            ..FlowCounters::default()
        }
    }
}

/// The state of a session. All per-receiver data is in the order of the tree.
#[derive(Debug)]
pub(super) struct Session<F: Family> {
    pub(super) tree: Tree,
    pub(super) source: u32,
    /// The agent of receiver 0; the others follow.
    pub(super) first_agent: u32,
    /// None if there are no receivers.
    pub(super) endpoints: Option<F::Receivers>,
    pub(super) latencies: Vec<Latencies>,
    pub(super) received: Vec<Received>,
    pub(super) exceptions: Vec<Exceptions>,
    /// Which receivers have ever had a deadline: of the others, the timers need not be read.
    pub(super) had_deadline: Vec<bool>,
    pub(super) logs: Vec<ReceiverLog>,
    pub(super) deliveries: Deliveries,
    /// The object that it distributes, if it does.
    pub(super) object: Option<Object>,
    /// When the source starts.
    pub(super) start: Time,
    /// The agent of the first router, if there is one; the others follow.
    pub(super) first_router: u32,
    /// Which hosts have crashed; empty until the first one does.
    crashed: Vec<bool>,
    pub(super) observes_late_packets: bool,
    /// The ECN field of the source's data packets.
    pub(super) ecn: EcnField,
}

impl<F: Family> Session<F> {
    /// A receiver's host crashes: it neither receives nor sends any more.
    pub(super) fn crash(&mut self, receiver: u32) {
        self.crashed.resize(self.received.len(), false);
        self.crashed[receiver as usize] = true;
    }

    /// The agent of a member: a receiver, or a router, whose numbers follow.
    #[inline]
    pub(super) fn agent_of(&self, member: u32) -> u32 {
        match member.checked_sub(self.received.len() as u32) {
            Some(router) => self.first_router + router,
            None => self.first_agent + member,
        }
    }

    #[inline]
    pub(super) fn is_crashed(&self, receiver: u32) -> bool {
        !self.crashed.is_empty() && self.crashed[receiver as usize]
    }
}

impl<F: Family> Simulation<F> {
    /// Adds a session. The receivers' ids are in the order given.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`], [`NetworkError::SameNode`], [`NetworkError::MixedProtocols`]; with routers
    /// [`NetworkError::ChildLinks`], [`NetworkError::RouterPlace`].
    pub fn add_session(&mut self, config: SessionConfig<F>) -> Result<Vec<ReceiverId>, NetworkError> {
        let ReceiverList { plans, endpoints, mixed } = config.receivers;
        if mixed {
            return Err(NetworkError::MixedProtocols);
        }
        let session = self.sessions.len() as u32;
        let routes = self.add_session_routes(session);
        let (mut tree, origins) =
            self.build_tree(&config.name, config.source_node, &plans, config.channels, routes)?;
        let routers = match config.routers {
            Some(routers) => self.set_routers(&mut tree, &origins.nodes, routers)?,
            None => Vec::new(),
        };
        let order = origins.receivers;

        let source = self.agents.len() as u32;
        let left = config.packets;
        self.add_agent(Agent::Source { endpoint: Box::new(config.source), session, left });
        self.schedule_life(source, config.start, config.stop);
        let first_agent = source + 1;
        for receiver in 0..plans.len() as u32 {
            self.add_agent(Agent::Receiver { session, receiver });
        }
        let mut latencies = vec![Latencies { join: Latency::NONE, leave: Latency::NONE }; plans.len()];
        for (plan, &receiver) in plans.iter().zip(&order) {
            latencies[receiver as usize] = plan.latencies;
            self.schedule_life(first_agent + receiver, plan.start, plan.stop);
        }
        let first_router = self.agents.len() as u32;
        for (number, lives) in (0..).zip(routers) {
            self.add_router(session, number, lives);
        }
        let endpoints = endpoints.map(|mut endpoints| {
            endpoints.reorder(&order);
            endpoints
        });
        self.sessions.push(Session {
            tree,
            source,
            first_agent,
            endpoints,
            latencies,
            received: vec![Received::default(); plans.len()],
            exceptions: vec![Exceptions::default(); plans.len()],
            had_deadline: vec![false; plans.len()],
            logs: std::iter::repeat_with(ReceiverLog::default).take(plans.len()).collect(),
            deliveries: Deliveries::new(plans.len(), config.packets),
            object: None,
            start: config.start,
            first_router,
            crashed: Vec::new(),
            observes_late_packets: config.observes_late_packets,
            ecn: config.ecn,
        });
        Ok(order.into_iter().map(|receiver| ReceiverId { session, receiver }).collect())
    }

    fn add_session_routes(&mut self, session: u32) -> Routes {
        let first = self.routes.len() as u32;
        let routes = [
            Route::Data { session },
            Route::Membership { session },
            Route::Up { session },
            Route::Down { session },
        ];
        self.routes.extend(routes);
        Routes { data: first, membership: first + 1, up: first + 2, down: first + 3 }
    }

    /// What a receiver has received so far. A completely delivered session with an end counts as one
    /// transfer, timed from the start of the source.
    pub fn receiver_counters(&self, id: ReceiverId) -> FlowCounters {
        let session = &self.sessions[id.session as usize];
        let mut counters = FlowCounters::from((
            session.received[id.receiver as usize],
            session.exceptions[id.receiver as usize],
        ));
        if let Some(completed) = session.deliveries.of(id.receiver).completed {
            counters.transfers = 1;
            counters.transfer_ns = u128::from(completed.since(session.start).as_ns());
        }
        counters
    }

    /// What a receiver of a reliable protocol has delivered so far; zero for other protocols.
    pub fn receiver_delivery(&self, id: ReceiverId) -> Delivery {
        self.sessions[id.session as usize].deliveries.of(id.receiver)
    }

    /// A receiver's present estimates.
    pub fn receiver_estimates(&self, id: ReceiverId) -> Estimates {
        let endpoints = self.sessions[id.session as usize].endpoints.as_ref();
        endpoints.map_or(Estimates::default(), |list| list.estimates(id.receiver as usize, self.engine.now()))
    }

    /// A gauge of a receiver, by its place among the gauges of its protocol; none if it has no value now.
    pub fn receiver_gauge(&self, id: ReceiverId, gauge: usize) -> Option<f64> {
        let endpoints = self.sessions[id.session as usize].endpoints.as_ref()?;
        endpoints.gauge(id.receiver as usize, gauge, self.engine.now())
    }

    /// A gauge of the source of a receiver's session, by its place among the gauges of its protocol.
    pub fn source_gauge(&self, id: ReceiverId, gauge: usize) -> Option<f64> {
        match &self.agents[self.sessions[id.session as usize].source as usize] {
            Agent::Source { endpoint, .. } => endpoint.gauge(gauge, self.engine.now()),
            _ => None,
        }
    }

    /// All changes of a receiver's level so far.
    pub fn level_changes(&self, id: ReceiverId) -> &[LevelChange] {
        &self.sessions[id.session as usize].logs[id.receiver as usize].level_changes
    }

    /// How often a receiver has joined and left channels so far.
    pub fn memberships(&self, id: ReceiverId) -> Memberships {
        self.sessions[id.session as usize].logs[id.receiver as usize].requests
    }

    /// The links from the source of a session to a receiver.
    pub fn receiver_path(&self, id: ReceiverId) -> Vec<LinkId> {
        let tree = &self.sessions[id.session as usize].tree;
        let mut links: Vec<LinkId> = tree.path_to_source(id.receiver).map(LinkId::reverse).collect();
        links.reverse();
        links
    }

    /// When a receiver reported the end of its slow start, if it did.
    pub fn slow_start_ended(&self, id: ReceiverId) -> Option<Time> {
        self.sessions[id.session as usize].logs[id.receiver as usize].slow_start_ended
    }

    /// Whether data for a receiver goes over this direction of a link.
    pub fn is_on_path(&self, link: LinkId, to: ReceiverId) -> bool {
        self.sessions[to.session as usize].tree.is_on_path(link, to.receiver)
    }
}
