//! What a receiver's host counts.

use layercast_delivery::node;
use serde::Serialize;

use super::leaves::LeaveCounters;

/// What a receiver and its host counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReceiverCounters {
    /// What the receiver counted.
    #[serde(flatten)]
    pub node: node::ReceiverCounters,
    /// System calls that read from groups.
    #[serde(skip)]
    pub read_calls: u64,
    /// Reports sent.
    #[serde(skip)]
    pub reports: u64,
    /// Reports that could not be sent.
    #[serde(skip)]
    pub unsent_reports: u64,
    /// How long packets of groups that were left still arrive.
    #[serde(flatten)]
    pub leaves: LeaveCounters,
}
