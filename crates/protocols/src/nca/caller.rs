//! What a receiver and a router share towards the active node above: heartbeats and the round-trip time
//! that they measure (AMCA report, section on heartbeats; the intervals are a CHOICE).

use super::{Answer, Header, Options};
use layercast_core::contract::{ActionQueue, Send};
use layercast_core::units::{Duration, Size, Time};

/// The interval of heartbeats until a round-trip time is known.
const FIRST_INTERVAL: Duration = Duration::from_ms(200);

/// A node below an active node.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    interval: Duration,
    size: Size,
    next: Option<Time>,
    /// Heartbeats sent since then may still be answered.
    last: Option<Time>,
    rtt: Option<Duration>,
}

impl Caller {
    pub(super) fn new(options: &Options) -> Caller {
        let (interval, size) = (options.report_interval, options.feedback_size);
        Caller { interval, size, next: None, last: None, rtt: None }
    }

    /// The round-trip time to the source.
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// When the next heartbeat is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Sends a heartbeat if it is due. The first is due at once.
    pub(super) fn beat(&mut self, now: Time, actions: &mut ActionQueue<Header>) {
        if self.next.is_none_or(|next| next <= now) {
            actions.send(Send::report(Header::Heartbeat(now), self.size));
            self.last = Some(now);
            let interval = if self.rtt.is_some() { self.interval } else { FIRST_INTERVAL.min(self.interval) };
            self.next = Some(now + interval);
        }
    }

    /// An answer came. One to a heartbeat that was never sent is rejected. Returns whether it is the
    /// first.
    pub(super) fn on_answer(&mut self, now: Time, answer: Answer) -> bool {
        let known = answer.echo <= now && self.last.is_some_and(|last| answer.echo <= last);
        if !known || now.since(answer.echo) > Duration::from_secs(60) || answer.rtt > Duration::from_secs(600)
        {
            return false;
        }
        let sample = answer.rtt + now.since(answer.echo);
        // The weights of RFC 6298, section 2.3.
        let smoothed = self.rtt.map_or(sample, |old| old.scaled(0.875) + sample.scaled(0.125));
        self.rtt.replace(smoothed).is_none()
    }

    /// Stops for good.
    pub(super) fn stop(&mut self) {
        self.next = None;
    }
}
