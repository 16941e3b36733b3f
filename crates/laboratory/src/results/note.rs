//! A line of `notes.jsonl`, which is also a line of the trace that `layercast receive --trace` writes.
//!
//! `docs/results.md` describes the lines for readers.

use std::borrow::Cow;

use layercast_core::contract::{Estimates, TraceEvent};
use layercast_core::layers::LayerTable;
use layercast_core::units::RateEstimate;
use serde::{Deserialize, Serialize};

/// One line. The order of the fields is that of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoteLine<'a> {
    /// The replication, from 1.
    pub replication: u32,
    /// Seconds since the start of the run.
    pub time_s: f64,
    /// The receiver.
    pub flow: Cow<'a, str>,
    /// What happened.
    #[serde(flatten)]
    pub what: Note,
}

/// What happened, under the name that `event` has in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Note {
    /// What the receiver receives: before its other lines, and again when it follows another session.
    Session {
        /// The protocol.
        protocol: String,
        /// The cumulative rates of the layers, from the base up.
        layers_bps: Vec<f64>,
        /// When the run began, in seconds since 1970 (UTC); not in the laboratory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        began_unix_s: Option<f64>,
    },
    /// It joined a channel.
    Join {
        /// The channel.
        channel: u16,
    },
    /// It left a channel.
    Leave {
        /// The channel.
        channel: u16,
    },
    /// Its level changed.
    LevelChanged {
        /// From this level; -1 for none.
        from: i32,
        /// To this level.
        to: i32,
        /// Why.
        cause: String,
        /// The receiver's estimates; absent in simulations.
        #[serde(default, flatten)]
        belief: Belief,
    },
    /// A new loss event began.
    LossEvent {
        /// The layer of the packet that triggered it.
        layer: u16,
        /// The number of that packet on its layer.
        first_lost: u64,
    },
    /// Slow start ended.
    SlowStartEnded {
        /// At this level.
        level: i32,
    },
    /// An attempt to reach a level ended.
    JoinAttempt {
        /// The level.
        to: i32,
        /// Whether it was joined.
        joined: bool,
    },
    /// The first measured round-trip time.
    FirstRoundTrip {
        /// In milliseconds.
        rtt_ms: f64,
    },
    /// A layer's sequence numbers were implausible, and tracking restarted.
    Resynchronised {
        /// The layer.
        layer: u16,
    },
    /// No packet arrived.
    Silent {
        /// For so many seconds.
        waited_s: f64,
    },
    /// A channel that was left delivers packets again.
    LateLeave {
        /// The channel.
        channel: u16,
        /// Seconds since it was left.
        since_leave_s: f64,
    },
    /// A child of the source is no longer waited for.
    LeftBehind {
        /// The child.
        child: u32,
        /// Seconds without progress.
        waited_s: f64,
    },
    /// A receiver's counters and estimates, twice a second; absent in simulations.
    Estimates {
        /// Its level; -1 for none.
        level: i32,
        /// Packets accepted since the session was found.
        packets: u64,
        /// Their bytes with all headers.
        bytes: u64,
        /// Packets that routers marked.
        marked: u64,
        /// The share of packets lost over the last seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<f64>,
        /// Its estimates.
        #[serde(default, flatten)]
        belief: Belief,
    },
    /// The source ended the session.
    SessionEnded,
    /// An event of another version.
    #[serde(other, skip_serializing)]
    Unknown,
}

/// A receiver's estimates of its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Belief {
    /// The fair rate as decisions use it, in bit/s; none if it is unknown or has no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_bps: Option<f64>,
    /// The loss rate that the congestion control computes with, for most protocols the loss event rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The smoothed round-trip time in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
}

impl From<&Estimates> for Belief {
    fn from(estimates: &Estimates) -> Belief {
        let fair = match estimates.smoothed_rate {
            RateEstimate::Known(rate) => Some(rate.as_bps()),
            RateEstimate::Unbounded | RateEstimate::Unknown => None,
        };
        Belief {
            fair_bps: fair.filter(|bps| bps.is_finite()),
            loss: estimates.loss.filter(|loss| loss.is_finite()),
            rtt_ms: estimates.rtt.map(|rtt| rtt.as_secs_f64() * 1e3),
        }
    }
}

impl Note {
    /// What a receiver of this session receives.
    pub fn session(protocol: &str, layers: &LayerTable, began_unix_s: Option<f64>) -> Note {
        let layers_bps = layers.layers().map(|layer| layers.cumulative(layer).as_bps()).collect();
        Note::Session { protocol: protocol.to_owned(), layers_bps, began_unix_s }
    }

    /// A trace event, with the receiver's estimates then, if they are known.
    pub fn of(event: TraceEvent, belief: Belief) -> Note {
        match event {
            TraceEvent::LevelChanged { from, to, cause } => Note::LevelChanged {
                from: from.as_number(),
                to: to.as_number(),
                cause: cause.to_string(),
                belief,
            },
            TraceEvent::LossEvent { layer, first_lost } => {
                Note::LossEvent { layer: layer.0, first_lost: first_lost.0 }
            }
            TraceEvent::SlowStartEnded { level } => Note::SlowStartEnded { level: level.as_number() },
            TraceEvent::JoinAttempt { to, joined } => Note::JoinAttempt { to: to.as_number(), joined },
            TraceEvent::FirstRoundTrip { rtt } => Note::FirstRoundTrip { rtt_ms: rtt.as_secs_f64() * 1e3 },
            TraceEvent::Resynchronised { layer } => Note::Resynchronised { layer: layer.0 },
            TraceEvent::Silent { waited } => Note::Silent { waited_s: waited.as_secs_f64() },
            TraceEvent::LateLeave { channel, since_leave } => {
                Note::LateLeave { channel: channel.0, since_leave_s: since_leave.as_secs_f64() }
            }
            TraceEvent::LeftBehind { child, waited } => {
                Note::LeftBehind { child: child.0, waited_s: waited.as_secs_f64() }
            }
            TraceEvent::SessionEnded => Note::SessionEnded,
        }
    }
}
