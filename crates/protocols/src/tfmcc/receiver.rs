//! TFMCC's receiver (RFC 4654, section 4).
//!
//! The path of a packet: the checks in this file, then `reception` (clock, sequence, losses, receive
//! rate, round-trip time), then feedback: at the pace of round trips if this receiver limits the rate,
//! by a random timer in `feedback` if not.

mod feedback;
mod meter;
mod reception;
mod reporter;
mod reports;

pub(crate) use self::reception::{Arrived, Reception, Verdict};
pub(crate) use self::reporter::Reporter;
use super::header::{Data, Header, ReceiverId};
use super::options::Options;
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Ecn, Endpoint, Estimates, Input, Origin, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::{SessionMatch, SessionNumber, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Layer, Level, Rate, RateEstimate, Size, Time};
use layercast_kit::counters::ReceiverCounters;

/// The channel of the session.
const CHANNEL: Channel = Channel(0);

/// The state of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Not begun.
    Idle,
    /// It holds the channel, or would if it could.
    Running,
    /// The source ended the session, or the host stopped the endpoint, or its rate was too low.
    Over,
}

/// A receiver of a TFMCC session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    packet_size: Size,
    peak: Rate,
    phase: Phase,
    level: Level,
    session: SessionNumber,
    reception: Reception,
    reporter: Reporter,
    /// Since when its fair rate has been too low for the session.
    starved_since: Option<Time>,
    /// When silence is traced.
    silent_at: Time,
    counters: ReceiverCounters,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver for the session that the plan describes.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Receiver {
        let (packet_size, peak) = (plan.packet_size, plan.layers.top_rate());
        Receiver {
            packet_size,
            peak,
            phase: Phase::Idle,
            level: Level::NONE,
            session: SessionNumber::default(),
            reception: Reception::new(options, &options.loss_config(), packet_size, [peak]),
            reporter: Reporter::new(options, stream),
            starved_since: None,
            silent_at: Time::ZERO,
            counters: ReceiverCounters::default(),
            actions: ActionQueue::default(),
            options: options.clone(),
        }
    }

    /// The counters.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// The number that this receiver drew.
    pub fn id(&self) -> ReceiverId {
        self.reporter.id()
    }

    /// Whether it limits the session's rate, as far as it knows.
    pub fn is_limiting(&self) -> bool {
        self.reporter.is_limiting()
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let Header::Data(data) = arrival.header else {
            self.counters.invalid += 1;
            return;
        };
        if arrival.origin != Origin::Channel(CHANNEL) || data.check().is_err() {
            self.counters.invalid += 1;
            return;
        }
        if self.level == Level::NONE {
            self.counters.stray += 1;
            return;
        }
        if !self.is_of_session(&data) {
            return;
        }
        if data.end_of_session {
            self.actions.trace(TraceEvent::SessionEnded);
            self.finish(Cause::SessionEnd);
            return;
        }
        let arrived = Arrived {
            layer: Layer::BASE,
            seq: data.seq,
            timestamp_us: data.timestamp_us,
            size: arrival.size,
            marked: arrival.ecn == Ecn::Marked,
            data: Some(&data),
        };
        let verdict = self.reception.on_data(now, &arrived, &mut self.counters, &mut self.actions);
        match verdict {
            Verdict::Counted(new_loss) => self.on_counted_packet(now, &data, new_loss),
            Verdict::Ignored => {}
            Verdict::Suspect => self.counters.suspect += 1,
            Verdict::Restarted => self.restart(),
        }
    }

    /// Whether a packet belongs to the session, which the first packet identifies.
    fn is_of_session(&mut self, data: &Data) -> bool {
        let matched = self.session.observe(data.session);
        self.counters.foreign +=
            u64::from(matches!(matched, SessionMatch::Foreign | SessionMatch::Restarted));
        if matched == SessionMatch::Restarted {
            self.restart();
        }
        matched != SessionMatch::Foreign
    }

    /// The source restarted: everything is learned again.
    fn restart(&mut self) {
        self.counters.restarts += 1;
        self.actions.trace(TraceEvent::Resynchronised { layer: Layer::BASE });
        let losses = self.options.loss_config();
        self.reception = Reception::new(&self.options, &losses, self.packet_size, [self.peak]);
        self.reporter.reset();
        self.starved_since = None;
    }

    /// A packet that counts: round-trip time, rate, feedback.
    fn on_counted_packet(&mut self, now: Time, data: &Data, new_loss: bool) {
        let Some(outcome) = self.reporter.on_packet(now, data, new_loss, &mut self.reception, &self.options)
        else {
            return;
        };
        self.silent_at = now + self.options.silence_note;
        self.counters.bad_echo += u64::from(outcome.bad_echo);
        if let Some(rtt) = outcome.first_rtt {
            self.actions.trace(TraceEvent::FirstRoundTrip { rtt });
        }
        let asked = self.reception.asked();
        if self.is_starved(now) {
            self.finish(Cause::RateBelow);
            return;
        }
        let (reception, options) = (&self.reception, &self.options);
        if self.reporter.is_due_with(now, &outcome, asked, reception, options) {
            self.counters.limiting_reports += 1;
            self.send_report(now, false);
        }
    }

    fn run_timers(&mut self, now: Time) {
        if self.phase != Phase::Running {
            return;
        }
        if self.reporter.take_due(now) {
            self.send_report(now, false);
        }
        if now >= self.silent_at {
            self.actions.trace(TraceEvent::Silent { waited: now.since(self.reporter.last_packet()) });
            self.silent_at = now + self.options.silence_note;
            self.join(Cause::Start);
        }
    }

    fn join(&mut self, cause: Cause) {
        if self.level == Level::NONE {
            self.actions.join(CHANNEL);
            self.set_level(Level::up_to(Layer::BASE), cause);
        }
    }

    fn set_level(&mut self, to: Level, cause: Cause) {
        if self.level != to {
            self.actions.trace(TraceEvent::LevelChanged { from: self.level, to, cause });
            self.level = to;
        }
    }

    fn finish(&mut self, cause: Cause) {
        if self.level != Level::NONE {
            self.actions.leave(CHANNEL);
        }
        self.set_level(Level::NONE, cause);
        self.phase = Phase::Over;
    }

    /// A limiting receiver that leaves silently would hold up the others, so it says so. Others leave
    /// silently, since they may be many.
    fn stop(&mut self, now: Time) {
        if self.reporter.is_limiting() {
            self.send_report(now, true);
        }
        self.finish(Cause::Stop);
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match (self.phase, input) {
            (Phase::Over, _) => return,
            (Phase::Idle, Input::Start) => {
                self.phase = Phase::Running;
                self.reporter.begin(now);
                self.silent_at = now + self.options.silence_note;
                self.join(Cause::Start);
            }
            (Phase::Running, Input::Packet(arrival)) => self.on_packet(now, &arrival),
            (_, Input::JoinFailed(CHANNEL, _)) => {
                self.counters.join_failed += 1;
                self.set_level(Level::NONE, Cause::JoinFailed);
            }
            (_, Input::Stop) => self.stop(now),
            _ => {}
        }
        self.run_timers(now);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        if self.phase != Phase::Running {
            return None;
        }
        Some(self.reporter.deadline().map_or(self.silent_at, |at| at.min(self.silent_at)))
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let rate = match self.reception.calculated() {
            Some(rate) if self.reception.has_loss() => RateEstimate::Known(Rate::from_bytes_per_s(rate)),
            _ if self.session.known().is_some() => RateEstimate::Unbounded,
            _ => RateEstimate::Unknown,
        };
        Estimates {
            level: self.level,
            rate,
            smoothed_rate: rate,
            loss: self.session.known().map(|_| self.reception.loss_rate()),
            rtt: self.reception.rtt().map(|_| self.reception.rtt_in_use()),
        }
    }

    gauges! { |self, _now|
        ..self.counters => ReceiverCounters {
            received, lost, marked, late, duplicate, stray, invalid, foreign, suspect, resync, restarts,
            join_failed, reports, limiting_reports, bad_echo,
        };
        /// Whether it limits the session's rate, as far as it knows.
        value is_limiting in "flag" = self.is_limiting();
    }
}
