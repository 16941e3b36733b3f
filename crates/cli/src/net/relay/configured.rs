//! The modes of `layercast relay`.

use std::net::SocketAddr;

use layercast_delivery::relay::message::{ALTERNATIVES_MAX, Alternatives};
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::{Allowed, SessionKey};
use layercast_transport::active::RouterOptions;
use layercast_transport::relay::{RelayOptions, ServeOptions};

use crate::failure::Failure;
use crate::modes::Given;
use crate::net::configured::{addresses, at_most, check_links, input, with_routers};
use crate::net::finding::session_key;
use crate::net::relay::arguments::Relay;
use crate::net::relay::modes::{RELAY, RelayMode};

/// A mode with what it needs.
// Made once.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(crate) enum RelayConfig {
    Forwarding(Forwarding),
    Routing(Routing),
}

/// A relay that sends on what it gets, by joining groups or from a relay above.
#[derive(Debug)]
pub(crate) struct Forwarding {
    pub(crate) options: RelayOptions,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) quiet: bool,
    /// The emulated world runs it.
    pub(crate) attended: bool,
}

/// A relay whose router takes part in the session.
#[derive(Debug)]
pub(crate) struct Routing {
    pub(crate) options: RouterOptions,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) quiet: bool,
}

impl RelayConfig {
    pub(crate) fn of(relay: &Relay, given: &Given) -> Result<RelayConfig, Failure> {
        at_most("--alternative", &relay.alternatives, ALTERNATIVES_MAX)?;
        Ok(match RELAY.mode(given) {
            RelayMode::Router => RelayConfig::Routing(routing(relay, given)?),
            RelayMode::Groups => RelayConfig::Forwarding(forwarding(relay, relay.interface.clone())?),
            RelayMode::Parent => RelayConfig::Forwarding(forwarding(relay, None)?),
        })
    }
}

fn forwarding(relay: &Relay, interface: Option<String>) -> Result<Forwarding, Failure> {
    let sessions: Result<Vec<SessionKey>, Failure> =
        relay.sessions.iter().map(|session| session_key(session)).collect();
    let sessions = sessions?;
    if let Some(key) = sessions.iter().find(|key| !key.is_valid()) {
        let group = key.group;
        return Err(input(&format!("{group} is no multicast group that a session may use")));
    }
    let allowed = Allowed { sessions, prefixes: relay.allow.clone() };
    let (children, per_address) = (relay.max_children, relay.max_per_address);
    let options = RelayOptions {
        serve: ServeOptions {
            listen: relay.listen,
            allowed,
            alternatives: Alternatives::new(addresses(&relay.alternatives)?),
            limits: Limits { children, per_address, ..Limits::default() },
            highest: relay.max_rate,
        },
        parents: addresses(&relay.parents)?,
        interface,
        local: relay.local.clone(),
    };
    let (metrics, quiet, attended) = (relay.metrics, relay.quiet, relay.attended);
    Ok(Forwarding { options, metrics, quiet, attended })
}

fn routing(relay: &Relay, given: &Given) -> Result<Routing, Failure> {
    let [session] = relay.sessions.as_slice() else {
        return Err(input("--protocol needs one session, such as 239.1.2.0:5500"));
    };
    check_links(relay.max_children, given)?;
    let options = RouterOptions {
        session: SessionKey { source: None, ..session_key(session)? },
        protocol: with_routers(relay.protocol.as_deref().unwrap_or_default())?,
        listen: relay.listen,
        parents: addresses(&relay.parents)?,
        children: relay.max_children,
        alternatives: Alternatives::new(addresses(&relay.alternatives)?),
    };
    Ok(Routing { options, metrics: relay.metrics, quiet: relay.quiet })
}
