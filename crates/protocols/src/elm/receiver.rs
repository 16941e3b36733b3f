//! ELM's receiver (thesis 6.2).
//!
//! The path of a packet: the checks in this file, then `reception` (clock, sequence, losses,
//! estimator, echo, rate, smoothing), then slow start or the manager in `management`. A step that
//! they ask for takes effect before the next packet.

mod management;
mod reception;
mod reports;
mod table;
mod timing;

use core::num::NonZeroU64;

use reception::{Reception, Verdict};
use reports::ReportSchedule;
use table::RateTable;
use timing::{JoinWatch, Timer};

use super::header::{Base, Data, Header, ReceiverId, Report};
use super::options::Options;
use super::slow_start::{SlowStart, SlowStartPlan};
use super::strategy::Manager;
use layercast_core::cannot_be;
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Ecn, Endpoint, Estimates, Input, Origin, Send, Timers, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::{SessionMatch, SessionNumber, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, RateEstimate, Time};
use layercast_kit::counters::ReceiverCounters;

/// The state of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Not begun.
    Idle,
    /// No packet of the base layer has come yet.
    Waiting,
    /// In slow start.
    SlowStart(SlowStart),
    /// The strategy decides.
    Managed,
    /// The source ended the session, or the host stopped the endpoint.
    Over,
}

/// A receiver of an ELM session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    id: ReceiverId,
    stream: Stream,
    phase: Phase,
    level: Level,
    session: SessionNumber,
    table: RateTable,
    reception: Reception,
    slow_start: SlowStartPlan,
    manager: Manager,
    reports: ReportSchedule,
    timers: Timers<Timer>,
    watch: Option<JoinWatch>,
    started: Time,
    last_packet: Time,
    silent: bool,
    no_join_before: Time,
    /// The newest time stamp of the base layer and when it arrived.
    newest_base: Option<(u32, Time)>,
    counters: ReceiverCounters,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver for the session that the plan describes.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Receiver {
        let id = ReceiverId(NonZeroU64::new(stream.bits()).unwrap_or(NonZeroU64::MIN));
        let table = RateTable::new(&plan.layers);
        Receiver {
            id,
            phase: Phase::Idle,
            level: Level::NONE,
            session: SessionNumber::default(),
            reception: Reception::new(options, &plan),
            slow_start: SlowStartPlan::new(options),
            manager: Manager::new(options),
            reports: ReportSchedule::new(options),
            timers: Timers::default(),
            watch: None,
            started: Time::ZERO,
            last_packet: Time::ZERO,
            silent: false,
            no_join_before: Time::ZERO,
            newest_base: None,
            counters: ReceiverCounters::default(),
            actions: ActionQueue::default(),
            options: options.clone(),
            table,
            stream,
        }
    }

    /// The counters.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// The number that this receiver drew.
    pub fn id(&self) -> ReceiverId {
        self.id
    }

    /// Whether the receiver is in slow start.
    pub fn in_slow_start(&self) -> bool {
        matches!(self.phase, Phase::SlowStart(_))
    }

    /// The feedback interval in force.
    pub fn feedback_interval(&self) -> Duration {
        self.reports.interval()
    }

    /// The state of the loss estimator, for traces.
    pub fn loss_estimator(&self) -> &layercast_kit::estimator::LossEstimator {
        self.reception.loss_estimator()
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let Header::Data(data) = arrival.header else {
            self.counters.invalid += 1;
            return;
        };
        let from_its_channel = arrival.origin == Origin::Channel(data.layer().channel());
        let of_this_plan = usize::from(data.layer_count) == self.table.layer_count();
        if !from_its_channel || !of_this_plan || data.check().is_err() {
            self.counters.invalid += 1;
            return;
        }
        if !self.is_of_session(now, &data) {
            return;
        }
        if data.end_of_session {
            self.end_of_session(now);
            return;
        }
        if !self.level.holds(data.layer()) {
            self.counters.stray += 1;
            return;
        }
        self.on_data(now, &data, arrival.ecn == Ecn::Marked);
    }

    /// Whether a packet belongs to the session, which the first base packet identifies.
    fn is_of_session(&mut self, now: Time, data: &Data) -> bool {
        let known = self.session.known();
        if known.is_none() && (data.base.is_none() || self.phase != Phase::Waiting) {
            self.counters.stray += 1;
            return false;
        }
        if known.is_some_and(|known| known != data.session) {
            self.counters.foreign += 1;
            if data.base.is_none() {
                return false;
            }
        }
        let matched = self.session.observe(data.session);
        if matched == SessionMatch::Restarted {
            self.restart(now);
        }
        matched != SessionMatch::Foreign
    }

    /// One packet of a layer that is held: sequence, losses, estimator, echo, rate, smoothing,
    /// manager, in this order.
    fn on_data(&mut self, now: Time, data: &Data, marked: bool) {
        let verdict = self.reception.on_data(now, data, marked, &mut self.counters, &mut self.actions);
        if verdict == Verdict::Suspect {
            self.counters.suspect += 1;
            return;
        }
        self.last_packet = now;
        self.silent = false;
        if self.watch.is_some_and(|watch| watch.layer == data.layer()) {
            self.watch = None;
            self.timers.disarm(Timer::Join);
        }
        match verdict {
            Verdict::Restarted => self.restart(now),
            Verdict::Counted => self.evaluate_packet(now, data),
            Verdict::Ignored | Verdict::Suspect => {}
        }
    }

    fn evaluate_packet(&mut self, now: Time, data: &Data) {
        if let Some(base) = &data.base {
            self.on_base(now, data.timestamp_us, base);
        }
        self.evaluate(now);
    }

    fn on_base(&mut self, now: Time, timestamp_us: u32, base: &Base) {
        self.newest_base = Some((timestamp_us, now));
        self.table.apply(base.entry);
        if let Some(at) = self.reports.announced(base.feedback_interval_ms)
            && self.timers.at(Timer::Report).is_some()
        {
            self.timers.arm(Timer::Report, at);
        }
        if self.phase == Phase::Waiting {
            self.first_packet(now);
        }
        if let Some(echo) = base.echo.filter(|echo| echo.receiver == self.id) {
            match self.reception.on_echo(now, &echo) {
                Some((rtt, true)) => self.actions.trace(TraceEvent::FirstRoundTrip { rtt }),
                Some(_) => {}
                None => self.counters.bad_echo += 1,
            }
        }
    }

    fn send_report(&mut self, now: Time, leaving: bool) {
        let Some(session) = self.session.known() else {
            return cannot_be("a base packet, which names the session, precedes each report");
        };
        let rtt = self.reception.rtt();
        let age_us = |came: Time| u32::try_from(now.since(came).as_us()).unwrap_or(u32::MAX);
        let report = Report {
            session,
            receiver: self.id,
            timestamp_us: now.as_wire_us(),
            has_rtt: rtt.is_some(),
            in_slow_start: self.in_slow_start(),
            leaving,
            layer_count: self.level.layer_count() as u8,
            loss: Report::wire_loss(self.reception.loss_rate()),
            rate: Report::wire_rate(self.reception.rate()),
            rtt_us: rtt.map_or(0, Report::wire_rtt),
            newest: self.newest_base.map(|(stamp, came)| (stamp, age_us(came))),
        };
        self.counters.reports += 1;
        self.actions.send(Send::report(Header::Report(report), self.options.report_size));
    }

    /// Leaves all layers.
    fn finish(&mut self, now: Time, cause: Cause) {
        self.leave_down_to(now, Level::NONE, cause);
        self.phase = Phase::Over;
        self.timers.clear();
        self.manager.clear();
    }

    fn end_of_session(&mut self, now: Time) {
        self.actions.trace(TraceEvent::SessionEnded);
        self.finish(now, Cause::SessionEnd);
    }

    fn stop(&mut self, now: Time) {
        if self.phase != Phase::Idle && self.phase != Phase::Waiting {
            self.send_report(now, true);
        }
        self.finish(now, Cause::Stop);
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
            Input::JoinFailed(channel, _) => self.join_failed(now, Layer(channel.0)),
            Input::Stop => self.stop(now),
            _ => {}
        }
        self.run_timers(now);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        let timers = self.timers.next();
        let management = self.next_management();
        match (timers, management) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let has_rtt = self.reception.rtt().is_some();
        Estimates {
            level: self.level,
            rate: if has_rtt { self.reception.rate() } else { RateEstimate::Unknown },
            smoothed_rate: self.reception.smoothed_rate(),
            loss: self.session.known().map(|_| self.reception.loss_rate()),
            rtt: self.reception.rtt(),
        }
    }

    gauges! { |self, _now|
        ..self.counters => ReceiverCounters {
            received, lost, marked, late, duplicate, stray, invalid, foreign, suspect, resync, restarts,
            join_failed, join_silent, reports, bad_echo,
        };
        /// Whether the receiver is in slow start.
        value in_slow_start in "flag" = self.in_slow_start();
        /// The feedback interval in force.
        value feedback_interval_ms in "ms" = self.feedback_interval();
    }
}
