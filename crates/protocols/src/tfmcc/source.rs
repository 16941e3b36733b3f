//! TFMCC's source (RFC 4654, section 3): it follows the rate of the limiting receiver.

mod control;
mod echoes;
mod regulator;
mod rounds;

pub(crate) use self::regulator::{Range, Regulator, Reported};
use super::header::{Header, ReceiverId, Report};
use super::options::Options;
use layercast_core::contract::{ActionQueue, Endpoint, Estimates, Input, Payload, Send, Target};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Layer, Level, Rate, RateEstimate, Size, Time, WireSeq};
use layercast_kit::counters::SourceCounters;
use layercast_kit::feedback::TokenBucket;
use layercast_kit::pacing::Dither;

/// A source that is further behind than this restarts from the present time: after a stall, a host does not
/// catch up with a burst.
pub(crate) const MAX_BEHIND: Duration = Duration::from_ms(100);

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Not begun.
    Idle,
    /// Sending.
    Sending,
    /// The application has no data. The rate before that, in byte/s.
    Paused(f64),
    /// Ended.
    Stopped,
}

/// The source of a TFMCC session.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    packet_size: Size,
    peak: Rate,
    state: State,
    session: u32,
    seq: WireSeq,
    /// The nominal departure of the newest packet.
    left: Time,
    dither: Dither,
    /// By which part of the spacing the next packet departs later.
    late: f64,
    regulator: Regulator,
    bucket: TokenBucket,
    counters: SourceCounters,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source that sends on channel 0, at most at the rate of all layers of the plan.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Source {
        let (packet_size, peak) = (plan.packet_size, plan.layers.top_rate());
        let session = stream.bits() as u32;
        let range = range(options, packet_size, peak);
        Source {
            packet_size,
            peak,
            state: State::Idle,
            session,
            seq: WireSeq(0),
            left: Time::ZERO,
            dither: Dither::new(options.dither, stream.branch("dither")),
            late: 0.0,
            regulator: Regulator::new(options, packet_size, range, Time::ZERO),
            bucket: TokenBucket::new(f64::from(options.report_limit), Time::ZERO),
            counters: SourceCounters::default(),
            actions: ActionQueue::default(),
            options: options.clone(),
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

    /// The rate at which it sends.
    pub fn rate(&self) -> Rate {
        self.regulator.rate()
    }

    /// The largest round-trip time of the session, as the source has it.
    pub fn max_rtt(&self) -> Duration {
        self.regulator.max_rtt()
    }

    /// The current limiting receiver.
    pub fn limiting(&self) -> Option<ReceiverId> {
        self.regulator.limiting()
    }

    /// How often a receiver became the limiting one.
    pub fn limiting_changes(&self) -> u64 {
        self.regulator.limiting_changes()
    }

    /// Whether the source is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.regulator.in_slow_start()
    }

    fn spacing(&self) -> Duration {
        self.regulator.spacing()
    }

    fn next(&self) -> Time {
        self.left + self.spacing().scaled(1.0 + self.late)
    }

    fn start(&mut self, now: Time) {
        self.state = State::Sending;
        let range = range(&self.options, self.packet_size, self.peak);
        self.regulator = Regulator::new(&self.options, self.packet_size, range, now);
        self.bucket = TokenBucket::new(f64::from(self.options.report_limit), now);
        self.left = now;
        self.send(now, false);
    }

    fn send_due(&mut self, now: Time) {
        while self.state == State::Sending && self.next() <= now {
            let behind = now.since(self.next());
            self.left += self.spacing();
            if behind > MAX_BEHIND {
                self.left = now;
            }
            self.late = self.dither.part();
            self.send(now, false);
            self.regulator.advance(now);
        }
    }

    fn send(&mut self, now: Time, end_of_session: bool) {
        let data = self.regulator.data(now, self.session, self.seq, end_of_session);
        self.seq = self.seq.next();
        self.counters.sent += 1;
        self.actions.send(Send {
            target: Target::Channel(Channel(0)),
            header: Header::Data(data),
            size: self.packet_size,
            payload: if end_of_session { Payload::None } else { Payload::Next },
            count: 1,
        });
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        let Some(reported) = Reported::new(now, report).filter(|_| report.session == self.session) else {
            self.counters.invalid += 1;
            return;
        };
        if !self.bucket.take(now) {
            self.counters.surplus_reports += 1;
            return;
        }
        self.counters.reports += 1;
        self.counters.other_reports += u64::from(self.regulator.on_report(now, &reported));
    }

    fn stop(&mut self, now: Time) {
        if self.state != State::Idle {
            for _ in 0..self.options.end_packets {
                self.send(now, true);
            }
        }
        self.state = State::Stopped;
    }
}

/// From one packet in the longest spacing, or the floor, to the peak.
fn range(options: &Options, packet_size: Size, peak: Rate) -> Range {
    let packet_bytes = f64::from(packet_size.as_bytes().max(1));
    let slowest = packet_bytes / options.max_spacing.as_secs_f64();
    let low = slowest.max(options.floor_rate.as_bytes_per_s()).min(peak.as_bytes_per_s());
    Range { low: Rate::from_bytes_per_s(low), high: peak }
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
                Header::Data(_) => self.counters.invalid += 1,
            },
            (_, Input::SendRefused(_)) => self.counters.refused += 1,
            (State::Sending, Input::DataExhausted) => {
                self.state = State::Paused(self.regulator.rate_bytes_per_s())
            }
            (State::Paused(rate), Input::DataAvailable) => {
                self.state = State::Sending;
                self.regulator.resume(now, rate);
                self.left = now - self.spacing();
            }
            _ => {}
        }
        self.counters.rounds += self.regulator.poll(now);
        self.send_due(now);
    }

    fn poll_action(&mut self) -> Option<layercast_core::contract::Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        let timers = self.regulator.deadline();
        match self.state {
            State::Sending => Some(timers.min(self.next())),
            State::Paused(_) => Some(timers),
            State::Idle | State::Stopped => None,
        }
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let rate = RateEstimate::Known(self.rate());
        let level = Level::up_to(Layer::BASE);
        Estimates { level, rate, smoothed_rate: rate, loss: None, rtt: self.regulator.rtt() }
    }

    gauges! { |self, _now|
        ..self.counters => SourceCounters {
            sent, refused, reports, other_reports, surplus_reports, invalid, rounds,
        };
        /// Times that another receiver became the limiting one.
        count limiting_changes in "times" = self.limiting_changes();
        /// The largest round-trip time of the session.
        value max_rtt_ms in "ms" = self.max_rtt();
        /// Whether the source is in slow start.
        value in_slow_start in "flag" = self.in_slow_start();
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.session())
    }
}
