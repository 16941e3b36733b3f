//! A source and its receivers, each behind its own path, on a virtual clock.
//!
//! It is not a simulator: there is one queue per receiver and no cross traffic. It is enough to test
//! whether two endpoints interoperate.

use std::collections::{BTreeMap, BTreeSet};

use layercast_core::contract::{
    Arrival, Cause, Ecn, Endpoint, Header, Host, Input, Origin, Peer, Send, Target, TraceEvent, drive,
};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Rate, Time};

/// The gauge of that name.
///
/// # Panics
/// If the endpoint has no such gauge.
pub fn gauge<E: Endpoint>(endpoint: &E, name: &str, now: Time) -> Option<f64> {
    let index = E::gauges().iter().position(|gauge| gauge.name == name);
    endpoint.gauge(index.unwrap_or_else(|| panic!("there is no gauge {name}")), now)
}

/// The path from the source to one receiver, and back.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// One-way delay, the same in both directions.
    pub delay: Duration,
    /// Probability that a data packet is lost before the queue.
    pub loss: f64,
    /// Capacity; unlimited if none.
    pub rate: Option<Rate>,
    /// How long a packet may wait in the queue before packets are dropped.
    pub queue: Duration,
    /// How far the receiver's clock is ahead of the source's.
    pub clock_ahead: Duration,
}

impl Default for Path {
    fn default() -> Path {
        Path {
            delay: Duration::from_ms(30),
            loss: 0.0,
            rate: None,
            queue: Duration::from_ms(100),
            clock_ahead: Duration::ZERO,
        }
    }
}

/// The record of one receiver.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Its trace events with their times on the driver's clock.
    pub notes: Vec<(Time, TraceEvent)>,
    /// Data packets that reached it.
    pub delivered: u64,
    /// Data packets that were lost on the path.
    pub lost: u64,
    /// Reports it sent, by time.
    pub reports: Vec<Time>,
}

impl Record {
    /// Each change of the level: when, to which, and why.
    pub fn levels(&self) -> impl Iterator<Item = (Time, Level, Cause)> {
        self.notes.iter().filter_map(|&(at, note)| match note {
            TraceEvent::LevelChanged { to, cause, .. } => Some((at, to, cause)),
            _ => None,
        })
    }

    /// The time average of the number of layers held.
    pub fn mean_layers(&self, from: Time, to: Time) -> f64 {
        let ends = self.levels().skip(1).map(|(at, ..)| at).chain([to]);
        let held = self.levels().zip(ends).map(|((begins, level, _), ends)| {
            let held_for = ends.min(to).since(begins.max(from));
            f64::from(level.layer_count()) * held_for.as_secs_f64()
        });
        held.sum::<f64>() / to.since(from).as_secs_f64()
    }
}

enum Event<H> {
    ToReceiver(usize, Arrival<H>),
    ToSource(Arrival<H>),
}

struct Member<R> {
    endpoint: R,
    path: Path,
    held: BTreeSet<Channel>,
    deadline: Option<Time>,
    busy_until: Time,
    record: Record,
}

/// Changes or drops (false) packets on their path to a receiver.
pub type Tamper<H> = Box<dyn FnMut(Time, usize, &mut Arrival<H>) -> bool>;

/// A source with its receivers.
pub struct Pair<S: Endpoint, R: Endpoint<Header = S::Header>> {
    source: S,
    source_deadline: Option<Time>,
    members: Vec<Member<R>>,
    events: BTreeMap<(Time, u64), Event<S::Header>>,
    order: u64,
    now: Time,
    stream: Stream,
    tamper: Option<Tamper<S::Header>>,
    duplicates: bool,
}

impl<S, R> Pair<S, R>
where
    S: Endpoint,
    R: Endpoint<Header = S::Header>,
    S::Header: Header,
{
    /// Starts a source and receivers at `start`. The seed decides the losses.
    pub fn new(source: S, receivers: Vec<(R, Path)>, start: Time, seed: u64) -> Pair<S, R> {
        let members = receivers
            .into_iter()
            .map(|(endpoint, path)| Member {
                endpoint,
                path,
                held: BTreeSet::new(),
                deadline: None,
                busy_until: start,
                record: Record::default(),
            })
            .collect();
        let mut pair = Pair {
            source,
            source_deadline: None,
            members,
            events: BTreeMap::new(),
            order: 0,
            now: start,
            stream: Stream::new(seed, "pair"),
            tamper: None,
            duplicates: false,
        };
        pair.drive_source(Input::Start);
        for index in 0..pair.members.len() {
            pair.drive_receiver(index, Input::Start);
        }
        pair
    }

    /// Sets the function that changes packets on their path to receivers.
    pub fn set_tamper(&mut self, tamper: Tamper<S::Header>) {
        self.tamper = Some(tamper);
    }

    /// Sets whether every data packet arrives twice.
    pub fn set_duplicates(&mut self, duplicates: bool) {
        self.duplicates = duplicates;
    }

    /// The time on the driver's clock, which is the source's.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// A receiver.
    pub fn receiver(&self, index: usize) -> &R {
        &self.members[index].endpoint
    }

    /// The record of a receiver.
    pub fn record(&self, index: usize) -> &Record {
        &self.members[index].record
    }

    /// The channels that a receiver has joined.
    pub fn held(&self, index: usize) -> &BTreeSet<Channel> {
        &self.members[index].held
    }

    /// The path of a receiver, to change it.
    pub fn path_mut(&mut self, index: usize) -> &mut Path {
        &mut self.members[index].path
    }

    /// Lets time pass.
    pub fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some((at, what)) = self.next().filter(|&(at, _)| at <= end) {
            self.now = at;
            match what {
                Next::Event => {
                    if let Some((_, event)) = self.events.pop_first() {
                        self.deliver(event);
                    }
                }
                Next::Source => self.drive_source(Input::Timer),
                Next::Receiver(index) => self.drive_receiver(index, Input::Timer),
            }
        }
        self.now = end;
    }

    /// The source's data has come to its end.
    pub fn finish_source(&mut self) {
        self.drive_source(Input::Finish);
    }

    /// Stops the source.
    pub fn stop_source(&mut self) {
        self.drive_source(Input::Stop);
    }

    /// Stops a receiver.
    pub fn stop_receiver(&mut self, index: usize) {
        self.drive_receiver(index, Input::Stop);
    }

    /// Passes an additional input to a receiver.
    pub fn drive_receiver(&mut self, index: usize, input: Input<S::Header>) {
        let member = &mut self.members[index];
        let mut host = ReceiverHost {
            now: self.now,
            held: &mut member.held,
            record: &mut member.record,
            sends: Vec::new(),
        };
        let local = self.now + member.path.clock_ahead;
        let ahead = member.path.clock_ahead;
        let deadline = drive(&mut member.endpoint, local, input, &mut host);
        member.deadline = deadline.map(|at| at - ahead);
        let arrives = self.now + member.path.delay;
        for send in host.sends {
            let origin = Origin::Peer(Peer(index as u32));
            let arrival = Arrival { origin, size: send.size, ecn: Ecn::NotCapable, header: send.header };
            self.push(arrives, Event::ToSource(arrival));
        }
    }

    fn push(&mut self, at: Time, event: Event<S::Header>) {
        self.order += 1;
        self.events.insert((at, self.order), event);
    }

    fn next(&self) -> Option<(Time, Next)> {
        let event = self.events.keys().next().map(|&(at, _)| (at, Next::Event));
        let source = self.source_deadline.map(|at| (at, Next::Source));
        let receivers = self.members.iter().enumerate();
        let timers = receivers.filter_map(|(index, member)| Some((member.deadline?, Next::Receiver(index))));
        event.into_iter().chain(source).chain(timers).min_by_key(|&(at, _)| at)
    }

    fn deliver(&mut self, event: Event<S::Header>) {
        match event {
            Event::ToSource(arrival) => self.drive_source(Input::Packet(arrival)),
            Event::ToReceiver(index, mut arrival) => {
                let keep = self.tamper.as_mut().is_none_or(|tamper| tamper(self.now, index, &mut arrival));
                let copies = if self.duplicates { 2 } else { 1 };
                for _ in 0..if keep { copies } else { 0 } {
                    self.members[index].record.delivered += 1;
                    self.drive_receiver(index, Input::Packet(arrival));
                }
            }
        }
    }

    fn drive_source(&mut self, input: Input<S::Header>) {
        let mut host = SourceHost(Vec::new());
        self.source_deadline = drive(&mut self.source, self.now, input, &mut host);
        for send in host.0 {
            let channel = match send.target {
                Target::Channel(channel) => channel,
                Target::Peer(Peer(index)) => {
                    self.unicast(index as usize, &send);
                    continue;
                }
                Target::Source | Target::Children(_) => continue,
            };
            for nth in 0..send.count {
                let header = send.header.nth(nth);
                let origin = Origin::Channel(channel);
                let arrival = Arrival { origin, size: send.size, ecn: Ecn::NotCapable, header };
                self.multicast(channel, arrival);
            }
        }
    }

    /// Sends the source's packet to one receiver, through the same queue as all others.
    fn unicast(&mut self, index: usize, send: &Send<S::Header>) {
        let dropped = self.stream.uniform();
        let Some(member) = self.members.get_mut(index).filter(|member| dropped >= member.path.loss) else {
            return;
        };
        let sending = member.path.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(send.size));
        member.busy_until = self.now + member.busy_until.since(self.now) + sending;
        let arrives = member.busy_until + member.path.delay;
        let origin = Origin::Peer(Peer(u32::MAX));
        let arrival = Arrival { origin, size: send.size, ecn: Ecn::NotCapable, header: send.header };
        self.push(arrives, Event::ToReceiver(index, arrival));
    }

    fn multicast(&mut self, channel: Channel, arrival: Arrival<S::Header>) {
        for index in 0..self.members.len() {
            let dropped = self.stream.uniform();
            let member = &mut self.members[index];
            if !member.held.contains(&channel) {
                continue;
            }
            let waiting = member.busy_until.since(self.now);
            if dropped < member.path.loss || waiting > member.path.queue {
                member.record.lost += 1;
                continue;
            }
            let sending = member.path.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(arrival.size));
            member.busy_until = self.now + waiting + sending;
            let arrives = member.busy_until + member.path.delay;
            self.push(arrives, Event::ToReceiver(index, arrival));
        }
    }
}

#[derive(Clone, Copy)]
enum Next {
    Event,
    Source,
    Receiver(usize),
}

struct SourceHost<H>(Vec<Send<H>>);

impl<H> Host<H> for SourceHost<H> {
    fn send(&mut self, send: Send<H>) {
        self.0.push(send);
    }
    fn join(&mut self, _: Channel) {}
    fn leave(&mut self, _: Channel) {}
    fn trace(&mut self, _: TraceEvent) {}
}

struct ReceiverHost<'a, H> {
    now: Time,
    held: &'a mut BTreeSet<Channel>,
    record: &'a mut Record,
    sends: Vec<Send<H>>,
}

impl<H> Host<H> for ReceiverHost<'_, H> {
    fn send(&mut self, send: Send<H>) {
        self.record.reports.push(self.now);
        self.sends.push(send);
    }
    fn join(&mut self, channel: Channel) {
        self.held.insert(channel);
    }
    fn leave(&mut self, channel: Channel) {
        self.held.remove(&channel);
    }
    fn trace(&mut self, note: TraceEvent) {
        self.record.notes.push((self.now, note));
    }
}
