//! The source of FLID: layers at constant rates, cut into slots, with one increase signal for each.

use alloc::vec::Vec;

use super::{Header, ReverseCounter, Settings, SignalRule, Variant, signal};
use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input, Send};
use layercast_core::gauges;
use layercast_core::layers::Phases;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Layer, Level, Size, Time, WireSeq};
use layercast_core::{Always as _, cannot_be};
use layercast_kit::dynamic::Layering;

/// How many packets announce the end of the session when the source is stopped.
const END_PACKETS: u16 = 3;

/// For how many whole slots all packets announce the end of the session once the data has ended
/// (FLID-DL, section on the end of a session).
const END_SLOTS: u64 = 3;

/// Start phases of layers above the base end here, so that the last packet of a slot stays in it despite
/// of its random delay.
const LAST_PHASE: f64 = 0.9;

/// A packet that a stalled host would send later than this fraction of a slot is not sent.
const LONGEST_LAG: f64 = 0.1;

/// The source of a FLID session.
#[derive(Clone, Debug)]
pub struct Source {
    settings: Settings,
    layering: Layering,
    packet_size: Size,
    /// The increase probability of each level.
    increase_probabilities: Vec<f64>,
    layers: Vec<LayerSource>,
    /// How many of them are sent from the next slot on.
    open: usize,
    channels: Vec<ChannelSource>,
    session: u32,
    stream: Stream,
    counter: ReverseCounter,
    signal: Option<u8>,
    start: Time,
    slot: u64,
    state: State,
    /// The next departure and its layer; none if nothing more is sent in this slot.
    next: Option<(Time, usize)>,
    /// The last slot, once the end is being announced.
    last_slot: Option<u64>,
    actions: ActionQueue<Header>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Sending,
    /// The application has no data; slots pass unused.
    Waiting,
}

/// One static layer.
#[derive(Clone, Debug)]
struct LayerSource {
    packets_per_slot: f64,
    /// What earlier slots left over, in packets.
    credit: f64,
    /// The position of the first packet within the spacing.
    phase: f64,
    channel: Channel,
    /// How many packets the slot has, and how many of them have been sent.
    packets: u32,
    sent: u32,
    next: Time,
}

/// One channel. Its numbers continue whatever layer it carries.
#[derive(Clone, Copy, Debug, Default)]
struct ChannelSource {
    seq: u16,
    in_slot: bool,
}

impl LayerSource {
    /// Packets of the next slot: whole packets only, the remainder is carried over.
    fn draw_packets(&mut self, at_least: u32) -> u32 {
        self.credit += self.packets_per_slot;
        let packets = (self.credit as u32).max(at_least);
        self.credit -= f64::from(packets);
        packets
    }
}

impl Source {
    /// A source for the layers of `plan`. It draws a session number, the start of the signal's counter, a
    /// phase for each layer and the delays of packets from `stream`.
    pub fn new(options: &impl Variant, plan: SessionPlan, mut stream: Stream) -> Source {
        let settings = options.settings();
        let layering = settings.layering(&plan);
        let session = stream.bits() as u32;
        let counter = ReverseCounter::new(stream.bits() as u32, settings.counter_bits);
        let bits = plan.packet_size.as_bits().max(1) as f64;
        let layer = |layer: u16| LayerSource {
            packets_per_slot: plan.layers.rate(Layer(layer)).as_bps() * settings.slot.as_secs_f64() / bits,
            credit: 0.0,
            phase: match plan.layers.phases() {
                Phases::Random if layer > 0 => stream.uniform_in(0.0, LAST_PHASE),
                _ => 0.0,
            },
            channel: Channel(0),
            packets: 0,
            sent: 0,
            next: Time::ZERO,
        };
        Source {
            layers: (0..settings.layers(&plan)).map(layer).collect(),
            open: usize::MAX,
            channels: alloc::vec![ChannelSource::default(); usize::from(layering.channels())],
            increase_probabilities: settings.level_probabilities(&plan),
            packet_size: plan.packet_size,
            layering,
            session,
            counter,
            signal: None,
            start: Time::ZERO,
            slot: 0,
            state: State::Idle,
            next: None,
            last_slot: None,
            actions: ActionQueue::default(),
            stream,
            settings,
        }
    }

    /// The session number.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// The increase probability of each level.
    pub fn increase_probabilities(&self) -> &[f64] {
        &self.increase_probabilities
    }

    fn slot_duration(&self) -> Duration {
        self.settings.slot.max(Duration::from_ms(1))
    }

    /// When the present slot ends. Slots follow from the start, so that they do not drift.
    fn slot_end(&self) -> Time {
        self.start + self.slot_duration() * (self.slot + 1)
    }

    fn slot_at(&self, now: Time) -> u64 {
        now.since(self.start).as_ns() / self.slot_duration().as_ns()
    }

    fn begin_slot(&mut self) {
        let begins = self.start + self.slot_duration() * self.slot;
        let drawn = match self.settings.signal {
            SignalRule::Deterministic => self.counter.value(),
            SignalRule::Probabilistic => self.stream.uniform(),
        };
        self.signal = signal(&self.increase_probabilities, drawn).map(|level| level.min(127) as u8);
        self.channels.iter_mut().for_each(|channel| channel.in_slot = false);
        for index in 0..self.layers.len() {
            let layer = Layer(index as u16);
            let source = &mut self.layers[index];
            // A receiver learns from the base that a slot has begun.
            let packets = source.draw_packets(u32::from(layer == Layer::BASE));
            source.packets = if index < self.open { packets } else { 0 };
            source.sent = 0;
            source.channel =
                self.layering.channel_of(layer, self.slot).always("each layer has a channel in each slot");
            self.schedule(index, begins);
        }
        self.find_next();
    }

    /// Sets the next departure of a layer in the slot that begins at `begins`.
    fn schedule(&mut self, layer: usize, begins: Time) {
        let slot = self.slot_duration();
        let source = &mut self.layers[layer];
        if source.sent >= source.packets {
            return;
        }
        let distance = slot.scaled(1.0 / f64::from(source.packets));
        let place = (source.phase + f64::from(source.sent)) / f64::from(source.packets);
        // The next packet of the layer leaves a distance later, the next slot's perhaps earlier.
        let gap = distance.min(slot.scaled(1.0 - place));
        let jitter =
            self.settings.packet_jitter.min(distance.scaled(0.1)).max(gap.scaled(self.settings.dither));
        let delay = if layer == 0 && source.sent == 0 {
            Duration::ZERO
        } else {
            self.stream.uniform_duration(jitter)
        };
        source.next = begins + slot.scaled(place) + delay;
    }

    fn find_next(&mut self) {
        let waiting = self.layers.iter().enumerate().filter(|(_, source)| source.sent < source.packets);
        self.next = waiting.map(|(index, source)| (source.next, index)).min();
    }

    fn send_due(&mut self, now: Time) {
        loop {
            let due = self.next.filter(|&(at, _)| at <= now && at < self.slot_end());
            if let Some((at, layer)) = due {
                self.depart(layer, now.since(at));
            } else if self.slot_end() <= now {
                self.advance(now);
                if self.last_slot.is_some_and(|last| self.slot > last) {
                    self.state = State::Idle;
                    return;
                }
                self.begin_slot();
            } else {
                return;
            }
        }
    }

    /// Sends the next packet of a layer, which is due or overdue. The one that begins the slot is never too
    /// late.
    fn depart(&mut self, layer: usize, lag: Duration) {
        let begins = self.start + self.slot_duration() * self.slot;
        let source = &mut self.layers[layer];
        source.sent += 1;
        let (channel, begins_slot) = (source.channel, layer == 0 && source.sent == 1);
        if begins_slot || lag <= self.settings.slot.scaled(LONGEST_LAG) {
            let header = self.header(channel, layer);
            self.actions.send(Send::data(channel, header, self.packet_size));
        }
        self.schedule(layer, begins);
        self.find_next();
    }

    fn header(&mut self, channel: Channel, layer: usize) -> Header {
        let mut header = Header {
            session: self.session,
            slot: WireSeq(self.slot as u32),
            signal: self.signal,
            channel: channel.0 as u8,
            layer: layer as u8,
            end_of_session: self.last_slot.is_some(),
            ..Header::default()
        };
        let source = &mut self.channels[channel.index()];
        header.seq = source.seq;
        header.first_of_slot = !source.in_slot;
        source.seq = source.seq.wrapping_add(1);
        source.in_slot = true;
        header
    }

    /// Advances to the slot of `now`. Slots missed by a stalled host are not sent late.
    fn advance(&mut self, now: Time) {
        let slot = self.slot_at(now);
        self.counter.advance(slot.saturating_sub(self.slot));
        self.slot = slot;
    }

    /// There is data again. The rest of a slot that began without data passes unused.
    fn resume(&mut self, now: Time) {
        self.state = State::Sending;
        self.advance(now);
        self.layers.iter_mut().for_each(|source| source.sent = source.packets);
        self.next = None;
    }

    fn end_session(&mut self) {
        if self.state == State::Idle {
            return;
        }
        self.state = State::Idle;
        self.next = None;
        let Some(channel) = self.layering.channel_of(Layer::BASE, self.slot) else {
            return cannot_be("the base has a channel in each slot");
        };
        for _ in 0..END_PACKETS {
            let header = Header { end_of_session: true, ..self.header(channel, 0) };
            self.actions.send(Send::data(channel, header, self.packet_size));
        }
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.start = now;
                self.state = State::Sending;
                // The counter's first value is that of its start moved on by one.
                self.counter.advance(1);
                self.begin_slot();
            }
            Input::Stop => self.end_session(),
            // News about the application's data has no effect once the end is being announced.
            Input::DataExhausted if self.state == State::Sending && self.last_slot.is_none() => {
                self.state = State::Waiting;
            }
            Input::DataAvailable if self.state == State::Waiting => self.resume(now),
            Input::Finish if self.state != State::Idle && self.last_slot.is_none() => {
                if self.state == State::Waiting {
                    self.resume(now);
                }
                self.last_slot = Some(self.slot_at(now) + END_SLOTS);
            }
            Input::Demand(level) => self.open = usize::from(level.layer_count()).max(1),
            Input::Timer
            | Input::DataExhausted
            | Input::Finish
            | Input::DataAvailable
            | Input::Packet(_)
            | Input::JoinFailed(..)
            | Input::SendRefused(_) => {}
        }
        if self.state == State::Sending {
            self.send_due(now);
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        let end = self.slot_end();
        let next = self.next.map_or(end, |(at, _)| at.min(end));
        (self.state == State::Sending).then_some(next)
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let count = if self.state == State::Sending { self.layers.len().min(self.open) as u16 } else { 0 };
        Estimates { level: Level::from_count(count), ..Estimates::default() }
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.session())
    }

    gauges! { |self, _now|
        /// The number of the present slot.
        value slot in "slots" = self.slot;
        /// The level that the slot's increase signal names; none if it names none.
        value signal in "layers" = self.signal;
    }
}

#[cfg(test)]
mod tests;
