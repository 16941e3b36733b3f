//! A fast packet-level simulator with dynamic layered multicast and TCP.
//!
//! Virtual time is a 64-bit count of nanoseconds; events at equal times are served in the order in
//! which their causes happened. The same configuration and seed give the same run, bit for bit.
//!
//! The path of a packet: an agent (a TCP, or the host of a protocol endpoint) hands a packet to its node ·
//! the node offers it to a link · the link's error model, then its queue, then its transmitter, then its
//! wire · at the far node it is forwarded, copied to the subscribed children of a multicast tree, or
//! delivered to an agent.
//!
//! The packet path holds no maps and allocates nothing in the steady state: packets live in a slab,
//! ids index vectors, and a link costs at most two pending events however many packets it carries
//! (one that changes may cost more).
//!
//! Start at [`Network`] (nodes and links), then [`Simulation`].

mod application;
mod call;
mod edge;
mod engine;
mod event;
mod host;
mod link;
mod log_bins;
mod loss;
mod measure;
mod network;
mod object;
pub mod outside;
mod packet;
mod paths;
mod queue;
mod routing;
mod simulation;
mod tapped;
pub mod tcp;
mod timer;
mod tree;
mod variation;

pub use application::{Demand, Distribution, PagesConfig, PlayerConfig, PlayerCounters, UdpSource};
pub use call::CallDelays;
pub use edge::{EdgeConfig, LeaveRule, QuerierProfile};
pub use link::{DelayHistogram, LinkConfig};
pub use loss::{
    GilbertElliott, LengthDistribution, LossKind, LossModel, LossPlace, LossUnit, PeriodicLoss, TwoStateLoss,
};
pub use measure::{
    Delivery, FlowCounters, LevelChange, LinkCounters, Memberships, QueueState, ReceiverEntry, ReceiverEvent,
};
pub use network::{LinkId, Network, NetworkError, NodeId};
pub use object::{ObjectConfig, ObjectProgress};
pub use packet::{EcnField, MembershipChange};
pub use queue::{
    CoDelConfig, DropTailConfig, DualPi2Config, FairConfig, FqCoDelConfig, PieConfig, QueueConfig, QueueKind,
    QueueLimit, RedConfig, RedProfile, RedVictim, RedWeight, RemConfig,
};
pub use simulation::{
    ArrivalsConfig, Carried, DropRecord, EngineCounters, ForeignArrival, ForeignPacket, ForeignPath,
    LinkRecord, ReceiverConfig, ReceiverId, ReceiverList, RouterConfig, RouterLife, SessionConfig, SessionId,
    Simulation, TcpConfig, TcpId, UdpConfig, UdpId,
};
pub use tapped::LinkEvent;
pub use tree::Latency;
pub use variation::{
    DeliveryTrace, LinkChange, LinkVariation, OPPORTUNITY_BYTES, Outage, TraceError, VariationError,
};
