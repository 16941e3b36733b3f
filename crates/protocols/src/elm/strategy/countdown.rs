//! A timer whose delay changes while it runs.

use layercast_core::units::{Duration, Time};

/// A timer whose delay is updated with each new rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Countdown(Option<Running>);

#[derive(Clone, Copy, Debug)]
struct Running {
    /// The start; moves with each new delay when counting by progress.
    updated: Time,
    delay: Duration,
    /// The fraction of the delay that has passed; used only when counting by progress.
    done: f64,
    not_before: Time,
}

impl Countdown {
    pub(super) fn is_running(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn stop(&mut self) {
        self.0 = None;
    }

    /// Starts the timer if it is not running, and sets its delay. By deadline it fires at its
    /// start plus the latest delay; by progress each part of the time counts by the delay in force
    /// then. It never fires before `not_before`.
    pub(super) fn set(&mut self, now: Time, delay: Duration, by_progress: bool, not_before: Time) {
        let mut running = match self.0 {
            Some(running) => running,
            None => Running { updated: now, delay, done: 0.0, not_before },
        };
        if by_progress {
            let passed = now.since(running.updated).as_ns() as f64;
            let whole = running.delay.as_ns() as f64;
            running.done = if whole > 0.0 { (running.done + passed / whole).min(1.0) } else { 1.0 };
            running.updated = now;
        }
        self.0 = Some(Running { delay, not_before, ..running });
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        let running = self.0?;
        let due = running.updated + running.delay.scaled(1.0 - running.done);
        Some(due.max(running.not_before))
    }
}
