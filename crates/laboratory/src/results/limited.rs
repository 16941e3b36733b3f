//! What limited a TCP flow, and for what share of the time.

use serde::{Deserialize, Serialize};

/// The shares of the time in which a TCP sender was held back by each: together 1, from its start or that of the
/// window to the window's end.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Limited<T> {
    /// By the receiver's window.
    pub limited_by_window: T,
    /// By the application, which had no data.
    pub limited_by_application: T,
    /// By the network: its losses, marks and delay, to which the congestion window or the rate answers.
    pub limited_by_network: T,
}

impl<T> Limited<T> {
    /// The measures by their names in the files.
    #[must_use]
    pub fn named(self) -> [(&'static str, T); 3] {
        [
            ("limited_by_window", self.limited_by_window),
            ("limited_by_application", self.limited_by_application),
            ("limited_by_network", self.limited_by_network),
        ]
    }

    /// Builds the struct from one measure at a time.
    pub(crate) fn from_each<S>(mut make: impl FnMut(fn(&Limited<S>) -> &S) -> T) -> Limited<T> {
        Limited {
            limited_by_window: make(|limited| &limited.limited_by_window),
            limited_by_application: make(|limited| &limited.limited_by_application),
            limited_by_network: make(|limited| &limited.limited_by_network),
        }
    }
}

impl Limited<super::statistics::Statistic> {
    /// The limit that held longest, with its share in percent: `window 98 %`; none without a mean.
    #[must_use]
    pub fn main(&self) -> Option<String> {
        let means = [
            ("window", self.limited_by_window.mean),
            ("application", self.limited_by_application.mean),
            ("network", self.limited_by_network.mean),
        ];
        let known = means.into_iter().filter_map(|(name, mean)| Some((name, mean?)));
        let (name, share) = known.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        Some(format!("{name} {:.0} %", 100.0 * share))
    }
}
