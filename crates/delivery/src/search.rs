//! The search for a session on a group: from the first packets on its base channel to a session description.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use layercast_core::family::AnyProtocol;

use crate::announce::flute::FluteSession;
use crate::listing::{InstanceError, Listing};
use crate::object::{Instance, TOI_TABLE};
use crate::packet::Repr;
use crate::security::keys::PublicKey;
use crate::session::{Session, SessionError};

/// The maximum number of sessions whose tables are reassembled at the same time. Another one takes the place of the oldest.
const SOURCES_MAX: usize = 8;
/// How many instances are read between two calls of [`Search::refill`], about twice a second (CHOICE): one is enough.
const READ_MAX: u32 = 64;

/// What is known of a session beforehand.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// The base channel's group and port, and the source if it is known. The rest comes with the file delivery table.
    Group(SocketAddr, Option<IpAddr>),
    /// The whole description.
    Session(Box<Session>),
    /// A session of another FLUTE sender, which is received without a search.
    Flute(FluteSession),
}

impl Known {
    /// The base channel's group and port.
    pub fn group(&self) -> SocketAddr {
        match self {
            Known::Group(group, _) => *group,
            Known::Session(session) => session.group,
            Known::Flute(session) => session.group,
        }
    }

    /// The address of the source.
    pub fn source(&self) -> Option<IpAddr> {
        match self {
            Known::Group(_, source) => *source,
            Known::Session(session) => Some(session.source),
            Known::Flute(session) => session.source,
        }
    }
}

/// A session that was found, with the first instance of its table that is here.
#[derive(Clone, Debug)]
pub struct FoundSession {
    /// The session.
    pub session: Session,
    /// The number of the instance.
    pub number: u32,
    /// The instance.
    pub instance: Instance,
}

/// Why a table does not give a session.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// The table is invalid, or not signed by a key that is trusted.
    #[error(transparent)]
    Table(#[from] InstanceError),
    /// The description is invalid, or contradicts the packets that brought it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// The search for a session.
#[derive(Debug)]
pub struct Search {
    known: Known,
    /// Whose tables are taken; anyone's if empty.
    keys: Arc<[PublicKey]>,
    /// A session that is over or that does not count: the source and its number.
    not: Option<(IpAddr, u32)>,
    listings: VecDeque<((IpAddr, u32), Listing)>,
    /// Where tables that cannot be used came from.
    rejected: Vec<IpAddr>,
    /// How many instances were read since the last refill.
    read: u32,
}

impl Search {
    /// A search; a session `not` is passed over. Only tables that one of the keys has signed are taken; all, if there are
    /// no keys.
    pub fn new(known: Known, keys: Arc<[PublicKey]>, not: Option<(IpAddr, u32)>) -> Search {
        Search { known, keys, not, listings: VecDeque::new(), rejected: Vec::new(), read: 0 }
    }

    /// The session that is passed over.
    pub fn not(&self) -> Option<(IpAddr, u32)> {
        self.not
    }

    /// Time has passed: more tables may be read ([`Listing::refill`]).
    pub fn refill(&mut self) {
        self.read = 0;
        self.listings.iter_mut().for_each(|(_, listing)| listing.refill());
    }

    /// Takes a packet of the base channel. The session when an instance of its table is here and consistent with it;
    /// an error once for each source whose tables cannot be used.
    pub fn packet<P: AnyProtocol>(
        &mut self,
        from: IpAddr,
        repr: &Repr,
        payload: &[u8],
    ) -> Option<Result<FoundSession, SearchError>> {
        let key = (from, repr.tsi);
        if repr.toi != TOI_TABLE || self.not == Some(key) || self.read >= READ_MAX {
            return None;
        }
        if !self.listings.iter().any(|(of, _)| *of == key) {
            if self.listings.len() >= SOURCES_MAX {
                self.listings.pop_front();
            }
            self.listings.push_back((key, Listing::trusting(Arc::clone(&self.keys))));
        }
        let (_, listing) = self.listings.iter_mut().find(|(of, _)| *of == key)?;
        let (number, instance) = listing.insert(repr, payload)?;
        self.read += 1;
        let found = instance.map_err(SearchError::from).and_then(|instance| {
            let session = fitting::<P>(&self.known, &instance, from, repr.tsi)?;
            Ok(FoundSession { session, number, instance })
        });
        match found {
            Ok(found) => Some(Ok(found)),
            Err(error) if !self.rejected.contains(&from) && self.rejected.len() < SOURCES_MAX => {
                self.rejected.push(from);
                Some(Err(error))
            }
            Err(_) => None,
        }
    }
}

/// The session of a table, if it is consistent with the packets that carried it.
fn fitting<P: AnyProtocol>(
    known: &Known,
    instance: &Instance,
    from: IpAddr,
    tsi: u32,
) -> Result<Session, SearchError> {
    let session: Session = match known {
        Known::Session(session) => (**session).clone(),
        Known::Group(..) | Known::Flute(_) => Session::read_of::<P>(&instance.session)?,
    };
    let mismatch = |what: String| Err(SessionError::Mismatch(what).into());
    if session.source != from {
        return mismatch(format!("it names the source {}, but came from {from}", session.source));
    }
    if session.group != known.group() || session.tsi != tsi {
        return mismatch(format!("it is of another session: {} on {}", session.tsi, session.group));
    }
    Ok(session)
}
