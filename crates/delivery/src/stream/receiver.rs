//! The receiver of a stream.

use layercast_core::cannot_be;
use layercast_core::units::{Duration, Time};

use super::clock::SourceClock;
use super::layer_receiver::{LayerCounters, LayerReceiver, Unit};
use super::payload::{Head, SymbolId};
use super::plan::StreamPlan;

/// The memory for symbols of all layers, in bytes.
const MEMORY: usize = 64 << 20;

/// The receiver of a stream.
#[derive(Debug)]
pub struct StreamReceiver {
    clock: SourceClock,
    layers: Vec<LayerReceiver>,
    deadline: Option<Time>,
    ended: Option<Time>,
}

impl StreamReceiver {
    /// A receiver of so many layers, with symbols of `symbol` bytes ([`symbol_size`](super::symbol_size)).
    pub fn new(plan: &StreamPlan, symbol: u16, layers: u16) -> StreamReceiver {
        let most = MEMORY / usize::from(layers.max(1));
        let layer = |layer| LayerReceiver::new(layer, symbol, plan.deadline, most);
        StreamReceiver {
            clock: SourceClock::default(),
            layers: (0..layers).map(layer).collect(),
            deadline: None,
            ended: None,
        }
    }

    /// Takes the payload of a packet of a layer, and delivers what is due. Never panics; memory is bounded.
    pub fn packet(&mut self, now: Time, layer: u16, payload: &[u8], each: &mut dyn FnMut(Unit<'_>)) {
        let Some(receiver) = self.layers.get_mut(usize::from(layer)) else { return };
        let Ok((head, symbol)) = Head::split(payload) else {
            receiver.malformed();
            return;
        };
        self.clock.packet(now, head.sent_us);
        if head.symbol == SymbolId::End {
            self.ended.get_or_insert(now);
            return;
        }
        let wait = receiver.packet(now, &self.clock, head, symbol, each);
        self.note(now, wait);
    }

    /// Delivers what is due. Called at [`StreamReceiver::deadline`].
    pub fn advance(&mut self, now: Time, each: &mut dyn FnMut(Unit<'_>)) {
        self.deadline = None;
        for index in 0..self.layers.len() {
            let Some(layer) = self.layers.get_mut(index) else {
                cannot_be::<()>("the index is that of a layer");
                break;
            };
            let wait = layer.advance(now, &self.clock, each);
            self.note(now, wait);
        }
    }

    /// When a gap must be given up next.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Since when it is known that all inputs have ended and all is sent. Packets of other layers may still be on their way.
    pub fn ended(&self) -> Option<Time> {
        self.ended
    }

    fn note(&mut self, now: Time, wait_us: Option<i64>) {
        let wait = wait_us.map(|us| now + Duration::from_us(u64::try_from(us).unwrap_or_default()));
        self.deadline = match (self.deadline, wait) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
    }

    /// A layer is no longer held: delivers what is here of it.
    pub fn leave(&mut self, now: Time, layer: u16, each: &mut dyn FnMut(Unit<'_>)) {
        if let Some(layer) = self.layers.get_mut(usize::from(layer)) {
            layer.leave(now, &self.clock, each);
        }
    }

    /// The session is over: delivers what is here.
    pub fn finish(&mut self, now: Time, each: &mut dyn FnMut(Unit<'_>)) {
        self.layers.iter_mut().for_each(|layer| layer.flush(now, &self.clock, each));
    }

    /// What became of the units of each layer.
    pub fn counters(&self) -> impl Iterator<Item = LayerCounters> {
        self.layers.iter().map(LayerReceiver::counters)
    }
}
