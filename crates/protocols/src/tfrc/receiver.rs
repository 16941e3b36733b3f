//! TFRC's receiver (RFC 5348, section 6). CBR's is the same with other settings.

mod reception;

use reception::{Reception, Verdict};

use super::header::{Data, Header, Report};
use super::options::Options;
use super::receive_rate::ReceiveRate;
use super::report_schedule::{ReportSchedule, ReportTrigger};
use super::settings::Settings;
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Origin, Send, Timers, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::{SessionMatch, SessionNumber, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Duration, Layer, Level, Rate, RateEstimate, Size, Time};
use layercast_kit::counters::ReceiverCounters;
use layercast_kit::estimator::LossPanel;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    /// Asks the source to begin.
    Waiting,
    Receiving,
    Over,
}

timers! {
    /// The timers of a receiver.
    enum Timer {
        /// No data has come yet.
        Hello,
        /// A report is due.
        Report,
    }
}

const CHANNEL: Channel = Layer::BASE.channel();
const HELD: Level = Level::up_to(Layer::BASE);

/// The receiver of a TFRC session.
#[derive(Clone, Debug)]
pub struct Receiver {
    settings: Settings,
    phase: Phase,
    level: Level,
    session: SessionNumber,
    reception: Reception,
    receive_rate: ReceiveRate,
    schedule: ReportSchedule,
    /// The loss event rate of the last report, and the round-trip time of that time.
    reported_loss: f64,
    reported_rtt: Option<Duration>,
    /// The newest time stamp and when it came.
    newest: Option<(u32, Time)>,
    timers: Timers<Timer>,
    counters: ReceiverCounters,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver for the session that the plan describes.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
        let settings = Settings::from_options(options);
        let size = settings.small_packets.map_or(plan.packet_size, |small| small.nominal);
        Receiver::with(settings, &plan, size)
    }

    /// A receiver with these settings, whose equation is for packets of a size.
    pub(crate) fn with(settings: Settings, plan: &SessionPlan, equation_size: Size) -> Receiver {
        Receiver {
            phase: Phase::Idle,
            level: Level::NONE,
            session: SessionNumber::default(),
            reception: Reception::new(&settings, plan, equation_size),
            receive_rate: ReceiveRate::new(Time::ZERO),
            schedule: ReportSchedule::new(settings.ns2_reports),
            reported_loss: 0.0,
            reported_rtt: None,
            newest: None,
            timers: Timers::default(),
            counters: ReceiverCounters::default(),
            actions: ActionQueue::default(),
            settings,
        }
    }

    /// The counters.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// The loss measures in parallel on the same packets, if there are several.
    pub(crate) fn panel(&self) -> Option<&LossPanel> {
        self.reception.panel()
    }

    /// The rate that TCP would have at this loss rate.
    pub(crate) fn rate_at(&self, loss: f64) -> RateEstimate {
        self.reception.rate_at(loss)
    }

    fn start(&mut self, now: Time) {
        self.phase = Phase::Waiting;
        self.send_hello(now, Cause::Start);
    }

    /// Joins, if it is not joined, and asks the source to begin. Repeated until data arrives.
    fn send_hello(&mut self, now: Time, cause: Cause) {
        if self.level == Level::NONE {
            self.actions.join(CHANNEL);
            self.actions.trace(TraceEvent::LevelChanged { from: Level::NONE, to: HELD, cause });
            self.level = HELD;
        }
        self.send_report(now, false);
        self.timers.arm(Timer::Hello, now + self.settings.hello_interval);
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let Header::Data(data) = arrival.header else {
            self.counters.invalid += 1;
            return;
        };
        if arrival.origin != Origin::Channel(CHANNEL) {
            self.counters.invalid += 1;
            return;
        }
        if self.level == Level::NONE {
            self.counters.stray += 1;
            return;
        }
        if !self.is_of_session(now, &data) {
            return;
        }
        if data.end_of_session {
            self.actions.trace(TraceEvent::SessionEnded);
            self.finish(Cause::SessionEnd);
            return;
        }
        self.on_data(now, &data, arrival);
    }

    /// Whether a packet belongs to the session, which the first packet identifies.
    fn is_of_session(&mut self, now: Time, data: &Data) -> bool {
        let matched = self.session.observe(data.session);
        self.counters.foreign +=
            u64::from(matches!(matched, SessionMatch::Foreign | SessionMatch::Restarted));
        match matched {
            SessionMatch::First => self.begin(now),
            SessionMatch::Restarted => self.restart(now),
            SessionMatch::Same | SessionMatch::Foreign => {}
        }
        matched != SessionMatch::Foreign
    }

    fn begin(&mut self, now: Time) {
        self.phase = Phase::Receiving;
        self.timers.disarm(Timer::Hello);
        self.receive_rate = ReceiveRate::new(now);
    }

    fn restart(&mut self, now: Time) {
        self.counters.restarts += 1;
        self.actions.trace(TraceEvent::Resynchronised { layer: Layer::BASE });
        self.reception.reset();
        self.schedule = ReportSchedule::new(self.settings.ns2_reports);
        self.timers.disarm(Timer::Report);
        self.reported_loss = 0.0;
        self.reported_rtt = None;
        self.begin(now);
    }

    fn on_data(&mut self, now: Time, data: &Data, arrival: &Arrival<Header>) {
        let rtt_before = self.reception.rtt();
        let (size, ecn) = (arrival.size, arrival.ecn);
        let verdict = self.reception.on_data(now, data, size, ecn, &mut self.counters, &mut self.actions);
        let Verdict::Counted { new_event, first_event } = verdict else {
            self.counters.suspect += u64::from(verdict == Verdict::Suspect);
            return;
        };
        let rtt = self.reception.rtt();
        if let Some(rtt) = rtt.filter(|_| rtt_before.is_none()) {
            self.actions.trace(TraceEvent::FirstRoundTrip { rtt });
        }
        self.newest = Some((data.timestamp_us, now));
        self.receive_rate.on_packet(self.settings.counted(arrival.size));
        if first_event {
            let newest = self.rate_now(now);
            let largest = self.receive_rate.largest();
            let take_largest = self.settings.largest_target && largest > newest;
            self.reception.set_first_interval(if take_largest { largest } else { newest });
        }
        let higher_loss = new_event && self.reception.loss_rate() > self.reported_loss;
        let trigger = ReportTrigger { higher_loss, first_loss: first_event, rtts: [rtt_before, rtt] };
        if self.schedule.on_packet(now, trigger) {
            self.send_report(now, false);
        }
    }

    /// The present receive rate, over at least the round-trip time of the last report.
    fn rate_now(&self, now: Time) -> Rate {
        let rtt = self.reported_rtt.or(self.reception.rtt()).unwrap_or(Duration::ZERO);
        self.receive_rate.rate(now, rtt)
    }

    fn send_report(&mut self, now: Time, leaving: bool) {
        let age_us = |came: Time| u32::try_from(now.since(came).as_us()).unwrap_or(u32::MAX);
        let newest = self.newest.map(|(stamp, came)| (stamp, age_us(came)));
        let loss = self.reception.loss_rate();
        let rate = if newest.is_some() { self.rate_now(now) } else { Rate::ZERO };
        let report = Report {
            session: self.session.known().unwrap_or_default(),
            newest,
            receive_rate: Report::wire_rate(rate),
            loss: Report::wire_loss(loss),
            leaving,
        };
        self.counters.reports += 1;
        self.actions.send(Send::report(Header::Report(report), self.settings.report_size));
        if newest.is_some() {
            self.reported_loss = loss;
            self.reported_rtt = self.reception.rtt();
            self.receive_rate.on_report_sent(now, rate);
            self.schedule.sent(now, self.reported_rtt);
            self.timers.set(Timer::Report, self.schedule.due());
        }
    }

    fn run_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Hello => self.send_hello(now, Cause::Start),
                Timer::Report => {
                    if self.schedule.on_timer(now) {
                        self.send_report(now, false);
                    }
                }
            }
        }
    }

    fn join_failed(&mut self, now: Time, channel: Channel) {
        if channel == CHANNEL && self.level != Level::NONE {
            self.counters.join_failed += 1;
            let note = TraceEvent::LevelChanged { from: HELD, to: Level::NONE, cause: Cause::JoinFailed };
            self.actions.trace(note);
            self.level = Level::NONE;
            self.timers.arm(Timer::Hello, now + self.settings.hello_interval);
        }
    }

    /// Leaves the session.
    fn finish(&mut self, cause: Cause) {
        if self.level != Level::NONE {
            self.actions.leave(CHANNEL);
            self.actions.trace(TraceEvent::LevelChanged { from: HELD, to: Level::NONE, cause });
            self.level = Level::NONE;
        }
        self.phase = Phase::Over;
        self.schedule.stop();
        self.timers.clear();
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        if self.phase == Phase::Over {
            return;
        }
        match input {
            Input::Packet(arrival) if self.phase != Phase::Idle => self.on_packet(now, &arrival),
            Input::Start if self.phase == Phase::Idle => self.start(now),
            Input::JoinFailed(channel, _) => self.join_failed(now, channel),
            Input::Stop => {
                if self.phase != Phase::Idle {
                    self.send_report(now, true);
                }
                self.finish(Cause::Stop);
            }
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
        let rate = self.reception.rate();
        Estimates {
            level: self.level,
            rate,
            smoothed_rate: rate,
            loss: self.session.known().map(|_| self.reception.loss_rate()),
            rtt: self.reception.rtt(),
        }
    }

    gauges! { |self, _now|
        ..self.counters => ReceiverCounters {
            received, lost, marked, late, duplicate, stray, invalid, foreign, suspect, resync, restarts,
            join_failed, reports,
        };
    }
}
