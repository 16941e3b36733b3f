//! What a flow is called, and what is measured of it.

use crate::results::Role;

/// What is known of a flow before anything runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowName {
    /// Its name, `elm@R1`.
    pub name: String,
    /// Its protocol, `elm` or `tcp-sack`.
    pub protocol: String,
    /// What is measured.
    pub role: Role,
    /// The session that it belongs to, if it is a multicast receiver's.
    pub session: Option<String>,
    /// The node where it is measured.
    pub node: String,
}
