//! The papers run again: what they print and claim beside what is measured.
//!
//! Every file of `papers/` says what a paper measured, printed and claimed; see
//! [`crate::scenario_file`]. Whether a claim holds is worked out from its expression.

mod drawn;
mod papers;
mod row;

use std::path::{Path, PathBuf};

pub use self::drawn::{cells_over_time, lines};
pub use self::papers::built_in;
pub use self::row::Row;
use crate::claim::{ClaimError, evaluate, holds, parse_claim, parse_expression};
use crate::experiment::{CellResult, Values};
use crate::run::FailedRun;
use crate::scenario_file::{Cell, FileError, ScenarioFile};
use crate::statistics::{ci95, mean};

/// A file with its results.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The file.
    pub file: ScenarioFile,
    /// The experiment's cells.
    pub results: Vec<CellResult>,
    /// The experiment's cells on recorded links, where there are any.
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

/// A value and half the width of its 95 % interval over the seeds. What is a value of several
/// cells counts with their mean.
///
/// # Errors
/// When the expression cannot be read or worked out.
pub fn measured(
    expression: &str,
    results: &[CellResult],
    within: &[&str],
) -> Result<(f64, Option<f64>), ClaimError> {
    let expression = parse_expression(expression)?;
    // What can never be worked out is an error even before there are runs.
    evaluate(
        &expression,
        &Values {
            within,
            ..Values::new(results)
        },
    )?;
    let seeds = results.iter().map(|r| r.runs.len()).max().unwrap_or(0);
    let mut of_seeds = Vec::with_capacity(seeds);
    for seed in 0..seeds {
        let context = Values {
            within,
            seed: Some(seed),
            ..Values::new(results)
        };
        let value = mean(&evaluate(&expression, &context)?);
        of_seeds.extend(Some(value).filter(|v| v.is_finite()));
    }
    let half = Some(ci95(&of_seeds)).filter(|c| c.is_finite());
    Ok((mean(&of_seeds), half))
}

/// Checks that all that a file claims and draws can be worked out over its cells, before anything runs.
///
/// # Errors
/// Names what cannot; the error names file, line and key.
pub fn check(file: &ScenarioFile, cells: &[Cell]) -> Result<(), FileError> {
    let blank = Experiment {
        file: file.clone(),
        results: cells.iter().cloned().map(CellResult::new).collect(),
        on_traces: Vec::new(),
    };
    rows(&blank)?;
    drawn::check(&blank)
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
                let context = Values {
                    known: [("ours", Some(ours)), ("paper", Some(*paper))],
                    ..Values::new(&experiment.results)
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
            let context = Values {
                known: [("ours", Some(ours)), ("paper", claim.paper)],
                ..Values::new(results)
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
