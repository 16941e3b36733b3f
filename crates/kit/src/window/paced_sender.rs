//! The sender of a window-based source: its state, numbers, rate and end.

use super::header::Base;
use super::throttle::Throttle;
use crate::counters::SourceCounters;
use crate::feedback::TokenBucket;
use layercast_core::contract::{ActionQueue, Payload, Send, Target};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Seq, Size, Time, WireSeq};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Sending,
    /// The application has no data.
    Paused,
    Over,
}

/// The common options of sources.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Packets that may be sent at once.
    pub burst: u32,
    /// Reports per second.
    pub reports: u32,
    /// Packets that announce the end of the session.
    pub end_packets: u32,
}

/// The sending side of a source.
#[derive(Clone, Debug)]
pub struct PacedSender {
    state: State,
    session: u32,
    next: Seq,
    packet_size: Size,
    limits: Limits,
    throttle: Throttle,
    bucket: TokenBucket,
    /// What this source has counted.
    pub counters: SourceCounters,
}

impl PacedSender {
    /// Draws the number of the session. The rate of all layers of the plan is the maximum send rate.
    pub fn new(plan: &SessionPlan, limits: Limits, stream: &mut Stream) -> PacedSender {
        let spacing = plan.layers.top_rate().time_to_send(plan.packet_size);
        PacedSender {
            state: State::Idle,
            session: stream.bits() as u32,
            next: Seq(1),
            packet_size: plan.packet_size,
            limits,
            throttle: Throttle::new(spacing, limits.burst),
            bucket: TokenBucket::new(f64::from(limits.reports), Time::ZERO),
            counters: SourceCounters::default(),
        }
    }

    /// The number of the session.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// The number that the next packet has.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// The number of the newest packet sent; 0 before the first.
    pub fn newest(&self) -> Seq {
        Seq(self.next.0 - 1)
    }

    /// The number that a report names, if it was sent.
    pub fn sent(&self, wire: WireSeq) -> Option<Seq> {
        let seq = wire.expand(self.newest());
        (1..self.next.0).contains(&seq.0).then_some(seq)
    }

    /// Whether the session has begun and is not over.
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Sending | State::Paused)
    }

    /// Starts sending at `now`.
    pub fn start(&mut self, now: Time) {
        if self.state == State::Idle {
            self.state = State::Sending;
            self.bucket = TokenBucket::new(f64::from(self.limits.reports), now);
        }
    }

    /// The application has no data.
    pub fn pause(&mut self) {
        if self.state == State::Sending {
            self.state = State::Paused;
        }
    }

    /// The application has data again.
    pub fn resume(&mut self) {
        if self.state == State::Paused {
            self.state = State::Sending;
        }
    }

    /// The session ends for all, if it had begun.
    pub fn end<H>(&mut self, now: Time, actions: &mut ActionQueue<H>, header: impl Fn(Base) -> H) {
        let count = u16::try_from(self.limits.end_packets).unwrap_or(u16::MAX);
        if self.is_running() && count > 0 {
            let header = header(self.base(now, true));
            actions.send(Send { payload: Payload::None, ..self.packets(header, count) });
            self.counted(count);
        }
        self.state = State::Over;
    }

    /// The number of the `wanted` packets that may be sent now, with the header of the first.
    pub fn take(&mut self, now: Time, wanted: u64) -> Option<(Base, u16)> {
        if self.state != State::Sending {
            return None;
        }
        let mut count = 0;
        while u64::from(count) < wanted && count < u16::MAX && self.throttle.take(now) {
            count += 1;
        }
        let base = self.base(now, false);
        self.counted(count);
        (count > 0).then_some((base, count))
    }

    /// A run of data packets.
    pub fn packets<H>(&self, header: H, count: u16) -> Send<H> {
        let target = Target::Channel(Channel(0));
        Send { target, header, size: self.packet_size, payload: Payload::Next, count }
    }

    /// When the next packet may be sent.
    pub fn departure(&self) -> Option<Time> {
        (self.state == State::Sending).then(|| self.throttle.next())
    }

    /// Whether a report of this session is to be processed.
    pub fn accepts(&mut self, now: Time, session: u32) -> bool {
        if session != self.session {
            self.counters.invalid += 1;
            return false;
        }
        let taken = self.bucket.take(now);
        self.counters.surplus_reports += u64::from(!taken);
        self.counters.reports += u64::from(taken);
        taken
    }

    fn base(&self, now: Time, end_of_session: bool) -> Base {
        let (session, seq) = (self.session, self.next.wire());
        Base { session, seq, timestamp_us: now.as_wire_us(), end_of_session }
    }

    fn counted(&mut self, count: u16) {
        self.next = Seq(self.next.0 + u64::from(count));
        self.counters.sent += u64::from(count);
    }
}
