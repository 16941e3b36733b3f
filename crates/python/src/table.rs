//! A table in Arrow's memory format, handed over without copying.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, UInt32Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::DataType;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyKeyError, PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

/// Columns of one length. polars, pandas, pyarrow and DuckDB take it as it is, by the Arrow PyCapsule interface.
#[pyclass(frozen, module = "layercast")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Table {
        Table { batch }
    }
}

/// The values of an array; nulls are `None`.
fn values<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyList>> {
    match array.data_type() {
        DataType::Float64 => PyList::new(py, array.as_primitive::<Float64Type>().iter()),
        DataType::UInt32 => PyList::new(py, array.as_primitive::<UInt32Type>().iter()),
        DataType::Int32 => PyList::new(py, array.as_primitive::<Int32Type>().iter()),
        DataType::Boolean => PyList::new(py, array.as_boolean().iter()),
        DataType::Utf8 => PyList::new(py, array.as_string::<i32>().iter()),
        other => Err(PyNotImplementedError::new_err(format!("a column of {other}"))),
    }
}

/// The last of the modules that an extra brings: `(extra, module, ...)`.
fn load<'py>(py: Python<'py>, modules: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
    py.import("layercast._extras")?.call_method1("load", modules)
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.batch.num_rows(), self.batch.num_columns())
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// A column as a list of Python's values, `None` where unknown.
    ///
    /// Raises `KeyError` if there is no such column.
    #[pyo3(signature = (name) -> "list[Any]")]
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        match self.batch.column_by_name(name) {
            Some(array) => values(py, array),
            None => Err(PyKeyError::new_err(name.to_owned())),
        }
    }

    /// A part of the rows, without copying.
    fn slice(&self, start: usize, length: usize) -> Table {
        let start = start.min(self.batch.num_rows());
        Table { batch: self.batch.slice(start, length.min(self.batch.num_rows() - start)) }
    }

    /// As a `polars.DataFrame`, without copying; needs the extra `polars`.
    fn to_polars<'py>(slf: &Bound<'py, Table>) -> PyResult<Bound<'py, PyAny>> {
        load(slf.py(), ("polars", "polars"))?.call_method1("DataFrame", (slf,))
    }

    /// As a `pyarrow.Table`, without copying; needs the extra `pandas`.
    fn to_arrow<'py>(slf: &Bound<'py, Table>) -> PyResult<Bound<'py, PyAny>> {
        load(slf.py(), ("pandas", "pyarrow"))?.call_method1("table", (slf,))
    }

    /// As a `pandas.DataFrame`; needs the extra `pandas`. Numbers without nulls are not copied.
    fn to_pandas<'py>(slf: &Bound<'py, Table>) -> PyResult<Bound<'py, PyAny>> {
        load(slf.py(), ("pandas", "pyarrow", "pandas"))?;
        let options = PyDict::new(slf.py());
        options.set_item("zero_copy_only", false)?;
        options.set_item("split_blocks", true)?;
        Table::to_arrow(slf)?.call_method("to_pandas", (), Some(&options))
    }

    fn __repr__(slf: &Bound<'_, Table>) -> PyResult<String> {
        slf.py().import("layercast._show")?.call_method1("table_text", (slf,))?.extract()
    }

    fn _repr_html_(slf: &Bound<'_, Table>) -> PyResult<String> {
        slf.py().import("layercast._show")?.call_method1("table_html", (slf,))?.extract()
    }

    /// The schema for the Arrow PyCapsule interface.
    #[pyo3(signature = () -> "object")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The table for the Arrow PyCapsule interface; no other schema than its own can be requested.
    #[pyo3(signature = (requested_schema: "object | None" = None) -> "object")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts by itself what it does not get: the interface allows it.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], Arc::clone(&self.batch.schema()));
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }
}
