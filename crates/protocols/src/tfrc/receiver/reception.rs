//! How a receiver processes packets: losses, the loss event rate, the rate that follows.

use crate::tfrc::header::{Data, Header};
use crate::tfrc::{Meter, Settings};
use layercast_core::contract::{ActionQueue, Ecn, TraceEvent};
use layercast_core::session::SessionPlan;
use layercast_core::units::{Duration, Layer, Rate, RateEstimate, Size, Time};
use layercast_kit::counters::ReceiverCounters;
use layercast_kit::equation::Path;
use layercast_kit::estimator::{
    ArrivalClass, ClockReading, Fate, LossOutcome, LossPanel, Packet, SenderClock, SequenceTracker,
    max_gap_for,
};
use layercast_kit::fair::FairEquation;

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It counts.
    Counted {
        /// Whether a loss event began with it or before it.
        new_event: bool,
        /// Whether that was the first of all.
        first_event: bool,
    },
    /// It is late, a duplicate, or out of sequence.
    Ignored,
    /// Its time stamp is implausible.
    Suspect,
}

/// The estimators of a receiver, in the order in which they process a packet.
#[derive(Clone, Debug)]
pub(super) struct Reception {
    clock: SenderClock,
    tracker: SequenceTracker,
    waits_for_reordered: bool,
    meter: Meter,
    /// With the precise rule: the round in which the newest event was found.
    precise: bool,
    event_round: Option<u16>,
    equation: FairEquation,
    /// Packet size and the newest round-trip time and timeout of the source, once it has them.
    packet_bytes: f64,
    packets_per_ack: f64,
    path: Option<Path>,
    rtt: Option<Duration>,
}

impl Reception {
    pub(super) fn new(settings: &Settings, plan: &SessionPlan, packet_size: Size) -> Reception {
        let max_gap = max_gap_for(plan.layers.top_rate(), plan.packet_size);
        Reception {
            clock: SenderClock::default(),
            tracker: SequenceTracker::new(Layer::BASE, settings.reorder, max_gap),
            waits_for_reordered: settings.reorder > 1,
            meter: Meter::new(&settings.meter),
            precise: settings.precise,
            event_round: None,
            equation: settings.equation,
            packet_bytes: f64::from(packet_size.as_bytes()),
            packets_per_ack: settings.packets_per_ack,
            path: None,
            rtt: None,
        }
    }

    /// The source's round-trip time, as the newest packet has it.
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    pub(super) fn loss_rate(&self) -> f64 {
        self.meter.loss_rate()
    }

    /// The rate that TCP would have; unknown before the source knows the round-trip time.
    pub(super) fn rate(&self) -> RateEstimate {
        self.rate_at(self.meter.loss_rate())
    }

    /// The rate that TCP would have at this loss rate.
    pub(super) fn rate_at(&self, loss: f64) -> RateEstimate {
        let rate = |path: &Path| self.equation.rate(path, loss).ok();
        self.path.as_ref().and_then(rate).unwrap_or(RateEstimate::Unknown)
    }

    pub(super) fn panel(&self) -> Option<&LossPanel> {
        self.meter.panel()
    }

    /// One data packet: clock, sequence, losses, estimators.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        data: &Data,
        size: Size,
        ecn: Ecn,
        counters: &mut ReceiverCounters,
        actions: &mut ActionQueue<Header>,
    ) -> Verdict {
        let sent = match self.clock.read(data.timestamp_us, now) {
            ClockReading::At(sent) => sent,
            ClockReading::Suspect => return Verdict::Suspect,
            ClockReading::Restarted(sent) => {
                self.tracker.reset();
                self.meter.forget_times();
                sent
            }
        };
        self.update_path(data);
        let before = self.meter.events();
        let Reception { meter, tracker, event_round, precise, .. } = self;
        // A further event needs a packet that was sent after a report about the last one.
        let same_round = |round: Option<u16>| {
            *precise && round.is_some_and(|round| data.round.wrapping_sub(round) as i16 <= 0)
        };
        let mut lose = |lost: &Packet| {
            counters.lost += 1;
            if same_round(*event_round) {
                meter.on_packet(lost, Fate::Received(size));
            } else if meter.on_packet(lost, Fate::Lost) == LossOutcome::NewEvent {
                *event_round = Some(data.round);
                actions.trace(TraceEvent::LossEvent { layer: lost.layer, first_lost: lost.seq });
            }
        };
        let (seq, class) = tracker.on_packet(data.seq, sent, now, &mut lose);
        if self.waits_for_reordered
            && let Some(patience) = self.rtt
        {
            tracker.expire(now, patience, &mut lose);
        }
        count(class, counters, actions);
        if !class.counts() {
            return Verdict::Ignored;
        }
        let packet = Packet { layer: Layer::BASE, seq, sent };
        let marked = ecn == Ecn::Marked;
        counters.marked += u64::from(marked);
        if meter.on_packet(&packet, Fate::arrived(size, marked)) == LossOutcome::NewEvent {
            *event_round = Some(data.round);
            actions.trace(TraceEvent::LossEvent { layer: packet.layer, first_lost: seq });
        }
        let events = self.meter.events();
        Verdict::Counted { new_event: events > before, first_event: before == 0 && events > 0 }
    }

    fn update_path(&mut self, data: &Data) {
        let Some(rtt) = data.rtt() else { return };
        let rto = data.rto().unwrap_or(rtt * 4);
        if self.rtt != Some(rtt) {
            self.rtt = Some(rtt);
            self.meter.set_rtt(rtt);
        }
        let path = Path::from_secs(self.packet_bytes, rtt.as_secs_f64(), rto.as_secs_f64());
        self.path = Some(Path { packets_per_ack: self.packets_per_ack, ..path });
    }

    /// The first loss event: the packets before it do not reflect the path, since the rate doubled
    /// meanwhile. An interval for `target` replaces them, for at least half a packet per round
    /// trip (RFC 5348, section 6.3.1).
    pub(super) fn set_first_interval(&mut self, target: Rate) {
        let Some(path) = self.path else { return };
        let least = 0.5 * self.packet_bytes / path.rtt_s;
        let target = target.as_bytes_per_s().max(least);
        if let Ok(loss) = self.equation.loss_rate(&path, target) {
            self.meter.set_first_interval(1.0 / loss);
        }
    }

    /// Forgets everything: the source restarted.
    pub(super) fn reset(&mut self) {
        self.clock = SenderClock::default();
        self.tracker.reset();
        self.meter.reset();
        self.event_round = None;
        self.path = None;
        self.rtt = None;
    }
}

/// Counts the outcome of a packet's number.
fn count(class: ArrivalClass, counters: &mut ReceiverCounters, actions: &mut ActionQueue<Header>) {
    match class {
        ArrivalClass::Duplicate => counters.duplicate += 1,
        ArrivalClass::Late => counters.late += 1,
        ArrivalClass::Wild => counters.invalid += 1,
        ArrivalClass::Resynchronised => {
            counters.resync += 1;
            actions.trace(TraceEvent::Resynchronised { layer: Layer::BASE });
        }
        ArrivalClass::First | ArrivalClass::New => {}
    }
    counters.received += u64::from(class.counts());
}
