//! What an endpoint reports.

use layercast_core::contract::{Cause, Estimates};
use layercast_core::units::{Channel, Level, RateEstimate, Time};
use serde::{Serialize, Serializer};

/// What an endpoint reports at a time of the run. Serialised it is a map with `at_ns` and `event`, and what belongs to that:
/// `from`, `to` (numbers of levels, -1 for none) and `cause`; `channel`; `rate_bps`, `smoothed_bps` (`"unbounded"` for a rate
/// without bound), `loss` and `rtt_ns` where they are known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// When.
    #[serde(rename = "at_ns", serialize_with = "nanoseconds")]
    pub at: Time,
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
        /// From this level.
        #[serde(serialize_with = "number_of")]
        from: Level,
        /// To this level.
        #[serde(serialize_with = "number_of")]
        to: Level,
        /// Why.
        #[serde(serialize_with = "in_words")]
        cause: Cause,
    },
    /// A receiver joined a channel.
    Join {
        /// Which.
        #[serde(serialize_with = "channel_number")]
        channel: Channel,
    },
    /// A receiver left a channel.
    Leave {
        /// Which.
        #[serde(serialize_with = "channel_number")]
        channel: Channel,
    },
    /// A receiver's slow start ended.
    #[serde(rename = "slow start ended")]
    SlowStartEnded,
    /// What a receiver believes of its path.
    Estimates(#[serde(serialize_with = "believed")] Estimates),
    /// A receiver has as many packets with data as it needs.
    Complete,
}

fn nanoseconds<S: Serializer>(at: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(at.as_ns())
}

fn number_of<S: Serializer>(level: &Level, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i32(level.as_number())
}

fn channel_number<S: Serializer>(channel: &Channel, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(channel.0)
}

fn in_words<S: Serializer>(cause: &Cause, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cause)
}

fn believed<S: Serializer>(estimates: &Estimates, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Bps {
        Known(f64),
        Word(&'static str),
    }
    #[derive(Serialize)]
    struct Fields {
        #[serde(skip_serializing_if = "Option::is_none")]
        rate_bps: Option<Bps>,
        #[serde(skip_serializing_if = "Option::is_none")]
        smoothed_bps: Option<Bps>,
        #[serde(skip_serializing_if = "Option::is_none")]
        loss: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        rtt_ns: Option<u64>,
    }
    let bps = |rate| match rate {
        RateEstimate::Known(rate) if rate.as_bps().is_finite() => Some(Bps::Known(rate.as_bps())),
        RateEstimate::Known(_) | RateEstimate::Unbounded => Some(Bps::Word("unbounded")),
        RateEstimate::Unknown => None,
    };
    let fields = Fields {
        rate_bps: bps(estimates.rate),
        smoothed_bps: bps(estimates.smoothed_rate),
        loss: estimates.loss.filter(|loss| loss.is_finite()),
        rtt_ns: estimates.rtt.map(|rtt| rtt.as_ns()),
    };
    fields.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::{Duration, Rate};

    fn json(event: Event) -> String {
        serde_json::to_string(&Report { at: Time::from_ns(1_500), event }).unwrap_or_default()
    }

    #[test]
    fn events_are_lines_of_json() {
        let level = Event::Level { from: Level::NONE, to: Level::from_count(1), cause: Cause::SlowStart };
        assert_eq!(json(level), r#"{"at_ns":1500,"event":"level","from":-1,"to":0,"cause":"slow start"}"#);
        assert_eq!(json(Event::Join { channel: Channel(3) }), r#"{"at_ns":1500,"event":"join","channel":3}"#);
        let estimates = Estimates {
            rate: RateEstimate::Known(Rate::from_bps(2e6)),
            smoothed_rate: RateEstimate::Unbounded,
            loss: Some(0.25),
            rtt: Some(Duration::from_ms(2)),
            ..Estimates::default()
        };
        assert_eq!(
            json(Event::Estimates(estimates)),
            r#"{"at_ns":1500,"event":"estimates","rate_bps":2000000.0,"smoothed_bps":"unbounded","loss":0.25,"rtt_ns":2000000}"#
        );
        assert_eq!(
            json(Event::Estimates(Estimates::default())),
            r#"{"at_ns":1500,"event":"estimates"}"#,
            "what is unknown is left out"
        );
    }
}
