//! The plan that the tests of ELM share.

use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Rate, Size};
use layercast_protocols::elm::{Options, Receiver, Source};

/// Seven layers with doubling cumulative rates from 128 kbit/s, 1000-byte packets.
pub(crate) fn plan() -> SessionPlan {
    let cumulative = (0..7).map(|i| Rate::from_kbps(128.0 * f64::from(1 << i)));
    let layers = LayerTable::from_cumulative(cumulative).expect("a layer structure");
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

pub(crate) fn source(options: &Options) -> Source {
    Source::new(options, plan(), Stream::new(1, "source"))
}

pub(crate) fn receiver(options: &Options, seed: u64) -> Receiver {
    Receiver::new(options, plan(), Stream::new(seed, "receiver"))
}
