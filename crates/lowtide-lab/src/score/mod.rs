//! Scorecards: suites of cases with limits, held against controllers.
//!
//! A suite is a folder of [scenario files](crate::scenario_file), a case each: what is run, with the
//! controller that is judged in the place of `candidate`; what is measured; and between which limits it
//! must lie, as expressions like those of claims. [`Plan`] is all that has to be run for some
//! controllers, [`judge`] says what came of it.

mod baseline;
mod explain;
mod offered;
mod plan;
mod scorecard;
mod suite;
mod verdict;

pub use self::baseline::{Baseline, BaselineError, Regression};
pub use self::explain::explain_all;
pub use self::plan::{Apart, Job, Plan, host_of};
pub use self::scorecard::{CaseResult, Score, Scorecard, judge};
pub use self::suite::{Suite, SuiteError, built_in};
pub use self::verdict::{LimitResult, Sense, Verdict};

#[cfg(test)]
mod tests;
