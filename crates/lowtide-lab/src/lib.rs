//! Experiments on congestion control: scenarios, comparisons, sweeps, the papers, metrics, reports.

pub mod claim;
pub mod compare;
pub mod experiment;
pub mod metrics;
pub mod report;
pub mod reproduce;
pub mod scenario;
pub mod scenario_file;
pub mod statistics;
pub mod timeline;
