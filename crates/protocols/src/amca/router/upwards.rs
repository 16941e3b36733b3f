//! How a router handles its children's heartbeats and reports.

use super::{BEAT, Router, Timer};
use crate::amca::dyram::ChildKey;
use crate::amca::estimates::Summary;
use crate::amca::{Answer, Body, Header, Report};
use layercast_core::contract::{Payload, Send, Target};
use layercast_core::units::{Duration, Time};

impl Router {
    pub(super) fn on_beat(&mut self, now: Time, key: ChildKey, sent_ns: u64) {
        let Some(child) = self.children.entry(now, key) else { return };
        if !child.on_beat(now) {
            return;
        }
        child.held_beat = Some(sent_ns);
        self.arm_sweep(now);
        self.answer_held();
        let apart = self.children.period(now).map_or(BEAT, |period| Duration::from_ns(period.as_ns() / 2));
        if self.last_beat.is_none_or(|at| now.since(at) >= apart.max(Duration::from_ms(1))) {
            self.last_beat = Some(now);
            let sent_ns = self.beats.send(now);
            self.send_control(Target::Source, Body::Heartbeat { sent_ns });
        }
    }

    /// Answers pending heartbeats once the round-trip time to the source is known.
    pub(super) fn answer_held(&mut self) {
        let rtt_to_source_us = self.beats.to_source_us();
        if rtt_to_source_us == 0 {
            return;
        }
        let (session, originator) = (self.session.unwrap_or(0), self.originator);
        for child in self.children.iter_mut() {
            let Some(echo_ns) = child.held_beat.take() else { continue };
            let body = Body::Answer(Answer { echo_ns, rtt_to_source_us, is_from_source: false });
            self.actions.send(Send {
                target: Target::Peer(child.key.peer),
                header: Header { session, originator, body },
                size: self.options.control_size,
                payload: Payload::None,
                count: 1,
            });
        }
    }

    pub(super) fn on_report(&mut self, now: Time, key: ChildKey, report: &Report) {
        let Some(end) = self.end else { return };
        let Some(child) = self.children.entry(now, key) else { return };
        child.on_report(now, report, end, None);
        self.arm_sweep(now);
        if self.children.have_all_reported(now) {
            self.report(now);
        } else if self.rounds.begin() {
            let period = Duration::from_us(u64::from(report.period_us)).max(Duration::from_us(1));
            let wait = period.scaled(1.5).min(Duration::from_secs(600));
            self.timers.arm(Timer::Round, now + wait);
        }
    }

    pub(super) fn report(&mut self, now: Time) {
        self.timers.disarm(Timer::Round);
        // What goes up is what all receivers have, including those that have not reported yet.
        let standing = self.children.standing(self.group_below);
        let summary = self.children.summary(now, self.group_below);
        let summary =
            summary.zip(standing).map(|(summary, standing)| Summary { below: standing.below, ..summary });
        self.children.begin_round();
        if let Some(report) = self.rounds.finish(now, summary, &mut self.beats) {
            self.send_control(Target::Source, Body::Report(report));
        }
    }
}
