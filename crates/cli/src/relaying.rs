//! What `send` and `receive` have of relays.

use std::net::SocketAddr;

use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::{Allowed, SessionKey};
use layercast_transport::amt::AmtRelay;
use layercast_transport::receive::RelayUse;
use layercast_transport::relay::{FeedbackPath, ServeOptions};
use layercast_transport::send::ServeUse;

use crate::amt_arguments::Amt;
use crate::relaying_arguments::{Feedback, Relays, Serving, addresses};

/// The relays of a receiver: those that it is given, then those that the session's description names.
pub(crate) fn relays(arguments: &Relays, described: &[SocketAddr]) -> RelayUse {
    let mut relays = addresses(&arguments.relays);
    for relay in described.iter().filter(|_| !arguments.no_relays) {
        if !relays.contains(relay) {
            relays.push(*relay);
        }
    }
    RelayUse {
        relays,
        amt: arguments.amt.map(|relay| match relay {
            Amt::At(relay) => AmtRelay::At(relay),
            Amt::Discover => AmtRelay::Discover,
        }),
        feedback: match arguments.feedback {
            Feedback::Relay => FeedbackPath::Relay,
            Feedback::Direct => FeedbackPath::Direct,
            Feedback::None => FeedbackPath::None,
        },
        only: arguments.relay_only,
    }
}

/// How a sender serves children itself.
pub(crate) fn serving(arguments: &Serving, group: SocketAddr) -> Option<ServeUse> {
    let listen = arguments.serve?;
    let limits =
        Limits { children: arguments.max_children, per_address: arguments.max_children, ..Limits::default() };
    let allowed = Allowed { sessions: vec![SessionKey { group, source: None }], prefixes: Vec::new() };
    let serve =
        ServeOptions { listen, allowed, alternatives: Alternatives::default(), limits, highest: None };
    Some(ServeUse { serve, only: arguments.serve_only })
}
