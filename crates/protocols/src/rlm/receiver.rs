//! The receiver: experiments, shared learning, and four states.

mod memory;
mod states;

use self::memory::{LevelMemory, Senders};
use self::states::State;
use super::source::{ANNOUNCEMENT_SIZE, control_channel};
use super::{Announcement, Data, DetectionTime, Header, JoinTimers, Options};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Origin, Send, Timers, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Layer, Level, Time};
use layercast_kit::estimator::max_gap_for;
use layercast_kit::layers::CumulativeLayers;

/// The receiver of a session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    plan: SessionPlan,
    stream: Stream,
    /// The number by which it knows its own announcements.
    own: u32,
    is_running: bool,
    state: State,
    layers: CumulativeLayers,
    detection: DetectionTime,
    join_timers: JoinTimers,
    memory: LevelMemory,
    senders: Senders,
    /// Own experiments, and those of them that failed.
    experiments: (u64, u64),
    /// Packets received and lost when the measurement began.
    measured_from: (u64, u64),
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

timers! {
    /// What the receiver's timers are for.
    enum Timer {
        /// The next experiment (tj).
        Join,
        /// The wait for loss to show (td).
        Detection,
        Late,
        Silence,
    }
}

impl Receiver {
    /// A receiver of a session. Times of experiments come from `stream`.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Receiver {
        let max_gap = |layer| max_gap_for(plan.layers.rate(layer), plan.packet_size);
        let max_gaps = plan.layers.layers().map(max_gap);
        let levels = plan.layers.count();
        Receiver {
            own: stream.bits() as u32,
            layers: CumulativeLayers::new(max_gaps, options.reorder, options.late_limit),
            detection: DetectionTime::new(options),
            join_timers: JoinTimers::new(options, levels),
            memory: LevelMemory::new(levels),
            senders: Senders::default(),
            options: options.clone(),
            plan,
            stream,
            is_running: false,
            state: State::Steady,
            experiments: (0, 0),
            measured_from: (0, 0),
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    fn begin(&mut self, now: Time) {
        self.is_running = true;
        self.timers.arm(Timer::Silence, self.layers.listen(now));
        if self.options.shared_learning {
            self.actions.join(control_channel(&self.plan));
        }
        self.add_layer(now, Cause::Start);
        self.arm_join(now);
    }

    fn on_data(&mut self, now: Time, origin: Origin, data: Data) {
        if !self.layers.accepts(origin, data.layer) {
            return;
        }
        let mut lost = None;
        let class = self.layers.on_packet(now, data.layer, data.seq, &mut self.actions, |packet| {
            lost.get_or_insert(packet.seq);
        });
        if class.counts() {
            self.memory.on_packet(data.layer);
        }
        if let Some(first_lost) = lost {
            self.actions.trace(TraceEvent::LossEvent { layer: data.layer, first_lost });
            self.on_loss(now);
        }
        self.watch_holes();
    }

    /// Another receiver experiments: its loss may show here too.
    fn on_announcement(&mut self, now: Time, origin: Origin, made: Announcement) {
        let level = made.level.layer_count();
        let is_true = origin == Origin::Channel(control_channel(&self.plan))
            && made.from != self.own
            && (1..=self.plan.layers.count()).contains(&level);
        if is_true && self.senders.allow(made.from, now, self.detection.mean_s) {
            self.memory.on_join(level, now, level > self.held());
        }
    }

    /// Joins the next layer. An experiment is announced.
    fn add_layer(&mut self, now: Time, cause: Cause) {
        let (from, to) = (self.layers.level(), Level::from_count(self.held() + 1));
        self.layers.hold(to, &mut self.actions);
        self.memory.on_own_join(self.held(), now);
        self.experiments.0 += u64::from(cause == Cause::Experiment);
        if cause == Cause::Experiment && self.options.shared_learning {
            let made = Announcement { level: to, from: self.own };
            self.actions.send(Send::report(Header::Announcement(made), ANNOUNCEMENT_SIZE));
        }
        self.actions.trace(TraceEvent::LevelChanged { from, to, cause });
    }

    /// Leaves the top layer, but never the base.
    fn drop_layer(&mut self, now: Time) {
        if self.held() <= 1 {
            return;
        }
        self.layers.change(Level::from_count(self.held() - 1), Cause::Loss, &mut self.actions);
        // ns-2 leaves the timer off that was not armed at the top, and never joins again.
        if self.timers.at(Timer::Join).is_none() {
            self.arm_join(now);
        }
    }

    fn leave_all(&mut self) {
        let from = self.layers.level();
        self.layers.hold(Level::NONE, &mut self.actions);
        if self.options.shared_learning {
            self.actions.leave(control_channel(&self.plan));
        }
        if from != Level::NONE {
            self.actions.trace(TraceEvent::LevelChanged { from, to: Level::NONE, cause: Cause::Stop });
        }
    }

    fn held(&self) -> u16 {
        self.layers.level().layer_count()
    }

    fn on_join_failed(&mut self, now: Time, failed: Layer) {
        let from = self.layers.level();
        if !from.holds(failed) {
            return;
        }
        self.layers.hold(Level::up_to(failed), &mut self.actions);
        self.layers.give_up(failed);
        let to = self.layers.level();
        self.actions.trace(TraceEvent::LevelChanged { from, to, cause: Cause::JoinFailed });
        self.arm_join(now);
    }

    fn watch_holes(&mut self) {
        self.timers.set(Timer::Late, self.layers.late_at());
    }

    fn on_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Join => self.on_join_timer(now),
                Timer::Detection => self.on_detection_timer(now),
                Timer::Late => self.on_late(now),
                Timer::Silence => self.on_silence_timer(now),
            }
        }
    }

    fn on_late(&mut self, now: Time) {
        let mut any = false;
        self.layers.expire(now, |_| any = true);
        if any {
            self.on_loss(now);
        }
        self.watch_holes();
    }

    fn on_silence_timer(&mut self, now: Time) {
        if self.held() == 0 {
            self.add_layer(now, Cause::Start);
            self.arm_join(now);
        }
        let next = self.layers.on_silence(now, &mut self.actions);
        self.timers.arm(Timer::Silence, next);
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.begin(now),
            _ if !self.is_running => {}
            Input::Packet(Arrival { origin, header: Header::Data(data), .. }) => {
                self.on_data(now, origin, data);
            }
            Input::Packet(Arrival { origin, header: Header::Announcement(made), .. }) => {
                self.on_announcement(now, origin, made);
            }
            Input::JoinFailed(channel, _) => self.on_join_failed(now, Layer(channel.0)),
            Input::Stop => {
                self.leave_all();
                self.is_running = false;
                self.timers.clear();
            }
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
        Estimates { level: self.layers.level(), loss: self.layers.loss(), ..Estimates::default() }
    }

    gauges! { |self, _now|
        /// Data packets that counted.
        count received in "packets" = self.layers.counts().0;
        /// Packets found missing.
        count lost in "packets" = self.layers.counts().1;
        /// Experiments of this receiver.
        count experiments in "experiments" = self.experiments.0;
        /// Of these, experiments after which loss came soon.
        count failed_experiments in "experiments" = self.experiments.1;
        /// How long loss takes to show after a join (TD).
        value detection_ms in "ms" = self.detection.mean_s * 1e3;
        /// The join timer of the next level.
        value join_timer_ms in "ms" = self.join_timers.of(self.held() + 1) * 1e3;
    }
}

#[cfg(test)]
mod tests;
