//! Experiments: comparisons, metrics, reports.
