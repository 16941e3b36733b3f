//! Protocols whose rules are in Python, in the simulator next to the built-in ones.
//!
//! They are a [family](layercast_core::family) that is joined to the built-in one as soon as Python has defined a
//! protocol; until then nothing of it is on the path of a packet.

mod base;
mod checks;
mod chosen;
mod clocks;
mod context;
mod endpoint;
mod family;
mod given;
mod header;
mod options;
mod origins;
mod random;
mod registered;
mod words;

use layercast_core::family::Union;
use layercast_protocols::registry::Registry;

pub(crate) use base::EndpointBase;
pub(crate) use checks::check_protocol;
pub(crate) use clocks::LayerClocks;
pub(crate) use context::Context;
pub(crate) use given::Packet;
pub(crate) use origins::{Origin, fetch, mentioned, origins};
pub(crate) use random::Random;
pub(crate) use registered::{all, defined, register, unregister};

/// The built-in protocols and those of Python.
pub(crate) type Both = Union<Registry, family::PythonFamily>;

/// Whether Python has defined a protocol.
pub(crate) fn any() -> bool {
    !all().is_empty()
}

/// Code over the family that holds all protocols: the built-in one alone where that is all.
macro_rules! with_family {
    ($family:ident => $body:expr) => {
        if $crate::protocol::any() {
            type $family = $crate::protocol::Both;
            $body
        } else {
            type $family = layercast_protocols::registry::Registry;
            $body
        }
    };
}
pub(crate) use with_family;
