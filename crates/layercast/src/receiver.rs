//! Receiving files.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use layercast_delivery::security::keys::{GroupKey, PublicKey};
use layercast_transport::amt::AmtRelay;
use layercast_transport::event::Event;
use layercast_transport::finding::Sought;
use layercast_transport::receive::{Known, ReceiveOptions, receive};
use layercast_transport::relay::FeedbackPath;

use crate::StartError;
use crate::event::{Received, Receives};
use crate::given::{Given, addresses};
use crate::transfer::Transfer;

/// A reception in progress.
pub type Receiving = Transfer<Receives>;

/// A session, and how it is received: what [`ReceiverBuilder::build`] makes, and what [`ReceiveOptions`] of one's own become.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// All that can be chosen.
    pub options: ReceiveOptions,
}

impl From<ReceiveOptions> for Receiver {
    fn from(options: ReceiveOptions) -> Receiver {
        Receiver { options }
    }
}

impl Receiver {
    /// A receiver with the defaults of `layercast receive`.
    pub fn builder() -> ReceiverBuilder {
        ReceiverBuilder {
            session: None,
            source: None,
            into: None,
            keys: Vec::new(),
            takes_described: true,
            patience: None,
            start_within: None,
            given: Given::default(),
        }
    }

    /// Starts to receive, on a thread of its own.
    ///
    /// # Errors
    /// If the system gives no thread. What else keeps it from receiving is the outcome of the reception.
    pub fn start(self) -> Result<Receiving, StartError> {
        let options = self.options;
        let receiving = Transfer::start("receive", (), move |stop, on_event| {
            let mut undecided = |event: &Event| match event {
                Event::Trace(_) => {}
                event => on_event(event.clone()),
            };
            let progress = receive(&options, stop, &mut undecided)?;
            Ok(Received { folder: options.into.clone(), progress })
        });
        receiving.map_err(StartError::Thread)
    }
}

/// How a session is named.
#[derive(Debug)]
enum Named {
    Group(SocketAddr),
    Url(String),
    Description(PathBuf),
}

/// Makes a [`Receiver`]. What is not given is as `layercast receive` has it: it ends when all files are there, or after half a minute
/// without packets. A wrong value is the error of [`ReceiverBuilder::build`] and [`ReceiverBuilder::start`].
#[must_use = "a builder does nothing before its start"]
pub struct ReceiverBuilder {
    session: Option<Named>,
    source: Option<IpAddr>,
    into: Option<PathBuf>,
    keys: Vec<PublicKey>,
    takes_described: bool,
    patience: Option<Duration>,
    start_within: Option<Duration>,
    given: Given<ReceiveOptions>,
}

impl fmt::Debug for ReceiverBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReceiverBuilder { session, into, .. } = self;
        f.debug_struct("ReceiverBuilder")
            .field("session", session)
            .field("into", into)
            .finish_non_exhaustive()
    }
}

impl ReceiverBuilder {
    /// The group of the session's base layer, with or without a port; the rest is learnt from it.
    pub fn group(mut self, group: impl ToString) -> ReceiverBuilder {
        let group = self.given.group(&group.to_string());
        self.named(group.map(Named::Group))
    }

    /// The session's URL: `layercast://`, or `flute://` for one of another FLUTE sender.
    pub fn session_url(self, url: &str) -> ReceiverBuilder {
        self.named(Some(Named::Url(url.to_owned())))
    }

    /// The file of the session's description, in SDP if its name ends in `.sdp`.
    pub fn description_file(self, path: impl Into<PathBuf>) -> ReceiverBuilder {
        self.named(Some(Named::Description(path.into())))
    }

    fn named(mut self, session: Option<Named>) -> ReceiverBuilder {
        if self.session.is_some() {
            let why = "each names a session";
            let conflict =
                StartError::Conflict { what: "group", with: "session_url and description_file", why };
            self.given.right::<()>(Err(conflict));
        }
        self.session = session;
        self
    }

    /// The source of the group's packets; others are not joined, and dropped.
    pub fn source(mut self, source: IpAddr) -> ReceiverBuilder {
        self.source = Some(source);
        self
    }

    /// The folder for the files, which exists.
    pub fn into(mut self, folder: impl Into<PathBuf>) -> ReceiverBuilder {
        self.into = Some(folder.into());
        self
    }

    /// A key by which the source signs; of several one must have signed. Nothing else is received.
    pub fn key(mut self, key: PublicKey) -> ReceiverBuilder {
        self.keys.push(key);
        self
    }

    /// Takes only packets that this key authenticates, and decrypts those of an encrypted session.
    pub fn group_key(self, key: GroupKey) -> ReceiverBuilder {
        self.with(|options| options.group_key = Some(key))
    }

    /// The interface, by name or address; that of the route to the group unless given.
    pub fn interface(self, interface: &str) -> ReceiverBuilder {
        let interface = interface.to_owned();
        self.with(|options| options.interface = Some(interface))
    }

    /// Where no multicast comes, takes packets from this relay, after those that are there.
    pub fn relay(mut self, relay: impl ToSocketAddrs + fmt::Debug) -> ReceiverBuilder {
        match self.given.right(addresses(relay)) {
            Some(found) => self.with(move |options| options.relays.then(&found)),
            None => self,
        }
    }

    /// Where no multicast comes, takes packets from an AMT relay (RFC 7450).
    pub fn amt(self, relay: AmtRelay) -> ReceiverBuilder {
        self.with(move |options| options.relays.amt = Some(relay))
    }

    /// Does not try multicast.
    pub fn relay_only(self) -> ReceiverBuilder {
        self.with(|options| options.relays.only = true)
    }

    /// Does not use the relays that a description names.
    pub fn no_described_relays(mut self) -> ReceiverBuilder {
        self.takes_described = false;
        self
    }

    /// By which path messages to the source go while packets come through a relay.
    pub fn feedback(self, path: FeedbackPath) -> ReceiverBuilder {
        self.with(move |options| options.relays.feedback = path)
    }

    /// Replaces files of the same path and other content.
    pub fn replace(self) -> ReceiverBuilder {
        self.with(|options| options.settings.replace = true)
    }

    /// Keeps the folder in step with the sender, until it is cancelled.
    pub fn mirror(self) -> ReceiverBuilder {
        self.with(|options| {
            options.settings.replace = true;
            options.settings.mirror = true;
            options.keep_going = true;
        })
    }

    /// Goes on after the end of a session, and after errors that may pass, until it is cancelled.
    pub fn keep_going(self) -> ReceiverBuilder {
        self.with(|options| options.keep_going = true)
    }

    /// The longest wait for packets, half a minute unless given.
    pub fn patience(mut self, patience: Duration) -> ReceiverBuilder {
        self.patience = Some(patience);
        self
    }

    /// The longest wait for a session; that for packets unless given.
    pub fn start_within(mut self, time: Duration) -> ReceiverBuilder {
        self.start_within = Some(time);
        self
    }

    /// Gives up after this time.
    pub fn within(self, time: Duration) -> ReceiverBuilder {
        self.with(move |options| options.within = Some(time))
    }

    /// Sends the source neither progress nor completion.
    pub fn silent(self) -> ReceiverBuilder {
        self.with(|options| options.silent = true)
    }

    /// An option of the session's congestion control, as `layercast list NAME` has it.
    pub fn set(self, option: &str, value: &str) -> ReceiverBuilder {
        let option = (option.to_owned(), value.to_owned());
        self.with(|options| options.protocol_options.push(option))
    }

    /// Changes the options themselves, which have all that can be chosen. Called after the defaults, in the order of the calls.
    pub fn with(mut self, change: impl FnOnce(&mut ReceiveOptions) + Send + 'static) -> ReceiverBuilder {
        self.given.change(change);
        self
    }

    /// The receiver. A description is read now.
    ///
    /// # Errors
    /// What is wrong or missing.
    pub fn build(self) -> Result<Receiver, StartError> {
        let ReceiverBuilder { session, source, into, keys, takes_described, patience, start_within, given } =
            self;
        let change = given.changes()?;
        let into =
            into.ok_or(StartError::Missing("a receiver needs a folder for its files: `into(\"inbox\")`"))?;
        let unnamed = "a receiver needs a session: `group(\"239.1.2.0\")`, `session_url(url)` or `description_file(path)`";
        let session = session.ok_or(StartError::Missing(unnamed))?;
        if source.is_some() && !matches!(session, Named::Group(_)) {
            let why = "URLs and descriptions name their source";
            return Err(StartError::Conflict {
                what: "source",
                with: "session_url and description_file",
                why,
            });
        }
        let Sought { known, salt, keys, relays } = match session {
            Named::Group(group) => Sought::new(Known::Group(group, source), None, keys),
            Named::Url(url) => Sought::by_url(&url, keys)?,
            Named::Description(path) => Sought::by_description(&path, keys)?,
        };
        let mut options = ReceiveOptions { salt, keys, ..ReceiveOptions::new(known, into) };
        options.patience = patience.unwrap_or(options.patience);
        options.start_within = start_within.unwrap_or(options.patience);
        change(&mut options);
        if takes_described {
            options.relays.then(&relays);
        }
        Ok(options.into())
    }

    /// Builds the receiver and starts it.
    ///
    /// # Errors
    /// As [`ReceiverBuilder::build`] and [`Receiver::start`].
    pub fn start(self) -> Result<Receiving, StartError> {
        self.build()?.start()
    }
}
