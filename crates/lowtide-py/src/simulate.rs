//! `lowtide.simulate`: one run over time.

use lowtide_cc::units::Bytes;
use lowtide_lab::curves;
use lowtide_lab::metrics::{CATALOGUE, Metrics, Named, column_name};
use lowtide_lab::run::{self, Keep, Run};
use lowtide_lab::setting::{Host, Setting};
use lowtide_lab::timeline::{Envelope, FlowBin, LinkBin, Timeline, Track};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error;
use crate::known::Known;
use crate::setting::{Asked, contenders, specs_if_any, warn_of_missing_timestamps};
use crate::table::{Columns, Table, made};
use crate::work;

/// One run over time.
#[pyclass(frozen, module = "lowtide", name = "Run")]
pub(crate) struct PyRun {
    setting: Setting,
    run: Run,
    timeline: Timeline,
    capacity: Vec<f64>,
}

/// A flow of a run.
#[pyclass(frozen, module = "lowtide", name = "RunFlow")]
pub(crate) struct PyFlow {
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    start_s: f64,
    #[pyo3(get)]
    end_s: Option<f64>,
    metrics: Named,
    series: Py<Table>,
    phases: Vec<(f64, String)>,
    modes: Vec<(f64, String)>,
}

#[pyfunction]
#[pyo3(signature = (controller=None, /, *, progress=None, **options))]
pub(crate) fn simulate(
    py: Python<'_>,
    controller: Option<Bound<'_, PyAny>>,
    progress: Option<Bound<'_, PyAny>>,
    options: Option<Bound<'_, PyDict>>,
) -> PyResult<PyRun> {
    let mut known = Known::default();
    let specs = specs_if_any(controller.as_ref(), &mut known)?;
    let mut request = Asked::new(py, options.as_ref(), &mut known)?;
    let mut settings = request.settings(py)?;
    let (Some(mut setting), true) = (settings.pop(), settings.is_empty()) else {
        return Err(error::input(
            py,
            "trace: one run has one link; name one trace",
        ));
    };
    if setting.seeds.count != 1 {
        return Err(error::input(
            py,
            "seeds: one run has one seed; say which with 'seed'",
        ));
    }
    if controller.is_some() {
        let asked = contenders(specs.as_deref(), &known, setting.host, py)?;
        let [contender] = asked.as_slice() else {
            let problem =
                "controllers: one run has one of them here; say others with flows=[Flow(…)]";
            return Err(error::input(py, problem));
        };
        setting = setting.run_by(contender);
    }
    Host::check_senders(&setting).map_err(|e| error::input(py, e))?;
    warn_of_missing_timestamps(py, std::slice::from_ref(&setting))?;
    let seed = setting.seeds.first;
    let done = work::done(py, progress.as_ref(), 1, |watch| {
        let run = run::run_until(&setting, seed, Keep::Timeline, &watch.stop())?;
        watch.on_run();
        let details = run.details.as_ref();
        let timeline = details.and_then(|details| details.timeline.clone());
        let timeline = timeline.ok_or("the run has no timeline")?;
        let link = setting.link(seed).map_err(|e| e.to_string())?;
        let capacity = curves::capacity(&link, timeline.bin(), timeline.link().len());
        Ok::<_, String>((run, timeline, capacity))
    })?;
    known.check(py)?;
    let (run, timeline, capacity) = done.map_err(|e| known.run_error(py, &e))?;
    Ok(PyRun {
        setting,
        run,
        timeline,
        capacity,
    })
}

/// Smallest and largest of each bin, in two columns.
fn envelope<'a, B: 'a>(
    columns: &mut Columns,
    name: &str,
    bins: &'a [B],
    of: impl Fn(&B) -> &Envelope,
) {
    let ends: Vec<(f64, f64)> = bins
        .iter()
        .map(|bin| of(bin).get())
        .map(|ends| ends.map_or((f64::NAN, f64::NAN), |(a, b)| (a.into(), b.into())))
        .collect();
    columns.real(&format!("{name}_min"), ends.iter().map(|ends| ends.0));
    columns.real(&format!("{name}_max"), ends.iter().map(|ends| ends.1));
}

/// The begins of bins.
fn times(columns: &mut Columns, timeline: &Timeline, count: usize) {
    let bin = timeline.bin();
    columns.real("time_s", (0..count as u64).map(|n| (bin * n).as_secs_f64()));
}

fn of_flow(timeline: &Timeline, bins: &[FlowBin]) -> Columns {
    let mut columns = Columns::default();
    times(&mut columns, timeline, bins.len());
    let seconds = timeline.bin().as_secs_f64();
    let mbps = |bytes: Bytes| bytes.as_f64() * 8.0 / 1e6 / seconds;
    columns.real(
        "throughput_mbps",
        bins.iter().map(|bin| mbps(bin.delivered)),
    );
    columns.real("sent_mbps", bins.iter().map(|bin| mbps(bin.sent)));
    columns.whole("lost", bins.iter().map(|bin| bin.lost.into()));
    columns.whole("resent", bins.iter().map(|bin| bin.resent.into()));
    columns.whole("timeouts", bins.iter().map(|bin| bin.timeouts.into()));
    envelope(&mut columns, "rtt_ms", bins, |bin| &bin.rtt);
    envelope(&mut columns, "cwnd_kb", bins, |bin| &bin.cwnd);
    envelope(&mut columns, "inflight_kb", bins, |bin| &bin.inflight);
    envelope(&mut columns, "estimate_mbps", bins, |bin| &bin.bandwidth);
    columns
}

fn of_link(timeline: &Timeline, capacity: &[f64], bins: &[LinkBin]) -> Columns {
    let mut columns = Columns::default();
    times(&mut columns, timeline, bins.len());
    columns.real("capacity_mbps", capacity.iter().copied());
    envelope(&mut columns, "queue_kb", bins, |bin| &bin.queue);
    envelope(&mut columns, "sojourn_ms", bins, |bin| &bin.sojourn);
    columns.whole("drops", bins.iter().map(|bin| bin.drops.into()));
    columns
}

/// When what began.
fn track(track: &Track) -> Vec<(f64, String)> {
    let states = track.states();
    let changes = track.changes().iter();
    changes
        .map(|(at, state)| (at.as_secs_f64(), states[usize::from(*state)].name.clone()))
        .collect()
}

/// Those metrics that exist, by the names of columns.
fn existing(metrics: &Metrics) -> Named {
    let all = CATALOGUE
        .iter()
        .map(|metric| (metric.key, metrics[metric.key]));
    let existing = all.filter(|(_, value)| value.is_finite());
    existing
        .map(|(key, value)| (column_name(key), value))
        .collect()
}

#[pymethods]
impl PyRun {
    /// What was measured of all flows together, by the names of columns, as in `rtt_ms_p95`.
    #[getter]
    fn metrics(&self) -> Named {
        let extra = self.run.measured.extra.iter();
        let mut all = existing(&self.run.measured.total);
        all.extend(extra.map(|(name, value)| (column_name(name), *value)));
        all
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.run.seed
    }

    #[getter]
    fn link_name(&self) -> &str {
        &self.setting.link_name
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.setting.duration.as_secs_f64()
    }

    #[getter]
    fn simulated_packets(&self) -> u64 {
        self.run
            .details
            .as_ref()
            .map_or(0, |details| details.packets)
    }

    /// Width of a bin of the series.
    #[getter]
    fn bin_s(&self) -> f64 {
        self.timeline.bin().as_secs_f64()
    }

    /// The bottleneck over time.
    #[getter]
    fn link(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        made(
            py,
            of_link(&self.timeline, &self.capacity, self.timeline.link()),
        )
    }

    /// All flows together over time.
    #[getter]
    fn total(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        made(py, of_flow(&self.timeline, self.timeline.total()))
    }

    /// The first flows, at most sixteen.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Vec<PyFlow>> {
        let lives = self.setting.lives();
        let flows = self.timeline.flows().iter().zip(&self.run.measured.flows);
        let flows = flows.zip(&lives).map(|((flow, metrics), life)| {
            Ok(PyFlow {
                name: life.name.clone(),
                start_s: flow.start.as_secs_f64(),
                end_s: flow.end.map(|end| end.as_secs_f64()),
                metrics: existing(metrics),
                series: made(py, of_flow(&self.timeline, &flow.bins))?,
                phases: track(&flow.phases),
                modes: track(&flow.modes),
            })
        });
        flows.collect()
    }

    /// RTTs as a distribution: milliseconds, share up to there.
    #[getter]
    fn rtt_cdf(&self) -> Vec<(f64, f64)> {
        let details = self.run.details.as_ref();
        details.map_or_else(Vec::new, |details| details.rtt.cdf())
    }

    fn __repr__(&self) -> String {
        let total = &self.run.measured.total;
        let controllers = self.setting.controllers().join(" + ");
        format!(
            "<lowtide.Run of {controllers} on {}: {:.2} Mbit/s, p95 RTT {:.1} ms>",
            self.setting.link_name, total["throughput_mbps"], total["rtt_ms.p95"]
        )
    }
}

#[pymethods]
impl PyFlow {
    /// What was measured of it, by the names of columns, as in `rtt_ms_p95`.
    #[getter]
    fn metrics(&self) -> Named {
        self.metrics.clone()
    }

    /// It over time.
    #[getter]
    fn series(&self, py: Python<'_>) -> Py<Table> {
        self.series.clone_ref(py)
    }

    /// When which phase of the controller began, seconds.
    #[getter]
    fn phases(&self) -> Vec<(f64, String)> {
        self.phases.clone()
    }

    /// When which mode of its bandwidth filter began, seconds.
    #[getter]
    fn modes(&self) -> Vec<(f64, String)> {
        self.modes.clone()
    }

    fn __repr__(&self) -> String {
        format!("<lowtide.RunFlow {}>", self.name)
    }
}
