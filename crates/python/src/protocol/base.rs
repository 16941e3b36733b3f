//! What every source and receiver in Python has: the session, timers, and the actions it may ask for.
//!
//! An action that the contract forbids is an exception at the line that asks for it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use layercast_core::contract::{
    Action, Cause, ChildLink, Ecn, Estimates, JoinError, Payload, Peer, Send, Target, TraceEvent,
};
use layercast_core::session::SessionPlan;
use layercast_core::units::{Channel, Duration, Level, Rate, RateEstimate, Size, Time};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use super::given::{Given, Packet, Role};
use super::header::Header;
use super::random::Random;

/// More actions after one input than a host has to carry out.
const MAX_ACTIONS: usize = 8_000;
/// The size of a report unless another one is given.
const REPORT_SIZE: u32 = 40;

/// State that the host reads and the Python class changes.
#[pyclass(subclass, module = "layercast", name = "EndpointBase")]
#[derive(Default)]
pub(crate) struct EndpointBase {
    given: Option<Given>,
    pub(super) now: Time,
    /// The order of names is that of their first use, which decides between timers that are due at once.
    timers: Vec<(String, Option<Time>)>,
    held: BTreeSet<u16>,
    peers: BTreeSet<u32>,
    traced: Level,
    cause: Option<Cause>,
    estimates: Estimates,
    pub(super) actions: VecDeque<Action<Header>>,
    pub(super) ended: bool,
}

fn unmade() -> PyErr {
    PyRuntimeError::new_err("an endpoint is made by its host: run its protocol in a scenario")
}

fn cause_named(name: &str) -> PyResult<Cause> {
    Cause::ALL.into_iter().find(|cause| cause.to_string() == name).ok_or_else(|| {
        let all: Vec<String> = Cause::ALL.iter().map(Cause::to_string).collect();
        PyValueError::new_err(format!("there is no cause {name:?}; causes are {}", all.join(", ")))
    })
}

impl EndpointBase {
    fn given(&self) -> PyResult<&Given> {
        self.given.as_ref().ok_or_else(unmade)
    }

    pub(super) fn make(&mut self, given: Given) {
        self.given = Some(given);
    }

    /// The session and its random numbers, for parts that an endpoint makes.
    pub(super) fn parts(&self, py: Python<'_>) -> PyResult<(SessionPlan, Py<Random>)> {
        let given = self.given()?;
        Ok((given.plan.clone(), given.random.clone_ref(py)))
    }

    /// The packet as Python sees it.
    pub(super) fn packet<'py>(
        &mut self,
        py: Python<'py>,
        origin: layercast_core::contract::Origin,
        size: Size,
        ecn: Ecn,
        header: &Header,
    ) -> PyResult<Bound<'py, Packet>> {
        use layercast_core::contract::Origin;
        let (channel, peer) = match origin {
            Origin::Channel(channel) => (Some(channel.0), None),
            Origin::Peer(peer) | Origin::Child(ChildLink(_), peer) => (None, Some(peer.0)),
        };
        self.peers.extend(peer);
        let header = self.given()?.headers.object(py, header)?.unbind();
        let (size, marked) = (size.as_bytes(), ecn == Ecn::Marked);
        Bound::new(py, Packet { channel, peer, size, marked, header })
    }

    /// The name of a timer that is due, which it is then no more.
    pub(super) fn take_expired(&mut self) -> Option<String> {
        let now = self.now;
        let due = self.timers.iter_mut().filter(|(_, at)| at.is_some_and(|at| at <= now));
        let (name, at) = due.min_by_key(|(_, at)| *at)?;
        *at = None;
        Some(name.clone())
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.timers.iter().filter_map(|(_, at)| *at).min()
    }

    /// A join failed: the channel is not held.
    pub(super) fn join_failed(&mut self, channel: Channel, _: JoinError) {
        self.held.remove(&channel.0);
        self.cause = Some(Cause::JoinFailed);
    }

    /// No timers, no channels, no actions after those.
    pub(super) fn end_now(&mut self) {
        for channel in std::mem::take(&mut self.held).into_iter().rev() {
            self.actions.push_back(Action::Leave(Channel(channel)));
        }
        self.cause = Some(Cause::Stop);
        self.timers.clear();
        self.ended = true;
    }

    /// Layers are cumulative: the level is as high as the channels are held without a gap.
    fn level_held(&self) -> Level {
        let count = self.held.iter().zip(0u16..).take_while(|(held, channel)| *held == channel).count();
        Level::from_count(count as u16)
    }

    /// Traces a change of the level, once for each input.
    pub(super) fn settle(&mut self) {
        let (from, to) = (self.traced, self.level_held());
        let cause = self.cause.take();
        if from == to {
            return;
        }
        let unsaid = match (from == Level::NONE, to > from) {
            (true, _) => Cause::Start,
            (_, true) => Cause::Experiment,
            (_, false) => Cause::Loss,
        };
        let cause = cause.unwrap_or(unsaid);
        self.actions.push_back(Action::Trace(TraceEvent::LevelChanged { from, to, cause }));
        self.traced = to;
    }

    /// What the endpoint estimates.
    pub(super) fn estimates(&self) -> Estimates {
        Estimates { level: self.traced, ..self.estimates }
    }

    fn ask(&mut self, action: Action<Header>) -> PyResult<()> {
        if self.ended {
            return Err(PyRuntimeError::new_err("the endpoint has ended and may ask for nothing more"));
        }
        if self.actions.len() >= MAX_ACTIONS {
            let text = format!("more than {MAX_ACTIONS} actions after one input");
            return Err(PyRuntimeError::new_err(text));
        }
        self.actions.push_back(action);
        Ok(())
    }

    fn check_channel(&self, channel: u16) -> PyResult<()> {
        let channels = self.given()?.channels;
        if channel < channels {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "there is no channel {channel}: the session has 0 to {}",
            channels - 1
        )))
    }

    fn check_role(&self, role: Role, what: &str) -> PyResult<()> {
        match self.given()?.role == role {
            true => Ok(()),
            false => Err(PyRuntimeError::new_err(format!("only a {} {what}", role.name()))),
        }
    }

    fn send_packet(
        &mut self,
        target: Target,
        header: &Bound<'_, PyAny>,
        size: Option<u32>,
        payload: Payload,
    ) -> PyResult<()> {
        let given = self.given()?;
        let header = given.headers.read(header)?;
        let size = size.map_or(given.plan.packet_size, Size::from_bytes);
        if size.as_bytes() == 0 {
            return Err(PyValueError::new_err("a packet of no bytes"));
        }
        self.ask(Action::Send(Send { target, header, size, payload, count: 1 }))
    }
}

#[pymethods]
impl EndpointBase {
    #[new]
    fn new() -> EndpointBase {
        EndpointBase::default()
    }

    /// The options of the protocol, an object of its dataclass.
    #[getter]
    fn options(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.given()?.options.clone_ref(py))
    }

    /// The random numbers of this endpoint.
    #[getter]
    fn random(&self, py: Python<'_>) -> PyResult<Py<Random>> {
        Ok(self.given()?.random.clone_ref(py))
    }

    /// The time of the input that is being handled, in nanoseconds.
    #[getter]
    fn now(&self) -> u64 {
        self.now.as_ns()
    }

    /// The size of the session's packets in bytes.
    #[getter]
    fn packet_size(&self) -> PyResult<u32> {
        Ok(self.given()?.plan.packet_size.as_bytes())
    }

    /// The number of layers.
    #[getter]
    fn layers(&self) -> PyResult<u16> {
        Ok(self.given()?.plan.layers.count())
    }

    /// The rate of each layer alone in bit/s, lowest first.
    #[getter]
    fn layer_rates(&self) -> PyResult<Vec<f64>> {
        let table = &self.given()?.plan.layers;
        Ok(table.layers().map(|layer| table.rate(layer).as_bps()).collect())
    }

    /// The rate of each level in bit/s: that of its layers together.
    #[getter]
    fn level_rates(&self) -> PyResult<Vec<f64>> {
        let table = &self.given()?.plan.layers;
        Ok(table.layers().map(|layer| table.cumulative(layer).as_bps()).collect())
    }

    /// The highest layer that is held with all below it; -1 for none.
    #[getter]
    fn level(&self) -> i32 {
        self.level_held().as_number()
    }

    /// The channels that are held.
    #[getter]
    fn held(&self) -> Vec<u16> {
        self.held.iter().copied().collect()
    }

    /// Joins a channel that is not held.
    #[pyo3(signature = (channel, cause=None))]
    fn join(&mut self, channel: u16, cause: Option<&str>) -> PyResult<()> {
        self.check_role(Role::Receiver, "joins channels")?;
        self.check_channel(channel)?;
        if self.held.contains(&channel) {
            return Err(PyValueError::new_err(format!("channel {channel} is held already")));
        }
        let cause = cause.map(cause_named).transpose()?;
        self.ask(Action::Join(Channel(channel)))?;
        self.held.insert(channel);
        self.cause = cause.or(self.cause);
        Ok(())
    }

    /// Leaves a channel that is held.
    #[pyo3(signature = (channel, cause=None))]
    fn leave(&mut self, channel: u16, cause: Option<&str>) -> PyResult<()> {
        self.check_role(Role::Receiver, "leaves channels")?;
        if !self.held.contains(&channel) {
            return Err(PyValueError::new_err(format!("channel {channel} is not held")));
        }
        let cause = cause.map(cause_named).transpose()?;
        self.ask(Action::Leave(Channel(channel)))?;
        self.held.remove(&channel);
        self.cause = cause.or(self.cause);
        Ok(())
    }

    /// Joins from below, or leaves from the top, until the layers up to `level` are held; -1 for none. Channels
    /// above the layers stay as they are.
    #[pyo3(signature = (level, cause=None))]
    fn set_level(&mut self, level: i32, cause: Option<&str>) -> PyResult<()> {
        let layers = self.layers()?;
        let count = level.checked_add(1).and_then(|count| u16::try_from(count).ok());
        let Some(count) = count.filter(|count| *count <= layers) else {
            let text = format!("there is no level {level}: the session has -1 to {}", i32::from(layers) - 1);
            return Err(PyValueError::new_err(text));
        };
        let above: Vec<u16> = self.held.range(count..layers).rev().copied().collect();
        for channel in above {
            self.leave(channel, cause)?;
        }
        for channel in 0..count {
            if !self.held.contains(&channel) {
                self.join(channel, cause)?;
            }
        }
        Ok(())
    }

    /// Sends a packet to all that hold a channel. `payload` says whether it has the application's data.
    #[pyo3(signature = (channel, header, size=None, payload=true))]
    fn send(
        &mut self,
        channel: u16,
        header: &Bound<'_, PyAny>,
        size: Option<u32>,
        payload: bool,
    ) -> PyResult<()> {
        self.check_role(Role::Source, "sends to channels")?;
        self.check_channel(channel)?;
        let payload = if payload { Payload::Next } else { Payload::None };
        self.send_packet(Target::Channel(Channel(channel)), header, size, payload)
    }

    /// Sends a packet to one member that this source has heard from.
    #[pyo3(signature = (peer, header, size=REPORT_SIZE))]
    fn send_to(&mut self, peer: u32, header: &Bound<'_, PyAny>, size: u32) -> PyResult<()> {
        self.check_role(Role::Source, "sends to one member")?;
        if !self.peers.contains(&peer) {
            return Err(PyValueError::new_err(format!("nothing has come from member {peer}")));
        }
        self.send_packet(Target::Peer(Peer(peer)), header, Some(size), Payload::None)
    }

    /// Sends a report to the source.
    #[pyo3(signature = (header, size=REPORT_SIZE))]
    fn send_report(&mut self, header: &Bound<'_, PyAny>, size: u32) -> PyResult<()> {
        self.check_role(Role::Receiver, "sends reports")?;
        self.send_packet(Target::Source, header, Some(size), Payload::None)
    }

    /// Calls `on_timer` at this time, which must lie after now; a timer of that name is moved.
    #[pyo3(signature = (at, name=None))]
    fn set_timer(&mut self, at: u64, name: Option<&str>) -> PyResult<()> {
        let name = name.unwrap_or("timer");
        if self.ended {
            return Err(PyRuntimeError::new_err("the endpoint has ended and may set no timer"));
        }
        if at <= self.now.as_ns() {
            let now = self.now.as_ns();
            return Err(PyValueError::new_err(format!("timer {name:?}: {at} does not lie after now, {now}")));
        }
        let at = Some(Time::from_ns(at));
        match self.timers.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = at,
            None => self.timers.push((name.to_owned(), at)),
        }
        Ok(())
    }

    /// Takes a timer back, if it is set.
    #[pyo3(signature = (name=None))]
    fn cancel_timer(&mut self, name: Option<&str>) {
        let name = name.unwrap_or("timer");
        self.timers.iter_mut().filter(|(known, _)| known == name).for_each(|(_, at)| *at = None);
    }

    /// When a timer is due, in nanoseconds; None if it is not set.
    #[pyo3(signature = (name=None))]
    fn timer(&self, name: Option<&str>) -> Option<u64> {
        let name = name.unwrap_or("timer");
        self.timers.iter().find(|(known, _)| known == name).and_then(|(_, at)| *at).map(Time::as_ns)
    }

    /// Says that a loss event began with this packet of a layer.
    fn trace_loss(&mut self, layer: u16, seq: u64) -> PyResult<()> {
        let (layer, first_lost) = (layercast_core::units::Layer(layer), layercast_core::units::Seq(seq));
        self.ask(Action::Trace(TraceEvent::LossEvent { layer, first_lost }))
    }

    /// The endpoint is done: no timers, and nothing it is given from now on reaches it. A receiver leaves all
    /// channels.
    fn end(&mut self) {
        self.end_now();
    }

    /// What probes and results record as estimates: fair rate and smoothed rate in bit/s, loss as a fraction,
    /// round-trip time in nanoseconds. What is not given stays as it is.
    #[pyo3(signature = (*, rate=None, smoothed_rate=None, loss=None, rtt=None))]
    fn estimate(
        &mut self,
        rate: Option<f64>,
        smoothed_rate: Option<f64>,
        loss: Option<f64>,
        rtt: Option<u64>,
    ) -> PyResult<()> {
        if let Some(loss) = loss {
            if !(0.0..=1.0).contains(&loss) {
                return Err(PyValueError::new_err(format!("a loss of {loss} is no fraction")));
            }
            self.estimates.loss = Some(loss);
        }
        let known = |bps: f64| RateEstimate::Known(Rate::from_bps(bps));
        self.estimates.rate = rate.map_or(self.estimates.rate, known);
        self.estimates.smoothed_rate = smoothed_rate.map_or(self.estimates.smoothed_rate, known);
        self.estimates.rtt = rtt.map(Duration::from_ns).or(self.estimates.rtt);
        Ok(())
    }

    /// A twin in the same state, whose objects are copies.
    #[pyo3(signature = (memo: "dict[int, Any]") -> "Any")]
    fn __deepcopy__<'py>(
        slf: &Bound<'py, EndpointBase>,
        memo: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let class: Bound<'py, PyType> = slf.get_type();
        let twin = class.call_method1("__new__", (&class,))?;
        memo.set_item(slf.as_ptr() as usize, &twin)?;
        let deepcopy = py.import("copy")?.getattr("deepcopy")?;
        {
            let own = slf.try_borrow()?;
            let given = own.given()?;
            let random = deepcopy.call1((given.random.bind(py), memo))?.cast_into::<Random>()?.unbind();
            let base = twin.cast::<EndpointBase>()?;
            let mut base = base.try_borrow_mut()?;
            base.given = Some(Given {
                role: given.role,
                plan: given.plan.clone(),
                channels: given.channels,
                headers: Arc::clone(&given.headers),
                options: given.options.clone_ref(py),
                random,
            });
            base.now = own.now;
            base.timers.clone_from(&own.timers);
            base.held.clone_from(&own.held);
            base.peers.clone_from(&own.peers);
            (base.traced, base.cause, base.estimates) = (own.traced, own.cause, own.estimates);
            base.actions.clone_from(&own.actions);
            base.ended = own.ended;
        }
        let attributes = deepcopy.call1((slf.getattr("__dict__")?, memo))?;
        twin.getattr("__dict__")?.call_method1("update", (attributes,))?;
        Ok(twin)
    }
}
