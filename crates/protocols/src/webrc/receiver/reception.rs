//! How a receiver processes packets: the slot, losses, and the first packet after a join.

use super::losses::Losses;
use super::{Path, Receiver, Timer};
use crate::webrc::Header;
use crate::webrc::artt::RoundTripFilter;
use crate::webrc::decision::jump_limit;
use crate::webrc::equation::fair_loss;
use crate::webrc::loss_filter::LossFilter;
use crate::webrc::rates::Rates;
use layercast_core::cannot_be;
use layercast_core::contract::{Arrival, Cause, Origin, TraceEvent};
use layercast_core::units::{Duration, Layer, Time};
use layercast_kit::estimator::{ArrivalClass, SendTime};
use layercast_kit::waves::BASE;
use layercast_kit::waves::{Departures, starts_slot};

/// An impossible slot is accepted when this many packets in a row carry it (this
/// project's guard against forgery).
const PROOFS: u32 = 3;

/// This many end packets are accepted as the end (this project's guard against a damaged or forged one).
const ENDS: u32 = 2;

impl Receiver {
    pub(super) fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let header = arrival.header;
        let is_ours = header.cycle == self.waves.cycle() && header.slot < header.cycle;
        // A packet on another channel than its header says, or of a session with another number of waves.
        if arrival.origin != Origin::Channel(header.channel) || !is_ours {
            return;
        }
        if header.end_of_session {
            self.on_end(header);
            return;
        }
        // A packet that still arrives after a leave does not count.
        if !self.held.iter().any(|held| held.channel == header.channel) {
            return;
        }
        self.last_packet = now;
        if self.path.is_none() {
            self.begin(now, header);
        }
        self.on_slot(now, header.slot);
        let Some(place) = self.held.iter().position(|held| held.channel == header.channel) else { return };
        if place > 0 && place + 1 == self.held.len() {
            self.on_newest(now);
        }
        self.count(now, place, header.number);
    }

    /// The session is over when the base channel says so.
    fn on_end(&mut self, header: Header) {
        if header.channel != BASE {
            return;
        }
        self.ends += 1;
        if self.ends >= ENDS {
            self.actions.trace(TraceEvent::SessionEnded);
            self.finish(Cause::SessionEnd);
        }
    }

    /// The first packet of the base channel (RFC 3738, sections 3.2.2.2 and 3.2.2.5).
    fn begin(&mut self, now: Time, header: Header) {
        let place = header.number % self.waves.base_packets();
        let delay = now.since(self.entered);
        let rates = Rates::new(&self.waves, &self.options, place);
        self.actions.trace(TraceEvent::FirstRoundTrip { rtt: delay });
        let began = now - Departures::new(&self.waves).base_departure(place);
        self.path = Some(Path {
            slot: (header.slot, began),
            doubted: (header.slot, 0),
            epoch_began: now,
            epoch_packets: (0, 0),
            received: (0.0, 0.0),
            target: rates.true_rate,
            rates,
            rtt: RoundTripFilter::new(self.options.alpha, self.options.fall, delay.as_secs_f64()),
            loss: LossFilter::new(&self.options),
            event_until: Time::ZERO,
            slow_start: None,
            joining_since: None,
            newest_first_packet: now,
            last_delay_s: None,
            blocked_until: Time::ZERO,
            alone: (0, 0),
        });
        self.timers.arm(Timer::Epoch, now + self.options.epoch());
    }

    /// The slot of a packet (RFC 3738, section 3.2.3.3).
    fn on_slot(&mut self, now: Time, slot: u16) {
        let Some(path) = &mut self.path else { return cannot_be("the first packet has begun the path") };
        let Some((ahead, plausible)) = starts_slot(&self.waves, path.slot.0, slot, now.since(path.slot.1))
        else {
            path.doubted.1 = 0;
            return;
        };
        if !plausible {
            let again = if path.doubted.0 == slot { path.doubted.1 + 1 } else { 1 };
            path.doubted = (slot, again);
            if again < PROOFS {
                return;
            }
        }
        path.doubted.1 = 0;
        path.slot = (slot, now);
        self.timers.arm(Timer::Slot, now + self.slot_silence());
        for _ in 0..ahead {
            self.end_slot();
        }
        self.check_base(now);
    }

    /// The lowest wave has ended, if one is held.
    fn end_slot(&mut self) {
        let held = self.waves_held();
        if let Some(path) = &mut self.path {
            path.rates.end_slot(&self.waves, held);
            if held == 1 {
                path.joining_since = None;
                self.timers.disarm(Timer::Join);
            }
        }
        self.release(1, true, Cause::WaveEnded);
    }

    /// A receiver that loses much of the base channel alone should leave (RFC 3738, section 3.2.1).
    fn check_base(&mut self, now: Time) {
        let Some(path) = &mut self.path else { return cannot_be("the first packet has begun the path") };
        let (received, lost) = path.alone;
        if received + lost < 2 * self.waves.base_packets() {
            return;
        }
        path.alone = (0, 0);
        if f64::from(lost) > self.options.base_loss_limit * f64::from(received + lost) {
            self.go_out(now, Cause::Loss);
        }
    }

    /// A packet of the newest wave: the first one ends the join (RFC 3738, section 3.2.3.2).
    fn on_newest(&mut self, now: Time) {
        let held = self.waves_held();
        let Some(path) = &mut self.path else { return cannot_be("waves are held after the first packet") };
        let Some(joined) = path.joining_since.take() else { return };
        self.timers.disarm(Timer::Join);
        path.newest_first_packet = now;
        let delay_s = now.since(joined).as_secs_f64();
        path.rtt.update(delay_s - self.waves.first_packet_delay_s(held));
        let before_s = path.last_delay_s.replace(delay_s);
        let jumped = before_s.is_some_and(|before_s| {
            delay_s - before_s > jump_limit(&self.waves, held, path.rates.anticipated)
        });
        if jumped && path.slow_start.is_none() {
            let rate = self.waves.fall() * path.rates.true_rate;
            self.end_start_up(rate);
        }
    }

    /// Counts a packet, and the losses that it reveals.
    fn count(&mut self, now: Time, place: usize, number: u32) {
        let Some(held) = self.held.get_mut(place) else {
            return cannot_be("the place was found among the channels held");
        };
        let (wire, channel) = (held.unwrapped(number), held.channel);
        let mut losses = Losses::default();
        let (_, class) = held.tracker.on_packet(wire, SendTime::from(now), now, |lost| losses.add(lost));
        self.on_losses(now, losses);
        if class == ArrivalClass::Resynchronised {
            self.actions.trace(TraceEvent::Resynchronised { layer: Layer(channel.0) });
        }
        if let Some(path) = self.path.as_mut().filter(|_| class.counts()) {
            path.loss.on_packet();
            path.epoch_packets.0 += 1;
            if self.held.len() == 1 {
                path.alone.0 += 1;
            }
        }
        self.arm_hole_timer();
    }

    /// Packets are lost (RFC 3738, section 3.2.3.4).
    pub(super) fn on_losses(&mut self, now: Time, losses: Losses) {
        let floor = self.slow_start_floor();
        let Some((layer, first_lost)) = losses.first else { return };
        let Some(path) = &mut self.path else {
            return cannot_be("a loss shows by packets, the first of which began the path");
        };
        path.epoch_packets.1 += losses.count;
        if self.held.len() == 1 {
            path.alone.1 += losses.on_base;
        }
        let begins = now >= path.event_until;
        for index in 0..losses.count {
            path.loss.on_packet();
            if begins && index == 0 {
                path.loss.on_event();
            }
        }
        if !begins {
            return;
        }
        path.event_until = now + Duration::from_secs_f64(path.rtt.average_s());
        self.actions.trace(TraceEvent::LossEvent { layer, first_lost });
        let rate = self.waves.fall() * path.rates.true_rate;
        if path.slow_start.is_some() {
            path.slow_start = Some(rate.max(floor));
        } else {
            self.end_start_up(rate);
        }
    }

    /// The smallest slow start rate (SSMINR_P).
    fn slow_start_floor(&self) -> f64 {
        let own = self.options.slow_start_floor;
        if own > 0.0 { own } else { self.waves.slow_start_floor() }
    }

    /// Start-up is over, with this as slow start rate: from now on the equation decides, and it begins
    /// at the present rate (RFC 3738, section 3.2.2.6).
    pub(super) fn end_start_up(&mut self, slow_start: f64) {
        let (floor, level) = (self.slow_start_floor(), self.level());
        let Some(path) = &mut self.path else { return cannot_be("start-up ends on a path") };
        path.slow_start = Some(slow_start.max(floor));
        path.loss.reset(fair_loss(self.options.fair_to, path.rates.true_rate, path.rtt.average_s()));
        self.actions.trace(TraceEvent::SlowStartEnded { level });
    }
}
