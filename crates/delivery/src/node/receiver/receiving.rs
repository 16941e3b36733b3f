//! While a session is received.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use layercast_core::family::Family;
use layercast_core::units::{Channel, Duration, Layer, Rate, Time};

use super::completions::Completions;
use super::output::{Failure, Message, Output};
use super::overload;
use super::path::{Path, Turn};
use super::{PAUSE, Receiver, State, TICK, Taken, Wait};
use crate::follow::Following;
use crate::node::error::{ReceiveError, reasons};
use crate::node::reports::Reached;
use crate::node::session_receiver::{SessionOutput, SessionReceiver};
use crate::node::sink::{Datagrams, Packet, Sink};
use crate::notice::Notice;
use crate::part::Part;
use crate::security::protection::ProtectionCounters;

/// The maximum number of other sources that are reported.
const FOREIGN_SENDERS_MAX: usize = 8;
/// Other senders are reported while the session itself was heard within this time.
const RECENT: Duration = Duration::from_secs(1);

/// A session that is received.
#[derive(Debug)]
pub(super) struct Receiving<F: Family> {
    pub(super) session: SessionReceiver<F>,
    following: Following,
    pub(super) completions: Completions,
    /// Other sources on the session's groups, the first so many of which were reported: each is once in a session.
    foreign_senders: Vec<IpAddr>,
    reported: usize,
    /// The rate of the base layer.
    base: Rate,
    warned_of_base: bool,
}

impl<F: Family> Receiving<F> {
    pub(super) fn new(session: SessionReceiver<F>, now: Time) -> Receiving<F> {
        Receiving {
            base: session.levels().rate(Layer::BASE),
            session,
            following: Following::new(now),
            completions: Completions::default(),
            foreign_senders: Vec::new(),
            reported: 0,
            warned_of_base: false,
        }
    }
}

impl<F: Family, S: Sink> Receiver<F, S> {
    pub(super) fn receive(&mut self, batch: &mut impl Datagrams) -> Result<(), S::Error> {
        self.taken.clear();
        match &mut self.state {
            State::Receiving(_) => self.take(batch),
            State::Foreign(foreign) => {
                for number in 0..batch.count() {
                    let Some((datagram, bytes)) = batch.get_mut(number) else { break };
                    let (at, taken) = (datagram.at, foreign.packet(&datagram, bytes));
                    self.taken.extend(taken.map(|(part, length)| Taken { number, at, part, length }));
                }
                if let Some(session) = foreign.take_found() {
                    self.notice(Notice::FluteSession { session });
                    self.stop_listening();
                }
            }
            _ => {}
        }
        let (taken, batch) = (&self.taken, &*batch);
        let packet = |number: usize| {
            let &Taken { number, at, part, length } = taken.get(number)?;
            let bytes = batch.bytes(number)?;
            let payload = bytes.get(bytes.len().checked_sub(length)?..)?;
            Some(Packet { at, part, payload })
        };
        self.sink.packets(taken.len(), &packet)
    }

    /// Checks the datagrams of a session.
    pub(super) fn take(&mut self, batch: &mut impl Datagrams) {
        let State::Receiving(receiving) = &mut self.state else { return };
        let before = receiving.session.authentic();
        for number in 0..batch.count() {
            let Some((datagram, bytes)) = batch.get_mut(number) else { break };
            let at = datagram.at;
            let Some(accepted) = receiving.session.handle(at, datagram.incoming, datagram.ecn, bytes) else {
                continue;
            };
            let (part, length) = (Part::from(&accepted.repr), accepted.payload.len());
            receiving.following.own(receiving.session.now());
            self.taken.push(Taken { number, at, part, length });
            pump(receiving, &mut self.sink, &mut self.outputs);
        }
        self.now = self.now.max(receiving.session.now());
        self.authentic += receiving.session.authentic() - before;
    }

    pub(super) fn receive_on(&mut self) -> Result<(), Failure<S::Error>> {
        let now = self.now;
        let State::Receiving(receiving) = &mut self.state else { return Ok(()) };
        receiving.session.handle_timer(now);
        pump(receiving, &mut self.sink, &mut self.outputs);
        if receiving.session.has_ended() {
            self.sink.end_session();
        }
        self.is_busy = self.sink.work(now).map_err(Failure::Sink)?;
        let keeps_going = self.settings.keep_going;
        // What is complete needs no packets, which is the cheaper question.
        let needs_packets = keeps_going || self.sink.needs_packets();
        let is_complete = !needs_packets && self.sink.is_complete();
        if is_complete || now >= self.next_tick {
            self.next_tick = now + TICK;
            if let Some(pause) = self.check_path().filter(|_| !is_complete) {
                self.yield_path(pause);
                return Ok(());
            }
        }
        self.report_completion();
        if is_complete {
            self.complete();
            return Ok(());
        }
        let State::Receiving(receiving) = &mut self.state else { return Ok(()) };
        // A service stays for what the source may change.
        if !needs_packets {
            receiving.session.stop(now);
            pump(receiving, &mut self.sink, &mut self.outputs);
            if let State::Receiving(receiving) = std::mem::replace(&mut self.state, State::Idle) {
                self.state = State::Finishing(receiving);
            }
            return Ok(());
        }
        if self.moves_on() {
            return Ok(());
        }
        self.check_limit()?;
        // What is here may suffice, without the spare symbols for which it stays.
        if self.is_busy || self.sink.is_waiting() { Ok(()) } else { self.check() }
    }

    /// Searches again, if the session is silent and another one is not, or if a service's session has ended.
    fn moves_on(&mut self) -> bool {
        let now = self.now;
        let State::Receiving(receiving) = &mut self.state else { return false };
        if let Some(foreign_sender) = receiving.session.take_foreign_sender() {
            if receiving.foreign_senders.len() < FOREIGN_SENDERS_MAX
                && !receiving.foreign_senders.contains(&foreign_sender.from)
            {
                receiving.foreign_senders.push(foreign_sender.from);
            }
            if foreign_sender.may_be_followed {
                receiving.following.other(now);
            }
        }
        let patience = self.settings.patience;
        if receiving.following.is_lost(now) {
            self.notice(Notice::Following);
            self.leave();
            // It may go on after all, and the other one may not fit the keys.
            self.search(Wait { not: None, patience });
            return true;
        }
        if self.settings.keep_going && receiving.session.has_ended() {
            let session = receiving.session.session();
            // Its last packets may still be on their way.
            let not = Some((session.source, session.tsi));
            self.notice(Notice::Waiting { ended: true });
            self.leave();
            self.search(Wait { not, patience });
            return true;
        }
        false
    }

    /// Looks at the path, and reports. A pause, if the path does not carry the base layer.
    pub(super) fn check_path(&mut self) -> Option<Duration> {
        let now = self.now;
        self.outputs.push_back(Output::Tick);
        let State::Receiving(receiving) = &mut self.state else { return None };
        let session = receiving.session.session();
        let (group, source, packet) = (session.group, session.source, session.packet);
        let silent = receiving.following.silent_for(now);
        // A session that is silent as well is followed soon.
        if silent < RECENT {
            for &from in receiving.foreign_senders.iter().skip(receiving.reported) {
                self.outputs.push_back(Output::Notice(Notice::OtherSession { from, group, source }));
            }
            receiving.reported = receiving.foreign_senders.len();
        }
        let (alone_for, recent) =
            (receiving.session.base_only_for(now), receiving.session.recent_packets(now));
        if !receiving.warned_of_base
            && let Some(notice) = overload::notice(receiving.base, packet, alone_for, recent)
        {
            receiving.warned_of_base = true;
            self.outputs.push_back(Output::Notice(notice));
        }
        if receiving.session.take_unheard() {
            self.outputs.push_back(Output::Notice(Notice::NotHeard));
        }
        self.turn(silent);
        self.tend_sink();
        let State::Receiving(receiving) = &mut self.state else { return None };
        // A service that has everything holds the base alone, by which it learns of what is new.
        receiving.session.set_rest(now, self.settings.keep_going && self.sink.is_up_to_date());
        pump(receiving, &mut self.sink, &mut self.outputs);
        note_progress(receiving, &self.sink, now, self.begun);
        if self.sink.is_complete() && self.wants_completions() {
            let State::Receiving(receiving) = &mut self.state else { return None };
            receiving.completions.begin(now, &mut self.random);
        }
        self.breaker.check(alone_for > Duration::ZERO, recent, TICK)
    }

    /// Has the sink store what waits; that of a service tries what failed again.
    pub(super) fn tend_sink(&mut self) {
        self.sink.flush();
        if self.settings.keep_going && self.now >= self.next_try {
            self.next_try = self.now + PAUSE;
            self.sink.try_again();
        }
    }

    /// Whether the session has ended, or is silent.
    pub(super) fn check(&self) -> Result<(), Failure<S::Error>> {
        let State::Receiving(receiving) = &self.state else { return Ok(()) };
        if receiving.session.has_ended() && !self.sink.is_complete() {
            let (progress, _) = self.sink.progress();
            let (held, needed) = (progress.held, progress.needed);
            return Err(Failure::Session(ReceiveError::SessionEnded { held, needed }));
        }
        let silent = receiving.following.silent_for(self.now);
        if silent < self.settings.patience {
            return Ok(());
        }
        let forged = receiving.session.protection().map_or(0, ProtectionCounters::forged);
        let reasons = reasons(&receiving.session.counters().accept, forged, true);
        let group = receiving.session.session().group;
        Err(Failure::Session(ReceiveError::Silent { group, waited: silent.into(), reasons }))
    }

    /// Takes another path, if this one has been silent for so long, or multicast comes again. The session notices nothing but what
    /// is lost meanwhile.
    pub(super) fn turn(&mut self, silent: Duration) {
        let group = self.settings.known.group();
        let path = match self.path.poll(self.now, silent) {
            None => return,
            Some(Turn::Probe(begins)) => return self.outputs.push_back(Output::Probe(begins)),
            Some(Turn::Lost(waited)) => {
                self.notice(Notice::NoMulticast { group, waited: waited.into() });
                Path::Relay(Duration::ZERO)
            }
            Some(Turn::Back) => {
                self.outputs.push_back(Output::Probe(false));
                self.notice(Notice::MulticastBack { group });
                Path::Multicast
            }
        };
        self.outputs.push_back(Output::Open(path));
        match &self.state {
            State::Receiving(receiving) => {
                for channel in receiving.session.held() {
                    let group = session_address(&receiving.session, channel);
                    self.outputs.extend(group.map(|group| Output::Join(channel, group)));
                }
            }
            _ => self.outputs.push_back(Output::Join(Channel(0), group)),
        }
    }

    pub(super) fn check_limit(&self) -> Result<(), Failure<S::Error>> {
        let Some(after) = self.settings.within.filter(|&within| self.now.since(self.begun) >= within) else {
            return Ok(());
        };
        let (progress, _) = self.sink.progress();
        let after = after.into();
        Err(Failure::Session(ReceiveError::TimeOver { after, held: progress.held, needed: progress.needed }))
    }
}

/// Takes what the receiver of a session wants.
pub(super) fn pump<F: Family, S: Sink>(
    receiving: &mut Receiving<F>,
    sink: &mut S,
    outputs: &mut VecDeque<Output<S::Error>>,
) {
    let session = &mut receiving.session;
    while let Some(output) = session.poll() {
        let to = session.session().feedback;
        match output {
            SessionOutput::Join(channel) => {
                let group = session_address(session, channel);
                outputs.extend(group.map(|group| Output::Join(channel, group)));
            }
            SessionOutput::Leave(channel) => {
                sink.left(session.now(), channel);
                let group = session_address(session, channel);
                outputs.extend(group.map(|group| Output::Leave(channel, group)));
            }
            SessionOutput::Report(message) => outputs.push_back(Output::Send(Message::Report, message, to)),
            SessionOutput::Send(message) => outputs.push_back(Output::Send(Message::Other, message, to)),
        }
    }
    if session.has_log() {
        let estimates = session.estimates();
        outputs.extend(session.drain_log().map(|note| Output::Trace(note, estimates)));
    }
}

fn session_address<F: Family>(session: &SessionReceiver<F>, channel: Channel) -> Option<SocketAddr> {
    session.session().address(channel)
}

/// Notes how far the sink is, for reports.
pub(super) fn note_progress<F: Family, S: Sink>(
    receiving: &mut Receiving<F>,
    sink: &S,
    now: Time,
    begun: Time,
) {
    let (objects, useful) = sink.progress();
    receiving.session.note_progress(now, &Reached { objects, useful, elapsed: now.since(begun) });
}
