//! A base layer that is faster than the path.
//!
//! A receiver at the base layer has nothing to leave: what its path cannot carry is lost, and so is the traffic of
//! others.

use layercast_core::units::{Duration, Rate, Size};

use crate::node::packet_loss::RecentPackets;
use crate::notice::Notice;

/// How long a receiver must have held the base layer alone: longer than losses are counted, so that those of upper
/// layers are not.
const ALONE_FOR: Duration = Duration::from_secs(6);
/// The share of lost packets from which a path is overloaded rather than congested (CHOICE).
const OVERLOAD: f64 = 0.1;
/// The least number of packets that show it.
const LEAST_PACKETS: u64 = 30;
/// How far the rate may be from the base layer's. Sources with one rate, which they adapt, are not constant.
const TOLERANCE: f64 = 0.25;

/// What a receiver of the base layer alone, for so long, should report, if its path is overloaded.
pub(super) fn notice(
    base: Rate,
    packet: Size,
    alone_for: Duration,
    recent: Option<RecentPackets>,
) -> Option<Notice> {
    let recent = recent.filter(|_| alone_for >= ALONE_FOR)?;
    let rate = |packets: u64| {
        let bits = packets as f64 * packet.as_bits() as f64;
        Rate::from_bps((bits / recent.over.as_secs_f64() / 1e4).round() * 1e4)
    };
    let is_base = (rate(recent.sent).as_bps() / base.as_bps() - 1.0).abs() <= TOLERANCE;
    (recent.sent >= LEAST_PACKETS && recent.lost() >= OVERLOAD && is_base).then(|| Notice::BaseTooFast {
        base,
        arriving: rate(recent.received),
        lost: recent.lost(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_base_layer_at_its_rate_that_loses_much_is_too_fast() {
        let (base, arriving) = (Rate::from_mbps(4.0), Rate::from_mbps(2.0));
        let (packet, over) = (Size::from_bytes(1000), Duration::from_secs(5));
        let found =
            |sent, received| notice(base, packet, ALONE_FOR, Some(RecentPackets { sent, received, over }));
        assert_eq!(found(2500, 1250), Some(Notice::BaseTooFast { base, arriving, lost: 0.5 }));
        assert_eq!(found(2500, 2300), None);
        // The rate of a source that adapts to its receivers.
        assert_eq!(found(1000, 500), None);
        assert_eq!(found(5000, 2500), None);
    }
}
