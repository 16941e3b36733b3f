//! The four states, and what loss and timers do in each.

use super::{Receiver, Timer};
use crate::rlm::join_delay_s;
use layercast_core::contract::Cause;
use layercast_core::units::{Duration, Time};

/// How many times a join delay is drawn again; after that it is half the timer and four times it.
const MOST_DRAWS: usize = 100;

/// How the receiver reacts to loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Steady: no recent loss.
    Steady,
    /// Hysteresis: there was loss, which may be transient.
    Hysteresis,
    /// Measurement: loss is counted.
    Measurement,
    /// Drop: a layer was left; loss now is due to the old level.
    Drop,
}

impl Receiver {
    /// Packets were found lost.
    pub(super) fn on_loss(&mut self, now: Time) {
        match self.state {
            State::Steady => self.on_news(now),
            State::Measurement => self.on_more_loss(now),
            State::Hysteresis | State::Drop => {}
        }
    }

    /// Loss in the steady state: another receiver's experiment, or congestion of other origin.
    fn on_news(&mut self, now: Time) {
        self.timers.disarm(Timer::Detection);
        let blame = Duration::from_secs_f64(self.detection.blame_s());
        if let Some((level, joined)) = self.memory.highest_pending(now, blame) {
            self.join_timers.on_failure(level);
            if level == self.held() {
                self.experiments.1 += 1;
                self.detection.on_sample(now.since(joined).as_secs_f64());
                self.drop_layer(now);
                self.await_calm(now, State::Drop);
                return;
            }
            if level == self.held() + 1 {
                // Another receiver has just made the same experiment.
                self.arm_join(now);
            }
        }
        if self.memory.added_within(self.held(), now, blame) {
            self.begin_measurement(now);
        } else {
            self.await_calm(now, State::Hysteresis);
        }
    }

    fn begin_measurement(&mut self, now: Time) {
        let wait = Duration::from_secs_f64(self.detection.wait_s(self.held()));
        self.timers.arm(Timer::Detection, now + wait);
        self.measured_from = self.layers.counts();
        self.state = State::Measurement;
    }

    /// Loss while it is counted: too much of it costs the top layer.
    fn on_more_loss(&mut self, now: Time) {
        let (received, lost) = self.layers.counts();
        let received = received.saturating_sub(self.measured_from.0);
        let lost = lost.saturating_sub(self.measured_from.1);
        let share = lost as f64 / (lost + received).max(1) as f64;
        if received >= u64::from(self.options.least_packets) && share > self.options.loss_threshold {
            self.drop_layer(now);
            self.await_calm(now, State::Drop);
        }
    }

    fn await_calm(&mut self, now: Time, state: State) {
        let wait = Duration::from_secs_f64(self.detection.conservative_s());
        self.timers.arm(Timer::Detection, now + wait);
        self.state = state;
    }

    /// The wait for loss to show is over.
    pub(super) fn on_detection_timer(&mut self, now: Time) {
        match self.state {
            State::Steady => {
                self.join_timers.relax(self.held());
                self.await_calm(now, State::Steady);
            }
            State::Hysteresis => self.begin_measurement(now),
            State::Measurement | State::Drop => self.await_calm(now, State::Steady),
        }
    }

    /// It is time for an experiment, if nothing speaks against it.
    pub(super) fn on_join_timer(&mut self, now: Time) {
        if self.state == State::Steady && self.held() > 0 && self.held() < self.plan.layers.count() {
            let blame = Duration::from_secs_f64(self.detection.blame_s());
            let quiet = !self.memory.joined_within(self.held(), now, blame);
            if quiet && self.memory.delivers(self.held()) {
                self.add_layer(now, Cause::Experiment);
            } else if quiet && let Some(added) = self.memory.added(self.held()) {
                // The newest layer has not delivered anything: joins take longer than we thought.
                let took_s = now.since(added).as_secs_f64();
                if took_s > self.detection.mean_s {
                    self.detection.mean_s = 1.2 * took_s;
                }
            }
        }
        self.arm_join(now);
    }

    /// Draws the time of the next experiment; none at the top.
    pub(super) fn arm_join(&mut self, now: Time) {
        if self.held() >= self.plan.layers.count() {
            self.timers.disarm(Timer::Join);
            return;
        }
        let timer_s = self.join_timers.of(self.held() + 1);
        // A uniform number in (0, 1].
        let mut draw = || join_delay_s(timer_s, 1.0 - self.stream.uniform());
        let delay_s = (0..MOST_DRAWS).find_map(|_| draw()).unwrap_or(4.5 * timer_s);
        self.timers.arm(Timer::Join, now + Duration::from_secs_f64(delay_s));
    }
}
