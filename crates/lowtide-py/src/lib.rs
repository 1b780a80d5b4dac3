//! The lab of Lowtide as a Python module, `lowtide._lowtide`; what users see of it is in `python/lowtide`.

mod attack;
mod command;
mod compare;
mod controller;
mod drawn;
mod error;
mod experiment;
mod frontier;
mod gym;
mod known;
mod list;
mod order;
mod records;
mod score;
mod setting;
mod simulate;
mod steps;
mod sweep;
mod table;
mod trace;
mod values;
mod work;

use pyo3::prelude::*;

/// Rust's side of the package `lowtide`.
#[pymodule]
mod _lowtide {
    use lowtide_lab::setting::{keys_of, options};
    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    #[pymodule_export]
    use crate::attack::{PyFindings, attack};
    #[pymodule_export]
    use crate::command::{check_section, main};
    #[pymodule_export]
    use crate::compare::{PyComparison, compare};
    #[pymodule_export]
    use crate::controller::{
        Ack, Batch, BatchController, Bbr, Config, Controller, Loss, Model, PacketSent, RateSample,
        Timeout,
    };
    #[pymodule_export]
    use crate::drawn::Drawn;
    #[pymodule_export]
    use crate::experiment::{PyCells, run};
    #[pymodule_export]
    use crate::frontier::{PyFrontier, frontier};
    #[pymodule_export]
    use crate::gym::Episodes;
    #[pymodule_export]
    use crate::list::{controllers, queues};
    #[pymodule_export]
    use crate::score::{PyScores, score};
    #[pymodule_export]
    use crate::simulate::{PyFlow, PyRun, simulate};
    #[pymodule_export]
    use crate::steps::steps;
    #[pymodule_export]
    use crate::sweep::{Sweep, SweepPlan, SweepWorker};
    #[pymodule_export]
    use crate::table::{Table, Tabled};
    #[pymodule_export]
    use crate::trace::{Trace, restored_trace};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let py = module.py();
        let all = PyDict::new(py);
        for (name, text) in options() {
            all.set_item(name, text)?;
        }
        module.add("OPTIONS", all)?;
        let sections = PyDict::new(py);
        for section in ["link", "path", "flows"] {
            let keys = PyDict::new(py);
            for key in keys_of(section) {
                keys.set_item(key.name, key.about)?;
            }
            sections.set_item(section, keys)?;
        }
        module.add("KEYS", sections)
    }
}
