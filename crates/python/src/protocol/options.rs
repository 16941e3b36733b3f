//! Options of protocols in Python: a dataclass there, values with a kind here.

use layercast_core::option::{Kind, OptionError, OptionSpec, OptionType, RawValue};
use layercast_core::units::{Duration, Rate, Size};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::words::kept;

/// What an option holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u32),
    /// True or false.
    Flag(bool),
    /// A length of time.
    Duration(Duration),
    /// A rate.
    Rate(Rate),
    /// A packet size.
    Size(Size),
    /// A name out of a few.
    Choice(&'static str, &'static [&'static str]),
}

/// Any value that the kind's type takes.
fn takes<T: OptionType>(value: RawValue<'_>) -> Result<(), OptionError> {
    T::read(value).map(drop).map_err(OptionError::Value)
}

/// The names are checked when the option is set: a function without state cannot know them.
fn takes_text(value: RawValue<'_>) -> Result<(), OptionError> {
    match value {
        RawValue::Text(_) => Ok(()),
        _ => Err(OptionError::Value(String::from("expected a name"))),
    }
}

impl Value {
    /// The value as Python has it: nanoseconds, bit/s and bytes as numbers.
    fn from_python(kind: &str, choices: Vec<String>, value: &Bound<'_, PyAny>) -> PyResult<Value> {
        Ok(match kind {
            "int" => Value::Count(value.extract()?),
            "float" => Value::Number(value.extract()?),
            "bool" => Value::Flag(value.extract()?),
            "duration" => Value::Duration(Duration::from_ns(value.extract()?)),
            "rate" => Value::Rate(Rate::from_bps(value.extract()?)),
            "size" => Value::Size(Size::from_bytes(value.extract()?)),
            "choice" => {
                let names: Vec<&'static str> = choices.iter().map(|name| kept(name)).collect();
                let given: String = value.extract()?;
                Value::Choice(kept(&given), Box::leak(names.into_boxed_slice()))
            }
            _ => return Err(PyTypeError::new_err(format!("an option cannot be a {kind}"))),
        })
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Value::Number(number) => number.into_pyobject(py)?.into_any(),
            Value::Count(count) => count.into_pyobject(py)?.into_any(),
            Value::Flag(flag) => pyo3::types::PyBool::new(py, *flag).to_owned().into_any(),
            Value::Duration(span) => span.as_ns().into_pyobject(py)?.into_any(),
            Value::Rate(rate) => rate.as_bps().into_pyobject(py)?.into_any(),
            Value::Size(size) => size.as_bytes().into_pyobject(py)?.into_any(),
            Value::Choice(name, _) => name.into_pyobject(py)?.into_any(),
        })
    }

    fn kind(&self) -> Kind {
        match self {
            Value::Number(_) => f64::KIND,
            Value::Count(_) => u32::KIND,
            Value::Flag(_) => bool::KIND,
            Value::Duration(_) => Duration::KIND,
            Value::Rate(_) => Rate::KIND,
            Value::Size(_) => Size::KIND,
            Value::Choice(_, names) => Kind::Choice(names),
        }
    }

    fn check(&self) -> fn(RawValue<'_>) -> Result<(), OptionError> {
        match self {
            Value::Number(_) => takes::<f64>,
            Value::Count(_) => takes::<u32>,
            Value::Flag(_) => takes::<bool>,
            Value::Duration(_) => takes::<Duration>,
            Value::Rate(_) => takes::<Rate>,
            Value::Size(_) => takes::<Size>,
            Value::Choice(..) => takes_text,
        }
    }

    fn show(&self) -> String {
        match self {
            Value::Number(number) => number.show(),
            Value::Count(count) => count.show(),
            Value::Flag(flag) => flag.show(),
            Value::Duration(span) => span.show(),
            Value::Rate(rate) => rate.show(),
            Value::Size(size) => size.show(),
            Value::Choice(name, _) => (*name).to_owned(),
        }
    }

    /// The value of the same kind that a scenario gives.
    fn read(&self, raw: RawValue<'_>) -> Result<Value, String> {
        match self {
            Value::Number(_) => f64::read(raw).map(Value::Number),
            Value::Count(_) => u32::read(raw).map(Value::Count),
            Value::Flag(_) => bool::read(raw).map(Value::Flag),
            Value::Duration(_) => Duration::read(raw).map(Value::Duration),
            Value::Rate(_) => Rate::read(raw).map(Value::Rate),
            Value::Size(_) => Size::read(raw).map(Value::Size),
            Value::Choice(_, names) => match raw {
                RawValue::Text(text) => names.iter().find(|name| **name == text),
                _ => None,
            }
            .map(|name| Value::Choice(name, names))
            .ok_or_else(|| format!("expected {}", self.kind())),
        }
    }

    /// For bounds.
    fn amount(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Count(count) => Some(f64::from(*count)),
            Value::Duration(span) => Some(span.as_ns() as f64),
            Value::Rate(rate) => Some(rate.as_bps()),
            Value::Size(size) => Some(f64::from(size.as_bytes())),
            Value::Flag(_) | Value::Choice(..) => None,
        }
    }
}

/// An option as its dataclass declares it.
#[derive(Debug)]
pub(crate) struct Declared {
    name: &'static str,
    doc: String,
    default: Value,
    low: Option<Value>,
    high: Option<Value>,
}

/// An option as Python passes it: name, kind, names of a choice, default, lowest and highest value, meaning.
pub(super) type Passed<'py> = (
    String,
    String,
    Vec<String>,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    String,
);

impl Declared {
    /// What Python passes.
    ///
    /// # Errors
    /// `TypeError` if the kind is unknown or a value is of another type.
    pub(super) fn new(passed: Passed<'_>) -> PyResult<Declared> {
        let (name, kind, choices, default, low, high, doc) = passed;
        let bound = |given: Option<Bound<'_, PyAny>>| {
            given.map(|value| Value::from_python(&kind, choices.clone(), &value)).transpose()
        };
        Ok(Declared {
            name: kept(&name),
            doc,
            default: Value::from_python(&kind, choices.clone(), &default)?,
            low: bound(low)?,
            high: bound(high)?,
        })
    }

    fn spec(&self) -> OptionSpec {
        // Bounds in words: those of the core have both a type and a lower one.
        let doc = match (&self.low, &self.high) {
            (None, None) => self.doc.clone(),
            (Some(low), None) => format!("{} At least {}.", self.doc, low.show()),
            (None, Some(high)) => format!("{} At most {}.", self.doc, high.show()),
            (Some(low), Some(high)) => format!("{} From {} to {}.", self.doc, low.show(), high.show()),
        };
        OptionSpec {
            name: self.name,
            doc: doc.trim().to_owned(),
            kind: self.default.kind(),
            default: self.default.show(),
            bounds: None,
            check: self.default.check(),
        }
    }

    fn read(&self, raw: RawValue<'_>) -> Result<Value, OptionError> {
        let value = self.default.read(raw).map_err(OptionError::Value)?;
        let beyond = |bound: &Option<Value>, order: fn(&f64, &f64) -> bool| {
            let bound = bound.as_ref().filter(|bound| match (value.amount(), bound.amount()) {
                (Some(value), Some(bound)) => order(&value, &bound),
                _ => false,
            });
            bound.map(Value::show)
        };
        if let Some(low) = beyond(&self.low, f64::lt) {
            return Err(OptionError::Value(format!("must be at least {low}")));
        }
        if let Some(high) = beyond(&self.high, f64::gt) {
            return Err(OptionError::Value(format!("must be at most {high}")));
        }
        Ok(value)
    }
}

/// The options of a protocol, in the order of declaration.
#[derive(Debug)]
pub(crate) struct Options(pub(super) Vec<Declared>);

impl Options {
    pub(super) fn specs(&self) -> Vec<OptionSpec> {
        self.0.iter().map(Declared::spec).collect()
    }

    pub(super) fn defaults(&self) -> Vec<Value> {
        self.0.iter().map(|one| one.default.clone()).collect()
    }

    /// # Errors
    /// As [`layercast_core::option::Options::set`].
    pub(super) fn set(&self, values: &mut [Value], name: &str, raw: RawValue<'_>) -> Result<(), OptionError> {
        let at = self.0.iter().position(|one| one.name == name).ok_or(OptionError::Unknown)?;
        values[at] = self.0[at].read(raw)?;
        Ok(())
    }

    pub(super) fn get(&self, values: &[Value], name: &str) -> Option<String> {
        let at = self.0.iter().position(|one| one.name == name)?;
        values.get(at).map(Value::show)
    }

    /// The arguments of the dataclass.
    pub(super) fn arguments<'py>(
        &self,
        py: Python<'py>,
        values: &[Value],
    ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let arguments = pyo3::types::PyDict::new(py);
        for (one, value) in self.0.iter().zip(values) {
            arguments.set_item(one.name, value.to_python(py)?)?;
        }
        Ok(arguments)
    }
}
