//! Hosts in arguments: by name or address, with a port or with a usual one.

use std::net::{SocketAddr, ToSocketAddrs as _};

/// All addresses of a host, at least one.
pub(crate) fn addresses_of(text: &str, usual_port: u16) -> Result<Vec<SocketAddr>, String> {
    let has_port = text.parse::<SocketAddr>().is_ok()
        || text
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.contains(':') && port.parse::<u16>().is_ok());
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let found = if has_port { text.to_socket_addrs() } else { (bare, usual_port).to_socket_addrs() };
    let found: Vec<SocketAddr> = found.map_err(|error| format!("the host is not found: {error}"))?.collect();
    if found.is_empty() { Err("the host has no address".to_owned()) } else { Ok(found) }
}
