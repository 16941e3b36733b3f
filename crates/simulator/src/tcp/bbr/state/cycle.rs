//! Probing for bandwidth: down, cruise, refill, up, and what it shows about the volume that the path can
//! hold (draft-ietf-ccwg-bbr-06, section 5.3.3).

use layercast_core::stream::Stream;
use layercast_core::units::Duration;

use super::super::model;
use super::super::rate::Sample;
use super::{Control, Feedback, Flow, State};

/// Probing for bandwidth waits for 2 to 3 s, or as many rounds as Reno would need.
const PROBE_WAIT: Duration = Duration::from_secs(2);
const PROBE_WAIT_SPREAD: Duration = Duration::from_secs(1);
const RENO_ROUNDS: f64 = 63.0;
const MAX_GROWTH_ROUNDS: u32 = 30;

impl Control {
    pub(super) fn start_down(&mut self, flow: &Flow, stream: &mut Stream) {
        self.model.reset_congestion();
        self.acked_for_one = f64::INFINITY;
        // A random round or none counts as past already, so that flows do not probe together.
        self.rounds_at_probe = self.model.rounds.count.saturating_sub(u64::from(stream.chance(0.5)));
        self.probe_wait = PROBE_WAIT + stream.uniform_duration(PROBE_WAIT_SPREAD);
        self.cycle_began = flow.now;
        self.feedback = Feedback::Stopping;
        self.model.rounds.begin(flow.delivered);
        self.state = State::Down;
    }

    fn start_refill(&mut self, flow: &Flow) {
        self.model.reset_short_term();
        self.growth_rounds = 0;
        self.acked = 0.0;
        self.probe_precautionary = false;
        self.feedback = Feedback::Refilling;
        self.model.rounds.begin(flow.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, cwnd: f64, flow: &Flow, sample: &Sample) {
        self.probe_sample = true;
        self.feedback = Feedback::Starting;
        self.model.rounds.begin(flow.delivered);
        self.reset_full(sample.rate);
        self.state = State::Up;
        self.raise_growth(cwnd);
    }

    pub(super) fn update_cycle(&mut self, cwnd: f64, flow: &Flow, sample: &Sample, stream: &mut Stream) {
        if !self.filled || self.adapt_long_term(cwnd, flow, sample) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(cwnd, flow) => self.start_refill(flow),
            State::Down if self.is_time_to_cruise(flow) => self.state = State::Cruise,
            State::Refill if self.model.rounds.starts => self.start_up(cwnd, flow, sample),
            State::Up => self.check_up_done(cwnd, flow, sample, stream),
            _ => {}
        }
    }

    /// Follows the feedback of a probing. True if it decided what comes next.
    fn adapt_long_term(&mut self, cwnd: f64, flow: &Flow, sample: &Sample) -> bool {
        if self.model.rounds.starts && self.feedback == Feedback::Starting {
            self.feedback = Feedback::Probing;
        } else if self.model.rounds.starts && self.feedback == Feedback::Stopping {
            self.probe_sample = false;
            self.feedback = Feedback::None;
            if self.state.probes_bw_cycle() {
                if !sample.app_limited {
                    self.model.end_cycle();
                }
                // A cautious probing went well: the next follows at once, and stays.
                if self.probe_precautionary && !self.probe_too_high {
                    self.start_refill(flow);
                    return true;
                }
            }
        }
        let in_flight = sample.in_flight as f64;
        if !model::is_too_high(sample.lost, in_flight) && self.model.inflight_long.is_finite() {
            self.model.inflight_long = self.model.inflight_long.max(in_flight);
            if self.state == State::Up {
                self.grow_long_term(cwnd, flow, sample.newly_acked as f64);
            }
        }
        false
    }

    /// The bound grows by 1, 2, 4, ... packets in a round, spread over it.
    fn grow_long_term(&mut self, cwnd: f64, flow: &Flow, newly_acked: f64) {
        if !flow.window_limited || cwnd < self.model.inflight_long {
            return;
        }
        self.acked += newly_acked;
        if self.acked >= self.acked_for_one {
            let steps = (self.acked / self.acked_for_one) as u64 as f64;
            self.acked -= steps * self.acked_for_one;
            self.model.inflight_long += steps;
        }
        if self.model.rounds.starts {
            self.raise_growth(cwnd);
        }
    }

    fn raise_growth(&mut self, cwnd: f64) {
        let growth = (1u64 << self.growth_rounds) as f64;
        self.growth_rounds = (self.growth_rounds + 1).min(MAX_GROWTH_ROUNDS);
        self.acked_for_one = (cwnd / growth).max(1.0);
    }

    /// The target volume in flight: the bandwidth-delay product, unless the window is smaller.
    pub(super) fn target(&self, cwnd: f64) -> f64 {
        self.model.bdp().min(cwnd)
    }

    fn is_time_to_probe(&self, cwnd: f64, flow: &Flow) -> bool {
        let rounds = self.model.rounds.count - self.rounds_at_probe;
        flow.now > self.cycle_began + self.probe_wait || rounds as f64 >= self.target(cwnd).min(RENO_ROUNDS)
    }

    fn is_time_to_cruise(&self, flow: &Flow) -> bool {
        flow.in_flight <= self.model.inflight_with_headroom()
            && flow.in_flight <= self.inflight(self.model.max_bw())
    }

    fn check_up_done(&mut self, cwnd: f64, flow: &Flow, sample: &Sample, stream: &mut Stream) {
        let bounded = flow.window_limited && cwnd >= self.model.inflight_long;
        if self.probe_too_high && flow.in_flight >= self.model.inflight_long {
            // The last probing lost too much with that much in flight.
            self.probe_precautionary = true;
        } else if bounded {
            // The bound limits what the path could carry.
            self.reset_full(sample.rate);
            return;
        } else if !self.full_now {
            return;
        }
        self.probe_too_high = false;
        self.start_down(flow, stream);
    }
}
