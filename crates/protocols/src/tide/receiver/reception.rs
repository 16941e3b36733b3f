//! What the receiver measures: packets, losses, delays, the source's slots.

use super::{Interval, LATE_LIMIT, Receiver, Slot};
use crate::tide::ENOUGH;
use crate::tide::emulated::equation;
use crate::tide::header::{Base, Data, Header};
use crate::tide::train::{follows, longest_gap_s};
use layercast_core::cannot_be;
use layercast_core::contract::{Arrival, Cause, Ecn, Origin, TraceEvent};
use layercast_core::units::{Duration, Layer, Time, WireSeq};
use layercast_kit::estimator::{ArrivalClass, ClockReading, Packet, SendTime, rtt_sample};
use layercast_kit::waves::{BASE, starts_slot};

/// The part of the packets between two decision points from which on their loss shows that the queue was offered too much.
const OVERLOAD: f64 = 0.05;

/// The rate that a TCP had before the overload, over what came in it.
const BEFORE_OVERLOAD: f64 = 1.4;

/// What remains at a decision point of the highest rate that came before.
const FADING: f64 = 0.5;

/// The loss rate up to which random losses count.
const RANDOM_LOSS: f64 = 0.02;

/// The decision point of a slot of which none has passed.
const NO_DECISION_POINT: u32 = u32::MAX;

/// Packets that end the session.
const ENDS: u32 = 2;

impl Receiver {
    pub(super) fn on_data(&mut self, now: Time, arrival: &Arrival<Header>, header: Data) {
        let is_ours = header.cycle == self.waves.cycle() && header.slot < header.cycle;
        if arrival.origin != Origin::Channel(header.channel) || !is_ours {
            return;
        }
        if header.end_of_session {
            return self.on_end(header);
        }
        // A packet that still arrives after a leave does not count.
        if !self.held.iter().any(|held| held.channel == header.channel) {
            return;
        }
        let sent = match self.clock.read(header.sent_us, now) {
            ClockReading::At(sent) => sent,
            ClockReading::Restarted(sent) => {
                self.delay.restart();
                self.last_sent = sent;
                if self.fair.is_finite() {
                    self.begin_history(self.fair);
                }
                sent
            }
            ClockReading::Suspect => return,
        };
        (self.last_packet, self.last_sent) = (now, self.last_sent.max(sent));
        self.delay.on_packet(sent, now);
        self.history.elapse(self.last_sent, self.rtt_s());
        self.on_slot(now, header);
        let Some(place) = self.held.iter().position(|held| held.channel == header.channel) else { return };
        self.on_come(now, place);
        self.count(now, place, header.number, sent, arrival.ecn);
        if let Some(base) = header.base {
            self.trains.on_packet(header.number, sent, now);
            self.on_base(now, base);
        }
        self.on_decision_point(now, header.phase_us);
    }

    /// The session is over when the base channel says so.
    fn on_end(&mut self, header: Data) {
        if header.channel != BASE {
            return;
        }
        self.ends += 1;
        if self.ends >= ENDS {
            self.actions.trace(TraceEvent::SessionEnded);
            self.finish(Cause::SessionEnd);
        }
    }

    /// The source's slot: waves that have ended are left.
    fn on_slot(&mut self, now: Time, header: Data) {
        let began = now - Duration::from_us(u64::from(header.phase_us)).min(self.waves.slot());
        let Some(number) = self.slot.number else {
            (self.slot.number, self.slot.began) = (Some(header.slot), began);
            return;
        };
        let ended = starts_slot(&self.waves, number, header.slot, now.since(self.slot.began));
        let Some((ahead, _)) = ended else { return };
        self.slot = Slot { number: Some(header.slot), began, decision_point: NO_DECISION_POINT };
        for _ in 0..ahead.min(self.waves_held()) {
            self.release(1, true, Cause::WaveEnded);
        }
    }

    fn on_base(&mut self, now: Time, base: Base) {
        self.turn.announced(base.suppression);
        let Some(echo) = base.echo.filter(|echo| echo.receiver == self.id) else { return };
        if let Some(rtt) = rtt_sample(now.as_wire_us(), echo.timestamp_us, echo.hold_us) {
            self.echoes += 1;
            self.rtt.echo(rtt.as_secs_f64(), self.delay.last_s());
        }
    }

    /// A channel has come, and with it those below. The newest of those that were joined together gives a round-trip time.
    fn on_come(&mut self, now: Time, place: usize) {
        let since_of = |place: usize| self.held.get(place).and_then(|held| held.coming_since);
        let Some(since) = since_of(place) else { return };
        let is_newest = since_of(place + 1) != Some(since);
        let is_last = place + 1 == self.held.len();
        self.held.iter_mut().take(place + 1).for_each(|held| held.coming_since = None);
        self.arm_join_timer();
        if !is_newest {
            return;
        }
        let mean_gap_s = self.waves.mean_gap_s(place as u16);
        let gap_s = if place == 0 { longest_gap_s(mean_gap_s) } else { mean_gap_s };
        self.rtt.sample(now.since(since).as_secs_f64(), gap_s, self.delay.last_s());
        if place == 0 && self.start.is_some() {
            let rtt = Duration::from_secs_f64(self.empty_rtt_s());
            self.actions.trace(TraceEvent::FirstRoundTrip { rtt });
        }
        if !is_last {
            return;
        }
        self.delay.take_lowest_s();
        let rate = self.held_rate(now);
        if let Some(start) = &mut self.start {
            (start.began, start.packets, start.rate) = (now, 0, rate);
        }
    }

    /// Counts a packet, and the losses that it reveals.
    fn count(&mut self, now: Time, place: usize, number: u32, sent: SendTime, ecn: Ecn) {
        let Some(held) = self.held.get_mut(place) else {
            return cannot_be("the place was found among the channels held");
        };
        let layer = Layer(held.channel.0);
        let mut losses = Losses::default();
        let (seq, class) = held.tracker.on_packet(WireSeq(number), sent, now, |lost| losses.add(lost));
        self.on_losses(now, losses);
        if class == ArrivalClass::Resynchronised {
            self.actions.trace(TraceEvent::Resynchronised { layer });
        }
        if class.counts() {
            if let Some((window, _)) = &mut self.scalable {
                window.on_packet(ecn == Ecn::Marked);
            } else if ecn == Ecn::Marked {
                let mut marks = Losses::default();
                marks.add(&Packet { layer, seq, sent });
                self.on_losses(now, marks);
            }
            self.interval.received += 1;
            if let Some(start) = &mut self.start {
                start.packets += 1;
            }
        }
        self.arm_hole_timer();
    }

    pub(super) fn expire_holes(&mut self, now: Time) {
        let mut losses = Losses::default();
        for held in &mut self.held {
            held.tracker.expire(now, LATE_LIMIT, |lost| losses.add(lost));
        }
        self.on_losses(now, losses);
        self.arm_hole_timer();
    }

    /// Packets are lost.
    fn on_losses(&mut self, now: Time, losses: Losses) {
        let Some(first) = losses.first else { return };
        if let Some(start) = self.start {
            let passed_s = now.since(start.began).as_secs_f64();
            // Too short a step shows nothing: what came before it did.
            let rate = if start.packets >= ENOUGH && passed_s > self.rtt_s() {
                (f64::from(start.packets) / passed_s).min(self.held_rate(now))
            } else {
                self.rate_of(now, self.waves_held().saturating_sub(start.step), 0.0)
            };
            self.end_start(now, rate);
            if !start.is_probe || start.successes > 0 {
                self.actions.trace(TraceEvent::LossEvent { layer: first.layer, first_lost: first.seq });
                return;
            }
        }
        self.lost += u64::from(losses.count);
        self.interval.lost += losses.count;
        let delay_s = self.delay.last_s();
        // That of a packet just after the one lost: a TCP takes the losses of its next window for the same event.
        let rtt_s = self.rtt_s().max(self.empty_rtt_s() + delay_s);
        let is_just_over = first.sent < self.history.end().plus_us((rtt_s * 1e6) as u64);
        let overflow_lasts = is_just_over && self.full_queue.is_full(delay_s);
        // Waves that the start left may still come: while they fill the queue, its end is not over.
        if now < self.leaving_until && overflow_lasts {
            return self.history.postpone(first.sent.plus_us((rtt_s * 1e6) as u64));
        }
        if self.history.on_loss(first.sent, losses.count, rtt_s, self.held_rate(now) * rtt_s) {
            self.leaving_until = now;
            self.periods += 1;
            self.actions.trace(TraceEvent::LossEvent { layer: first.layer, first_lost: first.seq });
            if overflow_lasts {
                self.on_lasting_overflow();
            }
            self.full_queue.on_loss(delay_s);
        }
    }

    /// An overflow lasts for more than a round-trip time. Alone on a link that is too fast for trains to show its rate, only the
    /// receiver ends it, and a decision point is many events of an emulated TCP away.
    fn on_lasting_overflow(&mut self) {
        let can_leave = self.start.is_none() && self.coming().is_none() && self.waves_held() > 0;
        if can_leave && self.trains.is_too_fast() && !self.interval.has_left {
            self.interval.has_left = true;
            self.leave_highest(Cause::Loss);
        }
    }

    /// The fair rate of now.
    pub(super) fn update_fair(&mut self) {
        let since_us = self.last_sent.as_us().saturating_sub(self.history.end().as_us());
        let fair = self.history.fair_rate(since_us as f64 * 1e-6, self.smooth_rtt_s);
        let most = self.trains.rate().unwrap_or(f64::INFINITY);
        let least = if self.full_queue.is_random() {
            let rtt_s = self.rtt_s().max(self.options.assumed_rtt.as_secs_f64());
            equation(self.options.fair_to, RANDOM_LOSS, rtt_s)
        } else {
            0.0
        };
        let fair = fair.max(least);
        self.is_one_share = fair > most;
        self.fair = fair.min(most).min(self.scalable_rate());
    }

    /// A decision point has passed: if the queue is full and many packets were lost since the last one, what came is what the
    /// bottleneck carries. The history does not say so for as many events as are remembered: it begins again.
    pub(super) fn check_overload(&mut self, now: Time) {
        let next = Interval { began: now, ..Interval::default() };
        let Interval { began, received, lost, .. } = core::mem::replace(&mut self.interval, next);
        let passed_s = now.since(began).as_secs_f64();
        if passed_s <= 0.0 {
            return;
        }
        // In one interval less may come because a host was busy.
        self.came = (f64::from(received) / passed_s).max(FADING * self.came);
        let is_much = lost >= ENOUGH && f64::from(lost) > OVERLOAD * f64::from(received + lost);
        if self.start.is_some() || !is_much || !self.full_queue.is_full(self.delay.last_s()) {
            return;
        }
        let rate = BEFORE_OVERLOAD * self.came;
        if rate < self.fair {
            self.begin_history(rate);
        }
    }

    /// The rate of a TCP that responds to the fraction of marks; without limit if that does not count.
    fn scalable_rate(&mut self) -> f64 {
        let rtt_s = self.smooth_rtt_s;
        let Some((window, updated)) = &mut self.scalable else { return f64::INFINITY };
        let rounds = self.last_sent.as_us().saturating_sub(updated.as_us()) as f64 * 1e-6 / rtt_s;
        *updated = self.last_sent;
        window.update(rounds) / rtt_s
    }
}

/// Losses that one input revealed.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    count: u32,
    first: Option<Packet>,
}

impl Losses {
    fn add(&mut self, lost: &Packet) {
        // A train makes the queue longer before its own packets.
        if lost.layer.0 == BASE.0 && follows(lost.seq.0 as u32) {
            return;
        }
        self.count += 1;
        self.first = self.first.or(Some(*lost));
    }
}
