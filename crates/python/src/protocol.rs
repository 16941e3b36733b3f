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

/// Which family holds all protocols. What reads a scenario and what runs it must use one value: another thread may define
/// the first protocol in between.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Families {
    /// The built-in one: Python has defined nothing.
    BuiltIn,
    /// That of [`Both`].
    Both,
}

impl Families {
    pub(crate) fn now() -> Families {
        if all().is_empty() { Families::BuiltIn } else { Families::Both }
    }
}

/// Code over the family that holds all protocols.
macro_rules! with_family {
    ($families:expr, $family:ident => $body:expr) => {
        match $families {
            $crate::protocol::Families::Both => {
                type $family = $crate::protocol::Both;
                $body
            }
            $crate::protocol::Families::BuiltIn => {
                type $family = layercast_protocols::registry::Registry;
                $body
            }
        }
    };
}
pub(crate) use with_family;
