//! What a scenario file describes, as plain data: the runner builds its worlds from this.

use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Rate, Size, Time};

use layercast_simulator::tcp::TcpOptions;
pub use layercast_simulator::{
    DeliveryTrace, Distribution, LinkChange, LinkVariation, LossModel, LossPlace, Outage,
    QueueConfig as QueuePlan, QueueLimit,
};
use layercast_simulator::{EdgeConfig, PagesConfig, PlayerConfig};

use crate::results::{PaperValue, TrafficKind};

use super::object::ObjectPlan;
use super::probe::ProbePlan;
use super::protocols::{ProtocolPlan, UDP};

/// One experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// What it is called in tables and reports.
    pub name: String,
    /// What it shows, in a sentence or more.
    pub description: Option<String>,
    /// How long one replication lasts.
    pub duration: Duration,
    /// How many replications are run; at least one.
    pub replications: u32,
    /// The seed that all random streams of all replications come from.
    pub seed: u64,
    /// The measurement windows; at least one, the first is the main one.
    pub windows: Vec<Window>,
    /// The length of one bin of the time series.
    pub series_bin: Duration,
    /// The names of the nodes in the order in which the links mention them.
    pub nodes: Vec<String>,
    /// The links, in the order of the file.
    pub links: Vec<LinkPlan>,
    /// The multicast sessions, in the order of the file.
    pub sessions: Vec<SessionPlan>,
    /// The unicast flows, in the order of the file.
    pub flows: Vec<FlowPlan>,
    /// The edge routers: at most one at a node.
    pub edges: Vec<EdgePlan>,
    /// The groups whose Jain index is reported.
    pub groups: Vec<GroupPlan>,
    /// The numbers that the paper reports.
    pub paper: Vec<PaperValue>,
    /// What is probed while it runs.
    pub probes: Vec<ProbePlan>,
    /// The texts of the files whose rows made tables.
    pub files: Vec<String>,
    /// The nodes from which an edge of the topology's file leads to themselves, once for each such edge.
    pub self_loops: Vec<String>,
}

/// A stretch of a run over which flows are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it starts.
    pub start: Time,
    /// Where it ends.
    pub end: Time,
}

/// A value that is given, or drawn in each replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw<T> {
    /// The same in every replication.
    Fixed(T),
    /// Uniform in `[low, high]`.
    Uniform {
        /// The smallest value.
        low: T,
        /// The largest value.
        high: T,
    },
}

impl<T: Copy> Draw<T> {
    /// The smallest value that may be drawn.
    pub fn low(&self) -> T {
        match self {
            Draw::Fixed(value) => *value,
            Draw::Uniform { low, .. } => *low,
        }
    }

    /// The largest value that may be drawn.
    pub fn high(&self) -> T {
        match self {
            Draw::Fixed(value) => *value,
            Draw::Uniform { high, .. } => *high,
        }
    }

    /// The same draw of another type.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> Draw<U> {
        match self {
            Draw::Fixed(value) => Draw::Fixed(convert(value)),
            Draw::Uniform { low, high } => Draw::Uniform { low: convert(low), high: convert(high) },
        }
    }
}

/// A link between two nodes, with its two directions.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlan {
    /// Its name, `G2-R1`.
    pub name: String,
    /// The node before the dash: an index into [`Scenario::nodes`].
    pub from: usize,
    /// The node after the dash.
    pub to: usize,
    /// From `from` to `to`.
    pub forward: LinkDirection,
    /// From `to` to `from`.
    pub backward: LinkDirection,
    /// Whether one draw of the delay serves both directions, since the file gives no
    /// `delay_backward`.
    pub shared_delay: bool,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDirection {
    /// How fast it transmits at the start, or a trace's mean; never zero.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Draw<Duration>,
    /// What waits for transmission.
    pub queue: QueuePlan,
    /// Whether the file names no queue, so that it has the default.
    pub default_queue: bool,
    /// Losses other than the queue's.
    pub loss: LossModel,
    /// Where that is lost.
    pub loss_place: LossPlace,
    /// Mark packets that take marks instead of losing them.
    pub loss_marks: bool,
    /// How it changes.
    pub variation: LinkVariation,
}

/// A multicast session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionPlan {
    /// Its name, the first part of the names of its flows.
    pub name: String,
    /// The protocol, with its options.
    pub protocol: ProtocolPlan,
    /// The node of the source.
    pub source: usize,
    /// The receivers, in the order of the file.
    pub receivers: Vec<FlowEnd>,
    /// When the source starts.
    pub start: Draw<Time>,
    /// When all of it stops; the end of the run if absent.
    pub stop: Option<Time>,
    /// When the receivers start; if absent, at the very moment of the source.
    pub receivers_start: Option<Draw<Time>>,
    /// The layers.
    pub layers: LayerTable,
    /// The size of data packets on the wire.
    pub packet_size: Size,
    /// What a router needs for a join, in addition to the links' delays; drawn for each join.
    pub join_latency: Draw<Duration>,
    /// How long packets keep coming after a leave, in addition to the links' delays; drawn for each leave.
    pub leave_latency: Draw<Duration>,
    /// Whether its data may be marked.
    pub ecn: bool,
    /// How many packets of data the source has; none for data without end.
    pub packets: Option<u32>,
    /// The object that it distributes; not together with `packets`.
    pub object: Option<ObjectPlan>,
    /// Which routers take part, where the protocol has routers.
    pub routers: RouterPlan,
    /// The nodes where relays run, each once and none that of the source; if there are any, the network carries no
    /// multicast of this session.
    pub relays: Vec<usize>,
}

/// Which routers of a session take part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterPlan {
    /// Their nodes, indices into [`Scenario::nodes`]; all that can if absent.
    pub active: Option<Vec<usize>>,
    /// When some fail.
    pub failure: Option<RouterFailure>,
}

/// A failure of routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterFailure {
    /// When they forget all that they know.
    pub at: Time,
    /// When they take part again.
    pub back: Time,
    /// The nodes of those that fail; all that take part if absent.
    pub failing: Option<Vec<usize>>,
}

/// An edge router at a node with receivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgePlan {
    /// The node: an index into [`Scenario::nodes`].
    pub node: usize,
    /// What it does.
    pub config: EdgeConfig,
    /// When all hosts there crash.
    pub crash: Option<Time>,
}

/// Where a flow ends, and what that flow is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// The flow's name, `elm@R1`.
    pub flow: String,
    /// The node: an index into [`Scenario::nodes`].
    pub node: usize,
}

/// Unicast flows from one node to one or several others.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlan {
    /// Its name, the first part of the names of its flows.
    pub name: String,
    /// The node of the senders.
    pub from: usize,
    /// The sinks: one flow each, in the order of the file, those of one node side by side.
    pub to: Vec<FlowEnd>,
    /// When a flow starts, drawn for each flow.
    pub start: Draw<Time>,
    /// When the flows stop; the end of the run if absent.
    pub stop: Option<Time>,
    /// What they send.
    pub traffic: Traffic,
    /// The kind of traffic of the library that this is, if it is one.
    pub kind: Option<TrafficKind>,
}

impl FlowPlan {
    /// One of [`FLOW_PROTOCOLS`](super::protocols::FLOW_PROTOCOLS).
    pub fn protocol(&self) -> &'static str {
        match &self.traffic {
            Traffic::Tcp { options, .. } => options.variant.name(),
            Traffic::Udp { .. } => UDP,
        }
    }

    /// Whether transfers are made, whose times are reported.
    pub fn has_transfers(&self) -> bool {
        let Traffic::Tcp { demand, .. } = &self.traffic else { return false };
        matches!(demand, DemandPlan::Transfers { .. } | DemandPlan::Arrivals { .. } | DemandPlan::Pages(_))
    }
}

/// What the flows of a table send.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// TCP connections.
    Tcp {
        /// The variant and its parameters.
        options: TcpOptions,
        /// What they have to send.
        demand: DemandPlan,
    },
    /// Packets at a constant rate, without feedback.
    Udp {
        /// The rate while it sends.
        rate: Rate,
        /// The size of packets on the wire.
        packet_size: Size,
        /// How long it sends and how long it pauses, in seconds; always if absent.
        pauses: Option<(Distribution, Distribution)>,
    },
}

/// What TCP connections have to send. Sizes in bytes, times in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DemandPlan {
    /// Data without end.
    #[default]
    Endless,
    /// Each flow makes one transfer after another.
    Transfers {
        /// The size of a transfer.
        size: Distribution,
        /// From the end of one to the start of the next.
        gap: Distribution,
    },
    /// Transfers start by themselves, on whichever of the flows is free.
    Arrivals {
        /// The size of a transfer.
        size: Distribution,
        /// From one start to the next.
        gap: Distribution,
    },
    /// Data for a while, then none for a while.
    OnOff {
        /// How long there is data.
        on: Distribution,
        /// How long there is none.
        off: Distribution,
    },
    /// Each flow is a user who reads web pages.
    Pages(PagesConfig),
    /// Each flow is a player of video.
    Player(PlayerConfig),
}

/// Flows whose fairness to each other is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// Its name, `R1/elm`.
    pub name: String,
    /// The names of its flows, each once.
    pub flows: Vec<String>,
}
