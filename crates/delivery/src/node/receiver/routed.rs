//! A session whose routers take part: its packets come from a relay or the source, in order, and this receiver may repair what
//! others miss. There are no groups, and no search: the parent says what it serves.

use std::collections::VecDeque;
use std::net::SocketAddr;

use layercast_core::contract::Ecn;
use layercast_core::family::Family;
use layercast_core::units::{Duration, Time};

use super::output::{Failure, Output};
use super::path::Path;
use super::searching::check_key;
use super::{Receiver, State, TICK};
use crate::active::Wire;
use crate::active::member::{Member, Ready};
use crate::active::uplink::UpOptions;
use crate::node::error::ReceiveError;
use crate::node::sink::{Datagrams, Packet, Sink};
use crate::notice::Notice;
use crate::relay::session::SessionKey;
use crate::search::Known;
use crate::session::{Session, SessionError};

/// The first hello to a parent: within this time.
const HELLO_WITHIN: Duration = Duration::from_ms(100);
/// How long a receiver that has everything stays at most, to repair what others miss (CHOICE).
const LINGER: Duration = Duration::from_secs(60);
/// How long it stays without a parent.
const ALONE: Duration = Duration::from_secs(3);

/// A part in such a session.
#[derive(Debug)]
pub(super) struct Routed {
    member: Member,
    begun: Time,
    /// When a parent served this receiver last.
    served: Option<Time>,
    completed: Option<Time>,
    refused: Option<ReceiveError>,
    is_late: bool,
}

impl Routed {
    /// The part in the session.
    pub(super) fn member(&self) -> &Member {
        &self.member
    }

    /// When there is something to do.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.member.deadline()
    }

    /// Says goodbye to the parent.
    pub(super) fn close<E>(&mut self, outputs: &mut VecDeque<Output<E>>) {
        self.member.close(&mut Outputs(outputs));
    }
}

/// Datagrams to the parent become outputs.
struct Outputs<'a, E>(&'a mut VecDeque<Output<E>>);

impl<E> Wire for Outputs<'_, E> {
    fn send(&mut self, to: SocketAddr, ecn: Ecn, head: &[u8], body: &[u8]) -> bool {
        self.0.push_back(Output::Unicast { to, ecn, bytes: [head, body].concat() });
        true
    }
}

impl<F: Family, S: Sink> Receiver<F, S> {
    pub(super) fn search_routed(&mut self) {
        let Some(parents) = &self.settings.parents else { return };
        let up = UpOptions {
            session: SessionKey { group: self.settings.known.group(), source: None },
            parents: parents.addresses.clone(),
            within: HELLO_WITHIN,
        };
        self.outputs.push_back(Output::Open(Path::Parents));
        self.state = State::Routed(Box::new(Routed {
            member: Member::new(&up, self.now, parents.secret),
            begun: self.now,
            served: None,
            completed: None,
            refused: None,
            is_late: false,
        }));
    }

    /// Datagrams of the parent.
    pub(super) fn receive_routed_in(&mut self, batch: &mut impl Datagrams) -> Result<(), S::Error> {
        for number in 0..batch.count() {
            let State::Routed(routed) = &mut self.state else { return Ok(()) };
            let Some((datagram, bytes)) = batch.get_mut(number) else { break };
            self.now = self.now.max(datagram.at);
            let (from, ecn) = (datagram.incoming.from, datagram.ecn);
            let described =
                routed.member.receive(self.now, from, ecn, bytes, &mut Outputs(&mut self.outputs));
            if let Some(session) = described {
                self.begin_routed(session);
            }
            self.take_chunks()?;
        }
        Ok(())
    }

    fn begin_routed(&mut self, session: Session) {
        let settings = &self.settings;
        let begins = is_known(&settings.known, &session)
            .and_then(|()| check_key(settings, &session))
            .and_then(|()| self.sink.check(&session));
        let State::Routed(routed) = &mut self.state else { return };
        // The last session of this name, which its source still ends.
        if self.wait.not.is_some_and(|(_, tsi)| tsi == session.tsi) {
            return;
        }
        let begun = begins.and_then(|()| {
            self.outputs.push_back(Output::Found(Box::new(session.clone())));
            let wire = &mut Outputs(&mut self.outputs);
            let (key, options) = (settings.group_key.as_ref(), &settings.protocol_options);
            Ok(routed.member.begin(self.now, session, key, options, wire)?)
        });
        routed.refused = begun.err();
        if routed.refused.is_none() {
            self.stop_listening();
        }
    }

    /// Passes on what came in order.
    fn take_chunks(&mut self) -> Result<(), S::Error> {
        let State::Routed(routed) = &mut self.state else { return Ok(()) };
        let (member, at) = (&mut routed.member, self.now);
        if member.ready().is_empty() {
            return Ok(());
        }
        let chunk = |number: usize| {
            let chunk: &Ready = member.ready().get(number)?;
            Some(Packet { at, part: chunk.part, payload: member.bytes(chunk) })
        };
        let taken = self.sink.packets(member.ready().len(), &chunk);
        member.clear_ready();
        taken
    }

    pub(super) fn receive_routed(&mut self) -> Result<(), Failure<S::Error>> {
        let now = self.now;
        let State::Routed(routed) = &mut self.state else { return Ok(()) };
        routed.member.handle_timer(now, &mut Outputs(&mut self.outputs));
        while let Some(news) = routed.member.up().take_news() {
            self.outputs.push_back(Output::Notice(Notice::Relay { news }));
        }
        if routed.member.up().is_served() {
            routed.served = Some(now);
        }
        if routed.member.lacking() > 0 && !std::mem::replace(&mut routed.is_late, true) {
            self.outputs.push_back(Output::Notice(Notice::CameLate));
        }
        if let Some(error) = routed.refused.take() {
            return Err(Failure::Session(error));
        }
        self.take_chunks().map_err(Failure::Sink)?;
        let State::Routed(routed) = &self.state else { return Ok(()) };
        let (has_ended, has_left) = (routed.member.has_ended(), routed.member.has_left());
        if has_ended {
            self.sink.end_session();
        }
        self.is_busy = self.sink.work(now).map_err(Failure::Sink)?;
        let is_complete = !self.sink.needs_packets() && self.sink.is_complete();
        let State::Routed(routed) = &mut self.state else { return Ok(()) };
        let is_first = is_complete && routed.completed.is_none();
        if is_complete {
            routed.completed.get_or_insert(now);
        }
        let silent = now.since(routed.served.unwrap_or(routed.begun));
        if is_first || now >= self.next_tick {
            self.next_tick = now + TICK;
            self.outputs.push_back(Output::Tick);
            self.sink.flush();
        }
        if let Some(since) = routed.completed {
            // Others may need repairs until the source has ended, or the parent is gone.
            if has_ended || silent > ALONE || now.since(since) > LINGER {
                self.end_routed();
            }
            return Ok(());
        }
        if self.is_busy || self.sink.is_waiting() {
            return self.check_limit();
        }
        let (progress, _) = self.sink.progress();
        if has_left {
            return Err(Failure::Session(ReceiveError::Left));
        }
        if has_ended {
            let (held, needed) = (progress.held, progress.needed);
            return Err(Failure::Session(ReceiveError::SessionEnded { held, needed }));
        }
        let patience = if routed.served.is_some() { self.settings.patience } else { self.wait.patience };
        if silent >= patience {
            let reasons = "No relay or source answers: it does not run, or UDP does not pass to it and back";
            let group = self.settings.known.group();
            let waited = silent.into();
            return Err(Failure::Session(ReceiveError::Silent {
                group,
                waited,
                reasons: reasons.to_owned(),
            }));
        }
        self.check_limit()
    }

    /// All is there, and others need nothing more.
    fn end_routed(&mut self) {
        let State::Routed(routed) = &self.state else { return };
        if !self.settings.keep_going {
            return self.complete();
        }
        let not = routed.member.session().map(|session| (session.source, session.tsi));
        self.notice(Notice::Waiting { ended: true });
        self.leave();
        self.sink.restart();
        self.search(super::Wait { not, patience: self.settings.patience });
    }
}

/// Whether a session is the one that was described.
fn is_known(known: &Known, session: &Session) -> Result<(), ReceiveError> {
    match known {
        Known::Session(known) if known.tsi != session.tsi || known.group_key != session.group_key => {
            let what = format!("the parent serves another session: {} on {}", session.tsi, session.group);
            Err(ReceiveError::Search(SessionError::Mismatch(what).into()))
        }
        _ => Ok(()),
    }
}
