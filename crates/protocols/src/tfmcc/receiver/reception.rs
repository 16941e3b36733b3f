//! How a receiver processes packets: losses, round-trip time, receive rate, fair rate (RFC 4654,
//! sections 4.3, 4.4 and 5).

use alloc::vec::Vec;

use super::meter::Meter;
use crate::tfmcc::header::Data;
use crate::tfmcc::options::Options;
use crate::tfmcc::rules::{OneWayDelay, first_loss_rate, rescaled_interval};
use layercast_core::cannot_be;
use layercast_core::contract::{ActionQueue, TraceEvent};
use layercast_core::units::{Duration, Layer, Rate, RateEstimate, Size, Time, WireSeq};
use layercast_kit::counters::ReceiverCounters;
use layercast_kit::equation::Path;
use layercast_kit::estimator::{
    ArrivalClass, ClockReading, Fate, LossConfig, LossEstimator, LossOutcome, Packet, RttEstimator,
    RttFilter, SenderClock, SequenceTracker, max_gap_for, rtt_sample,
};
use layercast_kit::fair::FairEquation;

/// A round-trip time from one-way delays above this many measured ones is rejected (CHOICE).
const MAX_ADJUSTMENT: f64 = 4.0;

/// The reverse part of a round-trip time is renewed by a measurement at least as often as this: clocks
/// that drift apart by 100 ppm are 6 ms further apart after a minute (CHOICE).
const REVERSE_KEPT: Duration = Duration::from_secs(60);

/// A data packet that arrived, as the estimators see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived<'a> {
    /// Its index in the table of streams.
    pub(crate) layer: Layer,
    pub(crate) seq: WireSeq,
    pub(crate) timestamp_us: u32,
    pub(crate) size: Size,
    pub(crate) marked: bool,
    /// Its fields about the session that the receiver takes part in; none for other packets.
    pub(crate) data: Option<&'a Data>,
}

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It counts; whether it revealed a loss event.
    Counted(bool),
    /// It is late, a duplicate, or out of sequence.
    Ignored,
    /// Its time stamp is implausible.
    Suspect,
    /// The source's clock restarted.
    Restarted,
}

/// The first loss interval, calculated with an assumed round-trip time.
#[derive(Clone, Copy, Debug)]
struct Assumed {
    length: f64,
    loss_rate: f64,
    rtt: Duration,
}

/// The estimators of a receiver, in the order in which they process a packet.
#[derive(Clone, Debug)]
pub(crate) struct Reception {
    clock: SenderClock,
    /// One for each stream of packets with sequence numbers of its own.
    trackers: Vec<SequenceTracker>,
    waits_for_reordered: bool,
    loss: LossEstimator,
    rtt: RttEstimator,
    delay: Option<OneWayDelay>,
    /// The round-trip time by the delay of the newest packet.
    adjusted: Option<Duration>,
    measured_at: Time,
    /// The session's largest round-trip time, used before the first sample.
    max_rtt: Duration,
    meter: Meter,
    window: f64,
    equation: FairEquation,
    packet_bytes: f64,
    /// Whether the first interval has been calculated, and with what if the round-trip time was not known.
    has_first_interval: bool,
    assumed: Option<Assumed>,
    has_loss: bool,
    limit_by_receive_rate: bool,
    /// The rate at which the source sends, in byte/s.
    sent_rate: f64,
    /// The rate by the equation, in byte/s, and the round-trip time and loss rate that it is for.
    calculated: Option<(f64, Duration, f64)>,
}

impl Reception {
    /// A receiver of one stream of packets for each of `rates`, which are the upper bounds of their rates.
    pub(crate) fn new(
        options: &Options,
        losses: &LossConfig,
        packet_size: Size,
        rates: impl IntoIterator<Item = Rate>,
    ) -> Reception {
        let tracker = |(index, rate): (usize, Rate)| {
            SequenceTracker::new(Layer(index as u16), options.reorder, max_gap_for(rate, packet_size))
        };
        Reception {
            clock: SenderClock::default(),
            trackers: rates.into_iter().enumerate().map(tracker).collect(),
            waits_for_reordered: options.reorder > 1,
            loss: LossEstimator::new(losses),
            rtt: RttEstimator::new(RttFilter::Ewma, options.q_other, 1),
            delay: options.one_way_delay.then(OneWayDelay::default),
            adjusted: None,
            measured_at: Time::ZERO,
            max_rtt: options.r_max_initial,
            meter: Meter::new(),
            window: options.receive_window,
            equation: options.fair_equation(),
            packet_bytes: f64::from(losses.equation_size(packet_size).as_bytes().max(1)),
            has_first_interval: false,
            assumed: None,
            has_loss: false,
            limit_by_receive_rate: options.limit_by_receive_rate,
            sent_rate: 0.0,
            calculated: None,
        }
    }

    /// Sequence, losses, receive rate and one-way delay of one data packet.
    pub(crate) fn on_data<H>(
        &mut self,
        now: Time,
        arrived: &Arrived<'_>,
        counters: &mut ReceiverCounters,
        actions: &mut ActionQueue<H>,
    ) -> Verdict {
        let Arrived { layer, timestamp_us, size, marked, .. } = *arrived;
        let sent = match self.clock.read(timestamp_us, now) {
            ClockReading::At(sent) => sent,
            ClockReading::Suspect => return Verdict::Suspect,
            ClockReading::Restarted(_) => return Verdict::Restarted,
        };
        if let Some(data) = arrived.data {
            self.max_rtt = data.max_rtt();
            self.sent_rate = data.rate.rate().map_or(self.sent_rate, Rate::as_bytes_per_s);
        }
        self.loss.set_rtt(self.rtt_in_use());
        let patience = self.rtt_in_use();
        let mut new_event = false;
        let loss = &mut self.loss;
        let mut lose = |lost: &Packet| {
            counters.lost += 1;
            if loss.on_packet(lost, Fate::Lost) == LossOutcome::NewEvent {
                new_event = true;
                actions.trace(TraceEvent::LossEvent { layer: lost.layer, first_lost: lost.seq });
            }
        };
        let Some(tracker) = self.trackers.get_mut(layer.index()) else {
            cannot_be::<()>("a layer that is held has a tracker");
            return Verdict::Ignored;
        };
        let (seq, class) = tracker.on_packet(arrived.seq, sent, now, &mut lose);
        if self.waits_for_reordered {
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
        if class.counts() {
            counters.received += 1;
            let packet = Packet { layer, seq, sent };
            counters.marked += u64::from(marked);
            if self.loss.on_packet(&packet, Fate::arrived(size, marked)) == LossOutcome::NewEvent {
                new_event = true;
                actions.trace(TraceEvent::LossEvent { layer, first_lost: seq });
            }
            self.meter.on_packet(now, size, patience.scaled(self.window));
        }
        self.has_loss |= new_event;
        if !self.has_first_interval && !self.loss.intervals().is_empty() {
            self.set_first_interval();
        }
        if !class.counts() {
            return Verdict::Ignored;
        }
        self.adjust(now, timestamp_us);
        Verdict::Counted(new_event)
    }

    /// The round-trip time by the delay of this packet, if it is near the measured one and that is recent.
    fn adjust(&mut self, now: Time, sent_us: u32) {
        let (Some(delay), Some(measured)) = (&self.delay, self.rtt.rtt()) else { return };
        let adjusted = delay.rtt(now.as_wire_us(), sent_us);
        let plausible = |&rtt: &Duration| {
            rtt <= measured.scaled(MAX_ADJUSTMENT) && now.since(self.measured_at) <= REVERSE_KEPT
        };
        self.adjusted = adjusted.filter(plausible);
    }

    /// The packets before the first loss do not reflect the loss rate: the first interval is that at
    /// which TCP would have the receive rate (RFC 4654, section 5.6). With aggregation periods
    /// it is in the history once the first period is over, and has more than one loss.
    fn set_first_interval(&mut self) {
        self.has_first_interval = true;
        let rtt = self.rtt_in_use();
        let path = Path::from_secs(self.packet_bytes, rtt.as_secs_f64(), 4.0 * rtt.as_secs_f64());
        let impact = self.loss.intervals().closed().last().map_or(1.0, |first| first.impact);
        if let Ok(loss_rate) = first_loss_rate(self.equation.fair_to, &path, self.receive_rate()) {
            let length = impact / loss_rate;
            self.loss.intervals_mut().replace_oldest(length);
            self.assumed = self.rtt.rtt_s().is_none().then_some(Assumed { length, loss_rate, rtt });
        }
    }

    /// One of our time stamps came back with a packet stamped `sent_us`. The sample, and whether it is
    /// the first; none if it is implausible. `weight` is the weight of the old round-trip time.
    pub(crate) fn on_echo(
        &mut self,
        now: Time,
        echoed_us: u32,
        sent_us: u32,
        weight: f64,
    ) -> Option<(Duration, bool)> {
        let sample = rtt_sample(now.as_wire_us(), echoed_us, 0)?;
        let first = self.rtt.rtt_s().is_none();
        self.rtt.set_weight(weight);
        self.rtt.on_sample(sample);
        self.adjusted = None;
        self.measured_at = now;
        if let Some(delay) = &mut self.delay {
            delay.measured(sample, now.as_wire_us(), sent_us);
        }
        // The first interval is rescaled as long as it is in the history.
        let oldest = self.loss.intervals().closed().last().map(|interval| interval.length);
        if let Some(assumed) = self.assumed.take()
            && oldest == Some(assumed.length)
        {
            let Assumed { length, loss_rate, rtt } = assumed;
            let length = rescaled_interval(self.equation.fair_to, length, loss_rate, sample, rtt).max(1.0);
            self.loss.intervals_mut().replace_oldest(length);
        }
        Some((sample, first))
    }

    /// The source was silent for long: it may start slowly (RFC 4654, section 4.3.1).
    pub(crate) fn clear_loss(&mut self) {
        self.has_loss = false;
        self.meter.reset();
    }

    /// A stream was joined or left: its sequence restarts with its next packet.
    pub(crate) fn reset_stream(&mut self, layer: Layer) {
        if let Some(tracker) = self.trackers.get_mut(layer.index()) {
            tracker.reset();
        }
    }

    /// The rate to ask for, in byte/s: by the equation, or before a loss twice the receive rate.
    pub(crate) fn asked(&mut self) -> f64 {
        let twice = 2.0 * self.receive_rate();
        if !self.has_loss {
            return twice;
        }
        let (rtt, loss_rate) = (self.rtt_in_use(), self.loss.loss_rate());
        let rate = match self.calculated {
            Some((rate, at_rtt, at_loss)) if at_rtt == rtt && at_loss == loss_rate => rate,
            _ => {
                let path = Path::from_secs(self.packet_bytes, rtt.as_secs_f64(), 4.0 * rtt.as_secs_f64());
                let rate = self.equation.rate(&path, loss_rate).ok().and_then(RateEstimate::known);
                let rate = rate.map_or(twice, Rate::as_bytes_per_s);
                self.calculated = Some((rate, rtt, loss_rate));
                rate
            }
        };
        if self.limit_by_receive_rate { rate.min(twice) } else { rate }
    }

    /// The rate by the equation as last calculated, in byte/s.
    pub(crate) fn calculated(&self) -> Option<f64> {
        self.calculated.map(|(rate, ..)| rate)
    }

    /// The receive rate in byte/s; that of the source before two packets came.
    fn receive_rate(&self) -> f64 {
        self.meter.rate().unwrap_or(self.sent_rate)
    }

    /// The rate at which the source sends, in byte/s.
    pub(crate) fn sent_rate(&self) -> f64 {
        self.sent_rate
    }

    pub(crate) fn has_loss(&self) -> bool {
        self.has_loss
    }

    pub(crate) fn loss_rate(&self) -> f64 {
        self.loss.loss_rate()
    }

    /// The measured round-trip time.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt.rtt()
    }

    /// The round-trip time in use: adjusted, measured, or the session's largest one.
    pub(crate) fn rtt_in_use(&self) -> Duration {
        self.adjusted.or(self.rtt.rtt()).unwrap_or(self.max_rtt)
    }
}
