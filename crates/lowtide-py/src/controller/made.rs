//! Controllers of Python's among the lab's contenders.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use lowtide_cc::controller::{self, AckEvent, LossEvent, PacketSent, Snapshot, TimeoutEvent};
use lowtide_cc::units::{Bytes, Rate, Time};
use lowtide_lab::contender::{Contenders, Made, Surroundings};
use lowtide_sim::SenderKind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::base::Controller;
use super::batch::{BatchController, Batched};
use super::bbr::Bbr;
use super::config::Config;
use super::failure::{Failures, Place};
use super::hosted::{Common, Hosted};
use crate::error;

/// Puts what Python names as a controller among `known`, and says by which spec it goes: a text is a spec;
/// anything else makes a controller when it is called with a `Config`, or is a `Bbr`. An object that is known
/// by its name already is not put there again.
pub(crate) fn with(
    known: Contenders,
    failures: &Failures,
    given: &Bound<'_, PyAny>,
    so_far: &mut Vec<(String, Py<PyAny>)>,
) -> PyResult<(Contenders, String)> {
    if let Ok(spec) = given.cast::<PyString>() {
        return Ok((known, spec.to_string()));
    }
    let name = name(given)?;
    if so_far
        .iter()
        .any(|(known, object)| *known == name && object.is(given))
    {
        return Ok((known, name));
    }
    let maker = Arc::new(Maker {
        given: given.clone().unbind(),
        name: name.as_str().into(),
        failures: failures.clone(),
    });
    // One that cannot be made is an error at once, and not one of each run.
    let py = given.py();
    maker.surroundings(py, &PyDict::new(py))?;
    let contents = py
        .import("lowtide.parts")?
        .call_method1("_contents", (given,))?
        .extract()?;
    let make = {
        let maker = maker.clone();
        move |parameters: &[(&str, &str)]| maker.sender(parameters)
    };
    let made = Made {
        name: name.clone(),
        contents,
        make: Arc::new(make),
    };
    let known = known.with_made(made).map_err(|e| error::input(py, e))?;
    so_far.push((name.clone(), given.clone().unbind()));
    Ok((known, name))
}

fn name(given: &Bound<'_, PyAny>) -> PyResult<String> {
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
    Err(error::input(given.py(), problem))
}

/// Makes controllers of what Python gave.
struct Maker {
    given: Py<PyAny>,
    name: Arc<str>,
    failures: Failures,
}

impl Maker {
    fn object<'py>(
        &self,
        py: Python<'py>,
        config: Config,
        parameters: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, Controller>> {
        let given = self.given.bind(py);
        if !given.is_callable() {
            let found = given.get_type().name()?;
            let problem = format!("{found} cannot be called to make a controller");
            return Err(error::input(py, problem));
        }
        let object = given.call((config,), Some(parameters))?;
        object.cast_into().map_err(|e| {
            let found = e.into_inner().get_type();
            let found = found
                .name()
                .map_or_else(|_| String::new(), |n| n.to_string());
            let name = &self.name;
            error::input(
                py,
                format!("{name} must make a lowtide.Controller, and made {found}"),
            )
        })
    }

    fn build(
        &self,
        py: Python<'_>,
        config: &lowtide_cc::Config,
        parameters: &[(String, String)],
    ) -> PyResult<Box<dyn lowtide_cc::Controller>> {
        if let Ok(bbr) = self.given.bind(py).cast::<Bbr>() {
            return bbr.get().build(py, config, &self.name, &self.failures);
        }
        let object = self.object(py, Config(*config), &literals(py, parameters)?)?;
        let is_batched = object.is_instance_of::<BatchController>();
        let common = Common::new(object, self.name.clone(), self.failures.clone())?;
        Ok(if is_batched {
            Box::new(Batched::new(common, py, config.now)?)
        } else {
            Box::new(Hosted::new(common, py, config.now)?)
        })
    }

    /// Makes one, to see what its runs need.
    fn surroundings(
        &self,
        py: Python<'_>,
        parameters: &Bound<'_, PyDict>,
    ) -> PyResult<Surroundings> {
        let is_batched = match self.given.bind(py).cast::<Bbr>() {
            Ok(bbr) => {
                if !parameters.is_empty() {
                    let problem = "a lowtide.Bbr takes its parameters when it is made";
                    return Err(PyValueError::new_err(problem));
                }
                bbr.get().build(
                    py,
                    &lowtide_cc::Config::default(),
                    &self.name,
                    &self.failures,
                )?;
                false
            }
            Err(_) => {
                let config = Config(lowtide_cc::Config::default());
                let object = self.object(py, config, parameters)?;
                let is_batched = object.is_instance_of::<BatchController>();
                let common = Common::new(object, self.name.clone(), self.failures.clone())?;
                if is_batched {
                    Batched::new(common, py, Time::ZERO)?;
                } else {
                    Hosted::new(common, py, Time::ZERO)?;
                }
                is_batched
            }
        };
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
        let surroundings = Python::attach(|py| {
            let made = literals(py, &parameters).and_then(|values| self.surroundings(py, &values));
            made.map_err(|e| e.to_string())
        })?;
        let maker = self.clone();
        let controller = move |config: &lowtide_cc::Config| {
            Python::attach(|py| match maker.build(py, config, &parameters) {
                Ok(controller) => controller,
                Err(error) => Box::new(Broken {
                    name: maker.name.clone(),
                    failures: maker.failures.clone(),
                    packet: config.max_datagram.max(Bytes::new(1)),
                    error: Mutex::new(Some(error)),
                }) as Box<dyn lowtide_cc::Controller>,
            })
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
    name: Arc<str>,
    failures: Failures,
    packet: Bytes,
    error: Mutex<Option<PyErr>>,
}

impl controller::Controller for Broken {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        let error = self
            .error
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        Python::attach(|py| {
            let error = error.unwrap_or_else(|| PyValueError::new_err("it could not be made"));
            let place = Place {
                name: &self.name,
                event: "__init__",
                now: sent.now,
            };
            self.failures.end_run(py, &place, error)
        })
    }

    fn on_ack(&mut self, _ack: &AckEvent<'_>) {}
    fn on_loss(&mut self, _loss: &LossEvent<'_>) {}
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {}
    fn on_mtu_change(&mut self, _max_datagram: Bytes) {}

    fn cwnd(&self) -> Bytes {
        self.packet
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn send_quantum(&self) -> Bytes {
        self.packet
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Broken").field(&self.name).finish()
    }
}
