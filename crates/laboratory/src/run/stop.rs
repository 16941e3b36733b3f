//! Stopping a run from outside.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish to stop, shared by its copies: what runs asks for it after each bin of the time series. Without a wish it
/// costs nothing that could be measured, and changes no result.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Wishes that everything that has a copy stops.
    pub fn wish(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether that is wished.
    #[must_use]
    pub fn is_wished(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The same for a step of a replication.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.is_wished() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
