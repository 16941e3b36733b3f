//! Inputs, actions, and the loop that connects them.

use crate::contract::{GaugeSpec, Peer, TraceEvent};
use crate::units::{Channel, Duration, Level, RateEstimate, Seq, Size, Time};

/// The typed header of a protocol's packets: data, feedback and router messages in one small value.
pub trait Header: Copy {
    /// Whether a packet that comes down a channel is not forwarded by itself where a router of its protocol
    /// takes part: the router decides which children get it. Other packets are forwarded by the host,
    /// and the router receives a copy.
    fn is_held_by_routers(&self) -> bool {
        false
    }

    /// Whether the packet is a retransmission. Hosts do not count it as throughput: each chunk of the
    /// application's data counts once. What routers hold is a repair, unless a protocol says otherwise.
    fn is_repair(&self) -> bool {
        self.is_held_by_routers()
    }

    /// The header of the `index`-th packet of a run that starts with this one (see [`Send::count`]).
    /// Protocols that send no runs keep the default.
    #[must_use]
    fn nth(self, index: u16) -> Self {
        debug_assert_eq!(index, 0, "this protocol sends no runs");
        self
    }
}

/// A link from a router down to one child, numbered by the host from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildLink(pub u16);

impl ChildLink {
    /// Its bit in a [`ChildSet`]; none beyond the 64 that a set holds.
    #[must_use]
    pub fn bit(self) -> u64 {
        1u64.checked_shl(u32::from(self.0)).unwrap_or(0)
    }
}

/// A set of child links, at most 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildSet(pub u64);

/// Explicit congestion notification on a packet (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not support ECN.
    #[default]
    NotCapable,
    /// Capable, not marked.
    Capable,
    /// A router marked it: congestion experienced.
    Marked,
}

/// Where a packet came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A channel that the endpoint holds, or has just left.
    Channel(Channel),
    /// A unicast packet from a member of the session, the source included.
    Peer(Peer),
    /// A packet that came up from a child link, and the active node below that sent it. Only in sessions with
    /// routers, at the routers and the source. Plain nodes in between forward what they do not
    /// understand, so that several active nodes may lie behind one link.
    Child(ChildLink, Peer),
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival<H> {
    /// Where it came from.
    pub origin: Origin,
    /// Its size on the wire.
    pub size: Size,
    /// Its ECN codepoint on arrival.
    pub ecn: Ecn,
    /// Its header.
    pub header: H,
}

/// Why a join failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinError {
    /// The host or the edge has no room for another membership.
    Limit,
    /// The host is not allowed to join.
    Refused,
}

/// One event that a host passes to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<H> {
    /// The session begins for this endpoint. Always the first input, and given once.
    Start,
    /// A packet arrived.
    Packet(Arrival<H>),
    /// The deadline has come.
    Timer,
    /// A requested join failed. The channel counts as not held.
    JoinFailed(Channel, JoinError),
    /// The host could not send on this channel just now; the packet is lost.
    SendRefused(Channel),
    /// The highest level that receivers hold or may soon hold, as far as the host knows, for sources: until the next such
    /// input they need not send what lies above it. Before the first one all levels are in demand. A source may
    /// send all levels nevertheless, and always sends the base.
    Demand(Level),
    /// The application has no data for now.
    DataExhausted,
    /// The application has data again.
    DataAvailable,
    /// The application has no more data: the session ends in good order. A source performs its protocol's end
    /// of session at its own pace, and then has no deadline; [`Input::DataAvailable`] does not wake it again.
    /// Receivers learn of the end from packets. [`Input::Stop`] is the immediate end.
    Finish,
    /// The session ends for this endpoint.
    Stop,
}

/// The destination of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// All receivers that hold the channel.
    Channel(Channel),
    /// The source of the session, by unicast. Where routers take part, the next router on the path
    /// intercepts the packet.
    Source,
    /// One member, by unicast.
    Peer(Peer),
    /// Some child links of this router, or of the source where routers take part.
    Children(ChildSet),
}

/// What a packet carries after its header. Endpoints never see the payload itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Nothing.
    None,
    /// The next chunk of the application's data.
    Next,
    /// The chunk that was sent or received under this sequence number, from the host's store.
    Stored(Seq),
    /// The payload of the packet that is being handled.
    Arrived,
}

/// A request to send a packet or a short run of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Send<H> {
    /// The destination.
    pub target: Target,
    /// The header of the first packet.
    pub header: H,
    /// The size of each packet on the wire, headers included.
    pub size: Size,
    /// What each packet carries.
    pub payload: Payload,
    /// How many packets, back to back: at least 1. The i-th has the header [`Header::nth`]`(i)`, so
    /// a real host can hand a run to the kernel in one call.
    pub count: u16,
}

impl<H> Send<H> {
    /// One data packet for a channel.
    pub fn data(channel: Channel, header: H, size: Size) -> Send<H> {
        Send { target: Target::Channel(channel), header, size, payload: Payload::Next, count: 1 }
    }

    /// One packet without payload for the source.
    pub fn report(header: H, size: Size) -> Send<H> {
        Send { target: Target::Source, header, size, payload: Payload::None, count: 1 }
    }
}

/// One thing that an endpoint asks of its host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action<H> {
    /// Send.
    Send(Send<H>),
    /// Join a channel.
    Join(Channel),
    /// Leave a channel.
    Leave(Channel),
    /// Deliver the chunks up to this sequence number, all of which are present, to the application in order.
    /// Only reliable protocols ask for it. The number only grows.
    Deliver(Seq),
    /// Release the stored chunks up to this sequence number: they will not be requested again. The number
    /// only grows.
    Release(Seq),
    /// Record a trace event.
    Trace(TraceEvent),
}

/// What an endpoint currently estimates, for traces and metrics. Computed only on request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimates {
    /// The level of subscription.
    pub level: Level,
    /// The fair rate as last calculated.
    pub rate: RateEstimate,
    /// The fair rate after smoothing, as decisions use it.
    pub smoothed_rate: RateEstimate,
    /// The loss fraction or loss event rate, 0 to 1.
    pub loss: Option<f64>,
    /// The smoothed round-trip time.
    pub rtt: Option<Duration>,
}

/// A source, a receiver or a router of some protocol.
pub trait Endpoint {
    /// The header of its packets.
    type Header: Header;

    /// Handles one input. `now` is never before the `now` of an earlier call.
    fn handle(&mut self, now: Time, input: Input<Self::Header>);

    /// The next action, in order; none when all are drained.
    fn poll_action(&mut self) -> Option<Action<Self::Header>>;

    /// When to give [`Input::Timer`]: an absolute time, or none if only packets can wake the endpoint.
    fn deadline(&self) -> Option<Time>;

    /// The endpoint's estimates at `now`.
    fn estimates(&self, now: Time) -> Estimates;

    /// The session number that this source drew, if its protocol has one (LCT's TSI).
    fn session_number(&self) -> Option<u32> {
        None
    }

    /// The gauges of endpoints of this type. Declare them with [`gauges!`](crate::gauges).
    fn gauges() -> &'static [GaugeSpec]
    where
        Self: Sized,
    {
        &[]
    }

    /// The gauge at `index` of [`gauges`](Endpoint::gauges) at `now`; none if it has no value. Computed only
    /// on request.
    fn gauge(&self, _index: usize, _now: Time) -> Option<f64> {
        None
    }
}

/// What a host does for an endpoint.
pub trait Host<H> {
    /// Sends a packet or a run.
    fn send(&mut self, send: Send<H>);
    /// Joins a channel.
    fn join(&mut self, channel: Channel);
    /// Leaves a channel.
    fn leave(&mut self, channel: Channel);
    /// Delivers the chunks up to this one to the application. For hosts of reliable protocols.
    fn deliver(&mut self, _through: Seq) {}
    /// Releases the stored chunks up to this one. For hosts of reliable protocols.
    fn release(&mut self, _through: Seq) {}
    /// Records a trace event.
    fn trace(&mut self, event: TraceEvent);
}

/// The loop of every host: give one input, drain the actions, read the deadline.
///
/// Returns when to call again with [`Input::Timer`], unless another input comes first.
pub fn drive<E: Endpoint>(
    endpoint: &mut E,
    now: Time,
    input: Input<E::Header>,
    host: &mut impl Host<E::Header>,
) -> Option<Time> {
    endpoint.handle(now, input);
    while let Some(action) = endpoint.poll_action() {
        match action {
            Action::Send(send) => host.send(send),
            Action::Join(channel) => host.join(channel),
            Action::Leave(channel) => host.leave(channel),
            Action::Deliver(through) => host.deliver(through),
            Action::Release(through) => host.release(through),
            Action::Trace(event) => host.trace(event),
        }
    }
    endpoint.deadline()
}
