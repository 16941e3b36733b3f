//! Sessions: which group is which channel, and who has joined it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use layercast_core::units::{Channel, Time};
use layercast_simulator::{
    EcnField, Latency, NetworkError, ReceiverConfig, ReceiverId, SessionConfig, SessionId,
};

use super::{Emulation, address_like, routers};
use crate::error::Error;
use crate::host::HostId;
use layercast_simulator::outside::{Foreign, ForeignReceiver, Outsider};

/// How many groups of no declared session a host can send to.
const STRANGE_GROUPS: u16 = 64;

/// A session to carry.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    /// What its random streams are named after; should be unique.
    pub name: String,
    /// The host that sends.
    pub source: HostId,
    /// The group of each channel.
    pub groups: Vec<IpAddr>,
    /// Its receivers.
    pub receivers: Vec<ReceiverPlan>,
    /// When its source starts, for results.
    pub start: Time,
    /// When its source stops, if before the end.
    pub stop: Option<Time>,
}

/// A receiver of a session.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverPlan {
    /// Its host. A host may receive a session once.
    pub host: HostId,
    /// The time from a join to its graft.
    pub join_latency: Latency,
    /// How long the router above goes on forwarding after a leave.
    pub leave_latency: Latency,
}

/// A session that is carried.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) id: SessionId,
    pub(super) source: HostId,
    pub(super) groups: Vec<IpAddr>,
    /// The receiver in a host.
    receivers: BTreeMap<HostId, ReceiverId>,
    /// The host of each receiver and how many routers are on the way to it, in the order of the simulation.
    pub(super) ends: Vec<(HostId, u8)>,
    /// Which channels each receiver has joined.
    joined: BTreeSet<(ReceiverId, u16)>,
    /// How many groups it can have, if it is of a host that sends to groups of no declared session.
    pub(super) room: u16,
}

/// All sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) list: Vec<Carried>,
    /// The session and channel on which a host sends to a group.
    by_source: BTreeMap<(HostId, IpAddr), (usize, Channel)>,
    /// All sessions and channels of a group.
    by_group: BTreeMap<IpAddr, Vec<(usize, Channel)>>,
    /// The session of each host that sends to groups of no declared session.
    pub(super) strangers: BTreeMap<HostId, Option<usize>>,
}

impl Sessions {
    pub(super) fn find(&self, source: HostId, group: IpAddr) -> Option<(usize, Channel)> {
        self.by_source.get(&(source, group)).copied()
    }

    /// Adds a group to a session, as its next channel.
    fn add_group(&mut self, session: usize, group: IpAddr) -> Option<Channel> {
        let carried = self.list.get_mut(session)?;
        let channel = Channel(u16::try_from(carried.groups.len()).ok()?);
        carried.groups.push(group);
        self.by_source.insert((carried.source, group), (session, channel));
        self.by_group.entry(group).or_default().push((session, channel));
        Some(channel)
    }
}

impl Emulation {
    /// Carries a session: what its source sends to its groups goes down the tree to the receivers that have joined
    /// them. The ids of the receivers are in the order of the plan.
    ///
    /// # Errors
    /// [`Error::Network`].
    pub fn add_session(&mut self, plan: SessionPlan) -> Result<Vec<ReceiverId>, Error> {
        let (session, ids) = self.open_session(&plan, 0)?;
        for group in plan.groups {
            self.sessions.add_group(session, group);
        }
        Ok(ids)
    }

    /// Opens a session with room for so many groups that are not known now. Returns its place.
    fn open_session(&mut self, plan: &SessionPlan, room: u16) -> Result<(usize, Vec<ReceiverId>), Error> {
        let SessionPlan { ref name, source, ref groups, receivers: ref plans, start, stop } = *plan;
        let unknown = || NetworkError::NoPath { from: format!("host {}", source.0), to: name.clone() };
        let source_node = self.host(source).ok_or_else(unknown)?.node();
        let mut receivers = Vec::with_capacity(plans.len());
        for plan in plans {
            receivers.push(ReceiverConfig {
                node: self.host(plan.host).ok_or_else(unknown)?.node(),
                receiver: ForeignReceiver::new(plan.host),
                start,
                stop,
                join_latency: plan.join_latency,
                leave_latency: plan.leave_latency,
            });
        }
        let config = SessionConfig {
            source_node,
            source: Outsider,
            channels: u16::try_from(groups.len()).unwrap_or(u16::MAX).max(room),
            ecn: EcnField::NotCapable,
            observes_late_packets: true,
            name: name.clone(),
            start,
            stop,
            receivers: receivers.into_iter().collect(),
            packets: None,
            routers: None,
        };
        let hosts: Vec<HostId> = plans.iter().map(|plan| plan.host).collect();
        let ids = self.simulation.add_session(config)?;
        let first = ids.first().ok_or_else(unknown)?.session();
        Ok((self.keep_session(first, room, source, &hosts, &ids), ids))
    }

    /// Carries a session that was planned for the simulation, with the host of its source, the group of each
    /// channel, and the hosts of its receivers in the order of the plan. Its receivers observe late packets,
    /// since a host's link carries what the kernel no longer wants.
    ///
    /// # Errors
    /// [`Error::Network`].
    pub fn carry_session(
        &mut self,
        mut config: SessionConfig<Foreign>,
        source: HostId,
        groups: &[IpAddr],
        hosts: &[HostId],
    ) -> Result<Vec<ReceiverId>, Error> {
        config.observes_late_packets = true;
        let ids = self.simulation.add_session(config)?;
        if let Some(first) = ids.first() {
            let session = self.keep_session(first.session(), 0, source, hosts, &ids);
            for &group in groups {
                self.sessions.add_group(session, group);
            }
        }
        Ok(ids)
    }

    /// Keeps what is needed to carry a session. Returns its place.
    fn keep_session(
        &mut self,
        id: SessionId,
        room: u16,
        source: HostId,
        hosts: &[HostId],
        ids: &[ReceiverId],
    ) -> usize {
        let mut ends = vec![(source, 0); ids.len()];
        for (&host, id) in hosts.iter().zip(ids) {
            ends[id.index()] = (host, routers(self.simulation.receiver_path(*id).len()));
        }
        self.sessions.list.push(Carried {
            id,
            source,
            groups: Vec::new(),
            receivers: hosts.iter().copied().zip(ids.iter().copied()).collect(),
            ends,
            joined: BTreeSet::new(),
            room,
        });
        self.sessions.list.len() - 1
    }

    /// The session and channel of a group of no declared session, to which a host sends for the first time. None
    /// if there is no room for it, or nobody to receive it.
    pub(super) fn strange_group(&mut self, source: HostId, group: IpAddr) -> Option<(usize, Channel)> {
        let (join_latency, leave_latency) = self.options.strangers?;
        let session = match self.sessions.strangers.get(&source) {
            Some(known) => *known,
            None => {
                let node = self.host(source)?.node();
                let others = self.places.iter().map(|place| &place.host).filter(|host| host.node() != node);
                let receivers = others
                    .map(|host| ReceiverPlan { host: host.id(), join_latency, leave_latency })
                    .collect();
                let name = format!("groups of {}", self.host(source)?.name());
                let (groups, start) = (Vec::new(), self.simulation.now());
                let plan = SessionPlan { name, source, groups, receivers, start, stop: None };
                let opened = self.open_session(&plan, STRANGE_GROUPS);
                let session = opened.ok().map(|(session, _)| session);
                self.sessions.strangers.insert(source, session);
                session
            }
        }?;
        let carried = &self.sessions.list[session];
        if carried.groups.len() >= usize::from(carried.room) {
            return None;
        }
        let channel = self.sessions.add_group(session, group)?;
        let hosts: Vec<HostId> = carried_hosts(&self.sessions.list[session]);
        for host in hosts {
            self.update_channel(host, group, session, channel);
        }
        Some((session, channel))
    }

    /// A host's membership in a group has changed.
    pub(super) fn update_group(&mut self, host: HostId, group: IpAddr) {
        for index in 0.. {
            let of_group = self.sessions.by_group.get(&group);
            let Some(&(session, channel)) = of_group.and_then(|list| list.get(index)) else { return };
            self.update_channel(host, group, session, channel);
        }
    }

    /// Joins or leaves a channel as a host wants it.
    fn update_channel(&mut self, host: HostId, group: IpAddr, session: usize, channel: Channel) {
        let Some(carried) = self.sessions.list.get_mut(session) else { return };
        let Some(&receiver) = carried.receivers.get(&host) else { return };
        let Some(place) = self.places.get(host.0 as usize) else { return };
        let key = (receiver, channel.0);
        if place.joined.wants(group, address_like(carried.source, group)) {
            if carried.joined.insert(key) {
                self.simulation.join(receiver, channel);
            }
        } else if carried.joined.remove(&key) {
            self.simulation.leave(receiver, channel);
        }
    }
}

fn carried_hosts(carried: &Carried) -> Vec<HostId> {
    carried.receivers.keys().copied().collect()
}
