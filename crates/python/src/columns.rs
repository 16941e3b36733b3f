//! Columns of a table in the making.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Table;

/// Columns with their names, in order.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn add(mut self, name: &str, array: ArrayRef) -> Columns {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
        self
    }

    /// A column of text.
    pub(crate) fn text<'t>(self, name: &str, values: impl Iterator<Item = Option<&'t str>>) -> Columns {
        self.add(name, Arc::new(values.collect::<StringArray>()))
    }

    /// A column of numbers; those that are not finite are unknown.
    pub(crate) fn number(self, name: &str, values: impl Iterator<Item = Option<f64>>) -> Columns {
        let finite = values.map(|value| value.filter(|value| value.is_finite()));
        self.add(name, Arc::new(finite.collect::<Float64Array>()))
    }

    /// A column of counts.
    pub(crate) fn count(self, name: &str, values: impl Iterator<Item = u32>) -> Columns {
        self.add(name, Arc::new(UInt32Array::from_iter_values(values)))
    }

    /// A column of whole numbers.
    pub(crate) fn whole(self, name: &str, values: impl Iterator<Item = Option<i32>>) -> Columns {
        self.add(name, Arc::new(values.collect::<Int32Array>()))
    }

    /// A column of yes and no.
    pub(crate) fn flag(self, name: &str, values: impl Iterator<Item = Option<bool>>) -> Columns {
        self.add(name, Arc::new(values.collect::<BooleanArray>()))
    }

    /// The table.
    ///
    /// # Errors
    /// The columns differ in length.
    pub(crate) fn into_table(self) -> PyResult<Table> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays);
        Ok(Table::from(batch.map_err(|error: ArrowError| PyValueError::new_err(error.to_string()))?))
    }
}
