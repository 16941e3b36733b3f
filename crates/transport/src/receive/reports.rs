//! Reports of completion and of reception to the source.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use layercast_core::units::{self, Level, Time};
use layercast_delivery::object::TOI_TABLE;
use layercast_delivery::packet::{Completion, Poll, ReceptionReport, WHOLE};
use layercast_delivery::reporting::{Answer, Reporter};

use super::ReceiveProgress;
use crate::error::Error;
use crate::host::ReceiverHost;
use crate::random_seed;

/// The longest delay before a completion is sent, so that those of many receivers are spread.
const COMPLETION_SPREAD: Duration = Duration::from_secs(1);
/// The number of copies of a completion, since it is not acknowledged.
const COMPLETION_COPIES: u32 = 3;
/// The most attempts, of half a second each: a receiver that was busy for seconds first has to be admitted by its relay again, and
/// one whose relay has died notices that within five seconds and goes to the next.
const COMPLETION_TRIES: u32 = 24;

fn completion(host: &ReceiverHost, receiver: NonZeroU64) -> Completion {
    Completion { tsi: host.session().tsi, toi: TOI_TABLE, receiver }
}

fn spread() -> Duration {
    COMPLETION_SPREAD.mul_f64((random_seed() >> 11) as f64 / (1u64 << 53) as f64)
}

/// Reports the completion to the source: a few copies, spread so that many receivers do not send at once.
/// Their loss does no harm: the files are complete all the same.
pub(super) fn report_completion(host: &mut ReceiverHost, receiver: NonZeroU64, stop: &AtomicBool) {
    let completion = completion(host, receiver);
    let mut copies = 0;
    for _ in 0..COMPLETION_TRIES {
        host.rest(units::Duration::from_secs_f64(spread().as_secs_f64()));
        if (copies >= COMPLETION_COPIES && host.has_reported()) || stop.load(Ordering::Relaxed) {
            return;
        }
        match host.complete(completion) {
            // Another relay has had none of the copies before.
            Ok(is_first) => copies = if is_first { 1 } else { copies + 1 },
            Err(error) => tracing::debug!(%error, "a completion was not sent"),
        }
        if copies == COMPLETION_COPIES && host.has_reported() {
            return;
        }
    }
}

/// The completions of a service, which goes on meanwhile: once for each session.
#[derive(Debug, Default)]
pub(super) struct Completions {
    has_begun: bool,
    due: Vec<Instant>,
}

impl Completions {
    /// Begins to report, if it has not.
    pub(super) fn begin(&mut self) {
        if !self.has_begun {
            self.has_begun = true;
            self.plan(COMPLETION_COPIES);
        }
    }

    /// So many copies more, each after a spread.
    fn plan(&mut self, copies: u32) {
        let mut at = Instant::now();
        self.due.extend((0..copies).map(|_| {
            at += spread();
            at
        }));
    }

    /// Sends what is due.
    pub(super) fn look(&mut self, host: &ReceiverHost, receiver: NonZeroU64) {
        let now = Instant::now();
        let before = self.due.len();
        self.due.retain(|&at| at > now);
        if self.due.len() == before {
            return;
        }
        match host.complete(completion(host, receiver)) {
            // Another relay than the one that the copies before went to.
            Ok(true) if self.due.is_empty() => self.plan(COMPLETION_COPIES - 1),
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "a completion was not sent"),
        }
        // The relay may be gone; the next one has not had it.
        if self.due.is_empty() && !host.has_reported() {
            self.due.push(now + COMPLETION_SPREAD);
        }
    }
}

/// The reception reports of one session.
#[derive(Debug)]
pub(super) struct ReceptionReports {
    reporter: Reporter,
    /// What a report says now, but for the answer.
    state: ReceptionReport,
}

impl ReceptionReports {
    /// A receiver of a session that it has just found.
    pub(super) fn new(tsi: u32, receiver: NonZeroU64) -> ReceptionReports {
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
        ReceptionReports { reporter: Reporter::new(random_seed()), state }
    }

    /// Notes how far the receiver is.
    pub(super) fn note(&mut self, progress: &ReceiveProgress) {
        let objects = &progress.objects;
        let left = objects.needed.saturating_sub(objects.held);
        // Symbols that an earlier receiver left took no time.
        let mean = progress.assembly.useful as f64 / progress.elapsed.as_secs_f64().max(1e-3);
        let is_complete = progress.is_complete();
        self.state = ReceptionReport {
            is_complete,
            // Empty files need nothing.
            share: if is_complete { WHOLE } else { share(objects.held, objects.needed) },
            level: progress.estimates.level,
            lost: progress.packets_lost.map(|lost| (lost * 1000.0).round() as u16),
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
    pub(super) fn deadline(&self) -> Time {
        self.reporter.deadline().unwrap_or(Time::MAX)
    }

    /// Sends the report that is due.
    pub(super) fn look(&mut self, host: &ReceiverHost, now: Time) {
        if let Some(answer) = self.reporter.take_due(now) {
            self.send(host, answer, self.state);
        }
    }

    /// The receiver ends, is complete, or has an error: perhaps sends a last report. `stays` if it may come back.
    pub(super) fn leave(&mut self, host: &ReceiverHost, error: Option<&Error>, stays: bool) {
        let disk_fails = error.is_some_and(|error| {
            matches!(error, Error::DiskFull { .. } | Error::NoPermission { .. } | Error::File { .. })
        });
        let state = ReceptionReport { disk_fails, is_leaving: !stays, ..self.state };
        if let Some(answer) = self.reporter.leave(state.share) {
            self.send(host, answer, state);
        }
    }

    fn send(&self, host: &ReceiverHost, answer: Answer, state: ReceptionReport) {
        let Answer { poll, exponent } = answer;
        if let Err(error) = host.report(ReceptionReport { poll, exponent, ..state }) {
            tracing::debug!(%error, "a reception report was not sent");
        }
    }
}

/// The share that is held, of all that is needed.
fn share(held: u64, needed: u64) -> u16 {
    let share = u128::from(held) * u128::from(WHOLE) / u128::from(needed.max(1));
    u16::try_from(share).unwrap_or(WHOLE)
}
