//! What a scenario file describes, as plain data: the runner builds its worlds from this.

use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Rate, Size, Time};

use layercast_simulator::EdgeConfig;
pub use layercast_simulator::{
    DeliveryTrace, Distribution, LinkChange, LinkVariation, LossModel, LossPlace, Outage,
    QueueConfig as QueuePlan, QueueLimit,
};

use super::paper::PaperValue;
use super::probe::ProbePlan;
use super::protocols::ProtocolPlan;

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
    /// The groups whose Jain index is told.
    pub groups: Vec<GroupPlan>,
    /// The numbers that the paper reports.
    pub paper: Vec<PaperValue>,
    /// What is probed while it runs.
    pub probes: Vec<ProbePlan>,
}

/// A stretch of a run over which flows are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it starts.
    pub start: Time,
    /// Where it ends.
    pub end: Time,
}

/// A value that is given, or drawn anew in each replication.
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
    /// What is lost beside the queue.
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
    /// What a router needs for a join, beside the links' delays; drawn for each join.
    pub join_latency: Draw<Duration>,
    /// How long packets keep coming after a leave, beside the links' delays; drawn for each leave.
    pub leave_latency: Draw<Duration>,
    /// Whether its data may be marked.
    pub ecn: bool,
    /// How many packets of data the source has; none for data without end.
    pub packets: Option<u32>,
    /// Which routers take part, where the protocol has routers.
    pub routers: RouterPlan,
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
    /// One of [`FLOW_PROTOCOLS`](super::protocols::FLOW_PROTOCOLS).
    pub protocol: String,
    /// One of [`TCP_PROFILES`](super::protocols::TCP_PROFILES): the defaults of all that follows.
    pub profile: String,
    /// The node of the senders.
    pub from: usize,
    /// The sinks: one flow each, in the order of the file, those of one node side by side.
    pub to: Vec<FlowEnd>,
    /// When a flow starts, drawn for each flow.
    pub start: Draw<Time>,
    /// When the flows stop; the end of the run if absent.
    pub stop: Option<Time>,
    /// The size of data packets on the wire.
    pub packet_size: Size,
    /// The size of acknowledgements on the wire, if not the profile's.
    pub ack_size: Option<Size>,
    /// The limit of the window in packets, if not the profile's.
    pub window: Option<u32>,
    /// The smallest retransmission timeout, if not the profile's.
    pub min_rto: Option<Duration>,
    /// The retransmission timeout before the first measurement, if not the profile's.
    pub initial_rto: Option<Duration>,
    /// The granularity of the retransmission timer, if not the profile's.
    pub tick: Option<Duration>,
    /// Whether sinks acknowledge every second packet only, if not the profile's.
    pub delayed_ack: Option<bool>,
    /// Whether the first two duplicate acknowledgements each release a new packet, if not the
    /// profile's.
    pub limited_transmit: Option<bool>,
    /// How long senders may wait before they use their window.
    pub overhead: Duration,
    /// How many packets may answer one acknowledgement; 0 for no limit.
    pub max_burst: u32,
    /// Whether data asks for marks in place of drops.
    pub ecn: bool,
    /// What the flows have to send.
    pub demand: DemandPlan,
}

/// What flows have to send. Sizes in bytes, times in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DemandPlan {
    /// TCP data without end.
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
    /// TCP data for a while, then none for a while.
    OnOff {
        /// How long there is data.
        on: Distribution,
        /// How long there is none.
        off: Distribution,
    },
    /// Packets at a constant rate that nobody answers.
    Constant {
        /// The rate.
        rate: Rate,
        /// How long it sends and how long it pauses; always if absent.
        pauses: Option<(Distribution, Distribution)>,
    },
}

impl DemandPlan {
    /// Whether transfers are made, whose times are told.
    pub fn has_transfers(&self) -> bool {
        matches!(self, DemandPlan::Transfers { .. } | DemandPlan::Arrivals { .. })
    }
}

/// Flows whose fairness to each other is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// Its name, `R1/elm`.
    pub name: String,
    /// The names of its flows, each once.
    pub flows: Vec<String>,
}
