//! What papers report, and what is measured to compare with it.

use std::fmt;

/// A number that the paper reports.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperValue {
    /// The flow or group that it is about.
    pub subject: String,
    /// What was measured.
    pub metric: Metric,
    /// The number.
    pub value: f64,
    /// How the paper puts it.
    pub relation: Relation,
}

/// How exactly a paper reports a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// As a number.
    Equal,
    /// "Around", "about", "slightly over".
    About,
    /// "Less than".
    Below,
    /// "More than".
    Above,
}

macro_rules! metrics {
    ($( $(#[doc = $doc:literal])* $variant:ident = $name:literal, )*) => {
        /// What is measured and may be compared with a paper; the names are those of `summary.json`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Metric { $( $(#[doc = $doc])* $variant, )* }

        impl Metric {
            /// All metrics, in the order of the documentation.
            pub const ALL: &[Metric] = &[ $( Metric::$variant, )* ];

            /// The name in scenario files and `summary.json`.
            pub const fn name(self) -> &'static str {
                match self { $( Metric::$variant => $name, )* }
            }
        }
    };
}

metrics! {
    /// Bytes that reached the receiver over the window, in kbit/s.
    ThroughputKbps = "throughput_kbps",
    /// Lost over sent.
    LossRate = "loss_rate",
    /// Joins and leaves after the first join of the base layer.
    LevelChanges = "level_changes",
    /// The time average of the level.
    MeanLevel = "mean_level",
    /// When the level came to rest, in seconds.
    SettledAfterS = "settled_after_s",
    /// Jain's fairness index of a group.
    JainIndex = "jain_index",
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
