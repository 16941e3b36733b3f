//! SMCC's source: a TFMCC session for each layer, and counting layers at constant rates.

use alloc::vec::Vec;

use super::header::{Counting, Data, FloatRate, Header, ReceiverId, Report};
use super::options::Options;
use super::structure::Structure;
use crate::tfmcc;
use crate::tfmcc::source::{MAX_BEHIND, Range, Regulator, Reported};
use layercast_core::contract::{ActionQueue, Endpoint, Estimates, Input, Payload, Send, Target};
use layercast_core::gauges;
use layercast_core::layers::Phases;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{
    Channel, Duration, Layer, Level, Pacer, Rate, RateEstimate, Size, Time, WireSeq,
};
use layercast_kit::counters::SourceCounters;
use layercast_kit::feedback::TokenBucket;
use layercast_kit::pacing::Dither;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not begun.
    Idle,
    /// Sending.
    Sending,
    /// The application has no data.
    Paused,
    /// Ended.
    Stopped,
}

/// A layer's own group.
#[derive(Clone, Debug)]
struct Group {
    regulator: Regulator,
    seq: WireSeq,
    /// The departure of the first packet, where layers begin together.
    first: Option<Time>,
    /// The nominal departure of the newest packet.
    left: Time,
    /// By which part of the spacing the next packet departs later.
    late: f64,
    /// The layer's rate in byte/s when the application paused.
    before_pause: f64,
}

impl Group {
    fn next(&self) -> Time {
        self.first.unwrap_or(self.left + self.regulator.spacing().scaled(1.0 + self.late))
    }
}

/// A counting layer's group.
#[derive(Clone, Debug)]
struct CountingGroup {
    /// The layer below the boundary that it counts.
    below: Layer,
    pacer: Pacer,
    /// By how much later than the pacer says the next packet departs.
    delay: Duration,
    seq: WireSeq,
}

impl CountingGroup {
    fn next(&self) -> Time {
        self.pacer.next() + self.delay
    }
}

/// The source of an SMCC session.
#[derive(Clone, Debug)]
pub struct Source {
    layer_options: tfmcc::Options,
    least_share: f64,
    structure: Structure,
    packet_size: Size,
    phases: Phases,
    stream: Stream,
    dither: Dither,
    state: State,
    session: u32,
    groups: Vec<Group>,
    counting: Vec<CountingGroup>,
    /// How many layers are sent, with the counting layers above them.
    open: usize,
    bucket: TokenBucket,
    counters: SourceCounters,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source for the layers of the plan, which must fit (see [`Structure::check`]).
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Source {
        Source {
            layer_options: options.layer_options(),
            least_share: options.least_share,
            structure: Structure::new(&plan, options.counting_round_trip),
            packet_size: plan.packet_size,
            phases: plan.layers.phases(),
            session: stream.bits() as u32,
            dither: Dither::new(options.dither, stream.branch("dither")),
            stream,
            state: State::Idle,
            groups: Vec::new(),
            counting: Vec::new(),
            open: usize::MAX,
            bucket: TokenBucket::new(f64::from(options.report_limit), Time::ZERO),
            counters: SourceCounters::default(),
            actions: ActionQueue::default(),
        }
    }

    /// The counters.
    pub fn counters(&self) -> &SourceCounters {
        &self.counters
    }

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// The rate of all layers up to this one; zero for one that does not exist.
    pub fn rate(&self, layer: Layer) -> Rate {
        self.groups.get(layer.index()).map_or(Rate::ZERO, |group| group.regulator.rate())
    }

    /// The receiver that limits a layer.
    pub fn limiting(&self, layer: Layer) -> Option<ReceiverId> {
        self.groups.get(layer.index())?.regulator.limiting()
    }

    fn start(&mut self, now: Time) {
        self.state = State::Sending;
        for index in 0..self.structure.layer_count() {
            let layer = Layer(index);
            let range = Range { low: self.structure.low(layer), high: self.structure.high(layer) };
            let regulator = Regulator::new(&self.layer_options, self.packet_size, range, now);
            let first = (self.phases == Phases::Together).then_some(now);
            let group = Group { regulator, seq: WireSeq(0), first, left: now, late: 0.0, before_pause: 0.0 };
            self.groups.push(group);
        }
        self.regulate();
        for index in self.structure.layer_count()..self.structure.channel_count() {
            let place = self.structure.counting_place(Channel(index));
            let (below, place) = place.unwrap_or((Layer::BASE, 0));
            let rate = self.structure.counting_rate(place);
            let spacing = Pacer::new(now, self.packet_size, rate).spacing();
            let first = now + self.phases.draw(spacing, &mut self.stream);
            let pacer = Pacer::new(first, self.packet_size, rate);
            self.counting.push(CountingGroup { below, pacer, delay: Duration::ZERO, seq: WireSeq(0) });
        }
        self.bucket = TokenBucket::new(f64::from(self.layer_options.report_limit), now);
        // No time is before the start of the run: within a spacing of it, layers begin at the end of one.
        for group in &mut self.groups {
            let spacing = group.regulator.spacing();
            group.left = now + self.phases.draw(spacing, &mut self.stream) - spacing;
        }
    }

    /// A layer's group carries what the layers below do not. Where no receiver reports, those that may join are
    /// in the layer below, whose largest round-trip time is known.
    fn regulate(&mut self) {
        let mut below: Option<(Rate, Duration)> = None;
        for (index, group) in self.groups.iter_mut().enumerate() {
            if let Some((rate, max_rtt)) = below {
                let least = self.structure.low(Layer(index as u16)).scaled(self.least_share);
                group.regulator.share(rate, least);
                if group.regulator.limiting().is_none() {
                    group.regulator.expect_max_rtt(max_rtt);
                }
            }
            below = Some((group.regulator.rate(), group.regulator.max_rtt()));
        }
    }

    fn send_due(&mut self, now: Time) {
        if self.state != State::Sending {
            return;
        }
        for index in 0..self.groups.len().min(self.open) {
            while self.groups[index].next() <= now {
                let group = &mut self.groups[index];
                let behind = now.since(group.next());
                group.left = match group.first.take() {
                    Some(first) => first,
                    None => group.left + group.regulator.spacing(),
                };
                if behind > MAX_BEHIND {
                    group.left = now;
                }
                group.late = self.dither.part();
                self.send(now, index, false);
                self.groups[index].regulator.advance(now);
                self.regulate();
            }
        }
        for index in 0..self.counting.len() {
            if self.counting[index].below.index() < self.open {
                self.send_counting(now, index);
            }
        }
    }

    fn send(&mut self, now: Time, index: usize, end_of_session: bool) {
        let above = self.groups.get(index + 1).map(|above| FloatRate::from_rate(above.regulator.rate()));
        let group = &mut self.groups[index];
        let tfmcc = group.regulator.data(now, self.session, group.seq, end_of_session);
        group.seq = group.seq.next();
        let header = Data { tfmcc, above: above.unwrap_or(FloatRate::UNBOUNDED), layer: index as u8 };
        self.counters.sent += 1;
        self.actions.send(Send {
            target: Target::Channel(Channel(index as u16)),
            header: Header::Data(header),
            size: self.packet_size,
            payload: if end_of_session { Payload::None } else { Payload::Next },
            count: 1,
        });
    }

    fn send_counting(&mut self, now: Time, index: usize) {
        let channel = self.structure.layer_count() + index as u16;
        let group = &mut self.counting[index];
        if group.next() + MAX_BEHIND < now {
            group.pacer.reschedule(now);
            group.delay = Duration::ZERO;
        }
        while group.next() <= now {
            group.pacer.advance();
            group.delay = self.dither.delay(group.pacer.spacing());
            let header =
                Counting { session: self.session, seq: group.seq, timestamp_us: now.as_wire_us(), channel };
            group.seq = group.seq.next();
            self.counters.sent += 1;
            self.actions.send(Send::data(Channel(channel), Header::Counting(header), self.packet_size));
        }
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        let reported = Reported::new(now, &report.tfmcc).filter(|_| report.tfmcc.session == self.session);
        let (Some(reported), Some(group)) = (reported, self.groups.get_mut(usize::from(report.layer))) else {
            self.counters.invalid += 1;
            return;
        };
        if !self.bucket.take(now) {
            self.counters.surplus_reports += 1;
            return;
        }
        self.counters.reports += 1;
        self.counters.other_reports += u64::from(group.regulator.on_report(now, &reported));
        self.regulate();
    }

    fn run_timers(&mut self, now: Time) {
        let mut changed = false;
        for group in &mut self.groups {
            if group.regulator.deadline() <= now {
                self.counters.rounds += group.regulator.poll(now);
                changed = true;
            }
        }
        if changed {
            self.regulate();
        }
    }

    fn pause(&mut self) {
        self.state = State::Paused;
        for group in &mut self.groups {
            group.before_pause = group.regulator.rate_bytes_per_s();
        }
    }

    fn resume(&mut self, now: Time) {
        self.state = State::Sending;
        for group in &mut self.groups {
            group.regulator.resume(now, group.before_pause);
            group.left = now - group.regulator.spacing();
        }
        for group in &mut self.counting {
            group.pacer.reschedule(now);
        }
    }

    /// Sends only the layers of a level from now on, the base at least. Those that are sent again begin now.
    fn demand(&mut self, now: Time, level: Level) {
        let open = usize::from(level.layer_count()).max(1);
        for group in self.groups.iter_mut().take(open).skip(self.open) {
            group.left = now - group.regulator.spacing();
        }
        let opened = |group: &&mut CountingGroup| (self.open..open).contains(&group.below.index());
        self.counting.iter_mut().filter(opened).for_each(|group| group.pacer.reschedule(now));
        self.open = open;
    }

    fn stop(&mut self, now: Time) {
        if !self.groups.is_empty() {
            for _ in 0..self.layer_options.end_packets {
                self.send(now, 0, true);
            }
        }
        self.state = State::Stopped;
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match (self.state, input) {
            (State::Stopped, _) => return,
            (State::Idle, Input::Start) => self.start(now),
            (_, Input::Finish | Input::Stop) => return self.stop(now),
            (State::Idle, _) => return,
            (_, Input::Packet(arrival)) => match arrival.header {
                Header::Report(report) => self.on_report(now, &report),
                Header::Data(_) | Header::Counting(_) => self.counters.invalid += 1,
            },
            (_, Input::SendRefused(_)) => self.counters.refused += 1,
            (State::Sending, Input::DataExhausted) => self.pause(),
            (State::Paused, Input::DataAvailable) => self.resume(now),
            (_, Input::Demand(level)) => self.demand(now, level),
            _ => {}
        }
        // A change of a rate or of a largest round-trip time can make another packet due.
        while self.deadline().is_some_and(|at| at <= now) {
            self.run_timers(now);
            self.send_due(now);
        }
    }

    fn poll_action(&mut self) -> Option<layercast_core::contract::Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        let timers = self.groups.iter().map(|group| group.regulator.deadline()).min();
        let sends = self.groups.iter().take(self.open).map(Group::next);
        let is_open = |group: &&CountingGroup| group.below.index() < self.open;
        let counting = self.counting.iter().filter(is_open).map(CountingGroup::next);
        match self.state {
            State::Sending => sends.chain(counting).chain(timers).min(),
            State::Paused => timers,
            State::Idle | State::Stopped => None,
        }
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let top = self.groups.last();
        let rate = top.map_or(RateEstimate::Unknown, |top| RateEstimate::Known(top.regulator.rate()));
        Estimates {
            level: Level::from_count(
                self.structure.layer_count().min(u16::try_from(self.open).unwrap_or(u16::MAX)),
            ),
            rate,
            smoothed_rate: rate,
            rtt: self.groups.first().and_then(|base| base.regulator.rtt()),
            ..Estimates::default()
        }
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.session())
    }

    gauges! { |self, _now|
        ..self.counters => SourceCounters {
            sent, refused, reports, other_reports, surplus_reports, invalid, rounds,
        };
    }
}
