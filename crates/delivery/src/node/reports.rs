//! The reception reports of a receiver.

use std::num::NonZeroU64;

use layercast_core::units::{Duration, Level, Time};

use super::packet_loss::RecentPackets;
use crate::packet::{Poll, ReceptionReport, WHOLE};
use crate::reception::ReceptionProgress;
use crate::reporting::{Answer, Reporter};

/// How far a reception is.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// Its objects.
    pub objects: ReceptionProgress,
    /// The symbols that it has taken; those that an earlier receiver left took no time.
    pub useful: u64,
    /// Since its start.
    pub elapsed: Duration,
}

/// The reception reports of one session.
#[derive(Debug)]
pub(super) struct ReceptionReports {
    reporter: Reporter,
    /// What a report says now, but for the answer.
    state: ReceptionReport,
}

impl ReceptionReports {
    /// A receiver of a session that it has just found, which reports by a number.
    pub(super) fn new(seed: u64, tsi: u32, receiver: NonZeroU64) -> ReceptionReports {
        let state = ReceptionReport {
            tsi,
            receiver,
            poll: 0,
            exponent: 0,
            is_complete: false,
            is_leaving: false,
            disk_fails: false,
            share: 0,
            level: Level::NONE,
            lost: None,
            left_s: None,
            objects: 0,
            failed: 0,
        };
        ReceptionReports { reporter: Reporter::new(seed), state }
    }

    /// Notes how far the receiver is.
    pub(super) fn note(&mut self, reached: &Reached, level: Level, recent: Option<RecentPackets>) {
        let Reached { objects, useful, elapsed } = reached;
        let left = objects.needed.saturating_sub(objects.held);
        let mean = *useful as f64 / elapsed.as_secs_f64().max(1e-3);
        let is_complete = objects.is_complete();
        self.state = ReceptionReport {
            is_complete,
            // Empty files need nothing.
            share: if is_complete { WHOLE } else { share(objects.held, objects.needed) },
            level,
            lost: recent.map(|recent| (recent.lost() * 1000.0).round() as u16),
            left_s: (mean > 0.0).then(|| (left as f64 / mean).ceil() as u16),
            objects: u32::try_from(objects.complete).unwrap_or(u32::MAX),
            failed: u32::try_from(objects.failed).unwrap_or(u32::MAX),
            ..self.state
        };
    }

    /// A poll was heard.
    pub(super) fn heard(&mut self, poll: Poll, now: Time) {
        self.reporter.poll(poll, self.state.share, now);
    }

    /// When a report is due.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.reporter.deadline()
    }

    /// The report that is due.
    pub(super) fn take_due(&mut self, now: Time) -> Option<ReceptionReport> {
        self.reporter.take_due(now).map(|answer| answered(answer, self.state))
    }

    /// The last report of a receiver that ends, is complete, or has an error, if there is one. `stays` if it may come back.
    pub(super) fn leave(&mut self, disk_fails: bool, stays: bool) -> Option<ReceptionReport> {
        let state = ReceptionReport { disk_fails, is_leaving: !stays, ..self.state };
        self.reporter.leave(state.share).map(|answer| answered(answer, state))
    }
}

fn answered(Answer { poll, exponent }: Answer, state: ReceptionReport) -> ReceptionReport {
    ReceptionReport { poll, exponent, ..state }
}

/// The share that is held, of all that is needed.
fn share(held: u64, needed: u64) -> u16 {
    let share = u128::from(held) * u128::from(WHOLE) / u128::from(needed.max(1));
    u16::try_from(share).unwrap_or(WHOLE)
}
