//! Receiving files and live data.

use std::fmt;
use std::io::Write;
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use layercast_delivery::announce::flute::FLUTE_SCHEME;
use layercast_delivery::security::keys::{GroupKey, PublicKey};
use layercast_transport::Error;
use layercast_transport::amt::AmtRelay;
use layercast_transport::event::Event;
pub use layercast_transport::finding::Announced;
use layercast_transport::finding::{Sought, announced_within, find_announced};
use layercast_transport::receive::modes::{ROWS, ReceiveMode};
use layercast_transport::receive::stream::{self, StreamOutput, StreamOutputs};
use layercast_transport::receive::{Known, ReceiveOptions, receive};
use layercast_transport::relay::FeedbackPath;

use crate::StartError;
use crate::event::{Received, Receives, StreamReceives};
use crate::given::{Given, addresses};
use crate::transfer::{Kind, Transfer};

/// A reception in progress.
pub type Receiving = Transfer<Receives>;

/// A reception of live data in progress.
pub type StreamReceiving = Transfer<StreamReceives>;

/// A session, and how it is received: what [`ReceiverBuilder::build`] makes, and what [`ReceiveOptions`] of one's own become.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// All that can be chosen.
    pub options: ReceiveOptions,
    /// The session, if it is found by its announcement.
    pub announced: Option<Announced>,
}

impl From<ReceiveOptions> for Receiver {
    fn from(options: ReceiveOptions) -> Receiver {
        Receiver { options, announced: None }
    }
}

/// Waits for the announcement of the session, if it is found by its name. What is known of the session, the salt and the relays of
/// the options come from the announcement then.
fn find(announced: Option<Announced>, options: &mut ReceiveOptions, stop: &AtomicBool) -> Result<(), Error> {
    let Some(announced) = announced else { return Ok(()) };
    let interface = options.interface.as_deref();
    let entry = find_announced(&announced.name, &options.keys, interface, announced.within, stop)?;
    let Sought { known, salt, keys, relays } = Sought::by_announcement(&entry, options.keys.clone())?;
    (options.known, options.salt, options.keys) = (known, salt, keys);
    if announced.takes_relays {
        options.relays.then(&relays);
    }
    options.announced = Some(announced);
    Ok(())
}

impl Receiver {
    /// A receiver with the defaults of `layercast receive`.
    pub fn builder() -> ReceiverBuilder {
        ReceiverBuilder::new()
    }

    /// A receiver of live data with the defaults of `layercast receive --stream`.
    pub fn stream_builder() -> ReceiverBuilder<StreamReceives> {
        ReceiverBuilder::new()
    }

    /// Starts to receive, on a thread of its own.
    ///
    /// # Errors
    /// If the system gives no thread. What else keeps it from receiving is the outcome of the reception.
    pub fn start(self) -> Result<Receiving, StartError> {
        let Receiver { mut options, announced } = self;
        let receiving = Transfer::start("receive", (), move |stop, on_event| {
            find(announced, &mut options, stop)?;
            let progress = receive(&options, stop, &mut |event| undecided(event, on_event))?;
            Ok(Received { folder: options.into.clone(), progress })
        });
        receiving.map_err(StartError::Thread)
    }
}

/// A session of live data, and how it is received.
#[derive(Debug)]
pub struct StreamReceiver {
    /// All that can be chosen.
    pub options: ReceiveOptions,
    /// Where the layers go.
    pub outputs: StreamOutputs,
    /// The session, if it is found by its announcement.
    pub announced: Option<Announced>,
}

impl StreamReceiver {
    /// Starts to receive, on a thread of its own, and another one for each output. Units for an output that takes none are dropped when
    /// 8 MB wait for it. At the end an output has two seconds for what waits; a thread whose writer does not come back stays.
    ///
    /// # Errors
    /// As [`Receiver::start`].
    pub fn start(self) -> Result<StreamReceiving, StartError> {
        let StreamReceiver { mut options, outputs, announced } = self;
        let receiving = Transfer::start("receive", (), move |stop, on_event| {
            find(announced, &mut options, stop)?;
            stream::receive(&options, outputs, stop, &mut |event| undecided(event, on_event))
        });
        receiving.map_err(StartError::Thread)
    }
}

/// Passes on an event, unless it is a decision of the congestion control.
fn undecided(event: &Event, on_event: &mut dyn FnMut(Event)) {
    if !matches!(event, Event::Trace(_)) {
        on_event(event.clone());
    }
}

/// How a session is named, but for its group and the file of its description.
#[derive(Debug)]
enum Named {
    Url(String),
    Name(String),
}

/// Makes a [`Receiver`], or by [`Receiver::stream_builder`] a [`StreamReceiver`]. What is not given is as `layercast receive` has it: it
/// ends when all files are there or the live data ends, or after half a minute without packets. A wrong value, and what cannot be used
/// together, is the error of `build` and `start`.
#[must_use = "a builder does nothing before its start"]
pub struct ReceiverBuilder<K: Kind = Receives> {
    group: Option<SocketAddr>,
    named: Option<Named>,
    description: Option<PathBuf>,
    source: Option<IpAddr>,
    into: Option<PathBuf>,
    outputs: Vec<StreamOutput>,
    keys: Vec<PublicKey>,
    takes_described: bool,
    patience: Option<Duration>,
    start_within: Option<Duration>,
    given: Given<ReceiveOptions>,
    kind: PhantomData<K>,
}

impl<K: Kind> fmt::Debug for ReceiverBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReceiverBuilder { group, named, description, into, .. } = self;
        let mut shown = f.debug_struct("ReceiverBuilder");
        shown.field("group", group).field("named", named).field("description", description);
        shown.field("into", into).finish_non_exhaustive()
    }
}

impl<K: Kind> ReceiverBuilder<K> {
    fn new() -> ReceiverBuilder<K> {
        ReceiverBuilder {
            group: None,
            named: None,
            description: None,
            source: None,
            into: None,
            outputs: Vec::new(),
            keys: Vec::new(),
            takes_described: true,
            patience: None,
            start_within: None,
            given: Given::default(),
            kind: PhantomData,
        }
    }

    /// The group of the session's base layer, with or without a port; the rest is learnt from it.
    pub fn group(mut self, group: impl ToString) -> ReceiverBuilder<K> {
        self.group = self.given.group(&group.to_string());
        self
    }

    /// The session's URL: `layercast://`, or `flute://` for one of another FLUTE sender.
    pub fn session_url(mut self, url: &str) -> ReceiverBuilder<K> {
        self.named = Some(Named::Url(url.to_owned()));
        self.flag("named")
    }

    /// The name under which the session is announced, as `layercast sessions` lists it. The announcement is waited for after the start,
    /// for 45 s at least unless [`ReceiverBuilder::start_within`] says how long; and again when nothing comes from there.
    pub fn session_name(mut self, name: &str) -> ReceiverBuilder<K> {
        self.named = Some(Named::Name(name.to_owned()));
        self.given.name("announced");
        self.given.name("described");
        self.flag("named")
    }

    /// The file of the session's description, in SDP if its name ends in `.sdp`.
    pub fn description_file(mut self, path: impl Into<PathBuf>) -> ReceiverBuilder<K> {
        self.description = Some(path.into());
        self.flag("session")
    }

    fn flag(mut self, name: &'static str) -> ReceiverBuilder<K> {
        self.given.name(name);
        self
    }

    /// The source of the group's packets; others are not joined, and dropped.
    pub fn source(mut self, source: IpAddr) -> ReceiverBuilder<K> {
        self.source = Some(source);
        self.flag("source")
    }

    /// The folder for the files, or for the outputs `layer-0`, `layer-1` and so on of live data. It exists.
    pub fn into(mut self, folder: impl Into<PathBuf>) -> ReceiverBuilder<K> {
        self.into = Some(folder.into());
        self.flag("into")
    }

    /// A key by which the source signs; of several one must have signed. Nothing else is received.
    pub fn key(mut self, key: PublicKey) -> ReceiverBuilder<K> {
        self.keys.push(key);
        self.flag("keys")
    }

    /// Takes only packets that this key authenticates, and decrypts those of an encrypted session.
    pub fn group_key(self, key: GroupKey) -> ReceiverBuilder<K> {
        self.flag("group_key").with(|options| options.group_key = Some(key))
    }

    /// The interface, by name or address; that of the route to the group unless given.
    pub fn interface(self, interface: &str) -> ReceiverBuilder<K> {
        let interface = interface.to_owned();
        self.flag("interface").with(|options| options.interface = Some(interface))
    }

    /// Where no multicast comes, takes packets from this relay, after those that are there.
    pub fn relay(mut self, relay: impl ToSocketAddrs + fmt::Debug) -> ReceiverBuilder<K> {
        match self.given.right(addresses(relay)) {
            Some(found) => self.flag("relays").with(move |options| options.relays.then(&found)),
            None => self,
        }
    }

    /// Where no multicast comes, takes packets from an AMT relay (RFC 7450).
    pub fn amt(self, relay: AmtRelay) -> ReceiverBuilder<K> {
        self.flag("amt").with(move |options| options.relays.amt = Some(relay))
    }

    /// Does not try multicast.
    pub fn relay_only(self) -> ReceiverBuilder<K> {
        self.flag("relay_only").with(|options| options.relays.only = true)
    }

    /// Does not use the relays that a description names.
    pub fn no_described_relays(mut self) -> ReceiverBuilder<K> {
        self.takes_described = false;
        self.flag("no_relays")
    }

    /// Receives a session whose routers take part (`layercast send --reliable`), from the relays that are given or described: some of
    /// them, or the source itself.
    pub fn reliable(self) -> ReceiverBuilder<K> {
        self.flag("reliable").with(|options| options.is_routed = true)
    }

    /// By which path messages to the source go while packets come through a relay.
    pub fn feedback(self, path: FeedbackPath) -> ReceiverBuilder<K> {
        self.flag("feedback").with(move |options| options.relays.feedback = path)
    }

    /// Replaces files of the same path and other content.
    pub fn replace(self) -> ReceiverBuilder<K> {
        self.flag("replace").with(|options| options.settings.replace = true)
    }

    /// Keeps the folder in step with the sender, until it is cancelled.
    pub fn mirror(self) -> ReceiverBuilder<K> {
        self.flag("mirror").with(|options| {
            options.settings.replace = true;
            options.settings.mirror = true;
            options.keep_going = true;
        })
    }

    /// Goes on after the end of a session, and after errors that may pass, until it is cancelled.
    pub fn keep_going(self) -> ReceiverBuilder<K> {
        self.flag("keep_going").with(|options| options.keep_going = true)
    }

    /// The longest wait for packets, half a minute unless given.
    pub fn patience(mut self, patience: Duration) -> ReceiverBuilder<K> {
        self.patience = Some(patience);
        self.flag("patience")
    }

    /// The longest wait for a session; that for packets unless given, and 45 s at least for announcements.
    pub fn start_within(mut self, time: Duration) -> ReceiverBuilder<K> {
        self.start_within = Some(time);
        self.flag("start_within")
    }

    /// Gives up after this time.
    pub fn within(self, time: Duration) -> ReceiverBuilder<K> {
        self.flag("within").with(move |options| options.within = Some(time))
    }

    /// Sends the source neither progress nor completion.
    pub fn silent(self) -> ReceiverBuilder<K> {
        self.flag("silent").with(|options| options.silent = true)
    }

    /// An option of the session's congestion control, as `layercast list NAME` has it.
    pub fn set(self, option: &str, value: &str) -> ReceiverBuilder<K> {
        let option = (option.to_owned(), value.to_owned());
        self.flag("options").with(|options| options.protocol_options.push(option))
    }

    /// Changes the options themselves, which have all that can be chosen. Called after the defaults, in the order of the calls.
    pub fn with(mut self, change: impl FnOnce(&mut ReceiveOptions) + Send + 'static) -> ReceiverBuilder<K> {
        self.given.change(change);
        self
    }

    /// What both kinds of receivers have. A description is read now.
    fn parts(mut self, mode: ReceiveMode) -> Result<Parts, StartError> {
        let change = self.given.changes()?;
        let is_flute = matches!(&self.named, Some(Named::Url(url)) if url.starts_with(FLUTE_SCHEME));
        let mode = match mode {
            ReceiveMode::Files if is_flute => ReceiveMode::Flute,
            ReceiveMode::Files if self.given.has("reliable") => ReceiveMode::Reliable,
            mode => mode,
        };
        if mode == ReceiveMode::Stream {
            self.given.name("stream");
        }
        self.check(mode)?;
        let keys = std::mem::take(&mut self.keys);
        let patience = self.patience;
        let mut announced = None;
        let sought = match (self.named.take(), self.description.take(), self.group) {
            (Some(Named::Url(url)), ..) => Sought::by_url(&url, keys)?,
            (Some(Named::Name(name)), ..) => {
                announced = Some(name);
                Sought::new(Known::Group(UNKNOWN, None), None, keys)
            }
            (None, Some(path), _) => Sought::by_description(&path, keys)?,
            (None, None, Some(group)) => Sought::new(Known::Group(group, self.source), None, keys),
            (None, None, None) => return Err(StartError::Missing(UNNAMED)),
        };
        match &sought.known {
            Known::Flute(_) if mode != ReceiveMode::Stream && mode != ReceiveMode::Flute => {
                // The file of a description may be signed.
                self.given.forget("keys");
                self.check(ReceiveMode::Flute)?;
            }
            Known::Session(session) if session.is_routed() && mode == ReceiveMode::Files => {
                self.check(ReceiveMode::Reliable)?;
            }
            _ => {}
        }
        let Sought { known, salt, keys, relays } = sought;
        let into = self.into.clone().unwrap_or_default();
        let mut options = ReceiveOptions { salt, keys, ..ReceiveOptions::new(known, into) };
        options.patience = patience.unwrap_or(options.patience);
        options.start_within = self.start_within.unwrap_or(options.patience);
        change(&mut options);
        let takes_relays = self.takes_described;
        if takes_relays {
            options.relays.then(&relays);
        }
        let within = announced_within(self.start_within, options.patience);
        let announced = announced.map(|name| Announced { name, within, takes_relays });
        Ok(Parts { options, announced, into: self.into, outputs: self.outputs })
    }

    fn check(&self, mode: ReceiveMode) -> Result<(), StartError> {
        let what = match mode {
            ReceiveMode::Flute => "a session of another FLUTE sender",
            ReceiveMode::Stream => "live data",
            ReceiveMode::Reliable => "a reliable session",
            ReceiveMode::Files => "files",
        };
        self.given.check(ROWS, mode as usize, what)
    }
}

/// In place of a group that an announcement will name.
const UNKNOWN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
const UNNAMED: &str = "a receiver needs a session: `group(\"239.1.2.0\")`, `session_url(url)`, `session_name(name)` or \
    `description_file(path)`";

/// What a builder has made of its values.
struct Parts {
    options: ReceiveOptions,
    announced: Option<Announced>,
    into: Option<PathBuf>,
    outputs: Vec<StreamOutput>,
}

impl ReceiverBuilder {
    /// The receiver. A description is read now.
    ///
    /// # Errors
    /// What is wrong or missing.
    pub fn build(self) -> Result<Receiver, StartError> {
        let Parts { options, announced, into, .. } = self.parts(ReceiveMode::Files)?;
        let missing = StartError::Missing("a receiver needs a folder for its files: `into(\"inbox\")`");
        into.ok_or(missing)?;
        Ok(Receiver { options, announced })
    }

    /// Builds the receiver and starts it.
    ///
    /// # Errors
    /// As [`ReceiverBuilder::build`] and [`Receiver::start`].
    pub fn start(self) -> Result<Receiving, StartError> {
        self.build()?.start()
    }
}

impl ReceiverBuilder<StreamReceives> {
    /// The output of the next layer, from the base up; layers without one are dropped. It is dropped at the end. For a handle to read
    /// from, [`std::io::pipe`] makes both ends.
    pub fn output(mut self, writer: impl Write + Send + 'static) -> ReceiverBuilder<StreamReceives> {
        self.outputs.push(StreamOutput::Writer(Box::new(writer)));
        self.flag("outputs")
    }

    /// The receiver. A description is read now.
    ///
    /// # Errors
    /// What is wrong or missing.
    pub fn build(self) -> Result<StreamReceiver, StartError> {
        let Parts { options, announced, into, outputs } = self.parts(ReceiveMode::Stream)?;
        let outputs = match into {
            Some(folder) => StreamOutputs::Folder(folder),
            None if outputs.is_empty() => {
                let missing =
                    "a receiver of live data needs an output: `output(writer)` or `into(\"inbox\")`";
                return Err(StartError::Missing(missing));
            }
            None => StreamOutputs::Each(outputs),
        };
        Ok(StreamReceiver { options, outputs, announced })
    }

    /// Builds the receiver and starts it.
    ///
    /// # Errors
    /// As its `build` and [`StreamReceiver::start`].
    pub fn start(self) -> Result<StreamReceiving, StartError> {
        self.build()?.start()
    }
}
