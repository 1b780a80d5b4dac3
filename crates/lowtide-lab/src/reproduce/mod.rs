//! The papers run again: what they print and claim beside what is measured.
//!
//! Every file of `papers/` says what a paper measured, printed and claimed; see
//! [`crate::scenario_file`]. Whether a claim holds is worked out from its expression.

mod document;
mod figures;
mod over_time;
mod papers;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use self::document::{document, notes, title, write_document};
pub use self::figures::{Drawn, figures};
pub use self::over_time::cells_over_time;
pub use self::papers::built_in;
use crate::claim::{ClaimError, Context, Holds, evaluate, holds, parse_claim, parse_expression};
use crate::experiment::CellResult;
use crate::metrics::{Metric, split_group};
use crate::run::FailedRun;
use crate::scenario_file::{FileError, ScenarioFile};
use crate::statistics::{ci95, mean};

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The file's name.
    pub experiment: String,
    /// The cells in question.
    pub setting: String,
    /// What was measured, with its unit.
    pub metric: String,
    /// What the paper prints.
    pub paper: Option<f64>,
    /// What was measured here: mean over the seeds.
    pub ours: Option<f64>,
    /// Half the width of its 95 % interval.
    pub ci95: Option<f64>,
    /// What is claimed.
    pub claim: String,
    /// Whether it holds.
    pub holds: Holds,
    /// The claim as it was worked out.
    pub expression: String,
    /// What was found where it does not hold.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A file with its results.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The file.
    pub file: ScenarioFile,
    /// Its cells.
    pub results: Vec<CellResult>,
    /// The same on recorded links, where there are any.
    pub on_traces: Vec<CellResult>,
}

impl Experiment {
    /// Runs that did not come to their end, recorded links included.
    pub fn failed(&self) -> impl Iterator<Item = &FailedRun> {
        let results = self.results.iter().chain(&self.on_traces);
        results.flat_map(|result| &result.failed)
    }
}

/// The files that `which` names: a file's name, a paper's, or `all`.
#[must_use]
pub fn select(which: &str, files: Vec<ScenarioFile>) -> Vec<ScenarioFile> {
    files
        .into_iter()
        .filter(|file| {
            let paper = file.content.paper.as_ref();
            which == "all" || file.name() == which || paper.is_some_and(|p| p.name == which)
        })
        .collect()
}

/// The recorded links of a file that are below `folder`, and names of those that are not.
#[must_use]
pub fn traces(file: &ScenarioFile, folder: &Path) -> (Vec<(String, PathBuf)>, Vec<String>) {
    let (found, missing): (Vec<_>, Vec<_>) = file
        .content
        .traces
        .iter()
        .map(|name| (name.clone(), folder.join(name)))
        .partition(|(_, path)| path.is_file());
    let found = found
        .into_iter()
        .map(|(name, path)| {
            let path = path.canonicalize().unwrap_or(path);
            (name, path)
        })
        .collect();
    (found, missing.into_iter().map(|(name, _)| name).collect())
}

/// Values of results, as claims name them.
struct Measured<'a> {
    results: &'a [CellResult],
    /// Labels that a cell must have besides those that are named.
    within: &'a [&'a str],
    /// One seed, by its place; else the mean of all.
    seed: Option<usize>,
    /// `ours` and `paper`.
    known: [(&'static str, Option<f64>); 2],
}

impl<'a> Measured<'a> {
    fn new(results: &'a [CellResult]) -> Self {
        Self {
            results,
            within: &[],
            seed: None,
            known: [("ours", None), ("paper", None)],
        }
    }
}

impl Context for Measured<'_> {
    fn values(&self, name: &str, labels: &[String]) -> Result<Vec<f64>, ClaimError> {
        if let Some((_, value)) = self.known.iter().find(|(known, _)| *known == name) {
            return value
                .map(|value| vec![value])
                .ok_or_else(|| ClaimError(format!("there is no '{name}' here")));
        }
        let cells: Vec<&CellResult> = self
            .results
            .iter()
            .filter(|r| labels.iter().all(|l| r.cell.has(l)))
            .filter(|r| self.within.iter().all(|l| r.cell.has(l)))
            .collect();
        if cells.is_empty() {
            return Err(ClaimError(format!(
                "no cell is labelled {}",
                labels.join(", ")
            )));
        }
        // What is known does not exist in every run.
        let (group, key) = split_group(name);
        let has_group =
            |r: &CellResult| group.is_none_or(|group| group < r.cell.setting.groups.len());
        if Metric::of_key(key).is_none() || !self.results.iter().any(has_group) {
            return Err(ClaimError(format!(
                "nothing is measured that is called '{name}'"
            )));
        }
        Ok(cells
            .into_iter()
            .map(|r| match self.seed {
                None => r.value(name).map_or(f64::NAN, |(mean, _)| mean),
                Some(n) => r
                    .runs
                    .get(n)
                    .and_then(|run| run.measured.get(name))
                    .unwrap_or(f64::NAN),
            })
            .collect())
    }
}

/// A value and half the width of its 95 % interval over the seeds. What is a value of several
/// cells counts with their mean.
fn measured(
    expression: &str,
    results: &[CellResult],
    within: &[&str],
) -> Result<(f64, Option<f64>), ClaimError> {
    let expression = parse_expression(expression)?;
    let seeds = results.iter().map(|r| r.runs.len()).max().unwrap_or(0);
    let mut of_seeds = Vec::with_capacity(seeds);
    for seed in 0..seeds {
        let context = Measured {
            within,
            seed: Some(seed),
            ..Measured::new(results)
        };
        let value = mean(&evaluate(&expression, &context)?);
        of_seeds.extend(Some(value).filter(|v| v.is_finite()));
    }
    let half = Some(ci95(&of_seeds)).filter(|c| c.is_finite());
    Ok((mean(&of_seeds), half))
}

/// The rows of an experiment.
///
/// # Errors
/// When a claim cannot be worked out; the error names file, line and key.
pub fn rows(experiment: &Experiment) -> Result<Vec<Row>, FileError> {
    let file = &experiment.file;
    let mut rows = Vec::new();
    for (n, printed) in file.content.printed.iter().enumerate() {
        let n = n.to_string();
        let at = |key: &str, e: ClaimError| file.error_at(&["printed", &n, key], e.to_string());
        let claim = parse_claim(&printed.claim).map_err(|e| at("claim", e))?;
        for (label, values) in &printed.values {
            if values.len() != printed.columns.len() {
                let problem = format!(
                    "{} values for {} columns",
                    values.len(),
                    printed.columns.len()
                );
                return Err(file.error_at(&["printed", &n, "values", label], problem));
            }
            for (column, paper) in printed.columns.iter().zip(values) {
                if paper.is_nan() {
                    continue;
                }
                let mut within: Vec<&str> = printed.cells.iter().map(String::as_str).collect();
                within.extend([label.as_str(), column.as_str()]);
                let (ours, ci95) = measured(&printed.value, &experiment.results, &within)
                    .map_err(|e| at("value", e))?;
                let context = Measured {
                    known: [("ours", Some(ours)), ("paper", Some(*paper))],
                    ..Measured::new(&experiment.results)
                };
                rows.push(Row {
                    experiment: file.name(),
                    setting: format!("{label}, {column}"),
                    metric: printed.metric.clone(),
                    paper: Some(*paper),
                    ours: Some(ours).filter(|v| v.is_finite()),
                    ci95,
                    claim: printed.claim.clone(),
                    holds: holds(&claim, &context).map_err(|e| at("claim", e))?,
                    expression: printed.claim.clone(),
                    note: printed.note.clone(),
                });
            }
        }
    }
    for (n, claim) in file.content.claims.iter().enumerate() {
        let n = n.to_string();
        let at = |key: &str, e: ClaimError| file.error_at(&["claims", &n, key], e.to_string());
        let parsed = parse_claim(&claim.holds).map_err(|e| at("holds", e))?;
        let mut add = |results: &[CellResult], recorded: bool| {
            let (ours, ci95) = measured(&claim.value, results, &[]).map_err(|e| at("value", e))?;
            let context = Measured {
                known: [("ours", Some(ours)), ("paper", claim.paper)],
                ..Measured::new(results)
            };
            rows.push(Row {
                experiment: file.name(),
                setting: if recorded {
                    "recorded links".to_string()
                } else {
                    claim.setting.clone()
                },
                metric: claim.metric.clone(),
                paper: claim.paper,
                ours: Some(ours).filter(|v| v.is_finite()),
                ci95,
                claim: claim.claim.clone(),
                holds: holds(&parsed, &context).map_err(|e| at("holds", e))?,
                expression: claim.holds.clone(),
                note: claim.note.clone(),
            });
            Ok(())
        };
        add(&experiment.results, false)?;
        if claim.on_traces && !experiment.on_traces.is_empty() {
            add(&experiment.on_traces, true)?;
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
