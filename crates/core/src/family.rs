//! Families: the sets of protocols that hosts are built for.
//!
//! A host such as the simulator carries packets of several protocols at once and dispatches without a box. It
//! is therefore generic over a [`Family`]: the enum of all headers, of all sources, of all receivers. The
//! [`family!`](crate::family!) macro makes one from a list of protocols; [`Union`] joins two, so that a crate
//! outside this project can add a protocol of its own to the built-in ones.

mod convert;
mod list;
mod union;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

pub use convert::{Widening, narrow, widen};
pub use list::{numbers_differ, reorder};
pub use union::{Either, Union};

use crate::contract::{Endpoint, Estimates, GaugeSpec, Header, Host, Input};
use crate::layers::{LayerError, LayerTable};
use crate::lct::LctFields;
use crate::option::{OptionError, OptionSpec, RawValue};
use crate::session::{Requirements, SessionPlan};
use crate::stream::Stream;
use crate::units::{Channel, Layer, Rate, Size, Time};
use crate::wire::{MAX_REPORT, WireNumbers};

/// A set of protocols: the types that a host needs to carry any of them.
pub trait Family: Copy + Debug + Default + PartialEq + Sized + Send + Sync + 'static {
    /// The header of any protocol.
    type Header: AnyHeader;
    /// The source of any protocol.
    type Source: Endpoint<Header = Self::Header> + Debug + Send;
    /// The receiver of any protocol.
    type Receiver: Endpoint<Header = Self::Header> + Debug + Send;
    /// Many receivers of one protocol.
    type Receivers: Receivers<Header = Self::Header, Receiver = Self::Receiver>;
    /// The router of any protocol with routers.
    type Router: Endpoint<Header = Self::Header> + Debug + Send;
    /// A protocol with its options.
    type Protocol: AnyProtocol<Family = Self>;

    /// Runs the work of a host, such as a replication, on this thread. A family whose endpoints need something of their
    /// thread prepares it here, once for all inputs of the work.
    fn hosting<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

/// A protocol of a family, with its options.
pub trait AnyProtocol: Clone + Debug + PartialEq + Send + Sync + Sized + 'static {
    /// The family.
    type Family: Family<Protocol = Self>;

    /// The names of all protocols of the family, as scenario files have them.
    fn names() -> Vec<&'static str>;

    /// The protocol of that name with its default options.
    fn named(name: &str) -> Option<Self>;

    /// The name in scenario files.
    fn name(&self) -> &'static str;

    /// What the protocol is, in one sentence.
    fn summary(&self) -> &'static str;

    /// The numbers by which its packets are recognised.
    fn wire_numbers(&self) -> WireNumbers;

    /// The options it has.
    fn option_specs(&self) -> Vec<OptionSpec>;

    /// Sets an option.
    ///
    /// # Errors
    /// As [`crate::option::Options::set`].
    fn set(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError>;

    /// An option's value as it would be written; none if there is no such option.
    fn get(&self, name: &str) -> Option<String>;

    /// The gauges of its sources, for [`Endpoint::gauge`].
    fn source_gauges(&self) -> &'static [GaugeSpec];

    /// The gauges of its receivers, for [`Receivers::gauge`].
    fn receiver_gauges(&self) -> &'static [GaugeSpec];

    /// What the protocol requires of a session.
    fn requirements(&self) -> &dyn Requirements;

    /// Changes defaults to those for real networks: see [`Requirements::deploy`].
    fn deploy(&mut self);

    /// The layers of a session whose receivers get rates between these: see [`Requirements::span`].
    ///
    /// # Errors
    /// As [`Requirements::span`].
    fn span(&mut self, from: Rate, to: Rate, packet: Size) -> Result<LayerTable, LayerError>;

    /// Makes the source of a session.
    fn source(&self, plan: SessionPlan, stream: Stream) -> <Self::Family as Family>::Source;

    /// Makes a receiver of a session.
    fn receiver(&self, plan: SessionPlan, stream: Stream) -> <Self::Family as Family>::Receiver;

    /// Makes a router of a session; none for a protocol without routers.
    fn router(&self, plan: SessionPlan, stream: Stream) -> Option<<Self::Family as Family>::Router>;
}

/// The header of any protocol of a family, as a value and on the wire.
pub trait AnyHeader: Header + Debug + PartialEq + Send + Sync + 'static {
    /// Why bytes are not a header of any protocol.
    type Error: core::error::Error + Copy + PartialEq + Send + Sync + 'static;

    /// The fields of a data header in an LCT packet; none for feedback, and for a protocol without a wire form.
    fn to_lct(&self) -> Option<LctFields>;

    /// The data header of an LCT packet; the type of the extension identifies the protocol. Never panics.
    ///
    /// # Errors
    /// What is wrong with the fields.
    fn from_lct(fields: &LctFields) -> Result<Self, Self::Error>;

    /// Whether a protocol of the family has extensions of this type.
    fn is_lct_extension(kind: u8) -> bool;

    /// The layer of a data header; of a channel outside the layers, that channel's number. None for feedback.
    fn layer(&self) -> Option<Layer>;

    /// The channel that a data header belongs on; none for feedback.
    fn channel(&self) -> Option<Channel>;

    /// Writes a report and returns its length; none for a data header.
    fn encode_report(&self, bytes: &mut [u8; MAX_REPORT]) -> Option<usize>;

    /// Reads a report; its first byte identifies the protocol. Never panics.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    fn decode_report(bytes: &[u8]) -> Result<Self, Self::Error>;

    /// Whether a protocol of the family has reports with this first byte.
    fn is_report(kind: u8) -> bool;
}

/// Many receivers of one protocol, contiguous in memory, each as large as its own protocol
/// needs and not as the largest one.
pub trait Receivers: Debug + Send + Sized {
    /// The header of their packets.
    type Header: Header;
    /// One of them.
    type Receiver;

    /// A list of one receiver.
    fn one(receiver: Self::Receiver) -> Self;

    /// Adds a receiver. Returns whether its protocol is that of the others.
    #[must_use]
    fn push(&mut self, receiver: Self::Receiver) -> bool;

    /// The number of receivers.
    fn len(&self) -> usize;

    /// Whether there are no receivers.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves the receiver at each index `i` to index `order[i]`; the indices are all different.
    fn reorder(&mut self, order: &[u32]);

    /// [`drive`](crate::contract::drive) for the receiver at `index`. There must be one.
    fn drive(
        &mut self,
        index: usize,
        now: Time,
        input: Input<Self::Header>,
        host: &mut impl Host<Self::Header>,
    ) -> Option<Time>;

    /// When the receiver at `index` is to be woken. There must be one.
    fn deadline(&self, index: usize) -> Option<Time>;

    /// The estimates of the receiver at `index`. There must be one.
    fn estimates(&self, index: usize, now: Time) -> Estimates;

    /// A gauge of the receiver at `index`, by its index among the [gauges](AnyProtocol::receiver_gauges) of the
    /// protocol; none if it has no value. There must be such a receiver.
    fn gauge(&self, index: usize, gauge: usize, now: Time) -> Option<f64>;
}
