//! What a source counts.

use serde::Serialize;

/// What a source did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceCounters {
    /// Packets sent.
    pub packets: u64,
    /// Their bytes with all headers.
    pub bytes: u64,
    /// Packets that the network refused, for lack of buffer space or while it was down.
    #[serde(rename = "packets_refused")]
    pub refused: u64,
    /// Reports accepted.
    pub reports: u64,
    /// Reception reports of this session, if receivers are polled.
    pub reception_reports: u64,
    /// Messages of receivers that say which level they hold, if they are asked.
    pub demands: u64,
    /// Completions accepted, copies included.
    #[serde(skip)]
    pub completions: u64,
    /// Feedback that was invalid or of another session.
    #[serde(rename = "feedback_rejected")]
    pub bad_feedback: u64,
    /// Messages without the tag of the group key.
    #[serde(rename = "feedback_forged")]
    pub forged_feedback: u64,
    /// Reports of receivers beyond those that the protocol serves.
    #[serde(skip)]
    pub turned_away: u64,
}
