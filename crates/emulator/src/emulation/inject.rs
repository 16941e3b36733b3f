//! From a host into the network: what a kernel has sent.

use std::net::IpAddr;

use layercast_core::contract::Ecn;
use layercast_core::units::Size;
use layercast_delivery::membership::report::Report;
use layercast_simulator::{ForeignPacket, ForeignPath, NodeId};

use super::{Emulation, Warned};
use crate::host::HostId;
use crate::packet::{View, is_link_local_group, membership_report};
use crate::store::address;
use layercast_simulator::outside::Handle;

/// How many flows of one path a queue can distinguish.
const LABELS: u16 = 1024;

impl Emulation {
    /// A host has sent the first `length` bytes of the buffer, now.
    pub(super) fn inject(&mut self, from: HostId, length: usize) {
        let bytes = std::mem::take(&mut self.buffer);
        match bytes.get(..length).and_then(View::of) {
            Some(view) => self.route(from, &view, &bytes[..view.length]),
            None => self.dropped.malformed += 1,
        }
        self.take_losses();
        self.buffer = bytes;
    }

    fn route(&mut self, from: HostId, view: &View, bytes: &[u8]) {
        if let Some(report) = membership_report(view, bytes) {
            return self.report(from, &report);
        }
        if view.destination.is_multicast() {
            if !is_link_local_group(view.destination) {
                self.multicast(from, view, bytes);
            }
            return;
        }
        let is_local = match view.destination {
            IpAddr::V4(to) => to.is_link_local() || to.is_broadcast(),
            IpAddr::V6(to) => to.is_unicast_link_local(),
        };
        if !is_local {
            self.unicast(from, view, bytes);
        }
    }

    /// A membership report.
    fn report(&mut self, from: HostId, report: &Report) {
        for record in &report.records {
            let Some(place) = self.places.get_mut(from.0 as usize) else { return };
            if is_link_local_group(record.group) {
                continue;
            }
            if let Err(error) = place.joined.apply(record) {
                if !std::mem::replace(&mut place.warned.memberships, true) {
                    tracing::warn!("memberships of {} are ignored: {error}", place.host.name());
                }
                continue;
            }
            self.update_group(from, record.group);
        }
    }

    fn multicast(&mut self, from: HostId, view: &View, bytes: &[u8]) {
        let group = view.destination;
        let known = self.sessions.find(from, group);
        let Some((session, channel)) = known.or_else(|| self.strange_group(from, group)) else {
            self.dropped.groups += 1;
            return self.warn(
                from,
                |warned| &mut warned.groups,
                || {
                    format!(
                        "packets to {group} are not carried: it is a group of no session, or one too many"
                    )
                },
            );
        };
        let carried = &self.sessions.list[session];
        let least = carried.ends.iter().map(|&(_, routers)| routers).min().unwrap_or_default();
        if view.hops <= least {
            return self.expire(from, view, least);
        }
        let (id, packet) = (carried.id, foreign(view, false));
        if let Some(slot) = self.simulation.multicast_foreign(id, channel, packet, Handle) {
            self.store.put(slot, bytes, view.hops);
        }
    }

    fn unicast(&mut self, from: HostId, view: &View, bytes: &[u8]) {
        let to = address::host(view.destination).filter(|&to| (to as usize) < self.places.len()).map(HostId);
        let (Some(source), Some(target)) = (self.host(from), to.and_then(|to| self.host(to))) else {
            return self.refuse(from, view);
        };
        let (to, above, below) = (target.id(), source.node(), target.node());
        let relayed = self.hops.find(from, to, view, bytes);
        if above == below {
            // There is no link between them.
            if let Some(relayed) = relayed {
                self.hops.count(&mut self.simulation, relayed, Ecn::NotCapable);
            }
            if let Some(place) = self.places.get(to.0 as usize) {
                self.lateness.refused += u64::from(place.device.write(bytes).is_err());
            }
            return;
        }
        let flow = self.flows.find(from, to, view);
        let declared = flow
            .map(|(path, counts)| (path, self.flow_routers.get(&path).copied().unwrap_or_default(), counts));
        let hop = relayed.and_then(|relayed| self.hops.path(relayed));
        let declared = declared.or_else(|| hop.map(|(path, routers)| (path, routers, true)));
        let path = declared.or_else(|| self.path(above, below).map(|(path, routers)| (path, routers, false)));
        let Some((path, routers, counts)) = path else { return self.refuse(from, view) };
        if view.hops <= routers {
            return self.expire(from, view, routers);
        }
        if let Some(slot) = self.simulation.send_foreign(path, foreign(view, counts), Handle) {
            self.store.put(slot, bytes, view.hops - routers);
        }
    }

    /// The path between two nodes, opened when it is needed for the first time.
    fn path(&mut self, from: NodeId, to: NodeId) -> Option<(ForeignPath, u8)> {
        if let Some(known) = self.paths.get(&(from, to)) {
            return *known;
        }
        let opened = self.simulation.open_path(from, to).ok().map(|path| (path, self.routers_on(path)));
        self.paths.insert((from, to), opened);
        opened
    }

    fn refuse(&mut self, from: HostId, view: &View) {
        self.dropped.unroutable += 1;
        let to = view.destination;
        self.warn(from, |warned| &mut warned.unroutable, || format!("there is no host {to} to reach"));
    }

    fn expire(&mut self, from: HostId, view: &View, routers: u8) {
        self.dropped.expired += 1;
        let (hops, to) = (view.hops, view.destination);
        self.warn(from, |warned| &mut warned.expired, || {
            format!(
                "packets to {to} have TTL {hops} and end at one of {routers} routers; raise the TTL of the program \
                 (multicast programs often have 1: option IP_MULTICAST_TTL or IPV6_MULTICAST_HOPS)"
            )
        });
    }

    /// Warns once of each kind for each host.
    pub(super) fn warn(
        &mut self,
        host: HostId,
        which: impl FnOnce(&mut Warned) -> &mut bool,
        text: impl FnOnce() -> String,
    ) {
        if let Some(place) = self.places.get_mut(host.0 as usize)
            && !std::mem::replace(which(&mut place.warned), true)
        {
            tracing::warn!("{}: {}", place.host.name(), text());
        }
    }
}

/// A packet as the simulation sees it.
fn foreign(view: &View, counts: bool) -> ForeignPacket {
    let size = Size::from_bytes(view.length as u32);
    ForeignPacket { size, ecn: view.ecn, label: view.label(LABELS), counts }
}
