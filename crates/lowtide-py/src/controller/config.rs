//! What a controller is told when it is made.

use lowtide_cc::Transport;
use lowtide_cc::units::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::number::seconds;
use super::view::view;

view! {
    /// What a controller is told when it is made.
    #[pyclass(module = "lowtide", frozen, from_py_object)]
    #[derive(Clone, Copy)]
    Config(lowtide_cc::Config) {
        /// Largest payload of a packet, bytes: the unit of "packets" in window rules.
        max_datagram: u64 = |config| config.max_datagram.get(),
        /// Window before any feedback, bytes.
        initial_window: u64 = |config| config.initial_window.get(),
        /// When the flow starts, seconds.
        now: f64 = |config| seconds(config.now),
        /// Seeds the controller's own randomness.
        seed: u64 = |config| config.seed,
        /// The transport that carries the flow: "quic" or "tcp".
        transport: &'static str = |config| config.transport.name(),
    }

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
