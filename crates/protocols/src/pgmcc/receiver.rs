//! pgmcc's receiver (draft-ietf-rmt-bb-pgmcc-03, section 4).

use super::header::{Data, Header, ReceiverId, Report};
use super::loss::LossFilter;
use super::options::Options;
use layercast_core::contract::{Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Send};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_kit::counters::ReceiverCounters;
use layercast_kit::window::listener::Listener;

/// A NAK that waits for its timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Nak {
    at: Time,
    /// Whether it only replies to a packet without acker.
    for_election: bool,
}

/// A receiver of a session of pgmcc.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    listener: Listener,
    loss: LossFilter,
    is_acker: bool,
    nak: Option<Nak>,
    stream: Stream,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver for the session that the plan describes.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Receiver {
        Receiver {
            listener: Listener::new(&plan, options.nak_reorder, options.silence_note, &mut stream),
            loss: LossFilter::new(options.loss_memory),
            is_acker: false,
            nak: None,
            stream,
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

    /// Whether it represents all, as the newest packet has it.
    pub fn is_acker(&self) -> bool {
        self.is_acker
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let Header::Data(data) = arrival.header else {
            self.listener.counters.invalid += 1;
            return;
        };
        let Some(taken) = self.listener.take(now, arrival, &data.base, &mut self.actions) else { return };
        if taken.restarted {
            self.loss.reset();
            self.nak = None;
        }
        for _ in 0..taken.lost {
            self.loss.on_packet(true);
        }
        if taken.counts {
            self.loss.on_packet(taken.marked);
        }
        self.answer(now, &data, taken.lost > 0 || taken.marked);
    }

    fn answer(&mut self, now: Time, data: &Data, had_loss: bool) {
        self.is_acker = data.acker == Some(self.id());
        if self.is_acker {
            // The acknowledgement reports losses too.
            self.nak = None;
            self.report(now, true, false);
            return;
        }
        let for_election = data.acker.is_none();
        if !for_election {
            self.nak = self.nak.filter(|nak| !nak.for_election);
        }
        if self.nak.is_none() && (for_election || had_loss) {
            let delay = if for_election { self.options.election_delay } else { self.options.nak_delay };
            let at = now + self.stream.uniform_duration(delay);
            self.nak = Some(Nak { at, for_election: for_election && !had_loss });
        }
    }

    fn report(&mut self, now: Time, ack: bool, leaving: bool) {
        let Some(session) = self.listener.session() else { return };
        let report = Report {
            session,
            receiver: self.id(),
            ack,
            leaving,
            loss: Report::wire_loss(self.loss.rate()),
            highest: self.listener.highest().wire(),
            came: if ack { self.listener.came() } else { 0 },
            heard_us: self.listener.heard_us(now),
        };
        self.listener.counters.reports += 1;
        self.actions.send(Send::report(Header::Report(report), self.options.report_size));
    }

    /// The session would wait for an acker that has left, so the acker announces its departure.
    fn stop(&mut self, now: Time) {
        if self.is_acker && self.listener.is_running() {
            self.report(now, true, true);
        }
        self.listener.finish(Cause::Stop, &mut self.actions);
    }

    fn run_timers(&mut self, now: Time) {
        if self.nak.is_some_and(|nak| nak.at <= now) {
            self.nak = None;
            self.report(now, false, false);
        }
        self.listener.run_timer(now, &mut self.actions);
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.listener.start(now, &mut self.actions),
            Input::Stop => self.stop(now),
            Input::JoinFailed(channel, _) => self.listener.on_join_failed(channel, &mut self.actions),
            Input::Packet(arrival) if self.listener.is_running() => self.on_packet(now, &arrival),
            _ => {}
        }
        if self.listener.is_running() {
            self.run_timers(now);
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        let silence = self.listener.deadline()?;
        Some(self.nak.map_or(silence, |nak| nak.at.min(silence)))
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let loss = self.listener.session().map(|_| self.loss.rate());
        Estimates { level: self.listener.level(), loss, ..Estimates::default() }
    }

    gauges! { |self, _now|
        ..self.listener.counters => ReceiverCounters {
            received, lost, marked, late, duplicate, stray, invalid, foreign, resync, restarts, join_failed,
            reports,
        };
        /// Whether it represents all, as the newest packet has it.
        value is_acker in "flag" = self.is_acker;
    }
}
