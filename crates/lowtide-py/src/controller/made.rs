//! Controllers of Python's among the lab's contenders.

use std::fmt;
use std::sync::Arc;

use lowtide_cc::Wrap;
use lowtide_cc::controller::PacketSent;
use lowtide_cc::controllers::window::ConstantWindow;
use lowtide_lab::contender::{Made, Surroundings};
use lowtide_sim::SenderKind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::base::Controller;
use super::batch::{BatchController, Batched};
use super::bbr::Bbr;
use super::config::Config;
use super::failure::{Blamed, Failures};
use super::hosted::Hosted;
use super::number::kind_of;
use crate::error;

/// What the lab makes of something that Python gave as a controller: what makes one when it is called with a
/// `Config`, or a `Bbr`.
pub(crate) fn made(given: &Bound<'_, PyAny>, name: String, failures: &Failures) -> PyResult<Made> {
    let py = given.py();
    let maker = Arc::new(Maker {
        given: given.clone().unbind(),
        blamed: Blamed {
            name: name.as_str().into(),
            failures: failures.clone(),
        },
    });
    // One that cannot be made is an error at once, and not one of each run.
    maker.surroundings(py, &[])?;
    let parts = py.import("lowtide.parts")?;
    let contents = parts.call_method1("_contents", (given,))?.extract()?;
    Ok(Made {
        name,
        contents,
        make: Arc::new(move |parameters: &[(&str, &str)]| maker.sender(parameters)),
    })
}

/// The name by which it goes.
pub(crate) fn name(given: &Bound<'_, PyAny>) -> PyResult<String> {
    for attribute in ["name", "__name__"] {
        if let Some(name) = given.getattr_opt(attribute)?
            && let Ok(name) = name.extract()
        {
            return Ok(name);
        }
    }
    // functools.partial
    if let Some(function) = given.getattr_opt("func")? {
        return name(&function);
    }
    let found = given.get_type().name()?;
    let problem = format!(
        "a controller is a spec such as \"bbr\", a class derived from lowtide.Controller, a lowtide.Bbr or a \
         function that makes one, not {found}"
    );
    Err(error::input(problem))
}

/// Makes controllers of what Python gave.
struct Maker {
    given: Py<PyAny>,
    blamed: Blamed,
}

impl Maker {
    /// A controller, and whether it is told in batches.
    fn build(
        &self,
        py: Python<'_>,
        config: &lowtide_cc::Config,
        parameters: &[(String, String)],
    ) -> PyResult<(Box<dyn lowtide_cc::Controller>, bool)> {
        let (given, blamed) = (self.given.bind(py), self.blamed.clone());
        let parameters = literals(py, parameters)?;
        if let Ok(bbr) = given.cast::<Bbr>() {
            if !parameters.is_empty() {
                let problem = "a lowtide.Bbr takes its parameters when it is made";
                return Err(PyValueError::new_err(problem));
            }
            return Ok((bbr.get().build(py, config, &blamed)?, false));
        }
        if !given.is_callable() {
            let found = kind_of(given);
            let problem = format!("{found} cannot be called to make a controller");
            return Err(error::input(problem));
        }
        let object = given.call((Config(*config),), Some(&parameters))?;
        let object = object.cast_into::<Controller>().map_err(|e| {
            let (name, found) = (&blamed.name, kind_of(&e.into_inner()));
            let problem = format!("{name} must make a lowtide.Controller, and made {found}");
            error::input(problem)
        })?;
        Ok(if object.is_instance_of::<BatchController>() {
            (Box::new(Batched::new(object, blamed, config.now)?), true)
        } else {
            (Box::new(Hosted::new(object, blamed, config.now)?), false)
        })
    }

    /// Makes one, to see what its runs need.
    fn surroundings(
        &self,
        py: Python<'_>,
        parameters: &[(String, String)],
    ) -> PyResult<Surroundings> {
        let (_, is_batched) = self.build(py, &lowtide_cc::Config::default(), parameters)?;
        Ok(if is_batched {
            // The thread keeps its state with the interpreter, and lets go of it between two batches.
            Surroundings::new(|run| Python::attach(|py| py.detach(run)))
        } else {
            Surroundings::new(|run| Python::attach(|_| run()))
        })
    }

    fn sender(
        self: &Arc<Self>,
        parameters: &[(&str, &str)],
    ) -> Result<(SenderKind, Option<Surroundings>), String> {
        let own = |(key, value): &(&str, &str)| ((*key).to_string(), (*value).to_string());
        let parameters: Vec<(String, String)> = parameters.iter().map(own).collect();
        let surroundings = Python::attach(|py| self.surroundings(py, &parameters));
        let surroundings = surroundings.map_err(|e| e.to_string())?;
        let maker = self.clone();
        let controller = move |config: &lowtide_cc::Config| {
            let built = Python::attach(|py| maker.build(py, config, &parameters));
            built.map_or_else(
                |error| {
                    Box::new(Broken {
                        blamed: maker.blamed.clone(),
                        error: Some(error),
                        window: ConstantWindow::new(config, 1),
                    }) as Box<dyn lowtide_cc::Controller>
                },
                |(controller, _)| controller,
            )
        };
        let controller = Arc::new(controller);
        let sender = SenderKind::Controlled {
            controller,
            estimator: None,
        };
        Ok((sender, Some(surroundings)))
    }
}

/// Parameters of a spec as keyword arguments: whole numbers, numbers and truth values are such, anything else
/// is text.
fn literals<'py>(py: Python<'py>, parameters: &[(String, String)]) -> PyResult<Bound<'py, PyDict>> {
    let arguments = PyDict::new(py);
    for (key, value) in parameters {
        if arguments.contains(key)? {
            return Err(PyValueError::new_err(format!("'{key}' is given twice")));
        }
        if let Ok(whole) = value.parse::<i64>() {
            arguments.set_item(key, whole)?;
        } else if let Ok(number) = value.parse::<f64>() {
            arguments.set_item(key, number)?;
        } else if let Ok(truth) = value.parse::<bool>() {
            arguments.set_item(key, truth)?;
        } else {
            arguments.set_item(key, value)?;
        }
    }
    Ok(arguments)
}

/// One that could not be made: its flow's first packet ends the run.
struct Broken {
    blamed: Blamed,
    error: Option<PyErr>,
    window: ConstantWindow,
}

impl Wrap for Broken {
    type Inner = ConstantWindow;

    fn inner(&self) -> &ConstantWindow {
        &self.window
    }

    fn inner_mut(&mut self) -> &mut ConstantWindow {
        &mut self.window
    }

    fn on_packet_sent(&mut self, sent: &PacketSent) {
        let unmade = || PyValueError::new_err("it could not be made");
        let error = self.error.take().unwrap_or_else(unmade);
        self.blamed.guarded("__init__", sent.now, |_| Err(error))
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Broken").field(&self.blamed.name).finish()
    }
}
