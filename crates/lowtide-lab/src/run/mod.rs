//! One run: a setting with a seed, carried by its host, and what was measured in it.

mod pool;
mod watch;

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

use lowtide_cc::units::Time;
use lowtide_sim::{Outcome, Probe, SimConfig, Simulation};
use serde::{Deserialize, Serialize};

pub use self::pool::{NoThreads, Pool, Task};
use self::watch::Stopped;
pub use self::watch::{Stop, Watch};
use crate::contender::{Contender, Surroundings};
use crate::measure::{self, Gauges};
use crate::metrics::{Delays, Measured, Meter};
use crate::setting::{Host, Setting};
use crate::timeline::Timeline;

/// What is kept of a run besides its metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// Nothing.
    #[default]
    Metrics,
    /// The distributions of delays.
    Distributions,
    /// Distributions and the run over time, which takes some megabytes of memory.
    Timeline,
}

/// What a report needs beyond the metrics.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Details {
    /// Packets that crossed the bottleneck.
    pub packets: u64,
    /// RTTs; empty unless kept.
    pub rtt: Delays,
    /// One-way delays beyond propagation, likewise.
    pub queueing: Delays,
    /// Over time, if kept.
    pub timeline: Option<Timeline>,
}

/// A run that came to its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The run's seed.
    pub seed: u64,
    /// What was measured.
    pub measured: Measured,
    /// `None` where the metrics come from the store.
    pub details: Option<Details>,
}

/// A run that did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}, seed {seed}: {reason}")]
pub struct FailedRun {
    /// Controller that was running, or cell.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// What went wrong.
    pub reason: String,
}

/// Runs a setting once. A controller that panics ends its own run and no other.
///
/// # Errors
/// Why the run did not come to its end, in a sentence.
pub fn run(setting: &Setting, seed: u64, keep: Keep) -> Result<Run, String> {
    run_until(setting, seed, keep, &Stop::default())
}

/// Runs a setting, unless `stop` ends it before.
///
/// # Errors
/// As [`run`]; also when it was ended.
pub fn run_until(setting: &Setting, seed: u64, keep: Keep, stop: &Stop) -> Result<Run, String> {
    let whole = AssertUnwindSafe(|| run_unguarded(setting, seed, keep, stop));
    panic::catch_unwind(whole).unwrap_or_else(|panic| Err(reason(&*panic)))
}

/// Runs a setting once, watched by `probe`; nothing else is measured.
///
/// # Errors
/// As [`run`].
pub fn watched<P: Probe + Send + 'static>(
    setting: &Setting,
    seed: u64,
    probe: P,
    stop: &Stop,
) -> Result<(Outcome, P), String> {
    let whole = AssertUnwindSafe(|| {
        let (config, _) = config_until(setting, seed, stop)?;
        let (outcome, (probe, _)) = simulate(setting, config, (probe, stop.clone()))?;
        Ok((outcome, probe))
    });
    panic::catch_unwind(whole).unwrap_or_else(|panic| Err(reason(&*panic)))
}

fn run_unguarded(setting: &Setting, seed: u64, keep: Keep, stop: &Stop) -> Result<Run, String> {
    let (config, trigger) = config_until(setting, seed, stop)?;
    let meters = meters(setting, &config, trigger);
    let timeline = (keep >= Keep::Timeline).then(|| Timeline::new(&config));
    let probe = (meters, (timeline, stop.clone()));
    let (outcome, (meters, (timeline, _))) = simulate(setting, config, probe)?;
    let packets = outcome.bottleneck_packets;
    Ok(measured(setting, seed, keep, meters, packets, timeline))
}

/// What measures a run of a setting: its metrics and its measures.
pub(crate) type Meters = (Meter, Gauges);

/// The meters of a run, whose configuration is `config` and whose trigger came at `trigger`.
pub(crate) fn meters(setting: &Setting, config: &SimConfig, trigger: Option<Time>) -> Meters {
    let meter = Meter::new(config)
        .of_groups(setting.group_of_flows())
        .measuring_from(setting.measure_from);
    (meter, measure::gauges(setting, config, trigger))
}

/// The run that meters have measured; `packets` crossed the bottleneck in it.
pub(crate) fn measured(
    setting: &Setting,
    seed: u64,
    keep: Keep,
    (mut meter, measures): Meters,
    packets: u64,
    timeline: Option<Timeline>,
) -> Run {
    let measured = Measured {
        extra: measure::values(measures, setting),
        ..meter.finish()
    };
    let (rtt, queueing) = match keep {
        Keep::Metrics => Default::default(),
        Keep::Distributions | Keep::Timeline => (meter.rtt(), meter.queueing()),
    };
    let details = Some(Details {
        packets,
        rtt,
        queueing,
        timeline,
    });
    Run {
        seed,
        measured,
        details,
    }
}

/// The simulation of a seed; where something is to happen once a flow has entered a phase, a run without
/// it tells when.
pub(crate) fn config(setting: &Setting, seed: u64) -> Result<(SimConfig, Option<Time>), String> {
    config_until(setting, seed, &Stop::default())
}

fn config_until(
    setting: &Setting,
    seed: u64,
    stop: &Stop,
) -> Result<(SimConfig, Option<Time>), String> {
    let config = setting.config(seed).map_err(|e| e.to_string())?;
    let Some(trigger) = &setting.trigger else {
        return Ok((config, None));
    };
    let mut first = config.clone();
    if let Some(by) = trigger.by {
        first.duration = first.duration.min(by.since(Time::ZERO));
    }
    let (_, (probe, _)) = simulate(setting, first, (trigger.probe(), stop.clone()))?;
    let at = trigger.moment(&probe)?;
    Ok((trigger.apply(config, at)?, Some(at)))
}

/// A whole run of a setting's configuration, watched by `probe`.
pub(crate) fn simulate<P: Probe + Send + 'static>(
    setting: &Setting,
    config: SimConfig,
    probe: P,
) -> Result<(Outcome, P), String> {
    let of_groups = setting.groups.iter().map(|group| &group.contender);
    let surroundings: Vec<&Surroundings> = of_groups.filter_map(Contender::surroundings).collect();
    let mut result = Err("did not begin".to_string());
    let mut parts = Some((config, probe));
    within(&surroundings, &mut || {
        if let Some((config, probe)) = parts.take() {
            result = carry(setting, config, probe);
        }
    });
    result
}

/// Does something within all of these.
fn within(surroundings: &[&Surroundings], run: &mut (dyn FnMut() + Send)) {
    match surroundings.split_first() {
        None => run(),
        Some((first, rest)) => first.within(&mut || within(rest, run)),
    }
}

/// Runs without what surrounds the run.
fn carry<P: Probe + Send + 'static>(
    setting: &Setting,
    config: SimConfig,
    mut probe: P,
) -> Result<(Outcome, P), String> {
    let senders = setting.groups.iter().map(|group| &group.contender);
    if let Some(program) = senders
        .into_iter()
        .find(|c| matches!(c, Contender::Program(_)))
    {
        let name = program.name();
        return Err(format!(
            "{name} is a program: it runs over real packets only"
        ));
    }
    match Host::of(setting) {
        Host::Model => {
            let simulation = Simulation::new(config).map_err(|e| e.to_string())?;
            let outcome = simulation.run(&mut probe);
            Ok((outcome, probe))
        }
        #[cfg(feature = "quic")]
        Host::Quic => lowtide_quic::virtual_time::run(&config, probe).map_err(|e| e.to_string()),
        #[cfg(feature = "stacks")]
        Host::Noq => lowtide_stacks::noq::run(&config, probe).map_err(|e| e.to_string()),
        #[cfg(feature = "stacks")]
        Host::Quinn => lowtide_stacks::quinn::run(&config, probe).map_err(|e| e.to_string()),
    }
}

/// What ends a run without being a panic.
struct Abandoned(String);

/// Ends the run that this thread makes; `reason` becomes the failed run's. For controllers whose events call
/// code that may fail; it unwinds, and no panic hook hears of it.
pub fn abandon(reason: String) -> ! {
    panic::resume_unwind(Box::new(Abandoned(reason)))
}

/// What a panic says.
#[must_use]
pub fn reason(panic: &(dyn Any + Send)) -> String {
    if let Some(Abandoned(reason)) = panic.downcast_ref() {
        return reason.clone();
    }
    if panic.is::<Stopped>() {
        return "ended before its time".to_string();
    }
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", message.unwrap_or("without a message"))
}
