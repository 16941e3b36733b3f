//! What the receiver decides: steps of the start, and joins and leaves at the source's decision points.

use super::{Receiver, Start};
use crate::tide::ENOUGH;
use crate::tide::emulated::events_a_packet;
use crate::tide::full_queue::EMPTY_S;
use crate::tide::options::Marks;
use crate::tide::requirements::DECISION_POINTS;
use crate::tide::scalable::Scalable;
use layercast_core::cannot_be;
use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::math::{floor, ln, sqrt};
use layercast_core::units::{Duration, Time};
use layercast_kit::response::MAX_PACKETS_PER_S;
use layercast_kit::waves::channel_of;

/// How long a step of the start lasts at least: long enough for a few packets.
const SHORTEST_STEP: Duration = Duration::from_ms(50);

/// Packets a round-trip time to which the first step of the start may go (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;

/// How much above its peak at the fair rate the held rate may be before the newest wave is left: rates fall by themselves.
const EXCESS: f64 = 1.5;

/// What part of a slot a recovery may take: joins have to follow the waves on long paths too.
const LONGEST_RECOVERY: f64 = 0.25;

/// The part of a slot at which it is over: the next packet says so.
const IN_SLOT: f64 = 0.999;

/// What part of the rate that the source sends must have come for a step to succeed.
const STEP_SHARE: f64 = 0.75;

/// What a join can add.
struct AfterJoin {
    /// The waves of now that are held, or will have ended when its packets come.
    lowest: u16,
    /// How many more the source sends then.
    room: u16,
    /// How many of the waves of now will have ended then.
    ended: u16,
}

impl Receiver {
    /// The rate in packets/s that the source sends now on the base and the waves that have come.
    pub(super) fn held_rate(&self, now: Time) -> f64 {
        let come = self.coming().map_or(self.waves_held(), |(place, _)| place as u16 - 1);
        self.rate_of(now, come, 0.0)
    }

    /// The rate in packets/s of the base and this many waves of now, `ahead_s` seconds later; 0 before the first packet.
    pub(super) fn rate_of(&self, now: Time, waves: u16, ahead_s: f64) -> f64 {
        if self.slot.number.is_none() {
            return 0.0;
        }
        let slots = self.slots_at(now, ahead_s);
        let left = waves.saturating_sub(slots as u16);
        (self.waves.joined_rate(left) * self.waves.fallen(slots - floor(slots))).min(self.waves.top_rate())
    }

    /// How many slots will have passed in `ahead_s` seconds since the present one began. It is over when a packet says so.
    fn slots_at(&self, now: Time, ahead_s: f64) -> f64 {
        let slot_s = self.waves.slot().as_secs_f64();
        (now.since(self.slot.began).as_secs_f64() / slot_s).min(IN_SLOT) + ahead_s / slot_s
    }

    /// What a join can add, as its packets come a round-trip time later.
    fn after_join(&self, now: Time) -> AfterJoin {
        let ended = (self.slots_at(now, self.rtt_s()) as u16).min(self.waves.silent_slots());
        let lowest = self.waves_held().max(ended);
        let room = (self.waves.active_waves() + ended).saturating_sub(lowest);
        AfterJoin { lowest, room, ended }
    }

    /// How many waves above the lowest bring the rate to `most` packets/s at most when their packets come.
    fn joins_up_to(&self, now: Time, most: f64) -> u16 {
        let (AfterJoin { lowest, room, .. }, ahead_s) = (self.after_join(now), self.rtt_s());
        (0..room).find(|more| self.rate_of(now, lowest + more + 1, ahead_s) > most).unwrap_or(room)
    }

    /// How much higher the rate is just after a join than on average, if one wave is joined in each slot.
    fn peak(&self) -> f64 {
        let fall = self.waves.fall();
        -ln(fall) / (1.0 - fall)
    }

    /// The rate to which a join may go, in packets/s, if nobody else uses the path: until it has fallen to what trains show, it
    /// fills half of the queue. There is no limit before a loss has shown how long that is.
    fn without_loss(&self) -> f64 {
        let slots = self.full_queue.full_s() / self.waves.slot().as_secs_f64();
        match self.trains.rate() {
            Some(share) if slots > 0.0 => share * (1.0 + sqrt(-ln(self.waves.fall()) * slots)),
            _ => f64::INFINITY,
        }
    }

    /// Passes the source's decision points: called for each packet.
    pub(super) fn on_decision_point(&mut self, now: Time, phase_us: u32) {
        let point = (u64::from(phase_us) / self.options.decision_interval().as_us().max(1)) as u32;
        let is_new = point != self.slot.decision_point;
        self.slot.decision_point = point;
        if is_new {
            self.check_overload(now);
            self.smooth_rtt();
            self.probe_bandwidth(now);
        }
        if is_new && self.options.reports && self.turn.begin_round(&mut self.stream) {
            self.send_report(now);
        }
        if self.start.is_some() {
            self.step(now);
        } else if is_new {
            self.decide(now);
        }
    }

    /// The round-trip time of the last two slots. A shorter time would make sessions swing with the queue that they
    /// fill together.
    fn smooth_rtt(&mut self) {
        let weight = 0.5 / DECISION_POINTS as f64;
        self.smooth_rtt_s = 1.0 / ((1.0 - weight) / self.smooth_rtt_s + weight / self.rtt_s());
    }

    /// Joins or leaves by the fair rate.
    fn decide(&mut self, now: Time) {
        self.update_fair();
        let peak = self.fair * self.peak();
        while self.waves_held() > 0 && self.held_rate(now) > EXCESS * peak {
            self.leave_highest(Cause::RateBelow);
        }
        // A TCP that recovers does not grow either.
        let recovery_s = self.rtt_s().min(LONGEST_RECOVERY * self.waves.slot().as_secs_f64());
        let recovery_ends = self.history.end().plus_us((recovery_s * 1e6) as u64);
        if now < self.blocked_until || self.last_sent < recovery_ends {
            return;
        }
        let least = u16::from(self.coming().is_none());
        let twice = self.joins_up_to(now, 2.0 * self.held_rate(now)).max(least);
        let joins = self.joins_up_to(now, peak.min(self.without_loss())).min(twice);
        self.join_waves(now, joins, Cause::RateAbove);
    }

    /// Joins waves above the lowest, as many as there are.
    fn join_waves(&mut self, now: Time, more: u16, cause: Cause) {
        let Some(slot) = self.slot.number else {
            return cannot_be("a packet, which names the slot, precedes each decision");
        };
        let AfterJoin { lowest, room, .. } = self.after_join(now);
        if more.min(room) == 0 {
            return;
        }
        let count = lowest + more.min(room) - self.waves_held();
        for _ in 0..count {
            let place = self.waves_held() + 1;
            let channel = channel_of(self.waves.wave_at(slot, place));
            self.join_channel(now, channel, cause);
        }
        self.arm_join_timer();
    }

    /// A step of the start, if the last one is complete.
    fn step(&mut self, now: Time) {
        let Some(start) = self.start else { return cannot_be("steps belong to a start") };
        let round = Duration::from_secs_f64(self.rtt_s()).max(SHORTEST_STEP);
        // A round of slow start takes a round-trip time, in which the join is answered.
        let from = if start.is_probe { start.began } else { start.joined };
        let is_early = now.since(from) < round || now.since(start.began) < SHORTEST_STEP;
        if self.coming().is_some() || is_early || start.packets < ENOUGH {
            return;
        }
        let sent = self.held_rate(now);
        let received = f64::from(start.packets) / now.since(start.began).as_secs_f64();
        let stands = start.is_probe && start.step > 0 && self.delay.take_lowest_s() > EMPTY_S;
        if received < STEP_SHARE * sent || stands {
            return self.end_start(now, received.min(sent));
        }
        let before = start.rate.max(sent);
        // As TCP's slow start, of which the first step goes as far as its initial window; a probe grows by a wave.
        let most = match start {
            Start { is_probe: true, .. } => sent / self.waves.fall(),
            Start { successes: 0, step: 0, .. } => (INITIAL_WINDOW / self.rtt_s()).max(2.0 * before),
            _ => 2.0 * before,
        };
        let AfterJoin { lowest, room, ended } = self.after_join(now);
        // As many waves as now, and one more, when the packets come.
        let least = match start.is_probe {
            true => self.joins_up_to(now, sent) + 1,
            false => self.waves_held() + ended + 1 - lowest,
        };
        let joins = self.joins_up_to(now, most).max(least).min(room);
        let successes = start.successes + u32::from(start.step > 0);
        self.start =
            Some(Start { step: joins, packets: 0, joined: now, began: now, successes, before, ..start });
        self.join_waves(now, joins, Cause::SlowStart);
    }

    /// How long there must be no loss before a bandwidth probe. A TCP at the fair rate goes without an event for long where its
    /// window is large, or where others leave the path empty.
    fn quiet(&self) -> Duration {
        let fair = self.fair.min(MAX_PACKETS_PER_S);
        let interval_s = 1.0 / (fair * events_a_packet(self.options.fair_to, fair, self.smooth_rtt_s));
        // Random losses leave twice the time between two events free once in seven.
        Duration::from_secs_f64(2.0 * interval_s).max(self.waves.slot())
    }

    /// A decision point passes: if there was no loss and no queue for long, the receiver probes for more bandwidth.
    pub(super) fn probe_bandwidth(&mut self, now: Time) {
        let was_empty = self.delay.take_highest_s() < EMPTY_S;
        let since_loss_us = self.last_sent.as_us().saturating_sub(self.history.end().as_us());
        if !was_empty || since_loss_us < self.quiet().as_us() {
            self.next_probe = self.next_probe.max(now + self.waves.slot());
        }
        // Marks that come before a queue stands show better than a probe whether there is more, and so do trains where
        // each channel has a queue.
        let is_known = self.scalable.is_some() || self.is_one_share;
        let waits = self.start.is_some() || now < self.next_probe;
        if waits || is_known || self.fair.is_infinite() {
            return;
        }
        self.delay.take_lowest_s();
        self.start = Some(Start::new(now, self.held_rate(now), true));
    }

    /// The start is over: the last step is undone, and the history begins at the rate that came.
    pub(super) fn end_start(&mut self, now: Time, packets_per_s: f64) {
        let Some(start) = self.start.take() else { return cannot_be("what ends is a start") };
        self.actions.trace(TraceEvent::SlowStartEnded { level: self.level() });
        if start.step > 0 {
            self.leaving_until = now + self.options.leave_bound;
        }
        // What came is less than before where the path was full already.
        let most = start.before.min(packets_per_s);
        for _ in 0..start.step.max(1).min(self.waves_held()) {
            if self.rate_of(now, self.waves_held(), self.rtt_s()) <= most {
                break;
            }
            self.leave_highest(Cause::Loss);
        }
        if start.is_probe {
            self.next_probe = now + self.waves.slot();
            if start.successes == 0 {
                return;
            }
        }
        // The rate just after a join shall be the one that came.
        self.begin_history(packets_per_s / self.peak());
    }

    /// The history begins at a rate that is known, in packets/s.
    pub(super) fn begin_history(&mut self, packets_per_s: f64) {
        // After a start or a change the moving mean is still far from the path's time, which it will soon have: the window is that of
        // the present time at least.
        self.smooth_rtt_s = self.smooth_rtt_s.max(self.rtt_s());
        let rate = packets_per_s.max(self.waves.joined_rate(0) / self.peak());
        // Losses that are known later belong to what ended.
        let end = self.last_sent.plus_us((self.rtt_s() * 1e6) as u64);
        self.history.begin(end, rate, self.smooth_rtt_s);
        if self.options.marks == Marks::Fraction {
            self.scalable = Some((Scalable::new(rate * self.smooth_rtt_s), self.last_sent));
        }
        self.update_fair();
    }
}
