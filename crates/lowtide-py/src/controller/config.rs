//! What a controller is told when it is made.

use lowtide_cc::Transport;
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
    #[pyo3(signature = (max_datagram = 1500, seed = 0, transport = "quic"))]
    fn new(max_datagram: u64, seed: u64, transport: &str) -> PyResult<Self> {
        if max_datagram == 0 {
            return Err(PyValueError::new_err("max_datagram must be above zero"));
        }
        let transport = match transport {
            "quic" => Transport::Quic,
            "tcp" => Transport::Tcp,
            _ => return Err(PyValueError::new_err("transport must be 'quic' or 'tcp'")),
        };
        let config = lowtide_cc::Config::for_datagram(Bytes::new(max_datagram));
        Ok(Self(lowtide_cc::Config {
            seed,
            transport,
            ..config
        }))
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

    /// The transport that carries the flow: "quic" or "tcp".
    #[getter]
    fn transport(&self) -> &'static str {
        self.0.transport.name()
    }

    fn __repr__(&self) -> String {
        format!(
            "Config(max_datagram={}, initial_window={}, now={}, seed={}, transport={})",
            self.max_datagram(),
            self.initial_window(),
            self.now(),
            self.seed(),
            self.transport()
        )
    }
}
