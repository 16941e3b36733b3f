//! A receiver of NCA: requests missing packets, reports its state, and acknowledges while it is nominated.

mod window;

use self::window::{ArrivalOutcome, Reception};
use super::caller::Caller;
use super::{Ack, Candidate, Data, Header, Nack, Options, Report};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, JoinError, Origin, Send, Timers,
    TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Duration, Level, Seq, Size, Time};

const CHANNEL: Channel = Channel(0);
/// The wait before a request is repeated while no round-trip time is known (CHOICE).
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// The longest wait, and how often it doubles before that (DyRAM: at most 10 s).
const LONGEST_RETRY: Duration = Duration::from_secs(10);
const MOST_DOUBLINGS: u32 = 8;

timers! {
    /// What the receiver's timers are for.
    enum Timer {
        /// A report is due.
        Report,
        /// A requested packet has not come.
        Retry,
    }
}

/// A receiver of a session.
#[derive(Clone, Debug)]
pub struct Receiver {
    id: u32,
    size: Size,
    interval: Duration,
    reception: Reception,
    caller: Caller,
    timers: Timers<Timer>,
    /// How often the present request was repeated.
    retries: u32,
    level: Level,
    /// Whether it was nominated by the newest data.
    acknowledges: bool,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver. It draws a number for itself from `stream`.
    pub fn new(options: &Options, _plan: SessionPlan, mut stream: Stream) -> Receiver {
        Receiver {
            id: stream.bits() as u32,
            size: options.feedback_size,
            interval: options.report_interval,
            reception: Reception::new(options),
            caller: Caller::new(options),
            timers: Timers::default(),
            retries: 0,
            level: Level::NONE,
            acknowledges: false,
            actions: ActionQueue::default(),
        }
    }

    fn set_level(&mut self, to: Level, cause: Cause) {
        if to != self.level {
            self.actions.trace(TraceEvent::LevelChanged { from: self.level, to, cause });
            self.level = to;
        }
    }

    fn state(&self) -> Option<Candidate> {
        Some(Candidate { id: self.id, loss: self.reception.loss(), rtt: self.caller.rtt()? })
    }

    fn report(&mut self, now: Time) {
        let report = Report { worst: self.state(), complete: self.reception.complete().wire() };
        self.actions.send(Send::report(Header::Report(report), self.size));
        self.timers.arm(Timer::Report, now + self.interval);
    }

    fn on_data(&mut self, now: Time, data: Data, is_repair: bool) {
        let seq = data.seq.expand(self.reception.next());
        let forgotten = data.released.map_or(Seq(0), |last| Seq(last.expand(seq).0 + 1)).min(seq);
        let begins = !self.reception.has_begun();
        if begins {
            if is_repair {
                return;
            }
            self.reception.begin(forgotten, seq);
        }
        let outcome = self.reception.accept(seq, is_repair);
        self.reception.forget(forgotten);
        if let Some(through) = self.reception.deliver() {
            self.actions.deliver(through);
            self.retries = 0;
        }
        if outcome == ArrivalOutcome::Refused {
            return;
        }
        if !is_repair {
            self.acknowledges = data.nominee == Some(self.id);
            if let (true, Some(nominee)) = (self.acknowledges, self.state()) {
                let complete = self.reception.complete().wire();
                let ack = Ack { nominee, complete, echo: data.sent };
                self.actions.send(Send::report(Header::Ack(ack), self.size));
            }
        }
        if begins || outcome == ArrivalOutcome::AfterGap {
            self.ask(now);
        } else if self.reception.missing().is_none() {
            self.timers.disarm(Timer::Retry);
        }
    }

    /// Requests missing packets, and repeats the request later.
    fn ask(&mut self, now: Time) {
        let Some((first, more)) = self.reception.missing() else {
            self.timers.disarm(Timer::Retry);
            return;
        };
        self.actions.send(Send::report(Header::Nack(Nack { first: first.wire(), more }), self.size));
        let wait = self.caller.rtt().map_or(FIRST_RETRY, |rtt| (rtt * 2).max(Duration::from_ms(20)));
        let doubled = wait * (1u64 << self.retries.min(MOST_DOUBLINGS));
        self.timers.arm(Timer::Retry, now + doubled.min(LONGEST_RETRY));
    }

    fn stop(&mut self, leave: bool, cause: Cause) {
        if leave && self.level != Level::NONE {
            self.actions.leave(CHANNEL);
        }
        self.set_level(Level::NONE, cause);
        self.timers.clear();
        self.caller.stop();
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        if matches!(input, Input::Start) {
            self.actions.join(CHANNEL);
            self.set_level(Level::from_count(1), Cause::Start);
            self.caller.beat(now, &mut self.actions);
            self.report(now);
            return;
        }
        if self.level == Level::NONE {
            return;
        }
        match input {
            Input::Packet(Arrival { header: Header::Data(data), origin: Origin::Channel(_), .. }) => {
                self.on_data(now, data, false);
            }
            Input::Packet(Arrival { header: Header::Repair(data), origin: Origin::Channel(_), .. }) => {
                self.on_data(now, data, true);
            }
            Input::Packet(Arrival { header: Header::Answer(answer), origin: Origin::Peer(_), .. }) => {
                if self.caller.on_answer(now, answer) {
                    self.report(now);
                }
            }
            Input::Timer => {
                if self.caller.next().is_some_and(|next| next <= now) {
                    self.caller.beat(now, &mut self.actions);
                }
                while let Some(timer) = self.timers.take_expired(now) {
                    match timer {
                        Timer::Report => self.report(now),
                        Timer::Retry => {
                            self.retries = self.retries.saturating_add(1);
                            self.ask(now);
                        }
                    }
                }
            }
            Input::JoinFailed(CHANNEL, JoinError::Limit | JoinError::Refused) => {
                self.stop(false, Cause::JoinFailed);
            }
            Input::Stop => self.stop(true, Cause::Stop),
            Input::Start
            | Input::Packet(_)
            | Input::JoinFailed(..)
            | Input::SendRefused(_)
            | Input::Demand(_)
            | Input::DataExhausted
            | Input::DataAvailable
            | Input::Finish => {}
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        [self.timers.next(), self.caller.next()].into_iter().flatten().min()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        Estimates {
            level: self.level,
            loss: Some(self.reception.loss()),
            rtt: self.caller.rtt(),
            ..Estimates::default()
        }
    }

    gauges! { |self, _now|
        /// Packets that are complete from the beginning.
        count complete in "packets" = self.reception.complete().0;
        /// Whether it was nominated by the newest data.
        value is_nominee in "flag" = self.acknowledges;
        /// How often the present request was repeated.
        value retries in "requests" = self.retries;
    }
}
