//! SMCC's receiver.
//!
//! The path of a packet: the checks in this file, then TFMCC's `reception` (clock, sequence, losses,
//! receive rate, round-trip time, over all channels held), then, with packets of the highest layer, TFMCC's
//! feedback to that layer's session, then the level in `management` and the attempt in `attempt`.

mod attempt;
mod back_off;
mod counters;
mod management;

use alloc::vec::Vec;

pub use counters::JoinCounters;

use self::attempt::Attempt;
use self::back_off::BackOff;
use super::header::{Counting, Data, Header, ReceiverId};
use super::options::Options;
use super::structure::Structure;
use crate::tfmcc;
use crate::tfmcc::receiver::{Arrived, Reception, Reporter, Verdict};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Ecn, Endpoint, Estimates, Input, Origin, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::{SessionMatch, SessionNumber, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, Rate, RateEstimate, Size, Time};
use layercast_kit::counters::ReceiverCounters;
use layercast_kit::estimator::LossConfig;

/// The state of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Not begun.
    Idle,
    /// It holds layers, or would if it could.
    Running,
    /// The source ended the session, or the host stopped the endpoint, or its rate was too low.
    Over,
}

/// A receiver of an SMCC session.
#[derive(Clone, Debug)]
pub struct Receiver {
    layer_options: tfmcc::Options,
    losses: LossConfig,
    counting_round_trip: Duration,
    silent_leave: Duration,
    structure: Structure,
    packet_size: Size,
    phase: Phase,
    level: Level,
    session: SessionNumber,
    reception: Reception,
    reporter: Reporter,
    attempt: Option<Attempt>,
    back_off: BackOff,
    /// The rate up to the layer above the highest one held.
    above: Option<Rate>,
    /// Since when the fair rate has been below the highest layer's, and since when it has been above.
    below_since: Option<Time>,
    above_since: Option<Time>,
    /// When silence is traced.
    silent_at: Time,
    counters: ReceiverCounters,
    joins: JoinCounters,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver for the session that the plan describes.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Receiver {
        let structure = Structure::new(&plan, options.counting_round_trip);
        let (layer_options, losses) = (options.layer_options(), options.loss_config());
        Receiver {
            reception: reception(&layer_options, &losses, &structure, plan.packet_size),
            reporter: Reporter::new(&layer_options, stream),
            layer_options,
            losses,
            counting_round_trip: options.counting_round_trip,
            silent_leave: options.silent_leave,
            structure,
            packet_size: plan.packet_size,
            phase: Phase::Idle,
            level: Level::NONE,
            session: SessionNumber::default(),
            attempt: None,
            back_off: BackOff::new(options.back_off_min, options.back_off_max),
            above: None,
            below_since: None,
            above_since: None,
            silent_at: Time::ZERO,
            counters: ReceiverCounters::default(),
            joins: JoinCounters::default(),
            actions: ActionQueue::default(),
        }
    }

    /// The counters.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// The outcomes of attempts to join layers.
    pub fn joins(&self) -> &JoinCounters {
        &self.joins
    }

    /// The number that this receiver drew.
    pub fn id(&self) -> ReceiverId {
        self.reporter.id()
    }

    /// Whether it limits its highest layer's rate, as far as it knows.
    pub fn is_limiting(&self) -> bool {
        self.reporter.is_limiting()
    }

    /// How many units of rate counting layers add now.
    pub fn steps(&self) -> u32 {
        self.attempt.map_or(0, |attempt| attempt.held.units())
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        match arrival.header {
            Header::Data(data) => self.on_data(now, &data, arrival),
            Header::Counting(counting) => self.on_counting(now, &counting, arrival),
            Header::Report(_) => self.counters.invalid += 1,
        }
    }

    fn on_data(&mut self, now: Time, data: &Data, arrival: &Arrival<Header>) {
        let layer = data.layer();
        let from_its_channel = arrival.origin == Origin::Channel(layer.channel());
        if !from_its_channel || !self.structure.contains(layer) || data.tfmcc.check().is_err() {
            self.counters.invalid += 1;
            return;
        }
        if !self.level.holds(layer) {
            self.counters.stray += 1;
            return;
        }
        if !self.is_of_session(now, data.tfmcc.session) {
            return;
        }
        if data.tfmcc.end_of_session {
            self.actions.trace(TraceEvent::SessionEnded);
            self.finish(now, Cause::SessionEnd);
            return;
        }
        let tfmcc = self.level.top().filter(|&top| top == layer).map(|_| &data.tfmcc);
        let arrived = Arrived {
            layer,
            seq: data.tfmcc.seq,
            timestamp_us: data.tfmcc.timestamp_us,
            size: arrival.size,
            marked: arrival.ecn == Ecn::Marked,
            data: tfmcc,
        };
        if let Some(new_loss) = self.receive(now, &arrived) {
            if let Some(tfmcc) = tfmcc {
                self.above = data.above();
                self.on_top_layer(now, tfmcc, new_loss);
            } else {
                self.on_other_layer(now, new_loss);
            }
        }
    }

    fn on_counting(&mut self, now: Time, counting: &Counting, arrival: &Arrival<Header>) {
        let place = self.structure.counting_place(counting.channel());
        let from_its_channel = arrival.origin == Origin::Channel(counting.channel());
        let Some((layer, place)) = place.filter(|_| from_its_channel) else {
            self.counters.invalid += 1;
            return;
        };
        let held = |attempt: Attempt| attempt.layer == layer && attempt.held.holds(place);
        if !self.attempt.is_some_and(held) {
            self.counters.stray += 1;
            return;
        }
        if !self.is_of_session(now, counting.session) {
            return;
        }
        let arrived = Arrived {
            layer: self.counting_stream(place),
            seq: counting.seq,
            timestamp_us: counting.timestamp_us,
            size: arrival.size,
            marked: arrival.ecn == Ecn::Marked,
            data: None,
        };
        if let Some(new_loss) = self.receive(now, &arrived) {
            self.on_other_layer(now, new_loss);
        }
    }

    /// Whether a packet belongs to the session, which the first packet identifies.
    fn is_of_session(&mut self, now: Time, number: u32) -> bool {
        let matched = self.session.observe(number);
        self.counters.foreign +=
            u64::from(matches!(matched, SessionMatch::Foreign | SessionMatch::Restarted));
        if matched == SessionMatch::Restarted {
            self.restart(now);
        }
        matched != SessionMatch::Foreign
    }

    /// The source restarted: everything but the level is learned again.
    fn restart(&mut self, now: Time) {
        self.counters.restarts += 1;
        self.actions.trace(TraceEvent::Resynchronised { layer: Layer::BASE });
        self.reception = reception(&self.layer_options, &self.losses, &self.structure, self.packet_size);
        self.reporter.reset();
        self.end_attempt(now, false);
        (self.above, self.below_since, self.above_since) = (None, None, None);
    }

    /// Updates the estimators. Whether the packet revealed a loss event; none if it does not count.
    fn receive(&mut self, now: Time, arrived: &Arrived<'_>) -> Option<bool> {
        match self.reception.on_data(now, arrived, &mut self.counters, &mut self.actions) {
            Verdict::Counted(new_loss) => return Some(new_loss),
            Verdict::Ignored => {}
            Verdict::Suspect => self.counters.suspect += 1,
            Verdict::Restarted => self.restart(now),
        }
        None
    }

    /// A packet of the highest layer: round-trip time, rate, feedback, level.
    fn on_top_layer(&mut self, now: Time, data: &tfmcc::header::Data, new_loss: bool) {
        let outcome = self.reporter.on_packet(now, data, new_loss, &mut self.reception, &self.layer_options);
        let Some(outcome) = outcome else { return };
        self.silent_at = now + self.layer_options.silence_note;
        self.counters.bad_echo += u64::from(outcome.bad_echo);
        if let Some(rtt) = outcome.first_rtt {
            self.actions.trace(TraceEvent::FirstRoundTrip { rtt });
        }
        let asked = self.reception.asked();
        if self.reporter.is_due_with(now, &outcome, asked, &self.reception, &self.layer_options) {
            self.counters.limiting_reports += 1;
            self.send_report(now, false);
        }
        self.manage(now, new_loss, data.max_rtt().scaled(self.layer_options.round_length));
    }

    /// A packet of another layer: its losses count for the layer that this receiver takes part in.
    fn on_other_layer(&mut self, now: Time, new_loss: bool) {
        if !new_loss {
            return;
        }
        // Updates the fair rate.
        self.reception.asked();
        if self.reporter.is_limiting() && self.layer_options.report_on_loss {
            self.counters.limiting_reports += 1;
            self.send_report(now, false);
        }
        self.loss_in_attempt(now);
    }

    fn run_timers(&mut self, now: Time) {
        if self.phase != Phase::Running {
            return;
        }
        if self.reporter.take_due(now) {
            self.send_report(now, false);
        }
        self.step_attempt(now);
        if self.layer_silent_at().is_some_and(|at| at <= now) {
            self.leave_top(now, Cause::SilentLayer);
        }
        if now >= self.silent_at {
            self.actions.trace(TraceEvent::Silent { waited: now.since(self.reporter.last_packet()) });
            self.silent_at = now + self.layer_options.silence_note;
            if self.level == Level::NONE {
                self.set_level(now, Level::up_to(Layer::BASE), Cause::Start);
            }
        }
    }

    /// When the highest layer counts as silent; the base layer is kept.
    fn layer_silent_at(&self) -> Option<Time> {
        (self.level.layer_count() > 1).then(|| self.reporter.last_packet() + self.silent_leave)
    }

    fn finish(&mut self, now: Time, cause: Cause) {
        self.end_attempt(now, false);
        self.set_level(now, Level::NONE, cause);
        self.phase = Phase::Over;
    }
}

/// Estimators for all layers, and for as many counting layers as the widest boundary has.
fn reception(
    options: &tfmcc::Options,
    losses: &LossConfig,
    structure: &Structure,
    packet_size: Size,
) -> Reception {
    let layers = (0..structure.layer_count()).map(|index| structure.high(Layer(index)));
    let counting = (0..structure.widest_boundary()).map(|place| structure.counting_rate(place));
    Reception::new(options, losses, packet_size, layers.chain(counting).collect::<Vec<Rate>>())
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match (self.phase, input) {
            (Phase::Over, _) => return,
            (Phase::Idle, Input::Start) => {
                self.phase = Phase::Running;
                self.set_level(now, Level::up_to(Layer::BASE), Cause::Start);
            }
            (Phase::Running, Input::Packet(arrival)) => self.on_packet(now, &arrival),
            (Phase::Running, Input::JoinFailed(channel, _)) => {
                if channel.0 < self.structure.layer_count() {
                    self.join_failed(now, Layer(channel.0));
                } else if let Some((_, place)) = self.structure.counting_place(channel) {
                    self.counting_join_failed(now, place);
                }
            }
            (_, Input::Stop) => self.finish(now, Cause::Stop),
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
        let step = self.attempt.map(|attempt| attempt.next_step);
        let more = [self.reporter.deadline(), step, self.layer_silent_at()];
        more.into_iter().flatten().chain([self.silent_at]).min()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let rate = if self.reception.rtt().is_some() { self.estimate() } else { RateEstimate::Unknown };
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
        ..self.joins => JoinCounters { attempts, joined, taken_back, silent_layers };
        /// Whether it limits its highest layer's rate, as far as it knows.
        value is_limiting in "flag" = self.is_limiting();
        /// Units of rate that counting layers add.
        value counting_units in "units" = self.steps();
    }
}
