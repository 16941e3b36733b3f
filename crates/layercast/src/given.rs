//! What both builders are given: changes of options, and the first value that is wrong.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

use layercast_core::wire;

use crate::StartError;

type Change<O> = Box<dyn FnOnce(&mut O) + Send>;

/// Changes of the options `O`, which are made when all else is known.
pub(crate) struct Given<O> {
    changes: Vec<Change<O>>,
    wrong: Option<StartError>,
}

impl<O> Default for Given<O> {
    fn default() -> Given<O> {
        Given { changes: Vec::new(), wrong: None }
    }
}

impl<O> Given<O> {
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut O) + Send + 'static) {
        self.changes.push(Box::new(change));
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
        let wrong = |source| StartError::Group { text: text.to_owned(), source };
        self.right(wire::group(text).map_err(wrong))
    }

    /// What makes all changes, unless a value is wrong.
    pub(crate) fn changes(self) -> Result<impl FnOnce(&mut O), StartError> {
        let Given { changes, wrong } = self;
        match wrong {
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
