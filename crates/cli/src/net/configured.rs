//! What each mode of `send`, `receive` and `relay` gets: its options, made of the flags that its [table](crate::modes) allows.
//! Nothing else of a mode sees the arguments.
//!
//! `PartialEq` is not derived: the compiler then names a field that a mode never reads.

use std::net::SocketAddr;
use std::path::Path;

use layercast_core::family::AnyProtocol as _;
use layercast_delivery::active::downlinks::CHILDREN_MAX;
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::GroupKey;
use layercast_protocols::registry::Protocol;

use crate::failure::Failure;
use crate::modes::Given;
use crate::net::host_address::Host;
use crate::net::key::read_as;
use crate::output::complain;

pub(crate) fn input(text: &str) -> Failure {
    Failure::Input(format!("error: {text}"))
}

/// The group key in a file.
pub(crate) fn group_key(path: Option<&Path>) -> Result<Option<GroupKey>, Failure> {
    path.map(|path| read_as(path, KeyFile::into_group)).transpose()
}

/// The name of a protocol with routers.
pub(crate) fn with_routers(name: &str) -> Result<String, Failure> {
    let is_one = Protocol::named(name).is_some_and(|protocol| protocol.requirements().has_routers());
    if is_one {
        Ok(name.to_owned())
    } else {
        Err(input(&format!("`{name}` has no routers: use amca or nca")))
    }
}

/// Refuses more children of a node that takes part than it has links. By default it has as many.
pub(crate) fn check_links(most: usize, given: &Given) -> Result<(), Failure> {
    if given.has("max_children") && most > CHILDREN_MAX {
        return Err(input(&format!(
            "--max-children {most}: a router has {CHILDREN_MAX} links at most; put another relay below it"
        )));
    }
    Ok(())
}

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

/// Checks that no more hosts are named than a message or a description can name.
pub(crate) fn at_most(flag: &str, hosts: &[Host], most: usize) -> Result<(), Failure> {
    if hosts.len() <= most {
        return Ok(());
    }
    Err(input(&format!("{flag}: {} relays are named, and {most} can be; leave some out", hosts.len())))
}
