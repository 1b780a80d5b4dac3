//! Experiments on congestion control: scenarios, comparisons, sweeps, the papers, metrics, reports,
//! figures.

pub mod claim;
pub mod compare;
pub mod curves;
pub mod experiment;
pub mod figures;
pub mod metrics;
pub mod qlog;
pub mod recording;
pub mod report;
pub mod reproduce;
pub mod scenario;
pub mod scenario_file;
pub mod statistics;
pub mod timeline;
