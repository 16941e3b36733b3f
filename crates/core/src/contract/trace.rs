//! Trace events that endpoints record.

use core::fmt;

use super::Peer;
use crate::units::{Channel, Duration, Layer, Level, Seq};

/// A notable event inside an endpoint, with its cause. Plots and explanations are made from these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEvent {
    /// The level changed, and why.
    LevelChanged {
        /// The level before.
        from: Level,
        /// The level after.
        to: Level,
        /// The cause.
        cause: Cause,
    },
    /// A new loss event began.
    LossEvent {
        /// The layer of the packet that triggered it.
        layer: Layer,
        /// The number of that packet on its layer.
        first_lost: Seq,
    },
    /// Slow start ended at this level.
    SlowStartEnded {
        /// The level held then.
        level: Level,
    },
    /// An attempt to reach a level ended.
    JoinAttempt {
        /// The level that was tried.
        to: Level,
        /// Whether it was joined.
        joined: bool,
    },
    /// The first measured round-trip time.
    FirstRoundTrip {
        /// The sample.
        rtt: Duration,
    },
    /// A layer's sequence numbers were inconsistent, and tracking restarted.
    Resynchronised {
        /// The layer.
        layer: Layer,
    },
    /// No packet of the session has arrived for this long.
    Silent {
        /// Time since the start or since the last packet.
        waited: Duration,
    },
    /// A channel that was left, and should be silent, delivers packets again: the leave took longer than
    /// the session allows for, or was lost (dynamic layering).
    LateLeave {
        /// The channel.
        channel: Channel,
        /// How long ago it was left.
        since_leave: Duration,
    },
    /// A child of a router or of the source has lacked a packet for too long and is no longer waited for
    /// (reliable protocols).
    LeftBehind {
        /// The child.
        child: Peer,
        /// How long it has made no progress.
        waited: Duration,
    },
    /// The source announced the end of the session.
    SessionEnded,
}

/// Why a level changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The session began.
    Start,
    /// Slow start joined the next layer.
    SlowStart,
    /// The fair rate is above that of the next layer.
    RateAbove,
    /// The fair rate is below that of the layers held.
    RateBelow,
    /// Packets were lost.
    Loss,
    /// Packets were marked by a congested router.
    CongestionMark,
    /// A synchronisation point allowed it.
    SynchronisationPoint,
    /// A join experiment was due.
    Experiment,
    /// The slot's increase signal allowed it.
    IncreaseSignal,
    /// Packets stopped arriving.
    Silence,
    /// The layer that was joined carried no packets.
    SilentLayer,
    /// A wave ended.
    WaveEnded,
    /// The host could not join.
    JoinFailed,
    /// The source ended the session.
    SessionEnd,
    /// The host stopped the endpoint.
    Stop,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 15] = [
        Cause::Start,
        Cause::SlowStart,
        Cause::RateAbove,
        Cause::RateBelow,
        Cause::Loss,
        Cause::CongestionMark,
        Cause::SynchronisationPoint,
        Cause::Experiment,
        Cause::IncreaseSignal,
        Cause::Silence,
        Cause::SilentLayer,
        Cause::WaveEnded,
        Cause::JoinFailed,
        Cause::SessionEnd,
        Cause::Stop,
    ];
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Start => "start",
            Cause::SlowStart => "slow start",
            Cause::RateAbove => "rate above next layer",
            Cause::RateBelow => "rate below level",
            Cause::Loss => "loss",
            Cause::CongestionMark => "congestion mark",
            Cause::SynchronisationPoint => "synchronisation point",
            Cause::Experiment => "experiment",
            Cause::IncreaseSignal => "increase signal",
            Cause::Silence => "silence",
            Cause::SilentLayer => "silent layer",
            Cause::WaveEnded => "wave ended",
            Cause::JoinFailed => "join failed",
            Cause::SessionEnd => "session ended",
            Cause::Stop => "stopped",
        })
    }
}
