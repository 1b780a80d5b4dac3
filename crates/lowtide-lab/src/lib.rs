//! Experiments on congestion control: scenarios, comparisons, metrics, reports, figures.

pub mod compare;
pub mod curves;
pub mod figures;
pub mod metrics;
pub mod qlog;
pub mod report;
pub mod scenario;
pub mod statistics;
pub mod timeline;
