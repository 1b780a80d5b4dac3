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
//! Moments are times of the run or, with `+` before them, since its [trigger](super::Trigger).

use std::collections::BTreeMap;

use lowtide_cc::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Setting;
use super::problem::{Problem, wrong};
use super::quantity::{MomentText, SpanText, TimeText};
use crate::claim::parse_expression;
use crate::metrics::{LABELS, Metric, split_group};

/// What is measured under a name.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
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

    /// The begin and the end of the part of the run that it is about, where they are said.
    pub(crate) fn part(&self) -> [Option<MomentText>; 2] {
        match self {
            Self::Span(Span { from, to, .. })
            | Self::Reached(Reached { from, to, .. })
            | Self::Least(Least { from, to, .. })
            | Self::Worst(Worst { from, to, .. })
            | Self::Completion(Completion { from, to, .. })
            | Self::Phase(Phase { from, to, .. })
            | Self::Stretch(Stretch { from, to, .. })
            | Self::Invariant(Invariant { from, to, .. }) => [*from, *to],
        }
    }

    /// The phases that it names, each with its key.
    pub(super) fn phases(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let named = match self {
            Self::Phase(one) => [
                ("name", one.name.as_deref().filter(|name| *name != ANY)),
                ("after", one.after.as_deref()),
                ("next", one.next.as_deref()),
            ],
            _ => [("", None); 3],
        };
        let named = named.into_iter();
        named.filter_map(|(key, phase)| Some((key, phase?)))
    }
}

/// A metric in a part of the run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Its name, of all flows together or of a group, as in `flows.0.goodput_mbps`.
    pub metric: String,
    /// Where the part begins (default: with the run).
    pub from: Option<MomentText>,
    /// Where it ends (default: with the run).
    pub to: Option<MomentText>,
}

/// Seconds from `from` to the end of the first window in which a group has a share of what the link
/// offers; missing when that never happens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reached {
    /// The group of flows (default: all flows together).
    pub group: Option<usize>,
    /// The share of what the link offers in the window, or of an even part of it for each flow with
    /// `fair`.
    pub share: f64,
    /// The share is of a fair part: what the link offers by the flows that send in all of the window.
    #[serde(default)]
    pub fair: bool,
    /// At most that share, instead of at least.
    #[serde(default)]
    pub below: bool,
    /// How long a window is (default: 100 ms).
    pub window: Option<TimeText>,
    /// It stays so for this long (default: no longer than the window).
    pub hold: Option<SpanText>,
    /// From where time is counted (default: the run's begin).
    pub from: Option<MomentText>,
    /// When it has not happened by then, it never does (default: the run's end).
    pub to: Option<MomentText>,
}

/// The least share of its fair share, which is what the link offers by the flows that send in all of
/// the window, that a flow of a group has in any window. Flows in the background get none.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Least {
    /// The group of flows (default: all).
    pub group: Option<usize>,
    /// How long a window is.
    pub window: TimeText,
    /// The first window begins here (default: with the run).
    pub from: Option<MomentText>,
    /// The last one ends here (default: with the run).
    pub to: Option<MomentText>,
}

/// What is looked for in each window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Looked {
    /// Bytes dropped over bytes sent.
    LossShare,
    /// What was sent, Mbit/s.
    SentMbps,
}

/// The largest value that so many windows in a row have, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worst {
    /// What is looked for.
    pub metric: Looked,
    /// The group of flows (default: all flows together).
    pub group: Option<usize>,
    /// How long a window is.
    pub window: TimeText,
    /// The number of bins in a row that have at least the value (default: 1).
    pub consecutive: Option<u8>,
    /// The first window begins here (default: with the run).
    pub from: Option<MomentText>,
    /// The last one ends here (default: with the run).
    pub to: Option<MomentText>,
}

/// Seconds from a flow's start until all that it had to send is acknowledged. A flow that does not get
/// so far counts with the time that it had.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The group of flows.
    pub group: usize,
    /// Which of them, in order: 0.5 for the median, 0.95, 1 for the slowest; the mean without it.
    pub quantile: Option<f64>,
    /// Flows that start before this are left out (default: none).
    pub from: Option<MomentText>,
    /// Starts later than this do not count (default: all do).
    pub to: Option<MomentText>,
}

/// A value of a flow, worked out from what is known of it at acknowledgments in a phase
/// (`docs/scoring.md` has the names).
///
/// Besides, of a visit of the phase until then: `rounds` (packet-timed round trips, counted from packet
/// numbers), `drops` (packets of the flow that the network dropped), `losses` (packets that the sender
/// declared lost), `rounds_since_drop` and `since_drop` (s; both since the visit's first drop), and under
/// `entry.NAME` what a value was at the visit's first acknowledgment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Whose, counted from 0 (default 0).
    #[serde(default)]
    pub flow: usize,
    /// The phase by the controller's own name, or `any`, where each phase is a visit (default: the whole
    /// run is one visit).
    pub name: Option<String>,
    /// Only at this visit, counted from 1 (default: at each).
    pub visit: Option<u64>,
    /// Only visits that come directly after this phase.
    pub after: Option<String>,
    /// Only visits that this phase follows directly.
    pub next: Option<String>,
    /// What of it, as in `max_bw / cap`.
    pub value: String,
    /// When in a visit (default `entry`).
    #[serde(default)]
    pub at: At,
    /// What of several visits (default `most`).
    #[serde(default)]
    pub of: Of,
    /// Only acknowledgments from then on (default: the run's begin).
    pub from: Option<MomentText>,
    /// Only acknowledgments before (default: the run's end).
    pub to: Option<MomentText>,
}

/// The [name](Phase::name) of any phase.
pub(crate) const ANY: &str = "any";

/// An acknowledgment of a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// The first.
    #[default]
    Entry,
    /// The last.
    Exit,
    /// The one with which the next phase begins.
    After,
    /// Where the value is least.
    Least,
    /// Where it is most.
    Most,
}

/// What is made of the values of several visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The least.
    Least,
    /// The largest.
    #[default]
    Most,
    /// Their sum.
    Sum,
    /// How many there are.
    Count,
    /// The last one.
    Last,
}

/// The stretches of time in which a value of a flow, worked out from what is known of it at
/// acknowledgments (`docs/scoring.md` has the names), is at most, or at least, a number.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Whose, counted from 0 (default 0).
    #[serde(default)]
    pub flow: usize,
    /// The value, as in `inflight / (cap * base_rtt)`.
    pub value: String,
    /// The value is not above this …
    pub at_most: Option<f64>,
    /// … and not below this.
    pub at_least: Option<f64>,
    /// What of the stretches.
    pub what: What,
    /// Stretches that begin from then on (default: the run's begin).
    pub from: Option<MomentText>,
    /// Stretches that begin before (default: the run's end).
    pub to: Option<MomentText>,
}

/// What of stretches of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// How many there are.
    Count,
    /// The length of the shortest that ended, s.
    Shortest,
    /// The length of the longest that ended, s.
    Longest,
    /// The shortest time from the begin of one to the begin of the next, s.
    LeastPeriod,
    /// The longest such time, s.
    MostPeriod,
    /// From `from` to the begin of the first, s.
    First,
}

/// How often rules of the BBR draft (draft-ietf-ccwg-bbr) are broken; missing where the controller's
/// phases are not those of the draft.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    /// Whose, counted from 0 (default 0).
    #[serde(default)]
    pub flow: usize,
    /// Which rules (default: all of them).
    #[serde(default = "all")]
    pub rules: Vec<Rule>,
    /// From then on (default: the run's begin).
    pub from: Option<MomentText>,
    /// Until then (default: the run's end).
    pub to: Option<MomentText>,
}

/// A rule of the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A phase is entered only from one that may lead to it (§5.1.2 and §5.3).
    Transitions,
    /// The pacing rate is gain × `bw` × 0.99 within 0.1 %, with the draft's gain of the phase (§5.6.2);
    /// before the pipe has been full it is that at least, and does not fall.
    Pacing,
    /// The window is at least 4 packets, but in a recovery after a timeout (§5.6.4).
    Window,
    /// When a packet leaves, what is in flight is not above the window by more than a send quantum.
    Inflight,
    /// `max_bw` is at most 1.05 × the largest rate that the link has had in this cycle of ProbeBW and the
    /// two before (§5.5.6).
    MaxBw,
}

fn all() -> Vec<Rule> {
    vec![
        Rule::Transitions,
        Rule::Pacing,
        Rule::Window,
        Rule::Inflight,
        Rule::MaxBw,
    ]
}

/// The most measures of a setting: each watches the whole run.
const MAX_MEASURES: usize = 64;

/// Checks what is to be measured in a setting's runs.
///
/// # Errors
/// Names the key whose value is wrong.
pub(super) fn check(
    measures: &BTreeMap<String, Measure>,
    setting: &Setting,
) -> Result<(), Problem> {
    if measures.len() > MAX_MEASURES {
        return wrong("measures", format!("at most {MAX_MEASURES} of them"));
    }
    for (name, measure) in measures {
        check_name(name).or_else(|e| wrong(&format!("measures.{name}"), e))?;
        let (kind, group, flow, value) = match measure {
            Measure::Span(one) => ("span", split_group(&one.metric).0, None, None),
            Measure::Reached(one) => ("reached", one.group, None, None),
            Measure::Least(one) => ("least", one.group, None, None),
            Measure::Worst(one) => ("worst", one.group, None, None),
            Measure::Completion(one) => ("completion", Some(one.group), None, None),
            Measure::Phase(one) => ("phase", None, Some(one.flow), Some(&one.value)),
            Measure::Stretch(one) => ("stretch", None, Some(one.flow), Some(&one.value)),
            Measure::Invariant(one) => ("invariant", None, Some(one.flow), None),
        };
        let at = |key: &str| format!("measures.{name}.{kind}{key}");
        if let Some(metric) = measure.metric()
            && Metric::of_key(split_group(metric).1).is_none()
        {
            return wrong(&at(".metric"), format!("nothing is called '{metric}'"));
        }
        if let Some(Err(e)) = value.map(|text| parse_expression(text)) {
            return wrong(&at(".value"), e);
        }
        if flow.is_some_and(|flow| flow >= setting.flow_count()) {
            let problem = format!("there are {} flows, counted from 0", setting.flow_count());
            return wrong(&at(".flow"), problem);
        }
        let [from, to] = measure.part();
        let follows = |at: Option<MomentText>| at.is_some_and(|at| at.0.after_trigger);
        if (follows(from) || follows(to)) && setting.trigger.is_none() {
            let problem = "a time with + counts from the [trigger], and there is none";
            return wrong(&at(""), problem);
        }
        // Where one counts from the trigger and the other does not, only the run tells.
        let comparable = follows(from) == follows(to) || from.is_none() || to.is_none();
        let end = Time::ZERO + setting.duration;
        let moment = |text: MomentText| text.0.at(Time::ZERO);
        let begin = from.map_or(Time::ZERO, moment);
        if comparable && begin >= to.map_or(end, moment).min(end) {
            let problem = "ends before it begins, or begins when the run is over";
            return wrong(&at(""), problem);
        }
        if group.is_some_and(|group| group >= setting.groups.len()) {
            let problem = format!("there are {} groups of flows", setting.groups.len());
            return wrong(&at(""), problem);
        }
    }
    Ok(())
}

/// Whether results can have a value of this name beside the metrics.
fn check_name(name: &str) -> Result<(), &'static str> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.chars().all(is_name) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        Err("a name has letters a to z, digits and '_', and begins with a letter")
    } else if Metric::of_key(name).is_some() {
        Err("there is a metric of this name; take another")
    } else if LABELS.contains(&name) {
        Err("a column of stores has this name; take another")
    } else {
        Ok(())
    }
}
