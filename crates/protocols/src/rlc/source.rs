//! The source of RLC: layers at constant rates, synchronisation points, bursts.

mod burst;

use alloc::vec::Vec;

use self::burst::{Burst, BurstWindow, Departure, burst_span};
use super::points::{highest_point, newest_point};
use super::{Header, MAX_LAYERS, Options};
use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input, Send};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, Pacer, Rate, Time, WireSeq};
use layercast_kit::pacing::Dither;

/// After a stall longer than this, missed packets are skipped rather than sent in a burst.
const LONGEST_LAG: Duration = Duration::from_ms(100);

/// The source of an RLC session.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    plan: SessionPlan,
    stream: Stream,
    dither: Dither,
    start: Time,
    is_sending: bool,
    layers: Vec<LayerSource>,
    /// How many of them are sent.
    open: usize,
    window: BurstWindow,
    actions: ActionQueue<Header>,
}

/// One layer of the source.
#[derive(Clone, Debug)]
struct LayerSource {
    pacer: Pacer,
    /// By how much later than the pacer says the next packet departs.
    delay: Duration,
    seq: u16,
    /// The newest point, in base intervals.
    point: u64,
    copies_sent: u32,
    /// The burst packets that preceded the newest point.
    burst_before: u8,
    burst: Burst,
}

impl Source {
    /// A source for the layers of `plan`, at most [`MAX_LAYERS`] of them. It draws a start phase for
    /// each layer from `stream`.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        Source {
            options: options.clone(),
            plan,
            dither: Dither::new(options.dither, stream.branch("dither")),
            stream,
            start: Time::ZERO,
            is_sending: false,
            layers: Vec::new(),
            open: usize::MAX,
            window: BurstWindow::default(),
            actions: ActionQueue::default(),
        }
    }

    fn begin(&mut self, now: Time) {
        self.start = now;
        self.is_sending = true;
        let (size, count) = (self.plan.packet_size, self.layer_count());
        for layer in (0..count).map(Layer) {
            let rate = self.plan.layers.rate(layer);
            let spacing = Pacer::new(now, size, rate).spacing();
            let phase = self.plan.layers.phases().draw(spacing, &mut self.stream);
            self.layers.push(LayerSource::new(Pacer::new(now + phase, size, rate)));
        }
    }

    /// Layers from this one on go on at new phases.
    fn resume(&mut self, now: Time, from: usize) {
        for source in self.layers.iter_mut().take(self.open).skip(from) {
            let phase = self.plan.layers.phases().draw(source.pacer.spacing(), &mut self.stream);
            source.pacer.reschedule(now + phase);
            source.delay = Duration::ZERO;
            source.burst = Burst::default();
        }
    }

    fn layer_count(&self) -> u16 {
        self.plan.layers.count().min(MAX_LAYERS)
    }

    /// Base intervals that have ended at `at`.
    fn intervals(&self, at: Time) -> u64 {
        at.since(self.start).as_ns() / self.options.sp_spacing.as_ns().max(1)
    }

    /// Sends what is due, layer by layer in the order of departure.
    fn send_due(&mut self, now: Time) {
        while let Some((at, layer)) = self.next_departure() {
            if at > now {
                break;
            }
            let lagging = now.since(at) > LONGEST_LAG;
            if !lagging {
                // By the plan, so that dither delays packets and changes nothing else about them.
                self.depart(layer, self.layers[layer.index()].pacer.next());
            }
            let source = &mut self.layers[layer.index()];
            if lagging {
                source.pacer.reschedule(now);
                source.delay = Duration::ZERO;
            } else {
                source.pacer.advance();
                source.delay = self.dither.delay(source.pacer.spacing());
            }
        }
    }

    fn next_departure(&self) -> Option<(Time, Layer)> {
        let departure = |(i, source): (usize, &LayerSource)| (source.next(), Layer(i as u16));
        self.layers.iter().take(self.open).enumerate().map(departure).min()
    }

    fn depart(&mut self, layer: Layer, at: Time) {
        let intervals = self.intervals(at);
        if self.window.interval != intervals + 1 {
            self.window = self.window_of(intervals + 1);
        }
        let (window, size) = (self.window, self.plan.packet_size);
        let newest = newest_point(self.options.spacing_rule, layer, intervals);
        let source = &mut self.layers[layer.index()];
        source.meet_point(newest);
        let copies = self.options.point_copies;
        if source.copies_due(copies) {
            let header = source.point_header(layer);
            self.actions.send(Send::data(layer.channel(), header, size));
            return;
        }
        if window.takes(layer, at) && source.burst.interval != window.interval {
            source.burst = Burst::over(window.interval, source.pacer, window.closes);
        }
        let count = match source.burst.depart() {
            Departure::Silence => return,
            Departure::Packet => 1,
            Departure::Pair => 2,
        };
        let header = source.header(layer, count);
        self.actions.send(Send { count, ..Send::data(layer.channel(), header, size) });
    }

    /// The burst window before the point at the end of base interval `interval`. A burst on the top
    /// layer would imitate a layer that does not exist, so the one below is the highest to burst.
    fn window_of(&self, interval: u64) -> BurstWindow {
        let below_top = self.layer_count().saturating_sub(1);
        let top = highest_point(self.options.spacing_rule, below_top, interval);
        let closes = self.start + self.options.sp_spacing * interval;
        let rate = top.map_or(Rate::ZERO, |top| self.plan.layers.cumulative(top));
        let length = burst_span(self.options.burst, self.plan.packet_size, rate);
        BurstWindow { interval, top, opens: closes - length.min(self.options.sp_spacing), closes }
    }
}

impl LayerSource {
    fn new(pacer: Pacer) -> LayerSource {
        // No point is due before the first interval has ended, so point 0 counts as sent.
        let copies_sent = u32::MAX;
        let (delay, burst) = (Duration::ZERO, Burst::default());
        LayerSource { pacer, delay, seq: 0, point: 0, copies_sent, burst_before: 0, burst }
    }

    fn next(&self) -> Time {
        self.pacer.next() + self.delay
    }

    fn meet_point(&mut self, newest: u64) {
        if newest > self.point {
            self.point = newest;
            self.copies_sent = 0;
            self.burst_before = if self.burst.interval == newest { self.burst.length } else { 0 };
        }
    }

    fn copies_due(&self, copies: u32) -> bool {
        self.copies_sent < copies
    }

    fn point_header(&mut self, layer: Layer) -> Header {
        let copy = self.copies_sent as u8;
        self.copies_sent += 1;
        let burst_length = self.burst_before;
        Header { is_point: true, copy, burst_length, ..self.plain_header(layer, 1) }
    }

    /// The header of a packet or pair outside of points; numbered in the burst if it is in one.
    fn header(&mut self, layer: Layer, count: u16) -> Header {
        let plain = self.plain_header(layer, count);
        if self.burst.place >= self.burst.length {
            return plain;
        }
        let burst_place = self.burst.place + 1;
        self.burst.place = self.burst.place.saturating_add(count as u8);
        Header { burst_place, burst_length: self.burst.length, ..plain }
    }

    fn plain_header(&mut self, layer: Layer, count: u16) -> Header {
        let seq = self.seq;
        self.seq = seq.wrapping_add(count);
        Header { layer: layer.0 as u8, seq, point: WireSeq(self.point as u32), ..Header::default() }
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.begin(now),
            Input::Finish | Input::Stop => {
                self.is_sending = false;
                self.layers.clear();
            }
            Input::DataExhausted => self.is_sending = false,
            Input::DataAvailable if !self.is_sending => {
                self.is_sending = !self.layers.is_empty();
                self.resume(now, 0);
            }
            Input::Demand(level) => {
                let open = usize::from(level.layer_count()).max(1);
                let from = core::mem::replace(&mut self.open, open);
                self.resume(now, from);
            }
            Input::Timer
            | Input::DataAvailable
            | Input::Packet(_)
            | Input::JoinFailed(..)
            | Input::SendRefused(_) => {}
        }
        if self.is_sending {
            self.send_due(now);
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        if self.is_sending { self.next_departure().map(|(at, _)| at) } else { None }
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let count = if self.is_sending { self.layers.len().min(self.open) as u16 } else { 0 };
        Estimates { level: Level::from_count(count), ..Estimates::default() }
    }
}

#[cfg(test)]
mod tests;
