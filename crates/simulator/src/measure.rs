//! What is counted for each flow and link.

use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::units::{Channel, Level, Seq, Time};

/// What a flow has received so far. A flow is one receiver's reception, or one TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounters {
    /// Bytes on the wire that reached the flow's receiver while it was a member of the channel, each
    /// sequence number once.
    pub received_bytes: u64,
    /// The number of packets in `received_bytes`.
    pub received_packets: u64,
    /// Those of `received_packets` that a router had marked (RFC 3168); multicast only.
    pub marked_packets: u64,
    /// Packets addressed to the receiver that were dropped or lost on the path.
    pub lost_packets: u64,
    /// Packets sent towards the receiver: what it received or lost, and for TCP what is in flight.
    pub sent_packets: u64,
    /// Bytes of a channel that reached the node after the last receiver there and below had left it: load
    /// that the leave has not yet removed from the links.
    pub late_bytes: u64,
    /// Transfers whose last packet was acknowledged, of a flow that makes transfers; of a receiver, whether all
    /// packets of a session with an end were delivered.
    pub transfers: u64,
    /// How long those transfers took together, in nanoseconds.
    pub transfer_ns: u128,
}

/// What a receiver of a reliable protocol has delivered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Packets of data that were handed to the application in order, from number 0 on.
    pub delivered_packets: u64,
    /// Repairs that reached the receiver while it was a member of the channel, needed or not. They are not
    /// among the received packets of its flow, so that no packet counts twice.
    pub repair_packets: u64,
    /// Their bytes on the wire.
    pub repair_bytes: u64,
    /// When the last packet of a session with an end was delivered.
    pub completed: Option<Time>,
}

/// The deliveries of all receivers of a session.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    /// Empty until there is something to record.
    by_receiver: Vec<Delivery>,
    receivers: usize,
    /// How many packets the session has, if it ends.
    packets: Option<u64>,
}

impl Deliveries {
    pub(crate) fn new(receivers: usize, packets: Option<u64>) -> Deliveries {
        Deliveries { by_receiver: Vec::new(), receivers, packets }
    }

    /// How many packets the session has, if it ends.
    pub(crate) fn packets(&self) -> Option<u64> {
        self.packets
    }

    pub(crate) fn of(&self, receiver: u32) -> Delivery {
        self.by_receiver.get(receiver as usize).copied().unwrap_or_default()
    }

    /// All packets up to this one were handed to the application.
    pub(crate) fn deliver(&mut self, receiver: u32, through: Seq, now: Time) {
        let packets = self.packets;
        let delivery = self.entry(receiver);
        delivery.delivered_packets = delivery.delivered_packets.max(through.0.saturating_add(1));
        if packets.is_some_and(|packets| delivery.delivered_packets >= packets) {
            delivery.completed.get_or_insert(now);
        }
    }

    /// A repair has come.
    pub(crate) fn repair(&mut self, receiver: u32, size_bytes: u32) {
        let delivery = self.entry(receiver);
        delivery.repair_packets += 1;
        delivery.repair_bytes += u64::from(size_bytes);
    }

    fn entry(&mut self, receiver: u32) -> &mut Delivery {
        if self.by_receiver.is_empty() {
            self.by_receiver.resize(self.receivers, Delivery::default());
        }
        &mut self.by_receiver[receiver as usize]
    }
}

/// What a link has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets whose transmission began.
    pub packets: u64,
    /// Bytes of those packets.
    pub bytes: u64,
    /// Packets that the queue dropped, for any reason.
    pub queue_drops: u64,
    /// Those of `queue_drops` that the queue management chose although there was room.
    pub chosen_drops: u64,
    /// Packets that the error model lost.
    pub losses: u64,
    /// Packets marked instead of dropped or lost.
    pub marks: u64,
    /// Time integral of the number of waiting packets, in packets times nanoseconds.
    pub queue_packet_ns: u128,
}

/// A change of level at a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelChange {
    /// When.
    pub at: Time,
    /// From which level.
    pub from: Level,
    /// To which level.
    pub to: Level,
    /// Why.
    pub cause: Cause,
}

/// A membership operation or trace event of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReceiverEvent {
    /// It joined a channel.
    Join(Channel),
    /// It left a channel.
    Leave(Channel),
    /// It reported a trace event: a change of level, a loss event.
    Trace(TraceEvent),
}

/// An entry of a receiver's log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverEntry {
    /// When.
    pub at: Time,
    /// What.
    pub event: ReceiverEvent,
}

/// The joins and leaves that a receiver has requested: load on the routers that serve it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memberships {
    /// Joins.
    pub joins: u32,
    /// Leaves.
    pub leaves: u32,
}

impl Memberships {
    /// The requests since `before`.
    #[must_use]
    pub fn since(self, before: Memberships) -> Memberships {
        Memberships {
            joins: self.joins.saturating_sub(before.joins),
            leaves: self.leaves.saturating_sub(before.leaves),
        }
    }
}

/// The log of a receiver.
#[derive(Debug, Default)]
pub(crate) struct ReceiverLog {
    pub(crate) requests: Memberships,
    pub(crate) level_changes: Vec<LevelChange>,
    /// When slow start ended.
    pub(crate) slow_start_ended: Option<Time>,
    /// All its entries, if the log is enabled.
    pub(crate) entries: Option<Vec<ReceiverEntry>>,
}

impl ReceiverLog {
    pub(crate) fn record(&mut self, at: Time, event: ReceiverEvent) {
        if let Some(entries) = &mut self.entries {
            entries.push(ReceiverEntry { at, event });
        }
    }
}

/// The state of a link's queue, without the packet in transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueState {
    /// Packets.
    pub packets: usize,
    /// Bytes.
    pub bytes: u64,
    /// The average queue length that the queue management uses, as of the last arrival; none if it keeps
    /// none. In packets, or in bytes where the queue counts bytes.
    pub average: Option<f64>,
}
