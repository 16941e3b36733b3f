//! The receiver: experiments, shared learning, and four states.

mod memory;
mod states;

use alloc::vec::Vec;

use self::memory::{LevelMemory, Senders};
use self::states::State;
use super::source::{ANNOUNCEMENT_SIZE, control_channel};
use super::{Announcement, Data, DetectionTime, Header, JoinTimers, Options};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Origin, Send, Timers, TraceEvent,
};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Layer, Level, Time};
use layercast_kit::estimator::{ArrivalClass, Packet, SendTime, SequenceTracker, max_gap_for};
use layercast_kit::silence::{SILENCE, after_silence};

/// The receiver of a session. Levels are numbered as in the sources: `held` is how many layers it holds.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    plan: SessionPlan,
    stream: Stream,
    /// The number by which it knows its own announcements.
    own: u32,
    is_running: bool,
    state: State,
    held: u16,
    detection: DetectionTime,
    join_timers: JoinTimers,
    memory: LevelMemory,
    senders: Senders,
    trackers: Vec<SequenceTracker>,
    /// Packets received and lost when the measurement began.
    measured_from: (u64, u64),
    last_heard: Time,
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
        let tracker = |layer: Layer| {
            let max_gap = max_gap_for(plan.layers.rate(layer), plan.packet_size);
            SequenceTracker::new(layer, options.reorder, max_gap)
        };
        let levels = plan.layers.count();
        Receiver {
            own: stream.bits() as u32,
            trackers: plan.layers.layers().map(tracker).collect(),
            detection: DetectionTime::new(options),
            join_timers: JoinTimers::new(options, levels),
            memory: LevelMemory::new(levels),
            senders: Senders::default(),
            options: options.clone(),
            plan,
            stream,
            is_running: false,
            state: State::Steady,
            held: 0,
            measured_from: (0, 0),
            last_heard: Time::ZERO,
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    fn begin(&mut self, now: Time) {
        self.is_running = true;
        self.last_heard = now;
        self.timers.arm(Timer::Silence, now + SILENCE);
        if self.options.shared_learning {
            self.actions.join(control_channel(&self.plan));
        }
        self.add_layer(now, Cause::Start);
        self.arm_join(now);
    }

    fn on_data(&mut self, now: Time, origin: Origin, data: Data) {
        // A packet that came on another channel than it says, or that still arrives after a leave.
        if origin != Origin::Channel(data.layer.channel()) || data.layer.0 >= self.held {
            return;
        }
        let Some(tracker) = self.trackers.get_mut(data.layer.index()) else { return };
        self.last_heard = now;
        let mut lost = None;
        let note = |packet: &Packet| {
            lost.get_or_insert(packet.seq);
        };
        let (_, class) = tracker.on_packet(data.seq, SendTime::from(now), now, note);
        if class.counts() {
            self.memory.on_packet(data.layer);
        }
        if class == ArrivalClass::Resynchronised {
            self.actions.trace(TraceEvent::Resynchronised { layer: data.layer });
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
            self.memory.on_join(level, now, level > self.held);
        }
    }

    /// Joins the next layer. An experiment is announced.
    fn add_layer(&mut self, now: Time, cause: Cause) {
        let from = Level::from_count(self.held);
        self.actions.join(Channel(self.held));
        self.forget(self.held);
        self.held += 1;
        self.memory.on_own_join(self.held, now);
        let to = Level::from_count(self.held);
        if cause == Cause::Experiment && self.options.shared_learning {
            let made = Announcement { level: to, from: self.own };
            self.actions.send(Send::report(Header::Announcement(made), ANNOUNCEMENT_SIZE));
        }
        self.actions.trace(TraceEvent::LevelChanged { from, to, cause });
    }

    /// Leaves the top layer, but never the base.
    fn drop_layer(&mut self, now: Time) {
        if self.held <= 1 {
            return;
        }
        let from = Level::from_count(self.held);
        self.held -= 1;
        self.actions.leave(Channel(self.held));
        self.forget(self.held);
        self.actions.trace(TraceEvent::LevelChanged {
            from,
            to: Level::from_count(self.held),
            cause: Cause::Loss,
        });
        // ns-2 leaves the timer off that was not armed at the top, and never joins again.
        if self.timers.at(Timer::Join).is_none() {
            self.arm_join(now);
        }
    }

    fn leave_all(&mut self) {
        let from = Level::from_count(self.held);
        for channel in (0..self.held).rev() {
            self.actions.leave(Channel(channel));
        }
        if self.options.shared_learning {
            self.actions.leave(control_channel(&self.plan));
        }
        self.held = 0;
        if from != Level::NONE {
            self.actions.trace(TraceEvent::LevelChanged { from, to: Level::NONE, cause: Cause::Stop });
        }
    }

    fn forget(&mut self, layer: u16) {
        if let Some(tracker) = self.trackers.get_mut(usize::from(layer)) {
            tracker.reset();
        }
    }

    fn on_join_failed(&mut self, now: Time, channel: Channel) {
        if channel.0 >= self.held {
            return;
        }
        let from = Level::from_count(self.held);
        for above in (channel.0 + 1..self.held).rev() {
            self.actions.leave(Channel(above));
            self.forget(above);
        }
        self.forget(channel.0);
        self.held = channel.0;
        let note =
            TraceEvent::LevelChanged { from, to: Level::from_count(self.held), cause: Cause::JoinFailed };
        self.actions.trace(note);
        self.arm_join(now);
    }

    fn counts(&self) -> (u64, u64) {
        let counts = self.trackers.iter().map(SequenceTracker::counts);
        counts.fold((0, 0), |sum, layer| (sum.0 + layer.received, sum.1 + layer.lost))
    }

    /// With `reorder` above 1 a missing packet may become lost by age alone.
    fn watch_holes(&mut self) {
        if self.options.reorder == 1 {
            return;
        }
        let due = |tracker: &SequenceTracker| tracker.deadline(self.options.late_limit);
        self.timers.set(Timer::Late, self.trackers.iter().filter_map(due).min());
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
        for tracker in &mut self.trackers {
            tracker.expire(now, self.options.late_limit, |_| any = true);
        }
        if any {
            self.on_loss(now);
        }
        self.watch_holes();
    }

    fn on_silence_timer(&mut self, now: Time) {
        if self.held == 0 {
            self.add_layer(now, Cause::Start);
            self.arm_join(now);
        }
        let next = after_silence(now, self.last_heard, &mut self.actions);
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
            Input::JoinFailed(channel, _) => self.on_join_failed(now, channel),
            Input::Stop => {
                self.leave_all();
                self.is_running = false;
                self.timers.clear();
            }
            Input::Timer
            | Input::SendRefused(_)
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
        let (received, lost) = self.counts();
        let loss = (received + lost > 0).then(|| lost as f64 / (received + lost) as f64);
        Estimates { level: Level::from_count(self.held), loss, ..Estimates::default() }
    }
}

#[cfg(test)]
mod tests;
