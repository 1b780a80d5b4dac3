//! What happens once a flow has entered a phase, at a moment that only the run itself tells.
//!
//! Runs are deterministic: with the same seed the same happens until something differs. So the setting
//! is run without the trigger to learn when the moment comes, and then again with what it sets off.

use std::sync::Arc;

use lowtide_cc::units::quantity::{self, QuantityError};
use lowtide_cc::units::{Duration, Time};
use lowtide_sim::impairment::{Aggregation, Script};
use lowtide_sim::link::{Link, RateSchedule};
use lowtide_sim::probe::AckSeen;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::{SourceConfig, Step, Steps};
use lowtide_sim::{Probe, SimConfig};
use serde::Serialize;

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// It counts from the trigger instead of the run's begin.
    pub after_trigger: bool,
    /// The time since then.
    pub time: Duration,
}

impl Moment {
    /// Reads `2s`, or `+2s`: after the trigger.
    ///
    /// # Errors
    /// When the text is no time.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let (after_trigger, time) = match text.strip_prefix('+') {
            None => (false, text),
            Some(time) => (true, time),
        };
        let time = quantity::duration_or_zero(time)?;
        Ok(Self {
            after_trigger,
            time,
        })
    }

    /// When that is in a run in which the trigger came at `trigger`.
    #[must_use]
    pub fn at(self, trigger: Time) -> Time {
        let origin = if self.after_trigger {
            trigger
        } else {
            Time::ZERO
        };
        origin + self.time
    }
}

/// What is set off, and when. All times in it count from that moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trigger {
    /// Whose phase.
    pub flow: usize,
    /// As in [`Snapshot::phase`](lowtide_cc::controller::Snapshot::phase).
    pub phase: String,
    /// At which entry into it, counted from 1.
    pub visit: u64,
    /// When it is set off at the latest, whatever the flow does.
    pub by: Option<Time>,
    /// The link's rates.
    pub rates: Option<RateSchedule>,
    /// What the flow's application does.
    pub source: Option<Steps>,
    /// Losses and delays behind the bottleneck.
    pub script: Script,
    /// Time between two releases of acknowledgments.
    pub aggregation: Option<Duration>,
}

impl Trigger {
    /// The probe that finds its moment.
    #[must_use]
    pub fn probe(&self) -> PhaseProbe {
        PhaseProbe {
            flow: self.flow,
            phase: self.phase.clone(),
            visits_left: self.visit,
            is_inside: false,
            found: None,
        }
    }

    /// The moment, if it came in a run that `probe` saw.
    ///
    /// # Errors
    /// When it did not, in a sentence.
    pub fn moment(&self, probe: &PhaseProbe) -> Result<Time, String> {
        let in_time = |at: &Time| self.by.is_none_or(|by| *at < by);
        probe.found.filter(in_time).or(self.by).ok_or_else(|| {
            format!(
                "flow {} did not enter {} {} times, so that the trigger never came",
                self.flow, self.phase, self.visit
            )
        })
    }

    /// The simulation with what is set off at a moment.
    ///
    /// # Errors
    /// When the link has no rates that others could follow, in a sentence.
    pub fn apply(&self, mut config: SimConfig, at: Time) -> Result<SimConfig, String> {
        let since_start = at.since(Time::ZERO);
        let base_rtt = config.network().base_rtt;
        let pipe = &mut config.forward;
        if let Some(later) = &self.rates {
            let Link::Rates(rates) = &*pipe.link else {
                return Err("the link has no rates that others could follow".to_string());
            };
            let link = Link::Rates(rates.followed_by(at, later).map_err(|e| e.to_string())?);
            if let QueueLimit::Time(_) | QueueLimit::Bdp(_) = pipe.buffer {
                // As it was before the moment came.
                pipe.buffer = QueueLimit::Bytes(pipe.buffer.resolve(&pipe.link, base_rtt).bytes);
            }
            pipe.link = Arc::new(link);
        }
        let script = self.script.clone().shifted(since_start);
        pipe.script.losses.extend(script.losses);
        pipe.script.held_back.extend(script.held_back);
        if let Some(period) = self.aggregation {
            config.reverse.aggregation = Some(Aggregation { period, from: at });
        }
        if let Some(steps) = &self.source {
            let flow = config.flows.get_mut(self.flow);
            let flow = flow.ok_or("there is no such flow")?;
            let steps = followed_by(&flow.source, at.since(flow.start), steps);
            flow.source = SourceConfig::Steps(steps?);
        }
        Ok(config)
    }
}

/// A source that `later` follows from a moment on.
pub(super) fn followed_by(
    first: &SourceConfig,
    at: Duration,
    later: &Steps,
) -> Result<Steps, String> {
    let first = match first {
        SourceConfig::Bulk => vec![(Duration::ZERO, Step::Bulk)],
        SourceConfig::ConstantRate(rate) => vec![(Duration::ZERO, Step::Rate(*rate))],
        SourceConfig::Steps(steps) => steps.list().to_vec(),
        _ => return Err("only bulk, a rate or steps can be followed by steps".to_string()),
    };
    let before = first.into_iter().filter(|(begins, _)| *begins < at);
    let after = later
        .list()
        .iter()
        .map(|(begins, step)| (*begins + at, *step));
    let all: Vec<_> = before.chain(after).collect();
    Steps::new(&all).ok_or_else(|| "the source has too many steps".to_string())
}

/// Waits for the moment.
#[derive(Clone, Debug)]
pub struct PhaseProbe {
    flow: usize,
    phase: String,
    visits_left: u64,
    is_inside: bool,
    found: Option<Time>,
}

impl Probe for PhaseProbe {
    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        let Some(controller) = ack.controller.filter(|_| flow == self.flow) else {
            return;
        };
        let was_inside = std::mem::replace(
            &mut self.is_inside,
            controller.snapshot().phase == self.phase,
        );
        if self.is_inside && !was_inside && self.visits_left > 0 {
            self.visits_left -= 1;
            if self.visits_left == 0 {
                self.found = Some(ack.now);
            }
        }
    }
}
