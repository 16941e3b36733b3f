//! Inputs, actions, and the loop that joins them.

use crate::contract::TraceEvent;
use crate::units::{Channel, Duration, Level, RateEstimate, Seq, Size, Time};

/// The typed header of a protocol's packets: data, feedback and router messages in one small value.
pub trait Header: Copy {
    /// Whether a packet that comes down a channel goes no further by itself where a router of its protocol
    /// takes part: the router decides which children get it. What is not held there is forwarded by the
    /// host, and the router hears a copy.
    fn is_held_by_routers(&self) -> bool {
        false
    }

    /// Whether the packet carries again what was sent before. Hosts do not count it as throughput: each piece
    /// of the application's data counts once. What routers hold is a repair, unless a protocol says otherwise.
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

/// A member of the session that can be addressed alone. The host knows what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer(pub u32);

/// A link from a router down to one child, numbered by the host from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildLink(pub u16);

/// A set of child links, at most 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildSet(pub u64);

/// Explicit congestion notification on a packet (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not take part.
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
    /// A channel that the endpoint holds, or held a moment ago.
    Channel(Channel),
    /// A unicast packet from a member of the session, the source included.
    Peer(Peer),
    /// A packet that came up from a child link, and which active node below sent it. Only where routers take
    /// part in a session, at its routers and its source. Plain nodes in between forward what they do not
    /// understand, so that several active nodes may lie behind one link.
    Child(ChildLink, Peer),
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival<H> {
    /// Where from.
    pub origin: Origin,
    /// How large on the wire.
    pub size: Size,
    /// What routers wrote on it.
    pub ecn: Ecn,
    /// Its header.
    pub header: H,
}

/// Why a join did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinError {
    /// The host or the edge has no room for another membership.
    Limit,
    /// The host is not allowed to join.
    Refused,
}

/// One thing that a host tells an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<H> {
    /// The session begins for this endpoint. Told once, first.
    Start,
    /// A packet arrived.
    Packet(Arrival<H>),
    /// The deadline has come.
    Timer,
    /// A join that was asked for did not happen. The channel counts as not held.
    JoinFailed(Channel, JoinError),
    /// The host could not send on this channel just now; the packet is gone.
    SendRefused(Channel),
    /// The application has no payload for now.
    DataExhausted,
    /// The application has payload again.
    DataAvailable,
    /// No more payload will come: the session ends in good order. A source does what its protocol does
    /// at the end in its own time, and then has no deadline; [`Input::DataAvailable`] does not wake it again.
    /// Receivers learn of the end from packets. [`Input::Stop`] remains the hard end.
    Finish,
    /// The session ends for this endpoint.
    Stop,
}

/// Where a packet is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// All receivers that hold the channel.
    Channel(Channel),
    /// The source of the session, by unicast. Where routers take part, the next of them on the way takes the
    /// packet.
    Source,
    /// One member, by unicast.
    Peer(Peer),
    /// Some child links of this router, or of the source where routers take part.
    Children(ChildSet),
}

/// What a packet carries besides its header. The endpoint never sees payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Nothing.
    None,
    /// The next piece of the application's data.
    Next,
    /// The piece that was sent or received under this sequence number, from the host's store.
    Stored(Seq),
    /// What the packet carried that is being handled.
    Arrived,
}

/// A request to send a packet or a short run of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Send<H> {
    /// Where to.
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
    /// Hand the pieces up to this sequence number, which are all there, to the application, in order. Only
    /// reliable protocols ask for it. It grows.
    Deliver(Seq),
    /// Forget the stored pieces up to this sequence number: nobody will ask for them again. It grows.
    Release(Seq),
    /// Tell whoever watches.
    Trace(TraceEvent),
}

/// What an endpoint believes, for traces and metrics. Costs nothing when nobody asks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimates {
    /// The layers held.
    pub level: Level,
    /// The fair rate as calculated last.
    pub rate: RateEstimate,
    /// The fair rate after smoothing, as decisions use it.
    pub smoothed_rate: RateEstimate,
    /// The loss fraction or loss event rate, 0 to 1.
    pub loss: Option<f64>,
    /// The smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// Several loss measures on the same packets, where a protocol compares them.
    pub measures: Option<Measures>,
}

/// One loss measure and what follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    /// The loss rate, 0 to 1.
    pub loss: f64,
    /// The fair rate at that loss rate.
    pub rate: RateEstimate,
    /// How many losses have counted: loss events where losses of an event count once.
    pub counted: u64,
}

/// Loss measures side by side (thesis, chapters 4 and 5).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// How many packets the loss estimators have taken, received or lost.
    pub packets: u64,
    /// The loss insensitive period: TFRC's loss event rate.
    pub lip: Measure,
    /// The loss aggregation period.
    pub lap: Measure,
    /// The packet loss fraction.
    pub fraction: Measure,
}

/// A source, a receiver or a router of some protocol.
pub trait Endpoint {
    /// What its packets carry.
    type Header: Header;

    /// Takes one input. `now` is never before the `now` of an earlier call.
    fn handle(&mut self, now: Time, input: Input<Self::Header>);

    /// The next action asked for, in order; none when drained.
    fn poll_action(&mut self) -> Option<Action<Self::Header>>;

    /// When to give [`Input::Timer`]: an absolute time, or none to be woken by packets only.
    fn deadline(&self) -> Option<Time>;

    /// What the endpoint estimates at `now`.
    fn estimates(&self, now: Time) -> Estimates;

    /// The number of the session that this source drew, where its protocol has one (LCT's TSI).
    fn session_number(&self) -> Option<u32> {
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
    /// Hands the pieces up to this one to the application. For hosts of reliable protocols.
    fn deliver(&mut self, _through: Seq) {}
    /// Forgets the stored pieces up to this one. For hosts of reliable protocols.
    fn release(&mut self, _through: Seq) {}
    /// Hears a note.
    fn trace(&mut self, note: TraceEvent);
}

/// The loop of every host: change one thing, drain the actions, read the deadline.
///
/// Returns when to call again with [`Input::Timer`], if no other input comes before.
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
            Action::Trace(note) => host.trace(note),
        }
    }
    endpoint.deadline()
}
