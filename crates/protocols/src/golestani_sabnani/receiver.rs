//! The receiver: it keeps the window.

use super::allowance::Allowance;
use super::header::{Header, ReceiverId, Report};
use super::options::Options;
use layercast_core::contract::{Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Send};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_kit::counters::ReceiverCounters;
use layercast_kit::window::listener::Listener;

/// A receiver with a window of its own.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    listener: Listener,
    allowance: Allowance,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver for the session that the plan describes.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Receiver {
        Receiver {
            listener: Listener::new(&plan, options.reorder, options.silence_note, &mut stream),
            allowance: Allowance::new(options),
            actions: ActionQueue::default(),
            options: options.clone(),
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

    /// Its window in packets.
    pub fn window(&self) -> f64 {
        self.allowance.window()
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let Header::Data(data) = arrival.header else {
            self.listener.counters.invalid += 1;
            return;
        };
        let Some(taken) = self.listener.take(now, arrival, &data.base, &mut self.actions) else { return };
        if taken.restarted {
            self.allowance = Allowance::new(&self.options);
        }
        let lost = taken.lost + u64::from(taken.marked);
        let mut cut = false;
        if lost > 0 {
            cut = self.allowance.on_lost(taken.lost, self.listener.highest());
        } else if taken.counts {
            self.allowance.on_received(data.window);
        }
        if cut || self.allowance.is_worth_reporting(self.listener.in_order()) {
            self.report(now, false);
        }
    }

    fn report(&mut self, now: Time, leaving: bool) {
        let Some(session) = self.listener.session() else { return };
        let in_order = self.listener.in_order();
        let report = Report {
            session,
            receiver: self.id(),
            leaving,
            in_order: in_order.wire(),
            allowed: self.allowance.report(in_order).wire(),
            heard_us: self.listener.heard_us(now),
        };
        self.listener.counters.reports += 1;
        self.actions.send(Send::report(Header::Report(report), self.options.report_size));
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.listener.start(now, &mut self.actions),
            Input::Stop => {
                // The source waits for every receiver, so each announces its departure.
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
        /// The receiver's window.
        value window in "packets" = self.window();
    }
}
