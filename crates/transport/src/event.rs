//! What programs say while they run, as `--json` prints it: `docs/events.md` is the description.

mod end;
mod progress;
mod reception;
mod relay;
mod trace;

use std::net::SocketAddr;

use layercast_delivery::announce::sdp::Description;
use layercast_delivery::reception::ReceptionEvent;
use layercast_delivery::relay::parent::Change;
use layercast_delivery::session::Session;
use layercast_delivery::stream::Gap;
use serde::Serialize;

use crate::fields;
use crate::notice::Notice;

pub use end::End;
pub use progress::{
    Progress, ReceiveProgress, SendProgress, StreamLayerReceived, StreamLayerSent, StreamReceiveProgress,
    StreamSendProgress,
};
pub use reception::Reception;
pub use relay::{LinkStatus, RelayStatus, RouterStatus};
pub use trace::Trace;

/// What a sender, a receiver or a relay says while it runs. Serialised it is a map with its name as `event`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A sender reads files for their hashes.
    Hashing {
        /// Bytes read.
        #[serde(rename = "bytes")]
        done: u64,
        /// Bytes to read.
        #[serde(rename = "bytes_total")]
        of: u64,
    },
    /// The session of a sender is on; again after a change of this host's address.
    Ready(Box<Ready>),
    /// A relay listens.
    #[serde(rename = "ready")]
    Listening {
        /// Where.
        address: SocketAddr,
    },
    /// A receiver has found a session.
    Session(#[serde(serialize_with = "fields::session")] Box<Session>),
    /// How far it is: twice a second, of a relay once, and of a receiver when all is complete.
    Progress(Progress),
    /// What a sender knows of its receivers: after each poll, about every five seconds.
    Reception(Box<Reception>),
    /// Units of a stream are missing before one that is delivered.
    Gap {
        /// The layer.
        layer: u16,
        /// How many, and why.
        #[serde(flatten)]
        gap: Gap,
    },
    /// A relay joins or leaves a channel.
    Channel(#[serde(serialize_with = "fields::change")] Change),
    /// Something that the operator should know.
    Notice(Notice),
    /// Events were thrown away, since nobody read them in time.
    Missed {
        /// How many.
        count: u64,
    },
    /// A transfer has ended.
    End(Box<End>),
    /// Something happened to an object that is received.
    #[serde(untagged)]
    Object(ReceptionEvent),
    /// A receiver decided or noticed something.
    #[serde(untagged)]
    Trace(Box<Trace>),
}

/// A session that is on.
#[derive(Clone, Debug, Serialize)]
pub struct Ready {
    /// The session. As text it is what a description file has, for receivers that cannot learn it from the group.
    #[serde(flatten, serialize_with = "fields::session")]
    pub session: Session,
    /// The number of files and empty folders, or of the inputs of a stream.
    pub objects: usize,
    /// Its description in SDP.
    #[serde(rename = "url", serialize_with = "fields::url", skip_serializing_if = "fields::has_no_url")]
    pub description: Description,
}

impl Ready {
    /// The URL by which receivers find it.
    pub fn url(&self) -> Option<String> {
        self.description.url().map(|url| url.to_string())
    }
}

impl Event {
    pub(crate) fn ready(session: &Session, objects: usize, description: &Description) -> Event {
        let (session, description) = (session.clone(), description.clone());
        Event::Ready(Box::new(Ready { session, objects, description }))
    }
}

#[cfg(test)]
mod tests;
