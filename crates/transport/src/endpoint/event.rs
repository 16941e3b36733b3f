//! What an endpoint reports.

use layercast_core::contract::{Cause, Estimates};
use layercast_core::units::{Channel, Level, RateEstimate, Time};

/// What an endpoint reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Its sockets are open.
    Ready,
    /// A receiver changed its level.
    Level {
        /// From this level.
        from: Level,
        /// To this level.
        to: Level,
        /// Why.
        cause: Cause,
    },
    /// A receiver joined a channel.
    Join(Channel),
    /// A receiver left a channel.
    Leave(Channel),
    /// A receiver's slow start ended.
    SlowStartEnded,
    /// What a receiver believes of its path.
    Estimates(Estimates),
    /// A receiver has as many packets with data as it needs.
    Complete,
}

impl Event {
    /// The event at this time of the run as JSON, without a line break: an object with `at_ns` and `event`, and what
    /// belongs to that: `from`, `to` (numbers of levels, -1 for none) and `cause`; `channel`; `rate_bps`,
    /// `smoothed_bps` (`"unbounded"` for a rate without bound), `loss` and `rtt_ns` where they are known.
    #[must_use]
    pub fn to_json(&self, at: Time) -> String {
        let more = match self {
            Event::Ready | Event::SlowStartEnded | Event::Complete => String::new(),
            Event::Level { from, to, cause } => {
                format!(r#","from":{},"to":{},"cause":"{cause}""#, from.as_number(), to.as_number())
            }
            Event::Join(channel) | Event::Leave(channel) => format!(r#","channel":{}"#, channel.0),
            Event::Estimates(estimates) => of_estimates(estimates),
        };
        format!(r#"{{"at_ns":{},"event":"{}"{more}}}"#, at.as_ns(), self.name())
    }

    fn name(&self) -> &'static str {
        match self {
            Event::Ready => "ready",
            Event::Level { .. } => "level",
            Event::Join(_) => "join",
            Event::Leave(_) => "leave",
            Event::SlowStartEnded => "slow start ended",
            Event::Estimates(_) => "estimates",
            Event::Complete => "complete",
        }
    }
}

fn of_estimates(estimates: &Estimates) -> String {
    let rate = |name: &str, rate: RateEstimate| match rate {
        RateEstimate::Known(rate) if rate.as_bps().is_finite() => format!(r#","{name}":{}"#, rate.as_bps()),
        RateEstimate::Known(_) | RateEstimate::Unbounded => format!(r#","{name}":"unbounded""#),
        RateEstimate::Unknown => String::new(),
    };
    let loss = estimates.loss.filter(|loss| loss.is_finite());
    format!(
        "{}{}{}{}",
        rate("rate_bps", estimates.rate),
        rate("smoothed_bps", estimates.smoothed_rate),
        loss.map_or(String::new(), |loss| format!(r#","loss":{loss}"#)),
        estimates.rtt.map_or(String::new(), |rtt| format!(r#","rtt_ns":{}"#, rtt.as_ns())),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::{Duration, Rate};

    #[test]
    fn events_are_lines_of_json() {
        let at = Time::from_ns(1_500);
        let level = Event::Level { from: Level::NONE, to: Level::from_count(1), cause: Cause::SlowStart };
        assert_eq!(
            level.to_json(at),
            r#"{"at_ns":1500,"event":"level","from":-1,"to":0,"cause":"slow start"}"#
        );
        assert_eq!(Event::Join(Channel(3)).to_json(at), r#"{"at_ns":1500,"event":"join","channel":3}"#);
        let estimates = Estimates {
            rate: RateEstimate::Known(Rate::from_bps(2e6)),
            smoothed_rate: RateEstimate::Unbounded,
            loss: Some(0.25),
            rtt: Some(Duration::from_ms(2)),
            ..Estimates::default()
        };
        assert_eq!(
            Event::Estimates(estimates).to_json(at),
            r#"{"at_ns":1500,"event":"estimates","rate_bps":2000000,"smoothed_bps":"unbounded","loss":0.25,"rtt_ns":2000000}"#
        );
        assert_eq!(
            Event::Estimates(Estimates::default()).to_json(at),
            r#"{"at_ns":1500,"event":"estimates"}"#,
            "what is unknown is left out"
        );
    }
}
