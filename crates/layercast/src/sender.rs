//! Sending files.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::Scheme;
use layercast_core::units::{Rate, Size};
use layercast_delivery::announce::sap::is_local;
use layercast_delivery::layering::Layering;
use layercast_delivery::protocols::{deployed, set_options};
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_protocols::registry::{NAMES, Protocol};
use layercast_transport::announcing::name_of;
use layercast_transport::relay::ServeOptions;
use layercast_transport::send::{GATHER, PACKET, SendOptions, ServeUse, send};

use crate::StartError;
use crate::event::Sends;
use crate::given::{Given, addresses};
use crate::transfer::Transfer;

/// A transmission in progress.
pub type Sending = Transfer<Sends>;

/// Files, and how they are sent: what [`SenderBuilder::build`] makes, and what [`SendOptions`] of one's own become by
/// [`Sender::new`].
#[derive(Clone, Debug)]
pub struct Sender {
    /// Files and folders; of a folder with `/` at its end, the content.
    pub paths: Vec<PathBuf>,
    /// All that can be chosen.
    pub options: SendOptions,
}

impl Sender {
    /// A sender with the defaults of `layercast send`.
    pub fn builder() -> SenderBuilder {
        SenderBuilder {
            paths: Vec::new(),
            group: None,
            from: None,
            to: None,
            scheme: None,
            control: "tide".to_owned(),
            protocol_options: Vec::new(),
            packet: None,
            given: Given::default(),
        }
    }

    /// A sender with these options.
    pub fn new(paths: Vec<PathBuf>, options: SendOptions) -> Sender {
        Sender { paths, options }
    }

    /// Starts to send, on a thread of its own.
    ///
    /// # Errors
    /// If the system gives no thread. What else keeps it from sending is the outcome of the transmission.
    pub fn start(self) -> Result<Sending, StartError> {
        let Sender { paths, options } = self;
        let sending = Transfer::start("send", options.ends, move |stop, on_event| {
            send(&paths, &options, stop, &mut |event| on_event(event.clone()))
        });
        sending.map_err(StartError::Thread)
    }
}

/// Makes a [`Sender`]. What is not given is as `layercast send` has it: Tide from 128 kbit/s to 100 Mbit/s, packets of 1400 bytes,
/// no end. A wrong value is the error of [`SenderBuilder::build`] and [`SenderBuilder::start`].
#[must_use = "a builder does nothing before its start"]
pub struct SenderBuilder {
    paths: Vec<PathBuf>,
    group: Option<SocketAddr>,
    from: Option<Rate>,
    to: Option<Rate>,
    scheme: Option<Scheme>,
    control: String,
    protocol_options: Vec<(String, String)>,
    packet: Option<Size>,
    given: Given<SendOptions>,
}

impl fmt::Debug for SenderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SenderBuilder { paths, group, control, .. } = self;
        let mut shown = f.debug_struct("SenderBuilder");
        shown.field("paths", paths).field("group", group).field("control", control).finish_non_exhaustive()
    }
}

impl SenderBuilder {
    /// The group of the base layer, with or without a port: `"239.1.2.0"`, `"[ff15::1:0]:5500"`, an address of [`std::net`]. Each
    /// further channel has the next address.
    pub fn group(mut self, group: impl ToString) -> SenderBuilder {
        self.group = self.given.group(&group.to_string());
        self
    }

    /// A file or folder, after those that are there; of a folder with `/` at its end, the content.
    pub fn path(mut self, path: impl Into<PathBuf>) -> SenderBuilder {
        self.paths.push(path.into());
        self
    }

    /// The rate below which no receiver falls.
    pub fn from(mut self, rate: Rate) -> SenderBuilder {
        self.from = Some(rate);
        self
    }

    /// The rate that no receiver exceeds; all layers together are sent at it.
    pub fn to(mut self, rate: Rate) -> SenderBuilder {
        self.to = Some(rate);
        self
    }

    /// Layers one by one, in place of two rates.
    pub fn layers(mut self, scheme: Scheme) -> SenderBuilder {
        self.scheme = Some(scheme);
        self
    }

    /// The congestion control, by its name in `layercast list --protocols`.
    pub fn control(mut self, name: &str) -> SenderBuilder {
        name.clone_into(&mut self.control);
        self
    }

    /// An option of the congestion control, as `layercast list NAME` has it.
    pub fn set(mut self, option: &str, value: &str) -> SenderBuilder {
        self.protocol_options.push((option.to_owned(), value.to_owned()));
        self
    }

    /// The size of packets with all headers.
    pub fn packet(mut self, size: Size) -> SenderBuilder {
        self.packet = Some(size);
        self
    }

    /// The interface, by name or address; that of the route to the group unless given.
    pub fn interface(self, interface: &str) -> SenderBuilder {
        let interface = interface.to_owned();
        self.with(|options| options.interface = Some(interface))
    }

    /// The time to live of packets: the most routers on the way, and one.
    pub fn ttl(self, ttl: u8) -> SenderBuilder {
        self.with(move |options| options.ttl = ttl)
    }

    /// Ends after this time.
    pub fn end_after(self, time: Duration) -> SenderBuilder {
        self.with(move |options| options.ends.after = Some(time))
    }

    /// Ends when so many times as many symbols were sent as the files have, over all layers.
    pub fn rounds(self, rounds: u32) -> SenderBuilder {
        self.with(move |options| options.ends.rounds = Some(rounds))
    }

    /// Ends when so many receivers have said that they are complete. [`Sent`](crate::Sent) says who they are, also after another
    /// end.
    pub fn until_complete(self, receivers: usize) -> SenderBuilder {
        self.with(move |options| options.ends.completions = Some(receivers))
    }

    /// Authenticates packets by this key.
    pub fn group_key(self, key: GroupKey) -> SenderBuilder {
        self.with(|options| options.group_key = Some(key))
    }

    /// Encrypts packets too, by the group key. Receivers need the session's URL, its description or its announcement.
    pub fn encrypt(self) -> SenderBuilder {
        self.with(|options| options.encrypts = true)
    }

    /// Signs the files, their table and announcements by this key.
    pub fn key(self, key: SecretKey) -> SenderBuilder {
        self.with(|options| options.key = Some(key))
    }

    /// Sends changes of the files too.
    pub fn follow(self) -> SenderBuilder {
        self.with(|options| options.follow = true)
    }

    /// Sends all layers always, for receivers without a way back.
    pub fn all_layers(self) -> SenderBuilder {
        self.with(|options| options.on_demand = false)
    }

    /// Keeps in this file what a sender needs to go on that is started again.
    pub fn state(self, file: impl Into<PathBuf>) -> SenderBuilder {
        let file = file.into();
        self.with(|options| options.state = Some(file))
    }

    /// What people call the session; the name of the first path unless given.
    pub fn name(self, name: &str) -> SenderBuilder {
        let name = name.to_owned();
        self.with(|options| options.name = name)
    }

    /// Whether it is announced. Unless given, sessions of local scopes are (239.0.0.0/8; ff03:: to ff08::), others are not.
    pub fn announce(self, is_announced: bool) -> SenderBuilder {
        self.with(move |options| options.is_announced = is_announced)
    }

    /// Serves relays and receivers by unicast too, at this address and UDP port.
    pub fn serve(self, listen: SocketAddr) -> SenderBuilder {
        self.serving(listen, false)
    }

    /// Serves relays and receivers by unicast, and sends nothing to groups.
    pub fn serve_only(self, listen: SocketAddr) -> SenderBuilder {
        self.serving(listen, true)
    }

    fn serving(self, listen: SocketAddr, only: bool) -> SenderBuilder {
        self.with(move |options| {
            let session = SessionKey { group: options.group, source: None };
            let serve = ServeOptions::of_session(listen, session, Limits::default().children);
            options.serve = Some(ServeUse { serve, only, gather: GATHER });
        })
    }

    /// Names a relay in announcements and descriptions, for receivers without multicast.
    pub fn relay(mut self, relay: impl ToSocketAddrs + fmt::Debug) -> SenderBuilder {
        match self.given.right(addresses(relay)) {
            Some(found) => self.with(|options| options.relays.extend(found)),
            None => self,
        }
    }

    /// Changes the options themselves, which have all that can be chosen. Called after the defaults, in the order of the calls.
    pub fn with(mut self, change: impl FnOnce(&mut SendOptions) + Send + 'static) -> SenderBuilder {
        self.given.change(change);
        self
    }

    /// The sender.
    ///
    /// # Errors
    /// What is wrong or missing.
    pub fn build(self) -> Result<Sender, StartError> {
        let SenderBuilder { paths, group, from, to, scheme, control, protocol_options, packet, given } = self;
        let change = given.changes()?;
        let group = group.ok_or(StartError::Missing("a sender needs a group: `group(\"239.1.2.0\")`"))?;
        if paths.is_empty() {
            return Err(StartError::Missing("a sender needs something to send: `path(\"release/\")`"));
        }
        let unknown = || StartError::Protocol { name: control.clone(), known: NAMES.join(", ") };
        let mut protocol: Protocol = deployed(&control).ok_or_else(unknown)?;
        let layering = match scheme {
            Some(_) if from.is_some() || to.is_some() => {
                let why = "rates are given by the lowest and the highest, or layer by layer";
                return Err(StartError::Conflict { what: "layers", with: "from and to", why });
            }
            Some(scheme) => Layering::Scheme(scheme),
            None => Layering::Between { from, to },
        };
        let packet = packet.unwrap_or(PACKET);
        if layering.has_idle_lowest(&protocol, packet) {
            return Err(StartError::IdleLowest { protocol: protocol.name() });
        }
        let layers = layering.table(&mut protocol, packet)?;
        set_options(&mut protocol, &protocol_options)?;
        let mut options = SendOptions {
            packet,
            name: name_of(&paths),
            is_announced: is_local(group.ip()),
            ..SendOptions::new(group, protocol, layers)
        };
        change(&mut options);
        if options.follow && options.ends.completions.is_some() {
            let why = "what changes is never complete";
            return Err(StartError::Conflict { what: "follow", with: "until_complete", why });
        }
        if options.encrypts && options.group_key.is_none() {
            return Err(StartError::Missing("packets are encrypted by a group key: `group_key(key)`"));
        }
        Ok(Sender { paths, options })
    }

    /// Builds the sender and starts it.
    ///
    /// # Errors
    /// As [`SenderBuilder::build`] and [`Sender::start`].
    pub fn start(self) -> Result<Sending, StartError> {
        self.build()?.start()
    }
}

#[cfg(test)]
mod tests {
    use layercast_core::units::Layer;

    use super::*;
    use crate::Receiver;

    #[test]
    fn what_is_not_given_is_as_the_command_has_it() {
        let sender = Sender::builder().group("239.1.2.0").path("a/photo.jpg").build().unwrap();
        let options = &sender.options;
        assert_eq!(options.group.to_string(), "239.1.2.0:5500");
        assert_eq!((options.protocol.name(), options.name.as_str()), ("tide", "photo.jpg"));
        assert_eq!(options.layers.rate(Layer::BASE), Rate::from_kbps(128.0));
        assert_eq!(options.layers.top_rate(), Rate::from_mbps(100.0));
        assert!(options.is_announced && options.reports && options.on_demand && options.packs);
        let global = Sender::builder().group("[ff0e::1:0]:6000").path("a").build().unwrap();
        assert!(!global.options.is_announced, "the whole internet would hear it");
        let receiver = Receiver::builder().group("239.1.2.0:7").into("in").patience(Duration::from_secs(7));
        let options = receiver.build().unwrap().options;
        assert_eq!(
            (options.start_within, options.patience),
            (Duration::from_secs(7), Duration::from_secs(7))
        );
    }

    #[test]
    fn options_can_be_changed_beyond_the_builder() {
        let sender = Sender::builder().group("239.1.2.0").path("a").ttl(3).with(|options| options.ttl += 1);
        assert_eq!(sender.build().unwrap().options.ttl, 4);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let sender = || Sender::builder().group("239.1.2.0").path("a");
        let (low, high) = (Rate::from_mbps(1.0), Rate::from_mbps(9.0));
        let scheme = Scheme::Equal { base: low, count: 2 };
        let wrong = [
            (Sender::builder().path("a"), "a sender needs a group"),
            (Sender::builder().group("239.1.2.0"), "a sender needs something to send"),
            (sender().group("here").group("there"), "the group `here`: an address of"),
            (sender().control("tides"), "there is no protocol `tides`"),
            (sender().set("speed", "1"), "option speed of tide"),
            (sender().control("tfmcc").from(low).to(high), "`from` has no effect: tfmcc"),
            (sender().to(high).layers(scheme), "layers cannot be used with from and to"),
            (sender().follow().until_complete(1), "follow cannot be used with until_complete"),
            (sender().encrypt(), "encrypted by a group key"),
            (sender().relay("no port"), "the relay \"no port\" is not found"),
        ];
        for (builder, words) in wrong {
            let error = builder.build().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let receiver = || Receiver::builder().into("in");
        let source = [192, 0, 2, 1].into();
        let wrong = [
            (Receiver::builder().group("239.1.2.0"), "a receiver needs a folder"),
            (receiver(), "a receiver needs a session"),
            (receiver().session_url("layercast://x"), "layercast://x: "),
            (receiver().group("239.1.2.0").session_url("x"), "each names a session"),
            (receiver().session_url("layercast://239.1.2.0:1").source(source), "source cannot be used"),
            (receiver().description_file("no such.sdp"), "no such.sdp cannot be read"),
        ];
        for (builder, words) in wrong {
            let error = builder.build().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
