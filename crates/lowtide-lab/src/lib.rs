//! Experiments on congestion control: scenarios, comparisons, metrics, reports.

pub mod compare;
pub mod metrics;
pub mod report;
pub mod scenario;
pub mod statistics;
pub mod timeline;
