//! `lowtide.simulate`: one run over time.

use lowtide_cc::units::Bytes;
use lowtide_lab::curves;
use lowtide_lab::metrics::{CATALOGUE, Metrics, Named, column_name};
use lowtide_lab::run::{self, Keep, Run};
use lowtide_lab::setting::Setting;
use lowtide_lab::timeline::{Envelope, FlowBin, LinkBin, Timeline, Track};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error;
use crate::known::Known;
use crate::setting::{setting_of_one, warn_of_missing_timestamps};
use crate::table::{Columns, Table};
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
    /// What was measured of it, by the names of columns, as in `rtt_ms_p95`.
    #[pyo3(get)]
    metrics: Named,
    /// The run over time.
    #[pyo3(get)]
    series: Py<Table>,
    /// When which phase of the controller began, seconds.
    #[pyo3(get)]
    phases: Vec<(f64, String)>,
    /// When which mode of its bandwidth filter began, seconds.
    #[pyo3(get)]
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
    let setting = setting_of_one(py, controller.as_ref(), options.as_ref(), &mut known)?;
    if setting.seeds.count != 1 {
        let problem = "one run has one seed; say which with 'seed'";
        return Err(error::argument("seeds", problem));
    }
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
fn envelope<B>(
    columns: &mut Columns<'_, (usize, &B)>,
    name: &str,
    of: impl Fn(&B) -> &Envelope + Copy,
) {
    let ends = move |bin: &B| of(bin).get();
    columns
        .real(&format!("{name}_min"), |(_, bin)| {
            ends(bin).map_or(f64::NAN, |e| e.0.into())
        })
        .real(&format!("{name}_max"), |(_, bin)| {
            ends(bin).map_or(f64::NAN, |e| e.1.into())
        });
}

/// When a bin begins, s.
fn begin(timeline: &Timeline, n: usize) -> f64 {
    (timeline.bin() * n as u64).as_secs_f64()
}

fn of_flow(timeline: &Timeline, bins: &[FlowBin]) -> PyResult<Table> {
    let seconds = timeline.bin().as_secs_f64();
    let mbps = |bytes: Bytes| bytes.as_f64() * 8.0 / 1e6 / seconds;
    let rows: Vec<_> = bins.iter().enumerate().collect();
    let mut columns = Columns::of(&rows);
    columns
        .real("time_s", |(n, _)| begin(timeline, *n))
        .real("throughput_mbps", |(_, bin)| mbps(bin.delivered))
        .real("sent_mbps", |(_, bin)| mbps(bin.sent))
        .whole("lost", |(_, bin)| bin.lost.into())
        .whole("resent", |(_, bin)| bin.resent.into())
        .whole("timeouts", |(_, bin)| bin.timeouts.into());
    envelope(&mut columns, "rtt_ms", |bin| &bin.rtt);
    envelope(&mut columns, "cwnd_kb", |bin| &bin.cwnd);
    envelope(&mut columns, "inflight_kb", |bin| &bin.inflight);
    envelope(&mut columns, "estimate_mbps", |bin| &bin.bandwidth);
    columns.table()
}

fn of_link(timeline: &Timeline, capacity: &[f64]) -> PyResult<Table> {
    let rows: Vec<(usize, &LinkBin)> = timeline.link().iter().enumerate().collect();
    let mut columns = Columns::of(&rows);
    columns
        .real("time_s", |(n, _)| begin(timeline, *n))
        .real("capacity_mbps", |(n, _)| capacity[*n]);
    envelope(&mut columns, "queue_kb", |bin| &bin.queue);
    envelope(&mut columns, "sojourn_ms", |bin| &bin.sojourn);
    columns.whole("drops", |(_, bin)| bin.drops.into());
    columns.table()
}

/// When what began.
fn track(track: &Track) -> Vec<(f64, String)> {
    let states = track.states();
    let changes = track.changes().iter();
    changes
        .map(|(at, state)| (at.as_secs_f64(), states[usize::from(*state)].name.clone()))
        .collect()
}

/// The metrics that exist, by the names of columns.
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
    fn link(&self) -> PyResult<Table> {
        of_link(&self.timeline, &self.capacity)
    }

    /// All flows together over time.
    #[getter]
    fn total(&self) -> PyResult<Table> {
        of_flow(&self.timeline, self.timeline.total())
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
                series: Py::new(py, of_flow(&self.timeline, &flow.bins)?)?,
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
    fn __repr__(&self) -> String {
        format!("<lowtide.RunFlow {}>", self.name)
    }
}
