//! Sending files and live data.

use std::fmt;
use std::io::Read;
use std::marker::PhantomData;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::{LayerTable, Scheme};
use layercast_core::modes::{Reason, Refusal, Refused};
use layercast_core::units::{Rate, Size};
use layercast_delivery::layering::{Layering, StreamRates};
use layercast_delivery::protocols::{deployed, set_options};
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_delivery::stream::Units;
use layercast_protocols::registry::{NAMES, Protocol};
use layercast_transport::announcing::name_of;
use layercast_transport::relay::ServeOptions;
use layercast_transport::send::modes::{
    ONE_INPUT, ONE_LAYER, RELIABLE, ROWS, SendMode, is_announced, only_layer,
};
use layercast_transport::send::stream::{self, StreamInput, StreamSendOptions};
use layercast_transport::send::{GATHER, PACKET, SendOptions, ServeUse, send};

use crate::error::{Conflict, StartError};
use crate::event::{Sends, StreamSends};
use crate::given::{Given, addresses};
use crate::transfer::{Kind, Transfer};

/// A transmission in progress.
pub type Sending = Transfer<Sends>;

/// A transmission of live data in progress.
pub type StreamSending = Transfer<StreamSends>;

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
        SenderBuilder::new()
    }

    /// A sender of live data with the defaults of `layercast send --stream`.
    pub fn stream_builder() -> SenderBuilder<StreamSends> {
        SenderBuilder::new()
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

/// Live data, and how it is sent.
#[derive(Debug)]
pub struct StreamSender {
    /// The input of each layer, from the base up.
    pub inputs: Vec<StreamInput>,
    /// All that can be chosen.
    pub options: StreamSendOptions,
}

impl StreamSender {
    /// Starts to send, on a thread of its own, and another one for each input. A thread whose reader waits when the transmission ends
    /// stays until the reader comes back.
    ///
    /// # Errors
    /// As [`Sender::start`].
    pub fn start(self) -> Result<StreamSending, StartError> {
        let StreamSender { inputs, options } = self;
        let sending = Transfer::start("send", options.send.ends, move |stop, on_event| {
            stream::send(inputs, &options, stop, &mut |event| on_event(event.clone()))
        });
        sending.map_err(StartError::Thread)
    }
}

/// Makes a [`Sender`], or by [`Sender::stream_builder`] a [`StreamSender`]. What is not given is as `layercast send` has it: Tide from
/// 128 kbit/s to 100 Mbit/s, or of live data ELM from 128 kbit/s, each layer with the rate of those below; packets of 1400 bytes, no
/// end. A wrong value, and what cannot be used together, is the error of `build` and `start`.
#[must_use = "a builder does nothing before its start"]
pub struct SenderBuilder<K: Kind = Sends> {
    /// Those of files are paths.
    inputs: Vec<StreamInput>,
    group: Option<SocketAddr>,
    from: Option<Rate>,
    to: Option<Rate>,
    scheme: Option<Scheme>,
    control: Option<String>,
    protocol_options: Vec<(String, String)>,
    packet: Option<Size>,
    deadline: Option<Duration>,
    units: Option<Units>,
    repair: Option<f64>,
    gather: Option<Duration>,
    given: Given<SendOptions>,
    kind: PhantomData<K>,
}

impl<K: Kind> fmt::Debug for SenderBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SenderBuilder { inputs, group, control, .. } = self;
        let mut shown = f.debug_struct("SenderBuilder");
        shown.field("inputs", inputs).field("group", group).field("control", control).finish_non_exhaustive()
    }
}

impl<K: Kind> SenderBuilder<K> {
    fn new() -> SenderBuilder<K> {
        SenderBuilder {
            inputs: Vec::new(),
            group: None,
            from: None,
            to: None,
            scheme: None,
            control: None,
            protocol_options: Vec::new(),
            packet: None,
            deadline: None,
            units: None,
            repair: None,
            gather: None,
            given: Given::default(),
            kind: PhantomData,
        }
    }

    /// The group of the base layer, with or without a port: `"239.1.2.0"`, `"[ff15::1:0]:5500"`, an address of [`std::net`]. Each
    /// further channel has the next address.
    pub fn group(mut self, group: impl ToString) -> SenderBuilder<K> {
        self.group = self.given.group(&group.to_string());
        self
    }

    /// A file or folder, after those that are there; of a folder with `/` at its end, the content. Of live data the next layer's input:
    /// a file or a named pipe.
    pub fn path(mut self, path: impl Into<PathBuf>) -> SenderBuilder<K> {
        self.inputs.push(StreamInput::Path(path.into()));
        self.flag("paths")
    }

    /// The rate below which no receiver falls.
    pub fn from(mut self, rate: Rate) -> SenderBuilder<K> {
        self.from = Some(rate);
        self.flag("from")
    }

    /// The rate that no receiver exceeds; all layers together are sent at it.
    pub fn to(mut self, rate: Rate) -> SenderBuilder<K> {
        self.to = Some(rate);
        self.flag("to")
    }

    /// Layers one by one, in place of two rates.
    pub fn layers(mut self, scheme: Scheme) -> SenderBuilder<K> {
        self.scheme = Some(scheme);
        self.flag("rates")
    }

    /// The congestion control, by its name in `layercast list --protocols`.
    pub fn control(mut self, name: &str) -> SenderBuilder<K> {
        self.control = Some(name.to_owned());
        self.flag("control")
    }

    /// An option of the congestion control, as `layercast list NAME` has it.
    pub fn set(mut self, option: &str, value: &str) -> SenderBuilder<K> {
        self.protocol_options.push((option.to_owned(), value.to_owned()));
        self.flag("options")
    }

    /// The size of packets with all headers.
    pub fn packet(mut self, size: Size) -> SenderBuilder<K> {
        self.packet = Some(size);
        self.flag("packet")
    }

    /// The interface, by name or address; that of the route to the group unless given.
    pub fn interface(self, interface: &str) -> SenderBuilder<K> {
        let interface = interface.to_owned();
        self.flag("interface").with(|options| options.interface = Some(interface))
    }

    /// The time to live of packets: the most routers on the way, and one.
    pub fn ttl(self, ttl: u8) -> SenderBuilder<K> {
        self.flag("ttl").with(move |options| options.ttl = ttl)
    }

    /// Ends after this time.
    pub fn end_after(self, time: Duration) -> SenderBuilder<K> {
        self.flag("after").with(move |options| options.ends.after = Some(time))
    }

    /// Ends when so many times as many symbols were sent as the files have, over all layers.
    pub fn rounds(self, rounds: u32) -> SenderBuilder<K> {
        self.flag("rounds").with(move |options| options.ends.rounds = Some(rounds))
    }

    /// Ends when so many receivers have said that they are complete. [`Sent`](crate::Sent) says who they are, also after another
    /// end.
    pub fn until_complete(self, receivers: usize) -> SenderBuilder<K> {
        self.flag("until_complete").with(move |options| options.ends.completions = Some(receivers))
    }

    /// Authenticates packets by this key.
    pub fn group_key(self, key: GroupKey) -> SenderBuilder<K> {
        self.flag("group_key").with(|options| options.group_key = Some(key))
    }

    /// Encrypts packets too, by the group key. Receivers need the session's URL, its description or its announcement.
    pub fn encrypt(self) -> SenderBuilder<K> {
        self.flag("encrypt").with(|options| options.encrypts = true)
    }

    /// Signs the files, their table and announcements by this key. Of live data it signs the description and announcements, and
    /// [`SenderBuilder::group_key`] is needed too, which alone authenticates packets.
    pub fn key(self, key: SecretKey) -> SenderBuilder<K> {
        self.flag("key").with(|options| options.key = Some(key))
    }

    /// Sends changes of the files too.
    pub fn follow(self) -> SenderBuilder<K> {
        self.flag("follow").with(|options| options.follow = true)
    }

    /// Sends all layers always, for receivers without a way back.
    pub fn all_layers(self) -> SenderBuilder<K> {
        self.flag("all_layers").with(|options| options.on_demand = false)
    }

    /// Keeps in this file what a sender needs to go on that is started again.
    pub fn state(self, file: impl Into<PathBuf>) -> SenderBuilder<K> {
        let file = file.into();
        self.flag("state").with(|options| options.state = Some(file))
    }

    /// What people call the session; the name of the first path unless given.
    pub fn name(self, name: &str) -> SenderBuilder<K> {
        let name = name.to_owned();
        self.flag("name").with(|options| options.name = name)
    }

    /// Whether it is announced. Unless given, sessions of local scopes are (239.0.0.0/8; ff03:: to ff08::), others are not.
    pub fn announce(mut self, is_announced: bool) -> SenderBuilder<K> {
        let (now, before) =
            if is_announced { ("announce", "no_announce") } else { ("no_announce", "announce") };
        self.given.forget(before);
        self.flag(now).with(move |options| options.is_announced = is_announced)
    }

    /// Serves relays and receivers by unicast too, at this address and UDP port; a [reliable](SenderBuilder::reliable) session nobody
    /// else.
    pub fn serve(self, listen: SocketAddr) -> SenderBuilder<K> {
        self.serving(listen, false)
    }

    /// Serves relays and receivers by unicast, and sends nothing to groups.
    pub fn serve_only(self, listen: SocketAddr) -> SenderBuilder<K> {
        self.flag("serve_only").serving(listen, true)
    }

    fn serving(self, listen: SocketAddr, only: bool) -> SenderBuilder<K> {
        self.flag("serve").with(move |options| {
            let session = SessionKey { group: options.group, source: None };
            let serve = ServeOptions::of_session(listen, session, Limits::default().children);
            options.serve = Some(ServeUse { serve, only, gather: GATHER });
        })
    }

    /// Sends each file once, in order, to those that [`SenderBuilder::serve`] serves, over relays that take part (`layercast relay
    /// --protocol`), and ends when all that came have everything. The congestion control is AMCA or NCA; nothing is sent to the group.
    pub fn reliable(self) -> SenderBuilder<K> {
        self.flag("reliable")
    }

    /// How long a reliable session waits for others after the first receiver or relay; two seconds unless given.
    pub fn gather(mut self, time: Duration) -> SenderBuilder<K> {
        self.gather = Some(time);
        self.flag("gather")
    }

    /// Delivers a unit of live data within this time or not at all; half a second unless given.
    pub fn deadline(mut self, deadline: Duration) -> SenderBuilder<K> {
        self.deadline = Some(deadline);
        self.flag("deadline")
    }

    /// What of live data is delivered whole or not at all: 1316 bytes unless given.
    pub fn units(mut self, units: Units) -> SenderBuilder<K> {
        self.units = Some(units);
        self.flag("units")
    }

    /// Repair symbols of live data for each symbol of it, from 0 to 1; 0.15 unless given.
    pub fn repair(mut self, share: f64) -> SenderBuilder<K> {
        let right = if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(StartError::Repair(share)) };
        self.repair = self.given.right(right);
        self.flag("repair")
    }

    /// Names a relay in announcements and descriptions, for receivers without multicast.
    pub fn relay(mut self, relay: impl ToSocketAddrs + fmt::Debug) -> SenderBuilder<K> {
        match self.given.right(addresses(relay)) {
            Some(found) => self.flag("relays").with(|options| options.relays.extend(found)),
            None => self,
        }
    }

    /// Changes the options themselves, which have all that can be chosen. Called after the defaults, in the order of the calls.
    pub fn with(mut self, change: impl FnOnce(&mut SendOptions) + Send + 'static) -> SenderBuilder<K> {
        self.given.change(change);
        self
    }

    fn flag(mut self, name: &'static str) -> SenderBuilder<K> {
        self.given.name(name);
        self
    }

    /// The options that both kinds of senders have.
    fn options(
        &mut self,
        mode: SendMode,
        control: &str,
        layers: impl FnOnce(&Self, &mut Protocol, Size) -> Result<LayerTable, StartError>,
    ) -> Result<SendOptions, StartError> {
        let change = self.given.changes()?;
        let group =
            self.group.ok_or(StartError::Missing("a sender needs a group: `group(\"239.1.2.0\")`"))?;
        if self.inputs.is_empty() {
            return Err(StartError::Missing(match mode {
                SendMode::Stream => "a sender of live data needs some: `input(reader)`",
                _ => "a sender needs something to send: `path(\"release/\")`",
            }));
        }
        // A program has the description of its session, by `Event::Ready`.
        self.given.name("described");
        if mode == SendMode::Stream {
            self.given.name("stream");
        }
        let what = match mode {
            SendMode::Files => "files",
            SendMode::Stream => "live data",
            SendMode::Reliable => "a reliable session",
        };
        self.given.check(ROWS, mode as usize, what)?;
        let control = self.control.as_deref().unwrap_or(control);
        let unknown = || StartError::Protocol { name: control.to_owned(), known: NAMES.join(", ") };
        let mut protocol: Protocol = deployed(control).ok_or_else(unknown)?;
        let packet = self.packet.unwrap_or(PACKET);
        let layers = layers(self, &mut protocol, packet)?;
        set_options(&mut protocol, &self.protocol_options)?;
        let mut options = SendOptions {
            packet,
            name: name_of(&self.paths()),
            is_announced: mode != SendMode::Reliable && is_announced(group, false, false),
            ..SendOptions::new(group, protocol, layers)
        };
        change(&mut options);
        if let (Some(gather), Some(used)) = (self.gather, &mut options.serve) {
            used.gather = gather;
        }
        Ok(options)
    }

    fn paths(&self) -> Vec<PathBuf> {
        let paths = self.inputs.iter().filter_map(|input| match input {
            StreamInput::Path(path) => Some(path.clone()),
            _ => None,
        });
        paths.collect()
    }
}

impl SenderBuilder {
    /// The sender.
    ///
    /// # Errors
    /// What is wrong or missing.
    pub fn build(mut self) -> Result<Sender, StartError> {
        let is_reliable = self.given.has("reliable");
        let (mode, control) =
            if is_reliable { (SendMode::Reliable, RELIABLE) } else { (SendMode::Files, "tide") };
        let options = self.options(mode, control, |given, protocol, packet| {
            if is_reliable && !protocol.requirements().has_routers() {
                return Err(StartError::Routers(protocol.name()));
            }
            if is_reliable {
                return Ok(only_layer()?);
            }
            let layering = match given.scheme.clone() {
                Some(scheme) => Layering::Scheme(scheme),
                None => Layering::Between { from: given.from, to: given.to },
            };
            if layering.has_idle_lowest(protocol, packet) {
                return Err(StartError::IdleLowest { protocol: protocol.name() });
            }
            Ok(layering.table(protocol, packet)?)
        })?;
        Ok(Sender { paths: self.paths(), options })
    }

    /// Builds the sender and starts it.
    ///
    /// # Errors
    /// As [`SenderBuilder::build`] and [`Sender::start`].
    pub fn start(self) -> Result<Sending, StartError> {
        self.build()?.start()
    }
}

impl SenderBuilder<StreamSends> {
    /// The input of the next layer, from the base up, until its end. For a handle to write to, [`std::io::pipe`] makes both ends.
    pub fn input(mut self, reader: impl Read + Send + 'static) -> SenderBuilder<StreamSends> {
        self.inputs.push(StreamInput::Reader(Box::new(reader)));
        self.flag("paths")
    }

    /// The sender.
    ///
    /// # Errors
    /// What is wrong or missing.
    pub fn build(mut self) -> Result<StreamSender, StartError> {
        let send = self.options(SendMode::Stream, "elm", |given, _, _| match given.scheme.clone() {
            Some(scheme) => Ok(scheme.table()?),
            None => {
                let (base, to, inputs) = (given.from, given.to, given.inputs.len());
                if inputs == 1 && base.is_some() && to.is_some() {
                    return Err(one_input("from"));
                }
                Ok(StreamRates { base, to, factor: None }.table(inputs)?)
            }
        })?;
        let mut options = StreamSendOptions::new(send);
        options.plan.deadline = self.deadline.map_or(options.plan.deadline, Into::into);
        options.plan.units = self.units.unwrap_or(options.plan.units);
        options.share = self.repair.unwrap_or(options.share);
        Ok(StreamSender { inputs: self.inputs, options })
    }

    /// Builds the sender and starts it.
    ///
    /// # Errors
    /// As its `build` and [`StreamSender::start`].
    pub fn start(self) -> Result<StreamSending, StartError> {
        self.build()?.start()
    }
}

/// The refusal of what one layer has no use for.
fn one_input(flag: &'static str) -> StartError {
    let reason = Reason { why: ONE_LAYER, instead: "" };
    let refusal = Refusal { flag, refused: Refused::With(vec![ONE_INPUT]), reason };
    StartError::Conflicts(vec![Conflict { refusal, mode: "live data" }])
}

#[cfg(test)]
mod tests;
