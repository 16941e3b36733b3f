//! Helpers of the tests of protocols with windows: a plan, lossy paths, and a source with its receivers.

use layercast_core::contract::{Endpoint, Header};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_testkit::{Pair, Path};

pub(crate) fn plan() -> SessionPlan {
    let layers = LayerTable::from_rates([Rate::from_mbps(10.0)]).expect("a layer");
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

pub(crate) fn lossy(loss: f64) -> Path {
    Path { loss, ..Path::default() }
}

/// A session after so many seconds, with a receiver at the end of each path.
pub(crate) fn run<H, S, R>(
    source: impl Fn(Stream) -> S,
    receiver: impl Fn(Stream) -> R,
    paths: &[Path],
    seconds: u64,
) -> Pair<S, R>
where
    H: Header,
    S: Endpoint<Header = H>,
    R: Endpoint<Header = H>,
{
    let member = |(index, &path): (usize, &Path)| (receiver(Stream::new(index as u64, "receiver")), path);
    let members = paths.iter().enumerate().map(member).collect();
    let mut pair = Pair::new(source(Stream::new(7, "source")), members, Time::from_ns(5000), 3);
    pair.run(Duration::from_secs(seconds));
    pair
}
