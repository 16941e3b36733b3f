//! What a receiver's host counts.

use layercast_delivery::accept::AcceptCounters;

use super::leaves::LeaveCounters;

/// What a receiver's host counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Packets by what became of them.
    pub accept: AcceptCounters,
    /// System calls that read from groups.
    pub read_calls: u64,
    /// Packets that routers marked.
    pub marked: u64,
    /// Reports sent.
    pub reports: u64,
    /// Reports that could not be sent.
    pub unsent_reports: u64,
    /// Joins that failed.
    pub failed_joins: u64,
    /// How long packets of groups that were left still arrive.
    pub leaves: LeaveCounters,
    /// Changes of level.
    pub level_changes: u64,
    /// Loss events.
    pub loss_events: u64,
}
