//! The events of a stream.

use layercast_delivery::security::protection::Rejection;
use layercast_delivery::stream::{Gap, GapCause};
use layercast_transport::Error;
use layercast_transport::receive::stream::{StreamEnded, StreamReceiveProgress};
use layercast_transport::send::stream::{StreamSendProgress, StreamStopped};

use super::Line;

impl Line {
    /// `gap`.
    pub(crate) fn gap(self, layer: u16, gap: Gap) -> String {
        let cause = match gap.cause {
            GapCause::Lost => "lost",
            GapCause::Absent => "absent",
        };
        self.count("layer", layer).count("units", gap.units).text("cause", cause).end()
    }

    /// What the source of a stream has done, for `progress` and `end`.
    pub(crate) fn stream_sending(self, progress: &StreamSendProgress) -> Line {
        let counters = &progress.counters;
        let layers: Vec<String> = progress
            .layers
            .iter()
            .map(|layer| {
                Line(String::new())
                    .count("units", layer.input.units)
                    .count("bytes", layer.input.bytes)
                    .count("units_expired", layer.input.expired)
                    .count("source_symbols", layer.sent.source)
                    .count("repair_symbols", layer.sent.repair)
                    .count("packets_idle", layer.sent.idle)
                    .count("packets_dropped", layer.sent.dropped)
                    .object()
            })
            .collect();
        self.count("packets", counters.packets)
            .count("bytes", counters.bytes)
            .count("packets_refused", counters.refused)
            .count("reports", counters.reports)
            .estimates(&progress.estimates)
            .raw("layers", format_args!("[{}]", layers.join(",")))
    }

    /// What the receiver of a stream has done, for `progress` and `end`.
    pub(crate) fn stream_receiving(self, progress: &StreamReceiveProgress) -> Line {
        let accept = &progress.counters.node.accept;
        let rejected = accept.other_source + accept.other_session + accept.malformed + accept.misplaced;
        let layers: Vec<String> = progress
            .layers
            .iter()
            .map(|layer| {
                let counters = &layer.counters;
                let mean = counters.delay_sum_us as f64 / counters.units as f64 / 1e3;
                Line(String::new())
                    .count("units", counters.units)
                    .count("bytes", counters.bytes)
                    .count("units_lost", counters.lost)
                    .count("units_late", counters.late)
                    .count("units_absent", counters.absent)
                    .count("units_unwritten", layer.unwritten)
                    .count("blocks_repaired", counters.repaired)
                    .number("delay_ms", mean)
                    .number("delay_max_ms", counters.delay_max_us as f64 / 1e3)
                    .object()
            })
            .collect();
        self.estimates(&progress.estimates)
            .number_if("packets_lost", progress.packets_lost)
            .count("packets", accept.packets)
            .count("bytes", accept.bytes)
            .count("packets_rejected", rejected)
            .count("packets_forged", progress.protection.forged())
            .count("packets_replayed", progress.protection.rejected(Rejection::Replayed))
            .count("packets_marked", progress.counters.node.marked)
            .count("loss_events", progress.counters.node.loss_events)
            .count("level_changes", progress.counters.node.level_changes)
            .raw("layers", format_args!("[{}]", layers.join(",")))
    }

    /// `end` of the source of a stream.
    pub(crate) fn stream_sent(
        self,
        sent: &Result<(StreamStopped, StreamSendProgress), Error>,
        status: u8,
    ) -> String {
        match sent {
            Ok((stopped, progress)) => {
                let reason = match stopped {
                    StreamStopped::Inputs => "inputs",
                    StreamStopped::Time => "time",
                    StreamStopped::Interrupted => "interrupted",
                };
                self.text("reason", reason).count("exit_status", status).stream_sending(progress).end()
            }
            Err(error) => self.failed(error, status),
        }
    }

    /// `end` of the receiver of a stream.
    pub(crate) fn stream_received(
        self,
        received: &Result<(StreamEnded, StreamReceiveProgress), Error>,
        status: u8,
    ) -> String {
        match received {
            Ok((ended, progress)) => {
                let reason = match ended {
                    StreamEnded::Session => "session_ended",
                    StreamEnded::Time => "time",
                    StreamEnded::Interrupted => "interrupted",
                    StreamEnded::Outputs => "outputs",
                };
                self.text("reason", reason).count("exit_status", status).stream_receiving(progress).end()
            }
            Err(error) => self.failed(error, status),
        }
    }
}
