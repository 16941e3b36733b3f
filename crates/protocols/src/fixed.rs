//! Layers at a fixed level: no congestion control at all.
//!
//! The source sends every layer at its rate. A receiver joins the layers of a given level when it
//! starts, keeps them, and leaves when it stops. This is what fixed-rate multicast does today, and
//! the reference for what a congestion control gains and costs.

use layercast_core::contract::{ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Send, TraceEvent};
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::options;
use layercast_core::session::{Character, Rates, Requirements, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Layer, Level, Time, WireSeq};
use layercast_core::wire::{Wire, WireNumbers};
use layercast_kit::pacing::{DEPLOYED_DITHER, Dither, LayerClocks};

options! {
    /// Options of the fixed protocol.
    pub struct Options {
        /// The level that receivers hold: the index of the highest layer, 0 for the base alone.
        level: u32 = 0, 0 => 65_534;
        /// By which part of its spacing a packet may leave later than planned, at random (ns-2's constant rate has half of it with `random_`).
        dither: f64 = 0.0, 0.0 => 1.0;
    }
}

impl Requirements for Options {
    fn has_phases(&self) -> bool {
        true
    }

    fn character(&self) -> Character {
        Character { rates: Rates::Layers, ecn: false, start: "its level at once" }
    }

    fn deploy(&mut self) {
        self.dither = DEPLOYED_DITHER;
    }
}

/// The header of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The layer it was sent on.
    pub layer: Layer,
    /// Its number on that layer.
    pub seq: WireSeq,
}

impl layercast_core::contract::Header for Header {}

/// Why bytes are not a header: the extension has another length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderError;

impl core::fmt::Display for HeaderError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the extension has a wrong length")
    }
}

impl core::error::Error for HeaderError {}

/// The CCI is the number; the extension has the layer (16 bits).
impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        Some(LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: None,
            end_of_session: false,
            extension: ExtensionPayload::default()
                .with(&self.layer.0.to_be_bytes())
                .extension(numbers.extension()),
        })
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        let &[high, low] = fields.extension.content() else { return Err(HeaderError) };
        Ok(Header {
            layer: Layer(u16::from_be_bytes([high, low])),
            seq: WireSeq(u32::from_be_bytes(fields.cci.first())),
        })
    }

    fn layer(&self) -> Option<Layer> {
        Some(self.layer)
    }
}

/// Sends every layer at its rate.
#[derive(Clone, Debug)]
pub struct Source {
    plan: SessionPlan,
    stream: Stream,
    clocks: LayerClocks,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source for a session.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        let dither = Dither::new(options.dither, stream.branch("dither"));
        Source {
            plan,
            stream,
            clocks: LayerClocks::default().dithered(dither),
            actions: ActionQueue::default(),
        }
    }

    fn send_due(&mut self, now: Time) {
        while let Some((layer, seq)) = self.clocks.take_due(now) {
            self.actions.send(Send::data(layer.channel(), Header { layer, seq }, self.plan.packet_size));
        }
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.clocks.begin(now, &self.plan, &mut self.stream, false);
                self.send_due(now);
            }
            Input::Timer => self.send_due(now),
            Input::Demand(level) => self.clocks.demand(now, level, &mut self.stream),
            Input::DataExhausted => self.clocks.pause(),
            Input::DataAvailable => self.clocks.resume(now, &mut self.stream),
            Input::Finish | Input::Stop => self.clocks.stop(),
            _ => {}
        }
    }

    fn poll_action(&mut self) -> Option<layercast_core::contract::Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.clocks.next()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        Estimates::default()
    }
}

/// Holds a fixed level.
#[derive(Clone, Debug)]
pub struct Receiver {
    wanted: Level,
    held: Level,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver of a session. The level is limited to the layers of the session.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
        let count = (options.level + 1).min(u32::from(plan.layers.count()));
        let wanted = Level::from_count(count as u16);
        Receiver { wanted, held: Level::NONE, actions: ActionQueue::default() }
    }

    fn hold(&mut self, wanted: Level, cause: Cause) {
        for layer in self.held.layer_count()..wanted.layer_count() {
            self.actions.join(Layer(layer).channel());
        }
        for layer in (wanted.layer_count()..self.held.layer_count()).rev() {
            self.actions.leave(Layer(layer).channel());
        }
        if wanted != self.held {
            self.actions.trace(TraceEvent::LevelChanged { from: self.held, to: wanted, cause });
            self.held = wanted;
        }
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, _now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.hold(self.wanted, Cause::Start),
            Input::Stop => self.hold(Level::NONE, Cause::Stop),
            Input::JoinFailed(channel, _) if channel.0 < self.held.layer_count() => {
                // Layers are cumulative: without this one those above are useless.
                let held = self.held;
                self.held = Level::from_count(channel.0);
                for layer in (channel.0 + 1..held.layer_count()).rev() {
                    self.actions.leave(Layer(layer).channel());
                }
                let note = TraceEvent::LevelChanged { from: held, to: self.held, cause: Cause::JoinFailed };
                self.actions.trace(note);
            }
            Input::Packet(Arrival { .. }) | Input::JoinFailed(..) => {}
            Input::Timer
            | Input::SendRefused(_)
            | Input::Demand(_)
            | Input::DataExhausted
            | Input::DataAvailable
            | Input::Finish => {}
        }
    }

    fn poll_action(&mut self) -> Option<layercast_core::contract::Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn estimates(&self, _now: Time) -> Estimates {
        Estimates { level: self.held, ..Estimates::default() }
    }
}
