//! The network, the programs at its nodes, and the faults.

mod faults;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_delivery::reception::ReceptionEvent;
use layercast_simulator::outside::{Foreign, ForeignReceiver, Handle, HostId, Outsider};
use layercast_simulator::{
    EcnField, ForeignPacket, ForeignPath, Latency, LinkConfig, LossModel, LossPlace, Network, QueueConfig,
    QueueLimit, ReceiverConfig, ReceiverId, SessionConfig, SessionId, Simulation,
};

use crate::disk::FaultyDisk;
use crate::judge::{self, Broken};
use crate::plan::Plan;
use crate::receiver::{Ended, ReceiverProgram};
use crate::source::{Saved, SourceProgram, trusted};
use crate::wire::Wish;

/// The end of a run: long after the last fault.
const END: Time = Time::from_ns(900_000_000_000);
/// When a program that failed is started again.
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// How often a source stores what it has reached.
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// The channels of a session: more than any of these has.
const CHANNELS: u16 = 64;
/// How many packets are kept for replays.
const KEPT: usize = 64;

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
    saved: Saved,
}

/// A receiver's machine.
struct ReceiverPlace {
    program: Option<ReceiverProgram>,
    disk: FaultyDisk,
    joined: Vec<bool>,
    lives: u64,
    starts_at: Option<Time>,
    /// How far its clock is ahead.
    ahead: Duration,
    partitioned_until: Time,
    /// When what is wrong with its disk ends.
    disk_until: Time,
    /// What happens after the disk kills its program.
    after_kill: (Duration, bool),
    done: bool,
    /// The paths of its messages to the sources.
    paths: Vec<ForeignPath>,
    heard: Vec<(SocketAddr, Channel, Vec<u8>)>,
    last: String,
}

/// A packet that a path holds back.
type Held = (usize, SocketAddr, Channel, Ecn, Vec<u8>);

pub(crate) struct World {
    plan: Plan,
    simulation: Simulation<Foreign>,
    sources: Vec<SourcePlace>,
    receivers: Vec<ReceiverPlace>,
    store: Vec<Vec<u8>>,
    held: BTreeMap<(Time, u64), Held>,
    held_count: u64,
    chaos: Stream,
    next_change: usize,
    next_fault: usize,
    next_save: Time,
    now: Time,
    outcome: Outcome,
}

fn address(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))
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
        let mut simulation = Simulation::<Foreign>::new(network, plan.seed);
        let mut sources = Vec::new();
        for (number, (root, name)) in roots.iter().zip(["main", "second"]).enumerate() {
            let receivers = leaves.iter().enumerate().map(|(host, &node)| ReceiverConfig {
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
                address: address(number as u8 + 1),
                session,
                ids,
                lives: 0,
                starts_at: (number == 0).then_some(Time::ZERO),
                ends_at: None,
                saved: Saved::new(),
            });
        }
        let receivers = leaves.iter().enumerate().map(|(number, leaf)| ReceiverPlace {
            program: None,
            disk: FaultyDisk::new(Stream::new(plan.seed, &format!("disk/{number}"))),
            joined: vec![false; usize::from(CHANNELS)],
            lives: 0,
            starts_at: plan.receivers.get(number).map(|receiver| receiver.start),
            ahead: Duration::ZERO,
            partitioned_until: Time::ZERO,
            disk_until: Time::MAX,
            after_kill: (Duration::ZERO, false),
            done: false,
            paths: roots.iter().filter_map(|root| simulation.open_path(*leaf, *root).ok()).collect(),
            heard: Vec::new(),
            last: "not started".to_owned(),
        });
        let receivers = receivers.collect();
        let chaos = Stream::new(plan.seed, "chaos");
        World {
            plan,
            simulation,
            sources,
            receivers,
            store: Vec::new(),
            held: BTreeMap::new(),
            held_count: 0,
            chaos,
            // The first change is what the source starts with.
            next_change: 1,
            next_fault: 0,
            next_save: Time::ZERO,
            now: Time::ZERO,
            outcome: Outcome::default(),
        }
    }

    pub(crate) fn run(mut self, watch: &mut dyn FnMut(&Step)) -> Result<Outcome, Broken> {
        loop {
            self.start_programs(watch);
            self.change_files(watch);
            self.break_things(watch);
            self.serve_programs(watch)?;
            self.carry_wishes();
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
            judge::look(&self.plan, self.now, number, &receiver.disk)?;
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
        let mut next = self.simulation.next_event().unwrap_or(Time::MAX).min(self.next_save);
        let mut consider = |time: Option<Time>| next = next.min(time.unwrap_or(Time::MAX));
        consider(self.held.keys().next().map(|(at, _)| *at));
        consider(self.plan.changes.get(self.next_change).map(|change| change.at));
        consider(self.plan.faults.get(self.next_fault).map(|fault| fault.at));
        for source in &self.sources {
            consider(source.starts_at);
            consider(source.ends_at);
            consider(source.program.as_ref().and_then(|program| program.deadline));
        }
        for receiver in &self.receivers {
            consider(receiver.starts_at);
            consider(Some(receiver.disk_until).filter(|&until| until > self.now));
            consider(receiver.program.as_ref().map(|program| program.deadline() - receiver.ahead));
        }
        next.max(self.now)
    }

    fn start_programs(&mut self, watch: &mut dyn FnMut(&Step)) {
        for number in 0..self.sources.len() {
            if self.sources[number].starts_at.is_some_and(|at| at <= self.now) {
                self.start_source(number, watch);
            }
            if self.sources[number].ends_at.is_some_and(|at| at <= self.now) {
                self.sources[number].ends_at = None;
                self.sources[number].program = None;
                say(watch, self.now, || format!("source {number} ends without a word"));
            }
        }
        for number in 0..self.receivers.len() {
            let receiver = &mut self.receivers[number];
            if receiver.starts_at.is_some_and(|at| at <= self.now) {
                receiver.starts_at = None;
                receiver.lives += 1;
                self.outcome.starts += 1;
                let stream = Stream::new(self.plan.seed, &format!("receiver/{number}/{}", receiver.lives));
                let local = self.now + receiver.ahead;
                let keys = trusted(&self.plan, address(1));
                receiver.program = Some(ReceiverProgram::new(receiver.disk.clone(), keys, stream, local));
                receiver.last = "started".to_owned();
                say(watch, self.now, || format!("receiver {number} starts"));
            }
            if receiver.disk_until <= self.now {
                receiver.disk_until = Time::MAX;
                receiver.disk.set(|disk| (disk.space, disk.failing) = (None, 0.0));
                say(watch, self.now, || format!("receiver {number}: the disk works again"));
            }
        }
        if self.now >= self.next_save {
            self.next_save = self.now + SAVE_EVERY;
            for source in &mut self.sources {
                if let Some(program) = &source.program {
                    source.saved = program.save();
                }
            }
        }
    }

    fn start_source(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) {
        let place = &mut self.sources[number];
        place.starts_at = None;
        place.lives += 1;
        self.outcome.starts += 1;
        let Some(mut program) = SourceProgram::new(&self.plan, place.address, place.lives) else { return };
        if number == 0 {
            // What the folder holds by now.
            let mut files = BTreeMap::new();
            for change in self.plan.changes.iter().take(self.next_change) {
                change.removed.iter().for_each(|path| drop(files.remove(path)));
                files.extend(change.files.iter().cloned());
            }
            let files: Vec<_> = files.into_iter().collect();
            let is_last = self.next_change >= self.plan.changes.len();
            program.change(&files, &[], is_last, &place.saved);
        } else {
            program.change(&self.plan.others, &[], true, &Saved::new());
        }
        program.start(self.now);
        say(watch, self.now, || format!("source {number} starts: session {}", program.session.tsi));
        place.program = Some(program);
    }

    fn change_files(&mut self, watch: &mut dyn FnMut(&Step)) {
        while let Some(change) =
            self.plan.changes.get(self.next_change).filter(|change| change.at <= self.now)
        {
            self.next_change += 1;
            let is_last = self.next_change >= self.plan.changes.len();
            if let Some(source) = self.sources.first_mut()
                && let Some(program) = &mut source.program
            {
                program.change(&change.files, &change.removed, is_last, &source.saved);
            }
            let (put, removed) = (change.files.len(), change.removed.len());
            say(watch, self.now, || format!("{put} files change, {removed} are removed"));
        }
    }

    /// Serves deadlines.
    fn serve_programs(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        for source in &mut self.sources {
            if let Some(program) = &mut source.program
                && program.deadline.is_some_and(|deadline| deadline <= self.now)
            {
                program.timer(self.now);
            }
        }
        for number in 0..self.receivers.len() {
            let receiver = &mut self.receivers[number];
            let local = self.now + receiver.ahead;
            let Some(program) = receiver.program.as_mut().filter(|program| program.deadline() <= local)
            else {
                continue;
            };
            let ended = program.timer(local);
            self.note_events(number, watch);
            if self.receivers[number].disk.was_killed() {
                self.killed_by_disk(number, watch)?;
                continue;
            }
            match ended {
                Ok(None) => {}
                Ok(Some(Ended::Complete(source))) => {
                    let is_other = source != address(1);
                    say(watch, self.now, || format!("receiver {number} is complete"));
                    self.carry_receiver(number);
                    let receiver = &mut self.receivers[number];
                    (receiver.program, receiver.done) = (None, true);
                    judge::look(&self.plan, self.now, number, &receiver.disk)?;
                    judge::complete(&self.plan, self.now, number, &receiver.disk, is_other)?;
                }
                Ok(Some(Ended::Failed(why))) => {
                    if let Some(program) = &mut self.receivers[number].program {
                        program.leave(local);
                    }
                    self.carry_receiver(number);
                    self.stop_receiver(number, RESTART_AFTER, &why, watch)?;
                }
                Err(error) => self.stop_receiver(number, RESTART_AFTER, &error.to_string(), watch)?,
            }
        }
        Ok(())
    }

    fn note_events(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) {
        let Some(program) = &mut self.receivers[number].program else { return };
        let events: Vec<ReceptionEvent> = program.events.drain(..).collect();
        for event in events {
            let what = format!("receiver {number}: {event:?}");
            say(watch, self.now, || what.clone());
            self.receivers[number].last = what;
        }
    }

    /// The program was killed in the midst of an operation of its disk.
    fn killed_by_disk(&mut self, number: usize, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let receiver = &mut self.receivers[number];
        let (down, power) = receiver.after_kill;
        receiver.program = None;
        receiver.disk.set(|disk| disk.killed_after = None);
        if power {
            receiver.disk.lose_power();
        }
        self.stop_receiver(number, down, "killed in the midst of an operation", watch)
    }

    fn stop_receiver(
        &mut self,
        number: usize,
        down: Duration,
        why: &str,
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        say(watch, self.now, || format!("receiver {number} ends: {why}"));
        let receiver = &mut self.receivers[number];
        receiver.program = None;
        receiver.last = why.to_owned();
        receiver.starts_at = Some(self.now + down);
        for channel in 0..CHANNELS {
            self.set_joined(number, Channel(channel), false);
        }
        judge::look(&self.plan, self.now, number, &self.receivers[number].disk)
    }

    fn set_joined(&mut self, number: usize, channel: Channel, is_joined: bool) {
        let Some(joined) = self.receivers[number].joined.get_mut(channel.index()) else { return };
        if std::mem::replace(joined, is_joined) == is_joined {
            return;
        }
        for source in &self.sources {
            let Some(&id) = source.ids.get(number) else { continue };
            if is_joined { self.simulation.join(id, channel) } else { self.simulation.leave(id, channel) }
        }
    }

    /// Carries out what programs want.
    fn carry_wishes(&mut self) {
        for number in 0..self.sources.len() {
            let Some(program) = &mut self.sources[number].program else { continue };
            let wishes = std::mem::take(&mut program.wishes);
            let session = self.sources[number].session;
            for wish in wishes {
                let Wish::Multicast(channel, bytes) = wish else { continue };
                self.outcome.packets += 1;
                let slot = self.simulation.multicast_foreign(session, channel, packet(&bytes), Handle);
                self.put(slot, bytes);
            }
        }
        (0..self.receivers.len()).for_each(|number| self.carry_receiver(number));
    }

    fn carry_receiver(&mut self, number: usize) {
        let Some(program) = &mut self.receivers[number].program else { return };
        let (wishes, to) = (std::mem::take(&mut program.wishes), program.source());
        for wish in wishes {
            match wish {
                Wish::Join(channel) => self.set_joined(number, channel, true),
                Wish::Leave(channel) => self.set_joined(number, channel, false),
                Wish::Report(bytes) => {
                    let at = self.sources.iter().position(|source| Some(source.address) == to);
                    let receiver = &self.receivers[number];
                    if let Some(&path) = at.and_then(|at| receiver.paths.get(at))
                        && receiver.partitioned_until <= self.now
                    {
                        let slot = self.simulation.send_foreign(path, packet(&bytes), Handle);
                        self.put(slot, bytes);
                    }
                }
                Wish::Multicast(..) => {}
            }
        }
    }

    fn put(&mut self, slot: Option<u32>, bytes: Vec<u8>) {
        let Some(slot) = slot.map(|slot| slot as usize) else { return };
        if self.store.len() <= slot {
            self.store.resize_with(slot + 1, Vec::new);
        }
        self.store[slot] = bytes;
    }

    /// Takes out what has arrived.
    fn deliver(&mut self, watch: &mut dyn FnMut(&Step)) -> Result<(), Broken> {
        let mut reports = Vec::new();
        self.simulation.drain_foreign(&mut |arrival| reports.push((arrival.path, arrival.header.0)));
        for (path, slot) in reports {
            let bytes = self.store.get(slot as usize).cloned().unwrap_or_default();
            let to =
                self.receivers.iter().find_map(|receiver| receiver.paths.iter().position(|&own| own == path));
            if let Some(program) =
                to.and_then(|to| self.sources.get_mut(to)).and_then(|place| place.program.as_mut())
            {
                program.report(self.now, &bytes);
            }
        }
        let mut arrived = Vec::new();
        for place in &self.sources {
            let Some(receivers) = self.simulation.receivers_mut(place.session) else { continue };
            let batch: Vec<_> = receivers.drain().collect();
            for arrival in batch {
                let Some(host) = receivers.get_mut(arrival.receiver as usize).map(|one| one.host.0) else {
                    continue;
                };
                let bytes = self.store.get(arrival.header.0 as usize).cloned().unwrap_or_default();
                arrived.push((host as usize, place.address, arrival.ecn, bytes));
            }
        }
        for (number, from, ecn, bytes) in arrived {
            let Some(channel) = channel_of(&bytes) else { continue };
            self.arrive(number, (SocketAddr::new(from, 9000), channel, ecn, bytes), watch)?;
        }
        while let Some(entry) = self.held.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (number, from, channel, ecn, bytes) = entry.remove();
            self.pass(number, from, channel, ecn, &bytes, watch)?;
        }
        Ok(())
    }

    /// A packet arrives at a machine: once, twice, later or not at all.
    fn arrive(
        &mut self,
        number: usize,
        (from, channel, ecn, bytes): (SocketAddr, Channel, Ecn, Vec<u8>),
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        let Some(path) = self.plan.receivers.get(number) else { return Ok(()) };
        let (duplicated, delayed) = (path.duplicated, path.delayed);
        let receiver = &mut self.receivers[number];
        if receiver.partitioned_until > self.now {
            return Ok(());
        }
        if receiver.heard.len() < KEPT {
            receiver.heard.push((from, channel, bytes.clone()));
        } else if let Some(place) = receiver.heard.get_mut(self.outcome.packets as usize % KEPT) {
            *place = (from, channel, bytes.clone());
        }
        if duplicated > 0.0 && self.chaos.chance(duplicated) {
            self.hold((number, from, channel, ecn, bytes.clone()));
        }
        if delayed > 0.0 && self.chaos.chance(delayed) {
            self.hold((number, from, channel, ecn, bytes));
            return Ok(());
        }
        self.pass(number, from, channel, ecn, &bytes, watch)
    }

    fn hold(&mut self, held: Held) {
        let at = self.now + self.chaos.uniform_duration(Duration::from_ms(200));
        self.held_count += 1;
        self.held.insert((at, self.held_count), held);
    }

    /// Passes a packet to a receiver's program, if it has joined the channel.
    fn pass(
        &mut self,
        number: usize,
        from: SocketAddr,
        channel: Channel,
        ecn: Ecn,
        bytes: &[u8],
        watch: &mut dyn FnMut(&Step),
    ) -> Result<(), Broken> {
        let receiver = &mut self.receivers[number];
        let local = self.now + receiver.ahead;
        let has_joined = receiver.joined.get(channel.index()) == Some(&true);
        let Some(program) = receiver.program.as_mut().filter(|_| has_joined) else { return Ok(()) };
        let done = program.packet(local, from, channel, ecn, bytes);
        self.note_events(number, watch);
        if self.receivers[number].disk.was_killed() {
            return self.killed_by_disk(number, watch);
        }
        match done {
            Ok(()) => Ok(()),
            Err(error) => self.stop_receiver(number, RESTART_AFTER, &error.to_string(), watch),
        }
    }
}

/// A packet as the network sees it.
fn packet(bytes: &[u8]) -> ForeignPacket {
    ForeignPacket { size: Size::from_bytes(bytes.len() as u32 + 28), ecn: 0, label: 0, counts: true }
}

/// The channel of a genuine packet, by its own header: the network forgets the group of a copy.
fn channel_of(bytes: &[u8]) -> Option<Channel> {
    use layercast_core::family::AnyHeader as _;
    let view = layercast_delivery::packet::View::new(bytes).ok()?;
    let repr = layercast_delivery::packet::Repr::read(&view).ok()?;
    layercast_protocols::registry::Header::from_lct(&repr.fields).ok()?.channel()
}

fn say(watch: &mut dyn FnMut(&Step), at: Time, what: impl FnOnce() -> String) {
    watch(&Step { at, what: what() });
}
