//! Experiments on congestion control: settings, runs, comparisons, grids, the papers, metrics,
//! scorecards. What people look at is made of them by `lowtide-report`.
//!
//! A [`setting`] and a seed make a [`run`], whose results are [`metrics`]; [`compare`], [`frontier`],
//! [`experiment`] and [`reproduce`] are made of runs. [`contender`] says who can send in them, [`store`] keeps what
//! they gave under the key of its [`simulator`]. What was not simulated is shown beside them: a [`transfer`] over a
//! real network, and a [`program`] behind a link. What users name is read and written by [`files`]; what they can
//! name is listed in the [`catalogue`].

pub mod catalogue;
pub mod claim;
pub mod compare;
pub mod contender;
pub mod curves;
pub mod experiment;
pub mod files;
pub mod frontier;
pub mod json;
pub mod key;
pub mod measure;
pub mod metrics;
pub mod program;
pub mod reproduce;
pub mod run;
pub mod scenario_file;
pub mod score;
pub mod setting;
pub mod simulator;
pub mod statistics;
pub mod store;
pub mod timeline;
pub mod traces;
pub mod transfer;
pub mod visible;

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
