//! A protocol with its options, and what it requires of a session.

use std::sync::Arc;

use layercast_core::session::{Character, PlanError, Requirements, SessionPlan};
use pyo3::prelude::*;

use super::context::Context;
use super::given::Role;
use super::options::Value;
use super::registered::Registered;

/// A protocol with its options.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    pub(super) registered: Arc<Registered>,
    pub(super) context: Arc<Context>,
    pub(super) values: Vec<Value>,
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Protocol) -> bool {
        self.registered.id == other.registered.id && self.values == other.values
    }
}

impl Protocol {
    pub(super) fn of(registered: Arc<Registered>, context: Arc<Context>) -> Protocol {
        Protocol { values: registered.options.defaults(), registered, context }
    }
}

/// Rates and size of a plan, for Python.
fn plan_numbers(plan: &SessionPlan) -> (Vec<f64>, u32) {
    let rates = plan.layers.layers().map(|layer| plan.layers.rate(layer).as_bps()).collect();
    (rates, plan.packet_size.as_bytes())
}

impl Requirements for Protocol {
    fn channels(&self, plan: &SessionPlan) -> u16 {
        let asked = Python::attach(|py| -> PyResult<u16> {
            let options = self.registered.options_object(py, &self.values)?;
            let (rates, size) = plan_numbers(plan);
            self.registered.protocol.bind(py).call_method1("channels", (options, rates, size))?.extract()
        });
        asked.unwrap_or_else(|error| {
            self.context.fail(self.registered.name, Role::Source, 0, "channels", error);
            plan.layers.count()
        })
    }

    fn most_receivers(&self) -> Option<usize> {
        self.registered.most_receivers
    }

    fn agreed(&self) -> &'static [&'static str] {
        self.registered.agreed
    }

    fn character(&self) -> Character {
        self.registered.character
    }

    /// What raises here is a mistake of the scenario's: the text of the exception says which.
    fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        let checked = Python::attach(|py| -> PyResult<()> {
            let options = self.registered.options_object(py, &self.values)?;
            let (rates, size) = plan_numbers(plan);
            self.registered.protocol.bind(py).call_method1("check", (options, rates, size)).map(drop)
        });
        checked.map_err(|error| Python::attach(|py| PlanError(error.value(py).to_string())))
    }
}
