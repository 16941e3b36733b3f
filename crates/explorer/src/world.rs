//! The network, the programs at its nodes, and the faults.

mod announcing;
mod carrying;
mod faults;
mod programs;
mod relaying;
mod tunnel;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Time};
use layercast_delivery::finding::Place;
use layercast_delivery::node::Relay;
use layercast_delivery::security::encryption::Salt;
use layercast_simulator::outside::{Foreign, ForeignReceiver, HostId, Outsider};
use layercast_simulator::{
    EcnField, ForeignPath, Latency, LinkConfig, LossModel, LossPlace, Network, NodeId, QueueConfig,
    QueueLimit, ReceiverConfig, ReceiverId, SessionConfig, SessionId, Simulation,
};

use crate::disk::FaultyDisk;
use crate::forgery::Heard;
use crate::judge::{self, Broken};
use crate::listener::Listener;
use crate::plan::Plan;
use crate::receiver::ReceiverProgram;
use crate::relay::relay_at;
use crate::source::{SourceProgram, Stored};
use crate::wire::CHANNELS;
use relaying::RelayPlace;
use tunnel::{AmtPlace, Tunnel};

/// The end of a run: long after the last fault.
const END: Time = Time::from_ns(900_000_000_000);
/// When a program that failed is started again.
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// How often a source looks whether its state is to be stored.
const TICK: Duration = Duration::from_ms(500);

/// Something that happened, for whoever watches.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When.
    pub at: Time,
    /// What, in words.
    pub what: String,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When everyone was complete.
    pub at: Time,
    /// Packets that sources sent.
    pub packets: u64,
    /// Faults that happened.
    pub faults: usize,
    /// How often programs were started.
    pub starts: u32,
}

/// A source's machine.
struct SourcePlace {
    program: Option<SourceProgram>,
    address: IpAddr,
    session: SessionId,
    ids: Vec<ReceiverId>,
    lives: u64,
    starts_at: Option<Time>,
    ends_at: Option<Time>,
    /// Where its state is.
    disk: FaultyDisk,
    /// When what is wrong with its disk ends.
    disk_until: Time,
    /// What damage made of its state.
    damaged: Option<Vec<u8>>,
    /// How often it began with a new state.
    states: u64,
    /// What its packets are encrypted with, which receivers are given.
    salt: Option<Salt>,
    /// A state that its disk stores, and when that is done.
    storing: Option<(Time, Stored)>,
    /// The highest packet number that was sent.
    highest: u64,
}

/// A receiver's machine.
struct ReceiverPlace {
    program: Option<ReceiverProgram>,
    /// Until its session is announced.
    listener: Option<Listener>,
    /// Where its session was announced since the last look at that.
    relocated: Vec<Place>,
    /// To the AMT relay, of a receiver without multicast.
    tunnel: Option<Tunnel>,
    disk: FaultyDisk,
    joined: Vec<bool>,
    lives: u64,
    starts_at: Option<Time>,
    /// How far its clock is ahead.
    ahead: Duration,
    partitioned_until: Time,
    /// Until when no multicast comes.
    without_multicast_until: Time,
    /// Whether it looks for multicast next to its relay.
    probes: bool,
    /// When what is wrong with its disk ends.
    disk_until: Time,
    /// What happens after the disk kills its program.
    after_kill: (Duration, bool),
    done: bool,
    /// Packets that came.
    heard: Heard<(SocketAddr, Channel, Vec<u8>)>,
    last: String,
}

/// What the network carries.
#[derive(Clone)]
struct Sent {
    from: SocketAddr,
    /// Where it goes; the base channel's group if by multicast.
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// A packet on its way to a receiver.
#[derive(Clone)]
struct Passing {
    receiver: usize,
    from: SocketAddr,
    channel: Channel,
    ecn: Ecn,
    bytes: Vec<u8>,
    /// Whether no source has sent it.
    is_forged: bool,
}

pub(crate) struct World {
    plan: Plan,
    simulation: Simulation<Foreign>,
    sources: Vec<SourcePlace>,
    receivers: Vec<ReceiverPlace>,
    relays: Vec<RelayPlace>,
    amt: Option<AmtPlace>,
    /// By unicast, from machine to machine.
    paths: BTreeMap<(IpAddr, IpAddr), ForeignPath>,
    store: Vec<Option<Sent>>,
    held: BTreeMap<(Time, u64), Passing>,
    held_count: u64,
    /// Where sources have announced sessions.
    announced: Vec<Place>,
    /// Announcements that came to a receiver.
    heard: Heard<(SocketAddr, Vec<u8>)>,
    chaos: Stream,
    next_change: usize,
    next_fault: usize,
    next_tick: Time,
    now: Time,
    outcome: Outcome,
}

fn source_at(number: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1 + number as u8))
}

fn receiver_at(number: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 100 + number as u8))
}

fn link(rate: Rate, delay: Duration, queue: u32, loss: f64) -> LinkConfig {
    LinkConfig {
        rate,
        delay,
        queue: QueueConfig::drop_tail(QueueLimit::Packets(queue)),
        loss: if loss > 0.0 { LossModel::Bernoulli(loss) } else { LossModel::None },
        loss_place: LossPlace::AfterLink,
        loss_marks: false,
    }
}

impl World {
    pub(crate) fn new(plan: Plan) -> World {
        let mut network = Network::new();
        let router = network.add_node("router");
        let fast = || link(Rate::from_mbps(100.0), Duration::from_ms(1), 1000, 0.0);
        let roots: Vec<_> = ["source", "other"].map(|name| network.add_node(name)).into();
        let leaves: Vec<_> =
            (0..plan.receivers.len()).map(|n| network.add_node(format!("receiver{n}"))).collect();
        for root in &roots {
            // A node has a path to the router: rates are above zero.
            let _ = network.add_link(*root, router, fast(), fast());
        }
        for (leaf, path) in leaves.iter().zip(&plan.receivers) {
            let down = link(path.rate, path.delay, path.queue, path.loss);
            let up = link(path.rate, path.delay, 100, path.loss);
            let _ = network.add_link(router, *leaf, down, up);
        }
        let relays = (0..plan.relays.len()).map(|number| {
            let relay = network.add_node(format!("relay{number}"));
            let _ = network.add_link(router, relay, fast(), fast());
            relay
        });
        let relays: Vec<_> = relays.collect();
        let amt = plan.amt.map(|_| {
            let node = network.add_node("amt");
            let _ = network.add_link(router, node, fast(), fast());
            node
        });
        let mut simulation = Simulation::<Foreign>::new(network, plan.seed);
        let mut sources = Vec::new();
        for (number, (root, name)) in roots.iter().zip(["main", "second"]).enumerate() {
            let receivers =
                leaves.iter().chain(&relays).chain(&amt).enumerate().map(|(host, &node)| ReceiverConfig {
                    node,
                    receiver: ForeignReceiver::new(HostId(host as u32)),
                    start: Time::ZERO,
                    stop: None,
                    join_latency: Latency::NONE,
                    leave_latency: Duration::from_ms(100).into(),
                });
            let added = simulation.add_session(SessionConfig {
                source_node: *root,
                source: Outsider,
                channels: CHANNELS,
                ecn: EcnField::NotCapable,
                observes_late_packets: true,
                name: name.to_owned(),
                start: Time::ZERO,
                stop: None,
                receivers: receivers.collect(),
                packets: None,
                routers: None,
            });
            let ids = added.unwrap_or_default();
            let Some(session) = ids.first().map(|id| id.session()) else { continue };
            sources.push(SourcePlace {
                program: None,
                address: source_at(number),
                session,
                ids,
                lives: 0,
                starts_at: (number == 0).then_some(Time::ZERO),
                ends_at: None,
                disk: FaultyDisk::new(Stream::new(plan.seed, &format!("state/{number}"))),
                disk_until: Time::MAX,
                damaged: None,
                states: 0,
                salt: plan.protection.and_then(|protection| protection.salt),
                storing: None,
                highest: 0,
            });
        }
        let receivers = (0..leaves.len()).map(|number| ReceiverPlace {
            program: None,
            listener: None,
            relocated: Vec::new(),
            tunnel: None,
            disk: FaultyDisk::new(Stream::new(plan.seed, &format!("disk/{number}"))),
            joined: vec![false; usize::from(CHANNELS)],
            lives: 0,
            starts_at: plan.receivers.get(number).map(|receiver| receiver.start),
            ahead: Duration::ZERO,
            partitioned_until: Time::ZERO,
            without_multicast_until: Time::ZERO,
            probes: false,
            disk_until: Time::MAX,
            after_kill: (Duration::ZERO, false),
            done: false,
            heard: Heard::new(),
            last: "not started".to_owned(),
        });
        let receivers: Vec<ReceiverPlace> = receivers.collect();
        for receiver in &receivers {
            plan.own.iter().for_each(|(path, bytes)| receiver.disk.put(path, bytes));
        }
        let at = |nodes: &[NodeId], address: fn(usize) -> IpAddr| -> Vec<(NodeId, IpAddr)> {
            nodes.iter().enumerate().map(|(number, &node)| (node, address(number))).collect()
        };
        let (sources_at, receivers_at) = (at(&roots, source_at), at(&leaves, receiver_at));
        let mut relays_at = at(&relays, |relay| relay_at(relay).ip());
        relays_at.extend(amt.map(|node| (node, tunnel::ADDRESS.into())));
        let mut paths = BTreeMap::new();
        for &(from, here) in receivers_at.iter().chain(&relays_at) {
            let is_relay = relays_at.iter().any(|&(relay, _)| relay == from);
            let receivers = receivers_at.iter().filter(|_| is_relay);
            for &(to, there) in sources_at.iter().chain(&relays_at).chain(receivers).filter(|to| to.0 != from)
            {
                paths.extend(simulation.open_path(from, to).ok().map(|path| ((here, there), path)));
            }
        }
        let relays = plan.relays.iter().map(|above| RelayPlace {
            program: None,
            starts_at: Some(Time::ZERO),
            lives: 0,
            above: above.clone(),
        });
        let relays = relays.collect();
        let amt = plan.amt.map(|_| AmtPlace::new());
        let chaos = Stream::new(plan.seed, "chaos");
        World {
            plan,
            simulation,
            sources,
            receivers,
            relays,
            amt,
            paths,
            store: Vec::new(),
            held: BTreeMap::new(),
            held_count: 0,
            announced: Vec::new(),
            heard: Heard::new(),
            chaos,
            // The first change is what the source starts with.
            next_change: 1,
            next_fault: 0,
            next_tick: Time::ZERO,
            now: Time::ZERO,
            outcome: Outcome::default(),
        }
    }

    pub(crate) fn run(mut self, watch: &mut dyn FnMut(&Step)) -> Result<Outcome, Broken> {
        loop {
            self.start_programs(watch)?;
            self.change_files(watch);
            self.break_things(watch);
            self.serve_tunnels(watch)?;
            self.serve_programs(watch)?;
            self.carry_out(watch)?;
            let is_over =
                self.next_change >= self.plan.changes.len() && self.receivers.iter().all(|one| one.done);
            if is_over || self.now >= END {
                break;
            }
            self.now = self.next_time().min(END);
            self.simulation.serve_until(self.now);
            self.deliver(watch)?;
        }
        self.finish()
    }

    fn finish(mut self) -> Result<Outcome, Broken> {
        for (number, receiver) in self.receivers.iter().enumerate() {
            judge::check(&self.plan, self.now, number, &receiver.disk)?;
            if !receiver.done {
                let state = receiver.last.clone();
                return Err(Broken::Unfinished { at: self.now, receiver: number, state });
            }
        }
        self.outcome.at = self.now;
        Ok(self.outcome)
    }

    /// When something happens next.
    fn next_time(&mut self) -> Time {
        let mut next = self.simulation.next_event().unwrap_or(Time::MAX).min(self.next_tick);
        let mut consider = |time: Option<Time>| next = next.min(time.unwrap_or(Time::MAX));
        consider(self.held.keys().next().map(|(at, _)| *at));
        consider(self.plan.changes.get(self.next_change).map(|change| change.at));
        consider(self.plan.faults.get(self.next_fault).map(|fault| fault.at));
        for relay in &self.relays {
            consider(relay.starts_at);
            consider(relay.program.as_ref().and_then(Relay::deadline));
        }
        if let Some(amt) = &self.amt {
            consider(amt.starts_at);
            consider(amt.deadline());
        }
        for source in &self.sources {
            consider(source.starts_at);
            consider(source.ends_at);
            consider(source.storing.as_ref().map(|(at, _)| *at));
            consider(Some(source.disk_until));
            consider(source.program.as_ref().and_then(SourceProgram::deadline));
        }
        for receiver in &self.receivers {
            consider(receiver.starts_at);
            consider(Some(receiver.disk_until).filter(|&until| until > self.now));
            consider(receiver.tunnel.as_ref().map(|tunnel| tunnel.deadline() - receiver.ahead));
            consider(receiver.listener.as_ref().map(|listener| listener.deadline() - receiver.ahead));
            consider(receiver.program.as_ref().map(|program| program.deadline() - receiver.ahead));
        }
        next.max(self.now)
    }
}

fn say(watch: &mut dyn FnMut(&Step), at: Time, what: impl FnOnce() -> String) {
    watch(&Step { at, what: what() });
}
