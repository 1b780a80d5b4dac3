//! What is measured in a run besides the metrics of the catalogue, as a scenario file asks for it under
//! names of its own: a metric in a part of the run, how long until a rate is reached, the worst
//! stretch of time.
//!
//! ```toml
//! [measures]
//! late_mbps = { span = { metric = "flows.0.goodput_mbps", from = "10s", to = "20s" } }
//! recovery_s = { reached = { share = 0.9, window = "100ms", from = "10s" } }
//! rounds_up = { phase = { name = "ProbeBW_UP", value = "rounds", at = "after" } }
//! ```
//!
//! Moments are times of the run or, with `+` before them, since its [trigger](crate::setting::Trigger).
//! Each kind is a file: what it is told, and the probe that works it out in memory that does not grow
//! with the run.

mod completion;
mod invariant;
mod least;
mod phase;
mod reached;
mod sliding;
mod span;
mod state;
mod stretch;
mod worst;

use std::collections::BTreeMap;
use std::fmt::Debug;

use lowtide_cc::units::{Duration, Time};
use lowtide_sim::{Probe, SimConfig};
use schemars::JsonSchema;
use serde::Deserialize;

use self::completion::Completion;
use self::invariant::Invariant;
use self::least::Least;
use self::phase::Phase;
use self::reached::Reached;
use self::span::Span;
use self::stretch::Stretch;
use self::worst::Worst;
use crate::claim::{Expression, parse_expression};
use crate::metrics::{Metric, Named, split_group};
use crate::setting::{MomentText, Problem, Setting};
use crate::store::COLUMNS;

/// What is measured under a name.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Measure {
    /// A metric in a part of the run.
    Span(Span),
    /// How long it takes until a rate is reached, seconds.
    Reached(Reached),
    /// The least share of its fair share that a flow has in any window.
    Least(Least),
    /// The largest value that so many windows in a row have.
    Worst(Worst),
    /// How long transfers take, seconds.
    Completion(Completion),
    /// What a flow is in its phases, and when.
    Phase(Phase),
    /// How long a value of a flow stays within a bound, and how often.
    Stretch(Stretch),
    /// How often a rule of BBR's draft is broken.
    Invariant(Invariant),
}

impl Measure {
    /// The metric that it takes a part of, as in `flows.0.goodput_mbps`.
    #[must_use]
    pub fn metric(&self) -> Option<&str> {
        match self {
            Self::Span(span) => Some(&span.metric),
            _ => None,
        }
    }

    /// Whether it is of what only a sender knows.
    #[must_use]
    pub fn is_of_senders(&self) -> bool {
        matches!(self, Self::Phase(_) | Self::Stretch(_) | Self::Invariant(_))
    }
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    from: Time,
    to: Time,
}

/// How long a run is, and when its trigger came; the begin where it has none.
#[derive(Clone, Copy, Debug)]
struct Extent {
    duration: Duration,
    trigger: Time,
}

impl Part {
    fn of(from: Option<MomentText>, to: Option<MomentText>, extent: Extent) -> Self {
        let end = Time::ZERO + extent.duration;
        Self {
            from: from.map_or(Time::ZERO, |t| t.0.at(extent.trigger)),
            to: to.map_or(end, |t| t.0.at(extent.trigger)).min(end),
        }
    }

    /// Whether a moment lies in it.
    fn contains(self, at: Time) -> bool {
        self.from <= at && at < self.to
    }
}

/// The most measures of a setting: each watches the whole run.
const MAX_MEASURES: usize = 64;

/// Checks what is to be measured in a setting's runs.
///
/// # Errors
/// Names the key whose value is wrong.
pub fn check(measures: &BTreeMap<String, Measure>, setting: &Setting) -> Result<(), Problem> {
    if measures.len() > MAX_MEASURES {
        let problem = format!("at most {MAX_MEASURES} of them");
        return Err(Problem::new("measures", problem));
    }
    for (name, measure) in measures {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.chars().all(is_name) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            let problem = "a name has letters a to z, digits and '_', and begins with a letter";
            return Err(Problem::new(format!("measures.{name}"), problem));
        }
        if Metric::of_key(name).is_some() {
            let problem = "there is a metric of this name; take another";
            return Err(Problem::new(format!("measures.{name}"), problem));
        }
        if COLUMNS.contains(&name.as_str()) {
            let problem = "a column of stores has this name; take another";
            return Err(Problem::new(format!("measures.{name}"), problem));
        }
        let (mut flow, mut expression) = (None, None);
        let (kind, from, to, group) = match measure {
            Measure::Span(span) => {
                let (group, key) = split_group(&span.metric);
                if Metric::of_key(key).is_none() {
                    let problem = format!("nothing is called '{}'", span.metric);
                    let at = format!("measures.{name}.span.metric");
                    return Err(Problem::new(at, problem));
                }
                ("span", span.from, span.to, group)
            }
            Measure::Reached(reached) => ("reached", reached.from, reached.to, reached.group),
            Measure::Least(least) => ("least", least.from, least.to, least.group),
            Measure::Worst(worst) => ("worst", worst.from, worst.to, worst.group),
            Measure::Completion(one) => ("completion", one.from, one.to, Some(one.group)),
            Measure::Phase(one) => {
                (flow, expression) = (Some(one.flow), Some(&one.value));
                ("phase", one.from, one.to, None)
            }
            Measure::Stretch(one) => {
                (flow, expression) = (Some(one.flow), Some(&one.value));
                ("stretch", one.from, one.to, None)
            }
            Measure::Invariant(one) => {
                flow = Some(one.flow);
                ("invariant", one.from, one.to, None)
            }
        };
        if let Some(Err(e)) = expression.map(|text| parse_expression(text)) {
            return Err(Problem::new(format!("measures.{name}.{kind}.value"), e));
        }
        if flow.is_some_and(|flow| flow >= setting.flow_count()) {
            let problem = format!("there are {} flows, counted from 0", setting.flow_count());
            return Err(Problem::new(
                format!("measures.{name}.{kind}.flow"),
                problem,
            ));
        }
        let follows = |at: Option<MomentText>| at.is_some_and(|at| at.0.after_trigger);
        if (follows(from) || follows(to)) && setting.trigger.is_none() {
            let problem = "a time with + counts from the [trigger], and there is none";
            return Err(Problem::new(format!("measures.{name}.{kind}"), problem));
        }
        // Where one counts from the trigger and the other does not, only the run tells.
        let comparable = follows(from) == follows(to) || from.is_none() || to.is_none();
        let part = Part::of(
            from,
            to,
            Extent {
                duration: setting.duration,
                trigger: Time::ZERO,
            },
        );
        if comparable && part.from >= part.to {
            let problem = "ends before it begins, or begins when the run is over";
            return Err(Problem::new(format!("measures.{name}.{kind}"), problem));
        }
        if group.is_some_and(|group| group >= setting.groups.len()) {
            let problem = format!("there are {} groups of flows", setting.groups.len());
            return Err(Problem::new(format!("measures.{name}.{kind}"), problem));
        }
    }
    Ok(())
}

/// One measure at work.
pub trait Watch: Probe + Debug + Send {
    /// What was measured, once the run is over; not a number where that does not exist.
    fn finish(self: Box<Self>) -> f64;
}

/// Those of a setting at work, in the order of their names.
pub type Watchers = Vec<Box<dyn Watch>>;

/// An expression that has been checked; what cannot be read is no number.
fn read(text: &str) -> Expression {
    parse_expression(text).unwrap_or(Expression::Number(f64::NAN))
}

/// What watches a run of this setting, whose configuration with its seed is `config`; `trigger` is when
/// its [trigger](crate::setting::Trigger) came.
#[must_use]
pub fn watchers(setting: &Setting, config: &SimConfig, trigger: Option<Time>) -> Watchers {
    let groups = setting.group_of_flows();
    let extent = Extent {
        duration: config.duration,
        trigger: trigger.unwrap_or(Time::ZERO),
    };
    let sliding = |judge| Box::new(sliding::Watcher::new(config, &groups, judge));
    let watcher = |measure: &Measure| -> Box<dyn Watch> {
        match measure {
            Measure::Span(told) => Box::new(span::Watcher::new(told, setting, config, extent)),
            Measure::Reached(told) => sliding(reached::judge(told, extent)),
            Measure::Least(told) => sliding(least::judge(told, extent)),
            Measure::Worst(told) => sliding(worst::judge(told, extent)),
            Measure::Completion(told) => {
                Box::new(completion::Watcher::new(told, config, &groups, extent))
            }
            Measure::Phase(told) => {
                let part = Part::of(told.from, told.to, extent);
                let value = read(&told.value);
                Box::new(phase::Watcher::new(told, value, part, config))
            }
            Measure::Stretch(told) => {
                let part = Part::of(told.from, told.to, extent);
                let value = read(&told.value);
                Box::new(stretch::Watcher::new(told, value, part, config))
            }
            Measure::Invariant(told) => {
                let part = Part::of(told.from, told.to, extent);
                Box::new(invariant::Watcher::new(told, part, config))
            }
        }
    };
    setting.measures.values().map(watcher).collect()
}

/// What the watchers of a setting measured, once the run is over; what does not exist is missing.
#[must_use]
pub fn values(watchers: Watchers, setting: &Setting) -> Named {
    let names = setting.measures.keys().cloned();
    let values = watchers.into_iter().map(|watcher| watcher.finish());
    let values = names.zip(values);
    values.filter(|(_, value)| value.is_finite()).collect()
}

#[cfg(test)]
mod tests;
