//! What is measured in a run besides the metrics of the catalogue, as a scenario file asks for it under
//! names of its own: a metric in a part of the run, how long until a rate is reached, the worst
//! stretch of time.
//!
//! ```toml
//! [measures]
//! late_mbps = { span = { metric = "flows.0.goodput_mbps", from = "10s", to = "20s" } }
//! recovery_s = { reached = { share = 0.9, window = "100ms", from = "10s" } }
//! ```
//!
//! Each kind is a file: what it is told, and the probe that works it out in memory that does not grow
//! with the run.

mod completion;
mod least;
mod reached;
mod sliding;
mod span;
mod worst;

use std::collections::BTreeMap;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::probe::{AckSeen, Delivery, Departure, DropCause, LossSeen, Sent};
use lowtide_sim::{Probe, SimConfig};
use schemars::JsonSchema;
use serde::Deserialize;

use self::completion::Completion;
use self::least::Least;
use self::reached::Reached;
use self::span::Span;
use self::worst::Worst;
use crate::metrics::{Metric, Named, split_group};
use crate::setting::{Problem, Setting, SpanText};

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
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    from: Time,
    to: Time,
}

impl Part {
    fn of(from: Option<SpanText>, to: Option<SpanText>, duration: Duration) -> Self {
        let end = Time::ZERO + duration;
        Self {
            from: Time::ZERO + from.map_or(Duration::ZERO, |t| t.0),
            to: to.map_or(end, |t| Time::ZERO + t.0).min(end),
        }
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
        };
        let part = Part::of(from, to, setting.duration);
        if part.from >= part.to {
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
#[derive(Debug)]
enum Watcher {
    Span(Box<span::Watcher>),
    Sliding(Box<sliding::Watcher>),
    Completion(completion::Watcher),
}

/// Watches a run for all of its measures.
#[derive(Debug, Default)]
pub struct Measures {
    watchers: Vec<(String, Watcher)>,
}

impl Measures {
    /// Watches a run of this setting, whose configuration with its seed is `config`.
    #[must_use]
    pub fn new(setting: &Setting, config: &SimConfig) -> Self {
        let groups = setting.group_of_flows();
        let watchers = setting.measures.iter().map(|(name, measure)| {
            let sliding = |judge| {
                let watcher = sliding::Watcher::new(config, &groups, judge);
                Watcher::Sliding(Box::new(watcher))
            };
            let watcher = match measure {
                Measure::Span(span) => {
                    Watcher::Span(Box::new(span::Watcher::new(span, setting, config)))
                }
                Measure::Reached(told) => sliding(reached::judge(told, config.duration)),
                Measure::Least(told) => sliding(least::judge(told, config.duration)),
                Measure::Worst(told) => sliding(worst::judge(told, config.duration)),
                Measure::Completion(told) => {
                    Watcher::Completion(completion::Watcher::new(told, config, &groups))
                }
            };
            (name.clone(), watcher)
        });
        Self {
            watchers: watchers.collect(),
        }
    }

    /// What was measured, once the run is over; what does not exist is missing.
    #[must_use]
    pub fn finish(self) -> Named {
        let values = self.watchers.into_iter().map(|(name, watcher)| {
            let value = match watcher {
                Watcher::Span(watcher) => watcher.finish(),
                Watcher::Sliding(watcher) => watcher.finish(),
                Watcher::Completion(watcher) => watcher.finish(),
            };
            (name, value)
        });
        values.filter(|(_, value)| value.is_finite()).collect()
    }
}

macro_rules! forward_to_all {
    ($($method:ident($($arg:ident: $type:ty),*);)*) => {
        impl Probe for Measures {
            $(#[inline]
            fn $method(&mut self, $($arg: $type),*) {
                for (_, watcher) in &mut self.watchers {
                    match watcher {
                        Watcher::Span(watcher) => watcher.$method($($arg),*),
                        Watcher::Sliding(watcher) => watcher.$method($($arg),*),
                        Watcher::Completion(watcher) => watcher.$method($($arg),*),
                    }
                }
            })*
        }
    };
}

forward_to_all! {
    on_flow_start(flow: usize, start: Time, to_link: Duration, from_link: Duration);
    on_send(sent: &Sent);
    on_drop(flow: usize, now: Time, bytes: Bytes, cause: DropCause);
    on_bottleneck_exit(exit: &Departure);
    on_deliver(delivery: &Delivery<'_>);
    on_frame(flow: usize, written_at: Time, now: Time);
    on_ack(flow: usize, ack: &AckSeen<'_>);
    on_loss(flow: usize, loss: &LossSeen<'_>);
    on_timeout(flow: usize, now: Time);
    on_flow_complete(flow: usize, now: Time);
}

#[cfg(test)]
mod tests;
