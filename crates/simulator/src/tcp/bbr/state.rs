//! BBR's reaction to its model: states, pacing rate and window (draft-ietf-ccwg-bbr-06, sections 5.3, 5.4
//! and 5.6). `cycle` probes for bandwidth. Volumes count packets, rates packets per second.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use super::model::{self, BETA, MIN_WINDOW, Model};
use super::rate::{Sample, Sent};

mod cycle;

const STARTUP_GAIN: f64 = 2.77;
const DRAIN_GAIN: f64 = 0.5;
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
const WINDOW_GAIN: f64 = 2.0;
const UP_WINDOW_GAIN: f64 = 2.25;
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// It paces slightly below its bandwidth estimate.
const PACING_MARGIN: f64 = 0.99;
/// The path is full if the rate has not grown by this factor in a number of rounds.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// It is full too if this many ranges of packets were lost in a round of startup.
const FULL_LOST_RANGES: u32 = 6;
const DRAIN_ROUNDS: u64 = 3;
const PROBE_RTT_DURATION: Duration = Duration::from_ms(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn probes_bw_cycle(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Whether it sends more to find more.
    fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }

    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_GAIN,
            State::Drain => DRAIN_GAIN,
            State::Down => DOWN_GAIN,
            State::Up => UP_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn window_gain(self) -> f64 {
        match self {
            State::Up => UP_WINDOW_GAIN,
            State::ProbeRtt => PROBE_RTT_WINDOW_GAIN,
            _ => WINDOW_GAIN,
        }
    }
}

/// The phase of bandwidth probing to which the acknowledgements that arrive now belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    None,
    Refilling,
    Starting,
    Probing,
    Stopping,
}

/// The connection at an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) now: Time,
    pub(super) delivered: u64,
    pub(super) in_flight: f64,
    /// The window held the sender back in this round or the last one.
    pub(super) window_limited: bool,
    /// The rounds that were over when loss recovery began, while it lasts.
    pub(super) recovering_since: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Control {
    pub(super) model: Model,
    pub(super) state: State,
    /// Packets per second.
    pub(super) pacing_rate: f64,
    /// The last good window while loss recovery or the round-trip time probe reduces it.
    prior_window: f64,
    initial_window: f64,
    /// The detector of a full path.
    full_bw: f64,
    full_rounds: u32,
    full_now: bool,
    /// The path was full once.
    pub(super) filled: bool,
    drain_started: u64,
    feedback: Feedback,
    /// Losses now are due to the probing.
    probe_sample: bool,
    /// The last probing ended with too many losses; the one after it ended early for that reason.
    probe_too_high: bool,
    probe_precautionary: bool,
    cycle_began: Time,
    probe_wait: Duration,
    rounds_at_probe: u64,
    /// The long-term bound grows by one per this many acknowledged packets.
    acked_for_one: f64,
    acked: f64,
    growth_rounds: u32,
    /// When the round-trip time probe may end, once the volume in flight is small enough.
    probe_rtt_ends: Option<Time>,
    probe_rtt_round_over: bool,
    /// The first acknowledgement after a pause is awaited.
    restarts: bool,
}

impl Control {
    /// The connection opened with this round-trip time, if it was measured.
    pub(super) fn new(now: Time, rtt: Option<Duration>, initial_window: f64) -> Control {
        let nominal_rtt = rtt.unwrap_or(Duration::from_ms(1)).as_secs_f64();
        Control {
            model: Model::new(now, rtt, initial_window),
            state: State::Startup,
            pacing_rate: STARTUP_GAIN * initial_window / nominal_rtt,
            prior_window: 0.0,
            initial_window,
            full_bw: 0.0,
            full_rounds: 0,
            full_now: false,
            filled: false,
            drain_started: 0,
            feedback: Feedback::None,
            probe_sample: false,
            probe_too_high: false,
            probe_precautionary: false,
            cycle_began: now,
            probe_wait: Duration::ZERO,
            rounds_at_probe: 0,
            acked_for_one: f64::INFINITY,
            acked: 0.0,
            growth_rounds: 0,
            probe_rtt_ends: None,
            probe_rtt_round_over: false,
            restarts: false,
        }
    }

    /// An acknowledgement reported arrived packets. Sets the window and the pacing rate.
    pub(super) fn update(&mut self, cwnd: &mut f64, flow: &Flow, sample: &Sample, stream: &mut Stream) {
        self.model.deliver(sample, flow.delivered);
        if self.model.loss_round_ends {
            self.model.end_loss_round(*cwnd, self.state.accelerates());
        }
        self.model.aggregate(flow.now, sample.newly_acked as f64, *cwnd);
        self.check_full(sample);
        self.check_startup(flow, sample);
        if self.state == State::Drain {
            let late = self.model.rounds.count > self.drain_started + DRAIN_ROUNDS;
            if flow.in_flight <= self.inflight(self.model.bw) || late {
                self.start_down(flow, stream);
            }
        }
        self.update_cycle(*cwnd, flow, sample, stream);
        self.model.update_min_rtt(flow.now, sample.rtt);
        self.check_probe_rtt(cwnd, flow, stream);
        self.restarts = false;
        self.model.advance(sample);
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_window(cwnd, sample.newly_acked as f64, flow.delivered);
    }

    /// Packet `seq` is considered lost; `lost` counts losses since it was sent, including it.
    pub(super) fn lose(
        &mut self,
        seq: i64,
        sent: &Sent,
        lost: u64,
        cwnd: f64,
        flow: &Flow,
        stream: &mut Stream,
    ) {
        self.model.lose(seq, flow.delivered);
        let in_flight = sent.in_flight as f64;
        if !self.probe_sample || !model::is_too_high(lost, in_flight) {
            return;
        }
        self.probe_too_high = true;
        self.probe_sample = false;
        if !sent.app_limited {
            let target = self.target(cwnd) * BETA;
            self.model.inflight_long = model::inflight_at_loss(lost, in_flight).max(target);
        }
        if self.state == State::Up {
            self.start_down(flow, stream);
        }
    }

    /// The sender sends again after it had nothing to send and nothing in flight.
    pub(super) fn restart_from_idle(&mut self, cwnd: &mut f64, flow: &Flow, stream: &mut Stream) {
        self.restarts = true;
        self.model.restart_aggregation(flow.now);
        if self.state.probes_bw_cycle() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(cwnd, flow, stream);
        }
    }

    /// Saves the window until its reduction is over.
    pub(super) fn save_window(&mut self, cwnd: f64, recovering: bool) {
        let held_down = recovering || self.state == State::ProbeRtt;
        self.prior_window = if held_down { self.prior_window.max(cwnd) } else { cwnd };
    }

    pub(super) fn restore_window(&self, cwnd: &mut f64) {
        *cwnd = cwnd.max(self.prior_window);
    }

    fn reset_full(&mut self, bw: f64) {
        self.full_bw = bw;
        self.full_rounds = 0;
        self.full_now = false;
    }

    fn check_full(&mut self, sample: &Sample) {
        if self.full_now || !self.model.rounds.starts || sample.app_limited {
            return;
        }
        if sample.rate >= self.full_bw * FULL_GROWTH {
            self.reset_full(sample.rate);
            return;
        }
        self.full_rounds += 1;
        self.full_now = self.full_rounds >= FULL_ROUNDS;
        self.filled |= self.full_now;
    }

    fn check_startup(&mut self, flow: &Flow, sample: &Sample) {
        if self.state != State::Startup {
            return;
        }
        let (rounds, loss_round_ends) = (self.model.rounds.count, self.model.loss_round_ends);
        let full_round = flow.recovering_since.is_some_and(|since| rounds > since);
        if loss_round_ends
            && full_round
            && self.model.lost_ranges >= FULL_LOST_RANGES
            && model::is_too_high(sample.lost, sample.in_flight as f64)
        {
            self.filled = true;
            self.model.inflight_long = self.model.bdp().max(self.model.inflight_latest);
        }
        if self.filled {
            self.state = State::Drain;
            self.drain_started = rounds;
        }
    }

    fn check_probe_rtt(&mut self, cwnd: &mut f64, flow: &Flow, stream: &mut Stream) {
        if self.state != State::ProbeRtt && self.model.recent_rtt_expired && !self.restarts {
            self.save_window(*cwnd, flow.recovering_since.is_some());
            self.state = State::ProbeRtt;
            self.probe_rtt_ends = None;
            self.feedback = Feedback::Stopping;
            self.model.rounds.begin(flow.delivered);
        }
        if self.state != State::ProbeRtt {
            return;
        }
        if self.probe_rtt_ends.is_some() {
            self.probe_rtt_round_over |= self.model.rounds.starts;
            if self.probe_rtt_round_over {
                self.check_probe_rtt_done(cwnd, flow, stream);
            }
        } else if flow.in_flight <= self.probe_rtt_window() {
            self.probe_rtt_ends = Some(flow.now + PROBE_RTT_DURATION);
            self.probe_rtt_round_over = false;
            self.model.rounds.begin(flow.delivered);
        }
    }

    fn check_probe_rtt_done(&mut self, cwnd: &mut f64, flow: &Flow, stream: &mut Stream) {
        if self.probe_rtt_ends.is_none_or(|end| flow.now <= end) {
            return;
        }
        self.model.postpone_probe_rtt(flow.now);
        self.restore_window(cwnd);
        self.model.reset_short_term();
        if self.filled {
            self.start_down(flow, stream);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn probe_rtt_window(&self) -> f64 {
        (PROBE_RTT_WINDOW_GAIN * self.model.bdp()).max(MIN_WINDOW)
    }

    /// The volume that fills the path at a rate.
    fn inflight(&self, bw: f64) -> f64 {
        self.budget(self.model.bdp_at(bw))
    }

    fn budget(&self, volume: f64) -> f64 {
        volume.max(MIN_WINDOW) + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.model.bw * PACING_MARGIN;
        if self.filled || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn set_window(&self, cwnd: &mut f64, newly_acked: f64, delivered: u64) {
        let extra = self.model.extra_acked(self.filled);
        let most = self.budget(self.state.window_gain() * self.model.bdp() + extra);
        if self.filled {
            *cwnd = (*cwnd + newly_acked).min(most);
        } else if *cwnd < most || (delivered as f64) < self.initial_window {
            *cwnd += newly_acked;
        }
        *cwnd = cwnd.max(MIN_WINDOW);
        let bound = match self.state {
            State::ProbeRtt => self.model.inflight_with_headroom().min(self.probe_rtt_window()),
            State::Cruise => self.model.inflight_with_headroom(),
            State::Down | State::Refill | State::Up => self.model.inflight_long,
            State::Startup | State::Drain => f64::INFINITY,
        };
        *cwnd = cwnd.min(bound.min(self.model.inflight_short).max(MIN_WINDOW));
    }
}
