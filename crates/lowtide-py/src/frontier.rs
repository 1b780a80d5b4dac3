//! `lowtide.frontier`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use lowtide_cc::units::Duration;
use lowtide_lab::frontier::{self as lab, Frontier, Question, Row, Swept, TracePath};
use lowtide_lab::json::JsonFrontier;
use lowtide_lab::setting::{Host, Setting, default_buffer_name};
use lowtide_report::figures::{self, Style};
use lowtide_report::report::{FrontierResult, Report};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::drawn::{Draw, Drawn, drawn};
use crate::error;
use crate::known::Known;
use crate::setting::{settings_by, specs_if_any};
use crate::table::{Columns, Table};
use crate::work;

/// Throughput and delay of controllers over links, against a base.
#[pyclass(frozen, extends = Drawn, module = "lowtide", name = "Frontier")]
pub(crate) struct PyFrontier(Arc<Frontier>);

/// The largest ratio that is looked up.
const MAX_RATIO: f64 = 1000.0;

/// One value or several.
fn several<'py>(
    value: Option<Bound<'py, PyAny>>,
    usual: Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match value.filter(|value| !value.is_none()) {
        None => Ok(vec![usual]),
        Some(list) if list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>() => {
            list.try_iter()?.collect()
        }
        Some(one) => Ok(vec![one]),
    }
}

#[pyfunction]
#[pyo3(signature = (controllers=None, /, *, base="bbr", at=None, rtt=None, buffer=None, jobs=0, progress=None, **options))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn frontier(
    py: Python<'_>,
    controllers: Option<Bound<'_, PyAny>>,
    base: &str,
    at: Option<Vec<f64>>,
    rtt: Option<Bound<'_, PyAny>>,
    buffer: Option<Bound<'_, PyAny>>,
    #[pyo3(from_py_with = work::jobs)] jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
    options: Option<Bound<'_, PyDict>>,
) -> PyResult<Py<PyFrontier>> {
    let mut known = Known::default();
    let specs = specs_if_any(controllers.as_ref(), &mut known)?;
    let at = at.unwrap_or_else(|| vec![0.95, 0.97, 1.0]);
    if at
        .iter()
        .any(|ratio| !(*ratio > 0.0 && *ratio <= MAX_RATIO))
    {
        let problem = format!("a ratio is a number above 0 and up to {MAX_RATIO}, as in 0.97");
        return Err(error::argument("at", problem));
    }
    let base = known.contenders.parse(base);
    let base = base.map_err(|e| error::argument("base", e))?;
    let curves = match specs {
        None => known
            .contenders
            .usual()
            .into_iter()
            .map(Swept::of)
            .collect(),
        Some(value) => {
            let mut curves = Vec::new();
            for specs in value {
                let swept = Swept::parse_all(&specs, &known.contenders);
                curves.extend(swept.map_err(|e| error::argument("controllers", e))?);
            }
            curves
        }
    };
    let options = options.unwrap_or_else(|| PyDict::new(py));
    // Traces are read once for all paths.
    let mut resolver = None;
    let mut paths = Vec::new();
    for rtt in several(rtt, PyString::new(py, "40ms").into_any())? {
        for buffer in several(buffer.clone(), py.None().into_bound(py))? {
            let path = options.copy()?;
            path.set_item("rtt", &rtt)?;
            if !buffer.is_none() {
                path.set_item("buffer", &buffer)?;
            }
            let settings = settings_by(&mut resolver, py, Some(&path), &mut known)?;
            paths.push(TracePath {
                rtt: settings.first().map_or(Duration::ZERO, Setting::base_rtt),
                buffer: if buffer.is_none() {
                    default_buffer_name(&settings).to_string()
                } else {
                    buffer.str()?.to_string()
                },
                settings,
            });
        }
    }
    let question = Question {
        base,
        curves,
        paths,
        at,
    };
    let points = question.curves.iter().flat_map(|curve| &curve.points);
    for contender in points.chain([&question.base]) {
        for setting in question.paths.iter().flat_map(|path| &path.settings) {
            Host::check_senders(&setting.run_by(contender)).map_err(error::input)?;
        }
    }
    let done = work::done(py, progress.as_ref(), question.count_runs(), |watch| {
        lab::measure(&question, jobs, watch)
    })?;
    known.check(py)?;
    let frontier = done.map_err(error::run)?;
    let frontier = Arc::new(frontier);
    let base = drawn(rows(&frontier.rows)?, frontier.clone());
    let result = PyFrontier(frontier.clone());
    known.unless_failed(py, base.add_subclass(result), &frontier.failed)
}

/// A row for each controller in each path.
fn rows(rows: &[Row]) -> PyResult<Table> {
    Columns::of(rows)
        .text("controller", |row| &row.controller)
        .real("rtt_ms", |row| row.rtt_ms)
        .text("buffer", |row| &row.buffer)
        .real("throughput_ratio", |row| row.summary.throughput_ratio)
        .real("throughput_ratio_min", |row| {
            row.summary.throughput_ratio_min
        })
        .real("queue_p95_ratio", |row| row.summary.queue_p95_ratio)
        .real("queue_p95_ratio_max", |row| row.summary.queue_p95_ratio_max)
        .whole("dominated_on", |row| row.dominated_on.len() as i64)
        .table()
}

impl Draw for Frontier {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&JsonFrontier::new(self, None))
    }

    fn page(&self) -> io::Result<String> {
        let report = Report {
            title: self.title(),
            frontiers: vec![FrontierResult::new(self).map_err(io::Error::other)?],
            ..Report::default()
        };
        report.html()
    }

    fn figures(&self, folder: &Path, style: &Style) -> io::Result<()> {
        figures::write_frontier(self, folder, style)
    }
}

#[pymethods]
impl PyFrontier {
    /// A row for each link.
    #[getter]
    fn links(&self) -> PyResult<Table> {
        let rows = self.0.rows.iter();
        let rows = rows.flat_map(|row| row.on_traces.iter().map(move |on| (row, on)));
        let rows: Vec<_> = rows.collect();
        Columns::of(&rows)
            .text("controller", |(row, _)| &row.controller)
            .real("rtt_ms", |(row, _)| row.rtt_ms)
            .text("buffer", |(row, _)| &row.buffer)
            .text("link", |(_, on)| &on.trace)
            .real("throughput_mbps", |(_, on)| on.throughput_mbps)
            .real("queue_delay_ms_p95", |(_, on)| on.queue_delay_ms.p95)
            .real("throughput_ratio", |(_, on)| on.throughput_ratio)
            .real("queue_p95_ratio", |(_, on)| on.queue_p95_ratio)
            .table()
    }

    /// The delay of each swept controller where it reaches given throughputs.
    #[getter]
    fn at(&self) -> PyResult<Table> {
        let curves = self.0.curves.iter();
        let rows = curves.flat_map(|curve| curve.at.iter().map(move |at| (curve, at)));
        let rows: Vec<_> = rows.collect();
        Columns::of(&rows)
            .text("controller", |(curve, _)| &curve.controller)
            .real("rtt_ms", |(curve, _)| curve.rtt_ms)
            .text("buffer", |(curve, _)| &curve.buffer)
            .real("throughput_ratio", |(_, at)| at.throughput_ratio)
            .real("queue_p95_ratio", |(_, at)| {
                at.queue_p95_ratio.unwrap_or(f64::NAN)
            })
            .table()
    }

    fn __repr__(&self) -> String {
        format!("<lowtide.Frontier: {}>", self.0.title())
    }
}
