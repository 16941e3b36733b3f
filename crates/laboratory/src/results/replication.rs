//! What one replication measured.

use super::lateness::Lateness;
use super::limited::Limited;
use super::movement::Movement;
use super::queue_delay::QueueDelay;
use super::traffic::{CallMeasures, VideoMeasures};
use super::why::{LevelMark, ReceiverMeasures};

/// One run of the experiment with its own seed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replication {
    /// Its number, from 1.
    pub number: u32,
    /// Counts and means per measurement window, in the order of the experiment's.
    pub windows: Vec<WindowMeasures>,
    /// The time series.
    pub series: Series,
    /// The samples of probes: by probe, then by quantity. NaN where unknown.
    pub probes: Vec<Vec<Vec<f64>>>,
    /// The links that the data of each flow cross, as indices into the experiment's.
    pub paths: Vec<Vec<usize>>,
    /// How late packets were, in the emulated world.
    pub lateness: Option<Lateness>,
    /// The cost of the run.
    pub engine: EngineMeasures,
}

/// The measures of one window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WindowMeasures {
    /// In the order of the experiment's flows.
    pub flows: Vec<FlowMeasures>,
    /// In the order of the experiment's links.
    pub links: Vec<LinkMeasures>,
}

impl WindowMeasures {
    /// The throughputs of these flows, in kbit/s: until the first of them was not measured any more, those of the others
    /// by the bins of the time series up to then. `start_s` is that of the window.
    #[must_use]
    pub fn together_kbps(&self, members: &[usize], series: &Series, start_s: f64, bin_s: f64) -> Vec<f64> {
        let flows = members.iter().filter_map(|&flow| Some((flow, self.flows.get(flow)?)));
        let first = flows.clone().filter_map(|(_, flow)| flow.measured_until_s).reduce(f64::min);
        let kbps = |(place, flow): (usize, &FlowMeasures)| match (first, series.flows.get(place)) {
            (Some(until), Some(series)) if flow.measured_until_s != first => {
                series.mean_kbps(start_s, until, bin_s)
            }
            _ => flow.throughput_kbps,
        };
        flows.map(kbps).collect()
    }
}

/// The measures of one flow in one window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlowMeasures {
    /// Of a receiver that had its object before the window's end: until when it was measured, in seconds.
    pub measured_until_s: Option<f64>,
    /// Bytes on the wire that reached the receiver, each sequence number once, over the window; NaN of a receiver that
    /// had its object before.
    pub throughput_kbps: f64,
    /// Lost over sent, of the packets for the flow; NaN if nothing was sent.
    pub loss_rate: f64,
    /// Packets that were to reach it and were dropped on the path.
    pub lost_packets: u64,
    /// Data that arrived during the window on channels that the receiver had left as the last one at its node
    /// and below; none for flows without layers.
    pub late_kbps: Option<f64>,
    /// Joins and leaves after the base layer's first join; none for flows without layers.
    pub level_changes: Option<f64>,
    /// Time average of the level, no layer counting as -1.
    pub mean_level: Option<f64>,
    /// When the level came to stay within one of its final median; none if it never did.
    pub settled_after_s: Option<f64>,
    /// How it moved between levels; none for flows without layers.
    pub movement: Option<Movement<Option<f64>>>,
    /// Transfers that ended; none for flows that make none.
    pub transfers: Option<f64>,
    /// How long those took on average, in seconds; none if there were none. Of a receiver with an object: from
    /// its own start until it had the object, whatever the window; none if it never had.
    pub completion_s: Option<f64>,
    /// What limited it, of a TCP flow; no shares if it had not started.
    pub limited: Option<Limited<Option<f64>>>,
    /// How it played, of a player of video.
    pub video: Option<VideoMeasures<Option<f64>>>,
    /// How its packets came, of a call.
    pub call: Option<CallMeasures<Option<f64>>>,
    /// What it has of the object of its session; none for sessions without one.
    pub object: Option<ObjectMeasures>,
    /// Why it has its rate; in the main window of receivers of sessions.
    pub receiver: Option<Box<ReceiverMeasures>>,
}

/// What a receiver has of an object at the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ObjectMeasures {
    /// Which part of the packets that it needs has come, 0 to 1.
    pub received: f64,
    /// From the start of the source until it had the object, in seconds; none if it never had.
    pub since_source_s: Option<f64>,
}

impl ObjectMeasures {
    /// 1 if it has the object, else 0.
    #[must_use]
    pub fn complete(&self) -> f64 {
        f64::from(u8::from(self.since_source_s.is_some()))
    }
}

/// The measures of one link in one window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkMeasures {
    /// Busy time over the window, 0 to 1, or what was carried of what could be where the link changes;
    /// NaN for a link without a rate.
    pub utilisation: f64,
    /// Packets that the queue dropped or the error model lost.
    pub drops: u64,
    /// Those of `drops` that the error model lost.
    pub losses: u64,
    /// Packets that were transmitted.
    pub packets: u64,
    /// Packets that the queue marked.
    pub marks: u64,
    /// Time average of the packets in the queue.
    pub mean_queue_packets: f64,
    /// The length of the window in seconds.
    pub window_s: f64,
    /// What the link could carry on average, in kbit/s.
    pub capacity_kbps: f64,
    /// The propagation delay at the window's end, in milliseconds.
    pub propagation_ms: f64,
    /// The mean transmission time of a packet, in milliseconds; zero if there was none.
    pub transmission_ms: f64,
    /// How long the queue had which delay; none if no packet waited.
    pub queue_delay: Option<Box<QueueDelay>>,
}

/// Time series, flow by flow in the order of the experiment's flows.
///
/// Bin k covers [k · bin, (k + 1) · bin). All flows have the same bins.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// One entry per flow.
    pub flows: Vec<FlowSeries>,
    /// The mean delay of each link's queue in each bin, in milliseconds; empty where no packet waited.
    pub queue_delay_ms: Vec<Vec<f64>>,
}

/// One flow's time series, column by column. A column that does not apply to the flow stays empty;
/// a value that is not known is NaN. Both are nulls in the files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlowSeries {
    /// Throughput of the bin in kbit/s; NaN while the flow does not exist, and once a receiver has its object.
    pub throughput_kbps: Vec<f64>,
    /// The level at the bin's end, -1 for no layer.
    pub level: Vec<Option<i32>>,
    /// The rate that the endpoint calculates, in kbit/s, at the bin's end.
    pub rate_kbps: Vec<f64>,
    /// The rate that the endpoint decides by, in kbit/s, at the bin's end.
    pub smoothed_rate_kbps: Vec<f64>,
    /// The loss (event) fraction that the endpoint estimates, at the bin's end.
    pub loss: Vec<f64>,
    /// The round-trip time that the endpoint estimates, in milliseconds, at the bin's end.
    pub rtt_ms: Vec<f64>,
    /// The congestion window in packets, at the bin's end.
    pub cwnd_packets: Vec<f64>,
    /// The changes of level; of the first replication only.
    pub changes: Vec<LevelMark>,
}

impl FlowSeries {
    /// The columns of numbers by name, in the order of the files.
    #[must_use]
    pub fn columns(&self) -> [(&'static str, &[f64]); 6] {
        [
            ("throughput_kbps", &self.throughput_kbps),
            ("rate_kbps", &self.rate_kbps),
            ("smoothed_rate_kbps", &self.smoothed_rate_kbps),
            ("loss", &self.loss),
            ("rtt_ms", &self.rtt_ms),
            ("cwnd_packets", &self.cwnd_packets),
        ]
    }

    /// The mean throughput over a stretch of time, in kbit/s; bins at its ends count by the part in it. What does not
    /// exist yet has none.
    #[must_use]
    pub fn mean_kbps(&self, from_s: f64, until_s: f64, bin_s: f64) -> f64 {
        let part = |bin: usize| {
            let start = bin as f64 * bin_s;
            ((start + bin_s).min(until_s) - start.max(from_s)).max(0.0)
        };
        let known = self.throughput_kbps.iter().enumerate().filter(|(_, kbps)| kbps.is_finite());
        known.map(|(bin, kbps)| kbps * part(bin)).sum::<f64>() / (until_s - from_s).max(0.0)
    }

    /// The number of bins: the length of the throughput column.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.throughput_kbps.len()
    }
}

/// The cost of a replication.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EngineMeasures {
    /// Events served.
    pub events: u64,
    /// Transmissions of a packet on a link.
    pub packet_hops: u64,
    /// Processor time in seconds.
    pub cpu_s: f64,
}
