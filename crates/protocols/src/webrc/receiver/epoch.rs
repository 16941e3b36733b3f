//! The end of an epoch: rates, the target, and whether to join.

use super::{Path, Receiver, Timer};
use crate::webrc::decision::{Decision, Situation, decide, grows_too_little};
use crate::webrc::equation::{fair_loss, fair_rate};
use layercast_core::cannot_be;
use layercast_core::contract::Cause;
use layercast_core::units::{Duration, Time};
use layercast_kit::waves::channel_of;

impl Receiver {
    /// An epoch ended (RFC 3738, section 3.2.3.5).
    pub(super) fn end_epoch(&mut self, now: Time) {
        let (epoch, held) = (self.options.epoch(), self.waves_held());
        let Some(path) = &mut self.path else { return cannot_be("the timer of epochs runs with a path") };
        // A busy host may call late: rates are over the time that has passed.
        let passed_s = now.since(path.epoch_began).as_secs_f64();
        let (received, lost) = core::mem::take(&mut path.epoch_packets);
        let rate = |packets: u32| f64::from(packets) / passed_s;
        path.epoch_began = now;
        path.received = (rate(received), path.received.1.max(rate(received)));
        let weights = self.weights[usize::from(path.slow_start.is_some())];
        path.rates.end_epoch(&self.waves, weights, held, rate(received), rate(received + lost));
        path.loss.end_epoch();
        self.timers.arm(Timer::Epoch, now + epoch);
        self.check_start_up(now);
        self.decide(now);
    }

    /// Whether an epoch has passed since the newest wave's first packet.
    fn has_shown(&self, path: &Path, now: Time) -> bool {
        path.joining_since.is_none() && now.since(path.newest_first_packet) >= self.options.epoch()
    }

    /// Start-up ends when the maximum is reached, or when a wave has not brought what it should (RFC
    /// 3738, section 3.2.2.6, third and fourth case).
    fn check_start_up(&mut self, now: Time) {
        let held = self.waves_held();
        let Some(path) = self.path.as_ref().filter(|path| path.slow_start.is_none()) else { return };
        let (true_rate, anticipated) = (path.rates.true_rate, path.rates.anticipated);
        let next = anticipated * self.waves.join_factor(held);
        let at_most = next > self.most_wanted() || next > self.waves.top_rate();
        let epoch_s = self.options.epoch().as_secs_f64();
        let too_little = self.options.start_up_check
            && self.has_shown(path, now)
            && grows_too_little(&self.waves, self.weights[0], held, true_rate, anticipated, epoch_s);
        if at_most || too_little {
            self.end_start_up(true_rate);
        }
    }

    /// The maximum rate of the receiver, in packets/s (MRR_P).
    fn most_wanted(&self) -> f64 {
        if self.options.max_rate.is_zero() {
            return f64::INFINITY;
        }
        self.options.max_rate.as_bps() / self.size.as_bits().max(1) as f64
    }

    /// The target rate (RFC 3738, section 3.2.2.7).
    fn target(&self, path: &Path) -> f64 {
        let rate = match path.slow_start {
            Some(slow_start) => {
                fair_rate(self.options.fair_to, path.loss.loss(), path.rtt.average_s()).max(slow_start)
            }
            None => 4.0 * path.rates.true_rate,
        };
        rate.min(self.most_wanted())
    }

    /// Whether to join (RFC 3738, section 3.2.3.6).
    fn decide(&mut self, now: Time) {
        let Some(path) = &self.path else { return cannot_be("it is decided at the end of an epoch") };
        let (is_start_up, target) = (path.slow_start.is_none(), self.target(path));
        let situation = Situation {
            held: self.waves_held(),
            target,
            anticipated: path.rates.anticipated,
            received: path.received.0,
            received_most: path.received.1,
            in_loss_event: now < path.event_until || now < path.blocked_until,
            is_joining: path.joining_since.is_some(),
            is_waiting: is_start_up && self.options.start_up_check && !self.has_shown(path, now),
            must_have_fallen: !is_start_up && self.options.last_check,
            epoch_s: self.options.epoch().as_secs_f64(),
        };
        let decision = decide(&self.waves, &situation);
        let Some(path) = &mut self.path else { return cannot_be("it is decided at the end of an epoch") };
        path.target = target;
        match decision {
            Decision::Join => self.join(now, is_start_up),
            Decision::Stay => {}
            Decision::Hold(rate) => {
                path.loss.reset(fair_loss(self.options.fair_to, rate, path.rtt.average_s()));
            }
        }
    }

    fn join(&mut self, now: Time, is_start_up: bool) {
        let held = self.waves_held();
        let Some(path) = &mut self.path else { return cannot_be("it is decided at the end of an epoch") };
        let wave = self.waves.wave_at(path.slot.0, held + 1);
        path.rates.join(&self.waves, held);
        path.joining_since = Some(now);
        path.received.1 = 0.0;
        let gaps_s = self.options.join_gaps * self.waves.mean_gap_s(held + 1);
        let limit = Duration::from_secs_f64(path.rtt.join_limit_s().max(gaps_s));
        self.timers.arm(Timer::Join, now + limit);
        self.join_channel(channel_of(wave), if is_start_up { Cause::SlowStart } else { Cause::RateAbove });
    }
}
