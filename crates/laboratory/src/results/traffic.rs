//! The kinds of traffic of the library (`docs/traffic.md`), and the measures that only some of them have.

use layercast_core::choices;
use serde::{Deserialize, Serialize};

use super::statistics::Statistic;

choices! {
    /// A kind of traffic, by its name in scenario files.
    pub enum TrafficKind {
        /// Users who read web pages.
        Web = "web",
        /// Players of video in segments.
        Video = "video",
        /// Files, one after another.
        Download = "download",
        /// Telephone calls.
        Call = "call",
    }
}

impl TrafficKind {
    /// What there is of it, in the plural.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            TrafficKind::Web => "web pages",
            TrafficKind::Video => "video",
            TrafficKind::Download => "file downloads",
            TrafficKind::Call => "calls",
        }
    }
}

/// How a video was played.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct VideoMeasures<T> {
    /// The share of the time since playing began in which it stood still.
    pub rebuffering: T,
    /// The mean bit rate of the segments that were fetched, in kbit/s.
    pub video_kbps: T,
    /// From the start of the player until playing began, in seconds, whatever the window.
    pub startup_s: T,
}

impl<T> VideoMeasures<T> {
    /// The measures by their names in the files.
    #[must_use]
    pub fn named(self) -> [(&'static str, T); 3] {
        [("rebuffering", self.rebuffering), ("video_kbps", self.video_kbps), ("startup_s", self.startup_s)]
    }
}

impl VideoMeasures<Statistic> {
    /// Each measure as a statistic.
    pub(crate) fn from_each(
        mut make: impl FnMut(fn(&VideoMeasures<Option<f64>>) -> Option<f64>) -> Statistic,
    ) -> VideoMeasures<Statistic> {
        VideoMeasures {
            rebuffering: make(|video| video.rebuffering),
            video_kbps: make(|video| video.video_kbps),
            startup_s: make(|video| video.startup_s),
        }
    }
}

/// How the packets of a call came.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CallMeasures<T> {
    /// The mean one-way delay, in milliseconds.
    pub delay_ms: T,
    /// The one-way delay that 99 % of the packets did not exceed, at most 1/32 too high, in milliseconds.
    pub delay_p99_ms: T,
    /// The share of the packets that came later than 150 ms.
    pub over_150ms: T,
}

impl<T> CallMeasures<T> {
    /// The measures by their names in the files.
    #[must_use]
    pub fn named(self) -> [(&'static str, T); 3] {
        [("delay_ms", self.delay_ms), ("delay_p99_ms", self.delay_p99_ms), ("over_150ms", self.over_150ms)]
    }
}

impl CallMeasures<Statistic> {
    /// Each measure as a statistic.
    pub(crate) fn from_each(
        mut make: impl FnMut(fn(&CallMeasures<Option<f64>>) -> Option<f64>) -> Statistic,
    ) -> CallMeasures<Statistic> {
        CallMeasures {
            delay_ms: make(|call| call.delay_ms),
            delay_p99_ms: make(|call| call.delay_p99_ms),
            over_150ms: make(|call| call.over_150ms),
        }
    }
}
