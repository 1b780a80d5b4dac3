//! BBR with an estimator or a policy written in Python. Methods that a class does not override are never called
//! across the boundary.

use std::cell::Cell;
use std::fmt;

use lowtide_cc::controller::{AckEvent, PacketSent};
use lowtide_cc::controllers::bbr::{
    self, BandwidthEstimator, MaxBandwidth, Options, Phase, Policy, RecoveryStart, V1,
};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::config::Config;
use super::events::{self, Ack, Reused};
use super::failure::Blamed;
use super::methods::Methods;
use super::model::Model;
use super::number::{self, Zero, seconds};

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

/// The base class of parts of one kind.
fn class<'py>(py: Python<'py>, base: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("lowtide.parts")?.getattr(base)?.cast_into()?)
}

/// The name of a part's class.
fn kind(py: Python<'_>, part: &Bound<'_, PyAny>, base: &str, argument: &str) -> PyResult<String> {
    let class = class(py, base)?;
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

impl Bbr {
    pub(super) fn build(
        &self,
        py: Python<'_>,
        config: &lowtide_cc::Config,
        blamed: &Blamed,
    ) -> PyResult<Box<dyn lowtide_cc::Controller>> {
        let own = |given: &Option<Py<PyAny>>, base| {
            let given = given.as_ref();
            let part = given.map(|given| Part::new(given.bind(py), base, config, blamed));
            part.transpose()
        };
        let estimator = own(&self.estimator, "BandwidthEstimator")?.map(Estimator::new);
        let policy = own(&self.policy, "Policy")?.map(Decisions);
        let options = self.options;
        Ok(match (estimator.transpose()?, policy) {
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

/// A part of Python's: its methods, and what they are told.
struct Part {
    /// The name of its class.
    kind: String,
    methods: Methods,
    blamed: Blamed,
    /// When the last event was. Some of a policy's methods are asked through a shared reference.
    now: Cell<Time>,
    ack: Reused<Ack>,
    sent: Reused<events::PacketSent>,
    model: Reused<Model>,
}

impl Part {
    /// A flow's own.
    fn new(
        given: &Bound<'_, PyAny>,
        base: &str,
        config: &lowtide_cc::Config,
        blamed: &Blamed,
    ) -> PyResult<Self> {
        let py = given.py();
        let class = class(py, base)?;
        let object = if given.is_instance(&class)? {
            py.import("copy")?.call_method1("deepcopy", (given,))?
        } else {
            given.call1((Config(*config),))?
        };
        if !object.is_instance(&class)? {
            let found = number::kind_of(&object);
            let problem = format!("lowtide.Bbr wants a lowtide.{base}, and was given {found}");
            return Err(PyTypeError::new_err(problem));
        }
        Ok(Self {
            kind: number::kind_of(&object),
            methods: Methods::overridden(&object, &class)?,
            blamed: blamed.clone(),
            now: Cell::new(config.now),
            ack: Reused::default(),
            sent: Reused::default(),
            model: Reused::default(),
        })
    }

    fn model(&self, py: Python<'_>, model: &bbr::Model) -> PyResult<Py<Model>> {
        self.model.fill(py, |m| m.0 = *model, || Model(*model))
    }

    fn ack(&self, py: Python<'_>, ack: &AckEvent<'_>) -> PyResult<Py<Ack>> {
        self.ack.fill(py, |a| a.set(ack), || Ack::of(ack))
    }

    /// What a method answers; `None` where the class does not override it.
    fn ask<A, R>(
        &self,
        method: &str,
        arguments: impl FnOnce(Python<'_>) -> PyResult<A>,
        answer: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        let at = (method, self.now.get());
        self.methods.ask(&self.blamed, at, arguments, answer)
    }

    /// The answer of a method that is given the model alone.
    fn ask_of<R>(
        &self,
        model: &bbr::Model,
        method: &str,
        answer: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        self.ask(method, |py| Ok((self.model(py, model)?,)), answer)
    }

    fn on_ack(&self, ack: &AckEvent<'_>, model: &bbr::Model) {
        self.now.set(ack.now);
        let arguments = |py: Python<'_>| Ok((self.ack(py, ack)?, self.model(py, model)?));
        self.ask("on_ack", arguments, nothing);
    }

    fn on_phase(&self, phase: Phase) {
        self.ask("on_phase", |_| Ok((phase.name(),)), nothing);
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Part").field(&self.kind).finish()
    }
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
    let name = number::kind_of(value);
    let wrong =
        |_| PyTypeError::new_err(format!("what it returns must be True or False, not {name}"));
    value.is_truthy().map_err(wrong)
}

/// An estimator of Python's.
#[derive(Debug)]
struct Estimator {
    part: Part,
    bandwidth: Rate,
    next_wakeup: Option<Time>,
}

impl Estimator {
    fn new(part: Part) -> PyResult<Self> {
        if !part.methods.has("bandwidth") {
            return Err(PyTypeError::new_err(format!(
                "{} has no bandwidth(): it is what BBR asks it for",
                part.kind
            )));
        }
        Ok(Self {
            part,
            bandwidth: Rate::ZERO,
            next_wakeup: None,
        })
    }

    /// After an event of its own.
    fn refresh(&mut self) {
        let estimate = self.part.ask("bandwidth", |_| Ok(()), bandwidth);
        self.bandwidth = estimate.unwrap_or(Rate::ZERO);
        let now = self.part.now.get();
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
        let next = self.part.ask("next_wakeup", |_| Ok(()), at);
        self.next_wakeup = next.flatten();
    }
}

impl BandwidthEstimator for Estimator {
    fn on_packet_sent(&mut self, sent: &PacketSent, model: &bbr::Model) {
        let part = &self.part;
        part.now.set(sent.now);
        let arguments = |py: Python<'_>| {
            let told = part
                .sent
                .fill(py, |s| s.0 = *sent, || events::PacketSent(*sent))?;
            Ok((told, part.model(py, model)?))
        };
        part.ask("on_packet_sent", arguments, nothing);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &bbr::Model) {
        self.part.on_ack(ack, model);
        self.refresh();
    }

    fn on_phase(&mut self, phase: Phase) {
        self.part.on_phase(phase);
    }

    fn on_new_path(&mut self) {
        self.part.ask("on_new_path", |_| Ok(()), nothing);
        self.refresh();
    }

    fn on_wakeup(&mut self, now: Time, model: &bbr::Model) {
        let part = &self.part;
        part.now.set(now);
        self.next_wakeup = None;
        let arguments = |py: Python<'_>| Ok((seconds(now), part.model(py, model)?));
        part.ask("on_wakeup", arguments, nothing);
        self.refresh();
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.next_wakeup
    }

    fn bandwidth(&self) -> Rate {
        self.bandwidth
    }
}

/// A policy of Python's: what its class does not override, BBR v1 answers.
#[derive(Debug)]
struct Decisions(Part);

impl Policy for Decisions {
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &bbr::Model) {
        self.0.on_ack(ack, model);
    }

    fn on_phase(&mut self, phase: Phase) {
        self.0.on_phase(phase);
    }

    fn ends_startup(&self, ack: &AckEvent<'_>, model: &bbr::Model) -> bool {
        let arguments = |py: Python<'_>| Ok((self.0.ack(py, ack)?, self.0.model(py, model)?));
        let own = self.0.ask("ends_startup", arguments, truth);
        own.unwrap_or_else(|| V1.ends_startup(ack, model))
    }

    fn ends_probe(&self, model: &bbr::Model) -> bool {
        let own = self.0.ask_of(model, "ends_probe", truth);
        own.unwrap_or_else(|| V1.ends_probe(model))
    }

    fn probe_gain(&self, model: &bbr::Model) -> f64 {
        let own = self.0.ask_of(model, "probe_gain", gain);
        own.unwrap_or_else(|| V1.probe_gain(model))
    }

    fn steady_gain(&self, model: &bbr::Model) -> f64 {
        let own = self.0.ask_of(model, "steady_gain", gain);
        own.unwrap_or_else(|| V1.steady_gain(model))
    }

    fn bandwidth(&self, model: &bbr::Model) -> Rate {
        let own = self.0.ask_of(model, "bandwidth", bandwidth);
        own.unwrap_or_else(|| V1.bandwidth(model))
    }

    fn min_rtt_window(&self) -> Duration {
        let answer = |value: &Bound<'_, PyAny>| {
            number::positive(value, "min_rtt_window() (seconds)").map(number::duration)
        };
        let own = self.0.ask("min_rtt_window", |_| Ok(()), answer);
        own.unwrap_or_else(|| V1.min_rtt_window())
    }

    fn path_changes(&self) -> bool {
        let own = self.0.ask("path_changes", |_| Ok(()), truth);
        own.unwrap_or_else(|| V1.path_changes())
    }

    fn probe_rtt_window(&self, model: &bbr::Model) -> Bytes {
        let own = self.0.ask_of(model, "probe_rtt_window", volume);
        own.unwrap_or_else(|| V1.probe_rtt_window(model))
    }

    fn cwnd_gain(&self, standard: f64) -> f64 {
        let own = self.0.ask("cwnd_gain", |_| Ok((standard,)), gain);
        own.unwrap_or_else(|| V1.cwnd_gain(standard))
    }

    fn next_window(
        &mut self,
        cwnd: Bytes,
        target: Bytes,
        ack: &AckEvent<'_>,
        model: &bbr::Model,
    ) -> Bytes {
        let arguments = |py: Python<'_>| {
            let (ack, model) = (self.0.ack(py, ack)?, self.0.model(py, model)?);
            Ok((cwnd.get(), target.get(), ack, model))
        };
        let own = self.0.ask("next_window", arguments, volume);
        own.unwrap_or_else(|| V1.next_window(cwnd, target, ack, model))
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
        let arguments = |py: Python<'_>| Ok((cwnd.get(), self.0.model(py, model)?));
        let own = self.0.ask("on_recovery_start", arguments, answer);
        own.unwrap_or_else(|| V1.on_recovery_start(cwnd, model))
    }

    fn shrink(&self, cwnd: Bytes, model: &bbr::Model) -> Bytes {
        let arguments = |py: Python<'_>| Ok((cwnd.get(), self.0.model(py, model)?));
        let own = self.0.ask("shrink", arguments, volume);
        own.unwrap_or_else(|| V1.shrink(cwnd, model))
    }

    fn loss_calls_for_probe_rtt(
        &self,
        cwnd: Bytes,
        ack: &AckEvent<'_>,
        model: &bbr::Model,
    ) -> bool {
        let arguments = |py: Python<'_>| {
            let (ack, model) = (self.0.ack(py, ack)?, self.0.model(py, model)?);
            Ok((cwnd.get(), ack, model))
        };
        let own = self.0.ask("loss_calls_for_probe_rtt", arguments, truth);
        own.unwrap_or_else(|| V1.loss_calls_for_probe_rtt(cwnd, ack, model))
    }

    fn loss_probe_window(&self, model: &bbr::Model) -> Option<Bytes> {
        let answer = |value: &Bound<'_, PyAny>| {
            Some(value)
                .filter(|value| !value.is_none())
                .map(volume)
                .transpose()
        };
        let own = self.0.ask_of(model, "loss_probe_window", answer);
        own.unwrap_or_else(|| V1.loss_probe_window(model))
    }
}
