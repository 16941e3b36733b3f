//! What can be run, and what can be set on it.

use layercast_core::family::{AnyProtocol, Family};
use layercast_core::option::OptionSpec;
use layercast_core::session::Rates;
use layercast_laboratory::lint;
use layercast_laboratory::results::Statistic;
use layercast_laboratory::results::report::palette;
use layercast_laboratory::scenario::catalogue::{self, LoadError};
use layercast_laboratory::scenario::protocols::FLOW_PROTOCOLS;
use layercast_laboratory::scenario::tables::options::{self as groups, QUEUES, TRAFFIC};
use layercast_laboratory::scenario::{self, Catalogue, nearest};
use layercast_protocols::registry::Registry;
use pyo3::prelude::*;

use crate::errors;
use crate::protocol::{Context, Families, with_family};

/// Finds a built-in scenario by name, or else a file: its name and text.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, name: &str) -> PyResult<(String, String)> {
    let source = catalogue::load(name).map_err(|error| {
        let hint = match error {
            LoadError::Unknown { .. } => "\n  = help: `layercast.scenarios()` has the built-in scenarios",
            LoadError::Unreadable { .. } => "",
        };
        errors::input(py, &format!("error: {error}{hint}"))
    })?;
    Ok((source.name, source.text))
}

/// The built-in scenarios: each one's name and title.
#[pyfunction]
pub(crate) fn scenarios() -> Vec<(&'static str, String)> {
    let catalogue = Catalogue::of::<Registry>();
    let title = |built_in: &catalogue::BuiltIn| {
        scenario::read(built_in.name, built_in.text, &[], &catalogue).map_or(String::new(), |plan| plan.name)
    };
    catalogue::BUILT_IN.iter().map(|built_in| (built_in.name, title(built_in))).collect()
}

/// Reads and checks a scenario: the command's warnings about it, empty if there are none.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, name: &str, text: &str, overrides: Vec<String>) -> PyResult<String> {
    let (context, plan) = Context::reading(
        || with_family!(Families::now(), F => scenario::read(name, text, &overrides, &Catalogue::of::<F>())),
    );
    context.check(py)?;
    let plan = plan.map_err(|error| errors::scenario(py, &error))?;
    Ok(lint::render(name, &lint::before(&plan, text)))
}

/// A scenario as one flat text, with templates and topologies worked in.
#[pyfunction]
pub(crate) fn expand(py: Python<'_>, name: &str, text: &str, overrides: Vec<String>) -> PyResult<String> {
    with_family!(Families::now(), F => scenario::expand(name, text, &overrides, &Catalogue::of::<F>()))
        .map_err(|error| errors::scenario(py, &error))
}

/// A multicast protocol.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct ProtocolInfo {
    /// Its name in scenarios.
    name: &'static str,
    /// Whether receivers choose between layers; otherwise all have one rate.
    layered: bool,
    /// Whether it delivers all data, in order.
    reliable: bool,
    /// Whether congestion marks count.
    ecn: bool,
    /// Whether routers take part.
    routers: bool,
    /// How many receivers a session may have; None for any number.
    most_receivers: Option<usize>,
    /// How the rate of a new receiver rises; empty if that is not stated.
    start: &'static str,
}

#[pymethods]
impl ProtocolInfo {
    fn __repr__(&self) -> String {
        let rates = if self.layered { "layers" } else { "one rate" };
        format!("<Protocol {}: {rates}>", self.name)
    }
}

/// The multicast protocols, those that Python has defined last.
#[pyfunction]
pub(crate) fn protocols() -> Vec<ProtocolInfo> {
    with_family!(Families::now(), F => protocols_of::<F>())
}

fn protocols_of<F: Family>() -> Vec<ProtocolInfo> {
    let info = |protocol: F::Protocol| {
        let needs = protocol.requirements();
        let character = needs.character();
        ProtocolInfo {
            name: protocol.name(),
            layered: character.rates == Rates::Layers,
            reliable: needs.is_reliable(),
            ecn: character.ecn,
            routers: needs.has_routers(),
            most_receivers: needs.most_receivers(),
            start: character.start,
        }
    };
    F::Protocol::names().into_iter().filter_map(F::Protocol::named).map(info).collect()
}

/// An option of a protocol, a TCP, a queue or traffic.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct OptionInfo {
    /// The key in scenarios.
    name: &'static str,
    /// The default, as it would be written.
    default: String,
    /// What it takes.
    takes: String,
    /// What it means and where it comes from.
    doc: String,
    /// The profile whose default this is, if there are several.
    profile: Option<&'static str>,
}

#[pymethods]
impl OptionInfo {
    fn __repr__(&self) -> String {
        format!("<Option {} = {} ({})>", self.name, self.default, self.takes)
    }
}

/// The options of a protocol, a TCP, a queue or a kind of traffic.
#[pyfunction]
pub(crate) fn options(py: Python<'_>, name: &str) -> PyResult<Vec<OptionInfo>> {
    with_family!(Families::now(), F => options_of::<F>(py, name))
}

fn options_of<F: Family>(py: Python<'_>, name: &str) -> PyResult<Vec<OptionInfo>> {
    let info = |profile: Option<&'static str>, spec: &OptionSpec| OptionInfo {
        name: spec.name,
        default: spec.default.clone(),
        takes: spec.takes(),
        doc: spec.doc.clone(),
        profile,
    };
    if let Some(protocol) = F::Protocol::named(name) {
        return Ok(protocol.option_specs().iter().map(|spec| info(None, spec)).collect());
    }
    if let Some(found) = groups::named(name) {
        let each = found.iter().flat_map(|group| group.specs.iter().map(|spec| info(group.profile, spec)));
        return Ok(each.collect());
    }
    let others = || FLOW_PROTOCOLS.iter().chain(QUEUES).chain(TRAFFIC).copied();
    let known = || F::Protocol::names().into_iter().chain(others());
    let help = nearest(name, known())
        .map_or(String::new(), |nearest| format!("\n  = help: did you mean `{nearest}`?"));
    let text = format!(
        "error: there is no protocol, queue or traffic `{name}`\n  = allowed: {}{help}",
        known().collect::<Vec<_>>().join(", ")
    );
    Err(errors::input(py, &text))
}

/// The report's colours of protocols, in the order given: `#RRGGBB`, and how often the hue was used before.
#[pyfunction]
pub(crate) fn colours(protocols: Vec<String>) -> Vec<(String, usize)> {
    let names: Vec<&str> = protocols.iter().map(String::as_str).collect();
    palette::of_protocols(&names).into_iter().map(|(ink, round)| (format!("#{ink:06X}"), round)).collect()
}

/// Half the width of the 95 % interval of the mean of samples (Student's t); None of fewer than two.
#[pyfunction]
pub(crate) fn half_interval(samples: Vec<f64>) -> Option<f64> {
    Statistic::new(samples.into_iter().map(Some)).ci95
}
