//! The reception of a window-based receiver: its membership, the received numbers, silence.

use core::num::NonZeroU64;

use super::header::Base;
use crate::counters::ReceiverCounters;
use crate::estimator::{ArrivalClass, SendTime, SequenceTracker, max_gap_for};
use crate::feedback::ReceiverId;
use layercast_core::contract::{ActionQueue, Arrival, Cause, Ecn, Origin, TraceEvent};
use layercast_core::session::{SessionMatch, SessionNumber, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Layer, Level, Seq, Time};

const CHANNEL: Channel = Channel(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Running,
    Over,
}

/// The result of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// How many packets were found lost with it, all of them before it.
    pub lost: u64,
    /// Whether it carries a congestion mark.
    pub marked: bool,
    /// Whether it is new and not late.
    pub counts: bool,
    /// Whether the session, or its numbering, restarts with it.
    pub restarted: bool,
}

/// The reception state of a receiver.
#[derive(Clone, Debug)]
pub struct Listener {
    id: ReceiverId,
    phase: Phase,
    level: Level,
    session: SessionNumber,
    tracker: SequenceTracker,
    highest: Seq,
    came: u32,
    /// The time stamp of the highest packet, and when it came.
    newest: Option<(u32, Time)>,
    silence: Duration,
    silent_at: Time,
    last_arrival: Time,
    /// What this receiver has counted.
    pub counters: ReceiverCounters,
}

impl Listener {
    /// Draws the number of the receiver. A packet is lost once `reorder` higher ones came; a silence of
    /// `silence` is a trace event.
    pub fn new(plan: &SessionPlan, reorder: u32, silence: Duration, stream: &mut Stream) -> Listener {
        let max_gap = max_gap_for(plan.layers.top_rate(), plan.packet_size);
        Listener {
            id: ReceiverId(NonZeroU64::new(stream.bits()).unwrap_or(NonZeroU64::MIN)),
            phase: Phase::Idle,
            level: Level::NONE,
            session: SessionNumber::default(),
            tracker: SequenceTracker::new(Layer::BASE, reorder, max_gap),
            highest: Seq(0),
            came: u32::MAX,
            newest: None,
            silence,
            silent_at: Time::ZERO,
            last_arrival: Time::ZERO,
            counters: ReceiverCounters::default(),
        }
    }

    /// The number that this receiver drew.
    pub fn id(&self) -> ReceiverId {
        self.id
    }

    /// The subscription level: the base layer, or none.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The session's number, once known from a packet.
    pub fn session(&self) -> Option<u32> {
        self.session.known()
    }

    /// Whether the receiver has joined and not ended.
    pub fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    /// The highest number received.
    pub fn highest(&self) -> Seq {
        self.highest
    }

    /// The highest number up to which each packet was received or found lost.
    pub fn in_order(&self) -> Seq {
        self.tracker.first_missing().map_or(self.highest, |missing| Seq(missing.0.saturating_sub(1)))
    }

    /// Bit i: number `highest - i` was received without a congestion mark, or precedes the first packet
    /// received.
    pub fn came(&self) -> u32 {
        self.came
    }

    /// The newest time stamp plus the time since its arrival, in microseconds of the source's clock.
    pub fn heard_us(&self, now: Time) -> u32 {
        self.newest.map_or(0, |(stamp, came)| stamp.wrapping_add(now.since(came).as_us() as u32))
    }

    /// Joins the channel.
    pub fn start<H>(&mut self, now: Time, actions: &mut ActionQueue<H>) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Running;
            self.last_arrival = now;
            self.silent_at = now + self.silence;
            self.join(actions);
        }
    }

    /// The host could not join the channel.
    pub fn on_join_failed<H>(&mut self, channel: Channel, actions: &mut ActionQueue<H>) {
        if channel == CHANNEL && self.phase == Phase::Running {
            self.counters.join_failed += 1;
            self.set_level(Level::NONE, Cause::JoinFailed, actions);
        }
    }

    /// Leaves the channel, if joined, with this cause.
    pub fn finish<H>(&mut self, cause: Cause, actions: &mut ActionQueue<H>) {
        if self.level != Level::NONE {
            actions.leave(CHANNEL);
        }
        self.set_level(Level::NONE, cause, actions);
        self.phase = Phase::Over;
    }

    /// Processes a data packet. None if it is to be ignored.
    pub fn take<H>(
        &mut self,
        now: Time,
        arrival: &Arrival<H>,
        base: &Base,
        actions: &mut ActionQueue<H>,
    ) -> Option<Taken> {
        if arrival.origin != Origin::Channel(CHANNEL) {
            self.counters.invalid += 1;
            return None;
        }
        if self.level == Level::NONE {
            self.counters.stray += 1;
            return None;
        }
        let matched = self.session.observe(base.session);
        self.counters.foreign +=
            u64::from(matches!(matched, SessionMatch::Foreign | SessionMatch::Restarted));
        if matched == SessionMatch::Foreign {
            return None;
        }
        if matched == SessionMatch::Restarted {
            self.counters.restarts += 1;
            actions.trace(TraceEvent::Resynchronised { layer: Layer::BASE });
            self.tracker.reset();
        }
        if base.end_of_session {
            actions.trace(TraceEvent::SessionEnded);
            self.finish(Cause::SessionEnd, actions);
            return None;
        }
        self.last_arrival = now;
        self.silent_at = now + self.silence;
        self.follow(now, base, arrival.ecn == Ecn::Marked, actions)
    }

    fn follow<H>(
        &mut self,
        now: Time,
        base: &Base,
        marked: bool,
        actions: &mut ActionQueue<H>,
    ) -> Option<Taken> {
        let mut lost = 0;
        let mut first_lost = None;
        let (seq, class) = self.tracker.on_packet(base.seq, SendTime::from(now), now, |packet| {
            lost += 1;
            first_lost.get_or_insert(packet.seq);
        });
        if let Some(first_lost) = first_lost {
            actions.trace(TraceEvent::LossEvent { layer: Layer::BASE, first_lost });
        }
        self.counters.lost += lost;
        let restarted = matches!(class, ArrivalClass::First | ArrivalClass::Resynchronised);
        match class {
            ArrivalClass::Duplicate => self.counters.duplicate += 1,
            ArrivalClass::Wild => self.counters.invalid += 1,
            ArrivalClass::Late => self.counters.late += 1,
            ArrivalClass::Resynchronised => {
                self.counters.resync += 1;
                actions.trace(TraceEvent::Resynchronised { layer: Layer::BASE });
            }
            ArrivalClass::First | ArrivalClass::New => {}
        }
        if matches!(class, ArrivalClass::Duplicate | ArrivalClass::Wild) {
            return None;
        }
        self.counters.received += u64::from(class.counts());
        self.counters.marked += u64::from(class.counts() && marked);
        self.remember(now, base, seq, marked, restarted);
        Some(Taken { lost, marked, counts: class.counts(), restarted })
    }

    fn remember(&mut self, now: Time, base: &Base, seq: Seq, marked: bool, restarted: bool) {
        let came = u32::from(!marked);
        if restarted || seq > self.highest {
            let by = u32::try_from(seq.0.saturating_sub(self.highest.0)).unwrap_or(u32::MAX);
            // Packets sent before this receiver joined are not its losses.
            let before = if restarted { u32::MAX } else { self.came };
            let shift = if restarted { 1 } else { by };
            self.came = before.checked_shl(shift).unwrap_or(0) | came;
            self.highest = seq;
            self.newest = Some((base.timestamp_us, now));
        } else {
            let behind = u32::try_from(self.highest.0 - seq.0).unwrap_or(u32::MAX);
            self.came |= came.checked_shl(behind).unwrap_or(0);
        }
    }

    /// Reports silence, and retries a join that had failed.
    pub fn run_timer<H>(&mut self, now: Time, actions: &mut ActionQueue<H>) {
        if self.phase == Phase::Running && now >= self.silent_at {
            actions.trace(TraceEvent::Silent { waited: now.since(self.last_arrival) });
            self.silent_at = now + self.silence;
            self.join(actions);
        }
    }

    /// When the next timer is due.
    pub fn deadline(&self) -> Option<Time> {
        self.is_running().then_some(self.silent_at)
    }

    fn join<H>(&mut self, actions: &mut ActionQueue<H>) {
        if self.level == Level::NONE {
            actions.join(CHANNEL);
            self.set_level(Level::up_to(Layer::BASE), Cause::Start, actions);
        }
    }

    fn set_level<H>(&mut self, to: Level, cause: Cause, actions: &mut ActionQueue<H>) {
        if self.level != to {
            actions.trace(TraceEvent::LevelChanged { from: self.level, to, cause });
            self.level = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::layers::LayerTable;
    use layercast_core::units::{Rate, Size, WireSeq};

    fn listener() -> (Listener, ActionQueue<()>) {
        let layers = LayerTable::from_rates([Rate::from_mbps(1.0)]).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let mut listener = Listener::new(&plan, 1, Duration::from_secs(30), &mut Stream::new(1, "listener"));
        let mut actions = ActionQueue::default();
        listener.start(Time::ZERO, &mut actions);
        (listener, actions)
    }

    fn deliver(listener: &mut Listener, actions: &mut ActionQueue<()>, seq: u32, ecn: Ecn) -> Option<Taken> {
        let size = Size::from_bytes(1000);
        let arrival = Arrival { origin: Origin::Channel(CHANNEL), size, ecn, header: () };
        let base = Base { session: 1, seq: WireSeq(seq), timestamp_us: seq, end_of_session: false };
        listener.take(Time::from_ns(1000), &arrival, &base, actions)
    }

    #[test]
    fn the_map_shows_what_came_without_marks() {
        let (mut listener, mut actions) = listener();
        let first = deliver(&mut listener, &mut actions, 100, Ecn::Capable).unwrap();
        assert!(first.restarted && first.lost == 0);
        assert_eq!(listener.came(), u32::MAX, "what was sent before is not lost");
        deliver(&mut listener, &mut actions, 101, Ecn::Marked);
        let taken = deliver(&mut listener, &mut actions, 104, Ecn::Capable).unwrap();
        assert_eq!((taken.lost, listener.came() & 0b11_1111), (2, 0b11_0001));
        let late = deliver(&mut listener, &mut actions, 102, Ecn::Capable).unwrap();
        assert!(!late.counts && listener.came() & 0b11_1111 == 0b11_0101);
        assert_eq!(deliver(&mut listener, &mut actions, 102, Ecn::Capable), None);
        assert_eq!((listener.highest(), listener.heard_us(Time::from_ns(5000))), (Seq(104), 108));
        deliver(&mut listener, &mut actions, 140, Ecn::Capable);
        assert_eq!(listener.came(), 1);
    }

    #[test]
    fn packets_from_elsewhere_are_counted_and_dropped() {
        let (mut listener, mut actions) = listener();
        let base = Base { session: 1, seq: WireSeq(1), timestamp_us: 0, end_of_session: false };
        let size = Size::from_bytes(1);
        let origin = Origin::Channel(Channel(1));
        let arrival = Arrival { origin, size, ecn: Ecn::NotCapable, header: () };
        assert_eq!(listener.take(Time::ZERO, &arrival, &base, &mut actions), None);
        listener.on_join_failed(CHANNEL, &mut actions);
        assert_eq!(deliver(&mut listener, &mut actions, 1, Ecn::Capable), None);
        let counters = listener.counters;
        assert_eq!((counters.invalid, counters.stray, counters.received), (1, 1, 0));
    }
}
