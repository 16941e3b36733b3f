//! What can be probed while a scenario runs.

use std::fmt;

use layercast_core::units::Duration;

use crate::results::Role;

use super::flow_gauges::{FlowGauges, Gauge};
use super::flow_name::FlowName;
use super::protocols::UDP;

/// Something whose values are kept over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbePlan {
    /// The probe's name.
    pub name: String,
    /// What it looks at.
    pub subject: Subject,
    /// What it keeps; at least one.
    pub what: Vec<Quantity>,
    /// How often it looks.
    pub every: Duration,
}

/// What a probe looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A direction of a link, by its number in [`super::Scenario::link_names`].
    Link(usize),
    /// A flow, by its number in [`super::Scenario::flow_names`].
    Flow(usize),
}

/// What kind of thing has a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// A direction of a link.
    Link,
    /// A receiver of a session.
    Receiver,
    /// A TCP connection.
    Tcp,
    /// A flow at a constant rate.
    Udp,
}

/// A quantity that a probe can keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Packets waiting, without the one in transmission.
    QueuePackets,
    /// Bytes waiting.
    QueueBytes,
    /// The average that a queue decides by.
    QueueAverage,
    /// What the link transmitted since the last look.
    Sent,
    /// Packets that the queue dropped or the error model lost since the last look.
    Drops,
    /// Packets that the queue marked since the last look.
    Marks,
    /// What reached the flow's receiver since the last look.
    Throughput,
    /// TCP's congestion window.
    Cwnd,
    /// TCP's slow start threshold.
    Ssthresh,
    /// What TCP has sent and not heard of.
    Flight,
    /// A receiver's level.
    Level,
    /// The rate that a receiver calculates.
    Rate,
    /// The rate that a receiver decides by.
    SmoothedRate,
    /// A receiver's estimate of the loss (event) rate.
    Loss,
    /// A receiver's estimate of the round-trip time.
    Rtt,
    /// What endpoints of one protocol show.
    Gauge(Gauge),
}

impl Quantity {
    /// All of them but gauges, in the order of documentation.
    pub const ALL: &'static [Quantity] = &[
        Quantity::QueuePackets,
        Quantity::QueueBytes,
        Quantity::QueueAverage,
        Quantity::Sent,
        Quantity::Drops,
        Quantity::Marks,
        Quantity::Throughput,
        Quantity::Cwnd,
        Quantity::Ssthresh,
        Quantity::Flight,
        Quantity::Level,
        Quantity::Rate,
        Quantity::SmoothedRate,
        Quantity::Loss,
        Quantity::Rtt,
    ];

    /// The quantity of that name, which may be one of these gauges.
    pub fn named(name: &str, gauges: FlowGauges) -> Option<Quantity> {
        let gauge = || gauges.iter().find(|gauge| gauge.name() == name).map(Quantity::Gauge);
        Quantity::ALL.iter().copied().find(|quantity| quantity.name() == name).or_else(gauge)
    }

    /// The name in scenario files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::QueuePackets => "queue_packets",
            Quantity::QueueBytes => "queue_bytes",
            Quantity::QueueAverage => "queue_average",
            Quantity::Sent => "sent_kbps",
            Quantity::Drops => "drops",
            Quantity::Marks => "marks",
            Quantity::Throughput => "throughput_kbps",
            Quantity::Cwnd => "cwnd_packets",
            Quantity::Ssthresh => "ssthresh_packets",
            Quantity::Flight => "flight_packets",
            Quantity::Level => "level",
            Quantity::Rate => "rate_kbps",
            Quantity::SmoothedRate => "smoothed_rate_kbps",
            Quantity::Loss => "loss",
            Quantity::Rtt => "rtt_ms",
            Quantity::Gauge(gauge) => gauge.name(),
        }
    }

    /// Whether such a subject has it.
    pub const fn is_of(self, kind: SubjectKind) -> bool {
        match self {
            Quantity::QueuePackets
            | Quantity::QueueBytes
            | Quantity::QueueAverage
            | Quantity::Sent
            | Quantity::Drops
            | Quantity::Marks => matches!(kind, SubjectKind::Link),
            Quantity::Throughput => !matches!(kind, SubjectKind::Link),
            Quantity::Cwnd | Quantity::Ssthresh | Quantity::Flight => matches!(kind, SubjectKind::Tcp),
            Quantity::Level
            | Quantity::Rate
            | Quantity::SmoothedRate
            | Quantity::Loss
            | Quantity::Rtt
            | Quantity::Gauge(_) => matches!(kind, SubjectKind::Receiver),
        }
    }
}

impl SubjectKind {
    /// Its quantities.
    pub fn quantities(self) -> impl Iterator<Item = Quantity> {
        Quantity::ALL.iter().copied().filter(move |quantity| quantity.is_of(self))
    }
}

impl From<&FlowName> for SubjectKind {
    fn from(flow: &FlowName) -> SubjectKind {
        match flow.role {
            Role::Receiver => SubjectKind::Receiver,
            Role::Sink if flow.protocol == UDP => SubjectKind::Udp,
            Role::Sink => SubjectKind::Tcp,
        }
    }
}

impl fmt::Display for SubjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SubjectKind::Link => "a link",
            SubjectKind::Receiver => "a receiver of a session",
            SubjectKind::Tcp => "a TCP connection",
            SubjectKind::Udp => "a constant-rate flow",
        })
    }
}
