//! A session over relays whose routers take part, with faults by seed: programs at the nodes of a tree, whose machines are those
//! that are deployed.
//!
//! Faults end after a while. Then the source sends the same again, and everybody must have everything: what a receiver kept of the
//! first session is continued. Only a receiver whose machine lost its power may need yet another session, which is the last. It
//! finds what its disk lost when a block or a file is there and its hash is wrong, and by then those chunks have passed.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_delivery::accept::Incoming;
use layercast_delivery::active::Wire;
use layercast_delivery::active::downlinks::{CHILDREN_MAX, DownOptions};
use layercast_delivery::active::relay::RelayNode;
use layercast_delivery::active::source::{Chunks, SourceNode};
use layercast_delivery::active::uplink::UpOptions;
use layercast_delivery::catalogue::TableSettings;
use layercast_delivery::in_order::InOrder;
use layercast_delivery::memory::MemoryObjects;
use layercast_delivery::node::{Datagram, Output, Parents, Receiver, ReceiverSettings, Single};
use layercast_delivery::object::Cut;
use layercast_delivery::protocols::deployed;
use layercast_delivery::reception::{Reception, ReceptionSettings};
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::search::Known;
use layercast_delivery::security::protection::{Outgoing, ProtectError, Scheme};
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::sender::{PacketPayload, Sender};
use layercast_delivery::session::Session;
use layercast_delivery::signed_table::TableSigner;
use layercast_protocols::registry::{Protocol, Registry};

use crate::disk::FaultyDisk;
use crate::judge::{self, Broken};
use crate::plan::Plan;
use crate::relay::secret;
use crate::source::{GROUP, group_key_of, item_of, key_of, trusted};
use crate::world::{Outcome, Step};

/// One seed in so many has such a session.
const ONE_IN: u64 = 4;
/// The faults end, and the source sends the same again.
const CALM: Time = Time::from_ns(120_000_000_000);
/// The end of a run.
const END: Time = Time::from_ns(1_500_000_000_000);
/// When a receiver that failed is started again.
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// How long a source waits for receivers after the first.
const GATHER: Duration = Duration::from_secs(2);
/// How often a child asks whether its parent is there.
const KEEP_ALIVE: Duration = Duration::from_ms(500);
/// How long a receiver is without a parent before it gives up.
const PATIENCE: Duration = Duration::from_secs(20);
/// The chunks of a datagram begin after this.
const HEADS: usize = 60;

const SESSION: SessionKey = SessionKey { group: GROUP, source: None };

fn address(node: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 1, 0, node as u8 + 1)), 5600)
}

/// The link of a node to its parent.
#[derive(Clone, Copy, Debug)]
struct Link {
    parent: usize,
    rate: Rate,
    delay: Duration,
    queue: Duration,
    loss: f64,
    cut_until: Time,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A program is killed, on a machine that loses its power or not, and starts again later.
    Kill { node: usize, down: Duration, power: bool },
    /// Nothing passes the link above a node.
    Cut { node: usize, lasts: Duration },
    /// Chunks that pass the link above a node are changed, which only keys detect.
    Change { node: usize, lasts: Duration },
}

/// The files of a source, in order.
struct Files {
    sender: Sender,
    objects: MemoryObjects,
    order: InOrder,
}

impl Chunks for Files {
    type Error = ProtectError;

    fn count(&self) -> u64 {
        self.order.chunks()
    }

    fn chunk(&mut self, number: u64, room: &mut [u8]) -> Result<PacketPayload, ProtectError> {
        let Some(pick) = self.order.pick(number) else { return Ok(PacketPayload::default()) };
        let Ok(load) = self.sender.load(pick, room, &mut self.objects);
        Ok(load)
    }
}

type Node = Receiver<Registry, Reception<FaultyDisk>>;

enum Program {
    Source(Box<SourceNode>, Box<Files>),
    Relay(Box<RelayNode>),
    Receiver(Box<Node>),
}

/// A machine.
struct Place {
    kind: Kind,
    program: Option<Program>,
    lives: u64,
    starts_at: Option<Time>,
    disk: FaultyDisk,
    lost_power: bool,
    done: bool,
    last: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Source,
    Relay,
    Receiver,
}

/// Datagrams that a program sends.
#[derive(Default)]
struct Sent(Vec<(SocketAddr, Ecn, Vec<u8>)>);

impl Wire for Sent {
    fn send(&mut self, to: SocketAddr, ecn: Ecn, head: &[u8], body: &[u8]) -> bool {
        self.0.push((to, ecn, [head, body].concat()));
        true
    }
}

/// A datagram on its way.
struct Passing {
    from: usize,
    to: usize,
    ecn: Ecn,
    bytes: Vec<u8>,
}

/// The session of a seed.
pub(crate) struct Tree {
    plan: Plan,
    protocol: Protocol,
    /// By node; the source has none.
    links: Vec<Link>,
    places: Vec<Place>,
    faults: Vec<(Time, Fault)>,
    changed_until: Vec<Time>,
    events: BTreeMap<(Time, u64), Passing>,
    /// Until when a link is busy, downwards and upwards.
    busy: Vec<[Time; 2]>,
    order: u64,
    chaos: Stream,
    now: Time,
    /// How many sessions have begun since all works again.
    calms: u32,
    outcome: Outcome,
}

impl Tree {
    /// The session that a seed decides on, if it decides on one.
    pub(crate) fn of(seed: u64) -> Option<Tree> {
        let mut draw = Stream::new(seed, "tree");
        if !draw.bits().is_multiple_of(ONE_IN) {
            return None;
        }
        let mut plan = Plan::of(seed);
        plan.changes.truncate(1);
        plan.others.clear();
        let name = if draw.chance(0.5) { "amca" } else { "nca" };
        let mut protocol: Protocol = deployed(name)?;
        if name == "amca" {
            // It takes losses for congestion, and would send one packet a second.
            protocol.set("rate_min", layercast_core::option::RawValue::from_text("50")).ok()?;
        }
        let (relays, receivers) = (draw.bits() % 4, 1 + draw.bits() % 5);
        let mut places = Vec::new();
        for node in 0..=relays + receivers {
            let kind = match node {
                0 => Kind::Source,
                node if node <= relays => Kind::Relay,
                _ => Kind::Receiver,
            };
            let disk = FaultyDisk::new(Stream::new(seed, &format!("tree/disk/{node}")));
            if kind == Kind::Receiver {
                plan.own.iter().for_each(|(path, bytes)| disk.put(path, bytes));
            }
            let starts_at = Time::ZERO + Duration::from_ms(draw.bits() % 1500);
            places.push(Place {
                kind,
                program: None,
                lives: 0,
                starts_at: Some(starts_at),
                disk,
                lost_power: false,
                done: false,
                last: "not started".to_owned(),
            });
        }
        let links = (0..places.len()).map(|node| Link {
            parent: (draw.bits() % (relays + 1).min(node.max(1) as u64)) as usize,
            rate: Rate::from_mbps(draw.uniform_in(2.0, 20.0)),
            delay: Duration::from_ms(1 + draw.bits() % 60),
            queue: Duration::from_ms(20 + draw.bits() % 200),
            loss: if draw.chance(0.5) { 0.0 } else { draw.uniform_in(0.0, 0.03) },
            cut_until: Time::ZERO,
        });
        let links: Vec<Link> = links.collect();
        let mut faults: Vec<(Time, Fault)> = (0..draw.bits() % 6)
            .map(|_| {
                let node = 1 + (draw.bits() % (relays + receivers)) as usize;
                let lasts = Duration::from_ms(100 + draw.bits() % 10_000);
                let fault = match draw.bits() % 4 {
                    0 | 1 => Fault::Kill { node, down: lasts, power: draw.chance(0.5) },
                    2 => Fault::Cut { node, lasts },
                    _ => Fault::Change { node, lasts },
                };
                (Time::ZERO + Duration::from_ms(draw.bits() % 60_000), fault)
            })
            .collect();
        faults.sort_by_key(|(at, _)| *at);
        let busy = vec![[Time::ZERO; 2]; places.len()];
        Some(Tree {
            plan,
            protocol,
            changed_until: vec![Time::ZERO; links.len()],
            links,
            places,
            faults,
            events: BTreeMap::new(),
            busy,
            order: 0,
            chaos: Stream::new(seed, "tree/chaos"),
            now: Time::ZERO,
            calms: 0,
            outcome: Outcome::default(),
        })
    }

    /// Runs it and judges it.
    pub(crate) fn run(mut self, watch: &mut dyn FnMut(&Step)) -> Result<Outcome, Broken> {
        while self.now < END && !self.receivers().all(|(_, place)| place.done) {
            if self.now >= CALM && self.calms == 0 {
                self.calm(watch);
            }
            while let Some((_, fault)) = self.faults.first().copied().filter(|(at, _)| *at <= self.now) {
                self.faults.remove(0);
                self.fail(fault, watch)?;
            }
            for node in 0..self.places.len() {
                self.serve(node, watch)?;
            }
            self.now = self.next_time().min(END);
            while self.events.first_key_value().is_some_and(|((at, _), _)| *at <= self.now) {
                let Some((_, passing)) = self.events.pop_first() else { break };
                self.arrive(passing, watch)?;
            }
        }
        for (number, place) in self.receivers() {
            judge::check(&self.plan, self.now, number, &place.disk)?;
            if !place.done {
                let state = format!("of the tree: {}", place.last);
                return Err(Broken::Unfinished { at: self.now, receiver: number, state });
            }
        }
        self.outcome.at = self.now;
        Ok(self.outcome)
    }

    fn receivers(&self) -> impl Iterator<Item = (usize, &Place)> {
        self.places.iter().enumerate().filter(|(_, place)| place.kind == Kind::Receiver)
    }

    fn say(&self, watch: &mut dyn FnMut(&Step), what: impl FnOnce() -> String) {
        watch(&Step { at: self.now, what: format!("tree: {}", what()) });
    }

    /// What is broken works again, and the source sends the same in another session.
    fn calm(&mut self, watch: &mut dyn FnMut(&Step)) {
        self.calms += 1;
        self.say(watch, || format!("all works again, session {}", self.calms));
        for place in self.places.iter_mut().filter(|place| !place.done) {
            (place.program, place.starts_at) = (None, Some(self.now));
        }
    }

    /// Whether a receiver may need another session than the present one.
    fn may_need_another(&self, place: &Place) -> bool {
        self.calms == 0 || (self.calms == 1 && place.lost_power)
    }

    fn next_time(&self) -> Time {
        let calm = (self.calms == 0).then_some(CALM);
        let event = self.events.first_key_value().map(|((at, _), _)| *at);
        let fault = self.faults.first().map(|(at, _)| *at);
        let places = self.places.iter().filter_map(|place| match &place.program {
            Some(Program::Source(node, _)) => node.deadline(),
            Some(Program::Relay(node)) => node.deadline(),
            Some(Program::Receiver(node)) => node.deadline(),
            None => place.starts_at,
        });
        places.chain(calm).chain(event).chain(fault).min().unwrap_or(END).max(self.now)
    }

    fn fail(&mut self, fault: Fault, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        self.outcome.faults += 1;
        self.say(watch, || format!("fault: {fault:?}"));
        match fault {
            Fault::Kill { node, down, power } => {
                let Some(place) = self.places.get_mut(node).filter(|place| !place.done) else {
                    return Ok(());
                };
                place.program = None;
                place.starts_at = Some(self.now + down);
                if power {
                    place.disk.lose_power();
                    place.lost_power = true;
                }
                if place.kind == Kind::Receiver {
                    judge::check(&self.plan, self.now, node, &place.disk)?;
                }
            }
            Fault::Cut { node, lasts } => {
                self.links.iter_mut().skip(node).take(1).for_each(|link| link.cut_until = self.now + lasts);
            }
            Fault::Change { node, lasts } => {
                self.changed_until.iter_mut().skip(node).take(1).for_each(|until| *until = self.now + lasts);
            }
        }
        Ok(())
    }

    /// Starts a program that is due, and does what it has to do.
    fn serve(&mut self, node: usize, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let now = self.now;
        let Some(place) = self.places.get_mut(node) else { return Ok(()) };
        if place.program.is_none() && place.starts_at.take_if(|at| *at <= now).is_some() {
            place.lives += 1;
            self.outcome.starts += 1;
            let program = self.start(node);
            self.say(watch, || format!("node {node} starts"));
            if let Some(place) = self.places.get_mut(node) {
                place.program = program;
            }
        }
        let Some(place) = self.places.get_mut(node) else { return Ok(()) };
        let mut sent = Sent::default();
        let mut is_over = false;
        match &mut place.program {
            Some(Program::Source(source, files)) if source.deadline().is_some_and(|at| at <= now) => {
                // Numbers for packets are granted without an end.
                let _ = source.tick(now, &mut **files, &mut sent);
                is_over = source.is_done();
            }
            Some(Program::Relay(relay)) if relay.deadline().is_some_and(|at| at <= now) => {
                relay.tick(now, &mut sent);
            }
            Some(Program::Receiver(receiver)) if receiver.deadline().is_some_and(|at| at <= now) => {
                receiver.handle_timer(now);
                return self.drain(node, watch);
            }
            _ => {}
        }
        if is_over {
            place.program = None;
            self.say(watch, || "the source is done".to_owned());
            let needs = |place: &Place| !place.done && self.may_need_another(place);
            if self.calms > 0 && self.receivers().any(|(_, place)| needs(place)) {
                self.calm(watch);
            }
        }
        self.carry(node, sent);
        Ok(())
    }

    fn start(&mut self, node: usize) -> Option<Program> {
        let place = self.places.get(node)?;
        let mut random = Stream::new(self.plan.seed, &format!("tree/{node}/{}", place.lives));
        let parent = address(self.links.get(node)?.parent);
        let up = UpOptions { session: SESSION, parents: vec![parent], within: Duration::from_ms(50) };
        let down = DownOptions {
            session: SESSION,
            children: CHILDREN_MAX,
            alternatives: Alternatives::default(),
            keep_alive: KEEP_ALIVE,
        };
        Some(match place.kind {
            Kind::Source => self.source(&mut random, &down)?,
            Kind::Relay => {
                let secrets = [secret(&mut random), secret(&mut random)];
                let name = self.protocol.name();
                Program::Relay(Box::new(RelayNode::new(name, &up, &down, self.now, secrets)))
            }
            Kind::Receiver => {
                let keys = trusted(&self.plan, address(0).ip());
                let settings = ReceptionSettings { replace: true, mirror: self.plan.is_mirror };
                let mut reception = Reception::trusting(place.disk.clone(), settings, keys.clone());
                reception.limit_records(self.plan.records);
                let parents = Parents { addresses: vec![parent], secret: secret(&mut random) };
                let mut receiver = Receiver::new(
                    ReceiverSettings {
                        parents: Some(parents),
                        group_key: group_key_of(&self.plan, address(0).ip()),
                        keys,
                        start_within: PATIENCE,
                        patience: PATIENCE,
                        seed: random.bits(),
                        ..ReceiverSettings::new(Known::Group(GROUP, None))
                    },
                    reception,
                );
                receiver.start(self.now);
                Program::Receiver(Box::new(receiver))
            }
        })
    }

    fn source(&self, random: &mut Stream, down: &DownOptions) -> Option<Program> {
        let at = address(0);
        let key = group_key_of(&self.plan, at.ip());
        let agreed = self.protocol.requirements().agreed().iter();
        let any = Rate::from_mbps(1.0);
        let session = Session {
            tsi: random.bits() as u32,
            protocol: self.protocol.name().to_owned(),
            source: at.ip(),
            group: GROUP,
            feedback: at,
            packet: Size::from_bytes(self.plan.packet),
            layers: LayerTable::between(any, any).ok()?,
            channels: 1,
            agreed: agreed.filter_map(|name| Some(((*name).to_owned(), self.protocol.get(name)?))).collect(),
            group_key: key.as_ref().map(|key| key.fingerprint().to_string()),
            salt: self.plan.protection.and_then(|protection| protection.salt),
            stream: None,
        };
        let settings = TableSettings {
            symbol: session.symbol_size(),
            expires_s: 4_000_000_000,
            wants_completions: false,
            session: session.to_string(),
            signer: self.plan.is_signed.then(|| TableSigner { key: key_of(at.ip()), tsi: session.tsi }),
        };
        let cut = Cut {
            symbol: session.symbol_size(),
            longest: self.plan.longest_part,
            is_signed: self.plan.is_signed,
        };
        let (mut sender, mut objects) = (Sender::new(settings, 1), MemoryObjects::default());
        let files = &self.plan.changes.first()?.files;
        let items: Vec<_> =
            files.iter().filter_map(|(path, bytes)| item_of(path, bytes, None, cut)).collect();
        let change = sender.change(&items, &[], true, &|_| Vec::new()).ok()?;
        for (toi, &place) in change.added.iter().zip(&change.items) {
            if let (Some(entry), Some((_, bytes))) = (sender.catalogue().object(*toi), files.get(place)) {
                objects.add_entry(*toi, entry, bytes);
            }
        }
        let scheme = key.as_ref().map(|key| Scheme::of(key, session.salt, session.tsi));
        let mut node = SourceNode::new(&self.protocol, session, down, GATHER, secret(random)).ok()?;
        if let Some(scheme) = scheme {
            node.protect(Outgoing::new(scheme, Sequence::all()));
        }
        let files = Files { order: sender.in_order(), sender, objects };
        Some(Program::Source(Box::new(node), Box::new(files)))
    }

    /// Lets datagrams pass their links.
    fn carry(&mut self, from: usize, sent: Sent) {
        for (to, ecn, mut bytes) in sent.0 {
            let Some(to) = (0..self.places.len()).find(|&node| address(node) == to) else { continue };
            // The link is that of the child.
            let (child, way) = if to > from { (to, 0) } else { (from, 1) };
            let Some(link) = self.links.get(child).copied() else { continue };
            if link.parent != from.min(to) || link.cut_until > self.now || self.chaos.chance(link.loss) {
                continue;
            }
            let Some(busy) = self.busy.get_mut(child).map(|busy| &mut busy[way]) else { continue };
            let begins = (*busy).max(self.now);
            if begins > self.now + link.queue {
                continue;
            }
            *busy = begins + Duration::from_secs_f64((bytes.len() + 28) as f64 * 8.0 / link.rate.as_bps());
            if self.plan.protection.is_some()
                && self.changed_until.get(child).is_some_and(|until| *until > self.now)
                && bytes.len() > 2 * HEADS
                && self.chaos.chance(0.2)
            {
                let place = HEADS + (self.chaos.bits() as usize) % (bytes.len() - HEADS);
                bytes.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 0x55);
            }
            self.outcome.packets += 1;
            self.order += 1;
            self.events.insert((*busy + link.delay, self.order), Passing { from, to, ecn, bytes });
        }
    }

    fn arrive(&mut self, passing: Passing, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let Passing { from, to, ecn, mut bytes } = passing;
        let (now, at) = (self.now, address(from));
        let mut sent = Sent::default();
        match self.places.get_mut(to).and_then(|place| place.program.as_mut()) {
            Some(Program::Source(source, files)) => {
                let _ = source.receive(now, at, &bytes, &mut **files, &mut sent);
            }
            Some(Program::Relay(relay)) => relay.receive(now, at, ecn, &bytes, &mut sent),
            Some(Program::Receiver(receiver)) => {
                let incoming = Incoming { from: at, channel: None, is_cut: false };
                receiver.handle(&mut Single(Datagram { at: now, incoming, ecn }, &mut bytes));
                receiver.handle_timer(now);
                return self.drain(to, watch);
            }
            None => {}
        }
        self.carry(to, sent);
        Ok(())
    }

    /// Carries out what a receiver wants, and judges it when it ends.
    fn drain(&mut self, node: usize, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let Some(place) = self.places.get_mut(node) else { return Ok(()) };
        let Some(Program::Receiver(receiver)) = &mut place.program else { return Ok(()) };
        let (mut sent, mut ended) = (Sent::default(), None);
        while let Some(output) = receiver.poll() {
            match output {
                Output::Unicast { to, ecn, bytes } => sent.0.push((to, ecn, bytes)),
                Output::Ended(result) => ended = Some(result.map_err(|failure| failure.to_string())),
                _ => {}
            }
        }
        receiver.sink.drain_events().for_each(|event| place.last = format!("{event:?}"));
        match ended {
            None => {}
            Some(Ok(())) => {
                (place.program, place.done) = (None, true);
                let (disk, was_killed) = (&place.disk, place.lives > 1);
                judge::check(&self.plan, self.now, node, disk)?;
                judge::complete(&self.plan, self.now, node, disk, false, was_killed)?;
                self.say(watch, || format!("receiver {node} is complete"));
            }
            Some(Err(why)) => {
                place.program = None;
                place.starts_at = Some(self.now + RESTART_AFTER);
                judge::check(&self.plan, self.now, node, &place.disk)?;
                place.last.clone_from(&why);
                self.say(watch, || format!("receiver {node} ends: {why}"));
                if self.places.get(node).is_some_and(|place| !self.may_need_another(place)) {
                    let state = format!("of the tree: {why}");
                    return Err(Broken::Unfinished { at: self.now, receiver: node, state });
                }
            }
        }
        self.carry(node, sent);
        Ok(())
    }
}
