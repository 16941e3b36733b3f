//! What a host gives an endpoint: the session when it is made, and packets.

use std::sync::Arc;

use layercast_core::session::SessionPlan;
use pyo3::prelude::*;

use super::header::HeaderClasses;
use super::random::Random;

/// One of the two roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Sends data.
    Source,
    /// Joins and leaves channels.
    Receiver,
}

impl Role {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Source => "source",
            Role::Receiver => "receiver",
        }
    }
}

/// What a host gives an endpoint at its making.
pub(super) struct Given {
    pub(super) role: Role,
    pub(super) plan: SessionPlan,
    pub(super) channels: u16,
    pub(super) headers: Arc<HeaderClasses>,
    pub(super) options: Py<PyAny>,
    pub(super) random: Py<Random>,
}

/// A packet that arrived.
#[pyclass(frozen, get_all, module = "layercast", name = "Packet")]
pub(crate) struct Packet {
    /// The channel on which it came; None for a packet from one member alone.
    pub(super) channel: Option<u16>,
    /// The member that sent it to this endpoint alone; None for a packet of a channel.
    pub(super) peer: Option<u32>,
    /// Its size on the wire in bytes.
    pub(super) size: u32,
    /// Whether a router marked it (ECN).
    pub(super) marked: bool,
    /// Its header.
    pub(super) header: Py<PyAny>,
}
