//! A stream as what a receiver takes from a session: each layer that is held goes to an output of its own.

use core::fmt::{Debug, Display};

use layercast_core::units::{Channel, Duration, Time};

use crate::node::{ReceiveError, ReceivedPacket, Sink};
use crate::part::Part;
use crate::reception::ReceptionProgress;
use crate::search::FoundSession;
use crate::session::Session;
use crate::stream::{CODEPOINT, Gap, LayerCounters, StreamPlan, StreamReceiver, Unit, Units};

/// Where the units of layers go.
pub trait LayerOutputs {
    /// Why one cannot be opened.
    type Error: Debug + Display;

    /// Opens those of so many layers. Some may be open already, for an earlier session.
    ///
    /// # Errors
    /// Why one cannot be opened.
    fn open(&mut self, layers: u16, units: Units) -> Result<(), Self::Error>;

    /// Writes a unit of a layer. Nothing is awaited.
    fn write(&mut self, layer: u16, unit: &[u8]);

    /// Whether nothing can be written to any of them.
    fn are_closed(&self) -> bool;

    /// Whether an error may pass without a change of the arguments.
    fn may_pass(error: &Self::Error) -> bool;
}

/// The reception of live data.
#[derive(Debug)]
pub struct Live<O> {
    /// The outputs.
    pub outputs: O,
    /// None before the first session.
    current: Option<Current>,
    has_ended: bool,
    now: Time,
    gaps: Vec<(u16, Gap)>,
}

#[derive(Debug)]
struct Current {
    receiver: StreamReceiver,
    plan: StreamPlan,
    layers: u16,
}

impl Current {
    /// The layer of a packet.
    fn layer(&self, part: &Part) -> Option<u16> {
        let layer = part.toi.checked_sub(1).and_then(|layer| u16::try_from(layer).ok())?;
        (part.codepoint == CODEPOINT && layer < self.layers).then_some(layer)
    }
}

impl<O: LayerOutputs> Live<O> {
    /// A reception to these outputs.
    pub fn new(outputs: O) -> Live<O> {
        Live { outputs, current: None, has_ended: false, now: Time::ZERO, gaps: Vec::new() }
    }

    /// Whether a session was found.
    pub fn has_begun(&self) -> bool {
        self.current.is_some()
    }

    /// Whether the source has ended the session, and all that was sent before had the time to come.
    pub fn session_is_over(&self) -> bool {
        let Some(Current { receiver, plan, .. }) = &self.current else { return false };
        // What was sent before in other layers gets the part of the deadline that is for the path.
        let is_over = |since| self.now.since(since) >= Duration::from_ns(plan.deadline.as_ns() / 2);
        self.has_ended || receiver.ended().is_some_and(is_over)
    }

    /// Units that are missing before those that were delivered, with their layers, since the last call.
    pub fn drain_gaps(&mut self) -> impl Iterator<Item = (u16, Gap)> {
        self.gaps.drain(..)
    }

    /// What became of the units of each layer.
    pub fn counters(&self) -> impl Iterator<Item = LayerCounters> {
        self.current.iter().flat_map(|current| current.receiver.counters())
    }

    /// Does something with the receiver, and writes what it delivers.
    fn deliver(&mut self, with: impl FnOnce(&mut Current, Time, &mut dyn FnMut(Unit<'_>))) {
        let Live { outputs, current, gaps, now, .. } = self;
        if let Some(current) = current {
            with(current, *now, &mut |unit| {
                gaps.extend(unit.gap.map(|gap| (unit.layer, gap)));
                outputs.write(unit.layer, unit.bytes);
            });
        }
    }
}

impl<O: LayerOutputs> Sink for Live<O> {
    type Error = O::Error;

    fn check(&self, session: &Session) -> Result<(), ReceiveError> {
        if session.stream.is_some() { Ok(()) } else { Err(ReceiveError::NotStream) }
    }

    fn follow(&mut self, found: &FoundSession) -> Result<(), O::Error> {
        let session = &found.session;
        let Some(plan) = session.stream else { return Ok(()) };
        let layers = session.layers.count();
        self.outputs.open(layers, plan.units)?;
        let receiver = StreamReceiver::new(&plan, session.stream_symbol_size(), layers);
        self.current = Some(Current { receiver, plan, layers });
        self.has_ended = false;
        Ok(())
    }

    fn end_session(&mut self) {
        self.has_ended = true;
    }

    fn packets<'a>(
        &mut self,
        count: usize,
        packet: &dyn Fn(usize) -> Option<ReceivedPacket<'a>>,
    ) -> Result<(), O::Error> {
        for ReceivedPacket { at, part, payload } in (0..count).filter_map(packet) {
            self.now = self.now.max(at);
            self.deliver(|current, now, each| {
                if let Some(layer) = current.layer(&part) {
                    current.receiver.packet(now, layer, payload, each);
                }
            });
        }
        Ok(())
    }

    fn left(&mut self, now: Time, channel: Channel) {
        self.now = self.now.max(now);
        self.deliver(|current, now, each| current.receiver.leave(now, channel.0, each));
    }

    fn work(&mut self, now: Time) -> Result<bool, O::Error> {
        self.now = self.now.max(now);
        self.deliver(|current, now, each| {
            if current.receiver.deadline().is_some_and(|due| due <= now) {
                current.receiver.advance(now, each);
            }
        });
        Ok(false)
    }

    fn deadline(&self) -> Option<Time> {
        self.current.as_ref().and_then(|current| current.receiver.deadline())
    }

    fn needs_packets(&mut self) -> bool {
        !self.is_complete()
    }

    fn is_complete(&self) -> bool {
        self.session_is_over() || (self.has_begun() && self.outputs.are_closed())
    }

    fn progress(&self) -> (ReceptionProgress, u64) {
        (ReceptionProgress { is_open: true, ..ReceptionProgress::default() }, 0)
    }

    fn finish(&mut self) {
        self.deliver(|current, now, each| current.receiver.finish(now, each));
    }

    fn may_pass(error: &O::Error) -> bool {
        O::may_pass(error)
    }
}
