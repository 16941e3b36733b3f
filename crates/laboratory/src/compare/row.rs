//! The results of one protocol.

use serde::Serialize;

use super::completion::Completion;
use super::effects::Effect;
use super::receivers::ReceiverRow;
use crate::results::Statistic;

/// The results of a protocol: means over its receivers, of each replication first.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The protocol.
    pub protocol: String,
    /// The command that runs it alone.
    pub command: String,
    /// Throughput of a receiver in kbit/s.
    pub throughput_kbps: Statistic,
    /// Throughput over the mean of the competing TCP flows: those of its group, or else of its node.
    pub share_of_tcp: Statistic,
    /// How close receivers are to an equal share, from 0 to 1: the mean of the share of TCP, or of its inverse where
    /// that is less.
    pub fair_share_closeness: Statistic,
    /// What the other traffic lost, in per cent: the mean over its kinds of what each got less, or took longer.
    pub harm_percent: Statistic,
    /// The effect on each kind of other traffic.
    pub effects: Vec<Effect>,
    /// When receivers had the object of their session; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// The Jain index, mean over the groups with a receiver.
    pub jain_index: Statistic,
    /// The share of packets lost on the path to a receiver.
    pub loss_rate: Statistic,
    /// The part of it that queues lost, as the mean over receivers: without the packets that links lose whatever their load.
    pub queue_loss: Option<f64>,
    /// Own packets lost in a loss event that a receiver caused.
    pub own_lost_per_event: Statistic,
    /// Others' packets lost in such an event.
    pub others_lost_per_event: Statistic,
    /// Changes of level a minute.
    pub level_changes_per_min: Statistic,
    /// Joins of channels a second.
    pub channel_joins_per_s: Statistic,
    /// Leaves of channels a second.
    pub channel_leaves_per_s: Statistic,
    /// When the level came to stay within one of its final median, in seconds.
    pub settled_after_s: Statistic,
    /// Utilisation of the links that limit the receivers, or else are the fullest of their paths.
    pub utilisation: Statistic,
    /// Processor time for a simulated second in milliseconds; differs from run to run.
    pub cpu_ms_per_s: Option<f64>,
    /// Paired differences to the reference; none for the reference itself.
    pub differences: Vec<Difference>,
    /// What it did, in words.
    pub verdict: String,
    /// Each receiver by itself.
    pub receivers: Vec<ReceiverRow>,
}

/// A paired difference to the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// What was compared.
    pub metric: &'static str,
    /// How it is named in tables.
    #[serde(skip)]
    pub heading: &'static str,
    /// The difference: in the unit of the metric, in percentage points for rates of loss and harm, and in per cent of
    /// the reference for throughputs and times.
    pub difference: Statistic,
    /// True if the whole 95 % interval is above zero, false if below; null when it holds zero, or with too few
    /// replications.
    pub shown: Option<bool>,
}
