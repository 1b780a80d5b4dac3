//! Results as tables: columns of one length, which Arrow hands on without copies.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{Field, Schema};
use lowtide_lab::metrics::column_name;
use numpy::PyArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use serde::Serialize;

use crate::error;

/// A table in the making: columns of the same rows.
pub(crate) struct Columns<'a, R> {
    rows: &'a [R],
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl<'a, R> Columns<'a, R> {
    pub(crate) fn of(rows: &'a [R]) -> Self {
        Self {
            rows,
            fields: Vec::new(),
            arrays: Vec::new(),
        }
    }

    fn push(&mut self, name: &str, array: impl Array + 'static) -> &mut Self {
        let kind = array.data_type().clone();
        self.fields.push(Field::new(name, kind, true));
        self.arrays.push(Arc::new(array));
        self
    }

    pub(crate) fn text<T: AsRef<str>>(&mut self, name: &str, of: impl Fn(&'a R) -> T) -> &mut Self {
        let values = self.rows.iter().map(of);
        self.push(name, StringArray::from_iter_values(values))
    }

    pub(crate) fn whole(&mut self, name: &str, of: impl Fn(&R) -> i64) -> &mut Self {
        let values = self.rows.iter().map(of);
        self.push(name, Int64Array::from_iter_values(values))
    }

    /// What is not finite does not exist.
    pub(crate) fn real(&mut self, name: &str, of: impl Fn(&R) -> f64) -> &mut Self {
        let values = self.rows.iter().map(of);
        let values = values.map(|value| value.is_finite().then_some(value));
        self.push(name, values.collect::<Float64Array>())
    }

    pub(crate) fn table(&mut self) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(std::mem::take(&mut self.fields)));
        let batch = RecordBatch::try_new(schema, std::mem::take(&mut self.arrays));
        Ok(Table {
            batch: batch.map_err(error::run)?,
        })
    }
}

/// A table of results.
#[pyclass(frozen, subclass, module = "lowtide")]
#[derive(Clone)]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// A column by its name, or by the metric's with a dot.
    fn column_of(&self, name: &str) -> Option<&ArrayRef> {
        let own = self.batch.column_by_name(name);
        own.or_else(|| self.batch.column_by_name(&column_name(name)))
    }

    fn column<'py>(&self, py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
        if let Some(reals) = array.as_primitive_opt::<Float64Type>() {
            let values = reals.iter().map(|value| value.unwrap_or(f64::NAN));
            return Ok(PyArray1::from_iter(py, values).into_any());
        }
        if let Some(wholes) = array.as_primitive_opt::<Int64Type>() {
            return Ok(PyArray1::from_slice(py, wholes.values()).into_any());
        }
        let texts = array.as_string::<i32>();
        Ok(PyList::new(py, texts.iter())?.into_any())
    }
}

/// Rows that HTML shows.
const SHOWN_ROWS: usize = 60;

/// Text within HTML.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// The JSON of one object, or of several as a list.
pub(crate) fn one_or_all(objects: &[impl Serialize]) -> serde_json::Result<String> {
    match objects {
        [one] => serde_json::to_string_pretty(one),
        several => serde_json::to_string_pretty(several),
    }
}

/// A table in HTML: the cells of its head, and of each row.
pub(crate) fn html(heads: String, rows: impl Iterator<Item = String>) -> String {
    let rows = rows.map(|cells| format!("<tr>{cells}</tr>"));
    let rows: String = rows.collect();
    format!("<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    pub(crate) fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.column_of(name).is_some()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.column_of(name) {
            Some(array) => self.column(py, array),
            None => {
                let known = self.columns().join(", ");
                let problem = format!("there is no column '{name}'; there are {known}");
                Err(PyKeyError::new_err(problem))
            }
        }
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, array) in self.columns().iter().zip(self.batch.columns()) {
            dict.set_item(name, self.column(py, array)?)?;
        }
        Ok(dict)
    }

    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let columns = self.to_dict(py)?;
        py.import("pandas")?.call_method1("DataFrame", (columns,))
    }

    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// The Arrow PyCapsule interface. What is asked for is a wish that need not be fulfilled.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = (self.batch.num_rows(), self.columns().join(", "));
        format!("<lowtide.Table of {rows} rows: {columns}>")
    }

    fn _repr_html_(&self) -> String {
        self.html()
    }
}

impl Table {
    pub(crate) fn html(&self) -> String {
        let heads = self.columns().into_iter();
        let heads = heads.map(|name| format!("<th>{}</th>", escaped(&name)));
        let row = |n: usize| -> String {
            let cells = self.batch.columns().iter().map(|array| {
                let shown = if array.is_null(n) {
                    "–".to_string()
                } else if let Some(reals) = array.as_primitive_opt::<Float64Type>() {
                    format!("{:.4}", reals.value(n))
                } else if let Some(wholes) = array.as_primitive_opt::<Int64Type>() {
                    wholes.value(n).to_string()
                } else {
                    escaped(array.as_string::<i32>().value(n))
                };
                format!("<td>{shown}</td>")
            });
            cells.collect()
        };
        let count = self.batch.num_rows();
        let table = html(heads.collect(), (0..count.min(SHOWN_ROWS)).map(row));
        let more = match count.saturating_sub(SHOWN_ROWS) {
            0 => String::new(),
            more => format!("<p>… and {more} more rows</p>"),
        };
        table + &more
    }
}

/// A result that is a table besides: of [`Comparison`](crate::compare::PyComparison) and its like, the base class.
#[pyclass(frozen, extends = Table, subclass, module = "lowtide", name = "Result")]
pub(crate) struct Tabled;

/// The base of a result that has this table.
pub(crate) fn tabled(table: Table) -> PyClassInitializer<Tabled> {
    PyClassInitializer::from(table).add_subclass(Tabled)
}

#[pymethods]
impl Tabled {
    #[getter]
    fn table(slf: &Bound<'_, Self>) -> Table {
        slf.as_super().get().clone()
    }
}
