//! A simulation that follows the wall clock and carries the packets of hosts.

mod inject;
mod relays;
mod sessions;
mod turn;

use std::collections::BTreeMap;
use std::fs::File;
use std::net::IpAddr;

use layercast_core::units::{Duration, Time};
use layercast_simulator::{ForeignArrival, ForeignPath, Latency, Network, NetworkError, NodeId, Simulation};
use rustix::event::epoll;
use rustix::fd::OwnedFd;

use crate::children::Children;
use crate::clock::Clock;
use crate::device::Device;
use crate::error::Error;
use crate::flow::{Flows, Match};
use crate::host::{Host, HostId};
use crate::lateness::Lateness;
use crate::membership::Joined;
use crate::namespace::{self, Made, Setup};
use crate::report::{Inbox, Reports};
use crate::store::{Store, address};
use layercast_simulator::outside::{Arrived, Foreign, Handle};

use self::relays::Hops;
pub use self::relays::{HopPlan, ReadRelayed};
use self::sessions::Sessions;
pub use self::sessions::{ReceiverPlan, SessionPlan};

/// A host to make.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// The node at which it is. There may be several at a node.
    pub node: NodeId,
    /// Its name, for messages.
    pub name: String,
}

/// A flow to count: the packets from one host to another with a protocol and ports.
#[derive(Clone, Copy, Debug)]
pub struct FlowPlan {
    /// The host that sends its data.
    pub from: HostId,
    /// The host that receives it.
    pub to: HostId,
    /// Its protocol: see [`protocol`](crate::packet::protocol).
    pub protocol: u8,
    /// The sender's port; any if none.
    pub from_port: Option<u16>,
    /// The receiver's port; any if none.
    pub to_port: Option<u16>,
}

/// How an emulation works.
#[derive(Clone, Debug)]
pub struct Options {
    /// The largest packet of the hosts, IP header included.
    pub mtu: u16,
    /// How many packets a host's kernel keeps until the emulation takes them.
    pub queue: u32,
    /// How long before an event the emulation stops to sleep and watches the clock instead. It then uses a
    /// processor alone.
    pub spin: Duration,
    /// Whether it runs before all other programs (SCHED_FIFO). Where that is not allowed, it warns and does without.
    pub urgent: bool,
    /// The latencies of joins and leaves of groups of no declared session; none to carry no such groups.
    pub strangers: Option<(Latency, Latency)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mtu: 1500,
            queue: 10_000,
            spin: Duration::from_us(50),
            urgent: true,
            strangers: Some((Latency::NONE, Latency::NONE)),
        }
    }
}

/// Packets of hosts that were not brought into the network, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Their TTL or hop limit did not suffice for the routers on their path.
    pub expired: u64,
    /// There is no host with that address, or no path to it.
    pub unroutable: u64,
    /// They are no IP packets.
    pub malformed: u64,
    /// They are for groups beyond what can be carried.
    pub groups: u64,
}

/// A host and its door.
struct Place {
    host: Host,
    device: Device,
    statistics: File,
    joined: Joined,
    /// What was warned about already.
    warned: Warned,
}

#[derive(Clone, Copy, Default)]
struct Warned {
    expired: bool,
    unroutable: bool,
    groups: bool,
    memberships: bool,
}

/// An emulated network.
pub struct Emulation {
    simulation: Simulation<Foreign>,
    places: Vec<Place>,
    sessions: Sessions,
    flows: Flows,
    hops: Hops,
    /// The path from one node to another, and how many routers are on it. None if there is none.
    paths: BTreeMap<(NodeId, NodeId), Option<(ForeignPath, u8)>>,
    /// How many routers are on the path of a flow.
    flow_routers: BTreeMap<ForeignPath, u8>,
    store: Store,
    inbox: Inbox,
    clock: Option<Clock>,
    waiter: OwnedFd,
    options: Options,
    lateness: Lateness,
    processor_time: std::time::Duration,
    dropped: Dropped,
    /// Where arrivals are put before they are written.
    arrivals: Vec<ForeignArrival<Handle>>,
    multicast_arrivals: Vec<Arrived>,
    buffer: Vec<u8>,
    /// The last: what runs in the hosts ends when everything else has gone.
    _children: Children,
}

impl Emulation {
    /// Makes the hosts of a network. `seed` decides on its random losses, latencies and queues.
    ///
    /// # Errors
    /// [`Error::Rights`] and [`Error::Tun`] if the system does not allow it.
    pub fn new(
        network: Network,
        plans: Vec<HostPlan>,
        options: Options,
        seed: u64,
    ) -> Result<Emulation, Error> {
        if plans.len() > address::MOST_HOSTS {
            return Err(Error::TooManyHosts { hosts: plans.len(), most: address::MOST_HOSTS });
        }
        let children = Children::start()?;
        let waiter = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|error| Error::system("epoll_create")(error.into()))?;
        let setup = Setup { mtu: options.mtu, queue: options.queue };
        let mut places = Vec::with_capacity(plans.len());
        for (number, plan) in (0..).zip(&plans) {
            let Some(starter) = children.starter() else { break };
            let Made { namespace, device, statistics } = namespace::make(number, &plan.name, setup)?;
            let data = epoll::EventData::new_u64(u64::from(number));
            epoll::add(&waiter, &device, data, epoll::EventFlags::IN)
                .map_err(|error| Error::system("epoll_ctl")(error.into()))?;
            let host = Host::new(HostId(number), plan.node, &plan.name, namespace, starter);
            let (joined, warned) = (Joined::default(), Warned::default());
            places.push(Place { host, device, statistics, joined, warned });
        }
        let mut simulation = Simulation::new(network, seed);
        simulation.record_link_delays();
        Ok(Emulation {
            simulation,
            places,
            sessions: Sessions::default(),
            flows: Flows::default(),
            hops: Hops::default(),
            paths: BTreeMap::new(),
            flow_routers: BTreeMap::new(),
            store: Store::default(),
            inbox: Inbox::default(),
            clock: None,
            waiter,
            buffer: vec![0; usize::from(u16::MAX)],
            options,
            lateness: Lateness::default(),
            processor_time: std::time::Duration::ZERO,
            dropped: Dropped::default(),
            arrivals: Vec::new(),
            multicast_arrivals: Vec::new(),
            _children: children,
        })
    }

    /// The hosts, in the order of their plan.
    pub fn hosts(&self) -> Vec<Host> {
        self.places.iter().map(|place| place.host.clone()).collect()
    }

    /// A host.
    pub fn host(&self, id: HostId) -> Option<&Host> {
        self.places.get(id.0 as usize).map(|place| &place.host)
    }

    /// Counts the packets of a flow from now on: see [`ForeignPath`] for its counters.
    ///
    /// # Errors
    /// [`Error::SameNode`], [`Error::Network`].
    pub fn add_flow(&mut self, plan: FlowPlan) -> Result<ForeignPath, Error> {
        let node = |id: HostId| self.host(id).map(|host| (host.node(), host.name().to_owned()));
        let (Some((from, from_name)), Some((to, to_name))) = (node(plan.from), node(plan.to)) else {
            let name = |id: HostId| format!("host {}", id.0);
            return Err(NetworkError::NoPath { from: name(plan.from), to: name(plan.to) }.into());
        };
        if from == to {
            return Err(Error::SameNode { from: from_name, to: to_name });
        }
        let path = self.simulation.open_path(from, to)?;
        self.flow_routers.insert(path, self.routers_on(path));
        let which = Match { from_port: plan.from_port, to_port: plan.to_port };
        self.flows.declare(plan.from, plan.to, plan.protocol, which, path);
        Ok(path)
    }

    /// How many routers a packet on this path passes: the nodes between its ends.
    fn routers_on(&self, path: ForeignPath) -> u8 {
        routers(self.simulation.foreign_path(path).len())
    }

    /// The simulation, for its counters.
    pub fn simulation(&self) -> &Simulation<Foreign> {
        &self.simulation
    }

    /// The simulation, to observe it in ways that take note, and to set edges before sessions are added.
    pub fn simulation_mut(&mut self) -> &mut Simulation<Foreign> {
        &mut self.simulation
    }

    /// Where programs in hosts put what they report.
    pub fn reports(&self) -> Reports {
        self.inbox.sender.clone()
    }

    /// How late packets were so far. It reads the statistics of all hosts, which takes a while.
    pub fn lateness(&mut self) -> &Lateness {
        let overruns = self.places.iter().filter_map(|place| namespace::overruns(&place.statistics));
        self.lateness.overruns = overruns.sum();
        &self.lateness
    }

    /// The processor time that was used so far for carrying packets, in the kernels of the hosts too.
    pub fn processor_time(&self) -> std::time::Duration {
        self.processor_time
    }

    /// Packets that were not brought into the network so far.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The present time of the emulation; zero before it has started.
    pub fn now(&self) -> Time {
        self.clock.map_or(Time::ZERO, Clock::now)
    }
}

/// How many routers are between the ends of so many links.
fn routers(links: usize) -> u8 {
    u8::try_from(links.saturating_sub(1)).unwrap_or(u8::MAX)
}

/// The address of a host in the family of another address.
fn address_like(host: HostId, other: IpAddr) -> IpAddr {
    if other.is_ipv4() { address::v4(host.0).into() } else { address::v6(host.0).into() }
}
