//! The protocols that Python has defined as a family, which hosts take like any other.

use layercast_core::contract::{Action, Endpoint, Estimates, GaugeSpec, Host, Input, drive};
use layercast_core::family::{AnyProtocol, Family, Receivers, reorder};
use layercast_core::layers::{LayerError, LayerTable};
use layercast_core::option::{OptionError, OptionSpec, RawValue};
use layercast_core::session::{Requirements, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::{Rate, Size, Time};
use layercast_core::wire::WireNumbers;
use pyo3::prelude::*;

use super::chosen::Protocol;
use super::context::Context;
use super::endpoint::PythonEndpoint;
use super::given::Role;
use super::header::Header;
use super::registered;

/// The protocols that Python has defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PythonFamily;

impl Family for PythonFamily {
    type Header = Header;
    type Source = PythonEndpoint;
    type Receiver = PythonEndpoint;
    type Receivers = PythonReceivers;
    type Router = NoRouter;
    type Protocol = Protocol;

    /// Without this the interpreter makes a thread state for each input, since Rust's threads have none. The lock is
    /// held by an endpoint while it handles an input, not between inputs: other replications go on meanwhile.
    fn hosting<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        Python::attach(|py| py.detach(work))
    }
}

impl AnyProtocol for Protocol {
    type Family = PythonFamily;

    fn names() -> Vec<&'static str> {
        registered::all().iter().map(|one| one.name).collect()
    }

    fn named(name: &str) -> Option<Protocol> {
        registered::named(name).map(|found| Protocol::of(found, Context::current()))
    }

    fn name(&self) -> &'static str {
        self.registered.name
    }

    fn summary(&self) -> &'static str {
        self.registered.summary
    }

    fn wire_numbers(&self) -> WireNumbers {
        WireNumbers { extensions: &[], report: None }
    }

    fn option_specs(&self) -> Vec<OptionSpec> {
        self.registered.options.specs()
    }

    fn set(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        self.registered.options.set(&mut self.values, name, value)
    }

    fn get(&self, name: &str) -> Option<String> {
        self.registered.options.get(&self.values, name)
    }

    fn source_gauges(&self) -> &'static [GaugeSpec] {
        self.registered.gauges(Role::Source)
    }

    fn receiver_gauges(&self) -> &'static [GaugeSpec] {
        self.registered.gauges(Role::Receiver)
    }

    fn requirements(&self) -> &dyn Requirements {
        self
    }

    fn deploy(&mut self) {}

    fn span(&mut self, from: Rate, to: Rate, packet: Size) -> Result<LayerTable, LayerError> {
        Requirements::span(self, from, to, packet)
    }

    fn source(&self, plan: SessionPlan, stream: Stream) -> PythonEndpoint {
        PythonEndpoint::new(self, Role::Source, plan, stream)
    }

    fn receiver(&self, plan: SessionPlan, stream: Stream) -> PythonEndpoint {
        PythonEndpoint::new(self, Role::Receiver, plan, stream)
    }

    fn router(&self, _: SessionPlan, _: Stream) -> Option<NoRouter> {
        None
    }
}

/// Protocols in Python have no routers.
#[derive(Clone, Debug)]
pub(crate) enum NoRouter {}

impl Endpoint for NoRouter {
    type Header = Header;

    fn handle(&mut self, _: Time, _: Input<Header>) {
        match *self {}
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        match *self {}
    }

    fn deadline(&self) -> Option<Time> {
        match *self {}
    }

    fn estimates(&self, _: Time) -> Estimates {
        match *self {}
    }
}

/// Receivers of one protocol.
#[derive(Debug)]
pub(crate) struct PythonReceivers(Vec<PythonEndpoint>);

impl Receivers for PythonReceivers {
    type Header = Header;
    type Receiver = PythonEndpoint;

    fn one(receiver: PythonEndpoint) -> PythonReceivers {
        PythonReceivers(vec![receiver])
    }

    fn push(&mut self, receiver: PythonEndpoint) -> bool {
        let is_same = self.0.first().is_none_or(|first| first.protocol() == receiver.protocol());
        if is_same {
            self.0.push(receiver);
        }
        is_same
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn reorder(&mut self, order: &[u32]) {
        reorder(&mut self.0, order);
    }

    fn drive(
        &mut self,
        index: usize,
        now: Time,
        input: Input<Header>,
        host: &mut impl Host<Header>,
    ) -> Option<Time> {
        drive(&mut self.0[index], now, input, host)
    }

    fn deadline(&self, index: usize) -> Option<Time> {
        self.0[index].deadline()
    }

    fn estimates(&self, index: usize, now: Time) -> Estimates {
        self.0[index].estimates(now)
    }

    fn gauge(&self, index: usize, gauge: usize, now: Time) -> Option<f64> {
        self.0[index].gauge(gauge, now)
    }
}
