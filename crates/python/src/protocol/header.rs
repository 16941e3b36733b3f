//! Headers of protocols in Python: a dataclass there, a small value here.
//!
//! The simulator copies headers freely and never frees them, so a header is not an object but the values of its
//! fields: no packet refers to a Python object that another endpoint could change.

use layercast_core::contract;
use layercast_core::family::AnyHeader;
use layercast_core::lct::LctFields;
use layercast_core::units::{Channel, Layer};
use layercast_core::wire::{MAX_REPORT, NoWireForm};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple, PyType};

/// How many fields a header may have.
pub(crate) const MAX_FIELDS: usize = 8;

/// The values of a header's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The registration that it belongs to.
    pub(crate) protocol: u32,
    /// Which of the protocol's header classes.
    class: u8,
    /// A bit for each field that is None.
    absent: u8,
    fields: [u64; MAX_FIELDS],
}

impl contract::Header for Header {}

impl AnyHeader for Header {
    type Error = NoWireForm;

    fn to_lct(&self) -> Option<LctFields> {
        None
    }

    fn from_lct(_: &LctFields) -> Result<Header, NoWireForm> {
        Err(NoWireForm)
    }

    fn is_lct_extension(_: u8) -> bool {
        false
    }

    fn layer(&self) -> Option<Layer> {
        None
    }

    fn channel(&self) -> Option<Channel> {
        None
    }

    fn encode_report(&self, _: &mut [u8; MAX_REPORT]) -> Option<usize> {
        None
    }

    fn decode_report(_: &[u8]) -> Result<Header, NoWireForm> {
        Err(NoWireForm)
    }

    fn is_report(_: u8) -> bool {
        false
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldType {
    /// A whole number of 64 bits with a sign.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Flag,
}

#[derive(Debug)]
struct Field {
    name: Py<pyo3::types::PyString>,
    text: String,
    kind: FieldType,
    optional: bool,
}

/// A header class of a protocol: a dataclass whose fields are numbers.
#[derive(Debug)]
pub(crate) struct HeaderClass {
    class: Py<PyType>,
    fields: Vec<Field>,
}

impl HeaderClass {
    /// The class with its fields as Python found them: name, `int`, `float` or `bool`, and whether None is allowed.
    pub(super) fn read(
        class: &Bound<'_, PyType>,
        fields: Vec<(String, String, bool)>,
    ) -> PyResult<HeaderClass> {
        let py = class.py();
        if fields.len() > MAX_FIELDS {
            let text =
                format!("{class}: a header has at most {MAX_FIELDS} fields, this one has {}", fields.len());
            return Err(PyTypeError::new_err(text));
        }
        let field = |(text, kind, optional): (String, String, bool)| {
            let kind = match kind.as_str() {
                "int" => FieldType::Whole,
                "float" => FieldType::Number,
                "bool" => FieldType::Flag,
                _ => {
                    return Err(PyTypeError::new_err(format!(
                        "{class}.{text}: a field is int, float or bool"
                    )));
                }
            };
            Ok(Field { name: pyo3::types::PyString::intern(py, &text).unbind(), text, kind, optional })
        };
        let fields = fields.into_iter().map(field).collect::<PyResult<_>>()?;
        Ok(HeaderClass { class: class.clone().unbind(), fields })
    }

    fn write(&self, object: &Bound<'_, PyAny>, header: &mut Header) -> PyResult<()> {
        let py = object.py();
        for (index, field) in self.fields.iter().enumerate() {
            let value = object.getattr(&field.name)?;
            if field.optional && value.is_none() {
                header.absent |= 1 << index;
                continue;
            }
            let wrong = |what: &str| {
                PyTypeError::new_err(format!("header field `{}` must be {what}, not {value:?}", field.text))
            };
            header.fields[index] = match field.kind {
                FieldType::Whole => {
                    let whole: i64 = value.extract().map_err(|error: PyErr| {
                        match error.is_instance_of::<PyOverflowError>(py) {
                            true => wrong("a whole number of 64 bits"),
                            false => wrong("an int"),
                        }
                    })?;
                    whole.cast_unsigned()
                }
                FieldType::Number => value.extract::<f64>().map_err(|_| wrong("a float"))?.to_bits(),
                FieldType::Flag => u64::from(value.extract::<bool>().map_err(|_| wrong("a bool"))?),
            };
        }
        Ok(())
    }

    fn object<'py>(&self, py: Python<'py>, header: &Header) -> PyResult<Bound<'py, PyAny>> {
        let values = self.fields.iter().enumerate().map(|(index, field)| {
            let bits = header.fields[index];
            if header.absent & (1 << index) != 0 {
                return py.None().into_bound(py);
            }
            match field.kind {
                FieldType::Whole => bits.cast_signed().into_pyobject(py).expect("an int").into_any(),
                FieldType::Number => f64::from_bits(bits).into_pyobject(py).expect("a float").into_any(),
                FieldType::Flag => PyBool::new(py, bits != 0).to_owned().into_any(),
            }
        });
        let values = PyTuple::new(py, values.collect::<Vec<_>>())?;
        self.class.bind(py).call1(values)
    }

    /// A header with any values at all, for checks.
    fn wild(&self, header: &mut Header, bits: &mut dyn FnMut() -> u64) {
        for (index, field) in self.fields.iter().enumerate() {
            let any = bits();
            // Small numbers reach what large ones are refused for.
            let whole = match any % 4 {
                0 => (any >> 8) & 7,
                1 => (any >> 8) & 0xffff,
                2 => any,
                _ => ((any >> 8) & 7).wrapping_neg(),
            };
            header.fields[index] = match field.kind {
                FieldType::Whole => whole,
                FieldType::Number => (whole.cast_signed() as f64 / 4.0).to_bits(),
                FieldType::Flag => any >> 63,
            };
            if field.optional && bits().is_multiple_of(4) {
                header.absent |= 1 << index;
            }
        }
    }
}

/// The header classes of a protocol.
#[derive(Debug)]
pub(crate) struct HeaderClasses {
    pub(super) protocol: u32,
    pub(super) classes: Vec<HeaderClass>,
}

impl HeaderClasses {
    fn blank(&self, class: usize) -> Header {
        Header { protocol: self.protocol, class: class as u8, absent: 0, fields: [0; MAX_FIELDS] }
    }

    /// The values of a header object.
    ///
    /// # Errors
    /// `TypeError` if it is of no header class of the protocol, or a field has another type.
    pub(super) fn read(&self, object: &Bound<'_, PyAny>) -> PyResult<Header> {
        let own = object.get_type();
        let found = self.classes.iter().position(|one| one.class.bind(object.py()).is(&own));
        let Some(index) = found else {
            let names: Vec<String> =
                self.classes.iter().map(|one| one.class.bind(object.py()).to_string()).collect();
            let text = format!("{own} is no header of the protocol; its headers are {}", names.join(", "));
            return Err(PyTypeError::new_err(text));
        };
        let mut header = self.blank(index);
        self.classes[index].write(object, &mut header)?;
        Ok(header)
    }

    /// The object of a header.
    pub(super) fn object<'py>(&self, py: Python<'py>, header: &Header) -> PyResult<Bound<'py, PyAny>> {
        match self.classes.get(usize::from(header.class)) {
            Some(class) => class.object(py, header),
            None => Err(PyTypeError::new_err("a header of no class of the protocol")),
        }
    }

    /// A header with any values at all; none if there is no class.
    pub(super) fn wild(&self, bits: &mut dyn FnMut() -> u64) -> Option<Header> {
        let index = (bits() % (self.classes.len().max(1) as u64)) as usize;
        let mut header = self.blank(index);
        self.classes.get(index)?.wild(&mut header, bits);
        Some(header)
    }
}
