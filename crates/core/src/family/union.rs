//! Two families as one.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::{AnyHeader, AnyProtocol, Family, Receivers, Widening, narrow, widen};
use crate::contract::{Action, Endpoint, Estimates, GaugeSpec, Header, Host, Input};
use crate::layers::{LayerError, LayerTable};
use crate::lct::LctFields;
use crate::option::{OptionError, OptionSpec, RawValue};
use crate::session::{Requirements, SessionPlan};
use crate::stream::Stream;
use crate::units::{Channel, Layer, Rate, Size, Time};
use crate::wire::{MAX_REPORT, WireNumbers};

/// The protocols of `A` and those of `B`. Where both have a name or a wire number, `A` takes precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Union<A, B>(PhantomData<(A, B)>);

/// A value of the first family or of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Either<A, B> {
    /// Of the first.
    First(A),
    /// Of the second.
    Second(B),
}

impl<A: Family, B: Family> Family for Union<A, B> {
    type Header = Either<A::Header, B::Header>;
    type Source = Either<A::Source, B::Source>;
    type Receiver = Either<A::Receiver, B::Receiver>;
    type Receivers = Either<A::Receivers, B::Receivers>;
    type Router = Either<A::Router, B::Router>;
    type Protocol = Either<A::Protocol, B::Protocol>;

    fn hosting<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        A::hosting(|| B::hosting(work))
    }
}

/// The same call on either variant.
macro_rules! either {
    ($value:expr, $inner:ident => $call:expr) => {
        match $value {
            Either::First($inner) => $call,
            Either::Second($inner) => $call,
        }
    };
}

fn first<A, B>(header: Either<A, B>) -> Option<A> {
    match header {
        Either::First(header) => Some(header),
        Either::Second(_) => None,
    }
}

fn second<A, B>(header: Either<A, B>) -> Option<B> {
    match header {
        Either::First(_) => None,
        Either::Second(header) => Some(header),
    }
}

impl<A: AnyProtocol, B: AnyProtocol> AnyProtocol for Either<A, B> {
    type Family = Union<A::Family, B::Family>;

    fn names() -> Vec<&'static str> {
        let mut names = A::names();
        for name in B::names() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn named(name: &str) -> Option<Self> {
        A::named(name).map(Either::First).or_else(|| B::named(name).map(Either::Second))
    }

    fn name(&self) -> &'static str {
        either!(self, protocol => protocol.name())
    }

    fn summary(&self) -> &'static str {
        either!(self, protocol => protocol.summary())
    }

    fn wire_numbers(&self) -> WireNumbers {
        either!(self, protocol => protocol.wire_numbers())
    }

    fn option_specs(&self) -> Vec<OptionSpec> {
        either!(self, protocol => protocol.option_specs())
    }

    fn set(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        either!(self, protocol => protocol.set(name, value))
    }

    fn get(&self, name: &str) -> Option<String> {
        either!(self, protocol => protocol.get(name))
    }

    fn source_gauges(&self) -> &'static [GaugeSpec] {
        either!(self, protocol => protocol.source_gauges())
    }

    fn receiver_gauges(&self) -> &'static [GaugeSpec] {
        either!(self, protocol => protocol.receiver_gauges())
    }

    fn requirements(&self) -> &dyn Requirements {
        either!(self, protocol => protocol.requirements())
    }

    fn deploy(&mut self) {
        either!(self, protocol => protocol.deploy());
    }

    fn span(&mut self, from: Rate, to: Rate, packet: Size) -> Result<LayerTable, LayerError> {
        either!(self, protocol => protocol.span(from, to, packet))
    }

    fn source(&self, plan: SessionPlan, stream: Stream) -> <Self::Family as Family>::Source {
        match self {
            Either::First(protocol) => Either::First(protocol.source(plan, stream)),
            Either::Second(protocol) => Either::Second(protocol.source(plan, stream)),
        }
    }

    fn receiver(&self, plan: SessionPlan, stream: Stream) -> <Self::Family as Family>::Receiver {
        match self {
            Either::First(protocol) => Either::First(protocol.receiver(plan, stream)),
            Either::Second(protocol) => Either::Second(protocol.receiver(plan, stream)),
        }
    }

    fn router(&self, plan: SessionPlan, stream: Stream) -> Option<<Self::Family as Family>::Router> {
        match self {
            Either::First(protocol) => protocol.router(plan, stream).map(Either::First),
            Either::Second(protocol) => protocol.router(plan, stream).map(Either::Second),
        }
    }
}

impl<A: Header, B: Header> Header for Either<A, B> {
    fn is_held_by_routers(&self) -> bool {
        either!(self, header => header.is_held_by_routers())
    }

    fn is_repair(&self) -> bool {
        either!(self, header => header.is_repair())
    }

    fn nth(self, index: u16) -> Self {
        match self {
            Either::First(header) => Either::First(header.nth(index)),
            Either::Second(header) => Either::Second(header.nth(index)),
        }
    }
}

impl<A: fmt::Display, B: fmt::Display> fmt::Display for Either<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        either!(self, inner => inner.fmt(f))
    }
}

impl<A: core::error::Error, B: core::error::Error> core::error::Error for Either<A, B> {}

impl<A: AnyHeader, B: AnyHeader> AnyHeader for Either<A, B> {
    type Error = Either<A::Error, B::Error>;

    fn to_lct(&self) -> Option<LctFields> {
        either!(self, header => header.to_lct())
    }

    fn from_lct(fields: &LctFields) -> Result<Self, Self::Error> {
        if A::is_lct_extension(fields.extension.kind()) {
            return A::from_lct(fields).map(Either::First).map_err(Either::First);
        }
        B::from_lct(fields).map(Either::Second).map_err(Either::Second)
    }

    fn is_lct_extension(kind: u8) -> bool {
        A::is_lct_extension(kind) || B::is_lct_extension(kind)
    }

    fn layer(&self) -> Option<Layer> {
        either!(self, header => header.layer())
    }

    fn channel(&self) -> Option<Channel> {
        either!(self, header => header.channel())
    }

    fn encode_report(&self, bytes: &mut [u8; MAX_REPORT]) -> Option<usize> {
        either!(self, header => header.encode_report(bytes))
    }

    fn decode_report(bytes: &[u8]) -> Result<Self, Self::Error> {
        if bytes.first().is_some_and(|&kind| A::is_report(kind)) {
            return A::decode_report(bytes).map(Either::First).map_err(Either::First);
        }
        B::decode_report(bytes).map(Either::Second).map_err(Either::Second)
    }

    fn is_report(kind: u8) -> bool {
        A::is_report(kind) || B::is_report(kind)
    }
}

impl<A: Endpoint, B: Endpoint> Endpoint for Either<A, B> {
    type Header = Either<A::Header, B::Header>;

    fn handle(&mut self, now: Time, input: Input<Self::Header>) {
        // A packet of the other family is not for this endpoint.
        match self {
            Either::First(endpoint) => {
                if let Some(input) = narrow(input, first) {
                    endpoint.handle(now, input);
                }
            }
            Either::Second(endpoint) => {
                if let Some(input) = narrow(input, second) {
                    endpoint.handle(now, input);
                }
            }
        }
    }

    fn poll_action(&mut self) -> Option<Action<Self::Header>> {
        match self {
            Either::First(endpoint) => endpoint.poll_action().map(|action| widen(action, Either::First)),
            Either::Second(endpoint) => endpoint.poll_action().map(|action| widen(action, Either::Second)),
        }
    }

    fn deadline(&self) -> Option<Time> {
        either!(self, endpoint => endpoint.deadline())
    }

    fn estimates(&self, now: Time) -> Estimates {
        either!(self, endpoint => endpoint.estimates(now))
    }

    fn gauge(&self, index: usize, now: Time) -> Option<f64> {
        either!(self, endpoint => endpoint.gauge(index, now))
    }

    fn session_number(&self) -> Option<u32> {
        either!(self, endpoint => endpoint.session_number())
    }
}

impl<A: Receivers, B: Receivers> Receivers for Either<A, B> {
    type Header = Either<A::Header, B::Header>;
    type Receiver = Either<A::Receiver, B::Receiver>;

    fn one(receiver: Self::Receiver) -> Self {
        match receiver {
            Either::First(receiver) => Either::First(A::one(receiver)),
            Either::Second(receiver) => Either::Second(B::one(receiver)),
        }
    }

    fn push(&mut self, receiver: Self::Receiver) -> bool {
        match (self, receiver) {
            (Either::First(list), Either::First(receiver)) => list.push(receiver),
            (Either::Second(list), Either::Second(receiver)) => list.push(receiver),
            _ => false,
        }
    }

    fn len(&self) -> usize {
        either!(self, list => list.len())
    }

    fn reorder(&mut self, order: &[u32]) {
        either!(self, list => list.reorder(order));
    }

    fn drive(
        &mut self,
        index: usize,
        now: Time,
        input: Input<Self::Header>,
        host: &mut impl Host<Self::Header>,
    ) -> Option<Time> {
        match self {
            Either::First(list) => match narrow(input, first) {
                Some(input) => list.drive(index, now, input, &mut Widening(host, Either::First)),
                None => list.deadline(index),
            },
            Either::Second(list) => match narrow(input, second) {
                Some(input) => list.drive(index, now, input, &mut Widening(host, Either::Second)),
                None => list.deadline(index),
            },
        }
    }

    fn deadline(&self, index: usize) -> Option<Time> {
        either!(self, list => list.deadline(index))
    }

    fn estimates(&self, index: usize, now: Time) -> Estimates {
        either!(self, list => list.estimates(index, now))
    }

    fn gauge(&self, index: usize, gauge: usize, now: Time) -> Option<f64> {
        either!(self, list => list.gauge(index, gauge, now))
    }
}
