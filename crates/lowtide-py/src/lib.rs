//! The lab of Lowtide as a Python module, `lowtide._lowtide`; what users see of it is in `python/lowtide`.

mod controller;
mod gym;
mod records;
mod steps;
mod trial;

use pyo3::prelude::*;

/// Rust's side of the package `lowtide`.
#[pymodule]
mod _lowtide {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::controller::{
        Ack, Batch, BatchController, Bbr, Config, Controller, Loss, Model, PacketSent, RateSample,
        Timeout,
    };
    #[pymodule_export]
    use crate::gym::Episodes;
    #[pymodule_export]
    use crate::trial::{episodes, trial};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
