//! The gauges of the endpoints of a flow.

use layercast_core::contract::GaugeSpec;

/// A gauge of a flow's receiver or of its source. What only grows is kept as its increase since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Whether it is the source's.
    pub is_source: bool,
    /// Its place among the gauges of such endpoints.
    pub index: usize,
    /// What it says.
    pub spec: &'static GaugeSpec,
}

impl Gauge {
    /// The name in scenario files and results: that of a source's has `source_` in front.
    pub const fn name(self) -> &'static str {
        if self.is_source { self.spec.source_name } else { self.spec.name }
    }
}

/// What the endpoints of a flow show.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowGauges {
    /// Its receiver.
    pub receiver: &'static [GaugeSpec],
    /// Its source.
    pub source: &'static [GaugeSpec],
}

impl FlowGauges {
    /// All of them, the receiver's first.
    pub fn iter(self) -> impl Iterator<Item = Gauge> {
        let of = |gauges: &'static [GaugeSpec], is_source| {
            gauges.iter().enumerate().map(move |(index, spec)| Gauge { is_source, index, spec })
        };
        of(self.receiver, false).chain(of(self.source, true))
    }
}
