//! TFRC's source (RFC 5348, section 4). CBR's is the same with a constant rate.

use super::data_limit::DataLimit;
use super::feedback::Feedback;
use super::header::{Data, Header, Report};
use super::options::Options;
use super::rate::RateControl;
use super::settings::{RateRule, Settings};
use layercast_core::cannot_be;
use layercast_core::contract::{
    Action, ActionQueue, Endpoint, Estimates, Input, Origin, Payload, Peer, Send, Target, Timers,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Duration, Layer, Level, Rate, RateEstimate, Time, WireSeq};
use layercast_kit::counters::SourceCounters;
use layercast_kit::estimator::{RtoEstimator, RttEstimator, rtt_sample};
use layercast_kit::pacing::Dither;

/// A report of more than this multiple of what was sent is rejected.
const LYING: f64 = 4.0;
/// The shortest spacing of packets, so that an extreme rate cannot stall a host.
const LEAST_SPACING: Duration = Duration::from_us(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    /// No receiver has sent a hello.
    Waiting,
    Sending,
    /// The application has no data.
    Paused,
    Stopped,
}

timers! {
    /// The timers of a source.
    enum Timer {
        /// A packet is due.
        Send,
        /// No report has come for too long.
        NoFeedback,
    }
}

/// The source of a TFRC session.
#[derive(Clone, Debug)]
pub struct Source {
    settings: Settings,
    plan: SessionPlan,
    /// The part of a packet that counts in rates, in bytes.
    counted_bytes: f64,
    /// The rate of the application in byte/s, as far as a source of small packets may follow it.
    most: f64,
    stream: Stream,
    state: State,
    session: u32,
    /// The receiver that sent the first hello.
    peer: Option<Peer>,
    seq: WireSeq,
    round: u16,
    rtt: RttEstimator,
    rto: RtoEstimator,
    /// The newest time stamp that came back.
    newest_echo: Option<u32>,
    control: RateControl,
    /// The nominal time of the last packet, and of the next one.
    last_nominal: Time,
    next_nominal: Time,
    dither: Dither,
    /// By which part of the spacing the next packet leaves later.
    late: f64,
    /// The largest rate since the report before the last, in byte/s, to detect impossible reports.
    sent_rates: [f64; 2],
    limit: DataLimit,
    sent_since_timer: bool,
    timers: Timers<Timer>,
    counters: SourceCounters,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source of a session. Its application has data at the rate of all layers of the plan.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        Source::with(Settings::from_options(options), plan, stream)
    }

    /// A source with these settings.
    pub(crate) fn with(settings: Settings, plan: SessionPlan, mut stream: Stream) -> Source {
        // A constant source sends the base layer; any other has the data of all layers.
        let wire = match settings.law {
            RateRule::Constant => plan.layers.rate(Layer::BASE),
            RateRule::Rfc | RateRule::Ns2 => plan.layers.top_rate(),
        };
        let counted_bytes = f64::from(settings.counted(plan.packet_size).as_bytes());
        let mut most = wire.as_bytes_per_s();
        if let Some(small) = &settings.small_packets {
            let share = counted_bytes / f64::from(plan.packet_size.as_bytes());
            most = (share * most).min(counted_bytes / small.spacing.as_secs_f64());
        }
        Source {
            counted_bytes,
            most,
            state: State::Idle,
            session: stream.bits() as u32,
            peer: None,
            seq: WireSeq(0),
            round: 0,
            rtt: RttEstimator::new(settings.rtt_filter, settings.q, settings.rtt_window),
            rto: RtoEstimator::new(settings.rto, settings.rto_minimum, settings.rto_granularity),
            newest_echo: None,
            control: RateControl::new(Time::ZERO, &settings, counted_bytes, most),
            last_nominal: Time::ZERO,
            next_nominal: Time::ZERO,
            dither: Dither::new(settings.dither, stream.branch("dither")),
            late: 0.0,
            sent_rates: [0.0; 2],
            limit: DataLimit::default(),
            sent_since_timer: false,
            timers: Timers::default(),
            counters: SourceCounters::default(),
            actions: ActionQueue::default(),
            settings,
            plan,
            stream,
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

    /// The receiver is known: begins.
    fn begin(&mut self, now: Time, peer: Peer) {
        self.peer = Some(peer);
        self.state = State::Sending;
        self.rtt.reset();
        self.rto.reset();
        self.newest_echo = None;
        self.limit = DataLimit::default();
        self.control = RateControl::new(now, &self.settings, self.counted_bytes, self.most);
        // A constant source starts within one spacing, so that several are not synchronised.
        let phase = match self.settings.law {
            RateRule::Constant => self.stream.uniform_duration(self.spacing()),
            RateRule::Rfc | RateRule::Ns2 => Duration::ZERO,
        };
        self.last_nominal = now;
        self.next_nominal = now + phase;
        self.timers.arm(Timer::Send, self.next_nominal);
        self.await_report(now);
    }

    /// Schedules the next packet before a receiver is known, if there are to be any.
    fn announce_from(&mut self, at: Time) {
        if !self.settings.announce_interval.is_zero() {
            self.timers.arm(Timer::Send, at);
        }
    }

    /// The present spacing of packets.
    fn spacing(&self) -> Duration {
        let rate = self.control.sending().min(self.most);
        Duration::from_secs_f64(self.counted_bytes / rate).max(LEAST_SPACING)
    }

    fn await_report(&mut self, now: Time) {
        self.sent_since_timer = false;
        if let Some(patience_s) = self.control.patience_s() {
            // Not at once, however short the round trip is.
            let patience = Duration::from_secs_f64(patience_s).max(LEAST_SPACING);
            self.timers.arm(Timer::NoFeedback, now + patience);
        }
    }

    /// A packet is due: sends it; the next one is due a spacing after its nominal time. A delay is
    /// made up for by one packet at most.
    fn send_due(&mut self, now: Time) {
        if self.state == State::Waiting {
            self.send(now, false);
            self.announce_from(now + self.settings.announce_interval);
        }
        if self.state != State::Sending {
            return;
        }
        self.send(now, false);
        let spacing = self.spacing();
        self.last_nominal = self.next_nominal.max(now - spacing);
        self.late = self.dither.part();
        self.arm_next(now, spacing);
    }

    /// The next packet is due a spacing after the nominal time of the last, or later by the dither.
    fn arm_next(&mut self, now: Time, spacing: Duration) {
        self.next_nominal = (self.last_nominal + spacing).max(now);
        self.timers.arm(Timer::Send, self.next_nominal + spacing.scaled(self.late));
    }

    /// The rate has changed: reschedules the next packet to its new nominal time.
    fn reschedule(&mut self, now: Time) {
        if self.state == State::Sending {
            self.arm_next(now, self.spacing());
        }
    }

    fn send(&mut self, now: Time, end_of_session: bool) {
        let data = Data {
            session: self.session,
            seq: self.seq,
            timestamp_us: now.as_wire_us(),
            rtt_us: Data::wire_duration(self.rtt.rtt()),
            rto_us: Data::wire_duration(self.rto.rto()),
            round: self.round,
            end_of_session,
        };
        self.seq = self.seq.next();
        self.counters.sent += 1;
        self.sent_since_timer = true;
        self.sent_rates[0] = self.sent_rates[0].max(self.control.sending());
        self.control.on_sent();
        if self.control.sending() <= self.most {
            self.limit.on_unlimited(now);
        }
        self.actions.send(Send {
            target: Target::Channel(Layer::BASE.channel()),
            header: Header::Data(data),
            size: self.plan.packet_size,
            payload: if end_of_session { Payload::None } else { Payload::Next },
            count: 1,
        });
    }

    fn on_report(&mut self, now: Time, from: Origin, report: &Report) {
        let Origin::Peer(from) = from else {
            self.counters.invalid += 1;
            return;
        };
        let waiting = matches!(self.state, State::Waiting);
        // A receiver that has received an announcement reports at once, and sends no hello.
        let heard_us = report.newest.is_none_or(|_| report.session == self.session);
        if waiting && heard_us && !report.leaving {
            self.begin(now, from);
            return;
        }
        let mine = !waiting && self.peer == Some(from);
        if mine && report.leaving {
            self.state = State::Waiting;
            self.peer = None;
            self.timers.clear();
            self.announce_from(now + self.settings.announce_interval);
            return;
        }
        // A repeated hello brings no news.
        let Some((echo, held_us)) = report.newest.filter(|_| mine && report.session == self.session) else {
            self.counters.invalid += u64::from(!mine || report.newest.is_some());
            return;
        };
        let Some(sample) = rtt_sample(now.as_wire_us(), echo, held_us) else {
            self.counters.invalid += 1;
            return;
        };
        self.on_new_report(now, report, echo, sample);
    }

    fn on_new_report(&mut self, now: Time, report: &Report, echo: u32, sample: Duration) {
        self.counters.reports += 1;
        self.round = self.round.wrapping_add(1);
        // A second report about the same packet has no new sample of the round-trip time.
        if self.newest_echo.replace(echo) != Some(echo) {
            self.rtt.on_sample(sample);
            if let Some(rtt_s) = self.rtt.rtt_s() {
                self.rto.on_sample(sample.as_secs_f64(), rtt_s);
            }
        }
        let (Some(rtt_s), Some(rto_s), Some(sample_s)) =
            (self.rtt.rtt_s(), self.rto.rto_s(), self.rtt.last_sample_s())
        else {
            return cannot_be("the first report brings a sample");
        };
        let elapsed = Duration::from_us(u64::from(now.as_wire_us().wrapping_sub(echo)));
        let data_limited = self.limit.on_report(now, now - elapsed, Duration::from_secs_f64(rtt_s));
        let feedback = Feedback {
            sample_s,
            rtt_s,
            rto_s,
            loss: report.loss_rate(),
            receive_rate: self.plausible_rate(f64::from(report.receive_rate), rtt_s),
            // A report of nothing covers no interval (RFC 5348, section 4.3).
            data_limited: data_limited && report.receive_rate > 0,
        };
        let at_once = self.control.on_report(now, &feedback);
        self.sent_rates = [self.control.sending(), self.sent_rates[0]];
        self.await_report(now);
        self.change_rate(now, at_once);
    }

    /// A receive rate far above what was sent is implausible; what was sent replaces it.
    fn plausible_rate(&self, receive_rate: f64, rtt_s: f64) -> f64 {
        // One packet in a round trip is the least that a receiver can report.
        let sent = self.sent_rates[0].max(self.sent_rates[1]).max(self.counted_bytes / rtt_s);
        if receive_rate > LYING * sent { sent } else { receive_rate }
    }

    fn change_rate(&mut self, now: Time, at_once: bool) {
        if at_once {
            self.next_nominal = now;
            self.send_due(now);
        } else {
            self.reschedule(now);
        }
    }

    fn run_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Send => self.send_due(now),
                Timer::NoFeedback => self.on_no_feedback(now),
            }
        }
    }

    /// No report has come for too long.
    fn on_no_feedback(&mut self, now: Time) {
        self.counters.timeouts += 1;
        self.round = self.round.wrapping_add(1);
        let at_once = self.control.on_no_feedback(now, !self.sent_since_timer);
        self.await_report(now);
        self.change_rate(now, at_once);
    }

    fn stop(&mut self, now: Time) {
        if matches!(self.state, State::Sending | State::Paused) {
            for _ in 0..self.settings.end_packets {
                self.send(now, true);
            }
        }
        self.state = State::Stopped;
        self.timers.clear();
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match (input, self.state) {
            (_, State::Stopped) => return,
            (Input::Start, State::Idle) => {
                self.state = State::Waiting;
                self.announce_from(now);
            }
            (Input::Packet(arrival), State::Waiting | State::Sending | State::Paused) => {
                match arrival.header {
                    Header::Report(report) => self.on_report(now, arrival.origin, &report),
                    Header::Data(_) => self.counters.invalid += 1,
                }
            }
            (Input::SendRefused(_), _) => self.counters.refused += 1,
            (Input::DataExhausted, State::Sending) => {
                self.state = State::Paused;
                self.timers.disarm(Timer::Send);
            }
            (Input::DataAvailable, State::Paused) => {
                self.state = State::Sending;
                self.arm_next(now, self.spacing());
            }
            (Input::Finish | Input::Stop, _) => self.stop(now),
            _ => {}
        }
        self.run_timers(now);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.next()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        // On the wire.
        let scale = f64::from(self.plan.packet_size.as_bytes()) / self.counted_bytes;
        let rate = match self.state {
            State::Sending | State::Paused => {
                RateEstimate::Known(Rate::from_bytes_per_s(scale * self.control.allowed()))
            }
            State::Idle | State::Waiting | State::Stopped => RateEstimate::Unknown,
        };
        let level = if self.peer.is_some() { Level::up_to(Layer::BASE) } else { Level::NONE };
        Estimates { level, rate, smoothed_rate: rate, rtt: self.rtt.rtt(), ..Estimates::default() }
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.session())
    }

    gauges! { |self, _now|
        ..self.counters => SourceCounters { sent, refused, reports, invalid, timeouts };
    }
}
