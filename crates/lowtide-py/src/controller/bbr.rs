//! BBR with an estimator or a policy written in Python. Methods that a class does not override are never called
//! across the boundary.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use lowtide_cc::controller::{AckEvent, PacketSent};
use lowtide_cc::controllers::bbr::{
    self, BandwidthEstimator, MaxBandwidth, Options, Phase, Policy, RecoveryStart, V1,
};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::config::Config;
use super::events::{self, Ack, Reused};
use super::failure::{Failures, Place};
use super::hosted::overridden;
use super::model::Model;
use super::number::{self, Zero, seconds};

/// Where the base classes of parts are.
const BASES: &str = "lowtide.parts";

/// BBR v1 with an estimator or a policy of your own in the place of its own. It stands wherever a controller
/// is named; each flow has parts of its own: copies (`copy.deepcopy`) of the objects given here, or what the
/// classes given here make of the flow's `Config`.
#[pyclass(module = "lowtide", frozen)]
pub(crate) struct Bbr {
    estimator: Option<Py<PyAny>>,
    policy: Option<Py<PyAny>>,
    /// How it is shown.
    #[pyo3(get)]
    name: String,
    options: Options,
}

#[pymethods]
impl Bbr {
    #[new]
    #[pyo3(signature = (estimator = None, policy = None, *, name = None, aggregation = true, policer = true, burst = None, ecn = false))]
    #[expect(clippy::too_many_arguments, reason = "Python's are named")]
    fn new(
        py: Python<'_>,
        estimator: Option<Bound<'_, PyAny>>,
        policy: Option<Bound<'_, PyAny>>,
        name: Option<String>,
        aggregation: bool,
        policer: bool,
        burst: Option<u64>,
        ecn: bool,
    ) -> PyResult<Self> {
        let mut own = "bbr".to_string();
        for (part, base, argument) in [
            (&estimator, "BandwidthEstimator", "estimator"),
            (&policy, "Policy", "policy"),
        ] {
            if let Some(part) = part {
                own.push('+');
                own += &kind(py, part, base, argument)?;
            }
        }
        if burst == Some(0) {
            return Err(PyValueError::new_err("burst must be above zero packets"));
        }
        Ok(Self {
            estimator: estimator.map(Bound::unbind),
            policy: policy.map(Bound::unbind),
            name: name.unwrap_or(own),
            options: Options {
                aggregation,
                policer,
                burst_packets: burst,
                ecn,
                prime: false,
            },
        })
    }

    fn __repr__(&self) -> String {
        let Options {
            aggregation,
            policer,
            burst_packets,
            ecn,
            prime: _,
        } = self.options;
        let name = &self.name;
        let burst = burst_packets.map_or("None".to_string(), |burst| burst.to_string());
        let flag = |flag| if flag { "True" } else { "False" };
        format!(
            "Bbr(name='{name}', aggregation={}, policer={}, burst={burst}, ecn={})",
            flag(aggregation),
            flag(policer),
            flag(ecn)
        )
    }

    /// The parts that are not BBR's own.
    #[getter]
    fn _parts(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        let parts = [&self.estimator, &self.policy];
        parts
            .into_iter()
            .flatten()
            .map(|part| part.clone_ref(py))
            .collect()
    }
}

/// The name of a part's class.
fn kind(py: Python<'_>, part: &Bound<'_, PyAny>, base: &str, argument: &str) -> PyResult<String> {
    let class = py.import(BASES)?.getattr(base)?;
    let of_part = match part.cast::<PyType>() {
        Ok(class) => class.clone(),
        Err(_) => part.get_type(),
    };
    if of_part.is_subclass(&class)? {
        return Ok(of_part.name()?.to_string());
    }
    if part.is_callable() {
        return part.getattr("__name__")?.extract();
    }
    let found = of_part.name()?;
    let problem = format!("{argument} must be a lowtide.{base}, or make one, not {found}");
    Err(PyTypeError::new_err(problem))
}

/// A flow's own part.
fn part<'py>(given: &Bound<'py, PyAny>, base: &str, config: Config) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    let class = py.import(BASES)?.getattr(base)?;
    if given.is_instance(&class)? {
        return py.import("copy")?.call_method1("deepcopy", (given,));
    }
    let made = given.call1((config,))?;
    if !made.is_instance(&class)? {
        let found = made.get_type().name()?;
        let problem = format!("lowtide.Bbr wants a lowtide.{base}, and was given {found}");
        return Err(PyTypeError::new_err(problem));
    }
    Ok(made)
}

impl Bbr {
    pub(super) fn build(
        &self,
        py: Python<'_>,
        config: &lowtide_cc::Config,
        name: &Arc<str>,
        failures: &Failures,
    ) -> PyResult<Box<dyn lowtide_cc::Controller>> {
        let own = |given: &Option<Py<PyAny>>, base| {
            let given = given.as_ref();
            given
                .map(|given| part(given.bind(py), base, Config(*config)))
                .transpose()
        };
        let calls = |object: &Bound<'_, PyAny>| Calls::new(object, config, name, failures);
        let estimator = own(&self.estimator, "BandwidthEstimator")?;
        let estimator = estimator.map(|object| Estimator::new(&object, calls(&object)));
        let policy = own(&self.policy, "Policy")?;
        let policy = policy.map(|object| Decisions::new(&object, calls(&object)));
        let options = self.options;
        Ok(match (estimator.transpose()?, policy.transpose()?) {
            (None, None) => Box::new(bbr::Bbr::v1(config, options)),
            (Some(own), None) => Box::new(bbr::Bbr::new(config, options, own, V1)),
            (None, Some(own)) => {
                Box::new(bbr::Bbr::new(config, options, MaxBandwidth::default(), own))
            }
            (Some(estimator), Some(policy)) => {
                Box::new(bbr::Bbr::new(config, options, estimator, policy))
            }
        })
    }
}

/// Calls the methods of a part.
struct Calls {
    base: Py<PyAny>,
    name: Arc<str>,
    failures: Failures,
    now: Time,
    ack: Reused<Ack>,
    sent: Reused<events::PacketSent>,
    model: Reused<Model>,
}

type Handler = Option<Py<PyAny>>;

impl Calls {
    fn new(
        object: &Bound<'_, PyAny>,
        config: &lowtide_cc::Config,
        name: &Arc<str>,
        failures: &Failures,
    ) -> PyResult<Self> {
        // The base is the class of `lowtide.parts` that comes last but `object`.
        let ancestors: Vec<Bound<'_, PyAny>> = object.get_type().getattr("__mro__")?.extract()?;
        let base = ancestors
            .iter()
            .rev()
            .nth(1)
            .cloned()
            .unwrap_or_else(|| object.clone());
        Ok(Self {
            base: base.unbind(),
            name: name.clone(),
            failures: failures.clone(),
            now: config.now,
            ack: Reused::default(),
            sent: Reused::default(),
            model: Reused::default(),
        })
    }

    fn handler(&self, object: &Bound<'_, PyAny>, method: &str) -> PyResult<Handler> {
        overridden(object, self.base.bind(object.py()), method)
    }

    fn model<'py>(&mut self, py: Python<'py>, model: &bbr::Model) -> PyResult<Bound<'py, PyAny>> {
        self.model.fill(py, |m| m.0 = *model, || Model(*model))
    }

    fn ack<'py>(&mut self, py: Python<'py>, ack: &AckEvent<'_>) -> PyResult<Bound<'py, PyAny>> {
        self.ack.fill(py, |a| a.set(ack), || Ack::of(ack))
    }

    fn sent<'py>(&mut self, py: Python<'py>, sent: &PacketSent) -> PyResult<Bound<'py, PyAny>> {
        let of = || events::PacketSent::of(sent);
        self.sent.fill(py, |s| *s = of(), of)
    }

    /// The answer of a method; `None` where the class does not have it.
    fn ask<R>(
        &mut self,
        handler: &Handler,
        event: &'static str,
        arguments: impl FnOnce(Python<'_>, &mut Self) -> PyResult<Py<PyTuple>>,
        answer: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        let handler = handler.as_ref()?;
        Python::attach(|py| {
            if self.failures.is_interrupted() {
                lowtide_lab::run::abandon("ended before its time".to_string());
            }
            let arguments = arguments(py, self);
            let result = arguments.and_then(|arguments| handler.bind(py).call1(arguments));
            match result.and_then(|result| answer(&result)) {
                Ok(answer) => Some(answer),
                Err(error) => {
                    let (name, now) = (&*self.name, self.now);
                    self.failures
                        .end_run(py, &Place { name, event, now }, error)
                }
            }
        })
    }
}

/// Arguments of a method.
fn tuple<'py, T>(py: Python<'py>, arguments: T) -> PyResult<Py<PyTuple>>
where
    T: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<T::Error>,
{
    Ok(arguments.into_pyobject(py)?.unbind())
}

fn nothing(_: &Bound<'_, PyAny>) -> PyResult<()> {
    Ok(())
}

/// What a method of a part returns, by name in messages.
fn gain(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    number::finite(value, "a gain", Zero::DoesNot)
}

fn volume(value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    number::finite(value, "a window (bytes)", Zero::DoesNot).map(number::bytes)
}

fn bandwidth(value: &Bound<'_, PyAny>) -> PyResult<Rate> {
    let rate = number::finite(value, "a bandwidth (bytes a second)", Zero::Fits)?;
    Ok(Rate::from_bytes_per_sec(rate as u64))
}

fn truth(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let name = value
        .get_type()
        .name()
        .map_or_else(|_| String::new(), |n| n.to_string());
    let wrong =
        |_| PyTypeError::new_err(format!("what it returns must be True or False, not {name}"));
    value.is_truthy().map_err(wrong)
}

/// An estimator of Python's.
struct Estimator {
    calls: Calls,
    bandwidth: Rate,
    next_wakeup: Option<Time>,
    on_packet_sent: Handler,
    on_ack: Handler,
    on_phase: Handler,
    on_new_path: Handler,
    on_wakeup: Handler,
    ask_bandwidth: Handler,
    ask_wakeup: Handler,
}

impl Estimator {
    fn new(object: &Bound<'_, PyAny>, calls: PyResult<Calls>) -> PyResult<Self> {
        let calls = calls?;
        let handler = |method| calls.handler(object, method);
        let ask_bandwidth = handler("bandwidth")?;
        if ask_bandwidth.is_none() {
            let class = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "{class} has no bandwidth(): it is what BBR asks it for"
            )));
        }
        Ok(Self {
            on_packet_sent: handler("on_packet_sent")?,
            on_ack: handler("on_ack")?,
            on_phase: handler("on_phase")?,
            on_new_path: handler("on_new_path")?,
            on_wakeup: handler("on_wakeup")?,
            ask_bandwidth,
            ask_wakeup: handler("next_wakeup")?,
            bandwidth: Rate::ZERO,
            next_wakeup: None,
            calls,
        })
    }

    /// After an event of its own.
    fn refresh(&mut self) {
        let none = |py: Python<'_>, _: &mut Calls| Ok(PyTuple::empty(py).unbind());
        let calls = &mut self.calls;
        let estimate = calls.ask(&self.ask_bandwidth, "bandwidth", none, bandwidth);
        self.bandwidth = estimate.unwrap_or(Rate::ZERO);
        let now = calls.now;
        let at = |value: &Bound<'_, PyAny>| {
            let value = Some(value).filter(|value| !value.is_none());
            let at = number::optional(value, "next_wakeup() (seconds)", Zero::Fits)?;
            let at = at.map(number::time);
            if at.is_some_and(|at| at <= now) {
                let now = seconds(now);
                let problem = format!("next_wakeup() must be later than now, {now}");
                return Err(PyValueError::new_err(problem));
            }
            Ok(at)
        };
        self.next_wakeup = calls
            .ask(&self.ask_wakeup, "next_wakeup", none, at)
            .flatten();
    }
}

impl BandwidthEstimator for Estimator {
    fn on_packet_sent(&mut self, sent: &PacketSent, model: &bbr::Model) {
        self.calls.now = sent.now;
        if self.on_packet_sent.is_none() {
            return;
        }
        let arguments = |py: Python<'_>, calls: &mut Calls| {
            tuple(py, (calls.sent(py, sent)?, calls.model(py, model)?))
        };
        self.calls
            .ask(&self.on_packet_sent, "on_packet_sent", arguments, nothing);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &bbr::Model) {
        self.calls.now = ack.now;
        let arguments = |py: Python<'_>, calls: &mut Calls| {
            tuple(py, (calls.ack(py, ack)?, calls.model(py, model)?))
        };
        self.calls.ask(&self.on_ack, "on_ack", arguments, nothing);
        self.refresh();
    }

    fn on_phase(&mut self, phase: Phase) {
        let arguments = |py: Python<'_>, _: &mut Calls| tuple(py, (phase.name(),));
        self.calls
            .ask(&self.on_phase, "on_phase", arguments, nothing);
    }

    fn on_new_path(&mut self) {
        let arguments = |py: Python<'_>, _: &mut Calls| Ok(PyTuple::empty(py).unbind());
        self.calls
            .ask(&self.on_new_path, "on_new_path", arguments, nothing);
        self.refresh();
    }

    fn on_wakeup(&mut self, now: Time, model: &bbr::Model) {
        self.calls.now = now;
        self.next_wakeup = None;
        let arguments =
            |py: Python<'_>, calls: &mut Calls| tuple(py, (seconds(now), calls.model(py, model)?));
        self.calls
            .ask(&self.on_wakeup, "on_wakeup", arguments, nothing);
        self.refresh();
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.next_wakeup
    }

    fn bandwidth(&self) -> Rate {
        self.bandwidth
    }
}

impl fmt::Debug for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Estimator").field(&self.calls.name).finish()
    }
}

macro_rules! decisions {
    ($($method:ident),*) => {
        /// A policy of Python's.
        struct Decisions {
            // Some of a policy's methods are asked through a shared reference.
            calls: RefCell<Calls>,
            $($method: Handler,)*
        }

        impl Decisions {
            fn new(object: &Bound<'_, PyAny>, calls: PyResult<Calls>) -> PyResult<Self> {
                let calls = calls?;
                Ok(Self {
                    $($method: calls.handler(object, stringify!($method))?,)*
                    calls: RefCell::new(calls),
                })
            }
        }
    };
}

decisions!(
    on_ack,
    on_phase,
    ends_startup,
    ends_probe,
    probe_gain,
    steady_gain,
    bandwidth,
    min_rtt_window,
    path_changes,
    probe_rtt_window,
    cwnd_gain,
    next_window,
    on_recovery_start,
    shrink,
    loss_calls_for_probe_rtt,
    loss_probe_window
);

/// Asks a method of the policy; BBR v1's answer where the class does not have it.
macro_rules! ask {
    ($this:ident.$method:ident(|$py:ident, $calls:ident| $args:expr), $answer:expr, else $standard:expr) => {{
        if $this.$method.is_none() {
            $standard
        } else {
            #[allow(unused_variables, reason = "not all arguments need both")]
            let arguments = |$py: Python<'_>, $calls: &mut Calls| tuple($py, $args);
            let mut calls = $this.calls.borrow_mut();
            let answer = calls.ask(&$this.$method, stringify!($method), arguments, $answer);
            match answer {
                Some(answer) => answer,
                None => $standard,
            }
        }
    }};
}

impl Policy for Decisions {
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &bbr::Model) {
        self.calls.get_mut().now = ack.now;
        ask!(self.on_ack(|py, calls| (calls.ack(py, ack)?, calls.model(py, model)?)), nothing, else ());
    }

    fn on_phase(&mut self, phase: Phase) {
        ask!(self.on_phase(|py, calls| (phase.name(),)), nothing, else ());
    }

    fn ends_startup(&self, ack: &AckEvent<'_>, model: &bbr::Model) -> bool {
        ask!(self.ends_startup(|py, calls| (calls.ack(py, ack)?, calls.model(py, model)?)),
            truth, else V1.ends_startup(ack, model))
    }

    fn ends_probe(&self, model: &bbr::Model) -> bool {
        ask!(self.ends_probe(|py, calls| (calls.model(py, model)?,)), truth, else V1.ends_probe(model))
    }

    fn probe_gain(&self, model: &bbr::Model) -> f64 {
        ask!(self.probe_gain(|py, calls| (calls.model(py, model)?,)), gain, else V1.probe_gain(model))
    }

    fn steady_gain(&self, model: &bbr::Model) -> f64 {
        ask!(self.steady_gain(|py, calls| (calls.model(py, model)?,)), gain, else V1.steady_gain(model))
    }

    fn bandwidth(&self, model: &bbr::Model) -> Rate {
        ask!(self.bandwidth(|py, calls| (calls.model(py, model)?,)), bandwidth, else V1.bandwidth(model))
    }

    fn min_rtt_window(&self) -> Duration {
        let answer = |value: &Bound<'_, PyAny>| {
            number::positive(value, "min_rtt_window() (seconds)").map(number::duration)
        };
        ask!(self.min_rtt_window(|py, calls| PyTuple::empty(py)), answer, else V1.min_rtt_window())
    }

    fn path_changes(&self) -> bool {
        ask!(self.path_changes(|py, calls| PyTuple::empty(py)), truth, else V1.path_changes())
    }

    fn probe_rtt_window(&self, model: &bbr::Model) -> Bytes {
        ask!(self.probe_rtt_window(|py, calls| (calls.model(py, model)?,)),
            volume, else V1.probe_rtt_window(model))
    }

    fn cwnd_gain(&self, standard: f64) -> f64 {
        ask!(self.cwnd_gain(|py, calls| (standard,)), gain, else V1.cwnd_gain(standard))
    }

    fn next_window(
        &mut self,
        cwnd: Bytes,
        target: Bytes,
        ack: &AckEvent<'_>,
        model: &bbr::Model,
    ) -> Bytes {
        ask!(self.next_window(|py, calls| (
                cwnd.get(),
                target.get(),
                calls.ack(py, ack)?,
                calls.model(py, model)?,
            )), volume, else V1.next_window(cwnd, target, ack, model))
    }

    fn on_recovery_start(&mut self, cwnd: Bytes, model: &bbr::Model) -> RecoveryStart {
        let answer = |value: &Bound<'_, PyAny>| match value.extract::<&str>() {
            Ok("conserve") => Ok(RecoveryStart::Conserve),
            Ok("shrink") => Ok(RecoveryStart::Shrink),
            Ok("only-lost") => Ok(RecoveryStart::OnlyLost),
            Ok(other) => Err(PyValueError::new_err(format!(
                "on_recovery_start() must be \"conserve\", \"shrink\", \"only-lost\" or a window in bytes, not \"{other}\""
            ))),
            Err(_) => volume(value).map(RecoveryStart::SetWindow),
        };
        ask!(self.on_recovery_start(|py, calls| (cwnd.get(), calls.model(py, model)?)),
            answer, else V1.on_recovery_start(cwnd, model))
    }

    fn shrink(&self, cwnd: Bytes, model: &bbr::Model) -> Bytes {
        ask!(self.shrink(|py, calls| (cwnd.get(), calls.model(py, model)?)),
            volume, else V1.shrink(cwnd, model))
    }

    fn loss_calls_for_probe_rtt(
        &self,
        cwnd: Bytes,
        ack: &AckEvent<'_>,
        model: &bbr::Model,
    ) -> bool {
        ask!(self.loss_calls_for_probe_rtt(|py, calls| (
                cwnd.get(),
                calls.ack(py, ack)?,
                calls.model(py, model)?,
            )), truth, else V1.loss_calls_for_probe_rtt(cwnd, ack, model))
    }

    fn loss_probe_window(&self, model: &bbr::Model) -> Option<Bytes> {
        let answer = |value: &Bound<'_, PyAny>| {
            Some(value)
                .filter(|value| !value.is_none())
                .map(volume)
                .transpose()
        };
        ask!(self.loss_probe_window(|py, calls| (calls.model(py, model)?,)),
            answer, else V1.loss_probe_window(model))
    }
}

impl fmt::Debug for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Decisions")
            .field(&self.calls.borrow().name)
            .finish()
    }
}
