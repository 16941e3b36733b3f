//! ELM's source (thesis 6.2): constant rates, a feedback interval, echoes. It never adapts to loss.

use alloc::vec::Vec;

use super::feedback::{EchoQueue, FeedbackControl, Waiting};
use super::header::{Base, Data, Echo, Header, MAX_LAYERS, Report, TableEntry};
use super::options::{EchoOrder, FirstSequence, Options};
use layercast_core::contract::{ActionQueue, Endpoint, Estimates, Input, Payload, Send, Target};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, Pacer, Rate, RateEstimate, Time, WireSeq};
use layercast_kit::counters::SourceCounters;
use layercast_kit::estimator::rtt_sample;
use layercast_kit::feedback::TokenBucket;

/// A layer that is further behind than this restarts from the present time: after a stall, a host does not
/// catch up with a burst.
const MAX_BEHIND: Duration = Duration::from_ms(100);

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

#[derive(Clone, Debug)]
struct SendingLayer {
    pacer: Pacer,
    seq: WireSeq,
    entry: TableEntry,
}

/// The source of an ELM session.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    plan: SessionPlan,
    stream: Stream,
    state: State,
    session: u32,
    layers: Vec<SendingLayer>,
    /// The next departure of each layer.
    next: (Time, usize),
    table_next: usize,
    control: FeedbackControl,
    bucket: TokenBucket,
    echoes: EchoQueue,
    rtt: Option<Duration>,
    counters: SourceCounters,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source for the layers of the plan; at most 32 of them are used.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Source {
        Source {
            state: State::Idle,
            session: stream.bits() as u32,
            layers: Vec::with_capacity(usize::from(plan.layers.count())),
            next: (Time::MAX, 0),
            table_next: 0,
            control: FeedbackControl::new(options, Time::ZERO),
            bucket: TokenBucket::new(10.0 * options.feedback_target, Time::ZERO),
            echoes: EchoQueue::new(options.echo_order == EchoOrder::WithoutRttFirst),
            rtt: None,
            counters: SourceCounters::default(),
            actions: ActionQueue::default(),
            options: options.clone(),
            plan,
            stream,
        }
    }

    /// The counters.
    pub fn counters(&self) -> &SourceCounters {
        &self.counters
    }

    /// The feedback interval that packets announce at present.
    pub fn feedback_interval(&self) -> Duration {
        Duration::from_ms(u64::from(self.control.interval_ms()))
    }

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.session
    }

    fn start(&mut self, now: Time) {
        let random_start = self.options.first_sequence == FirstSequence::Random;
        for index in 0..self.plan.layers.count().min(MAX_LAYERS) {
            let rate = self.plan.layers.rate(Layer(index));
            let pacer = Pacer::new(now, self.plan.packet_size, rate);
            let seq = WireSeq(if random_start { self.stream.bits() as u32 } else { 0 });
            self.layers.push(SendingLayer { pacer, seq, entry: TableEntry::new(Layer(index), rate) });
        }
        self.control = FeedbackControl::new(&self.options, now);
        self.bucket = TokenBucket::new(10.0 * self.options.feedback_target, now);
        self.resume(now);
    }

    /// Every layer first sends at a random moment within one spacing, so that layers and sessions
    /// are not synchronised.
    fn resume(&mut self, now: Time) {
        self.state = State::Sending;
        for layer in &mut self.layers {
            let phase = self.stream.uniform_duration(layer.pacer.spacing());
            layer.pacer.reschedule(now + phase);
        }
        self.find_next();
    }

    fn find_next(&mut self) {
        let mut next = (Time::MAX, 0);
        for (index, layer) in self.layers.iter().enumerate() {
            if layer.pacer.next() < next.0 {
                next = (layer.pacer.next(), index);
            }
        }
        self.next = next;
    }

    fn send_due(&mut self, now: Time) {
        while self.next.0 <= now && self.state == State::Sending {
            let (at, index) = self.next;
            if now.since(at) > MAX_BEHIND
                && let Some(layer) = self.layers.get_mut(index)
            {
                layer.pacer.reschedule(now);
            }
            self.send(now, index, false);
            if let Some(layer) = self.layers.get_mut(index) {
                layer.pacer.advance();
            }
            self.find_next();
        }
    }

    fn send(&mut self, now: Time, index: usize, end_of_session: bool) {
        let base = if index == 0 { Some(self.base(now)) } else { None };
        let layer_count = self.layers.len() as u8;
        let Some(layer) = self.layers.get_mut(index) else { return };
        let data = Data {
            session: self.session,
            layer: index as u8,
            layer_count,
            end_of_session,
            seq: layer.seq,
            timestamp_us: now.as_wire_us(),
            base,
        };
        layer.seq = layer.seq.next();
        self.counters.sent += 1;
        self.actions.send(Send {
            target: Target::Channel(Layer(index as u16).channel()),
            header: Header::Data(data),
            size: self.plan.packet_size,
            payload: if end_of_session { Payload::None } else { Payload::Next },
            count: 1,
        });
    }

    fn base(&mut self, now: Time) -> Base {
        let index = self.table_next;
        self.table_next = if index + 1 < self.layers.len() { index + 1 } else { 0 };
        let entry =
            self.layers.get(index).map_or(TableEntry::new(Layer::BASE, Rate::ZERO), |layer| layer.entry);
        let echo: Option<Echo> = self.echoes.pop(now);
        self.counters.echoes += u64::from(echo.is_some());
        Base { feedback_interval_ms: self.control.interval_ms(), entry, echo }
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        if report.session != self.session {
            self.counters.invalid += 1;
            return;
        }
        self.control.count();
        if !self.bucket.take(now) {
            self.counters.surplus_reports += 1;
            return;
        }
        self.counters.reports += 1;
        let sample = report.newest.and_then(|(sent, held)| rtt_sample(now.as_wire_us(), sent, held));
        self.rtt = sample.or(self.rtt);
        if !report.leaving {
            self.echoes.push(Waiting {
                receiver: report.receiver,
                timestamp_us: report.timestamp_us,
                arrived: now,
                has_rtt: report.has_rtt,
            });
        }
    }

    fn stop(&mut self, now: Time) {
        if self.state == State::Sending || self.state == State::Paused {
            for _ in 0..self.options.end_packets {
                self.send(now, 0, true);
            }
        }
        self.state = State::Stopped;
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        if self.state == State::Stopped {
            return;
        }
        match input {
            Input::Start if self.state == State::Idle => self.start(now),
            Input::Packet(arrival) => match arrival.header {
                Header::Report(report) => self.on_report(now, &report),
                Header::Data(_) => self.counters.invalid += 1,
            },
            Input::SendRefused(_) => self.counters.refused += 1,
            Input::DataExhausted if self.state == State::Sending => self.state = State::Paused,
            Input::DataAvailable if self.state == State::Paused => self.resume(now),
            Input::Finish | Input::Stop => self.stop(now),
            _ => {}
        }
        if self.state == State::Sending || self.state == State::Paused {
            self.control.poll(now);
            self.send_due(now);
        }
    }

    fn poll_action(&mut self) -> Option<layercast_core::contract::Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        match self.state {
            State::Sending => Some(self.next.0.min(self.control.next_check())),
            State::Paused => Some(self.control.next_check()),
            State::Idle | State::Stopped => None,
        }
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let layers = &self.plan.layers;
        let rate = match self.layers.len() {
            0 => RateEstimate::Unknown,
            count => RateEstimate::Known(layers.cumulative(Layer(count as u16 - 1))),
        };
        let level = Level::from_count(self.layers.len() as u16);
        Estimates { level, rate, smoothed_rate: rate, rtt: self.rtt, ..Estimates::default() }
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.session())
    }

    gauges! { |self, _now|
        ..self.counters => SourceCounters { sent, refused, reports, surplus_reports, invalid, echoes };
        /// The feedback interval that packets announce.
        value feedback_interval_ms in "ms" = self.feedback_interval();
    }
}
