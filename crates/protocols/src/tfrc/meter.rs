//! The estimators that turn received and lost packets into a loss rate.

use layercast_core::units::Duration;
use layercast_kit::estimator::{
    Fate, LossConfig, LossEstimator, LossOutcome, LossPanel, Packet, PanelConfig,
};

layercast_core::choices! {
    /// Which of several measures a receiver reports and uses.
    pub enum ShownMeasure {
        /// The loss insensitive period.
        Lip = "lip",
        /// The loss aggregation period.
        Lap = "lap",
        /// The packet loss fraction.
        Fraction = "fraction",
    }
}

/// The configuration of a meter.
#[derive(Clone, Debug)]
pub(crate) enum MeterPlan {
    /// One estimator.
    One(LossConfig),
    /// Several in parallel, of which one is reported.
    Several(PanelConfig, ShownMeasure),
}

/// A loss estimator, or several in parallel.
// Made once and not moved afterwards: its size costs nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub(crate) enum Meter {
    One(LossEstimator),
    Several(LossPanel, ShownMeasure),
}

impl Meter {
    pub(super) fn new(plan: &MeterPlan) -> Meter {
        match plan {
            MeterPlan::One(config) => Meter::One(LossEstimator::new(config)),
            MeterPlan::Several(config, shown) => Meter::Several(LossPanel::new(config), *shown),
        }
    }

    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        match self {
            Meter::One(loss) => loss.set_rtt(rtt),
            Meter::Several(panel, _) => panel.set_rtt(rtt),
        }
    }

    pub(super) fn on_packet(&mut self, packet: &Packet, fate: Fate) -> LossOutcome {
        match self {
            Meter::One(loss) => loss.on_packet(packet, fate),
            Meter::Several(panel, _) => panel.on_packet(packet, fate),
        }
    }

    /// Replaces the counted first interval by a calculated one (RFC 5348, section 6.3.1). An
    /// open loop has none: its sending rate does not reflect the path.
    pub(super) fn set_first_interval(&mut self, length: f64) {
        if let Meter::One(loss) = self {
            loss.intervals_mut().replace_oldest(length);
        }
    }

    /// The loss rate to report, 0 to 1.
    pub(super) fn loss_rate(&self) -> f64 {
        match self {
            Meter::One(loss) => loss.loss_rate(),
            Meter::Several(panel, ShownMeasure::Lip) => panel.lip().loss_rate(),
            Meter::Several(panel, ShownMeasure::Lap) => panel.lap().loss_rate(),
            Meter::Several(panel, ShownMeasure::Fraction) => panel.fraction().fraction(),
        }
    }

    /// How many loss events there were.
    pub(super) fn events(&self) -> u64 {
        match self {
            Meter::One(loss) => loss.events(),
            Meter::Several(panel, _) => panel.lip().events(),
        }
    }

    /// All measures, if there are several.
    pub(super) fn panel(&self) -> Option<&LossPanel> {
        match self {
            Meter::One(_) => None,
            Meter::Several(panel, _) => Some(panel),
        }
    }

    pub(super) fn forget_times(&mut self) {
        match self {
            Meter::One(loss) => loss.forget_times(),
            Meter::Several(panel, _) => panel.forget_times(),
        }
    }

    pub(super) fn reset(&mut self) {
        match self {
            Meter::One(loss) => loss.reset(),
            Meter::Several(panel, _) => panel.reset(),
        }
    }
}
