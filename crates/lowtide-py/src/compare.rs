//! `lowtide.compare`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::registry::unknown;
use lowtide_lab::compare::{self as lab, Comparison, Entry, Options, Role};
use lowtide_lab::contender::Contender;
use lowtide_lab::files::Draft;
use lowtide_lab::json::JsonComparison;
use lowtide_lab::metrics::{CATALOGUE, Metrics, Of, column_name};
use lowtide_lab::run::FailedRun;
use lowtide_lab::setting::Setting;
use lowtide_report::figures::{self, Style};
use lowtide_report::qlog::{self, Version};
use lowtide_report::report::Report;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::drawn::{Draw, Drawn, drawn};
use crate::error::{self, unwritten};
use crate::known::{Known, missing};
use crate::setting::{settings, specs_if_any, warn_of_missing_timestamps};
use crate::table::{Columns, Table, escaped, html, one_or_all};
use crate::work;

/// Comparisons, each with its setting.
struct Compared {
    done: Vec<(Setting, Comparison)>,
    has_timelines: bool,
}

/// Controllers side by side on one link, or on several.
#[pyclass(frozen, extends = Drawn, module = "lowtide", name = "Comparison")]
pub(crate) struct PyComparison {
    of: Arc<Compared>,
    asked: Vec<Contender>,
}

/// A column for each metric that a single flow can have.
fn metric_columns<R>(columns: &mut Columns<'_, R>, of: impl Fn(&R) -> &Metrics) {
    for metric in CATALOGUE.iter().filter(|metric| metric.of == Of::Flows) {
        columns.real(&column_name(metric.key), |row| of(row)[metric.key]);
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Limit => "limit",
        Role::Bound => "bound",
        Role::Contender => "controller",
        Role::Floor => "best window",
    }
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
    let settings = settings(py, options.as_ref(), &mut known)?;
    let settings: Result<Vec<_>, _> = py.detach(|| {
        settings
            .into_iter()
            .map(Setting::with_mean_in_name)
            .collect()
    });
    let settings = settings.map_err(error::input)?;
    let host = settings.first().map(|s| s.host).unwrap_or_default();
    let asked = match specs {
        None => host.usual(&known.contenders),
        Some(specs) => known.parse(&specs)?,
    };
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
    let done = done.map_err(error::input)?;
    let failed = done.iter().flat_map(|(setting, comparison)| {
        let of_link = |run: &FailedRun| FailedRun {
            name: format!("{}: {}", setting.link_name, run.name),
            ..run.clone()
        };
        comparison.failed.iter().map(of_link)
    });
    let failed: Vec<FailedRun> = failed.collect();
    let of = Arc::new(Compared {
        done,
        has_timelines: over_time,
    });
    let table = of.rows("seeds", |e| vec![(e.seeds.len() as i64, &e.mean)])?;
    let base = drawn(table, of.clone());
    let comparison = base.add_subclass(PyComparison { of, asked });
    known.unless_failed(py, comparison, &failed)
}

impl Compared {
    /// A row for each of several metrics of an entry, and the number that tells them apart.
    fn rows<'a>(
        &'a self,
        number: &str,
        of: impl Fn(&'a Entry) -> Vec<(i64, &'a Metrics)>,
    ) -> PyResult<Table> {
        let mut rows = Vec::new();
        for (setting, comparison) in &self.done {
            for entry in &comparison.entries {
                let of = of(entry).into_iter();
                rows.extend(of.map(|(n, metrics)| (&setting.link_name, entry, n, metrics)));
            }
        }
        let mut columns = Columns::of(&rows);
        columns
            .text("link", |row| row.0)
            .text("controller", |row| &row.1.name)
            .text("role", |row| role(row.1.role))
            .whole(number, |row| row.2);
        metric_columns(&mut columns, |row| row.3);
        columns.table()
    }
}

impl Draw for Compared {
    fn json(&self) -> serde_json::Result<String> {
        let objects = self
            .done
            .iter()
            .map(|(s, c)| JsonComparison::new(s, c, None));
        one_or_all(&objects.collect::<Vec<_>>())
    }

    fn obstacle(&self) -> Option<&'static str> {
        let obstacle = "it was compared with over_time=False: there is nothing to draw";
        (!self.has_timelines).then_some(obstacle)
    }

    fn page(&self) -> io::Result<String> {
        Report::of_comparisons(&self.done).html()
    }

    fn figures(&self, folder: &Path, style: &Style) -> io::Result<()> {
        for (n, (setting, comparison)) in self.done.iter().enumerate() {
            let folder = figures::folder_of(folder, n, self.done.len());
            figures::write(setting, comparison, &folder, style)?;
        }
        Ok(())
    }

    /// The tables that the command line prints.
    fn tables(&self) -> Option<String> {
        let table = |(setting, comparison): &(Setting, Comparison)| {
            let link = escaped(&setting.link_name);
            format!("<h4>{link}</h4>{}", printed(setting, comparison))
        };
        Some(self.done.iter().map(table).collect())
    }
}

#[pymethods]
impl PyComparison {
    /// A row for each flow of each controller, mean over the seeds.
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        self.of.rows("flow", |e| (0..).zip(&e.flows).collect())
    }

    /// A row for each seed of each controller.
    #[getter]
    fn seeds(&self) -> PyResult<Table> {
        let first = self.of.done.first().map_or(1, |(s, _)| s.seeds.first);
        self.of
            .rows("seed", move |e| (first as i64..).zip(&e.seeds).collect())
    }

    /// Half the 95 % intervals of the means, where there are several seeds.
    #[getter]
    fn ci95(&self) -> PyResult<Table> {
        self.of.rows("seeds", |e| {
            let seeds = e.seeds.len() as i64;
            e.ci95.iter().map(|half| (seeds, half)).collect()
        })
    }

    /// The links.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.of
            .done
            .iter()
            .map(|(s, _)| s.link_name.clone())
            .collect()
    }

    /// Packets that crossed the bottlenecks in all runs.
    #[getter]
    fn simulated_packets(&self) -> u64 {
        self.of.done.iter().map(|(_, c)| c.simulated_packets).sum()
    }

    /// Runs that are missing: who, with which seed, why.
    #[getter]
    fn failed(&self) -> Vec<(String, u64, String)> {
        missing(self.of.done.iter().flat_map(|(_, c)| &c.failed))
    }

    /// Writes a qlog of each controller's flow into a folder, first seed.
    #[pyo3(signature = (folder, *, version="draft-14"))]
    fn qlog(&self, py: Python<'_>, folder: PathBuf, version: &str) -> PyResult<Vec<PathBuf>> {
        let version = match version {
            "draft-14" => Version::Draft14,
            "0.3" => Version::V03,
            other => {
                let problem = unknown("", other, &["draft-14", "0.3"]);
                return Err(error::argument("version", problem));
            }
        };
        let mut paths = Vec::new();
        for (n, (setting, _)) in self.of.done.iter().enumerate() {
            qlog::check(setting).map_err(error::input)?;
            let folder = figures::folder_of(&folder, n, self.of.done.len());
            for contender in &self.asked {
                let path = qlog::path(&folder, contender.name());
                let written = py.detach(|| {
                    let draft = Draft::of(&path)?;
                    let draft = qlog::write(&setting.run_by(contender), version, draft);
                    draft.map_err(io::Error::other)?.keep()
                });
                written.map_err(|e| unwritten(&path, e))?;
                paths.push(path);
            }
        }
        Ok(paths)
    }

    fn __repr__(&self) -> String {
        let mut lines = Vec::new();
        for (setting, comparison) in &self.of.done {
            for Entry { name, mean, .. } in &comparison.entries {
                let link = &setting.link_name;
                let (mbps, p95) = (mean["throughput_mbps"], mean["rtt_ms.p95"]);
                lines.push(format!(
                    "  {name} on {link}: {mbps:.2} Mbit/s, p95 RTT {p95:.1} ms"
                ));
            }
        }
        format!("<lowtide.Comparison\n{}>", lines.join("\n"))
    }
}

/// The table that the command line prints, as HTML.
fn printed(setting: &Setting, comparison: &Comparison) -> String {
    let several = setting.measured_flows() > 1;
    let usual = lowtide_lab::metrics::Table::Comparison;
    let metrics = usual.columns(several, |key| comparison.has(key));
    let heads = metrics
        .iter()
        .map(|m| format!("<th title=\"{}\">{}</th>", m.title(), m.head));
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
        format!("<th>{name}</th>{}", cells.collect::<String>())
    };
    let heads = format!("<th></th>{}", heads.collect::<String>());
    html(heads, comparison.entries.iter().map(row))
}
