//! The receiver of FLID: one decision for each slot.

mod channels;
mod deciding;
mod guard;
mod numbers;
mod slots;
mod timing;

use self::channels::Channels;
use self::guard::{END_WAIT, EndGuard, JumpGuard, SlotClock};
use self::slots::Slot;
use self::timing::Timer;
use super::{Header, JoinMode, Settings, Variant};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Ecn, Endpoint, Estimates, Input, Origin, Timers, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::{SessionMatch, SessionNumber, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Layer, Level, Seq, Time};
use layercast_kit::dynamic::Layering;
use layercast_kit::silence::SILENCE;

pub use slots::{Congestion, next_level};

/// The receiver of a FLID session.
#[derive(Clone, Debug)]
pub struct Receiver {
    settings: Settings,
    layering: Layering,
    /// How many levels there are.
    levels: u16,
    state: State,
    level: Level,
    session: SessionNumber,
    slot: Slot,
    /// With static layers: the slot before, while its last packets may still come.
    previous: Option<Slot>,
    /// With early joins: the level that was chosen for the next slot.
    planned: Option<(u16, Cause)>,
    channels: Channels,
    congestion: Congestion,
    jump: JumpGuard,
    end: EndGuard,
    clock: SlotClock,
    /// Slots in a row that ended without a packet of the next one.
    assumed_slots: u32,
    deaf_until: Time,
    last_packet: Time,
    counts: (u64, u64),
    /// Slots after which a layer was added, and after which one was left.
    decisions: (u64, u64),
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    /// The base layer is joined; no packet of it has come.
    Acquiring,
    Running,
    /// No packet came for some slots.
    Starved,
}

impl Receiver {
    /// A receiver for the layers of `plan`. It needs no randomness; the stream is accepted so that all
    /// receivers have the same constructor.
    pub fn new(options: &impl Variant, plan: SessionPlan, _stream: Stream) -> Receiver {
        let settings = Settings { increase_probability_list: alloc::vec::Vec::new(), ..options.settings() };
        let layering = settings.layering(&plan);
        Receiver {
            channels: Channels::new(layering, &settings, &plan),
            levels: settings.layers(&plan),
            layering,
            state: State::Idle,
            level: Level::NONE,
            session: SessionNumber::default(),
            slot: Slot::new(0, Time::ZERO),
            previous: None,
            planned: None,
            congestion: Congestion::new(settings.ecn, Time::ZERO),
            jump: JumpGuard::default(),
            end: EndGuard::default(),
            clock: SlotClock::default(),
            assumed_slots: 0,
            deaf_until: Time::ZERO,
            last_packet: Time::ZERO,
            counts: (0, 0),
            decisions: (0, 0),
            timers: Timers::default(),
            actions: ActionQueue::default(),
            settings,
        }
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let header = arrival.header;
        let channel = header.channel();
        if arrival.origin != Origin::Channel(channel) || self.state == State::Idle {
            return;
        }
        let number = match self.state {
            State::Running => header.slot.expand(Seq(self.slot.number)).0,
            _ => u64::from(header.slot.0),
        };
        if self.layering.layer_of(channel, number) != Some(header.layer()) {
            return;
        }
        if !self.channels.holds(channel) {
            self.channels.on_late_packet(now, channel, number, &mut self.actions);
            return;
        }
        match self.session.observe(header.session) {
            SessionMatch::Foreign => return,
            SessionMatch::Restarted => self.acquire(now),
            SessionMatch::First | SessionMatch::Same => {}
        }
        self.last_packet = now;
        if self.state != State::Running {
            self.on_first_packet(now, &header, number);
        }
        if self.state == State::Running {
            self.on_slot_packet(now, arrival, number);
        }
    }

    /// The first packet of a session, or after a silence. A receiver that holds the base layer needs one of
    /// the base layer; without a static base layer the first one of a slot on any channel will do.
    fn on_first_packet(&mut self, now: Time, header: &Header, number: u64) {
        let fits = if self.is_base_dynamic() { header.first_of_slot } else { header.layer() == Layer::BASE };
        if !fits {
            return;
        }
        self.state = State::Running;
        self.slot = Slot { is_partial: true, ..Slot::new(number, now) };
        self.assumed_slots = 0;
        self.jump.reset();
        self.clock.reset();
        self.clock.on_packet(number, now, self.settings.slot);
        self.channels.restart(number);
        self.change_level(now, Level::up_to(Layer::BASE), Cause::Start);
        self.start_slot(now, false);
    }

    fn on_slot_packet(&mut self, now: Time, arrival: &Arrival<Header>, number: u64) {
        let header = arrival.header;
        let ahead = number.saturating_sub(self.slot.number);
        let turns = ahead > 0 && {
            let (elapsed, is_base) = (now.since(self.slot.began), header.layer() == Layer::BASE);
            self.jump.allows(number, ahead, elapsed, self.settings.slot, header.channel(), is_base)
        };
        // The first packet of a slot reveals the losses of the slots before.
        let is_new = if turns && !header.first_of_slot {
            self.advance_slot(now, number, None);
            self.count(&header, number)
        } else {
            let is_new = self.count(&header, number);
            if turns {
                self.advance_slot(now, number, None);
            }
            is_new
        };
        if !is_new {
            return;
        }
        self.counts.0 += 1;
        let is_marked = arrival.ecn == Ecn::Marked;
        self.clock.on_packet(number, now, self.settings.slot);
        if let Some(slot) = self.record(number) {
            slot.received += 1;
            slot.is_marked |= is_marked;
            slot.on_signal(header.signal);
        }
        if header.layer() == Layer::BASE {
            match self.end.on_packet(header.end_of_session) {
                Some(true) => self.timers.arm(Timer::SessionEnd, now + END_WAIT),
                Some(false) => self.timers.disarm(Timer::SessionEnd),
                None => {}
            }
        }
    }

    /// The present slot ends and `number` begins; `assumed` if no packet says so.
    fn advance_slot(&mut self, now: Time, number: u64, assumed: Option<Cause>) {
        let ahead = number.saturating_sub(self.slot.number);
        self.assumed_slots = if assumed.is_some() { self.assumed_slots + 1 } else { 0 };
        let waits = !self.layering.is_dynamic() && assumed.is_none() && ahead == 1;
        if let Some(previous) = self.previous.take() {
            let level = self.decide(now, previous);
            self.apply_level(now, level);
        }
        let ended = self.slot;
        let mut next = Slot::new(number, now);
        let planned = self.planned.take();
        let level = if waits && !self.settings.loss_grace.is_zero() {
            self.previous = Some(ended);
            self.timers.arm(Timer::Grace, now + self.settings.loss_grace);
            None
        } else if ahead > 1 || assumed.is_some() {
            // Slots without any packet were congested. Dynamic layers have stepped down meanwhile.
            self.counts.1 += u64::from(self.finalise(number.saturating_sub(1)).1.present);
            let steps = if self.layering.is_dynamic() { ahead } else { 1 };
            let held = u64::from(self.level.layer_count());
            Some(((held.saturating_sub(steps)).max(1) as u16, assumed.unwrap_or(Cause::Loss)))
        } else if let Some(planned) = planned {
            // Packets that came after the decision count for the new slot.
            (next.lost, next.is_marked, next.is_traced) = (ended.lost, ended.is_marked, ended.is_traced);
            Some(planned)
        } else {
            self.decide(now, ended)
        };
        self.slot = next;
        self.jump.reset();
        if self.layering.is_dynamic() || level.is_some() {
            let (count, cause) = level.unwrap_or((self.level.layer_count(), Cause::IncreaseSignal));
            self.change_level(now, Level::from_count(count), cause);
        }
        self.start_slot(now, assumed.is_some());
    }

    /// Whether the base layer moves from channel to channel like all layers.
    fn is_base_dynamic(&self) -> bool {
        matches!(self.layering, Layering::Turning(_))
    }

    /// Whether the next slot is on channels that are not held, so that its first packet cannot arrive.
    fn goes_by_clock(&self) -> bool {
        self.is_base_dynamic() && self.level.layer_count() <= 1
    }

    /// Sets the timers of a slot that has begun. If that was assumed, it uses up patience.
    fn start_slot(&mut self, now: Time, assumed: bool) {
        let slot = self.settings.slot;
        let patience = if assumed { slot } else { self.clock.patience(slot) };
        let boundary = self.clock.predicted(self.slot.number + 1, slot);
        let ends = boundary.filter(|&at| self.goes_by_clock() && at > now);
        self.timers.arm(Timer::SlotEnd, ends.unwrap_or(now + patience));
        let early = self.layering.is_dynamic() && self.settings.join_mode == JoinMode::Early;
        self.timers.set(
            Timer::EarlyJoin,
            boundary.map(|at| at - self.settings.join_lead).filter(|&at| early && at > now),
        );
    }

    /// Holds the channels of `to` in the present slot, and no others.
    fn change_level(&mut self, now: Time, to: Level, cause: Cause) {
        let from = core::mem::replace(&mut self.level, to);
        self.channels.hold(now, to, self.slot.number, &mut self.actions);
        if from != to {
            self.actions.trace(TraceEvent::LevelChanged { from, to, cause });
        }
    }

    /// Waits for a packet of the base layer, and holds nothing else. Without a static base layer the
    /// first channel is as good as any.
    fn acquire(&mut self, now: Time) {
        self.state = State::Acquiring;
        self.previous = None;
        self.planned = None;
        let silence = self.timers.at(Timer::Silence).unwrap_or(now + SILENCE);
        self.timers.clear();
        self.timers.arm(Timer::Silence, silence);
        // In slot l of a cycle the first channel carries the base layer; otherwise the slot does not matter.
        self.slot = match self.layering {
            Layering::Turning(wheel) => Slot::new(u64::from(wheel.layers), now),
            _ => Slot::new(0, now),
        };
        self.change_level(now, Level::up_to(Layer::BASE), Cause::Start);
    }

    fn on_join_failed(&mut self, now: Time, channel: Channel) {
        if !self.channels.forget(channel) {
            return;
        }
        let layer = self.layering.layer_of(channel, self.slot.number);
        // A join for the next slot is retried when that begins.
        let Some(layer) = layer.filter(|&layer| self.level.holds(layer)) else { return };
        if layer == Layer::BASE {
            self.state = State::Acquiring;
            self.timers.disarm(Timer::SlotEnd);
            self.timers.disarm(Timer::EarlyJoin);
        }
        self.planned = None;
        self.change_level(now, Level::from_count(layer.0), Cause::JoinFailed);
    }

    fn stop(&mut self, now: Time, cause: Cause) {
        self.change_level(now, Level::NONE, cause);
        self.state = State::Idle;
        self.timers.clear();
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.last_packet = now;
                self.congestion = Congestion::new(self.settings.ecn, now);
                self.acquire(now);
            }
            _ if self.state == State::Idle => {}
            Input::Packet(arrival) => self.on_packet(now, &arrival),
            Input::JoinFailed(channel, _) => self.on_join_failed(now, channel),
            Input::Stop => self.stop(now, Cause::Stop),
            Input::Timer
            | Input::SendRefused(_)
            | Input::Demand(_)
            | Input::DataExhausted
            | Input::DataAvailable
            | Input::Finish => {}
        }
        self.on_timers(now);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.next()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let (received, lost) = self.counts;
        let loss = (lost + received > 0).then(|| lost as f64 / (lost + received) as f64);
        Estimates { level: self.level, loss, ..Estimates::default() }
    }

    gauges! { |self, _now|
        /// Data packets that counted.
        count received in "packets" = self.counts.0;
        /// Packets found missing.
        count lost in "packets" = self.counts.1;
        /// The number of the present slot.
        value slot in "slots" = self.slot.number;
        /// The level that the slot's increase signal names, once a packet has arrived; none if it names none.
        value signal in "layers" = self.slot.signal();
        /// Slots after which a layer was added.
        count increases in "slots" = self.decisions.0;
        /// Congested slots after which a layer was left.
        count decreases in "slots" = self.decisions.1;
    }
}

#[cfg(test)]
mod tests;
