//! LIP, the loss insensitive period: TFRC's loss events (thesis, section 4.2.3; RFC 5348, section 5).
//!
//! A loss opens an event; further losses within one round-trip time belong to it and do not count.
//! The loss rate is one over the average distance of events.

use super::LossIntervals;
use super::loss_config::{FirstInterval, LossConfig};
use super::loss_event::{Boundary, LossOutcome, Packet, Period};
use layercast_core::units::Duration;

/// The loss event rate.
#[derive(Clone, Debug)]
pub struct Lip {
    intervals: LossIntervals,
    boundary: Boundary,
    first_interval: FirstInterval,
    rtt: Duration,
    event: Option<Period>,
    open: u64,
    events: u64,
}

impl Lip {
    /// An estimator without packets.
    pub fn new(config: &LossConfig) -> Lip {
        Lip {
            intervals: LossIntervals::new(config.history as usize, config.discounting),
            boundary: config.boundary,
            first_interval: config.first_interval,
            rtt: config.initial_rtt,
            event: None,
            open: 0,
            events: 0,
        }
    }

    /// The round-trip time to use from the next event on. Zero is refused.
    pub fn set_rtt(&mut self, rtt: Duration) {
        if !rtt.is_zero() {
            self.rtt = rtt;
        }
    }

    /// A packet was received.
    pub fn on_received(&mut self, _packet: &Packet) {
        self.open += 1;
    }

    /// A packet was lost.
    pub fn on_lost(&mut self, packet: &Packet) -> LossOutcome {
        if self.contains(packet) {
            self.open += 1;
            return LossOutcome::Ignored;
        }
        // The very first packet may be the lost one; an interval has at least one packet.
        self.begin(packet, self.open.max(1) as f64);
        LossOutcome::NewEvent
    }

    /// Whether a packet belongs to the newest event.
    pub(super) fn contains(&self, packet: &Packet) -> bool {
        self.event.is_some_and(|event| packet.sent < event.end)
    }

    /// An event begins with this packet; the interval before it counts as `length` packets.
    pub(super) fn begin(&mut self, packet: &Packet, length: f64) {
        if self.event.is_some() || self.first_interval != FirstInterval::Discard {
            self.intervals.push(length, 1.0);
        }
        self.event = Some(Period::starting(packet.sent, self.rtt, self.boundary));
        self.open = 1;
        self.events += 1;
    }

    /// The round-trip time of the next event.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// The loss event rate, 0 to 1; 0 while no interval is known.
    pub fn loss_rate(&self) -> f64 {
        self.intervals.average(self.open as f64).map_or(0.0, |average| (1.0 / average).min(1.0))
    }

    /// The closed intervals.
    pub fn intervals(&self) -> &LossIntervals {
        &self.intervals
    }

    /// The closed intervals, to set or rescale the first one.
    pub fn intervals_mut(&mut self) -> &mut LossIntervals {
        &mut self.intervals
    }

    /// Packets since the newest event began, that event's first loss included.
    pub fn open_length(&self) -> u64 {
        self.open
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The sender's clock has restarted: the period of the newest event is no longer valid.
    pub fn forget_times(&mut self) {
        if let Some(event) = &mut self.event {
            *event = Period::default();
        }
    }

    /// Forgets everything but the round-trip time.
    pub fn reset(&mut self) {
        self.intervals.clear();
        self.event = None;
        self.open = 0;
        self.events = 0;
    }
}
