//! What is compared between the worlds.

use std::ops::RangeInclusive;

use serde::Serialize;

use crate::results::Statistic;
use crate::results::text::Style;

/// A measure of a flow or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Of a flow, in kbit/s.
    ThroughputKbps,
    /// Of a flow: lost over sent. Of a link: dropped over all that came.
    LossRate,
    /// Of a receiver: joins and leaves after the base layer's first join.
    LevelChanges,
    /// Of a link: what it carried of what it could.
    Utilisation,
    /// Of a link: time average of the packets in the queue.
    MeanQueuePackets,
}

impl Measure {
    /// How it is called in the table.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Measure::ThroughputKbps => "kbit/s",
            Measure::LossRate => "loss",
            Measure::LevelChanges => "level changes",
            Measure::Utilisation => "busy",
            Measure::MeanQueuePackets => "mean queue",
        }
    }

    /// A difference of no more than this counts as none: relative differences of numbers close to zero say nothing.
    #[must_use]
    pub fn slack(self) -> f64 {
        match self {
            Measure::ThroughputKbps | Measure::LevelChanges => 1.0,
            Measure::LossRate | Measure::Utilisation => 0.001,
            Measure::MeanQueuePackets => 0.5,
        }
    }

    /// The values that it can have.
    pub(super) fn possible(self) -> RangeInclusive<f64> {
        self.style().possible()
    }

    fn style(self) -> Style {
        match self {
            Measure::ThroughputKbps => Style::Amount,
            Measure::LossRate | Measure::Utilisation => Style::Percent,
            Measure::LevelChanges | Measure::MeanQueuePackets => Style::Tenths,
        }
    }

    /// The mean with its interval.
    pub(super) fn text(self, statistic: &Statistic) -> String {
        self.style().statistic(statistic)
    }

    /// A number with its unit.
    pub(super) fn number(self, value: f64) -> String {
        let unit = if self == Measure::ThroughputKbps { " kbit/s" } else { "" };
        format!("{}{unit}", self.style().number(value))
    }
}
