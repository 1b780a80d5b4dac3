//! The columns of the report's table.

use lowtide_lab::metrics::{Better, Metric, Metrics, Table, split_group};
use serde::Serialize;

use super::Run;

/// A column.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Column {
    head: &'static str,
    /// What it is, in full.
    title: String,
    /// Digits after the point.
    digits: usize,
    higher_is_better: bool,
    #[serde(skip)]
    metric: &'static Metric,
}

impl Column {
    /// What it shows of these metrics.
    pub(super) fn value(&self, metrics: &Metrics) -> f64 {
        metrics[self.metric.key] * self.metric.factor
    }
}

/// The columns: those of the metrics that were asked for first. Share and index of fairness only where
/// there are flows to share, marks where there are any.
pub(super) fn columns(runs: &[Run<'_>], asked: &[String]) -> Vec<Column> {
    let column = |metric: &'static Metric| Column {
        head: metric.head,
        title: metric.title(),
        digits: metric.digits,
        higher_is_better: metric.better == Better::More,
        metric,
    };
    let several = runs.iter().any(|run| run.setting.measured_flows() > 1);
    let has = |key: &str| runs.iter().any(|run| run.comparison.has(key));
    let mut entries = runs.iter().flat_map(|run| &run.comparison.entries);
    let is_mixed = entries.any(|entry| !entry.lives.is_empty());
    let asked = asked.iter().map(|name| split_group(name).1);
    let share = is_mixed.then_some("share");
    let usual = Table::Report
        .columns(several, has)
        .into_iter()
        .map(|m| m.key);
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for metric in asked.chain(share).chain(usual).filter_map(Metric::of_key) {
        if metrics.iter().all(|known| known.key != metric.key) {
            metrics.push(metric);
        }
    }
    metrics.into_iter().map(column).collect()
}
