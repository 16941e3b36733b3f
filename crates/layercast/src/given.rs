//! What builders are given: changes of options, names of what was given, and the first value that is wrong.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

use layercast_core::modes::{Row, refusals};
use layercast_core::wire;

use crate::error::{Conflict, StartError};

type Change<O> = Box<dyn FnOnce(&mut O) + Send>;

/// Changes of the options `O`, which are made when all else is known.
pub(crate) struct Given<O> {
    changes: Vec<Change<O>>,
    /// By their names in the table of what excludes what.
    names: Vec<&'static str>,
    wrong: Option<StartError>,
}

impl<O> Default for Given<O> {
    fn default() -> Given<O> {
        Given { changes: Vec::new(), names: Vec::new(), wrong: None }
    }
}

impl<O> Given<O> {
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut O) + Send + 'static) {
        self.changes.push(Box::new(change));
    }

    /// Something of this name was given.
    pub(crate) fn name(&mut self, name: &'static str) {
        self.names.push(name);
    }

    /// Nothing of this name counts any more.
    pub(crate) fn forget(&mut self, name: &str) {
        self.names.retain(|given| *given != name);
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// A value, if it is right.
    pub(crate) fn right<T>(&mut self, value: Result<T, StartError>) -> Option<T> {
        let error = match value {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        self.wrong.get_or_insert(error);
        None
    }

    pub(crate) fn group(&mut self, text: &str) -> Option<SocketAddr> {
        self.name("group");
        let wrong = |source| StartError::Group { text: text.to_owned(), source };
        self.right(wire::group(text).map_err(wrong))
    }

    /// Refuses what cannot be used in a mode, or together.
    ///
    /// # Errors
    /// All that is refused.
    pub(crate) fn check(
        &self,
        rows: &'static [Row],
        column: usize,
        mode: &'static str,
    ) -> Result<(), StartError> {
        let refused = refusals(rows, column, |name| self.has(name));
        let conflicts: Vec<Conflict> =
            refused.into_iter().map(|refusal| Conflict { refusal, mode }).collect();
        if conflicts.is_empty() { Ok(()) } else { Err(StartError::Conflicts(conflicts)) }
    }

    /// What makes all changes, unless a value is wrong.
    pub(crate) fn changes(&mut self) -> Result<impl FnOnce(&mut O) + use<O>, StartError> {
        let changes = std::mem::take(&mut self.changes);
        match self.wrong.take() {
            Some(wrong) => Err(wrong),
            None => Ok(move |options: &mut O| changes.into_iter().for_each(|change| change(options))),
        }
    }
}

/// The addresses of a relay, at least one.
pub(crate) fn addresses(relay: impl ToSocketAddrs + fmt::Debug) -> Result<Vec<SocketAddr>, StartError> {
    let wrong = |source| StartError::Relay { relay: format!("{relay:?}"), source };
    let found: Vec<SocketAddr> = relay.to_socket_addrs().map_err(wrong)?.collect();
    match found.is_empty() {
        true => Err(wrong(std::io::Error::other("it has no address"))),
        false => Ok(found),
    }
}
