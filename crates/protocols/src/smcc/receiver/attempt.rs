//! An attempt to join the layer above: counting layers increase the rate by one unit per step, until it
//! is that of the layer above.

use super::Receiver;
use crate::smcc::counting::CountingSet;
use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::units::{Duration, Layer, Level, Rate, RateEstimate, Time};

/// The shortest time between two steps, so that no round-trip time can stall a host.
const MIN_STEP: Duration = Duration::from_ms(1);

/// An attempt in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// The layer below the boundary.
    pub(super) layer: Layer,
    /// The counting layers held.
    pub(super) held: CountingSet,
    pub(super) next_step: Time,
}

/// The outcome of a step of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    GoesOn,
    Joins,
    Fails,
}

impl Receiver {
    /// Begins an attempt from the highest layer held.
    pub(super) fn begin_attempt(&mut self, now: Time, layer: Layer) {
        self.attempt = Some(Attempt { layer, held: CountingSet::EMPTY, next_step: now });
    }

    /// The rate that counting layers add to the layers held.
    fn counted(&self) -> Rate {
        let steps = self.attempt.map_or(0, |attempt| attempt.held.units());
        self.structure.unit().scaled(f64::from(steps))
    }

    /// The time of a step. Counting layers add a packet per `counting_round_trip`; TCP adds one per
    /// round-trip time R in each R. So a step takes R^2 over that time where R is longer, and R where it is
    /// shorter.
    fn step_time(&self) -> Duration {
        let (rtt, unit) = (self.reception.rtt_in_use(), self.counting_round_trip);
        rtt.max(rtt.scaled(rtt.as_secs_f64() / unit.as_secs_f64())).max(MIN_STEP)
    }

    /// Performs the steps that are due.
    pub(super) fn step_attempt(&mut self, now: Time) {
        while let Some(attempt) = self.attempt.filter(|attempt| attempt.next_step <= now) {
            match self.outcome(attempt, false) {
                Outcome::GoesOn => {
                    let next = CountingSet::at_step(attempt.held.units() + 1);
                    let next_step = now + self.step_time();
                    self.set_counting_layers(&attempt, next);
                    self.attempt = Some(Attempt { held: next, next_step, ..attempt });
                }
                outcome => self.end_attempt(now, outcome == Outcome::Joins),
            }
        }
    }

    /// Packets were lost, for the first time in a round-trip time.
    pub(super) fn loss_in_attempt(&mut self, now: Time) {
        let Some(attempt) = self.attempt else { return };
        match self.outcome(attempt, true) {
            Outcome::GoesOn => {}
            outcome => self.end_attempt(now, outcome == Outcome::Joins),
        }
    }

    /// An attempt succeeds once the rate is that of the layer above, and fails once the fair rate is below
    /// the minimum of that layer. If losses show a fair rate between these two, the attempt has shown that
    /// this receiver belongs to the layer above, which is too fast only because no receiver limits it there.
    fn outcome(&self, attempt: Attempt, lost: bool) -> Outcome {
        let own = Rate::from_bytes_per_s(self.reception.sent_rate());
        let above = self.above.unwrap_or(Rate::ZERO);
        match self.estimate() {
            RateEstimate::Known(fair) if fair < self.structure.low(attempt.layer.above()) => Outcome::Fails,
            RateEstimate::Unknown => Outcome::Fails,
            RateEstimate::Known(fair) if lost && fair < own + self.counted() => Outcome::Joins,
            _ if attempt.held.units() >= self.structure.most_steps(attempt.layer) => Outcome::Joins,
            _ if !lost && own + self.counted() >= above => Outcome::Joins,
            _ => Outcome::GoesOn,
        }
    }

    /// Joins and leaves counting layers to hold those of `next`.
    fn set_counting_layers(&mut self, attempt: &Attempt, next: CountingSet) {
        for place in attempt.held.without(next).places() {
            if let Some(channel) = self.structure.counting_channel(attempt.layer, place) {
                self.actions.leave(channel);
            }
        }
        for place in next.without(attempt.held).places() {
            if let Some(channel) = self.structure.counting_channel(attempt.layer, place) {
                self.reception.reset_stream(self.counting_stream(place));
                self.actions.join(channel);
            }
        }
    }

    /// Ends the attempt, if there is one. The layer above replaces the counting layers, or
    /// the next attempt is delayed.
    pub(super) fn end_attempt(&mut self, now: Time, joins: bool) {
        let Some(attempt) = self.attempt.take() else { return };
        let to = Level::up_to(attempt.layer.above());
        self.joins.attempts += 1;
        self.actions.trace(TraceEvent::JoinAttempt { to, joined: joins });
        if joins {
            self.joins.joined += 1;
            self.set_level(now, to, Cause::RateAbove);
            self.back_off.joined(now);
        } else {
            self.back_off.failed(now);
        }
        self.set_counting_layers(&attempt, CountingSet::EMPTY);
    }

    /// A counting layer could not be joined.
    pub(super) fn counting_join_failed(&mut self, now: Time, place: u32) {
        if let Some(attempt) = &mut self.attempt {
            attempt.held = attempt.held.without(CountingSet(1u32.checked_shl(place).unwrap_or(0)));
            self.end_attempt(now, false);
        }
    }

    /// The index of a counting layer in the table of streams, after the layers.
    pub(super) fn counting_stream(&self, place: u32) -> Layer {
        Layer(self.structure.layer_count() + place as u16)
    }
}
