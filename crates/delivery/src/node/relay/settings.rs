//! What a relay is to do.

use std::net::SocketAddr;

use layercast_core::units::Rate;

use crate::relay::message::Alternatives;
use crate::relay::parent::Limits;
use crate::relay::session::Allowed;

/// From where the packets of a relay's sessions come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Above {
    /// From the source itself, whose host this is.
    Source,
    /// By multicast of the host's network.
    Multicast,
    /// From these relays: the first that serves it, and the next one when that is gone.
    Relays(Vec<SocketAddr>),
}

impl From<Vec<SocketAddr>> for Above {
    /// These relays, or multicast if there are none.
    fn from(relays: Vec<SocketAddr>) -> Above {
        if relays.is_empty() { Above::Multicast } else { Above::Relays(relays) }
    }
}

/// What a relay is to do.
#[derive(Clone, Debug)]
pub struct RelaySettings {
    /// The sessions that are served.
    pub allowed: Allowed,
    /// Relays that are named to children that are refused.
    pub alternatives: Alternatives,
    /// What it does at most.
    pub limits: Limits,
    /// The highest rate of all that is sent to children.
    pub highest: Option<Rate>,
    /// From where packets come.
    pub above: Above,
}
