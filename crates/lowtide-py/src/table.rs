//! Results as tables: columns of one length, which Arrow hands on without copies.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use lowtide_lab::metrics::column_name;
use numpy::PyArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::error;

/// The columns of a table before it is one.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn push(&mut self, name: &str, kind: DataType, array: ArrayRef) {
        self.fields.push(Field::new(name, kind, true));
        self.arrays.push(array);
    }

    pub(crate) fn text<T: AsRef<str>>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        let array = StringArray::from_iter_values(values);
        self.push(name, DataType::Utf8, Arc::new(array));
    }

    pub(crate) fn whole(&mut self, name: &str, values: impl IntoIterator<Item = i64>) {
        let array = Int64Array::from_iter_values(values);
        self.push(name, DataType::Int64, Arc::new(array));
    }

    /// What is not finite does not exist.
    pub(crate) fn real(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        let values = values
            .into_iter()
            .map(|value| value.is_finite().then_some(value));
        let array: Float64Array = values.collect();
        self.push(name, DataType::Float64, Arc::new(array));
    }

    pub(crate) fn table(self) -> Result<Table, ArrowError> {
        let schema = Arc::new(Schema::new(self.fields));
        RecordBatch::try_new(schema, self.arrays).map(|batch| Table { batch })
    }
}

/// A table of results.
#[pyclass(frozen, module = "lowtide")]
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

    fn __len__(&self) -> usize {
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
        let heads: String = heads
            .map(|name| format!("<th>{}</th>", escaped(&name)))
            .collect();
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
            format!("<tr>{}</tr>", cells.collect::<String>())
        };
        let count = self.batch.num_rows();
        let rows: String = (0..count.min(SHOWN_ROWS)).map(row).collect();
        let more = match count.saturating_sub(SHOWN_ROWS) {
            0 => String::new(),
            more => format!("<p>… and {more} more rows</p>"),
        };
        format!("<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}")
    }
}

/// A table of columns that have one length.
pub(crate) fn made(py: Python<'_>, columns: Columns) -> PyResult<Py<Table>> {
    let table = columns.table().map_err(|e| error::run(py, e))?;
    Py::new(py, table)
}

/// A result that is a table besides: of [`Comparison`](crate::compare::PyComparison) and its like, the base class.
#[pyclass(frozen, subclass, module = "lowtide", name = "Result")]
pub(crate) struct Tabled {
    table: Py<Table>,
}

impl Tabled {
    pub(crate) fn new(py: Python<'_>, columns: Columns) -> PyResult<Self> {
        let table = made(py, columns)?;
        Ok(Self { table })
    }

    pub(crate) fn html(&self) -> String {
        self.table.get().html()
    }
}

#[pymethods]
impl Tabled {
    #[getter]
    fn table(&self, py: Python<'_>) -> Py<Table> {
        self.table.clone_ref(py)
    }

    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table.get().to_pandas(py)
    }

    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Table::to_polars(self.table.bind(py))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.table.get().__arrow_c_stream__(py, requested_schema)
    }

    fn __len__(&self) -> usize {
        self.table.get().__len__()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.table.get().__contains__(name)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.table.get().__getitem__(py, name)
    }
}
