//! From the start to a session.

use layercast_core::family::{AnyProtocol as _, Family};
use layercast_core::units::{Channel, Duration};

use super::foreign::Foreign;
use super::output::{Failure, Message, Output};
use super::path::{NATIVE_FOR, PathChoice};
use super::receiving::{Receiving, pump};
use super::searching::{Searching, check_key};
use super::{Last, Receiver, State, TICK, Wait};
use crate::node::LevelDemand;
use crate::node::error::ReceiveError;
use crate::node::session_receiver::SessionReceiver;
use crate::node::sink::{Datagrams, Sink};
use crate::notice::Notice;
use crate::protocols;
use crate::search::{FoundSession, Known};

impl<F: Family, S: Sink> Receiver<F, S> {
    pub(super) fn search(&mut self, wait: Wait) {
        self.wait = wait;
        self.put_check();
        self.is_busy = false;
        self.next_tick = self.now + TICK;
        if self.settings.parents.is_some() {
            return self.search_routed();
        }
        self.state = match &self.settings.known {
            Known::Flute(session) => State::Foreign(Box::new(Foreign::new(self.now, *session))),
            Known::Group(..) | Known::Session(_) => State::Searching(Box::new(Searching::new(
                self.now,
                &self.settings,
                wait.not,
                self.random.bits(),
            ))),
        };
        self.outputs.push_back(Output::Open(self.path.path()));
        self.outputs.push_back(Output::Join(Channel(0), self.settings.known.group()));
    }

    /// What came of the session that was left does not come again, should it be found again.
    pub(super) fn put_check(&mut self) {
        if let (State::Finishing(left) | State::Over(Last::Session(left)), Some(checks)) =
            (&mut self.state, &mut self.check)
        {
            left.session.put_check(checks);
        }
    }

    pub(super) fn search_on(&mut self) -> Result<(), Failure<S::Error>> {
        self.check_limit()?;
        let (now, group) = (self.now, self.settings.known.group());
        if self.is_here() && self.is_listening {
            self.stop_listening();
            if self.settings.keep_going {
                self.wait = self.wait_of_service();
            }
        }
        let State::Searching(searching) = &mut self.state else { return Ok(()) };
        if now >= self.next_tick {
            self.next_tick = now + TICK;
            searching.refill();
        }
        if let Some((message, to)) = searching.take_demand(now, &self.settings) {
            self.outputs.push_back(Output::Send(Message::Other, message, to));
        }
        if searching.take_unheard() {
            self.outputs.push_back(Output::Notice(Notice::NotHeard));
        }
        let refused = searching.refused(now, &self.settings);
        let has_keys = self.settings.group_key.is_some() || !self.settings.keys.is_empty();
        let (waited, patience) = (now.since(searching.since), self.wait.patience);
        let (limit, has_relay_left) = search_limit(&self.path, patience);
        let error = match refused {
            // Anyone can send what does not fit the keys that are given: their session may still come.
            Some(error) if has_keys && waited < limit => {
                if let Some(reason) = searching.take_new_reason(error.to_string()) {
                    self.outputs.push_back(Output::Notice(Notice::PassedOver { group, reason }));
                }
                return Ok(());
            }
            Some(error) => error,
            None if waited >= limit => searching.silence(group, patience),
            None => return Ok(()),
        };
        if has_relay_left {
            self.notice(Notice::NoMulticast { group, waited: waited.into() });
            self.leave();
            self.path.use_relay(now);
            self.search(self.wait);
            return Ok(());
        }
        Err(Failure::Session(error))
    }

    pub(super) fn search_in(&mut self, batch: &mut impl Datagrams) -> Option<FoundSession> {
        let State::Searching(searching) = &mut self.state else { return None };
        for number in 0..batch.count() {
            let (datagram, bytes) = batch.get_mut(number)?;
            self.now = self.now.max(datagram.at);
            let notice = &mut |notice| self.outputs.push_back(Output::Notice(notice));
            let before = searching.authentic();
            let found = searching.packet::<F>(&self.settings, self.check.as_mut(), &datagram, bytes, notice);
            self.authentic += searching.authentic() - before;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    pub(super) fn begin(&mut self, found: FoundSession) {
        let State::Searching(searching) = std::mem::replace(&mut self.state, State::Idle) else { return };
        if let Err(failure) = self.try_begin(found, searching.into_demand()) {
            self.outputs.push_back(Output::Leave(Channel(0), self.settings.known.group()));
            self.fail(failure);
        }
    }

    pub(super) fn try_begin(
        &mut self,
        found: FoundSession,
        demand: LevelDemand,
    ) -> Result<(), Failure<S::Error>> {
        let settings = &self.settings;
        check_key(settings, &found.session).map_err(Failure::Session)?;
        self.sink.check(&found.session).map_err(Failure::Session)?;
        self.outputs.push_back(Output::Found(Box::new(found.session.clone())));
        let protocol = protocols::of_session(&found.session, &settings.protocol_options);
        let protocol: F::Protocol = protocol.map_err(|error| Failure::Session(error.into()))?;
        if protocol.requirements().has_routers() {
            return Err(Failure::Session(ReceiveError::NoParents { protocol: found.session.protocol }));
        }
        self.sink.follow(&found).map_err(Failure::Sink)?;
        let mut session = SessionReceiver::new(&protocol, found.session, settings.seed);
        if let Some(checks) = &mut self.check {
            session.protect(checks);
        }
        if !settings.silent {
            session.answer_polls(settings.number);
        }
        session.say_demand(demand);
        if settings.traces {
            session.keep_log();
        }
        session.start(self.now);
        let mut receiving = Receiving::new(session, self.now);
        pump(&mut receiving, &mut self.sink, &mut self.outputs);
        self.state = State::Receiving(Box::new(receiving));
        self.next_tick = self.now + TICK;
        self.stop_listening();
        Ok(())
    }
}

/// For how long a search goes on by the present path, and whether another one is tried then.
pub(super) fn search_limit(path: &PathChoice, patience: Duration) -> (Duration, bool) {
    if path.has_relay_left() && patience > NATIVE_FOR { (NATIVE_FOR, true) } else { (patience, false) }
}
