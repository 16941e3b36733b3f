//! What a receiver's host counts.

use layercast_delivery::node;

use super::leaves::LeaveCounters;

/// What a receiver and its host counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// What the receiver counted.
    pub node: node::ReceiverCounters,
    /// System calls that read from groups.
    pub read_calls: u64,
    /// Reports sent.
    pub reports: u64,
    /// Reports that could not be sent.
    pub unsent_reports: u64,
    /// How long packets of groups that were left still arrive.
    pub leaves: LeaveCounters,
}
