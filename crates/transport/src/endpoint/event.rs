//! What an endpoint reports, as lines of JSON.

use layercast_core::contract::Estimates;
use layercast_core::units::RateEstimate;
use serde::Serialize;

/// A report: serialised a map with `at_ns` and `event`, and what belongs to that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// When, in ns since the beginning of the run.
    pub at_ns: u64,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// What an endpoint reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// Its sockets are open.
    Ready,
    /// A receiver changed its level.
    Level {
        /// From this level; -1 for none.
        from: i32,
        /// To this level; -1 for none.
        to: i32,
        /// Why.
        cause: String,
    },
    /// A receiver joined a channel.
    Join {
        /// Which.
        channel: u16,
    },
    /// A receiver left a channel.
    Leave {
        /// Which.
        channel: u16,
    },
    /// A receiver's slow start ended.
    #[serde(rename = "slow start ended")]
    SlowStartEnded,
    /// A receiver's estimates of its path.
    Estimates(Belief),
    /// A receiver has as many packets with data as it needs.
    Complete,
}

/// A receiver's estimates, as far as it has them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Belief {
    /// The fair rate as last calculated, in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<Bps>,
    /// The fair rate after smoothing, in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoothed_bps: Option<Bps>,
    /// The loss fraction or loss event rate, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The smoothed round-trip time, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ns: Option<u64>,
}

/// A rate in bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Bps {
    /// This rate.
    Known(f64),
    /// A rate without bound: the word `unbounded`.
    Unbounded(&'static str),
}

impl From<Estimates> for Belief {
    fn from(estimates: Estimates) -> Belief {
        let bps = |rate| match rate {
            RateEstimate::Known(rate) if rate.as_bps().is_finite() => Some(Bps::Known(rate.as_bps())),
            RateEstimate::Known(_) | RateEstimate::Unbounded => Some(Bps::Unbounded("unbounded")),
            RateEstimate::Unknown => None,
        };
        Belief {
            rate_bps: bps(estimates.rate),
            smoothed_bps: bps(estimates.smoothed_rate),
            loss: estimates.loss.filter(|loss| loss.is_finite()),
            rtt_ns: estimates.rtt.map(|rtt| rtt.as_ns()),
        }
    }
}

#[cfg(test)]
mod tests {
    use layercast_core::units::{Duration, Rate};

    use super::*;

    fn json(event: Event) -> String {
        serde_json::to_string(&Report { at_ns: 1_500, event }).unwrap_or_default()
    }

    #[test]
    fn events_are_lines_of_json() {
        assert_eq!(
            json(Event::Level { from: -1, to: 0, cause: "slow start".to_owned() }),
            r#"{"at_ns":1500,"event":"level","from":-1,"to":0,"cause":"slow start"}"#
        );
        assert_eq!(json(Event::Join { channel: 3 }), r#"{"at_ns":1500,"event":"join","channel":3}"#);
        assert_eq!(json(Event::SlowStartEnded), r#"{"at_ns":1500,"event":"slow start ended"}"#);
        let estimates = Estimates {
            rate: RateEstimate::Known(Rate::from_bps(2e6)),
            smoothed_rate: RateEstimate::Unbounded,
            loss: Some(0.25),
            rtt: Some(Duration::from_ms(2)),
            ..Estimates::default()
        };
        assert_eq!(
            json(Event::Estimates(estimates.into())),
            r#"{"at_ns":1500,"event":"estimates","rate_bps":2000000.0,"smoothed_bps":"unbounded","loss":0.25,"rtt_ns":2000000}"#
        );
        assert_eq!(
            json(Event::Estimates(Estimates::default().into())),
            r#"{"at_ns":1500,"event":"estimates"}"#,
            "what is unknown is left out"
        );
    }
}
