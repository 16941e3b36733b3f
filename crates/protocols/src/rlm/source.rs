//! The source: layers at constant rates, and announcements passed on.

use super::{Announcement, Data, Header, Options};
use layercast_core::contract::{
    Action, ActionQueue, Endpoint, Estimates, Input, Origin, Payload, Send, Target,
};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Size, Time};
use layercast_kit::pacing::{Dither, LayerClocks};

/// The size of an announcement on the wire.
pub(super) const ANNOUNCEMENT_SIZE: Size = Size::from_bytes(60);

/// The source of a session.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    plan: SessionPlan,
    stream: Stream,
    clocks: LayerClocks,
    /// From when on announcements are counted, and how many were passed on since.
    passed_on: (Time, u32),
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source of a session. It draws a start phase for each layer from `stream`.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        Source {
            options: options.clone(),
            plan,
            clocks: LayerClocks::default().dithered(Dither::new(options.dither, stream.branch("dither"))),
            passed_on: (Time::ZERO, 0),
            actions: ActionQueue::default(),
            stream,
        }
    }

    fn send_due(&mut self, now: Time) {
        while let Some((layer, seq)) = self.clocks.take_due(now) {
            let header = Header::Data(Data { layer, seq });
            self.actions.send(Send::data(layer.channel(), header, self.plan.packet_size));
        }
    }

    /// Receivers cannot send to a group of a single source, so the source speaks for them.
    fn pass_on(&mut self, now: Time, announcement: Announcement) {
        let (since, count) = self.passed_on;
        let (since, count) =
            if now.since(since) >= Duration::from_secs(1) { (now, 0) } else { (since, count) };
        self.passed_on = (since, count + 1);
        let exists = announcement.level.layer_count() <= self.plan.layers.count();
        if self.clocks.next().is_none() || !exists || count >= self.options.announcements_per_s {
            self.passed_on.1 = count;
            return;
        }
        self.actions.send(Send {
            target: Target::Channel(control_channel(&self.plan)),
            header: Header::Announcement(announcement),
            size: ANNOUNCEMENT_SIZE,
            payload: Payload::None,
            count: 1,
        });
    }
}

/// The channel of announcements: the one above the layers.
pub(super) fn control_channel(plan: &SessionPlan) -> Channel {
    Channel(plan.layers.count())
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.clocks.begin(now, &self.plan, &mut self.stream, false);
            }
            Input::Finish | Input::Stop => self.clocks.stop(),
            Input::Demand(level) => self.clocks.demand(now, level, &mut self.stream),
            Input::DataExhausted => self.clocks.pause(),
            Input::DataAvailable => self.clocks.resume(now, &mut self.stream),
            Input::Packet(arrival) => {
                if let (Origin::Peer(_), Header::Announcement(made)) = (arrival.origin, arrival.header) {
                    self.pass_on(now, made);
                }
            }
            Input::Timer | Input::JoinFailed(..) | Input::SendRefused(_) => {}
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
