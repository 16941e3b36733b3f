//! One type for the rules by which a source determines its rate.

use super::FairRate;
use super::feedback::Feedback;
use super::ns2::Ns2Rate;
use super::rfc::{RfcRate, RfcRules};
use super::settings::{RateRule, Settings};
use layercast_core::units::Time;

/// How a source determines its rate, in byte/s.
#[derive(Clone, Debug)]
pub(super) enum RateControl {
    Rfc(RfcRate),
    Ns2(Ns2Rate),
    Constant(f64),
}

impl RateControl {
    /// The rule of the settings. `most` is the rate of the application, and that of a constant source.
    pub(super) fn new(now: Time, settings: &Settings, packet_bytes: f64, most: f64) -> RateControl {
        let &Settings { equation, packets_per_ack, damping, damping_q, .. } = settings;
        let fair = match &settings.small_packets {
            Some(small) => FairRate::small(equation.formula, small, packet_bytes),
            None => FairRate::plain(equation.formula, packet_bytes),
        };
        let equation = FairRate { equation, packets_per_ack, ..fair };
        match settings.law {
            RateRule::Rfc => {
                let rules = RfcRules {
                    packet_bytes,
                    several_at_first: settings.several_at_first,
                    recent_limit: settings.recent_limit,
                    damping,
                    damping_q,
                    equation,
                };
                RateControl::Rfc(RfcRate::new(now, rules))
            }
            RateRule::Ns2 => {
                let damping = damping.then_some(damping_q);
                RateControl::Ns2(Ns2Rate::new(now, packet_bytes, equation, damping))
            }
            RateRule::Constant => RateControl::Constant(most),
        }
    }

    /// The allowed rate.
    pub(super) fn allowed(&self) -> f64 {
        match self {
            RateControl::Rfc(rate) => rate.allowed(),
            RateControl::Ns2(rate) => rate.allowed(),
            RateControl::Constant(rate) => *rate,
        }
    }

    /// The rate to send at.
    pub(super) fn sending(&self) -> f64 {
        match self {
            RateControl::Rfc(rate) => rate.sending(),
            RateControl::Ns2(rate) => rate.sending(),
            RateControl::Constant(rate) => *rate,
        }
    }

    /// A packet is sent.
    pub(super) fn on_sent(&mut self) {
        if let RateControl::Ns2(rate) = self {
            rate.on_sent();
        }
    }

    /// A report came. Returns whether to send a packet at once.
    pub(super) fn on_report(&mut self, now: Time, report: &Feedback) -> bool {
        match self {
            RateControl::Rfc(rate) => {
                rate.on_report(now, report);
                false
            }
            RateControl::Ns2(rate) => rate.on_report(now, report),
            RateControl::Constant(_) => false,
        }
    }

    /// How long to wait for a report, in seconds; none for ever.
    pub(super) fn patience_s(&self) -> Option<f64> {
        match self {
            RateControl::Rfc(rate) => Some(rate.patience_s()),
            RateControl::Ns2(rate) => Some(rate.patience_s()),
            RateControl::Constant(_) => None,
        }
    }

    /// No report came for that long. Returns whether to send a packet at once.
    pub(super) fn on_no_feedback(&mut self, now: Time, idle: bool) -> bool {
        match self {
            RateControl::Rfc(rate) => {
                rate.on_no_feedback(now, idle);
                false
            }
            RateControl::Ns2(rate) => {
                rate.on_no_feedback();
                true
            }
            RateControl::Constant(_) => false,
        }
    }
}
