//! The settings that follow from a profile and the other options.

use super::SmallPackets;
use super::choices::{FirstTarget, InitialWindow, Profile, ReceiveLimit};
use super::meter::MeterPlan;
use super::options::Options;
use layercast_core::units::{Duration, Size};
use layercast_kit::equation::Formula;
use layercast_kit::estimator::{
    Boundary, FirstInterval, ImpactAverage, LossConfig, LossMethod, RtoRule, RttFilter, WindowScope,
};
use layercast_kit::fair::FairEquation;

/// How a source determines its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateRule {
    /// By the rules of the RFCs.
    Rfc,
    /// By the rules of ns-2's agent.
    Ns2,
    /// A constant rate, whatever is reported.
    Constant,
}

/// Every rule of a session. CBR derives the same settings from options of its own.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) law: RateRule,
    /// Whether the source may send a few packets in its first round trip, or one.
    pub(crate) several_at_first: bool,
    /// Whether the largest recent receive rate bounds the rate, or the newest.
    pub(crate) recent_limit: bool,
    pub(crate) damping: bool,
    /// Weight of the old square root of the round-trip time.
    pub(crate) damping_q: f64,
    pub(crate) equation: FairEquation,
    /// The settings of TFRC-SP; none in a session of plain TFRC.
    pub(crate) small_packets: Option<SmallPackets>,
    pub(crate) packets_per_ack: f64,
    pub(crate) rtt_filter: RttFilter,
    pub(crate) rtt_window: u32,
    pub(crate) q: f64,
    pub(crate) rto: RtoRule,
    pub(crate) rto_minimum: Duration,
    pub(crate) rto_granularity: Duration,
    pub(crate) reorder: u32,
    /// Whether a new loss event also needs a packet that was sent after a report about the last one
    /// (ns-2, `PreciseLoss_`).
    pub(crate) precise: bool,
    /// Whether reports follow the rules of ns-2's agent.
    pub(crate) ns2_reports: bool,
    /// Whether the first interval is for the largest receive rate, or the newest.
    pub(crate) largest_target: bool,
    pub(crate) meter: MeterPlan,
    pub(crate) report_size: Size,
    pub(crate) hello_interval: Duration,
    /// Interval of the source's packets before the first message from a receiver; zero for never.
    pub(crate) announce_interval: Duration,
    pub(crate) end_packets: u32,
    /// By which part of its spacing a packet may leave late.
    pub(crate) dither: f64,
}

impl Settings {
    /// The part of a packet that counts in rates: all of it, or its data in a session of small packets.
    pub(super) fn counted(&self, wire: Size) -> Size {
        self.small_packets.map_or(wire, |small| small.data(wire))
    }

    /// The rules of TFRC.
    pub(super) fn from_options(options: &Options) -> Settings {
        let (ns2, newest) = (options.profile == Profile::Ns2, options.profile == Profile::Rfc5348);
        // A zero means: by profile.
        let or = |own: f64, profile: f64| if own > 0.0 { own } else { profile };
        let q = or(options.q, if ns2 { 0.95 } else { 0.9 });
        let threshold = or(options.discount_threshold, if newest { 0.25 } else { 0.5 });
        let loss = LossConfig {
            method: options.loss_estimator.unwrap_or(if options.small_packets {
                LossMethod::LipShort
            } else {
                LossMethod::Lip
            }),
            history: options.history,
            discounting: options.discounting.then_some(threshold),
            boundary: Boundary::Inside,
            first_interval: FirstInterval::Synthetic,
            initial_rtt: Duration::from_ms(500),
            impact: ImpactAverage::Mean,
            discount_impact: false,
            window: 1,
            scope: WindowScope::Session,
            virtual_packets: None,
        };
        Settings {
            law: if ns2 { RateRule::Ns2 } else { RateRule::Rfc },
            several_at_first: match options.initial_window {
                InitialWindow::ByProfile => newest,
                own => own == InitialWindow::Rfc3390,
            },
            recent_limit: match options.receive_limit {
                ReceiveLimit::ByProfile => newest,
                own => own == ReceiveLimit::Recent,
            },
            damping: options.damping,
            damping_q: q,
            equation: FairEquation {
                fair_to: options.fair_to,
                formula: options.formula.unwrap_or(if ns2 {
                    Formula::PftkSimplifiedClamped
                } else {
                    Formula::PftkSimplified
                }),
            },
            small_packets: options.small_packets.then_some(SmallPackets {
                nominal: options.nominal_size,
                header: options.header_size,
                spacing: options.least_spacing,
            }),
            packets_per_ack: options.packets_per_ack,
            rtt_filter: options.rtt_filter,
            rtt_window: options.rtt_window,
            q,
            rto: options.rto.unwrap_or(if ns2 { RtoRule::NsTick } else { RtoRule::FourR }),
            rto_minimum: options.rto_minimum,
            rto_granularity: options.rto_granularity,
            reorder: match options.reorder {
                0 if ns2 => 1,
                0 => 3,
                own => own,
            },
            precise: ns2,
            ns2_reports: ns2,
            largest_target: match options.first_target {
                FirstTarget::ByProfile => newest,
                own => own == FirstTarget::Largest,
            },
            meter: MeterPlan::One(loss),
            report_size: options.report_size,
            hello_interval: options.hello_interval,
            announce_interval: options.announce_interval,
            end_packets: options.end_packets,
            dither: options.dither,
        }
    }
}
