//! Traces of delivery times, in the format of mahimahi (Netravali et al., USENIX ATC 2015).

use layercast_core::units::{Rate, Time};

/// How much one opportunity delivers: a packet of the largest size that mahimahi knows.
pub const OPPORTUNITY_BYTES: u32 = 1500;

const NS_PER_MS: u64 = 1_000_000;

/// When a link may deliver: each opportunity carries up to [`OPPORTUNITY_BYTES`], of several packets or of
/// a part of one. Unused opportunities are lost. The last time is also the length of the trace, after which
/// it begins again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTrace {
    /// Milliseconds from the start of the trace, never falling. The last is above zero.
    times_ms: Vec<u32>,
}

/// Why a text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is not a time.
    #[error("line {line} is not a whole number of milliseconds up to {}; write one time per line", u32::MAX)]
    NotATime {
        /// The line, from 1.
        line: usize,
    },
    /// A time is before the one above it.
    #[error("line {line} is earlier than the line before; sort the times")]
    Falls {
        /// The line, from 1.
        line: usize,
    },
    /// There is nothing to deliver with.
    #[error("the trace is empty; write one time per line, in milliseconds")]
    Empty,
    /// All times are zero, so the trace has no length.
    #[error("the trace ends at 0 ms; its last time is its length and must be above zero")]
    NoLength,
    /// There are too many times.
    #[error(
        "the trace has more than {} lines; shorten it, since it repeats from its end",
        DeliveryTrace::MOST
    )]
    TooLong,
}

impl DeliveryTrace {
    /// How many times a trace may have.
    pub const MOST: usize = 4_000_000;

    /// Reads a trace: a time in whole milliseconds on each line.
    ///
    /// # Errors
    /// [`TraceError`], with the first line that is wrong.
    pub fn parse(text: &str) -> Result<DeliveryTrace, TraceError> {
        let mut times_ms: Vec<u32> = Vec::new();
        for (index, written) in text.lines().enumerate() {
            let line = index + 1;
            if index == Self::MOST {
                return Err(TraceError::TooLong);
            }
            let time = written.trim().parse().map_err(|_| TraceError::NotATime { line })?;
            if times_ms.last().is_some_and(|&last| time < last) {
                return Err(TraceError::Falls { line });
            }
            times_ms.push(time);
        }
        match times_ms.last() {
            None => Err(TraceError::Empty),
            Some(0) => Err(TraceError::NoLength),
            Some(_) => Ok(DeliveryTrace { times_ms }),
        }
    }

    /// The times of one pass, in milliseconds.
    pub fn times_ms(&self) -> &[u32] {
        &self.times_ms
    }

    /// What the trace delivers on average if all of it is used.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.times_ms.len() as f64 * f64::from(OPPORTUNITY_BYTES) * 8.0;
        Rate::from_bps(bits / (self.length_ns() as f64 / 1e9))
    }

    /// How many opportunities there are up to a time, that time included.
    pub(crate) fn count_until(&self, at: Time) -> u64 {
        let (passes, within) = (at.as_ns() / self.length_ns(), at.as_ns() % self.length_ns());
        let of_this = self.times_ms.partition_point(|&ms| u64::from(ms) * NS_PER_MS <= within);
        passes * self.times_ms.len() as u64 + of_this as u64
    }

    /// When the opportunity of a number, counted from 0, is.
    fn time(&self, number: u64) -> Time {
        let count = self.times_ms.len() as u64;
        let within = u64::from(self.times_ms[(number % count) as usize]) * NS_PER_MS;
        Time::from_ns((number / count).saturating_mul(self.length_ns()).saturating_add(within))
    }

    fn length_ns(&self) -> u64 {
        self.times_ms.last().map_or(1, |&last| u64::from(last) * NS_PER_MS)
    }
}

/// A transmitter's position in a trace.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TraceCursor {
    /// The opportunity after the current one.
    next: u64,
    /// The time of the current one.
    at: Time,
    /// How much of it is still unused.
    bytes_left: u32,
}

impl TraceCursor {
    /// When the packet whose turn it is now is delivered. A packet that finds the transmitter idle starts
    /// with the first opportunity after now; one that waited `goes_on` with the rest of the previous
    /// packet's opportunity.
    pub(crate) fn deliver(
        &mut self,
        trace: &DeliveryTrace,
        now: Time,
        goes_on: bool,
        size_bytes: u32,
    ) -> Time {
        if !goes_on {
            (self.next, self.bytes_left) = (trace.count_until(now), 0);
        }
        let mut missing = size_bytes;
        loop {
            if self.bytes_left == 0 {
                (self.at, self.bytes_left) = (trace.time(self.next), OPPORTUNITY_BYTES);
                self.next += 1;
            }
            let used = missing.min(self.bytes_left);
            (missing, self.bytes_left) = (missing - used, self.bytes_left - used);
            if missing == 0 {
                return self.at;
            }
        }
    }
}
