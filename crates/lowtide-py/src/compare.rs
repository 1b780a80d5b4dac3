//! `lowtide.compare`.

use std::path::PathBuf;

use lowtide_cc::registry::unknown;
use lowtide_lab::compare::{self as lab, Comparison, Entry, Options, Role};
use lowtide_lab::contender::Contender;
use lowtide_lab::files::Draft;
use lowtide_lab::json::JsonComparison;
use lowtide_lab::metrics::{CATALOGUE, Metrics, Of, column_name};
use lowtide_lab::run::FailedRun;
use lowtide_lab::setting::Setting;
use lowtide_report::figures;
use lowtide_report::qlog::{self, Version};
use lowtide_report::report::Report;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error;
use crate::known::Known;
use crate::setting::{Asked, contenders, specs_if_any, warn_of_missing_timestamps};
use crate::style::style;
use crate::table::{Columns, Table, Tabled, escaped, made};
use crate::work;

/// Controllers side by side on one link, or on several.
#[pyclass(frozen, extends = Tabled, module = "lowtide", name = "Comparison")]
pub(crate) struct PyComparison {
    done: Vec<(Setting, Comparison)>,
    asked: Vec<Contender>,
    has_timelines: bool,
}

/// A column for each metric that a single flow can have.
pub(crate) fn metric_columns<'a>(
    columns: &mut Columns,
    rows: impl Iterator<Item = &'a Metrics> + Clone,
) {
    for metric in CATALOGUE.iter().filter(|metric| metric.of == Of::Flows) {
        columns.real(
            &column_name(metric.key),
            rows.clone().map(|row| row[metric.key]),
        );
    }
}

pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Limit => "limit",
        Role::Bound => "bound",
        Role::Contender => "controller",
        Role::Floor => "best window",
    }
}

/// A run that failed, in a sentence.
pub(crate) fn failed(run: &FailedRun) -> String {
    format!("{}, seed {}: {}", run.name, run.seed, run.reason)
}

#[pyfunction]
#[pyo3(signature = (controllers=None, /, *, jobs=0, progress=None, over_time=true, **options))]
pub(crate) fn compare(
    py: Python<'_>,
    controllers: Option<Bound<'_, PyAny>>,
    #[pyo3(from_py_with = work::jobs)] jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
    over_time: bool,
    options: Option<Bound<'_, PyDict>>,
) -> PyResult<Py<PyComparison>> {
    let mut known = Known::default();
    let specs = specs_if_any(controllers.as_ref(), &mut known)?;
    let mut request = Asked::new(py, options.as_ref(), &mut known)?;
    let settings = request.settings(py)?;
    let settings: Result<Vec<_>, _> = py.detach(|| {
        settings
            .into_iter()
            .map(Setting::with_mean_in_name)
            .collect()
    });
    let settings = settings.map_err(|e| error::input(py, e))?;
    let host = settings.first().map(|s| s.host).unwrap_or_default();
    let asked = contenders(specs.as_deref(), &known, host, py)?;
    let runs = settings.iter().map(|s| lab::count_runs(s, &asked)).sum();
    let of_each = settings
        .iter()
        .flat_map(|s| asked.iter().map(|c| s.run_by(c)));
    warn_of_missing_timestamps(py, &of_each.collect::<Vec<_>>())?;
    let options = Options {
        jobs,
        timelines: over_time,
    };
    let done = work::done(py, progress.as_ref(), runs, |watch| {
        let each = settings.into_iter().map(|setting| {
            let comparison = lab::compare(&setting, &asked, options, watch)
                .map_err(|e| format!("{}: {e}", setting.link_name))?;
            Ok((setting, comparison))
        });
        each.collect::<Result<Vec<_>, String>>()
    })?;
    known.check(py)?;
    let done = done.map_err(|e| error::input(py, e))?;
    let failures: Vec<String> = done
        .iter()
        .flat_map(|(s, c)| {
            c.failed
                .iter()
                .map(move |f| format!("{}: {}", s.link_name, failed(f)))
        })
        .collect();
    let reasons = done
        .iter()
        .flat_map(|(_, c)| c.failed.iter().map(|f| f.reason.as_str()));
    let cause = known.cause(py, reasons);
    let table = Tabled::new(py, means(&done))?;
    let comparison = PyComparison {
        done,
        asked,
        has_timelines: over_time,
    };
    error::unless_failed(py, (comparison, table), &failures, cause)
}

/// Each entry with the link that it is of.
fn entries(done: &[(Setting, Comparison)]) -> impl Iterator<Item = (&str, &Entry)> + Clone {
    done.iter()
        .flat_map(|(s, c)| c.entries.iter().map(move |e| (s.link_name.as_str(), e)))
}

fn means(done: &[(Setting, Comparison)]) -> Columns {
    let all = entries(done);
    let mut columns = Columns::default();
    columns.text("link", all.clone().map(|(link, _)| link));
    columns.text("controller", all.clone().map(|(_, e)| &e.name));
    columns.text("role", all.clone().map(|(_, e)| role(e.role)));
    columns.whole("seeds", all.clone().map(|(_, e)| e.seeds.len() as i64));
    metric_columns(&mut columns, all.map(|(_, e)| &e.mean));
    columns
}

impl PyComparison {
    fn rows<'a>(
        &'a self,
        py: Python<'_>,
        number: &str,
        of: impl Fn(&'a Entry) -> Vec<(i64, &'a Metrics)>,
    ) -> PyResult<Py<Table>> {
        let all: Vec<(&str, &Entry, i64, &Metrics)> = entries(&self.done)
            .flat_map(|(link, e)| of(e).into_iter().map(move |(n, m)| (link, e, n, m)))
            .collect();
        let mut columns = Columns::default();
        columns.text("link", all.iter().map(|row| row.0));
        columns.text("controller", all.iter().map(|row| &row.1.name));
        columns.text("role", all.iter().map(|row| role(row.1.role)));
        columns.whole(number, all.iter().map(|row| row.2));
        metric_columns(&mut columns, all.iter().map(|row| row.3));
        made(py, columns)
    }

    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.needs_timelines(py)?;
        let page = py.detach(|| Report::of_comparisons(&self.done).html());
        page.map_err(|e| error::run(py, e))
    }

    fn needs_timelines(&self, py: Python<'_>) -> PyResult<()> {
        if self.has_timelines {
            return Ok(());
        }
        let problem = "it was compared with over_time=False: there is nothing to draw";
        Err(error::input(py, problem))
    }
}

/// Where something was to be written.
pub(crate) fn unwritten(
    py: Python<'_>,
    path: &std::path::Path,
    problem: impl std::fmt::Display,
) -> PyErr {
    error::run(py, format!("cannot write {}: {problem}", path.display()))
}

#[pymethods]
impl PyComparison {
    /// A row for each flow of each controller, mean over the seeds.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.rows(py, "flow", |e| (0..).zip(&e.flows).collect())
    }

    /// A row for each seed of each controller.
    #[getter]
    fn seeds(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let first = self.done.first().map_or(1, |(s, _)| s.seeds.first);
        self.rows(py, "seed", move |e| {
            (first as i64..).zip(&e.seeds).collect()
        })
    }

    /// Half the 95 % intervals of the means, where there are several seeds.
    #[getter]
    fn ci95(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.rows(py, "seeds", |e| {
            let seeds = e.seeds.len() as i64;
            e.ci95.iter().map(|half| (seeds, half)).collect()
        })
    }

    /// The links.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.done.iter().map(|(s, _)| s.link_name.clone()).collect()
    }

    /// Packets that crossed the bottlenecks in all runs.
    #[getter]
    fn simulated_packets(&self) -> u64 {
        self.done.iter().map(|(_, c)| c.simulated_packets).sum()
    }

    /// Runs that are missing: who, with which seed, why.
    #[getter]
    fn failed(&self) -> Vec<(String, u64, String)> {
        let all = self.done.iter().flat_map(|(_, c)| &c.failed);
        all.map(|f| (f.name.clone(), f.seed, f.reason.clone()))
            .collect()
    }

    /// What `lowtide compare --json --no-timing` prints.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let objects = self
            .done
            .iter()
            .map(|(s, c)| JsonComparison::new(s, c, None));
        let objects: Vec<_> = objects.collect();
        let text = match objects.as_slice() {
            [one] => serde_json::to_string_pretty(one),
            several => serde_json::to_string_pretty(several),
        };
        text.map_err(|e| error::run(py, e))
    }

    /// Writes the report, `index.html`, into a folder; its path.
    fn report(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        self.needs_timelines(py)?;
        let path = folder.join("index.html");
        let written = py.detach(|| Report::of_comparisons(&self.done).write(&path));
        written.map_err(|e| unwritten(py, &path, e))?;
        Ok(path)
    }

    /// Writes the report's plots as SVG and PNG into a folder.
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
        self.needs_timelines(py)?;
        for (n, (setting, comparison)) in self.done.iter().enumerate() {
            let folder = figures::folder_of(&folder, n, self.done.len());
            let written = py.detach(|| figures::write(setting, comparison, &folder, &style));
            written.map_err(|e| unwritten(py, &folder, e))?;
        }
        Ok(())
    }

    /// Writes a qlog of each controller's flow into a folder, first seed.
    #[pyo3(signature = (folder, *, version="draft-14"))]
    fn qlog(&self, py: Python<'_>, folder: PathBuf, version: &str) -> PyResult<Vec<PathBuf>> {
        let version = match version {
            "draft-14" => Version::Draft14,
            "0.3" => Version::V03,
            other => {
                let problem = unknown("", other, &["draft-14", "0.3"]);
                return Err(error::input(py, format!("version: {problem}")));
            }
        };
        let mut paths = Vec::new();
        for (n, (setting, _)) in self.done.iter().enumerate() {
            qlog::check(setting).map_err(|e| error::input(py, e))?;
            let folder = figures::folder_of(&folder, n, self.done.len());
            for contender in &self.asked {
                let path = qlog::path(&folder, contender.name());
                let written = py.detach(|| {
                    let draft = Draft::of(&path).map_err(|e| e.to_string())?;
                    let draft = qlog::write(&setting.run_by(contender), version, draft);
                    draft
                        .map_err(|e| e.to_string())?
                        .keep()
                        .map_err(|e| e.to_string())
                });
                written.map_err(|e| unwritten(py, &path, e))?;
                paths.push(path);
            }
        }
        Ok(paths)
    }

    fn __repr__(&self) -> String {
        let rows = entries(&self.done).map(|(link, e)| {
            let (mbps, p95) = (e.mean["throughput_mbps"], e.mean["rtt_ms.p95"]);
            format!(
                "  {} on {link}: {mbps:.2} Mbit/s, p95 RTT {p95:.1} ms",
                e.name
            )
        });
        let rows: Vec<String> = rows.collect();
        format!("<lowtide.Comparison\n{}>", rows.join("\n"))
    }

    /// The table, and the report within the page.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let mut html = String::new();
        for (setting, comparison) in &self.done {
            html.push_str(&format!("<h4>{}</h4>", escaped(&setting.link_name)));
            html.push_str(&shown(setting, comparison));
        }
        if self.has_timelines {
            html.push_str(&framed(&self.html(py)?));
        }
        Ok(html)
    }
}

/// The table that the command line prints, as HTML.
fn shown(setting: &Setting, comparison: &Comparison) -> String {
    let several = setting.measured_flows() > 1;
    let usual = lowtide_lab::metrics::Table::Comparison;
    let metrics = usual.columns(several, |key| comparison.has(key));
    let heads = metrics
        .iter()
        .map(|m| format!("<th title=\"{}\">{}</th>", m.title(), m.head));
    let heads: String = heads.collect();
    let row = |e: &Entry| -> String {
        let cells = metrics.iter().map(|m| {
            let value = e.mean[m.key] * m.factor;
            match value.is_finite() {
                true => format!("<td>{value:.*}</td>", m.digits),
                false => "<td>–</td>".to_string(),
            }
        });
        let name = match e.role {
            Role::Contender => escaped(&e.name),
            other => format!("{} ({})", escaped(&e.name), role(other)),
        };
        format!("<tr><th>{name}</th>{}</tr>", cells.collect::<String>())
    };
    let rows: String = comparison.entries.iter().map(row).collect();
    format!("<table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>")
}

/// A page within a page; the notebook's own styles and scripts do not meet its.
pub(crate) fn framed(page: &str) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<details><summary>Report</summary><iframe srcdoc=\"{page}\" style=\"width:100%;\
         height:720px;border:1px solid #ccc\" loading=\"lazy\"></iframe></details>"
    )
}
