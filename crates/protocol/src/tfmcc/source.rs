//! TFMCC's source (RFC 4654, section 3): it follows the rate of the limiting receiver.

mod control;
mod echoes;
mod rounds;

use self::control::{Bounds, Control, Heard};
use self::echoes::{Echoes, Waiting};
use self::rounds::Rounds;
use super::header::{Data, FloatRate, Header, ReceiverId, Report};
use super::options::Options;
use super::rules::rescaled_rate;
use crate::contract::{ActionQueue, Belief, Endpoint, Input, Payload, Send, Target};
use crate::elm::feedback::TokenBucket;
use crate::estimator::{MAX_RTT, rtt_sample};
use crate::session::SessionPlan;
use crate::stream::Stream;
use crate::units::{Channel, Layer, Level, Rate, RateEstimate, Size, Span, Time, WireSeq};

/// A source that is further behind than this starts anew from now: a host that stalled does not make
/// up for it with a burst.
const MAX_BEHIND: Span = Span::from_ms(100);
/// The shortest spacing of packets, so that a wild rate cannot stall a host.
const MIN_SPACING: Span = Span::from_us(1);

/// What a source counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounters {
    /// Data packets sent.
    pub sent: u64,
    /// Data packets that the host refused to send.
    pub refused: u64,
    /// Reports taken, those of the limiting receiver included.
    pub reports: u64,
    /// Reports of others than the limiting receiver.
    pub others: u64,
    /// Reports above the limit.
    pub surplus_reports: u64,
    /// Packets of another session, or that are no reports, or that answer no packet of ours.
    pub invalid: u64,
    /// Feedback rounds that have ended.
    pub rounds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Not begun.
    Idle,
    /// Sending.
    Sending,
    /// The application has nothing to send. The rate before that, in byte/s.
    Paused(f64),
    /// Over.
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
    /// When the newest packet left, or should have.
    left: Time,
    control: Control,
    rounds: Rounds,
    echoes: Echoes,
    bucket: TokenBucket,
    rtt: Option<Span>,
    counters: SourceCounters,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source that sends on channel 0, at most at the rate of all layers of the plan.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Source {
        let (packet_size, peak) = (plan.packet_size, plan.layers.top_rate());
        let session = stream.bits() as u32;
        let rounds = Rounds::new(options, Time::ZERO);
        Source {
            packet_size,
            peak,
            state: State::Idle,
            session,
            seq: WireSeq(0),
            left: Time::ZERO,
            control: Control::new(bounds(options, packet_size, peak), rounds.max_rtt(), Time::ZERO),
            rounds,
            echoes: Echoes::new(),
            bucket: TokenBucket::new(f64::from(options.report_limit), Time::ZERO),
            rtt: None,
            counters: SourceCounters::default(),
            actions: ActionQueue::default(),
            options: options.clone(),
        }
    }

    /// What was counted.
    pub fn counters(&self) -> &SourceCounters {
        &self.counters
    }

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// The rate at which it sends.
    pub fn rate(&self) -> Rate {
        Rate::from_bytes_per_s(self.control.rate())
    }

    /// The largest round-trip time of the session, as the source has it.
    pub fn max_rtt(&self) -> Span {
        self.rounds.max_rtt()
    }

    /// The current limiting receiver.
    pub fn limiting(&self) -> Option<ReceiverId> {
        self.control.limiting()
    }

    /// How often a receiver became the limiting one.
    pub fn limiting_changes(&self) -> u64 {
        self.control.clr_changes()
    }

    /// Whether slow start goes on.
    pub fn in_slow_start(&self) -> bool {
        self.control.in_slow_start()
    }

    fn spacing(&self) -> Span {
        self.rate().time_to_send(self.packet_size).max(MIN_SPACING)
    }

    fn start(&mut self, now: Time) {
        self.state = State::Sending;
        self.rounds = Rounds::new(&self.options, now);
        let bounds = bounds(&self.options, self.packet_size, self.peak);
        self.control = Control::new(bounds, self.rounds.max_rtt(), now);
        self.rounds.spacing_changed(self.spacing());
        self.bucket = TokenBucket::new(f64::from(self.options.report_limit), now);
        self.left = now;
        self.send(now, false);
    }

    fn send_due(&mut self, now: Time) {
        while self.state == State::Sending && self.left + self.spacing() <= now {
            self.left += self.spacing();
            if now.since(self.left) > MAX_BEHIND {
                self.left = now;
            }
            self.send(now, false);
            self.control.advance(now, self.rounds.max_rtt());
        }
    }

    fn send(&mut self, now: Time, end_of_session: bool) {
        let round = self.rounds.number();
        let data = Data {
            session: self.session,
            seq: self.seq,
            timestamp_us: now.as_wire_us(),
            end_of_session,
            round,
            max_rtt_us: self.rounds.max_rtt().min(MAX_RTT).as_us() as u32,
            suppression: self.rounds.suppression(),
            rate: FloatRate::from_rate(self.rate()),
            limiting: self.control.limiting(),
            echo: self.echoes.pop(now, round, self.rounds.is_late(now)),
        };
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
        let sample = rtt_sample(now.as_wire_us(), report.heard_us, 0);
        let (Some(rtt), Some(asked)) = (sample, report.rate.rate()) else {
            self.counters.invalid += 1;
            return;
        };
        if report.session != self.session {
            self.counters.invalid += 1;
            return;
        }
        if !self.bucket.take(now) {
            self.counters.surplus_reports += 1;
            return;
        }
        self.counters.reports += 1;
        let before = self.rounds.max_rtt();
        self.rounds.on_rtt(rtt);
        if self.control.limiting() != Some(report.receiver) {
            self.counters.others += 1;
            if !report.leaving {
                self.rounds.on_feedback(report.round, report.rate);
            }
        }
        let asked = asked.as_bytes_per_s();
        let rate = if report.has_loss && !report.has_rtt { rescaled_rate(asked, before, rtt) } else { asked };
        let Report { receiver, has_loss, leaving, .. } = *report;
        let heard = Heard { receiver, rate, has_loss, leaving };
        self.control.on_report(now, &heard, self.rounds.max_rtt(), self.rounds.length());
        self.rounds.spacing_changed(self.spacing());
        let is_limiting = self.control.limiting() == Some(receiver);
        if is_limiting {
            self.rtt = Some(rtt);
        }
        if self.control.limiting().is_none() {
            self.echoes.forget_limiting();
        }
        if !leaving {
            let Report { timestamp_us, has_rtt, round, rate, .. } = *report;
            let waiting = Waiting { receiver, timestamp_us, arrived: now, has_rtt, round, rate };
            self.echoes.push(waiting, is_limiting);
        }
    }

    /// What the clock alone brings about.
    fn run_timers(&mut self, now: Time) {
        loop {
            if self.control.poll(now, self.rounds.max_rtt()) {
                self.rounds.spacing_changed(self.spacing());
            }
            if self.control.limiting().is_none() {
                self.echoes.forget_limiting();
            }
            if self.rounds.poll(now, self.spacing()) {
                self.counters.rounds += 1;
            } else if self.control.deadline(self.rounds.max_rtt()) > now {
                return;
            }
        }
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

fn bounds(options: &Options, packet_size: Size, peak: Rate) -> Bounds {
    let packet_bytes = f64::from(packet_size.as_bytes().max(1));
    let high = peak.as_bytes_per_s();
    let slowest = packet_bytes / options.max_spacing.as_secs_f64();
    let low = slowest.max(options.floor_rate.as_bytes_per_s()).min(high);
    Bounds { packet_bytes, low, high }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match (self.state, input) {
            (State::Stopped, _) => return,
            (State::Idle, Input::Start) => self.start(now),
            (_, Input::Stop) => return self.stop(now),
            (State::Idle, _) => return,
            (_, Input::Packet(arrival)) => match arrival.header {
                Header::Report(report) => self.on_report(now, &report),
                Header::Data(_) => self.counters.invalid += 1,
            },
            (_, Input::SendRefused(_)) => self.counters.refused += 1,
            (State::Sending, Input::DataExhausted) => self.state = State::Paused(self.control.rate()),
            (State::Paused(rate), Input::DataAvailable) => {
                self.state = State::Sending;
                self.control.resume(now, rate);
                self.left = now - self.spacing();
            }
            _ => {}
        }
        self.run_timers(now);
        self.send_due(now);
    }

    fn poll_action(&mut self) -> Option<crate::contract::Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        let timers = self.rounds.end().min(self.control.deadline(self.rounds.max_rtt()));
        match self.state {
            State::Sending => Some(timers.min(self.left + self.spacing())),
            State::Paused(_) => Some(timers),
            State::Idle | State::Stopped => None,
        }
    }

    fn belief(&self, _now: Time) -> Belief {
        let rate = RateEstimate::Known(self.rate());
        let level = Level::up_to(Layer::BASE);
        Belief { level, rate, smoothed_rate: rate, loss: None, rtt: self.rtt, measures: None }
    }
}
