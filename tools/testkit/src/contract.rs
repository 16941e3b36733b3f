//! The check of the contract between an endpoint and its host, for every endpoint alike.

use std::collections::BTreeSet;
use std::fmt::Debug;

use layercast_core::contract::{Action, Arrival, Ecn, Endpoint, Estimates, Header, Input, JoinError};
use layercast_core::units::{Channel, Duration, Level, Seq, Time};

/// More actions than this after one input count as endless.
const MAX_ACTIONS: usize = 10_000;
/// More timers than this at one wait count as a host that is made to spin.
const MAX_TIMERS: usize = 200_000;
/// More timers than this after the end of the data count as a source that does not end.
const MAX_LAST_TIMERS: usize = 20_000;
/// A source that has a deadline so long after the end of the data does not end.
const LONGEST_END: Duration = Duration::from_secs(3600);

/// More gauges than this have no place in a table.
const MAX_GAUGES: usize = 64;

/// One thing that happens to an endpoint under test.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation<H> {
    /// Time passes; timers that fall due are given at their deadline.
    Wait(Duration),
    /// The next packet of the traffic arrives.
    Packet,
    /// So many packets of the traffic are lost.
    Lose(u16),
    /// The packet that arrived last arrives again.
    Duplicate,
    /// The next packet of the traffic arrives with a congestion mark.
    Mark,
    /// Any packet at all arrives.
    Forged(Arrival<H>),
    /// A timer input before its time.
    Timer,
    /// The newest join failed.
    JoinFailed,
    /// A send on the channel was refused.
    SendRefused(Channel),
    /// Receivers hold levels up to this one.
    Demand(Level),
    /// The application has nothing to send.
    DataExhausted,
    /// The application has something to send.
    DataAvailable,
    /// The application will have nothing more to send.
    Finish,
    /// The host stops the endpoint.
    Stop,
}

/// Drives an endpoint through `operations` and asserts the rules of the contract.
///
/// `traffic` gives the next packet that the network would bring to an endpoint that holds these
/// channels, or none. `make` builds the same endpoint each time it is called; a twin gets the same
/// inputs and must do the same, first as built alike, then as a clone.
///
/// # Panics
/// If a rule is broken.
pub fn check_endpoint<E>(
    make: impl Fn() -> E,
    mut traffic: impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<E::Header>>,
    operations: &[Operation<E::Header>],
) where
    E: Endpoint + Clone,
    E::Header: Header + PartialEq + Debug,
{
    Subject::after(make, &mut traffic, operations).stop(&mut traffic);
}

/// [`check_endpoint`] for a source, which must also end when its data has ended: after [`Input::Finish`] and
/// without further packets it has no deadline any more, after a bounded number of timers.
///
/// # Panics
/// If a rule is broken.
pub fn check_source<E>(
    make: impl Fn() -> E,
    mut traffic: impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<E::Header>>,
    operations: &[Operation<E::Header>],
) where
    E: Endpoint + Clone,
    E::Header: Header + PartialEq + Debug,
{
    let mut subject = Subject::after(make, &mut traffic, operations);
    subject.finish();
    subject.stop(&mut traffic);
}

struct Subject<E: Endpoint> {
    endpoint: E,
    twin: E,
    now: Time,
    held: BTreeSet<Channel>,
    newest_join: Option<Channel>,
    last: Option<Arrival<E::Header>>,
    delivered: Option<Seq>,
    released: Option<Seq>,
    finished: bool,
    stopped: bool,
}

impl<E> Subject<E>
where
    E: Endpoint,
    E::Header: Header + PartialEq + Debug,
{
    fn new(endpoint: E, twin: E) -> Subject<E> {
        Subject {
            endpoint,
            twin,
            now: Time::from_ns(1),
            held: BTreeSet::new(),
            newest_join: None,
            last: None,
            delivered: None,
            released: None,
            finished: false,
            stopped: false,
        }
    }

    /// An endpoint that has started and to which `operations` have happened.
    fn after(
        make: impl Fn() -> E,
        traffic: &mut impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<E::Header>>,
        operations: &[Operation<E::Header>],
    ) -> Subject<E>
    where
        E: Clone,
    {
        let mut subject = Subject::new(make(), make());
        subject.give(Input::Start);
        for (index, operation) in operations.iter().enumerate() {
            if index == operations.len() / 2 {
                subject.twin = subject.endpoint.clone();
            }
            subject.operate(operation, traffic);
        }
        subject.check_gauges();
        subject
    }

    /// The data ends. The source winds down in its own time, and data that comes later changes nothing.
    fn finish(&mut self) {
        self.give(Input::Finish);
        let latest = self.now + LONGEST_END;
        let mut timers = 0;
        while let Some(at) = self.endpoint.deadline() {
            timers += 1;
            let waited = at.since(latest - LONGEST_END);
            assert!(at <= latest, "finished, but has a deadline after {waited}");
            assert!(timers <= MAX_LAST_TIMERS, "finished, but has had {MAX_LAST_TIMERS} timers in {waited}");
            self.now = at;
            self.give(Input::Timer);
        }
        self.finished = true;
        self.give(Input::DataAvailable);
        assert_eq!(self.endpoint.deadline(), None, "finished, but woken by data");
        self.finished = false;
    }

    /// A stopped endpoint asks for nothing more, whatever happens.
    fn stop(&mut self, traffic: &mut impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<E::Header>>) {
        let wait = Operation::Wait(Duration::from_secs(100));
        for operation in [Operation::Stop, Operation::Packet, Operation::Timer, wait] {
            self.operate(&operation, traffic);
        }
    }

    fn operate(
        &mut self,
        operation: &Operation<E::Header>,
        traffic: &mut impl FnMut(Time, &BTreeSet<Channel>) -> Option<Arrival<E::Header>>,
    ) {
        match operation {
            Operation::Wait(span) => self.wait(*span),
            Operation::Packet | Operation::Mark => {
                if let Some(mut arrival) = traffic(self.now, &self.held) {
                    if *operation == Operation::Mark {
                        arrival.ecn = Ecn::Marked;
                    }
                    self.last = Some(arrival);
                    self.give(Input::Packet(arrival));
                }
            }
            Operation::Lose(count) => {
                for _ in 0..*count {
                    traffic(self.now, &self.held);
                }
            }
            Operation::Duplicate => {
                if let Some(arrival) = self.last {
                    self.give(Input::Packet(arrival));
                }
            }
            Operation::Forged(arrival) => self.give(Input::Packet(*arrival)),
            Operation::Timer => self.give(Input::Timer),
            Operation::JoinFailed => {
                if let Some(channel) = self.newest_join.take().filter(|channel| self.held.remove(channel)) {
                    self.give(Input::JoinFailed(channel, JoinError::Limit));
                }
            }
            Operation::SendRefused(channel) => self.give(Input::SendRefused(*channel)),
            Operation::Demand(level) => self.give(Input::Demand(*level)),
            Operation::DataExhausted => self.give(Input::DataExhausted),
            Operation::DataAvailable => self.give(Input::DataAvailable),
            Operation::Finish => self.give(Input::Finish),
            Operation::Stop if self.stopped => {}
            Operation::Stop => {
                self.give(Input::Stop);
                self.stopped = true;
                assert!(self.held.is_empty(), "stopped, but still holds {:?}", self.held);
                assert_eq!(self.endpoint.deadline(), None, "stopped, but has a deadline");
            }
        }
    }

    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        for _ in 0..MAX_TIMERS {
            match self.endpoint.deadline() {
                Some(at) if at <= end => {
                    self.now = at;
                    self.give(Input::Timer);
                }
                _ => {
                    self.now = end;
                    return;
                }
            }
        }
        panic!("{MAX_TIMERS} timers within {span}");
    }

    /// Gives one input to both endpoints, drains them and checks what they ask for.
    fn give(&mut self, input: Input<E::Header>) {
        let now = self.now;
        self.endpoint.handle(now, input);
        self.twin.handle(now, input);
        for count in 0.. {
            assert!(count < MAX_ACTIONS, "actions without end after {input:?}");
            let action = self.endpoint.poll_action();
            assert_eq!(action, self.twin.poll_action(), "twins differ after {input:?} at {now}");
            let Some(action) = action else { break };
            assert!(!self.stopped, "stopped, but asks for {action:?}");
            self.watch(action);
        }
        let deadline = self.endpoint.deadline();
        assert_eq!(deadline, self.twin.deadline(), "twins' deadlines differ after {input:?}");
        assert!(deadline.is_none_or(|at| at > now), "deadline {deadline:?} is not after {now:?}, {input:?}");
        check_estimates(&self.endpoint.estimates(now));
    }

    /// Gauges have values that can be drawn, the same at the twin, and none beyond their list.
    fn check_gauges(&self) {
        for index in 0..MAX_GAUGES {
            let value = self.endpoint.gauge(index, self.now);
            assert!(value.is_none_or(f64::is_finite), "gauge {index} is {value:?}");
            assert_eq!(value, self.twin.gauge(index, self.now), "twins' gauges {index} differ");
        }
        assert_eq!(self.endpoint.gauge(MAX_GAUGES, self.now), None, "more than {MAX_GAUGES} gauges");
    }

    fn watch(&mut self, action: Action<E::Header>) {
        match action {
            Action::Join(channel) => {
                assert!(self.held.insert(channel), "joins {channel:?}, which it holds");
                self.newest_join = Some(channel);
            }
            Action::Leave(channel) => {
                assert!(self.held.remove(&channel), "leaves {channel:?}, which it does not hold");
            }
            Action::Send(send) => {
                assert!(send.count >= 1, "sends a run of no packets");
                assert!(!self.finished, "finished, but sends for data that came later");
            }
            Action::Deliver(through) => {
                assert!(grows(&mut self.delivered, through), "delivers {through:?} again")
            }
            Action::Release(through) => {
                assert!(grows(&mut self.released, through), "releases {through:?} again")
            }
            Action::Trace(_) => {}
        }
    }
}

/// Whether a number lies after the previous one, which it replaces.
fn grows(previous: &mut Option<Seq>, now: Seq) -> bool {
    previous.replace(now).is_none_or(|before| before < now)
}

fn check_estimates(estimates: &Estimates) {
    if let Some(loss) = estimates.loss {
        assert!((0.0..=1.0).contains(&loss), "estimates a loss rate of {loss}");
    }
}

#[cfg(test)]
mod tests;
