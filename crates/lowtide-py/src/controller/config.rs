//! What a controller is told when it is made.

use lowtide_cc::units::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::number::seconds;

/// What a controller is told when it is made.
#[pyclass(module = "lowtide", frozen, from_py_object)]
#[derive(Clone, Copy)]
pub(crate) struct Config(pub(super) lowtide_cc::Config);

#[pymethods]
impl Config {
    #[new]
    #[pyo3(signature = (max_datagram = 1500, seed = 0))]
    fn new(max_datagram: u64, seed: u64) -> PyResult<Self> {
        if max_datagram == 0 {
            return Err(PyValueError::new_err("max_datagram must be above zero"));
        }
        let config = lowtide_cc::Config::for_datagram(Bytes::new(max_datagram));
        Ok(Self(lowtide_cc::Config { seed, ..config }))
    }

    /// Largest payload of a packet, bytes: the unit of "packets" in window rules.
    #[getter]
    fn max_datagram(&self) -> u64 {
        self.0.max_datagram.get()
    }

    /// Window before any feedback, bytes.
    #[getter]
    fn initial_window(&self) -> u64 {
        self.0.initial_window.get()
    }

    /// When the flow starts, seconds.
    #[getter]
    fn now(&self) -> f64 {
        seconds(self.0.now)
    }

    /// Seeds the controller's own randomness.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    fn __repr__(&self) -> String {
        format!(
            "Config(max_datagram={}, initial_window={}, now={}, seed={})",
            self.max_datagram(),
            self.initial_window(),
            self.now(),
            self.seed()
        )
    }
}
