//! What the receiver decides: steps of the start, and joins and leaves at the source's moments.

use super::{Receiver, Start, Timer};
use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::math::ln;
use layercast_core::units::{Duration, Time};
use layercast_kit::waves::channel_of;

/// How long a step of the start lasts at least: long enough for a few packets.
const SHORTEST_STEP: Duration = Duration::from_ms(50);

/// Packets that a step of the start must have brought before it is judged.
const STEP_PACKETS: u32 = 8;

/// What part of the rate that the source sends must have come for a step to succeed.
const STEP_SHARE: f64 = 0.75;

impl Receiver {
    /// The rate in packets/s that the source sends now on the base and this many waves; none before the first
    /// packet.
    pub(super) fn held_rate(&self, now: Time, waves: u16) -> Option<f64> {
        self.slot.number?;
        let slots = now.since(self.slot.began).as_secs_f64() / self.waves.slot().as_secs_f64();
        Some((self.waves.joined_rate(waves) * self.waves.fallen(slots.min(1.0))).min(self.waves.top_rate()))
    }

    /// How much higher the rate is just after a join than on average, if one wave is joined in each slot.
    fn peak(&self) -> f64 {
        let fall = self.waves.fall();
        -ln(fall) / (1.0 - fall)
    }

    /// Passes the source's moments: called for each packet.
    pub(super) fn on_moment(&mut self, now: Time, phase_us: u32) {
        let moment = (u64::from(phase_us) / self.options.moment().as_us().max(1)) as u32;
        let is_new = moment != self.slot.moment;
        self.slot.moment = moment;
        if is_new && self.options.reports && self.turn.begin_round(&mut self.stream) {
            self.send_report(now);
        }
        if self.start.is_some() {
            self.step(now);
        } else if is_new {
            self.decide(now);
        }
    }

    /// Joins or leaves by the fair rate.
    fn decide(&mut self, now: Time) {
        self.update_fair();
        let peak = self.fair * self.peak();
        let rate_of = |receiver: &Receiver, waves| receiver.held_rate(now, waves).unwrap_or(0.0);
        while self.waves_held() > 0 && rate_of(self, self.waves_held()) > self.options.excess * peak {
            self.release(self.held.len() - 1, true, Cause::RateBelow);
        }
        // A TCP that recovers does not grow either.
        let recovery_ends = self.history.end().plus_us((self.rtt_s() * 1e6) as u64);
        if self.joining.is_some() || now < self.blocked_until || self.last_sent < recovery_ends {
            return;
        }
        let held = self.waves_held();
        let most = 2.0 * rate_of(self, held);
        let mut joins = 0;
        while held + joins < self.waves.active_waves() {
            let next = rate_of(self, held + joins + 1);
            if next > peak || (joins > 0 && next > most) {
                break;
            }
            joins += 1;
        }
        self.join_waves(now, joins, Cause::RateAbove);
    }

    fn join_waves(&mut self, now: Time, count: u16, cause: Cause) {
        let Some(slot) = self.slot.number else { return };
        for _ in 0..count {
            let place = self.waves_held() + 1;
            let channel = channel_of(self.waves.wave_at(slot, place));
            self.join_channel(channel, cause);
        }
        if count > 0 {
            self.joining = Some((now, count));
            let gap_s = self.waves.mean_gap_s(self.waves_held());
            let patience_s = (4.0 * self.rtt_s() + 4.0 * gap_s).max(1.0);
            self.timers.arm(Timer::Join, now + Duration::from_secs_f64(patience_s));
        }
    }

    /// A step of the start, if the last one is complete.
    fn step(&mut self, now: Time) {
        let Some(start) = self.start else { return };
        let round = Duration::from_secs_f64(self.rtt_s()).max(SHORTEST_STEP);
        if self.joining.is_some() || now.since(start.began) < round || start.packets < STEP_PACKETS {
            return;
        }
        let held = self.waves_held();
        let Some(sent) = self.held_rate(now, held) else { return };
        let received = f64::from(start.packets) / now.since(start.began).as_secs_f64();
        let stands = self.delay.take_lowest_s() > self.options.start_delay.as_secs_f64();
        let is_queueing = self.options.delay_start && start.step > 0 && stands;
        if is_queueing || received < STEP_SHARE * sent {
            return self.end_start(received.min(sent));
        }
        let most = self.options.start_factor * sent;
        let mut joins = 0;
        while held + joins < self.waves.active_waves()
            && (joins == 0 || self.held_rate(now, held + joins + 1).unwrap_or(0.0) <= most)
        {
            joins += 1;
        }
        self.start = Some(Start { step: joins, packets: 0, began: now });
        self.join_waves(now, joins, Cause::SlowStart);
    }

    /// The start is over: the last step is undone, and the history begins at the rate that came.
    pub(super) fn end_start(&mut self, packets_per_s: f64) {
        let Some(start) = self.start.take() else { return };
        let floor = self.waves.joined_rate(0);
        self.actions.trace(TraceEvent::SlowStartEnded { level: self.level() });
        self.is_undoing = start.step > 0;
        for _ in 0..start.step.min(self.waves_held()) {
            self.release(self.held.len() - 1, true, Cause::Loss);
        }
        let (rate, rtt_s) = (packets_per_s.max(floor), self.rtt_s());
        let p = self.options.fair_to.events_a_packet(rate, rtt_s);
        // Losses of the step that are known later belong to the event that is planted.
        let end = self.last_sent.plus_us((rtt_s * 1e6) as u64);
        self.history.reset(end, 1.0 / (p * rate), rtt_s);
        self.update_fair();
    }
}
