//! How a receiver processes packets: losses, round-trip time, the fair rate (thesis 4.2, 5.1 and 6.2).

use alloc::vec::Vec;

use crate::elm::header::{Data, Echo, Header, MAX_LAYERS};
use crate::elm::options::{Options, SmoothingSampling};
use layercast_core::cannot_be;
use layercast_core::contract::{ActionQueue, TraceEvent};
use layercast_core::session::SessionPlan;
use layercast_core::units::{Duration, Layer, RateEstimate, Size, Time};
use layercast_kit::counters::ReceiverCounters;
use layercast_kit::equation::Path;
use layercast_kit::estimator::{
    ArrivalClass, ClockReading, Fate, LossEstimator, LossOutcome, Packet, RtoEstimator, RttEstimator,
    SenderClock, SequenceTracker, Smoother, max_gap_for, rtt_sample,
};
use layercast_kit::fair::FairEquation;

/// The longest time that a source may have held an echo (docs/protocols/elm.md).
const MAX_HOLD_US: u32 = 10_000_000;

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It counts.
    Counted,
    /// It is late, a duplicate, or out of sequence.
    Ignored,
    /// Its time stamp is implausible.
    Suspect,
    /// The source's clock restarted.
    Restarted,
}

/// The estimators of a receiver, in the order in which they process a packet.
#[derive(Clone, Debug)]
pub(super) struct Reception {
    clock: SenderClock,
    trackers: Vec<SequenceTracker>,
    waits_for_reordered: bool,
    loss: LossEstimator,
    rtt: RttEstimator,
    rto: RtoEstimator,
    equation: FairEquation,
    path: Path,
    /// The loss rate that `rate` was calculated from; none if the path has changed since.
    calculated_at: Option<f64>,
    rate: RateEstimate,
    smoother: Smoother,
    sample_every: Duration,
    next_sample: Time,
    reset_on_change: bool,
    packet_size: Size,
    r_init: Duration,
}

impl Reception {
    pub(super) fn new(options: &Options, plan: &SessionPlan) -> Reception {
        let layers = &plan.layers;
        let tracker = |layer: Layer| {
            let max_gap = max_gap_for(layers.rate(layer), plan.packet_size);
            SequenceTracker::new(layer, options.reorder, max_gap)
        };
        let sample_every = match options.smoothing_sampling {
            SmoothingSampling::PerPacket => Duration::ZERO,
            SmoothingSampling::Interval => options.smoothing_interval,
        };
        let losses = options.loss_config();
        let mut reception = Reception {
            clock: SenderClock::default(),
            trackers: (0..layers.count().min(MAX_LAYERS)).map(Layer).map(tracker).collect(),
            waits_for_reordered: options.reorder > 1,
            loss: LossEstimator::new(&losses),
            rtt: RttEstimator::new(options.rtt_filter, options.q, options.rtt_window),
            rto: RtoEstimator::new(options.rto, options.rto_minimum, options.rto_granularity),
            equation: options.fair_equation(),
            path: Path::from_secs(f64::from(losses.equation_size(plan.packet_size).as_bytes()), 1.0, 4.0),
            calculated_at: None,
            rate: RateEstimate::Unknown,
            smoother: Smoother::new(&options.smoothing_config(layers)),
            sample_every,
            next_sample: Time::ZERO,
            reset_on_change: options.smoothing_reset,
            packet_size: plan.packet_size,
            r_init: options.r_init,
        };
        reception.path.packets_per_ack = options.packets_per_ack;
        reception.path_changed();
        reception
    }

    /// Sequence, losses and estimator of one data packet of a layer that is held.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        data: &Data,
        marked: bool,
        counters: &mut ReceiverCounters,
        actions: &mut ActionQueue<Header>,
    ) -> Verdict {
        let sent = match self.clock.read(data.timestamp_us, now) {
            ClockReading::At(sent) => sent,
            ClockReading::Suspect => return Verdict::Suspect,
            ClockReading::Restarted(_) => return Verdict::Restarted,
        };
        let layer = data.layer();
        let Some(tracker) = self.trackers.get_mut(layer.index()) else {
            cannot_be::<()>("a layer that is held has a tracker");
            return Verdict::Ignored;
        };
        let loss = &mut self.loss;
        let mut lose = |lost: &Packet| {
            counters.lost += 1;
            if loss.on_packet(lost, Fate::Lost) == LossOutcome::NewEvent {
                actions.trace(TraceEvent::LossEvent { layer: lost.layer, first_lost: lost.seq });
            }
        };
        let (seq, class) = tracker.on_packet(data.seq, sent, now, &mut lose);
        if self.waits_for_reordered {
            let patience = self.rtt.rtt().unwrap_or(self.r_init);
            for tracker in &mut self.trackers {
                tracker.expire(now, patience, &mut lose);
            }
        }
        match class {
            ArrivalClass::Duplicate => counters.duplicate += 1,
            ArrivalClass::Late => counters.late += 1,
            ArrivalClass::Wild => counters.invalid += 1,
            ArrivalClass::Resynchronised => {
                counters.resync += 1;
                actions.trace(TraceEvent::Resynchronised { layer });
            }
            ArrivalClass::First | ArrivalClass::New => {}
        }
        if !class.counts() {
            return Verdict::Ignored;
        }
        counters.received += 1;
        let packet = Packet { layer, seq, sent };
        counters.marked += u64::from(marked);
        let fate = Fate::arrived(self.packet_size, marked);
        if self.loss.on_packet(&packet, fate) == LossOutcome::NewEvent {
            actions.trace(TraceEvent::LossEvent { layer, first_lost: seq });
        }
        Verdict::Counted
    }

    /// One of our time stamps came back. The sample, and whether it is the first; none if it is
    /// implausible.
    pub(super) fn on_echo(&mut self, now: Time, echo: &Echo) -> Option<(Duration, bool)> {
        if echo.hold_us >= MAX_HOLD_US {
            return None;
        }
        let sample = rtt_sample(now.as_wire_us(), echo.timestamp_us, echo.hold_us)?;
        let first = self.rtt.rtt_s().is_none();
        self.rtt.on_sample(sample);
        if let Some(smoothed_s) = self.rtt.rtt_s() {
            self.rto.on_sample(sample.as_secs_f64(), smoothed_s);
            self.loss.set_rtt(Duration::from_secs_f64(smoothed_s));
        }
        self.path_changed();
        Some((sample, first))
    }

    fn path_changed(&mut self) {
        self.path.rtt_s = self.rtt.rtt_s().unwrap_or(self.r_init.as_secs_f64());
        self.path.rto_s = self.rto.rto_s().unwrap_or(4.0 * self.path.rtt_s);
        self.calculated_at = None;
    }

    /// Calculates the rate from the present estimates, and smooths it.
    pub(super) fn update_rate(&mut self, now: Time, smooth: bool) {
        let loss_rate = self.loss.loss_rate();
        if self.calculated_at != Some(loss_rate) {
            self.calculated_at = Some(loss_rate);
            self.rate = self.equation.rate(&self.path, loss_rate).unwrap_or(RateEstimate::Unknown);
        }
        if smooth && self.rtt.rtt_s().is_some() && now >= self.next_sample {
            self.smoother.push(self.rate);
            self.next_sample = now + self.sample_every;
        }
    }

    /// The fair rate as last calculated. Before the first round-trip time it is based on the initial
    /// value of it.
    pub(super) fn rate(&self) -> RateEstimate {
        self.rate
    }

    /// The rate for decisions: smoothed; as calculated while no value is smoothed yet; unknown
    /// before the first round-trip time.
    pub(super) fn smoothed_rate(&self) -> RateEstimate {
        match self.smoother.value() {
            RateEstimate::Unknown if self.rtt.rtt_s().is_some() => self.rate,
            value => value,
        }
    }

    pub(super) fn loss_rate(&self) -> f64 {
        self.loss.loss_rate()
    }

    pub(super) fn loss_estimator(&self) -> &LossEstimator {
        &self.loss
    }

    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt.rtt()
    }

    pub(super) fn rtt_or_initial(&self) -> Duration {
        self.rtt.rtt().unwrap_or(self.r_init)
    }

    /// The retransmission timeout, or its initial value before the first sample.
    pub(super) fn timeout(&self) -> Duration {
        self.rto.rto().unwrap_or(self.r_init * 4)
    }

    pub(super) fn packet_size(&self) -> Size {
        self.packet_size
    }

    /// A layer was joined or left: its sequence restarts with its next packet. The loss
    /// history stays, since the loss rate of a path does not depend on the level (thesis 5.1).
    pub(super) fn layer_changed(&mut self, layer: Layer) {
        if let Some(tracker) = self.trackers.get_mut(layer.index()) {
            tracker.reset();
        }
    }

    pub(super) fn on_level_change(&mut self) {
        if self.reset_on_change {
            self.smoother.reset();
        }
    }

    /// Forgets everything: the source restarted.
    pub(super) fn reset(&mut self) {
        self.clock = SenderClock::default();
        for tracker in &mut self.trackers {
            tracker.reset();
        }
        self.rtt.reset();
        self.rto.reset();
        self.loss.reset();
        self.loss.set_rtt(self.r_init);
        self.smoother.reset();
        self.rate = RateEstimate::Unknown;
        self.path_changed();
    }
}
