//! What a source says of sending less than its layers have.

use std::time::Duration as StdDuration;

use layercast_core::family::AnyProtocol;
use layercast_core::units::{Rate, Time};
use layercast_delivery::reporting::demand::ANNOUNCEMENT_EVERY;

use crate::event::Event;
use crate::host::SourceHost;
use crate::notice::Notice;

/// Reports that nobody listens, once each time, and that the uplink is full.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    is_alone: bool,
}

impl Quiet {
    pub(super) fn poll<P: AnyProtocol>(
        &mut self,
        host: &mut SourceHost<P>,
        now: Time,
        on_event: &mut dyn FnMut(&Event),
    ) {
        let base = host.node.base_rate();
        let Some(demands) = host.node.demands() else { return };
        let is_alone = demands.is_alone(now);
        if is_alone && !self.is_alone {
            let every = StdDuration::from(ANNOUNCEMENT_EVERY);
            on_event(&Event::Notice(Notice::NobodyListens { every }));
        }
        self.is_alone = is_alone;
        if let Some((carried, is_seen)) = demands.take_uplink_news() {
            let carried = Rate::from_bps((carried.as_bps() / 1e3).round() * 1e3);
            let base = Some(base).filter(|base| carried < *base);
            on_event(&Event::Notice(Notice::UplinkFull { carried, base, is_seen }));
        }
    }
}
