//! Records in the bytes that NumPy reads: fields of 8 bytes each. NumPy is imported when an array is first
//! looked at.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A field's name and NumPy's type of it: `=f8` or `=i8`.
pub(crate) type Field = (&'static str, &'static str);

/// Records, one behind the other.
#[derive(Default)]
pub(crate) struct Records {
    bytes: Vec<u8>,
    count: usize,
}

impl Records {
    /// Room for as many as these.
    pub(crate) fn with_room_of(other: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(other),
            count: 0,
        }
    }

    pub(crate) fn float(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_ne_bytes());
    }

    pub(crate) fn whole(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_ne_bytes());
    }

    /// A record has all its fields.
    pub(crate) fn end(&mut self) {
        self.count += 1;
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many bytes they take.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// A read-only structured array.
    pub(crate) fn array<'py>(
        &self,
        py: Python<'py>,
        fields: &[Field],
    ) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let dtype = numpy.call_method1("dtype", (fields.to_vec(),))?;
        numpy.call_method1("frombuffer", (PyBytes::new(py, &self.bytes), dtype))
    }
}
