//! RLA's receiver: it acknowledges every packet.

use super::header::{Header, ReceiverId, Report};
use super::options::Options;
use layercast_core::contract::{Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Send};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Size, Time};
use layercast_kit::counters::ReceiverCounters;
use layercast_kit::window::listener::Listener;

/// A receiver of a session of RLA.
#[derive(Clone, Debug)]
pub struct Receiver {
    listener: Listener,
    report_size: Size,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver for the session that the plan describes.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Receiver {
        Receiver {
            listener: Listener::new(&plan, options.reorder, options.silence_note, &mut stream),
            report_size: options.report_size,
            actions: ActionQueue::default(),
        }
    }

    /// What was counted.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.listener.counters
    }

    /// The number that this receiver drew.
    pub fn id(&self) -> ReceiverId {
        self.listener.id()
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let Header::Data(base) = arrival.header else {
            self.listener.counters.invalid += 1;
            return;
        };
        if self.listener.take(now, arrival, &base, &mut self.actions).is_some() {
            self.report(now, false);
        }
    }

    fn report(&mut self, now: Time, leaving: bool) {
        let Some(session) = self.listener.session() else { return };
        let report = Report {
            session,
            receiver: self.id(),
            leaving,
            highest: self.listener.highest().wire(),
            came: self.listener.came(),
            heard_us: self.listener.heard_us(now),
        };
        self.listener.counters.reports += 1;
        self.actions.send(Send::report(Header::Report(report), self.report_size));
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.listener.start(now, &mut self.actions),
            Input::Stop => {
                // The source waits for every receiver, so each says that it goes.
                if self.listener.is_running() {
                    self.report(now, true);
                }
                self.listener.finish(Cause::Stop, &mut self.actions);
            }
            Input::JoinFailed(channel, _) => self.listener.on_join_failed(channel, &mut self.actions),
            Input::Packet(arrival) if self.listener.is_running() => self.on_packet(now, &arrival),
            _ => {}
        }
        self.listener.run_timer(now, &mut self.actions);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.listener.deadline()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        Estimates { level: self.listener.level(), ..Estimates::default() }
    }

    gauges! { |self, _now|
        ..self.listener.counters => ReceiverCounters {
            received, lost, marked, late, duplicate, stray, invalid, foreign, resync, restarts, join_failed,
            reports,
        };
    }
}
