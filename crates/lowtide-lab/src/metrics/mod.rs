//! What is measured, one definition each; `docs/metrics.md` has them as formulas.
//!
//! The [`CATALOGUE`] names and defines every metric; a [`Meter`] watches a simulation, and
//! [`Metrics`] are the values.

mod catalogue;
mod columns;
mod counts;
mod distribution;
mod fairness;
mod histogram;
mod meter;
mod samples;
mod self_inflicted;
mod totals;
mod values;

pub use self::catalogue::{Better, CATALOGUE, Metric, Of};
pub use self::columns::{LABELS, Table};
pub use self::distribution::{DelaySummary, Delays};
pub use self::fairness::jain;
pub use self::meter::Meter;
pub use self::values::{Measured, Metrics, Named, column_name, split_group};

#[cfg(test)]
mod tests;
