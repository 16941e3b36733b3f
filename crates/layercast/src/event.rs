//! What transfers say while they run: as the transport says it, with values of their own.

use std::path::PathBuf;

use layercast_delivery::announce::sdp::Description;
use layercast_delivery::reception::ReceptionEvent;
use layercast_delivery::session::Session;
use layercast_transport::Notice;
use layercast_transport::receive::{self, ReceiveProgress};
use layercast_transport::send::{self, Ends, Reception, SendProgress, Sent};

use crate::transfer::Event;

/// What a sender says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SendEvent {
    /// Files are read for their hashes.
    Hashing {
        /// Bytes read.
        done: u64,
        /// Bytes to read.
        of: u64,
    },
    /// The session is on; again after a change of this host's address.
    Ready(Box<Ready>),
    /// Twice a second.
    Progress(Box<SendProgress>),
    /// What is known of receivers, about every five seconds.
    Reception(Box<Reception>),
    /// Something that does not end it, in words for the operator.
    Notice(Notice),
    /// So many events were not read in time.
    Missed(u64),
}

/// A session that is on.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The session. As text it is what a description file has, for receivers that cannot learn it from the group.
    pub session: Session,
    /// The number of files and empty folders.
    pub objects: usize,
    /// Its description in SDP.
    pub description: Description,
}

impl Ready {
    /// The URL by which receivers find it.
    pub fn url(&self) -> Option<String> {
        self.description.url().map(|url| url.to_string())
    }
}

impl From<&send::SendEvent<'_>> for SendEvent {
    fn from(event: &send::SendEvent<'_>) -> SendEvent {
        match *event {
            send::SendEvent::Hashing { done, of } => SendEvent::Hashing { done, of },
            send::SendEvent::Ready(session, objects, description) => {
                let (session, description) = (session.clone(), description.clone());
                SendEvent::Ready(Box::new(Ready { session, objects, description }))
            }
            send::SendEvent::Progress(progress) => SendEvent::Progress(Box::new(*progress)),
            send::SendEvent::Reception(reception) => SendEvent::Reception(Box::new(reception.clone())),
            send::SendEvent::Notice(notice) => SendEvent::Notice(notice.clone()),
        }
    }
}

impl Event for SendEvent {
    type Progress = SendProgress;
    type Outcome = Sent;
    type Ends = Ends;

    fn progress(&self) -> Option<&SendProgress> {
        if let SendEvent::Progress(progress) = self { Some(progress) } else { None }
    }

    fn share(progress: &SendProgress, ends: &Ends) -> Option<f64> {
        let shares = [
            ends.after.map(|after| progress.elapsed.as_secs_f64() / after.as_secs_f64()),
            ends.rounds.map(|rounds| progress.rounds / f64::from(rounds)),
            ends.completions.map(|wanted| progress.completions as f64 / wanted as f64),
        ];
        shares.into_iter().flatten().reduce(f64::max)
    }

    fn is_replaced_by(&self, later: &SendEvent) -> bool {
        matches!(
            (self, later),
            (SendEvent::Hashing { .. }, SendEvent::Hashing { .. })
                | (SendEvent::Progress(_), SendEvent::Progress(_))
                | (SendEvent::Reception(_), SendEvent::Reception(_))
        )
    }

    fn missed(count: u64) -> SendEvent {
        SendEvent::Missed(count)
    }
}

/// What a receiver says. Each decision of its congestion control, which `layercast explain` reads, is said by
/// [`layercast_transport::receive`](layercast_transport::receive) alone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReceiveEvent {
    /// A session was found.
    Session(Box<Session>),
    /// Twice a second, and when all is complete.
    Progress(Box<ReceiveProgress>),
    /// Something happened to a file.
    Object(ReceptionEvent),
    /// Something that does not end it, in words for the operator.
    Notice(Notice),
    /// So many events were not read in time.
    Missed(u64),
}

impl ReceiveEvent {
    /// The event, unless it is a decision of the congestion control.
    pub(crate) fn of(event: &receive::ReceiveEvent<'_>) -> Option<ReceiveEvent> {
        Some(match *event {
            receive::ReceiveEvent::Session(session) => ReceiveEvent::Session(Box::new(session.clone())),
            receive::ReceiveEvent::Progress(progress) => ReceiveEvent::Progress(Box::new(progress.clone())),
            receive::ReceiveEvent::Object(object) => ReceiveEvent::Object(object.clone()),
            receive::ReceiveEvent::Notice(notice) => ReceiveEvent::Notice(notice.clone()),
            receive::ReceiveEvent::Trace(..) => return None,
        })
    }
}

impl Event for ReceiveEvent {
    type Progress = ReceiveProgress;
    type Outcome = Received;
    type Ends = ();

    fn progress(&self) -> Option<&ReceiveProgress> {
        if let ReceiveEvent::Progress(progress) = self { Some(progress) } else { None }
    }

    fn share(progress: &ReceiveProgress, (): &()) -> Option<f64> {
        let objects = &progress.objects;
        match objects.needed {
            0 => objects.is_complete().then_some(1.0),
            needed => Some(objects.held as f64 / needed as f64),
        }
    }

    fn is_replaced_by(&self, later: &ReceiveEvent) -> bool {
        matches!((self, later), (ReceiveEvent::Progress(_), ReceiveEvent::Progress(_)))
    }

    fn missed(count: u64) -> ReceiveEvent {
        ReceiveEvent::Missed(count)
    }
}

/// What was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The progress at the end.
    pub progress: ReceiveProgress,
}

impl Received {
    /// Where the file is, if the session had one alone.
    pub fn path(&self) -> Option<PathBuf> {
        self.progress.name.as_ref().map(|name| self.folder.join(name))
    }
}
