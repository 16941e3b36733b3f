//! The average loss probability (RFC 3738, section 3.2.2.1).
//!
//! Losses come in bursts, since joins cause them. So packets and loss events first pass
//! through a filter over time, a share of them each epoch, and its output is averaged over
//! loss events.

use super::options::Options;
use layercast_core::math::pow;

/// The filter: packets and loss events in, a loss rate out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossFilter {
    /// The weight of the old long-term average at a loss event [1 - Delta].
    kept: f64,
    /// The share that passes through the filter in an epoch (G).
    share: f64,
    since_event: f64,
    packets: f64,
    events: f64,
    interval: f64,
    loss: f64,
}

impl LossFilter {
    /// A filter at a loss rate of 1, until it is reset.
    pub fn new(options: &Options) -> LossFilter {
        let share = options.nu * options.epoch().as_secs_f64() / options.slot.as_secs_f64();
        LossFilter {
            kept: 1.0 - options.delta,
            share: share.min(1.0),
            since_event: 0.0,
            packets: 0.0,
            events: 0.0,
            interval: 1.0,
            loss: 1.0,
        }
    }

    /// Forgets all and starts at a loss rate, above 0 and at most 1.
    pub fn reset(&mut self, loss: f64) {
        let loss = if loss > 0.0 { loss.min(1.0) } else { 1.0 };
        (self.since_event, self.packets, self.events) = (0.0, 0.0, 0.0);
        self.interval = 1.0 / loss;
        self.loss = loss;
    }

    /// A packet was received or lost.
    pub fn on_packet(&mut self) {
        self.since_event += 1.0;
    }

    /// A loss event began, with the packet counted last.
    pub fn on_event(&mut self) {
        self.packets += self.since_event;
        self.since_event = 0.0;
        self.events += 1.0;
    }

    /// An epoch ended.
    pub fn end_epoch(&mut self) {
        let average = |interval: f64, packets: f64, events: f64| {
            let kept = pow(self.kept, events);
            interval * kept + packets / (events + 1.0) * (1.0 - kept * self.kept)
        };
        let share = self.share;
        // The RFC's term is G X/(G Y + 1), which is this with both counts multiplied by the share.
        let interval = average(self.interval, share * self.packets, share * self.events);
        let (packets, events) = (self.packets * (1.0 - share), self.events * (1.0 - share));
        let now = average(interval, packets, events);
        // The rate if the next packet were lost: a long time without losses counts at once.
        let next = average(interval, packets + self.since_event + 1.0, events + 1.0);
        (self.interval, self.packets, self.events) = (interval, packets, events);
        self.loss = 1.0 / now.max(next).max(1.0);
    }

    /// The loss rate as of the last epoch or reset, above 0 and at most 1.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// Packets since the last event, packets and events that have not passed through yet, and the mean
    /// number of packets in an interval [W, X, Y, Z].
    pub fn state(&self) -> [f64; 4] {
        [self.since_event, self.packets, self.events, self.interval]
    }
}
