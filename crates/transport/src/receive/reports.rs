//! Reports of completion to the source.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use layercast_delivery::object::TOI_TABLE;
use layercast_delivery::packet::Completion;

use crate::host::ReceiverHost;
use crate::random_seed;

/// The longest delay before a completion is sent, so that those of many receivers are spread.
const COMPLETION_SPREAD: Duration = Duration::from_secs(1);
/// The number of copies of a completion, since it is not acknowledged.
const COMPLETION_COPIES: u32 = 3;
fn completion(host: &ReceiverHost, seed: u64) -> Completion {
    let receiver = NonZeroU64::new(seed).unwrap_or(NonZeroU64::MIN);
    Completion { tsi: host.session().tsi, toi: TOI_TABLE, receiver }
}

fn spread() -> Duration {
    COMPLETION_SPREAD.mul_f64((random_seed() >> 11) as f64 / (1u64 << 53) as f64)
}

/// Reports the completion to the source: a few copies, spread so that many receivers do not send at once.
/// Their loss does no harm: the files are complete all the same.
pub(super) fn report_completion(host: &ReceiverHost, seed: u64, stop: &AtomicBool) {
    let completion = completion(host, seed);
    for _ in 0..COMPLETION_COPIES {
        thread::sleep(spread());
        if let Err(error) = host.complete(completion) {
            tracing::debug!(%error, "a completion was not sent");
        }
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// The reports of a service, which goes on meanwhile: once for each session.
#[derive(Debug, Default)]
pub(super) struct Reports {
    has_begun: bool,
    due: Vec<Instant>,
}

impl Reports {
    /// Begins to report, if it has not.
    pub(super) fn begin(&mut self) {
        if !self.has_begun {
            self.has_begun = true;
            let mut at = Instant::now();
            self.due = (0..COMPLETION_COPIES)
                .map(|_| {
                    at += spread();
                    at
                })
                .collect();
        }
    }

    /// Sends what is due.
    pub(super) fn look(&mut self, host: &ReceiverHost, seed: u64) {
        let now = Instant::now();
        let before = self.due.len();
        self.due.retain(|&at| at > now);
        if self.due.len() < before
            && let Err(error) = host.complete(completion(host, seed))
        {
            tracing::debug!(%error, "a completion was not sent");
        }
    }
}
