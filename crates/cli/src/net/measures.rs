//! What `--metrics` shows of a transfer. `docs/events.md` lists the names.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use layercast_core::contract::Estimates;
use layercast_core::units::RateEstimate;
use layercast_delivery::node::SourceCounters;
use layercast_delivery::reporting::KnownReceiver;
use layercast_delivery::security::protection::{ProtectionCounters, Rejection};
use layercast_delivery::session::Session;
use layercast_transport::event::{
    Progress, ReceiveProgress, Reception, SendProgress, StreamLayerReceived, StreamLayerSent,
    StreamReceiveProgress, StreamSendProgress,
};
use layercast_transport::host::ReceiverCounters;

use crate::net::metrics::Page;

/// What is known besides the progress.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Labels of the session, once it is known.
    labels: Vec<(&'static str, String)>,
    layers: u16,
    /// The objects of a source.
    pub(crate) objects: usize,
    /// What reception reports say of a source's receivers.
    pub(crate) reception: Option<Reception>,
    /// How often each notice was given.
    pub(crate) notices: BTreeMap<&'static str, u64>,
}

impl Known {
    /// Sets the session.
    pub(crate) fn session(&mut self, session: &Session) {
        self.layers = session.levels().count();
        self.labels = vec![
            ("protocol", session.protocol.clone()),
            ("source", session.source.to_string()),
            ("group", session.group.to_string()),
            ("session", session.tsi.to_string()),
        ];
    }

    fn page(&self, role: &str) -> Page {
        let mut page = Page::default();
        let mut labels = vec![("role", role), ("version", env!("CARGO_PKG_VERSION"))];
        labels.extend(self.labels.iter().map(|(name, value)| (*name, value.as_str())));
        page.info("info", "This program and its session.", &labels);
        let notices = self.notices.iter().map(|(&name, &count)| (name, count));
        page.counters("notices_total", "Notices, by name.", "name", notices);
        page
    }

    fn estimates(&self, page: &mut Page, estimates: &Estimates) {
        page.gauge(
            "layers",
            "Levels that a receiver may have, one for each layer or wave.",
            Some(f64::from(self.layers)),
        );
        let level = Some(f64::from(estimates.level.as_number()));
        page.gauge("level", "The highest layer taken, from 0; -1 for none.", level);
        let rate = match estimates.smoothed_rate {
            RateEstimate::Known(rate) => Some(rate.as_bps()),
            RateEstimate::Unbounded | RateEstimate::Unknown => None,
        };
        page.gauge("fair_rate_bits_per_second", "The fair rate, where it is known.", rate);
        let loss = "The loss rate that the congestion control computes with.";
        page.gauge("loss_event_ratio", loss, estimates.loss);
        let rtt = estimates.rtt.map(|rtt| rtt.as_secs_f64());
        page.gauge("rtt_seconds", "The smoothed round-trip time.", rtt);
    }

    /// The page before the first progress.
    pub(crate) fn waiting(&self, role: &str) -> Page {
        self.page(role)
    }

    /// The page of a transfer; none of a relay, which has its own.
    pub(crate) fn of(&self, progress: &Progress) -> Option<Page> {
        match progress {
            Progress::Send(progress) => Some(self.of_source(progress)),
            Progress::Receive(progress) => Some(self.of_receiver(progress)),
            Progress::StreamSend(progress) => Some(self.of_stream_source(progress)),
            Progress::StreamReceive(progress) => Some(self.of_stream_receiver(progress)),
            _ => None,
        }
    }

    fn of_source(&self, progress: &SendProgress) -> Page {
        let mut page = self.sending(progress.elapsed, &progress.counters, &progress.estimates);
        let complete = progress.completions as f64;
        page.gauge("receivers_complete", "Receivers that reported completion.", Some(complete));
        page.gauge("rounds", "Symbols sent for each that the files have.", Some(progress.rounds));
        page.gauge("objects", "Objects of the session.", Some(self.objects as f64));
        page
    }

    fn of_stream_source(&self, progress: &StreamSendProgress) -> Page {
        let mut page = self.sending(progress.elapsed, &progress.counters, &progress.estimates);
        let mut each = |name, help, of: fn(&StreamLayerSent) -> u64| {
            by_layer(&mut page, name, help, progress.layers.iter().map(of));
        };
        each("units_total", "Units that came from the input.", |layer| layer.input.units);
        each("unit_bytes_total", "Their bytes.", |layer| layer.input.bytes);
        each("units_expired_total", "Units not sent within the deadline.", |layer| layer.input.expired);
        each("source_symbols_total", "Packets of data.", |layer| layer.sent.source);
        each("repair_symbols_total", "Packets of repair.", |layer| layer.sent.repair);
        each("idle_packets_total", "Packets without data.", |layer| layer.sent.idle);
        each("dropped_packets_total", "Packets for a layer that nobody holds.", |layer| layer.sent.dropped);
        page
    }

    /// What every source has.
    fn sending(&self, elapsed: Duration, counters: &SourceCounters, estimates: &Estimates) -> Page {
        let mut page = self.page("source");
        page.gauge("elapsed_seconds", "Time since the start.", Some(elapsed.as_secs_f64()));
        page.counter("sent_packets_total", "Packets sent.", counters.packets);
        page.counter("sent_bytes_total", "Their bytes with all headers.", counters.bytes);
        page.counter("refused_packets_total", "Packets that the kernel did not take.", counters.refused);
        page.counter("reports_received_total", "Reports of receivers.", counters.reports);
        let rejected = [
            ("invalid", counters.bad_feedback),
            ("forged", counters.forged_feedback),
            ("turned_away", counters.turned_away),
        ];
        page.counters("rejected_feedback_total", "Feedback not used, by reason.", "reason", rejected);
        let reports = counters.reception_reports;
        page.counter("reception_reports_received_total", "Reception reports of receivers.", reports);
        page.counter(
            "demands_received_total",
            "Messages of receivers that say which level they hold.",
            counters.demands,
        );
        self.reception(&mut page);
        self.estimates(&mut page, estimates);
        page
    }

    fn reception(&self, page: &mut Page) {
        let Some(Reception { summary, .. }) = &self.reception else { return };
        let receivers = summary.receivers;
        page.gauge("receivers", "Receivers, as estimated from reception reports.", Some(receivers.mean));
        page.gauge("receivers_low", "The lower end of their 95 % interval.", Some(receivers.low));
        page.gauge("receivers_high", "Its upper end.", Some(receivers.high));
        let complete = "Complete receivers, as estimated from reception reports.";
        page.gauge("receivers_complete_estimate", complete, Some(summary.complete));
        page.gauge("receivers_median_ratio", "The share that half of them have at least.", summary.median);
        let slowest = summary.slowest.first().map(KnownReceiver::share);
        page.gauge("receivers_slowest_ratio", "The share that the slowest known one has.", slowest);
    }

    fn of_receiver(&self, progress: &ReceiveProgress) -> Page {
        let ReceiveProgress { counters, protection, packets_lost, estimates, .. } = progress;
        let mut page = self.receiving(progress.elapsed, counters, protection, *packets_lost, estimates);
        let symbols = [
            ("useful", progress.assembly.useful),
            ("needless", progress.assembly.needless),
            ("refused", progress.assembly.refused),
        ];
        page.counters("symbols_total", "Symbols received, by use.", "use", symbols);
        page.counter(
            "forged_blocks_total",
            "Blocks that the sender has not signed.",
            progress.assembly.forged,
        );
        let tables = "Parts of the file table that no trusted key has signed.";
        page.counter("forged_tables_total", tables, progress.untrusted_tables);
        page.counter("blocks_decoded_total", "Blocks that needed decoding.", progress.assembly.decoded);
        let goodput = Some(progress.goodput_bps);
        page.gauge("goodput_bits_per_second", "Bits of the objects per second, lately.", goodput);
        let objects = &progress.objects;
        page.gauge("objects", "Objects of the session that are known.", Some(objects.objects as f64));
        page.gauge("objects_complete", "Objects in their place.", Some(objects.complete as f64));
        page.gauge("objects_failed", "Objects that cannot be received.", Some(objects.failed as f64));
        page.gauge("objects_bytes", "The bytes of all of them.", Some(objects.bytes as f64));
        page.gauge("symbols_needed", "The symbols that they need.", Some(objects.needed as f64));
        page.gauge("symbols_held", "How many of these are here.", Some(objects.held as f64));
        page
    }

    fn of_stream_receiver(&self, progress: &StreamReceiveProgress) -> Page {
        let StreamReceiveProgress { counters, protection, packets_lost, estimates, .. } = progress;
        let mut page = self.receiving(progress.elapsed, counters, protection, *packets_lost, estimates);
        let mut each = |name, help, of: fn(&StreamLayerReceived) -> u64| {
            by_layer(&mut page, name, help, progress.layers.iter().map(of));
        };
        each("units_total", "Units delivered.", |layer| layer.counters.units);
        each("unit_bytes_total", "Their bytes.", |layer| layer.counters.bytes);
        each("units_lost_total", "Units lost.", |layer| layer.counters.lost);
        each("units_late_total", "Units that were whole after their deadline.", |layer| layer.counters.late);
        let absent = "Units sent while the layer was not held.";
        each("units_absent_total", absent, |layer| layer.counters.absent);
        let unwritten = "Units delivered in time that the output did not take.";
        each("units_unwritten_total", unwritten, |layer| layer.unwritten);
        let repaired = "Blocks with losses that were repaired.";
        each("blocks_repaired_total", repaired, |layer| layer.counters.repaired);
        let delay = "Their delays from the source's input on, summed, less the shortest transit time.";
        let seconds = |layer: &StreamLayerReceived| layer.counters.delay_sum_us as f64 / 1e6;
        by_layer(&mut page, "unit_delay_seconds_total", delay, progress.layers.iter().map(seconds));
        page
    }

    /// What every receiver has.
    fn receiving(
        &self,
        elapsed: Duration,
        counters: &ReceiverCounters,
        protection: &ProtectionCounters,
        packets_lost: Option<f64>,
        estimates: &Estimates,
    ) -> Page {
        let mut page = self.page("receiver");
        page.gauge("elapsed_seconds", "Time since the start.", Some(elapsed.as_secs_f64()));
        page.counter("received_packets_total", "Packets accepted.", counters.node.accept.packets);
        page.counter("received_bytes_total", "Their bytes with all headers.", counters.node.accept.bytes);
        let unauthentic = |reason| protection.rejected(reason);
        let rejected = [
            ("other_source", counters.node.accept.other_source),
            ("other_session", counters.node.accept.other_session),
            ("malformed", counters.node.accept.malformed),
            ("misplaced", counters.node.accept.misplaced),
            ("unprotected", unauthentic(Rejection::Unprotected)),
            ("other_scheme", unauthentic(Rejection::Scheme)),
            ("old", unauthentic(Rejection::Old)),
            ("replayed", unauthentic(Rejection::Replayed)),
            ("forged", unauthentic(Rejection::Forged)),
        ];
        page.counters("rejected_packets_total", "Packets not accepted, by reason.", "reason", rejected);
        page.counter("marked_packets_total", "Packets that routers marked (ECN).", counters.node.marked);
        page.counter("reports_sent_total", "Reports sent to the source.", counters.reports);
        page.counter("reports_unsent_total", "Reports that could not be sent.", counters.unsent_reports);
        page.counter("failed_joins_total", "Joins that the system refused.", counters.node.failed_joins);
        page.counter("level_changes_total", "Changes of level.", counters.node.level_changes);
        page.counter("loss_events_total", "Loss events.", counters.node.loss_events);
        let leaves = &counters.leaves;
        page.counter("leaves_watched_total", "Leaves after which the link was watched.", leaves.watched);
        page.counter(
            "leaves_endless_total",
            "Leaves after which packets came for ten seconds and more.",
            leaves.endless,
        );
        let seconds = |time: layercast_core::units::Duration| time.as_secs_f64();
        let last = "How long after the last leave packets of its group came.";
        page.gauge("leave_seconds", last, leaves.last.map(seconds));
        page.gauge("leave_longest_seconds", "The longest of these times.", leaves.longest.map(seconds));
        page.gauge("packet_loss_ratio", "The share of packets lost lately.", packets_lost);
        self.estimates(&mut page, estimates);
        page
    }
}

/// Adds counters of each layer, from the base up.
fn by_layer(page: &mut Page, name: &str, help: &str, values: impl Iterator<Item = impl Display>) {
    let values: Vec<_> = values.enumerate().map(|(layer, value)| (layer.to_string(), value)).collect();
    page.counters(name, help, "layer", values.iter().map(|(layer, value)| (layer.as_str(), value)));
}
