//! The protocols that Python has defined.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use layercast_core::contract::{GaugeKind, GaugeSpec};
use layercast_core::family::AnyProtocol as _;
use layercast_core::session::{Character, Rates};
use layercast_protocols::registry;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::base::EndpointBase;
use super::given::Role;
use super::header::{HeaderClass, HeaderClasses};
use super::options::{Declared, Options, Passed, Value};
use super::words::kept;

/// A protocol that Python has defined.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(super) id: u32,
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// A digest of its source text, as far as Python knows it.
    pub(super) digest: String,
    /// The module and the file that define it; empty where there is none.
    pub(super) module: String,
    pub(super) file: String,
    pub(super) agreed: &'static [&'static str],
    pub(super) most_receivers: Option<usize>,
    pub(super) character: Character,
    pub(super) options: Options,
    pub(super) headers: Arc<HeaderClasses>,
    source_gauges: &'static [GaugeSpec],
    receiver_gauges: &'static [GaugeSpec],
    /// The class of the protocol, for `channels` and `check`.
    pub(super) protocol: Py<PyType>,
    options_class: Py<PyType>,
    source: Py<PyType>,
    receiver: Py<PyType>,
}

static ALL: Mutex<Vec<Arc<Registered>>> = Mutex::new(Vec::new());
static NEXT: AtomicU32 = AtomicU32::new(0);

/// All that are defined now, in the order of definition.
pub(crate) fn all() -> Vec<Arc<Registered>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The protocol of that name.
pub(super) fn named(name: &str) -> Option<Arc<Registered>> {
    all().into_iter().find(|one| one.name == name)
}

impl Registered {
    pub(super) fn class(&self, role: Role) -> &Py<PyType> {
        match role {
            Role::Source => &self.source,
            Role::Receiver => &self.receiver,
        }
    }

    pub(super) fn gauges(&self, role: Role) -> &'static [GaugeSpec] {
        match role {
            Role::Source => self.source_gauges,
            Role::Receiver => self.receiver_gauges,
        }
    }

    pub(super) fn options_object<'py>(
        &self,
        py: Python<'py>,
        values: &[Value],
    ) -> PyResult<Bound<'py, PyAny>> {
        self.options_class.bind(py).call((), Some(&self.options.arguments(py, values)?))
    }
}

/// Gauges as Python passes them: the attribute, its unit, and whether it is a counter.
fn gauges(passed: Vec<(String, String, bool)>) -> &'static [GaugeSpec] {
    let gauge = |(name, unit, counts): &(String, String, bool)| GaugeSpec {
        name: kept(name),
        source_name: kept(&format!("source_{name}")),
        doc: "An attribute of the endpoint.",
        unit: kept(unit),
        kind: if *counts { GaugeKind::Count } else { GaugeKind::Value },
    };
    let specs: Vec<GaugeSpec> = passed.iter().map(gauge).collect();
    // Kept for as long as the process: a few words for each definition.
    Box::leak(specs.into_boxed_slice())
}

/// A header's class and its fields: name, type, and whether None is allowed.
type PassedHeader<'py> = (Bound<'py, PyType>, Vec<(String, String, bool)>);

/// What a definition consists of; `layercast.protocol` fills it in.
#[derive(FromPyObject)]
pub(crate) struct Definition<'py> {
    name: String,
    summary: String,
    digest: String,
    module: String,
    file: String,
    layered: bool,
    ecn: bool,
    start: String,
    agreed: Vec<String>,
    most_receivers: Option<usize>,
    protocol: Bound<'py, PyType>,
    options_class: Bound<'py, PyType>,
    options: Vec<Passed<'py>>,
    headers: Vec<PassedHeader<'py>>,
    source: Bound<'py, PyType>,
    receiver: Bound<'py, PyType>,
    source_gauges: Vec<(String, String, bool)>,
    receiver_gauges: Vec<(String, String, bool)>,
}

/// Defines a protocol, in place of an earlier one of that name from Python.
#[pyfunction]
pub(crate) fn register(py: Python<'_>, definition: Definition<'_>) -> PyResult<()> {
    let Definition { name, source, receiver, .. } = &definition;
    if registry::Protocol::named(name).is_some() {
        return Err(PyValueError::new_err(format!("`{name}` is a built-in protocol; choose another name")));
    }
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(allowed) {
        let text = format!("`{name}`: a protocol's name has small letters, digits and hyphens");
        return Err(PyValueError::new_err(text));
    }
    for class in [source, receiver] {
        if !class.is_subclass_of::<EndpointBase>()? {
            let text = format!("{class} must be a layercast.Source or layercast.Receiver");
            return Err(PyTypeError::new_err(text));
        }
    }
    if definition.headers.is_empty() || definition.headers.len() > usize::from(u8::MAX) {
        return Err(PyValueError::new_err(format!("`{name}`: it needs at least one header class")));
    }
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let classes = definition.headers.into_iter().map(|(class, fields)| HeaderClass::read(&class, fields));
    let headers = HeaderClasses { protocol: id, classes: classes.collect::<PyResult<_>>()? };
    let options = definition.options.into_iter().map(Declared::new).collect::<PyResult<_>>()?;
    let agreed: Vec<&'static str> = definition.agreed.iter().map(|name| kept(name)).collect();
    let registered = Registered {
        id,
        name: kept(&definition.name),
        summary: kept(&definition.summary),
        digest: definition.digest,
        module: definition.module,
        file: definition.file,
        agreed: Box::leak(agreed.into_boxed_slice()),
        most_receivers: definition.most_receivers,
        character: Character {
            rates: if definition.layered { Rates::Layers } else { Rates::One },
            ecn: definition.ecn,
            start: kept(&definition.start),
        },
        options: Options(options),
        headers: Arc::new(headers),
        source_gauges: gauges(definition.source_gauges),
        receiver_gauges: gauges(definition.receiver_gauges),
        protocol: definition.protocol.unbind(),
        options_class: definition.options_class.unbind(),
        source: definition.source.unbind(),
        receiver: definition.receiver.unbind(),
    };
    // The defaults must make an object.
    registered.options_object(py, &registered.options.defaults())?;
    let old = {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|one| one.name == registered.name);
        let old = place.map(|place| all.remove(place));
        all.push(Arc::new(registered));
        old
    };
    // Its classes are freed outside of the lock: what that calls may define protocols.
    drop(old);
    Ok(())
}

/// The names of the protocols that Python has defined, in the order of definition.
#[pyfunction]
pub(crate) fn defined() -> Vec<&'static str> {
    all().iter().map(|one| one.name).collect()
}

/// Takes a protocol back. True if there was one of that name.
#[pyfunction]
pub(crate) fn unregister(name: &str) -> bool {
    let old = {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|one| one.name == name);
        place.map(|place| all.remove(place))
    };
    old.is_some()
}
