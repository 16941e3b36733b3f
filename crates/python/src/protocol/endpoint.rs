//! The host's side of an endpoint in Python.

use std::collections::VecDeque;
use std::sync::Arc;

use layercast_core::contract::{Action, Arrival, Endpoint, Estimates, Input};
use layercast_core::session::{Requirements as _, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::Time;
use pyo3::intern;
use pyo3::prelude::*;

use super::base::EndpointBase;
use super::chosen::Protocol;
use super::context::Context;
use super::given::{Given, Role};
use super::header::Header;
use super::random::Random;
use super::registered::Registered;

/// A source or a receiver whose rules are a Python object.
///
/// The interpreter's lock is taken once for each input. What the object asks for is then kept here, so that the host
/// drains it without the lock.
#[derive(Debug)]
pub(crate) struct PythonEndpoint {
    registered: Arc<Registered>,
    context: Arc<Context>,
    role: Role,
    /// None after an exception.
    object: Option<Py<EndpointBase>>,
    actions: VecDeque<Action<Header>>,
    deadline: Option<Time>,
    estimates: Estimates,
    ended: bool,
}

impl PythonEndpoint {
    /// Makes the object. If that raises, the endpoint does nothing, and the run fails.
    pub(super) fn new(protocol: &Protocol, role: Role, plan: SessionPlan, stream: Stream) -> PythonEndpoint {
        let (registered, context) = (Arc::clone(&protocol.registered), Arc::clone(&protocol.context));
        let object = Python::attach(|py| {
            let made = make(py, protocol, role, plan, stream);
            made.map_err(|error| context.fail(registered.name, role, 0, "__init__", error)).ok()
        });
        PythonEndpoint {
            registered,
            context,
            role,
            object,
            actions: VecDeque::new(),
            deadline: None,
            estimates: Estimates::default(),
            ended: false,
        }
    }

    pub(super) fn protocol(&self) -> u32 {
        self.registered.id
    }

    fn fail(&mut self, at_ns: u64, method: &'static str, error: PyErr) {
        self.context.fail(self.registered.name, self.role, at_ns, method, error);
        self.object = None;
        self.deadline = None;
    }

    /// Gives the input to the object and takes what it asks for.
    fn give(&mut self, py: Python<'_>, now: Time, input: Input<Header>) -> Result<(), (&'static str, PyErr)> {
        let Some(object) = self.object.as_ref().map(|object| object.bind(py)) else { return Ok(()) };
        object.borrow_mut().now = now;
        let ns = now.as_ns();
        macro_rules! call {
            ($method:literal $(, $argument:expr)*) => {
                object
                    .call_method1(intern!(py, $method), (ns, $($argument,)*))
                    .map(drop)
                    .map_err(|error| ($method, error))?
            };
        }
        match input {
            Input::Start => call!("on_start"),
            Input::Packet(Arrival { origin, size, ecn, header }) => {
                let packet = object.borrow_mut().packet(py, origin, size, ecn, &header);
                call!("on_packet", packet.map_err(|error| ("on_packet", error))?);
            }
            Input::Timer => {}
            Input::JoinFailed(channel, why) => {
                object.borrow_mut().join_failed(channel, why);
                call!("on_join_failed", channel.0);
            }
            Input::SendRefused(channel) => call!("on_send_refused", channel.0),
            Input::Demand(level) => call!("on_demand", level.as_number()),
            Input::DataExhausted => call!("on_data_exhausted"),
            Input::DataAvailable => call!("on_data_available"),
            Input::Finish => call!("on_finish"),
            Input::Stop => {
                call!("on_stop");
                object.borrow_mut().end_now();
            }
        }
        // A statement of its own, so that the borrow ends before the call.
        loop {
            let expired = object.borrow_mut().take_expired();
            let Some(name) = expired else { break };
            call!("on_timer", name);
        }
        let mut base = object.borrow_mut();
        base.settle();
        self.actions.append(&mut base.actions);
        self.deadline = base.deadline();
        self.estimates = base.estimates();
        self.ended = base.ended;
        Ok(())
    }
}

fn make(
    py: Python<'_>,
    protocol: &Protocol,
    role: Role,
    plan: SessionPlan,
    stream: Stream,
) -> PyResult<Py<EndpointBase>> {
    let registered = &protocol.registered;
    let class = registered.class(role).bind(py);
    let given = Given {
        role,
        channels: protocol.channels(&plan),
        plan,
        headers: Arc::clone(&registered.headers),
        options: registered.options_object(py, &protocol.values)?.unbind(),
        random: Py::new(py, Random { stream })?,
    };
    let object = class.call_method1(intern!(py, "__new__"), (class,))?.cast_into::<EndpointBase>()?;
    object.borrow_mut().make(given);
    object.call_method0(intern!(py, "__init__"))?;
    Ok(object.unbind())
}

impl Endpoint for PythonEndpoint {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        if self.context.has_failed() {
            // A deadline that stays would be due for ever.
            self.deadline = None;
            self.actions.clear();
            return;
        }
        let is_foreign =
            matches!(input, Input::Packet(packet) if packet.header.protocol != self.registered.id);
        let is_late = self.ended && input != Input::Stop;
        if self.object.is_none() || is_foreign || is_late {
            return;
        }
        let given = Python::attach(|py| self.give(py, now, input));
        if let Err((method, error)) = given {
            self.fail(now.as_ns(), method, error);
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop_front()
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn estimates(&self, _: Time) -> Estimates {
        self.estimates
    }

    fn gauge(&self, index: usize, now: Time) -> Option<f64> {
        let spec = self.registered.gauges(self.role).get(index)?;
        let object = self.object.as_ref()?;
        let read =
            Python::attach(|py| -> PyResult<Option<f64>> { object.bind(py).getattr(spec.name)?.extract() });
        match read {
            Ok(value) => value.filter(|value| value.is_finite()),
            Err(error) => {
                self.context.fail(self.registered.name, self.role, now.as_ns(), spec.name, error);
                None
            }
        }
    }
}

/// A twin in the same state, for the check of the contract.
impl Clone for PythonEndpoint {
    fn clone(&self) -> PythonEndpoint {
        let copied = Python::attach(|py| -> PyResult<Option<Py<EndpointBase>>> {
            let Some(object) = &self.object else { return Ok(None) };
            let twin = py.import("copy")?.call_method1("deepcopy", (object,))?;
            Ok(Some(twin.cast_into::<EndpointBase>()?.unbind()))
        });
        let object = copied.unwrap_or_else(|error| {
            self.context.fail(self.registered.name, self.role, 0, "__deepcopy__", error);
            None
        });
        PythonEndpoint {
            registered: Arc::clone(&self.registered),
            context: Arc::clone(&self.context),
            role: self.role,
            object,
            actions: self.actions.clone(),
            deadline: self.deadline,
            estimates: self.estimates,
            ended: self.ended,
        }
    }
}
