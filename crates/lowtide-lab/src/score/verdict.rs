//! Whether a limit holds.

use serde::{Deserialize, Serialize};

use crate::claim::{ClaimError, Expression, evaluate, pairwise, parse_expression};
use crate::contender::Contenders;
use crate::experiment::{CellResult, Values};
use crate::metrics::split_group;
use crate::scenario_file::{Cell, FileError, Limit, ScenarioFile, Seeds};
use crate::setting::{Measure, Value};
use crate::statistics::{ci95, mean};

/// How a case or a limit came out. Of a case's limits the one with the largest verdict decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The controller, or its host, lacks what the case needs; or there is nothing that it must reach.
    #[default]
    #[serde(rename = "n/a")]
    NotApplicable,
    /// Every limit holds.
    Pass,
    /// The seeds differ by too much to say: the interval covers a limit.
    Undecided,
    /// One does not.
    Fail,
    /// The case was not measured: a program did not start, a link was late, the work was
    /// interrupted.
    NotRun,
}

impl Verdict {
    /// In JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Undecided => "undecided",
            Self::NotRun => "not_run",
            Self::NotApplicable => "n/a",
        }
    }
}

/// On which side of a limit a value has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sense {
    /// The value is no larger.
    #[default]
    AtMost,
    /// The value is no smaller.
    AtLeast,
}

impl Sense {
    /// The sign.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::AtMost => "≤",
            Self::AtLeast => "≥",
        }
    }

    /// The limit's key in its file, and in JSON.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::AtMost => "at_most",
            Self::AtLeast => "at_least",
        }
    }

    /// How far a value is beyond a limit; below zero on the right side of it.
    #[must_use]
    pub fn over(self, value: f64, limit: f64) -> f64 {
        match self {
            Self::AtMost => value - limit,
            Self::AtLeast => limit - value,
        }
    }
}

/// A limit and what was measured.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct LimitResult {
    /// What was measured, with its unit.
    pub metric: String,
    /// The mean over the seeds, in the cell that is worst off; missing where it does not exist.
    pub value: Option<f64>,
    /// Half the width of its 95 % interval, where there are several seeds.
    pub interval: Option<f64>,
    /// The limit there.
    pub limit: Option<f64>,
    /// On which side of it the value has to be.
    pub sense: Sense,
    /// Whether it is there.
    pub verdict: Verdict,
    /// Why the limit is this one; of one that is not run or not applicable, why that is so.
    pub reason: String,
    /// Source of the limit's number.
    pub source: String,
    /// The cell that is worst off; empty where the value is of several.
    pub cell: String,
    /// In how many of its seeds it is beyond the limit, and how many there are.
    pub seeds_beyond: (usize, usize),
    /// Places of the worst cell and of its worst seed.
    #[serde(skip)]
    pub worst: Option<(usize, usize)>,
}

/// A limit with both of its sides read.
struct Sides {
    value: Expression,
    limit: Expression,
    sense: Sense,
}

/// How one element of a value compares with its limit.
struct Element {
    value: f64,
    interval: Option<f64>,
    limit: f64,
    verdict: Verdict,
    /// How far it is beyond the limit, by the limit's size: the largest is the worst.
    excess: f64,
    beyond: usize,
    worst_seed: usize,
}

fn sides(file: &ScenarioFile, n: usize, limit: &Limit) -> Result<Vec<Sides>, FileError> {
    let n = n.to_string();
    let wrong = |key: &str, e: ClaimError| file.error_at(&["limits", &n, key], e.to_string());
    let mut found = Vec::new();
    let both = [
        ("at_most", &limit.at_most, Sense::AtMost),
        ("at_least", &limit.at_least, Sense::AtLeast),
    ];
    for (key, text, sense) in both {
        let Some(text) = text.as_ref().map(Value::to_string) else {
            continue;
        };
        found.push(Sides {
            value: parse_expression(&limit.value).map_err(|e| wrong("value", e))?,
            limit: parse_expression(&text).map_err(|e| wrong(key, e))?,
            sense,
        });
    }
    if found.is_empty() {
        let problem = "a limit has 'at_most' or 'at_least'".to_string();
        return Err(file.error_at(&["limits", &n], problem));
    }
    Ok(found)
}

/// The first value of the n-th limit that is unknown, by the metric that it is, or is a part of, and whether it is
/// of what only a sender knows; `None` where all are known.
///
/// # Errors
/// When the limit cannot be read.
pub(super) fn unknown(
    file: &ScenarioFile,
    n: usize,
    is_unknown: impl Fn(&str, bool) -> bool,
) -> Result<Option<String>, FileError> {
    let sides = sides(file, n, &file.content.limits[n])?;
    let names = sides
        .iter()
        .flat_map(|s| [s.value.names(), s.limit.names()].concat());
    let found = names.into_iter().find(|name| {
        let measure = file.content.measures.get(*name);
        let metric = measure.map_or(*name, |m| m.metric().unwrap_or(name));
        let of_sender = measure.is_some_and(Measure::is_of_senders);
        is_unknown(split_group(metric).1, of_sender)
    });
    Ok(found.map(str::to_string))
}

/// Checks that the limits of a case can be worked out over these cells, before anything runs.
///
/// # Errors
/// Names the expression that is none, or the value, the cell or the controller that there is not.
pub(super) fn check(
    file: &ScenarioFile,
    cells: &[Cell],
    contenders: &Contenders,
) -> Result<(), FileError> {
    let cells: Vec<CellResult> = cells.iter().cloned().map(CellResult::new).collect();
    let values = Values::new(&cells);
    for (n, limit) in file.content.limits.iter().enumerate() {
        let place = n.to_string();
        let wrong = |key: &str, e: String| file.error_at(&["limits", &place, key], e);
        for sides in sides(file, n, limit)? {
            let of = |expression, key| {
                evaluate(expression, &values).map_err(|e| wrong(key, e.to_string()))
            };
            let value = of(&sides.value, "value")?;
            let bound = of(&sides.limit, sides.sense.key())?;
            pairwise(&value, &bound, |_, _| ()).map_err(|e| wrong("value", e.to_string()))?;
        }
        for (key, names) in [("only", &limit.only), ("report", &limit.report)] {
            for name in names {
                contenders
                    .parse(name)
                    .map_err(|e| wrong(key, e.to_string()))?;
            }
        }
    }
    Ok(())
}

/// Judges the n-th limit of a case by its results.
///
/// # Errors
/// When it cannot be worked out; the error names file, line and key.
pub(super) fn judged(
    file: &ScenarioFile,
    n: usize,
    results: &[CellResult],
) -> Result<Vec<LimitResult>, FileError> {
    let limit = &file.content.limits[n];
    let place = n.to_string();
    let wrong = |e: ClaimError| file.error_at(&["limits", &place, "value"], e.to_string());
    let seeds = results.iter().map(|r| r.runs.len()).max().unwrap_or(0);
    let mut judged = Vec::new();
    for sides in sides(file, n, limit)? {
        // Each seed's values by element, and the limits beside them.
        let mut of_seeds: Vec<Vec<(f64, f64)>> = Vec::with_capacity(seeds);
        for seed in 0..seeds {
            let values = Values {
                seed: Some(seed),
                ..Values::new(results)
            };
            let of = |expression| evaluate(expression, &values).map_err(wrong);
            let (value, bound) = (of(&sides.value)?, of(&sides.limit)?);
            of_seeds.push(pairwise(&value, &bound, |v, limit| (v, limit)).map_err(wrong)?);
        }
        let count = of_seeds.iter().map(Vec::len).min().unwrap_or(0);
        let elements: Vec<Element> = (0..count)
            .map(|n| {
                let pairs: Vec<(f64, f64)> = of_seeds.iter().map(|all| all[n]).collect();
                element(&pairs, sides.sense, limit.seeds)
            })
            .collect();
        let worst = elements.iter().enumerate().max_by(|(_, a), (_, b)| {
            let order = a.verdict.cmp(&b.verdict);
            order.then(a.excess.total_cmp(&b.excess))
        });
        let cell = worst.and_then(|(n, _)| cell_of(&sides.value, results, n, count));
        let case = file.content.case.as_ref();
        judged.push(LimitResult {
            metric: limit.metric.clone(),
            value: worst.map(|(_, e)| e.value).filter(|v| v.is_finite()),
            interval: worst.and_then(|(_, e)| e.interval),
            limit: worst.map(|(_, e)| e.limit).filter(|v| v.is_finite()),
            sense: sides.sense,
            verdict: worst.map_or(Verdict::Fail, |(_, e)| e.verdict),
            reason: limit.reason.clone(),
            source: match limit.source.as_str() {
                "" => case.map_or_else(String::new, |c| c.source.clone()),
                own => own.to_string(),
            },
            cell: cell.map_or_else(String::new, |n| results[n].cell.name()),
            seeds_beyond: worst.map_or((0, seeds), |(_, e)| (e.beyond, seeds)),
            worst: cell.zip(worst).map(|(cell, (_, e))| (cell, e.worst_seed)),
        });
    }
    Ok(judged)
}

/// Compares the values of all seeds with their limits.
fn element(pairs: &[(f64, f64)], sense: Sense, seeds: Seeds) -> Element {
    let at_worst: Vec<(f64, f64)>;
    let pairs = match seeds {
        Seeds::Worst => {
            at_worst = against_worst_limit(pairs, sense);
            &at_worst
        }
        Seeds::Mean | Seeds::Each => pairs,
    };
    // Above zero: beyond the limit. What does not exist is beyond any.
    let excess = |(value, limit): &(f64, f64)| {
        let over = sense.over(*value, *limit);
        if over.is_nan() { f64::INFINITY } else { over }
    };
    let over: Vec<f64> = pairs.iter().map(excess).collect();
    let values: Vec<f64> = pairs.iter().map(|(value, _)| *value).collect();
    let limits: Vec<f64> = pairs.iter().map(|(_, limit)| *limit).collect();
    let beyond = over.iter().filter(|over| **over > 0.0).count();
    let verdict = match seeds {
        Seeds::Each | Seeds::Worst if beyond == 0 => Verdict::Pass,
        Seeds::Each | Seeds::Worst => Verdict::Fail,
        Seeds::Mean => {
            let half = Some(ci95(&over)).filter(|half| half.is_finite());
            let (mean, half) = (mean(&over), half.unwrap_or(0.0));
            if mean + half <= 0.0 {
                Verdict::Pass
            } else if mean - half > 0.0 {
                Verdict::Fail
            } else {
                Verdict::Undecided
            }
        }
    };
    let worst_seed = over.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let limit = mean(&limits);
    let size = limit.abs().max(1e-9);
    Element {
        value: mean(&values),
        interval: Some(ci95(&values)).filter(|half| half.is_finite()),
        limit,
        verdict,
        excess: mean(&over) / size,
        beyond,
        worst_seed: worst_seed.map_or(0, |(n, _)| n),
    }
}

/// The values of all seeds, each with the limit that is the easiest to keep of any seed.
fn against_worst_limit(pairs: &[(f64, f64)], sense: Sense) -> Vec<(f64, f64)> {
    let limits = pairs.iter().map(|(_, limit)| *limit);
    let worst = limits.reduce(|a, b| match sense {
        _ if a.is_nan() || b.is_nan() => f64::NAN,
        Sense::AtMost => a.max(b),
        Sense::AtLeast => a.min(b),
    });
    let worst = worst.unwrap_or(f64::NAN);
    pairs.iter().map(|(value, _)| (*value, worst)).collect()
}

/// The cell that the n-th of `count` elements of an expression is of: by the first value in it that is of
/// so many cells.
fn cell_of(
    expression: &Expression,
    results: &[CellResult],
    n: usize,
    count: usize,
) -> Option<usize> {
    match expression {
        Expression::Number(_) => None,
        Expression::Value { labels, .. } => {
            let values = Values::new(results);
            let cells: Vec<&CellResult> = values.cells(labels).collect();
            let found = *cells.get(n).filter(|_| cells.len() == count)?;
            results.iter().position(|r| std::ptr::eq(r, found))
        }
        Expression::Arithmetic(_, left, right) => {
            cell_of(left, results, n, count).or_else(|| cell_of(right, results, n, count))
        }
        Expression::Function(_, inner) => cell_of(inner, results, n, count),
    }
}
