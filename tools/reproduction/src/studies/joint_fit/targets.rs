//! What the thesis gives for simulations 1 and 2 (sections 6.3.1 and 6.3.2).

use layercast_core::math;

/// The scenarios of simulations 1 and 2.
pub(super) const SCENARIOS: [&str; 3] = [LAZY, NAIVE, WITH_RLC];
const LAZY: &str = "thesis/simulation-1-lazy";
const NAIVE: &str = "thesis/simulation-1-naive";
/// The only one with RLC.
pub(super) const WITH_RLC: &str = "thesis/simulation-2";

/// Whose target it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flows {
    Elm,
    Rlc,
}

/// How exactly the thesis gives a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// A mean throughput in kbit/s.
    Mean,
    /// Level changes, "about" or "around".
    About,
    /// Level changes, "less than".
    Below,
    /// Level changes, "way beyond".
    Beyond,
}

/// A number of the thesis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) scenario: &'static str,
    pub(super) flow: &'static str,
    pub(super) value: f64,
    said: Said,
}

const fn target(scenario: &'static str, flow: &'static str, said: Said, value: f64) -> Target {
    Target { scenario, flow, value, said }
}

/// All of them.
pub(super) static TARGETS: [Target; 24] = [
    target(LAZY, "elm@R1", Said::Mean, 785.0),
    target(LAZY, "elm@R2", Said::Mean, 1059.0),
    target(LAZY, "elm@R3", Said::Mean, 508.0),
    target(LAZY, "elm@R1", Said::About, 12.0),
    target(LAZY, "elm@R2", Said::Below, 10.0),
    target(LAZY, "elm@R3", Said::Below, 10.0),
    target(NAIVE, "elm@R1", Said::Mean, 649.0),
    target(NAIVE, "elm@R2", Said::Mean, 1033.0),
    target(NAIVE, "elm@R3", Said::Mean, 479.0),
    target(NAIVE, "elm@R1", Said::About, 45.0),
    target(NAIVE, "elm@R2", Said::About, 30.0),
    target(NAIVE, "elm@R3", Said::About, 34.0),
    target(WITH_RLC, "elm@R1", Said::Mean, 783.0),
    target(WITH_RLC, "elm@R2", Said::Mean, 1076.0),
    target(WITH_RLC, "elm@R3", Said::Mean, 508.0),
    target(WITH_RLC, "elm@R1", Said::About, 12.0),
    target(WITH_RLC, "elm@R2", Said::Below, 10.0),
    target(WITH_RLC, "elm@R3", Said::About, 7.0),
    target(WITH_RLC, "rlc@R1", Said::Mean, 470.0),
    target(WITH_RLC, "rlc@R2", Said::Mean, 641.0),
    target(WITH_RLC, "rlc@R3", Said::Mean, 400.0),
    target(WITH_RLC, "rlc@R1", Said::About, 430.0),
    target(WITH_RLC, "rlc@R2", Said::Beyond, 300.0),
    target(WITH_RLC, "rlc@R3", Said::About, 500.0),
];

impl Target {
    /// Whose it is.
    pub(super) fn flows(&self) -> Flows {
        if self.flow.starts_with("rlc") { Flows::Rlc } else { Flows::Elm }
    }

    /// Whether it is a throughput.
    pub(super) fn is_throughput(&self) -> bool {
        self.said == Said::Mean
    }

    /// Its metric.
    pub(super) fn metric(&self) -> &'static str {
        if self.is_throughput() { "throughput_kbps" } else { "level_changes" }
    }

    /// The window of the scenario in which it is taken: the thesis counts level changes with the slow start.
    pub(super) fn window(&self) -> usize {
        usize::from(!self.is_throughput())
    }

    /// What it is, in words.
    pub(super) fn quantity(&self) -> &'static str {
        if self.is_throughput() { "kbit/s" } else { "level changes" }
    }

    /// The number as the thesis has it.
    pub(super) fn words(&self) -> String {
        let sign = match self.said {
            Said::Mean => "",
            Said::About => "about ",
            Said::Below => "< ",
            Said::Beyond => "> ",
        };
        format!("{sign}{}", self.value)
    }

    /// By how much ours differs, as a logarithm in units of the tolerance: 5 % of a mean, 20 % of a count that is said
    /// to be about so many. Nothing where a bound is kept.
    pub(super) fn error(&self, ours: f64) -> f64 {
        // A run without any change of level is not infinitely far from one with some.
        let log = math::ln(ours.max(0.5) / self.value);
        match self.said {
            Said::Mean => log / math::ln(1.05),
            Said::About => log / math::ln(1.2),
            Said::Below => log.max(0.0) / math::ln(1.2),
            Said::Beyond => log.min(0.0) / math::ln(1.2),
        }
    }
}
