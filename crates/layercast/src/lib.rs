//! Files and live data over multicast for programs: what `layercast send` and `layercast receive` do, with their defaults.
//!
//! A [`Sender`] sends files and folders to a group, each layer of the session to the next address, and each [`Receiver`] takes as many layers
//! as its own path carries in fair competition with TCP. Both are made by builders and run on a thread of their own. What runs, a
//! [`Sending`] or a [`Receiving`], gives events by an iterator or awaited, progress, and at its end an outcome; dropped, it is
//! cancelled.
//!
//! # Sending
//!
//! ```no_run
#![doc = include_str!("../examples/send.rs")]
//! ```
//!
//! # Receiving
//!
//! ```no_run
#![doc = include_str!("../examples/receive.rs")]
//! ```
//!
//! # Announced sessions
//!
//! ```no_run
#![doc = include_str!("../examples/named.rs")]
//! ```
//!
//! # Live data
//!
//! ```no_run
#![doc = include_str!("../examples/live.rs")]
//! ```
//!
//! # Reliable sessions
//!
//! ```no_run
#![doc = include_str!("../examples/reliable.rs")]
//! ```
//!
//! # Awaiting
//!
//! [`Transfer::next_event`] and [`Transfer::finished`] need no particular runtime:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let receiving = layercast::Receiver::builder().group("239.1.2.0").into("inbox").start()?;
//! while let Some(event) = receiving.next_event().await {
//!     println!("{event:?}");
//! }
//! let received = receiving.finished().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//!
//! [`StartError`] says what of a builder's values is wrong or missing, and what cannot be used together, for the command's reasons.
//! [`Error`], the transport's, says why a transfer could not start or ended early; its text is for people, its [name](Error::name) for
//! programs. A sender that was cancelled has an outcome as always; a receiver's is [`Error::Interrupted`], or [`Error::Kept`] if the
//! next reception into the same folder continues.
//!
//! # Beyond the builders
//!
//! `with` changes the [`SendOptions`] or [`ReceiveOptions`] that a builder makes. Relays are in [`layercast_transport`].
//!
//! The transport's sockets need Linux. Elsewhere the crate is empty, so that all that is optional about it builds there.

#![cfg(target_os = "linux")]

mod error;
mod event;
mod given;
mod receiver;
mod sender;
mod transfer;

pub use error::{Conflict, StartError};
pub use event::{Received, Receives, Sends, StreamReceives, StreamSends};
pub use receiver::{Announced, Receiver, ReceiverBuilder, Receiving, StreamReceiver, StreamReceiving};
pub use sender::{Sender, SenderBuilder, Sending, StreamSender, StreamSending};
pub use transfer::{Events, Kind, Transfer};

pub use layercast_core::layers::Scheme;
pub use layercast_core::units::{Rate, Size};
pub use layercast_delivery::reception::ReceptionEvent as ObjectEvent;
pub use layercast_delivery::session::Session;
pub use layercast_delivery::stream::{StreamPlan, Units};
pub use layercast_transport::amt::AmtRelay;
pub use layercast_transport::event::{
    Event, Progress, Ready, StreamLayerReceived, StreamLayerSent, StreamReceiveProgress, StreamSendProgress,
};
pub use layercast_transport::receive::stream::{StreamEnded, StreamOutput, StreamOutputs, StreamReceived};
pub use layercast_transport::receive::{ReceiveOptions, ReceiveProgress};
pub use layercast_transport::relay::FeedbackPath;
pub use layercast_transport::send::stream::{StreamInput, StreamSendOptions, StreamSent, StreamStopped};
pub use layercast_transport::send::{Ends, Reception, SendOptions, SendProgress, Sent, Stopped};
pub use layercast_transport::{Error, Notice};

pub mod keys {
    //! Keys, and the files in which `layercast key new` puts them: `read_key("site.key".as_ref(), KeyFile::into_group)`.

    pub use layercast_delivery::security::key_file::KeyFile;
    pub use layercast_delivery::security::keys::{GroupKey, KeyError, PublicKey, SecretKey};
    pub use layercast_transport::finding::{others_can_read, read_key};
}
