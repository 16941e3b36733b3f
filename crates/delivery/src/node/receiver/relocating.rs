//! The session of a name is not where it was announced: announcements are listened to again, next to the place where it was.

use std::net::IpAddr;

use layercast_core::family::Family;
use layercast_core::units::{Duration, Time};

use super::output::{Failure, Output};
use super::path::{PathChoice, Paths};
use super::{Receiver, State, Wait};
use crate::node::error::ReceiveError;
use crate::node::sink::Sink;
use crate::notice::Notice;

impl<F: Family, S: Sink> Receiver<F, S> {
    /// An announcement came from a host, or something else, while the receiver listens.
    pub fn handle_announcement(&mut self, now: Time, from: IpAddr, bytes: &[u8]) {
        self.now = self.now.max(now);
        if self.is_here() || !self.is_listening {
            return;
        }
        let Some(relocation) = &mut self.relocation else { return };
        let (silent, salt) = (&self.settings.known, self.settings.salt);
        let Some(place) = relocation.receive(self.now, from, bytes, silent, salt) else { return };
        self.stop_listening();
        self.leave();
        self.put_check();
        self.check.iter_mut().for_each(|check| check.set_salt(place.salt));
        (self.settings.known, self.settings.salt) = (place.known.clone(), place.salt);
        self.path = PathChoice::new(self.settings.paths, &mut self.random);
        self.outputs.push_back(Output::Relocated(Box::new(place)));
        self.search(Wait { not: None, patience: self.settings.start_within });
    }

    /// Packets can come by these paths from now on, since the announcement names relays.
    pub fn set_paths(&mut self, paths: Paths) {
        self.settings.paths = paths;
        self.path.set_paths(paths);
    }

    /// How many announced sessions it keeps.
    pub fn announced_sessions(&self) -> usize {
        self.relocation.as_ref().map_or(0, |relocation| relocation.sessions())
    }

    /// Whether it knows a name to listen to, and does not listen.
    pub(super) fn can_listen(&self) -> bool {
        self.relocation.is_some() && !self.is_listening
    }

    /// Whether the group key authenticates packets of the session that is searched: it is not left for an announcement.
    pub(super) fn is_here(&self) -> bool {
        matches!(&self.state, State::Searching(searching) if searching.authentic() > 0)
    }

    /// For how long a receiver that is no service listens after a failure, if it does.
    pub(super) fn listens_within(&self, failure: &Failure<S::Error>) -> Option<Duration> {
        let Failure::Session(error) = failure else { return None };
        let is_unusable = error.may_pass() && !matches!(error, ReceiveError::Full { .. });
        let may_be_elsewhere = error.is_absence() || self.settings.keep_going && is_unusable;
        let relocation =
            self.relocation.as_ref().filter(|_| may_be_elsewhere && !self.is_here() && !self.is_listening);
        relocation.map(|relocation| relocation.announced().within)
    }

    pub(super) fn listen(&mut self) {
        let Some(relocation) = &self.relocation else { return };
        let (name, group) = (relocation.announced().name.clone(), self.settings.known.group());
        self.is_listening = true;
        self.outputs.push_back(Output::Notice(Notice::Listening { name, group }));
        self.outputs.push_back(Output::Listen(true));
    }

    /// The session is here, or not sought any more.
    pub(super) fn stop_listening(&mut self) {
        if std::mem::take(&mut self.is_listening) {
            self.outputs.push_back(Output::Listen(false));
        }
    }

    /// What a service waits for after a failure: without an end, unless it can listen after that.
    pub(super) fn wait_of_service(&self) -> Wait {
        let patience = if self.can_listen() { self.settings.patience } else { Duration::MAX };
        Wait { not: None, patience }
    }
}
