//! BBR's model of the path: bandwidth, round-trip time, volume in flight, aggregation
//! (draft-ietf-ccwg-bbr-06, section 5.5). Volumes count packets, rates packets per second.

use layercast_core::units::{Duration, Time};

use super::rate::Sample;

/// The factor of a lossy round on the short-term bounds, and of a bad probe on the long-term one.
pub(super) const BETA: f64 = 0.7;
/// More losses than this part of what was in flight are too many.
const LOSS_THRESHOLD: f64 = 0.02;
/// The fraction of the long-term bound that is left to other flows.
const HEADROOM: f64 = 0.15;
/// The least that is allowed in flight.
pub(super) const MIN_WINDOW: f64 = 4.0;
/// Rounds over which aggregation is remembered.
const AGGREGATION_ROUNDS: usize = 10;
/// How long the smallest round-trip time is valid.
const MIN_RTT_LIFE: Duration = Duration::from_secs(10);
/// The interval between probes for the smallest round-trip time.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);

/// Packet-timed round trips: one ends when a packet sent after its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// This acknowledgement begins a round.
    pub(super) starts: bool,
    ends_at: u64,
}

impl Rounds {
    /// A round begins now, with so much delivered.
    pub(super) fn begin(&mut self, delivered: u64) {
        self.ends_at = delivered;
    }

    fn update(&mut self, sample: &Sample, delivered: u64) {
        self.starts = sample.prior_delivered >= self.ends_at;
        if self.starts {
            self.begin(delivered);
            self.count += 1;
        }
    }
}

/// The largest values of the last rounds.
#[derive(Clone, Debug, Default)]
struct RoundMaxima {
    values: [(u64, f64); AGGREGATION_ROUNDS],
}

impl RoundMaxima {
    fn insert(&mut self, round: u64, value: f64) {
        let slot = &mut self.values[round as usize % AGGREGATION_ROUNDS];
        *slot = if slot.0 == round { (round, slot.1.max(value)) } else { (round, value) };
    }

    /// The maximum over `length` rounds up to `round`.
    fn max(&self, round: u64, length: u64) -> f64 {
        let recent = self.values.iter().filter(|slot| slot.0 + length > round);
        recent.fold(0.0, |max, slot| max.max(slot.1))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    /// The largest rate samples of the last bandwidth probing cycle and of this one.
    cycles: [f64; 2],
    /// The rate to send at, by the largest samples within the short-term bound.
    pub(super) bw: f64,
    pub(super) min_rtt: Option<Duration>,
    min_rtt_at: Time,
    /// The smallest round-trip time since the last probe for it.
    recent_rtt: Option<Duration>,
    recent_rtt_at: Time,
    /// The next probe is due.
    pub(super) recent_rtt_expired: bool,
    /// Bounds until the next probing; infinite without losses.
    bw_short: f64,
    pub(super) inflight_short: f64,
    /// The volume that was in flight without excessive loss.
    pub(super) inflight_long: f64,
    /// The largest rate and volume delivered in this round.
    bw_latest: f64,
    pub(super) inflight_latest: f64,
    loss_in_round: bool,
    /// This acknowledgement ends a round of watching losses.
    pub(super) loss_round_ends: bool,
    loss_round_to: u64,
    /// Ranges of packets lost in this round, and the last packet lost.
    pub(super) lost_ranges: u32,
    last_lost: i64,
    /// Acknowledged beyond what `bw` explains.
    extra_acked: RoundMaxima,
    extra_since: Time,
    extra_delivered: f64,
    pub(super) rounds: Rounds,
    initial_window: f64,
}

impl Model {
    /// The connection opened with this round-trip time, if it was measured.
    pub(super) fn new(now: Time, rtt: Option<Duration>, initial_window: f64) -> Model {
        Model {
            cycles: [0.0; 2],
            bw: 0.0,
            min_rtt: rtt,
            min_rtt_at: now,
            recent_rtt: rtt,
            recent_rtt_at: now,
            recent_rtt_expired: false,
            bw_short: f64::INFINITY,
            inflight_short: f64::INFINITY,
            inflight_long: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_in_round: false,
            loss_round_ends: false,
            loss_round_to: 0,
            lost_ranges: 0,
            last_lost: -1,
            extra_acked: RoundMaxima::default(),
            extra_since: now,
            extra_delivered: 0.0,
            rounds: Rounds::default(),
            initial_window,
        }
    }

    pub(super) fn max_bw(&self) -> f64 {
        self.cycles[0].max(self.cycles[1])
    }

    /// A cycle of probing for bandwidth is over. One without samples does not push out those before.
    pub(super) fn end_cycle(&mut self) {
        if self.cycles[1] > 0.0 {
            self.cycles = [self.cycles[1], 0.0];
        }
    }

    /// Takes a sample at the begin of an acknowledgement's service.
    pub(super) fn deliver(&mut self, sample: &Sample, delivered: u64) {
        self.bw_latest = self.bw_latest.max(sample.rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered as f64);
        self.loss_round_ends = sample.prior_delivered >= self.loss_round_to;
        if self.loss_round_ends {
            self.loss_round_to = delivered;
        }
        self.rounds.update(sample, delivered);
        // A sample limited by the sender says little, unless it is larger than what is known.
        if sample.rate >= self.max_bw() || !sample.app_limited {
            self.cycles[1] = self.cycles[1].max(sample.rate);
        }
    }

    /// A round with losses outside probing lowers the short-term bounds.
    pub(super) fn end_loss_round(&mut self, cwnd: f64, probing: bool) {
        if self.loss_in_round && !probing {
            let or = |bound: f64, first| if bound.is_finite() { bound } else { first };
            self.bw_short = self.bw_latest.max(BETA * or(self.bw_short, self.max_bw()));
            self.inflight_short = self.inflight_latest.max(BETA * or(self.inflight_short, cwnd));
        }
        self.loss_in_round = false;
    }

    /// The last step of an acknowledgement's service: a new round starts its own maxima.
    pub(super) fn advance(&mut self, sample: &Sample) {
        if self.loss_round_ends {
            self.bw_latest = sample.rate;
            self.inflight_latest = sample.delivered as f64;
            self.lost_ranges = 0;
        }
        self.bw = self.max_bw().min(self.bw_short);
    }

    /// Packet `seq` is considered lost.
    pub(super) fn lose(&mut self, seq: i64, delivered: u64) {
        if !self.loss_in_round {
            self.loss_round_to = delivered;
        }
        self.loss_in_round = true;
        if seq != self.last_lost + 1 {
            self.lost_ranges += 1;
        }
        self.last_lost = seq;
    }

    pub(super) fn reset_congestion(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bw_short = f64::INFINITY;
        self.inflight_short = f64::INFINITY;
    }

    /// How much more is acknowledged at once than `bw` explains.
    pub(super) fn aggregate(&mut self, now: Time, newly_acked: f64, cwnd: f64) {
        let mut expected = self.bw * now.since(self.extra_since).as_secs_f64();
        if self.extra_delivered <= expected {
            self.restart_aggregation(now);
            self.extra_delivered = 0.0;
            expected = 0.0;
        }
        self.extra_delivered += newly_acked;
        let extra = (self.extra_delivered - expected).min(cwnd);
        self.extra_acked.insert(self.rounds.count, extra);
    }

    pub(super) fn restart_aggregation(&mut self, now: Time) {
        self.extra_since = now;
    }

    /// Aggregation seen of late; while the path is being filled, in this round.
    pub(super) fn extra_acked(&self, filled: bool) -> f64 {
        let length = if filled { AGGREGATION_ROUNDS as u64 } else { 1 };
        self.extra_acked.max(self.rounds.count, length)
    }

    pub(super) fn update_min_rtt(&mut self, now: Time, rtt: Option<Duration>) {
        self.recent_rtt_expired = now > self.recent_rtt_at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rtt
            && (self.recent_rtt_expired || self.recent_rtt.is_none_or(|recent| rtt < recent))
        {
            self.recent_rtt = Some(rtt);
            self.recent_rtt_at = now;
        }
        let expired = now > self.min_rtt_at + MIN_RTT_LIFE;
        if let Some(recent) = self.recent_rtt
            && (expired || self.min_rtt.is_none_or(|min| recent < min))
        {
            self.min_rtt = Some(recent);
            self.min_rtt_at = self.recent_rtt_at;
        }
    }

    /// The smallest round-trip time has just been probed.
    pub(super) fn postpone_probe_rtt(&mut self, now: Time) {
        self.recent_rtt_at = now;
    }

    /// The bandwidth-delay product at a rate; the initial window while no round-trip time is known.
    pub(super) fn bdp_at(&self, bw: f64) -> f64 {
        self.min_rtt.map_or(self.initial_window, |rtt| bw * rtt.as_secs_f64())
    }

    pub(super) fn bdp(&self) -> f64 {
        self.bdp_at(self.bw)
    }

    /// The volume in flight that leaves headroom to other flows.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_long.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (HEADROOM * self.inflight_long).max(1.0);
        (self.inflight_long - headroom).max(MIN_WINDOW)
    }
}

/// Whether this many losses of a volume in flight show that the volume was too high.
pub(super) fn is_too_high(lost: u64, in_flight: f64) -> bool {
    lost as f64 > in_flight * LOSS_THRESHOLD
}

/// The volume in flight when losses crossed the threshold, derived from a lost packet: `lost` including it
/// since it was sent, `in_flight` including it then.
pub(super) fn inflight_at_loss(lost: u64, in_flight: f64) -> f64 {
    let (before, lost_before) = (in_flight - 1.0, lost as f64 - 1.0);
    before + ((LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD)).max(0.0)
}

#[cfg(test)]
mod tests;
