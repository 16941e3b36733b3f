//! ELM's source (thesis 6.2): constant rates, a feedback interval, echoes. It never adapts to loss.

use alloc::vec::Vec;

use super::feedback::{EchoQueue, FeedbackControl, Waiting};
use super::header::{Base, Data, Echo, Header, MAX_LAYERS, Report, TableEntry};
use super::options::{EchoOrder, FirstSequence, Options};
use layercast_core::contract::{ActionQueue, Endpoint, Estimates, Input, Payload, Send, Target};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, RateEstimate, Time, WireSeq};
use layercast_kit::counters::SourceCounters;
use layercast_kit::estimator::rtt_sample;
use layercast_kit::feedback::TokenBucket;
use layercast_kit::pacing::{Dither, LayerClocks};

/// After a stall longer than this a layer goes on from now.
const LONGEST_LAG: Duration = Duration::from_ms(100);

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

/// The source of an ELM session.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    plan: SessionPlan,
    stream: Stream,
    state: State,
    session: u32,
    clocks: LayerClocks,
    /// The layer whose rate the next base packet carries.
    table_next: u16,
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
            clocks: LayerClocks::with_longest_lag(LONGEST_LAG)
                .dithered(Dither::new(options.dither, stream.branch("dither"))),
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
        self.state = State::Sending;
        let random_start = self.options.first_sequence == FirstSequence::Random;
        let layers = 0..self.plan.layers.count().min(MAX_LAYERS);
        let number = |_| WireSeq(if random_start { self.stream.bits() as u32 } else { 0 });
        let numbers: Vec<WireSeq> = layers.map(number).collect();
        self.clocks.begin_at(now, &self.plan, numbers, &mut self.stream, false);
        self.control = FeedbackControl::new(&self.options, now);
        self.bucket = TokenBucket::new(10.0 * self.options.feedback_target, now);
    }

    fn send_due(&mut self, now: Time) {
        while let Some((layer, seq)) = self.clocks.take_due(now) {
            self.send(now, layer, seq, false);
        }
    }

    fn send(&mut self, now: Time, layer: Layer, seq: WireSeq, end_of_session: bool) {
        let base = (layer == Layer::BASE).then(|| self.base(now));
        let data = Data {
            session: self.session,
            layer: layer.0 as u8,
            layer_count: self.clocks.count() as u8,
            end_of_session,
            seq,
            timestamp_us: now.as_wire_us(),
            base,
        };
        self.counters.sent += 1;
        self.actions.send(Send {
            target: Target::Channel(layer.channel()),
            header: Header::Data(data),
            size: self.plan.packet_size,
            payload: if end_of_session { Payload::None } else { Payload::Next },
            count: 1,
        });
    }

    fn base(&mut self, now: Time) -> Base {
        let layer = Layer(self.table_next);
        self.table_next = if layer.0 + 1 < self.clocks.count() { layer.0 + 1 } else { 0 };
        let entry = TableEntry::new(layer, self.plan.layers.rate(layer));
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
                let seq = self.clocks.take_number(Layer::BASE);
                self.send(now, Layer::BASE, seq, true);
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
            Input::Demand(level) => self.clocks.demand(now, level, &mut self.stream),
            Input::DataExhausted if self.state == State::Sending => {
                self.state = State::Paused;
                self.clocks.pause();
            }
            Input::DataAvailable if self.state == State::Paused => {
                self.state = State::Sending;
                self.clocks.resume(now, &mut self.stream);
            }
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
        let check = self.control.next_check();
        let is_open = matches!(self.state, State::Sending | State::Paused);
        is_open.then(|| self.clocks.next().map_or(check, |next| next.min(check)))
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let layers = &self.plan.layers;
        let level = Level::from_count(self.clocks.count());
        let known = |top| RateEstimate::Known(layers.cumulative(top));
        let rate = level.top().map_or(RateEstimate::Unknown, known);
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
