//! What a simulation sees of packets with bytes and of programs outside of it: a family whose headers are handles to
//! bytes and whose receivers keep what arrives for their owner to take out.

use layercast_core::contract::{Action, Ecn, Endpoint, Estimates, GaugeSpec, Header, Host, Input};
use layercast_core::family::{AnyHeader, AnyProtocol, Family, Receivers, reorder};
use layercast_core::layers::{LayerError, LayerTable};
use layercast_core::lct::LctFields;
use layercast_core::option::{OptionError, OptionSpec, RawValue};
use layercast_core::session::{Requirements, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Layer, Rate, Size, Time};
use layercast_core::wire::{MAX_REPORT, WireNumbers};

/// A host, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// The family of packets and hosts from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Foreign;

impl Family for Foreign {
    type Header = Handle;
    type Source = Outsider;
    type Receiver = ForeignReceiver;
    type Receivers = ForeignReceivers;
    type Router = Outsider;
    type Protocol = ForeignProtocol;
}

/// The handle to a packet's bytes: the number of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub u32);

impl Header for Handle {}

/// Packets from outside have bytes of their own and no fields of LCT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packets from outside have no header of a protocol")]
pub struct NoHeader;

impl AnyHeader for Handle {
    type Error = NoHeader;

    fn to_lct(&self) -> Option<LctFields> {
        None
    }

    fn from_lct(_fields: &LctFields) -> Result<Handle, NoHeader> {
        Err(NoHeader)
    }

    fn is_lct_extension(_kind: u8) -> bool {
        false
    }

    fn layer(&self) -> Option<Layer> {
        None
    }

    fn channel(&self) -> Option<Channel> {
        None
    }

    fn encode_report(&self, _bytes: &mut [u8; MAX_REPORT]) -> Option<usize> {
        None
    }

    fn decode_report(_bytes: &[u8]) -> Result<Handle, NoHeader> {
        Err(NoHeader)
    }

    fn is_report(_kind: u8) -> bool {
        false
    }
}

/// A source or router whose program runs elsewhere: it does nothing by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outsider;

impl Endpoint for Outsider {
    type Header = Handle;

    fn handle(&mut self, _now: Time, _input: Input<Handle>) {}

    fn poll_action(&mut self) -> Option<Action<Handle>> {
        None
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn estimates(&self, _now: Time) -> Estimates {
        Estimates::default()
    }
}

/// A receiver whose program runs in a host.
#[derive(Clone, Debug)]
pub struct ForeignReceiver {
    /// The host.
    pub host: HostId,
    /// What its program has reported of itself last.
    pub estimates: Estimates,
    /// The gauges that its program has reported, in the order of its protocol; NaN for those that have no value.
    pub gauges: Vec<f64>,
}

impl ForeignReceiver {
    /// A receiver in this host, of which nothing is known.
    pub fn new(host: HostId) -> ForeignReceiver {
        ForeignReceiver { host, estimates: Estimates::default(), gauges: Vec::new() }
    }
}

impl Endpoint for ForeignReceiver {
    type Header = Handle;

    fn handle(&mut self, _now: Time, _input: Input<Handle>) {}

    fn poll_action(&mut self) -> Option<Action<Handle>> {
        None
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn estimates(&self, _now: Time) -> Estimates {
        self.estimates
    }
}

/// A multicast packet that has reached a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrived {
    /// When.
    pub at: Time,
    /// Its place in the session.
    pub receiver: u32,
    /// The packet.
    pub header: Handle,
    /// Its ECN codepoint on arrival.
    pub ecn: Ecn,
}

/// The receivers of one session, and what has arrived at them.
#[derive(Debug)]
pub struct ForeignReceivers {
    receivers: Vec<ForeignReceiver>,
    arrived: Vec<Arrived>,
}

impl ForeignReceivers {
    /// Takes out what has arrived since the last call, in the order of time.
    pub fn drain(&mut self) -> std::vec::Drain<'_, Arrived> {
        self.arrived.drain(..)
    }

    /// Whether something has arrived.
    pub fn has_arrivals(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// The receiver at a place.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut ForeignReceiver> {
        self.receivers.get_mut(index)
    }
}

impl Receivers for ForeignReceivers {
    type Header = Handle;
    type Receiver = ForeignReceiver;

    fn one(receiver: ForeignReceiver) -> ForeignReceivers {
        ForeignReceivers { receivers: vec![receiver], arrived: Vec::new() }
    }

    fn push(&mut self, receiver: ForeignReceiver) -> bool {
        self.receivers.push(receiver);
        true
    }

    fn len(&self) -> usize {
        self.receivers.len()
    }

    fn reorder(&mut self, order: &[u32]) {
        reorder(&mut self.receivers, order);
    }

    fn drive(
        &mut self,
        index: usize,
        now: Time,
        input: Input<Handle>,
        _host: &mut impl Host<Handle>,
    ) -> Option<Time> {
        if let Input::Packet(arrival) = input {
            let (header, ecn) = (arrival.header, arrival.ecn);
            self.arrived.push(Arrived { at: now, receiver: index as u32, header, ecn });
        }
        None
    }

    fn deadline(&self, _index: usize) -> Option<Time> {
        None
    }

    fn estimates(&self, index: usize, _now: Time) -> Estimates {
        self.receivers.get(index).map_or(Estimates::default(), |receiver| receiver.estimates)
    }

    fn gauge(&self, index: usize, gauge: usize, _now: Time) -> Option<f64> {
        self.receivers.get(index)?.gauges.get(gauge).copied().filter(|value| !value.is_nan())
    }
}

/// Whatever a program speaks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForeignProtocol;

impl Requirements for ForeignProtocol {}

impl AnyProtocol for ForeignProtocol {
    type Family = Foreign;

    fn names() -> Vec<&'static str> {
        Vec::new()
    }

    fn named(_name: &str) -> Option<ForeignProtocol> {
        None
    }

    fn name(&self) -> &'static str {
        "foreign"
    }

    fn summary(&self) -> &'static str {
        "Packets of programs outside of the simulation."
    }

    fn wire_numbers(&self) -> WireNumbers {
        WireNumbers { extensions: &[], report: None }
    }

    fn option_specs(&self) -> Vec<OptionSpec> {
        Vec::new()
    }

    fn set(&mut self, _name: &str, _value: RawValue<'_>) -> Result<(), OptionError> {
        Err(OptionError::Unknown)
    }

    fn get(&self, _name: &str) -> Option<String> {
        None
    }

    fn source_gauges(&self) -> &'static [GaugeSpec] {
        &[]
    }

    fn receiver_gauges(&self) -> &'static [GaugeSpec] {
        &[]
    }

    fn requirements(&self) -> &dyn Requirements {
        self
    }

    fn deploy(&mut self) {}

    fn span(&mut self, from: Rate, to: Rate, _packet: Size) -> Result<LayerTable, LayerError> {
        LayerTable::spanning(from, to)
    }

    fn source(&self, _plan: SessionPlan, _stream: Stream) -> Outsider {
        Outsider
    }

    fn receiver(&self, _plan: SessionPlan, _stream: Stream) -> ForeignReceiver {
        ForeignReceiver::new(HostId(0))
    }

    fn router(&self, _plan: SessionPlan, _stream: Stream) -> Option<Outsider> {
        None
    }
}
