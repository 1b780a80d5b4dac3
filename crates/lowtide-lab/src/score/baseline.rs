//! An earlier scorecard, to fail on what has become worse.

use serde::{Deserialize, Serialize};

use super::scorecard::Scorecard;
use super::verdict::{LimitResult, Verdict};

/// A scorecard that `lowtide score --json` printed earlier.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Baseline(Scorecard);

/// What has become worse.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regression {
    /// The suite.
    pub suite: String,
    /// The controller.
    pub controller: String,
    /// The case.
    pub case: String,
    /// What was measured.
    pub metric: String,
    /// The earlier value.
    pub before: Option<f64>,
    /// The value now.
    pub now: Option<f64>,
}

/// Why an earlier scorecard cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no scorecards that 'lowtide score --json' wrote: {0}")]
pub struct BaselineError(String);

impl Baseline {
    /// Reads one scorecard or an array of them.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Vec<Self>, BaselineError> {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|e| BaselineError(e.to_string()))?;
        let list = match value {
            serde_json::Value::Array(list) => list,
            one => vec![one],
        };
        let read = |one| serde_json::from_value(one).map_err(|e| BaselineError(e.to_string()));
        list.into_iter().map(read).collect()
    }

    /// Whether a case of a suite was judged for a controller then.
    #[must_use]
    pub fn knows(&self, suite: &str, controller: &str, case: &str) -> bool {
        let Self(old) = self;
        let mut of_it = old.results.iter().filter(|o| o.controller == controller);
        old.suite == suite && of_it.any(|o| o.cases.iter().any(|o| o.id == case))
    }

    /// What has become worse since: a case that passed and fails, or a value that is worse by more than
    /// both intervals together. Cases and controllers that are new are no worse, nor are cases that are not run.
    #[must_use]
    pub fn regressions(&self, now: &Scorecard) -> Vec<Regression> {
        let mut found = Vec::new();
        let Self(old) = self;
        if old.suite != now.suite {
            return found;
        }
        for score in &now.results {
            let mut known = old.results.iter();
            let Some(old) = known.find(|o| o.controller == score.controller) else {
                continue;
            };
            for case in &score.cases {
                // A case that was not run fails by itself, and nothing is known of its values.
                let old = old.cases.iter().find(|o| o.id == case.id);
                let Some(old) = old.filter(|_| case.verdict != Verdict::NotRun) else {
                    continue;
                };
                let worse = |metric: &str, before, value| Regression {
                    suite: now.suite.clone(),
                    controller: score.controller.clone(),
                    case: case.id.clone(),
                    metric: metric.to_string(),
                    before,
                    now: value,
                };
                let known = found.len();
                for limit in &case.limits {
                    let is_it =
                        |o: &&LimitResult| (&o.metric, o.sense) == (&limit.metric, limit.sense);
                    let Some(old) = old.limits.iter().find(is_it) else {
                        continue;
                    };
                    let Some((before, value)) = old.value.zip(limit.value) else {
                        if old.value.is_some() {
                            found.push(worse(&limit.metric, old.value, None));
                        }
                        continue;
                    };
                    let noise = old.interval.unwrap_or(0.0) + limit.interval.unwrap_or(0.0);
                    // What is printed and read again may differ in the last bit.
                    let noise = noise + 1e-12 * before.abs();
                    if limit.sense.over(value, before) > noise {
                        found.push(worse(&limit.metric, Some(before), Some(value)));
                    }
                }
                let fails = case.verdict == Verdict::Fail;
                if fails && old.verdict == Verdict::Pass && found.len() == known {
                    found.push(worse(&case.metric, None, case.value));
                }
            }
        }
        found
    }
}
