//! `lowtide.frontier`.

use std::path::PathBuf;

use lowtide_cc::units::Duration;
use lowtide_lab::frontier::{self as lab, Frontier, Place, Question, Row, Swept};
use lowtide_lab::json::JsonFrontier;
use lowtide_lab::setting::{Host, Setting, default_buffer_name};
use lowtide_report::figures;
use lowtide_report::report::{FrontierResult, Report};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::compare::{failed as sentence, framed, unwritten};
use crate::error;
use crate::known::Known;
use crate::setting::{Asked, specs_if_any};
use crate::style::style;
use crate::table::{Columns, Table, Tabled, made};
use crate::work;

/// Throughput and delay of controllers over links, against a base.
#[pyclass(frozen, extends = Tabled, module = "lowtide", name = "Frontier")]
pub(crate) struct PyFrontier {
    frontier: Frontier,
}

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
        let problem = format!("at: a ratio is a number above 0 and up to {MAX_RATIO}, as in 0.97");
        return Err(error::input(py, problem));
    }
    let base = known.contenders().parse(base);
    let base = base.map_err(|e| error::input(py, format!("base: {e}")))?;
    let curves = match specs {
        None => known
            .contenders()
            .usual()
            .into_iter()
            .map(Swept::of)
            .collect(),
        Some(value) => {
            let mut curves = Vec::new();
            for specs in value {
                let swept = Swept::parse_all(&specs, known.contenders());
                curves.extend(swept.map_err(|e| error::input(py, format!("controllers: {e}")))?);
            }
            curves
        }
    };
    let options = options.unwrap_or_else(|| PyDict::new(py));
    let mut request: Option<Asked> = None;
    let mut places = Vec::new();
    for rtt in several(rtt, PyString::new(py, "40ms").into_any())? {
        for buffer in several(buffer.clone(), py.None().into_bound(py))? {
            let place = options.copy()?;
            place.set_item("rtt", &rtt)?;
            if !buffer.is_none() {
                place.set_item("buffer", &buffer)?;
            }
            // Traces are read once for all places.
            let mut asked = Asked::new(py, Some(&place), &mut known)?;
            if let Some(earlier) = request.take() {
                asked.resolver = earlier.resolver;
            }
            let settings = asked.settings(py)?;
            request = Some(asked);
            places.push(Place {
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
        places,
        at,
    };
    let points = question.curves.iter().flat_map(|curve| &curve.points);
    for contender in points.chain([&question.base]) {
        for setting in question.places.iter().flat_map(|place| &place.settings) {
            Host::check_senders(&setting.run_by(contender)).map_err(|e| error::input(py, e))?;
        }
    }
    let done = work::done(py, progress.as_ref(), question.count_runs(), |watch| {
        lab::measure(&question, jobs, watch)
    })?;
    known.check(py)?;
    let frontier = done.map_err(|e| error::run(py, e))?;
    let cause = known.cause(py, frontier.failed.iter().map(|f| f.reason.as_str()));
    let table = Tabled::new(py, rows(&frontier.rows))?;
    let failed: Vec<String> = frontier.failed.iter().map(sentence).collect();
    error::unless_failed(py, (PyFrontier { frontier }, table), &failed, cause)
}

fn rows(rows: &[Row]) -> Columns {
    let mut columns = Columns::default();
    columns.text("controller", rows.iter().map(|row| &row.controller));
    columns.real("rtt_ms", rows.iter().map(|row| row.rtt_ms));
    columns.text("buffer", rows.iter().map(|row| &row.buffer));
    columns.real(
        "throughput_ratio",
        rows.iter().map(|row| row.summary.throughput_ratio),
    );
    columns.real(
        "throughput_ratio_min",
        rows.iter().map(|row| row.summary.throughput_ratio_min),
    );
    columns.real(
        "queue_p95_ratio",
        rows.iter().map(|row| row.summary.queue_p95_ratio),
    );
    columns.real(
        "queue_p95_ratio_max",
        rows.iter().map(|row| row.summary.queue_p95_ratio_max),
    );
    columns.whole(
        "dominated_on",
        rows.iter().map(|row| row.dominated_on.len() as i64),
    );
    columns
}

impl PyFrontier {
    fn page(&self, py: Python<'_>) -> PyResult<Report<'_>> {
        let result = FrontierResult::new(&self.frontier).map_err(|e| error::run(py, e))?;
        Ok(Report {
            title: self.frontier.title(),
            frontiers: vec![result],
            ..Report::default()
        })
    }
}

#[pymethods]
impl PyFrontier {
    /// A row for each link.
    #[getter]
    fn links(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let all: Vec<_> = self
            .frontier
            .rows
            .iter()
            .flat_map(|row| row.on_traces.iter().map(move |on| (row, on)))
            .collect();
        let mut columns = Columns::default();
        columns.text("controller", all.iter().map(|(row, _)| &row.controller));
        columns.real("rtt_ms", all.iter().map(|(row, _)| row.rtt_ms));
        columns.text("buffer", all.iter().map(|(row, _)| &row.buffer));
        columns.text("link", all.iter().map(|(_, on)| &on.trace));
        columns.real(
            "throughput_mbps",
            all.iter().map(|(_, on)| on.throughput_mbps),
        );
        columns.real(
            "queue_delay_ms_p95",
            all.iter().map(|(_, on)| on.queue_delay_ms.p95),
        );
        columns.real(
            "throughput_ratio",
            all.iter().map(|(_, on)| on.throughput_ratio),
        );
        columns.real(
            "queue_p95_ratio",
            all.iter().map(|(_, on)| on.queue_p95_ratio),
        );
        made(py, columns)
    }

    /// The delay of each swept controller where it reaches given throughputs.
    #[getter]
    fn at(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let curves = self.frontier.curves.iter();
        let all: Vec<_> = curves
            .flat_map(|c| c.at.iter().map(move |at| (c, at)))
            .collect();
        let mut columns = Columns::default();
        columns.text("controller", all.iter().map(|(curve, _)| &curve.controller));
        columns.real("rtt_ms", all.iter().map(|(curve, _)| curve.rtt_ms));
        columns.text("buffer", all.iter().map(|(curve, _)| &curve.buffer));
        columns.real(
            "throughput_ratio",
            all.iter().map(|(_, at)| at.throughput_ratio),
        );
        let delays = all
            .iter()
            .map(|(_, at)| at.queue_p95_ratio.unwrap_or(f64::NAN));
        columns.real("queue_p95_ratio", delays);
        made(py, columns)
    }

    /// What `lowtide frontier --json --no-timing` prints.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let text = serde_json::to_string_pretty(&JsonFrontier::new(&self.frontier, None));
        text.map_err(|e| error::run(py, e))
    }

    /// Writes the report, `index.html`, into a folder; its path.
    fn report(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        let path = folder.join("index.html");
        let page = self.page(py)?;
        let written = py.detach(|| page.write(&path));
        written.map_err(|e| unwritten(py, &path, e))?;
        Ok(path)
    }

    /// Writes the frontier of each place as SVG and PNG into a folder.
    #[pyo3(signature = (folder, *, size=None, formats=None, font=None))]
    fn figures(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        size: Option<&str>,
        formats: Option<Vec<String>>,
        font: Option<u32>,
    ) -> PyResult<()> {
        let style = style(py, size, formats, font)?;
        let written = py.detach(|| figures::write_frontier(&self.frontier, &folder, &style));
        written.map_err(|e| unwritten(py, &folder, e))
    }

    fn __repr__(&self) -> String {
        format!("<lowtide.Frontier: {}>", self.frontier.title())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let page = slf.get().page(py)?;
        let page = py.detach(|| page.html()).map_err(|e| error::run(py, e))?;
        Ok(slf.as_super().get().html() + &framed(&page))
    }
}
