//! The probes behind a setting's [measures](crate::setting::Measure).
//!
//! Each kind is a file. Memory does not grow with the run.

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

use std::fmt::Debug;

use lowtide_cc::units::Time;
use lowtide_sim::{Probe, SimConfig};

use crate::claim::{Expression, parse_expression};
use crate::metrics::Named;
use crate::setting::{Measure, MomentText, Setting};

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    from: Time,
    to: Time,
}

impl Part {
    /// The part that a measure is about, of a run that ends at `end` and whose trigger came at `trigger`.
    fn of(measure: &Measure, end: Time, trigger: Time) -> Self {
        let [from, to] = measure.part();
        let at = |text: MomentText| text.0.at(trigger);
        Self {
            from: from.map_or(Time::ZERO, at),
            to: to.map_or(end, at).min(end),
        }
    }

    /// Whether a moment lies in it.
    fn contains(self, at: Time) -> bool {
        self.from <= at && at < self.to
    }
}

/// One measure at work.
pub trait Gauge: Probe + Debug + Send {
    /// What was measured, once the run is over; not a number where that does not exist.
    fn finish(self: Box<Self>) -> f64;
}

/// Gauges of a setting at work, in the order of their names.
pub type Gauges = Vec<Box<dyn Gauge>>;

/// An expression that has been checked; what cannot be read is no number.
fn read(text: &str) -> Expression {
    parse_expression(text).unwrap_or(Expression::Number(f64::NAN))
}

/// What watches a run of this setting, whose configuration with its seed is `config`; `trigger` is when
/// its [trigger](crate::setting::Trigger) came.
#[must_use]
pub fn gauges(setting: &Setting, config: &SimConfig, trigger: Option<Time>) -> Gauges {
    let groups = setting.group_of_flows();
    let sliding = |judge| Box::new(sliding::Windows::new(config, &groups, judge));
    let gauge = |measure: &Measure| -> Box<dyn Gauge> {
        let end = Time::ZERO + config.duration;
        let part = Part::of(measure, end, trigger.unwrap_or(Time::ZERO));
        match measure {
            Measure::Span(told) => Box::new(span::gauge(told, part, setting, config)),
            Measure::Reached(told) => sliding(reached::judge(told, part)),
            Measure::Least(told) => sliding(least::judge(told, part)),
            Measure::Worst(told) => sliding(worst::judge(told, part)),
            Measure::Completion(told) => {
                Box::new(completion::Transfers::new(told, part, config, &groups))
            }
            Measure::Phase(told) => Box::new(phase::Visits::new(told, part, config)),
            Measure::Stretch(told) => Box::new(stretch::Stretches::new(told, part, config)),
            Measure::Invariant(told) => Box::new(invariant::Rules::new(told, part, config)),
        }
    };
    setting.measures.values().map(gauge).collect()
}

/// What the gauges of a setting measured, once the run is over; what does not exist is missing.
#[must_use]
pub fn values(gauges: Gauges, setting: &Setting) -> Named {
    let names = setting.measures.keys().cloned();
    let values = gauges.into_iter().map(|gauge| gauge.finish());
    let values = names.zip(values);
    values.filter(|(_, value)| value.is_finite()).collect()
}

#[cfg(test)]
mod tests;
