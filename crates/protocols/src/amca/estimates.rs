//! The equations of AMCA as pure functions (report, sections 4.2 to 4.6, with the errata of the page).

use layercast_core::math;
use layercast_core::units::Duration;

/// What one report implies for the queue at the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueEstimate {
    /// The factor that takes the rate to that of the bottleneck (gamma, equation 5).
    pub gamma: f64,
    /// Growth of the queue in packets per packet sent (delta q_p, equation 9). None where the
    /// equations do not hold.
    pub growth: Option<f64>,
}

/// The estimate from a period and the variation of the round-trip time over it, both in seconds. They are
/// without meaning if the round-trip time fell by the period or more (errata E5).
pub fn queue_estimate(period_s: f64, rtt_var_s: f64, gamma_max: f64) -> QueueEstimate {
    let stretched_s = period_s + rtt_var_s;
    if stretched_s <= 0.0 {
        return QueueEstimate { gamma: gamma_max, growth: None };
    }
    QueueEstimate { gamma: (period_s / stretched_s).min(gamma_max), growth: Some(rtt_var_s / stretched_s) }
}

/// A lower bound of the bottleneck's rate in bit/s (equation 5); none where it does not hold.
pub fn bottleneck_bps(rate_bps: f64, period_s: f64, rtt_var_s: f64) -> Option<f64> {
    let stretched_s = period_s + rtt_var_s;
    (stretched_s > 0.0).then(|| rate_bps * period_s / stretched_s)
}

/// The change of the queue over a period, in packets (equation 6); none where it does not hold.
pub fn queue_change_packets(rate_bps: f64, period_s: f64, rtt_var_s: f64, packet_bits: f64) -> Option<f64> {
    let growth = queue_estimate(period_s, rtt_var_s, f64::INFINITY).growth?;
    Some(rate_bps * period_s / packet_bits * growth)
}

/// Packets sent less packets acknowledged over the same period
/// (delta q_a, equations 10 and 11). The literal profile takes a report's count as sent.
pub fn unacknowledged(sent: u64, acknowledged: i64) -> f64 {
    (sent as f64 - acknowledged as f64).max(0.0)
}

/// Unacknowledged packets beyond those that the path holds when its queues are empty, with
/// `rtt_base_s` the round-trip time then (backlog profile, this project's choice).
pub fn backlog(outstanding: u64, rate_bps: f64, rtt_base_s: f64, packet_bits: f64) -> f64 {
    (outstanding as f64 - rate_bps * rtt_base_s / packet_bits).max(0.0)
}

/// After how many packets a receiver reports (n_eff): `most`, or as many as arrive within `interval_s`.
pub fn packets_per_report(most: u32, rate_bps: f64, packet_bits: f64, interval_s: f64) -> u32 {
    // A cast of a float saturates.
    (math::ceil(interval_s * rate_bps / packet_bits) as u32).clamp(1, most.max(1))
}

/// How long an elected replier waits between two repairs, in seconds, given the distance of `lo` and `lr`
/// (report, section 4.6; errata E15).
pub fn repair_gap_s(rate_bps: f64, packet_bits: f64, gap: u64) -> f64 {
    if rate_bps <= 0.0 {
        return 1.0;
    }
    packet_bits * gap.max(1) as f64 / rate_bps
}

/// The variation of a section's round-trip time over a period, in microseconds, from two samples of it. Zero
/// unless the time `apart` is between a quarter of the period and four of them.
pub fn rtt_variation_us(older: Duration, newer: Duration, apart: Duration, period: Duration) -> i64 {
    let apart_s = apart.as_secs_f64();
    let period_s = period.as_secs_f64();
    if apart_s <= 0.0 || !(0.25 * period_s..=4.0 * period_s).contains(&apart_s) {
        return 0;
    }
    let change_us = newer.as_us() as f64 - older.as_us() as f64;
    (change_us * period_s / apart_s) as i64
}

/// A variation of the round-trip time in the 32 bits of a report, in microseconds.
pub fn wire_variation_us(variation_us: i64) -> i32 {
    variation_us.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// The round-trip time to the source over a section, in microseconds, from that of the parent (equation 7).
pub fn rtt_to_source_us(parent_us: u32, section: Duration) -> u32 {
    parent_us.saturating_add(u32::try_from(section.as_us()).unwrap_or(u32::MAX))
}

/// The aggregate of several children's reports (report, section 4.5). Numbers are those of the first packet
/// not included, so that 0 means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The number after `lo`: the smallest.
    pub below: u64,
    /// The number after `lr`: the largest.
    pub end: u64,
    /// The number after `maxseq`: the smallest.
    pub limit: u64,
    /// The largest round-trip time to the source in microseconds; 0 if none is known.
    pub rtt_max_us: u32,
    /// The smallest one; 0 if none is known.
    pub rtt_min_us: u32,
    /// The longest period in microseconds.
    pub period_us: u32,
    /// The largest variation of the round-trip time in microseconds, with its sign.
    pub rtt_var_us: i64,
    /// The smallest count of packets.
    pub count: u16,
    /// Whether any packet was congestion-marked.
    pub is_marked: bool,
}

impl Summary {
    /// The aggregate of two summaries.
    #[must_use]
    pub fn with(self, other: Summary) -> Summary {
        Summary {
            below: self.below.min(other.below),
            end: self.end.max(other.end),
            limit: self.limit.min(other.limit),
            rtt_max_us: self.rtt_max_us.max(other.rtt_max_us),
            rtt_min_us: match (self.rtt_min_us, other.rtt_min_us) {
                (0, known) | (known, 0) => known,
                (one, other) => one.min(other),
            },
            period_us: self.period_us.max(other.period_us),
            rtt_var_us: self.rtt_var_us.max(other.rtt_var_us),
            count: self.count.min(other.count),
            is_marked: self.is_marked || other.is_marked,
        }
    }

    /// The summary as seen from above a section whose own round-trip time has varied by this many microseconds.
    #[must_use]
    pub fn over_section(self, rtt_var_us: i64) -> Summary {
        Summary { rtt_var_us: self.rtt_var_us.saturating_add(rtt_var_us), ..self }
    }
}
