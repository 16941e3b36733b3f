//! Time-varying links: their configuration.

use std::sync::Arc;

use layercast_core::units::{Duration, Rate, Time};

use crate::loss::{LossModel, LossPlace};

mod trace;

pub(crate) use self::trace::TraceCursor;
pub use self::trace::{DeliveryTrace, OPPORTUNITY_BYTES, TraceError};

/// How one direction of a link changes over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkVariation {
    /// Changes of rate, delay and loss, in the order of their times. Those at one time are made in
    /// their order.
    pub changes: Vec<LinkChange>,
    /// After how long all changes happen again, and again; longer than the last of their times.
    pub repeat: Option<Duration>,
    /// Let no packet arrive before one that was sent earlier: it arrives with it. Otherwise a packet
    /// overtakes those before it when the delay falls by more than their distance, as in ns-2.
    pub avoid_reordering: bool,
    /// When the link delivers, in place of its rate.
    pub trace: Option<Arc<DeliveryTrace>>,
    /// When the link is down: ascending, without overlap.
    pub outages: Vec<Outage>,
    /// Whether waiting packets are lost when the link goes down. Otherwise they stay in the queue.
    pub flushes_queue: bool,
}

/// A change of a link. What is none stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkChange {
    /// When, from the start of the run.
    pub at: Time,
    /// The rate of transmissions that begin from then on.
    pub rate: Option<Rate>,
    /// The propagation delay of packets whose transmission begins from then on.
    pub delay: Option<Duration>,
    /// What the link loses from then on, and where. The model restarts: its state is drawn, its count of
    /// packets is zero.
    pub loss: Option<(LossModel, LossPlace)>,
}

/// A period in which a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it goes down.
    pub start: Time,
    /// When it is up again.
    pub end: Time,
}

/// Why a link variation is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariationError {
    /// A rate is zero.
    #[error("the rate is zero at {at}; give a rate above zero, or an outage")]
    ZeroRate {
        /// When.
        at: Time,
    },
    /// The changes are not in order.
    #[error("the change at {at} comes after a later one; sort them by time")]
    Unsorted {
        /// The time of the change out of place.
        at: Time,
    },
    /// The changes do not fit into the time after which they repeat.
    #[error("the changes repeat after {repeat}, but one is at {at}; use a longer repeat time")]
    Repeat {
        /// After how long they repeat.
        repeat: Duration,
        /// The last change.
        at: Time,
    },
    /// A trace defines when packets are delivered, so a rate has no meaning.
    #[error(
        "the link is driven by a trace, but its rate changes at {at}; remove either the trace or the rate"
    )]
    RateOfTrace {
        /// When.
        at: Time,
    },
    /// An outage is empty or begins before the one before it has ended.
    #[error(
        "the outage from {start} to {end} is empty or overlaps the one before; give ascending times without overlap"
    )]
    Outage {
        /// Its start.
        start: Time,
        /// Its end.
        end: Time,
    },
}

impl LinkVariation {
    /// Whether nothing ever changes.
    pub fn is_nothing(&self) -> bool {
        self.changes.is_empty() && self.trace.is_none() && self.outages.is_empty()
    }

    /// Checks the variation.
    ///
    /// # Errors
    /// [`VariationError`].
    pub fn check(&self) -> Result<(), VariationError> {
        let mut last = Time::ZERO;
        for change in &self.changes {
            let at = change.at;
            if at < last {
                return Err(VariationError::Unsorted { at });
            }
            if change.rate.is_some_and(Rate::is_zero) {
                return Err(VariationError::ZeroRate { at });
            }
            if change.rate.is_some() && self.trace.is_some() {
                return Err(VariationError::RateOfTrace { at });
            }
            last = at;
        }
        if let Some(repeat) = self.repeat
            && last >= Time::ZERO + repeat
        {
            return Err(VariationError::Repeat { repeat, at: last });
        }
        let mut last = None;
        for &Outage { start, end } in &self.outages {
            if start >= end || last.is_some_and(|last| start <= last) {
                return Err(VariationError::Outage { start, end });
            }
            last = Some(end);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
