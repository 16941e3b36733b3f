//! What a receiver did, from its lines: each decision with what preceded it.

use layercast_laboratory::results::note::{Belief, Note};
use serde::Serialize;

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Decision {
    /// When, in seconds of the trace.
    pub(super) time_s: f64,
    /// From this level; -1 for none.
    pub(super) from: i32,
    /// To this level.
    pub(super) to: i32,
    /// Why.
    pub(super) cause: String,
    /// Its estimates then, as far as the trace has them.
    #[serde(flatten)]
    pub(super) belief: Belief,
    /// The rate of the new level, if the trace has the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to_bps: Option<f64>,
    /// What preceded it since the change before.
    pub(super) before: Before,
}

/// What happened at a level.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Before {
    /// How long it was held, in seconds.
    pub(super) held_s: f64,
    /// The bytes received at it, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
    /// Loss events.
    pub(super) loss_events: u64,
    /// How long before the change the last of them was, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_loss_s: Option<f64>,
    /// Packets that routers marked.
    pub(super) marked: u64,
    /// Attempts to join that were given up.
    pub(super) refused_joins: u64,
}

/// An entry of the chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Entry {
    /// A change of level.
    Decision(Decision),
    /// Something else that explains it.
    Remark {
        /// When, in seconds of the trace.
        time_s: f64,
        /// What.
        text: String,
    },
}

impl Entry {
    /// When it happened, in seconds of the trace.
    pub(super) fn time_s(&self) -> f64 {
        match self {
            Entry::Decision(decision) => decision.time_s,
            Entry::Remark { time_s, .. } => *time_s,
        }
    }
}

/// A receiver at one moment of its trace.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// Its level; -1 for none.
    pub(super) level: i32,
    /// Its protocol, if the trace has the session.
    pub(super) protocol: Option<String>,
    /// The cumulative rates of the layers.
    pub(super) layers_bps: Vec<f64>,
    since_s: f64,
    loss_events: u64,
    last_loss_s: Option<f64>,
    refused_joins: u64,
    belief: Belief,
    /// Bytes and marks of the session: now, and at the last change.
    counted: Option<(u64, u64)>,
    before: (u64, u64),
}

impl Track {
    /// A receiver whose first line has this time.
    pub(super) fn new(time_s: f64) -> Track {
        Track {
            level: -1,
            protocol: None,
            layers_bps: Vec::new(),
            since_s: time_s,
            loss_events: 0,
            last_loss_s: None,
            refused_joins: 0,
            belief: Belief::default(),
            counted: None,
            before: (0, 0),
        }
    }

    /// The rate of a level, if the trace has the session.
    pub(super) fn rate_of(&self, level: i32) -> Option<f64> {
        usize::try_from(level).ok().and_then(|level| self.layers_bps.get(level)).copied()
    }

    /// What happened since the last change of level.
    pub(super) fn before(&self, time_s: f64) -> Before {
        let (bytes, marked) = self.counted.unwrap_or_default();
        Before {
            held_s: time_s - self.since_s,
            bytes: self.counted.map(|_| bytes.saturating_sub(self.before.0)),
            loss_events: self.loss_events,
            last_loss_s: self.last_loss_s.map(|last| time_s - last),
            marked: marked.saturating_sub(self.before.1),
            refused_joins: self.refused_joins,
        }
    }

    /// Takes the next line. Returns its entry of the chain, if it has one.
    pub(super) fn take(&mut self, time_s: f64, note: &Note) -> Option<Entry> {
        let remark = |text: String| Some(Entry::Remark { time_s, text });
        match note {
            Note::Session { protocol, layers_bps, .. } => {
                self.layers_bps.clone_from(layers_bps);
                // The counters begin again with a session.
                (self.counted, self.before) = (None, (0, 0));
                let is_first = self.protocol.replace(protocol.clone()).is_none();
                if is_first { None } else { remark("followed another session".to_owned()) }
            }
            Note::LevelChanged { from, to, cause, belief } => {
                let belief = if *belief == Belief::default() { self.belief } else { *belief };
                let before = self.before(time_s);
                self.level = *to;
                self.since_s = time_s;
                (self.loss_events, self.last_loss_s, self.refused_joins) = (0, None, 0);
                self.before = self.counted.unwrap_or(self.before);
                let (from, to, cause) = (*from, *to, cause.clone());
                let to_bps = self.rate_of(to);
                Some(Entry::Decision(Decision { time_s, from, to, cause, belief, to_bps, before }))
            }
            Note::LossEvent { .. } => {
                self.loss_events += 1;
                self.last_loss_s = Some(time_s);
                None
            }
            Note::Estimates { bytes, marked, belief, .. } => {
                self.belief = *belief;
                self.counted = Some((*bytes, *marked));
                None
            }
            Note::JoinAttempt { joined: true, .. } => None,
            Note::JoinAttempt { to, joined: false } => {
                self.refused_joins += 1;
                remark(format!("gave up an attempt to reach level {to}"))
            }
            Note::SlowStartEnded { level } => remark(format!("slow start ended at level {level}")),
            Note::FirstRoundTrip { rtt_ms } => {
                remark(format!("measured the round-trip time for the first time: {rtt_ms:.1} ms"))
            }
            Note::Resynchronised { layer } => {
                remark(format!("lost track of the numbers of layer {layer}, and began to count again"))
            }
            Note::Silent { waited_s } => remark(format!("no packet for {waited_s:.1} s")),
            Note::LateLeave { channel, since_leave_s } => remark(format!(
                "channel {channel} still delivers packets {since_leave_s:.1} s after it was left"
            )),
            Note::LeftBehind { child, waited_s } => remark(format!(
                "child {child} made no progress for {waited_s:.1} s, and is no longer waited for"
            )),
            Note::SessionEnded => remark("the source ended the session".to_owned()),
            Note::Join { .. } | Note::Leave { .. } | Note::Unknown => None,
        }
    }
}
