//! A receiver's timers and their effects (docs/protocols/elm.md).

use super::{Phase, Receiver};
use crate::elm::options::SilentLayer;
use layercast_core::cannot_be;
use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::timers;
use layercast_core::units::{Duration, Layer, Level, Time};

timers! {
    /// The timers of a receiver, except those of slow start and of the manager.
    pub(super) enum Timer {
        /// No packet has arrived since the start.
        Start,
        /// A report is due.
        Report,
        /// No packet has arrived for a while.
        Silence,
        /// A joined layer should have carried a packet by now.
        Join,
    }
}

/// The newest join, until its first packet comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinWatch {
    pub(super) layer: Layer,
    joined: Time,
    counted: bool,
}

impl Receiver {
    pub(super) fn run_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Start => self.nothing_came(now),
                Timer::Report => {
                    self.send_report(now, false);
                    let next = self.reports.sent(now, &mut self.stream);
                    self.timers.arm(Timer::Report, next);
                }
                Timer::Silence => self.check_silence(now),
                Timer::Join => self.check_join(now),
            }
        }
        self.run_management(now);
    }

    /// The start: joins the base layer and waits for it.
    pub(super) fn start(&mut self, now: Time) {
        self.started = now;
        self.last_packet = now;
        self.phase = Phase::Waiting;
        self.join_up_to(Level::up_to(Layer::BASE), Cause::Start);
        self.timers.arm(Timer::Start, now + self.options.start_timeout);
    }

    /// No packet came since the start. The receiver continues to wait; the join of a base layer that failed
    /// is retried.
    fn nothing_came(&mut self, now: Time) {
        self.actions.trace(TraceEvent::Silent { waited: now.since(self.started) });
        if self.level == Level::NONE {
            self.join_up_to(Level::up_to(Layer::BASE), Cause::Start);
        }
        self.timers.arm(Timer::Start, now + self.options.start_timeout);
    }

    /// The first base packet: slow start begins, and so do reports.
    pub(super) fn first_packet(&mut self, now: Time) {
        self.timers.disarm(Timer::Start);
        let report = self.reports.first(now, &mut self.stream);
        self.timers.arm(Timer::Report, report);
        self.timers.arm(Timer::Silence, now + self.silence_after());
        self.begin_climbing(now);
    }

    /// The source restarted: everything is learned again, from the base layer up.
    pub(super) fn restart(&mut self, now: Time) {
        self.counters.restarts += 1;
        self.actions.trace(TraceEvent::Resynchronised { layer: Layer::BASE });
        self.leave_down_to(now, Level::up_to(Layer::BASE), Cause::SessionEnd);
        self.reception.reset();
        self.newest_base = None;
        self.no_join_before = now;
        if self.phase != Phase::Waiting {
            self.begin_climbing(now);
        }
    }

    /// How long without packets counts as silence.
    fn silence_after(&self) -> Duration {
        let timeout = self.reception.timeout();
        timeout.scaled(self.options.silence_timeouts).max(self.options.silence_min)
    }

    /// A silent path is left layer by layer, down to the base layer, which is kept: a path that
    /// comes back must find the receiver there.
    fn check_silence(&mut self, now: Time) {
        let quiet_until = self.last_packet + self.silence_after();
        if now < quiet_until {
            self.timers.arm(Timer::Silence, quiet_until);
            return;
        }
        if !self.silent {
            self.silent = true;
            self.actions.trace(TraceEvent::Silent { waited: now.since(self.last_packet) });
            self.end_slow_start();
        }
        self.manager.clear();
        if let Some(lower) = self.one_down() {
            self.leave_down_to(now, lower, Cause::Silence);
        }
        self.timers.arm(Timer::Silence, now + self.options.silence_leave_gap);
    }

    /// Watches a layer just joined until its first packet.
    pub(super) fn watch_join(&mut self, now: Time, layer: Layer) {
        let round_trips = self.reception.rtt_or_initial() * 4;
        let spacings = self.table.spacing(layer, self.reception.packet_size()) * 4;
        let patience = round_trips.max(spacings).max(self.options.join_silent_min);
        self.watch = Some(JoinWatch { layer, joined: now, counted: false });
        self.timers.arm(Timer::Join, now + patience);
    }

    fn check_join(&mut self, now: Time) {
        let Some(watch) = self.watch.take() else {
            return cannot_be("the timer runs while a join is watched");
        };
        if !watch.counted {
            self.counters.join_silent += 1;
            if self.options.join_silent == SilentLayer::Leave {
                self.watch = Some(JoinWatch { counted: true, ..watch });
                let leave_at =
                    (watch.joined + self.options.join_silent_leave).max(now + Duration::from_ns(1));
                self.timers.arm(Timer::Join, leave_at);
            }
        } else if let Some(lower) = self.one_down().filter(|_| self.level == Level::up_to(watch.layer)) {
            self.end_slow_start();
            self.leave_down_to(now, lower, Cause::SilentLayer);
            self.no_join_before = now + self.options.join_failed_hold;
        }
    }
}
