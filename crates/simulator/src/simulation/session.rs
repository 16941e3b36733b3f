//! Sessions and their receivers.

use layercast_protocol::contract::Belief;
use layercast_protocol::registry::{Receiver, Receivers, Source};
use layercast_protocol::units::{Span, Time};

use super::{Agent, Route, Simulation};
use crate::measure::{FlowCounters, LevelChange};
use crate::multicast::{Routes, Tree};
use crate::network::{NetworkError, NodeId};

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
    pub receivers: ReceiverList,
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

/// The receivers of a session, collected from their configurations. A receiver takes here what its
/// own protocol needs, so a million of them fit.
#[derive(Debug, Default)]
pub struct ReceiverList {
    places: Vec<Place>,
    endpoints: Option<Receivers>,
    /// Whether one was of another protocol than the first.
    mixed: bool,
}

/// What is known of a receiver beside its endpoint.
#[derive(Clone, Copy, Debug)]
struct Place {
    node: NodeId,
    start: Time,
    stop: Option<Time>,
    latencies: Latencies,
}

/// How long membership takes at the edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latencies {
    pub(crate) join: Span,
    pub(crate) leave: Span,
}

impl ReceiverList {
    /// Adds a receiver.
    pub fn push(&mut self, config: ReceiverConfig) {
        let latencies = Latencies { join: config.join_latency, leave: config.leave_latency };
        let ReceiverConfig { node, start, stop, .. } = config;
        self.places.push(Place { node, start, stop, latencies });
        match &mut self.endpoints {
            Some(endpoints) => self.mixed |= !endpoints.push(config.receiver),
            None => self.endpoints = Some(Receivers::of(config.receiver)),
        }
    }
}

impl FromIterator<ReceiverConfig> for ReceiverList {
    fn from_iter<I: IntoIterator<Item = ReceiverConfig>>(configs: I) -> ReceiverList {
        let mut list = ReceiverList::default();
        configs.into_iter().for_each(|config| list.push(config));
        list
    }
}

/// A receiver of a session of this simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverId {
    session: u32,
    /// Its number in the session's tree.
    receiver: u32,
}

/// A session at work. What there is by receiver is in the order of the tree.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) tree: Tree,
    pub(super) source: u32,
    /// The agent of receiver 0; the others follow.
    pub(super) first_agent: u32,
    /// None if there are no receivers.
    pub(super) endpoints: Option<Receivers>,
    pub(super) latencies: Vec<Latencies>,
    pub(super) counters: Vec<FlowCounters>,
    pub(super) level_changes: Vec<Vec<LevelChange>>,
}

impl Simulation {
    /// Adds a session. The receivers' ids are in the order given.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`], [`NetworkError::SameNode`], [`NetworkError::MixedProtocols`].
    pub fn add_session(&mut self, config: SessionConfig) -> Result<Vec<ReceiverId>, NetworkError> {
        let ReceiverList { places, endpoints, mixed } = config.receivers;
        if mixed {
            return Err(NetworkError::MixedProtocols);
        }
        let session = self.sessions.len() as u32;
        let nodes: Vec<NodeId> = places.iter().map(|place| place.node).collect();
        let routes = self.add_session_routes(session);
        let (tree, order) = Tree::new(
            &self.network,
            &self.routing,
            config.source_node,
            &nodes,
            usize::from(config.channels),
            routes,
        )?;

        let source = self.agents.len() as u32;
        self.add_agent(Agent::Source { endpoint: Box::new(config.source), session });
        self.schedule_life(source, config.start, config.stop);
        let first_agent = source + 1;
        for receiver in 0..places.len() as u32 {
            self.add_agent(Agent::Receiver { session, receiver });
        }
        let mut latencies = vec![Latencies { join: Span::ZERO, leave: Span::ZERO }; places.len()];
        for (place, &receiver) in places.iter().zip(&order) {
            latencies[receiver as usize] = place.latencies;
            self.schedule_life(first_agent + receiver, place.start, place.stop);
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
            counters: vec![FlowCounters::default(); places.len()],
            level_changes: vec![Vec::new(); places.len()],
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

    /// What a receiver has received so far.
    pub fn receiver_counters(&self, id: ReceiverId) -> FlowCounters {
        self.sessions[id.session as usize].counters[id.receiver as usize]
    }

    /// What a receiver believes now.
    pub fn receiver_belief(&self, id: ReceiverId) -> Belief {
        let endpoints = self.sessions[id.session as usize].endpoints.as_ref();
        endpoints.map_or(Belief::default(), |list| list.belief(id.receiver as usize, self.core.now()))
    }

    /// All changes of a receiver's level so far.
    pub fn level_changes(&self, id: ReceiverId) -> &[LevelChange] {
        &self.sessions[id.session as usize].level_changes[id.receiver as usize]
    }
}
