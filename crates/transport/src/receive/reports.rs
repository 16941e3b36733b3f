//! Reports of completion to the source.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use layercast_core::units;
use layercast_delivery::object::TOI_TABLE;
use layercast_delivery::packet::Completion;

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
