//! The source: layers at constant rates, base packets that carry the time.

use super::{Header, Options, Points};
use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input, Send};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Layer, Level, Time};
use layercast_kit::pacing::{Dither, LayerClocks};

/// The source of a session.
#[derive(Clone, Debug)]
pub struct Source {
    plan: SessionPlan,
    points: Points,
    stream: Stream,
    start: Time,
    clocks: LayerClocks,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source of a session. It draws a start phase for each layer but the base from `stream`.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        Source {
            points: Points::new(options.base_interval, &plan.layers),
            plan,
            start: Time::ZERO,
            clocks: LayerClocks::default().dithered(Dither::new(options.dither, stream.branch("dither"))),
            actions: ActionQueue::default(),
            stream,
        }
    }

    fn send_due(&mut self, now: Time) {
        while let Some((layer, seq)) = self.clocks.take_due(now) {
            let is_base = layer == Layer::BASE;
            let ticks = if is_base { self.points.ticks(now.since(self.start)) } else { 0 };
            let header = Header { layer, seq, ticks };
            self.actions.send(Send::data(layer.channel(), header, self.plan.packet_size));
        }
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.start = now;
                // The base begins at once: it carries the time.
                self.clocks.begin(now, &self.plan, &mut self.stream, true);
            }
            Input::Finish | Input::Stop => self.clocks.stop(),
            Input::Demand(level) => self.clocks.demand(now, level, &mut self.stream),
            Input::DataExhausted => self.clocks.pause(),
            Input::DataAvailable => self.clocks.resume(now, &mut self.stream),
            Input::Timer | Input::Packet(_) | Input::JoinFailed(..) | Input::SendRefused(_) => {}
        }
        self.send_due(now);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.clocks.next()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let count = self.clocks.next().map_or(0, |_| self.clocks.open());
        Estimates { level: Level::from_count(count), ..Estimates::default() }
    }
}
