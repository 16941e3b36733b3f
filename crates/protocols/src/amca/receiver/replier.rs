//! Repairs for others, at a rate that does not make congestion worse (report, section 4.6).

use alloc::collections::VecDeque;

use crate::amca::dyram::UNKNOWN_WINDOW;
use crate::amca::estimates::repair_gap_s;
use layercast_core::units::{Duration, Size, Time};

/// The most repairs that may be pending, and that are remembered.
const MOST_WAITING: usize = 64;

/// The repairs requested of a receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct Replier {
    waiting: VecDeque<u64>,
    /// The recent requests, and until when a further NACK counts as a duplicate.
    acted: VecDeque<(u64, Time)>,
    next: Time,
    gap: Duration,
}

impl Replier {
    pub(super) fn state_size(&self) -> usize {
        self.waiting.len() + self.acted.len()
    }

    /// A NACK came from the router above for a packet that this receiver has.
    pub(super) fn on_nack(
        &mut self,
        now: Time,
        seq: u64,
        window: Option<Duration>,
        lost: u64,
        rate_bps: u64,
        size: Size,
    ) {
        while self.acted.front().is_some_and(|&(_, until)| until <= now) {
            self.acted.pop_front();
        }
        let is_known = self.acted.iter().any(|&(of, until)| of == seq && now < until);
        if is_known || self.waiting.len() >= MOST_WAITING {
            return;
        }
        if self.acted.len() >= MOST_WAITING {
            self.acted.pop_front();
        }
        self.acted.push_back((seq, now + window.unwrap_or(UNKNOWN_WINDOW)));
        self.waiting.push_back(seq);
        self.gap = Duration::from_secs_f64(repair_gap_s(rate_bps as f64, size.as_bits() as f64, lost));
    }

    /// The repair that is due. The first is sent at once.
    pub(super) fn take_due(&mut self, now: Time) -> Option<u64> {
        if now < self.next {
            return None;
        }
        let seq = self.waiting.pop_front()?;
        self.next = now + self.gap.max(Duration::from_us(1)).min(Duration::from_secs(1));
        Some(seq)
    }

    /// When the next repair is due.
    pub(super) fn next(&self) -> Option<Time> {
        (!self.waiting.is_empty()).then_some(self.next)
    }
}
