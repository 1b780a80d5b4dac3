//! The columns of the report's table.

use serde::Serialize;

use crate::metrics::{Better, Metric, Metrics, Table};

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

/// The columns; the index of fairness only where there are several flows.
pub(super) fn columns(several_flows: bool) -> Vec<Column> {
    let column = |metric: &'static Metric| Column {
        head: metric.head,
        title: metric.title(),
        digits: metric.digits,
        higher_is_better: metric.better == Better::More,
        metric,
    };
    let metrics = Table::Report.columns(several_flows);
    metrics.into_iter().map(column).collect()
}
