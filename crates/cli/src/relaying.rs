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
use crate::commands::Failure;
use crate::host_address::Host;
use crate::output::complain;
use crate::relaying_arguments::{Feedback, Relays, Serving};

/// All addresses of hosts, in their order, as far as they are known now.
///
/// # Errors
/// If none is, though hosts are named.
pub(crate) fn addresses(hosts: &[Host]) -> Result<Vec<SocketAddr>, Failure> {
    let (mut all, mut unknown) = (Vec::new(), Vec::new());
    for host in hosts {
        match host.addresses() {
            Ok(found) => all.extend(found),
            Err(error) => unknown.push(format!("the host {} is not found: {error}", host.name)),
        }
    }
    if all.is_empty() && !unknown.is_empty() {
        return Err(Failure::Other(anyhow::Error::msg(unknown.join("; "))));
    }
    unknown.iter().for_each(|text| complain(&format!("warning: {text}")));
    Ok(all)
}

/// The relays of a receiver: those that it is given, then those that the session's description names.
///
/// # Errors
/// If those that it is given are not found.
pub(crate) fn relays(arguments: &Relays, described: &[SocketAddr]) -> Result<RelayUse, Failure> {
    let mut relays = addresses(&arguments.relays)?;
    for relay in described.iter().filter(|_| !arguments.no_relays) {
        if !relays.contains(relay) {
            relays.push(*relay);
        }
    }
    let amt = match &arguments.amt {
        Some(Amt::At(relay)) => addresses(std::slice::from_ref(relay))?.first().copied().map(AmtRelay::At),
        Some(Amt::Discover) => Some(AmtRelay::Discover),
        None => None,
    };
    Ok(RelayUse {
        relays,
        amt,
        feedback: match arguments.feedback {
            Feedback::Relay => FeedbackPath::Relay,
            Feedback::Direct => FeedbackPath::Direct,
            Feedback::None => FeedbackPath::None,
        },
        only: arguments.relay_only,
    })
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
