//! Values of cells, as claims and limits name them.

use super::CellResult;
use crate::claim::{ClaimError, Context};
use crate::metrics::{Metric, split_group};

/// The values of results, as claims name them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a> {
    pub(crate) results: &'a [CellResult],
    /// Labels that a cell must have besides those that are named.
    pub(crate) within: &'a [&'a str],
    /// One seed, by its place; else the mean of all.
    pub(crate) seed: Option<usize>,
    /// `ours` and `paper`.
    pub(crate) known: [(&'static str, Option<f64>); 2],
}

impl<'a> Values<'a> {
    pub(crate) fn new(results: &'a [CellResult]) -> Self {
        Self {
            results,
            within: &[],
            seed: None,
            known: [("ours", None), ("paper", None)],
        }
    }

    /// The cells that have all these labels.
    pub(crate) fn cells<'b>(
        &'b self,
        labels: &'b [String],
    ) -> impl Iterator<Item = &'a CellResult> + use<'a, 'b> {
        self.results
            .iter()
            .filter(|r| labels.iter().all(|l| r.cell.has(l)))
            .filter(|r| self.within.iter().all(|l| r.cell.has(l)))
    }
}

impl Context for Values<'_> {
    fn values(&self, name: &str, labels: &[String]) -> Result<Vec<f64>, ClaimError> {
        if let Some((_, value)) = self.known.iter().find(|(known, _)| *known == name) {
            return value
                .map(|value| vec![value])
                .ok_or_else(|| ClaimError(format!("there is no '{name}' here")));
        }
        let cells: Vec<&CellResult> = self.cells(labels).collect();
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
        let is_measure = |r: &CellResult| r.cell.setting.measures.contains_key(name);
        let is_metric = Metric::of_key(key).is_some() && self.results.iter().any(has_group);
        if !is_metric && !self.results.iter().any(is_measure) {
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
