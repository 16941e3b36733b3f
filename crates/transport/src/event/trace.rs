//! The decisions of a receiver's congestion control.

use std::time::Duration;

use layercast_core::contract::{Estimates, TraceEvent};
use layercast_delivery::node::ReceiverNote;
use serde::{Serialize, Serializer};

use crate::fields;

/// A receiver decided or noticed something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace {
    /// How long after the start.
    pub at: Duration,
    /// What.
    pub note: ReceiverNote,
    /// Its estimates.
    pub estimates: Estimates,
}

impl Trace {
    /// Whether the level has changed: the only decision that is an event of `--json`, as there may be many others.
    pub fn is_level_change(&self) -> bool {
        matches!(self.note, ReceiverNote::Trace(TraceEvent::LevelChanged { .. }))
    }

    fn name(&self) -> &'static str {
        let ReceiverNote::Trace(event) = self.note else {
            return if matches!(self.note, ReceiverNote::Joined(_)) { "join" } else { "leave" };
        };
        match event {
            TraceEvent::LevelChanged { .. } => "level_changed",
            TraceEvent::LossEvent { .. } => "loss_event",
            TraceEvent::SlowStartEnded { .. } => "slow_start_ended",
            TraceEvent::JoinAttempt { .. } => "join_attempt",
            TraceEvent::FirstRoundTrip { .. } => "first_round_trip",
            TraceEvent::Resynchronised { .. } => "resynchronised",
            TraceEvent::Silent { .. } => "silent",
            TraceEvent::LateLeave { .. } => "late_leave",
            TraceEvent::LeftBehind { .. } => "left_behind",
            TraceEvent::SessionEnded => "session_ended",
        }
    }
}

impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields {
            event: &'static str,
            #[serde(flatten)]
            change: Option<Change>,
            #[serde(skip_serializing_if = "Option::is_none")]
            channel: Option<u16>,
            #[serde(flatten, serialize_with = "fields::estimates")]
            estimates: Estimates,
        }
        #[derive(Serialize)]
        struct Change {
            from: i32,
            to: i32,
            cause: String,
        }
        let (change, channel) = match self.note {
            ReceiverNote::Joined(channel) | ReceiverNote::Left(channel) => (None, Some(channel.0)),
            ReceiverNote::Trace(TraceEvent::LevelChanged { from, to, cause }) => {
                let (from, to) = (from.as_number(), to.as_number());
                (Some(Change { from, to, cause: cause.to_string() }), None)
            }
            ReceiverNote::Trace(_) => (None, None),
        };
        Fields { event: self.name(), change, channel, estimates: self.estimates }.serialize(serializer)
    }
}
