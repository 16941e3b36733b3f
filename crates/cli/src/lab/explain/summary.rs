//! What a receiver did, summed over its trace.

use std::collections::BTreeMap;

use layercast_laboratory::results::note::{Belief, Note};
use serde::Serialize;

use super::track::{Decision, Entry, Track};

/// A receiver over its trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Summary {
    /// The receiver.
    pub(super) flow: String,
    /// The replication, from 1.
    pub(super) replication: u32,
    /// Its protocol, if the trace has the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<String>,
    /// When the trace begins and ends, in seconds.
    pub(super) begin_s: f64,
    /// When the last line was written.
    pub(super) end_s: f64,
    /// When time zero was, in seconds since 1970; not in the laboratory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) began_unix_s: Option<f64>,
    /// How many layers the session has, if the trace has it.
    pub(super) layers: usize,
    /// The rate of all layers, if the trace has the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_bps: Option<f64>,
    /// The levels that it held, from the lowest.
    pub(super) levels: Vec<AtLevel>,
    /// The mean level while it held one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean_level: Option<f64>,
    /// The mean rate while it held a level: as counted, or the mean of its levels' rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean_bps: Option<f64>,
    /// Whether bytes were counted by the receiver; if not, they are those of the levels' rates.
    pub(super) is_counted: bool,
    /// Changes of level, by direction and cause, the most frequent first.
    pub(super) changes: Vec<Changes>,
    /// Loss events.
    pub(super) loss_events: u64,
    /// Packets that routers marked.
    pub(super) marked: u64,
    /// Attempts to join that ended with the join.
    pub(super) joined_attempts: u64,
    /// Attempts to join that were given up.
    pub(super) refused_joins: u64,
    /// Leaves that took effect too late.
    pub(super) late_leaves: u64,
    /// When slow start ended the last time, and at which level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) slow_start_ended: Option<(f64, i32)>,
    /// The means of its estimates.
    #[serde(flatten)]
    pub(super) belief: Belief,
}

/// The time at a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct AtLevel {
    /// The level.
    pub(super) level: i32,
    /// The rate of its layers, if the trace has the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rate_bps: Option<f64>,
    /// Seconds.
    pub(super) held_s: f64,
    /// Bytes received; without counters, what its layers sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<f64>,
}

/// Changes of one direction and cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Changes {
    /// Whether upwards.
    pub(super) up: bool,
    /// The cause.
    pub(super) cause: String,
    /// How many.
    pub(super) count: u64,
}

/// A sum for a mean.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sum: f64,
    count: u64,
}

impl Sum {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// A summary in the making.
#[derive(Clone, Debug)]
pub(super) struct Summing {
    track: Track,
    begin_s: f64,
    began_unix_s: Option<f64>,
    levels: BTreeMap<i32, AtLevel>,
    is_counted: bool,
    changes: BTreeMap<(bool, String), u64>,
    loss_events: u64,
    marked: u64,
    joined_attempts: u64,
    refused_joins: u64,
    late_leaves: u64,
    slow_start_ended: Option<(f64, i32)>,
    fair: Sum,
    loss: Sum,
    rtt: Sum,
}

impl Summing {
    /// A receiver whose first line has this time.
    pub(super) fn new(time_s: f64) -> Summing {
        Summing {
            track: Track::new(time_s),
            begin_s: time_s,
            began_unix_s: None,
            levels: BTreeMap::new(),
            is_counted: false,
            changes: BTreeMap::new(),
            loss_events: 0,
            marked: 0,
            joined_attempts: 0,
            refused_joins: 0,
            late_leaves: 0,
            slow_start_ended: None,
            fair: Sum::default(),
            loss: Sum::default(),
            rtt: Sum::default(),
        }
    }

    /// Takes the next line.
    pub(super) fn take(&mut self, time_s: f64, note: &Note) {
        match note {
            Note::Session { began_unix_s, .. } => self.began_unix_s = self.began_unix_s.or(*began_unix_s),
            Note::LossEvent { .. } => self.loss_events += 1,
            Note::JoinAttempt { joined: true, .. } => self.joined_attempts += 1,
            Note::JoinAttempt { joined: false, .. } => self.refused_joins += 1,
            Note::LateLeave { .. } => self.late_leaves += 1,
            Note::SlowStartEnded { level } => self.slow_start_ended = Some((time_s, *level)),
            Note::Estimates { belief, .. } => {
                self.is_counted = true;
                self.fair.add(belief.fair_bps);
                self.loss.add(belief.loss);
                self.rtt.add(belief.rtt_ms);
            }
            _ => {}
        }
        let rate_bps = self.track.rate_of(self.track.level);
        if let Some(Entry::Decision(decision)) = self.track.take(time_s, note) {
            self.decided(&decision, rate_bps);
        }
    }

    fn decided(&mut self, decision: &Decision, rate_bps: Option<f64>) {
        *self.changes.entry((decision.to > decision.from, decision.cause.clone())).or_default() += 1;
        self.marked += decision.before.marked;
        self.held(decision.from, rate_bps, decision.before.held_s, decision.before.bytes);
    }

    fn held(&mut self, level: i32, rate_bps: Option<f64>, held_s: f64, bytes: Option<u64>) {
        let at = self.levels.entry(level).or_insert(AtLevel { level, rate_bps, ..AtLevel::default() });
        at.held_s += held_s;
        let bytes = bytes.map(|bytes| bytes as f64).or(rate_bps.map(|bps| bps * held_s / 8.0));
        at.bytes = bytes.map(|bytes| bytes + at.bytes.unwrap_or_default()).or(at.bytes);
    }

    /// The summary of a trace that ends then.
    pub(super) fn end(mut self, flow: &str, replication: u32, end_s: f64) -> Summary {
        let last = self.track.before(end_s);
        self.marked += last.marked;
        let rate_bps = self.track.rate_of(self.track.level);
        self.held(self.track.level, rate_bps, last.held_s, last.bytes);
        let levels: Vec<AtLevel> = self.levels.into_values().filter(|at| at.level >= 0).collect();
        let held_s: f64 = levels.iter().map(|at| at.held_s).sum();
        let over = |sum: f64| (held_s > 0.0).then(|| sum / held_s);
        let bytes: Option<f64> = levels.iter().map(|at| at.bytes).sum();
        let mut changes: Vec<Changes> =
            self.changes.into_iter().map(|((up, cause), count)| Changes { up, cause, count }).collect();
        changes.sort_by_key(|changes| (!changes.up, std::cmp::Reverse(changes.count)));
        Summary {
            flow: flow.to_owned(),
            replication,
            layers: self.track.layers_bps.len(),
            top_bps: self.track.layers_bps.last().copied(),
            protocol: self.track.protocol,
            begin_s: self.begin_s,
            end_s,
            began_unix_s: self.began_unix_s,
            mean_level: over(levels.iter().map(|at| f64::from(at.level) * at.held_s).sum()),
            mean_bps: bytes.and_then(|bytes| over(bytes * 8.0)),
            levels,
            is_counted: self.is_counted,
            changes,
            loss_events: self.loss_events,
            marked: self.marked,
            joined_attempts: self.joined_attempts,
            refused_joins: self.refused_joins,
            late_leaves: self.late_leaves,
            slow_start_ended: self.slow_start_ended,
            belief: Belief { fair_bps: self.fair.mean(), loss: self.loss.mean(), rtt_ms: self.rtt.mean() },
        }
    }
}
