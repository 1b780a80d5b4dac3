//! Controllers side by side on one scenario.
//!
//! Every comparison is framed by the physical limit (the oracle) and the floor (the best constant
//! window). Runs are independent and deterministic, so that the number of threads changes nothing
//! but the time it takes.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

use lowtide_cc::registry;
use lowtide_sim::ConfigError;
use lowtide_sim::link::LinkError;
use lowtide_sim::{Outcome, Probe, SenderKind, SimConfig, Simulation};
use rayon::prelude::*;

use crate::metrics::{Delays, Measured, Meter, Metrics};
use crate::scenario::{Scenario, sender};
use crate::statistics::{ci95, mean};
use crate::timeline::Timeline;

/// Windows that are tried for the floor, in BDP: powers of √2 from 1/4 to 8.
const WINDOWS_BDP: [f64; 11] = [
    0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0, 5.657, 8.0,
];

/// Who is compared.
#[derive(Clone, Debug)]
pub enum Contender {
    /// The physical limit.
    Oracle,
    /// A controller: one of the registry's, or your own.
    Controller {
        /// How it is shown; the spec as the user wrote it.
        name: String,
        /// What makes one for each flow.
        sender: SenderKind,
    },
}

/// Name of the oracle.
pub const ORACLE: &str = "oracle";

impl Contender {
    /// The contender that a spec names; `oracle` or a controller.
    ///
    /// # Errors
    /// When the spec names neither.
    pub fn parse(spec: &str) -> Result<Self, registry::Error> {
        if spec == ORACLE {
            return Ok(Self::Oracle);
        }
        registry::parse(spec).map(|parsed| Self::Controller {
            name: spec.to_string(),
            sender: sender(&parsed),
        })
    }

    /// How it is shown.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Oracle => ORACLE,
            Self::Controller { name, .. } => name,
        }
    }

    /// What carries its flows when `host` is asked for.
    pub(crate) fn host(&self, host: Host) -> Host {
        match self {
            Self::Oracle => Host::Model,
            Self::Controller { .. } => host,
        }
    }

    /// What makes its senders.
    #[must_use]
    pub fn sender(&self) -> SenderKind {
        match self {
            Self::Oracle => SenderKind::Oracle,
            Self::Controller { sender, .. } => sender.clone(),
        }
    }
}

/// Why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The link cannot be generated.
    #[error("the link cannot be made: {0}")]
    Link(#[from] LinkError),
    /// The configuration cannot be simulated.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The configuration cannot run over the QUIC host.
    #[cfg(feature = "quic")]
    #[error("{0}")]
    Quic(String),
    /// The threads cannot be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(String),
}

/// What part a result plays in its comparison, in the order of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The physical limit.
    Limit,
    /// A controller that was asked for.
    Contender,
    /// The best constant window.
    Floor,
}

/// A controller's results.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its part.
    pub role: Role,
    /// Mean over the seeds.
    pub mean: Metrics,
    /// Half the 95 % interval of each mean, where there are several seeds.
    pub ci95: Option<Metrics>,
    /// Each flow, mean over the seeds.
    pub flows: Vec<Metrics>,
    /// Each seed.
    pub seeds: Vec<Metrics>,
    /// The first seed over time, if asked for.
    pub timeline: Option<Timeline>,
    /// RTTs of the first seed.
    pub rtt: Delays,
    /// One-way delays beyond propagation of the first seed.
    pub queueing: Delays,
}

/// A run that did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// Who was running.
    pub name: String,
    /// With which seed.
    pub seed: u64,
    /// What went wrong.
    pub reason: String,
}

/// A finished comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Limit, contenders by falling power, floor; without those of whom no run came to its end.
    pub entries: Vec<Entry>,
    /// Runs that are missing in the entries.
    pub failed: Vec<FailedRun>,
    /// Constant windows that were tried for the floor: name and metrics, first seed.
    pub windows: Vec<(String, Metrics)>,
    /// Packets that crossed the bottleneck in all runs.
    pub simulated_packets: u64,
}

/// What carries the flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Host {
    /// The simulator's own transports.
    #[default]
    Model,
    /// s2n-quic in virtual time, on the same links. The oracle, which is no controller, stays with
    /// the model.
    #[cfg(feature = "quic")]
    Quic,
}

/// How a comparison is run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What carries the flows.
    pub host: Host,
    /// How many seeds.
    pub seeds: u64,
    /// The first of them.
    pub first_seed: u64,
    /// Threads; 0: one for each core.
    pub jobs: usize,
    /// Keep the first seed of each contender over time.
    pub timelines: bool,
}

struct Run {
    measured: Measured,
    packets: u64,
    timeline: Option<Timeline>,
    rtt: Delays,
    queueing: Delays,
}

/// One run. A controller that panics ends its own run and no other.
fn run(
    scenario: &Scenario,
    contender: &Contender,
    host: Host,
    seed: u64,
    timeline: bool,
) -> Result<Result<Run, FailedRun>, Error> {
    let config = scenario.config(&contender.sender(), seed)?;
    let probe = (
        Meter::new(&config),
        timeline.then(|| Timeline::new(&config)),
    );
    let simulate = AssertUnwindSafe(|| simulate(contender.host(host), config, probe));
    let (outcome, probe) = match panic::catch_unwind(simulate) {
        Ok(done) => done?,
        Err(panic) => {
            return Ok(Err(FailedRun {
                name: contender.name().to_string(),
                seed,
                reason: reason(&*panic),
            }));
        }
    };
    let (mut meter, timeline) = probe;
    Ok(Ok(Run {
        measured: meter.finish(),
        packets: outcome.bottleneck_packets,
        timeline,
        rtt: meter.rtt(),
        queueing: meter.queueing(),
    }))
}

/// A whole run, watched by `probe`.
pub(crate) fn simulate<P: Probe + Send + 'static>(
    host: Host,
    config: SimConfig,
    mut probe: P,
) -> Result<(Outcome, P), Error> {
    match host {
        Host::Model => {
            let outcome = Simulation::new(config)?.run(&mut probe);
            Ok((outcome, probe))
        }
        #[cfg(feature = "quic")]
        Host::Quic => {
            lowtide_quic::virtual_time::run(&config, probe).map_err(|e| Error::Quic(e.to_string()))
        }
    }
}

/// What a panic says.
pub(crate) fn reason(panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", message.unwrap_or("without a message"))
}

/// How many runs a comparison takes.
#[must_use]
pub fn count_runs(contenders: &[Contender], plan: &Plan) -> u64 {
    let asked = contenders
        .iter()
        .filter(|c| !matches!(c, Contender::Oracle))
        .count() as u64;
    (asked + 1) * plan.seeds + WINDOWS_BDP.len() as u64 + plan.seeds.saturating_sub(1)
}

fn window_contender(packets: u64) -> Option<Contender> {
    Contender::parse(&format!("window:packets={}", packets.max(1))).ok()
}

/// Runs a comparison. `progress` is called after each run.
///
/// # Errors
/// When the scenario cannot be simulated at all.
pub fn compare(
    scenario: &Scenario,
    contenders: &[Contender],
    plan: &Plan,
    progress: &(dyn Fn() + Sync),
) -> Result<Comparison, Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(plan.jobs)
        .build()
        .map_err(|e| Error::Threads(e.to_string()))?;
    pool.install(|| compare_here(scenario, contenders, plan, progress))
}

fn compare_here(
    scenario: &Scenario,
    contenders: &[Contender],
    plan: &Plan,
    progress: &(dyn Fn() + Sync),
) -> Result<Comparison, Error> {
    let mut all = vec![Contender::Oracle];
    all.extend(
        contenders
            .iter()
            .filter(|c| !matches!(c, Contender::Oracle))
            .cloned(),
    );
    let asked = all.len();
    all.extend(windows(scenario, plan.first_seed)?);

    let seeds: Vec<u64> = (0..plan.seeds.max(1))
        .map(|n| plan.first_seed.wrapping_add(n))
        .collect();
    let mut tasks: Vec<(usize, u64)> = (0..asked)
        .flat_map(|c| seeds.iter().map(move |seed| (c, *seed)))
        .collect();
    tasks.extend((asked..all.len()).map(|c| (c, plan.first_seed)));
    let mut failed = Vec::new();
    let mut simulated_packets = 0;
    // Runs tasks; what came to its end, with the contender's index, in the order of the tasks.
    let mut execute = |tasks: &[(usize, u64)]| -> Result<Vec<(usize, Run)>, Error> {
        let runs: Vec<Result<Run, FailedRun>> = tasks
            .par_iter()
            .map(|&(c, seed)| {
                let timeline = plan.timelines && c < asked && seed == plan.first_seed;
                let done = run(scenario, &all[c], plan.host, seed, timeline);
                progress();
                done
            })
            .collect::<Result<_, Error>>()?;
        let mut done = Vec::with_capacity(runs.len());
        for (&(c, _), run) in tasks.iter().zip(runs) {
            match run {
                Ok(run) => {
                    simulated_packets += run.packets;
                    done.push((c, run));
                }
                Err(failure) => failed.push(failure),
            }
        }
        Ok(done)
    };
    let mut of_contenders: Vec<Vec<Run>> = all.iter().map(|_| Vec::new()).collect();
    for (c, run) in execute(&tasks)? {
        of_contenders[c].push(run);
    }
    let tried: Vec<(usize, Metrics)> = (asked..all.len())
        .filter_map(|c| Some((c, of_contenders[c].first()?.measured.total)))
        .collect();
    let best = tried
        .iter()
        .max_by(|(_, a), (_, b)| finite_or_least(a.power).total_cmp(&finite_or_least(b.power)))
        .map(|(c, _)| *c);
    if let Some(best) = best {
        let more: Vec<(usize, u64)> = seeds[1..].iter().map(|seed| (best, *seed)).collect();
        for (c, run) in execute(&more)? {
            of_contenders[c].push(run);
        }
    }
    let windows = tried
        .into_iter()
        .map(|(c, metrics)| (all[c].name().to_string(), metrics))
        .collect();
    let mut entries: Vec<Entry> = Vec::new();
    for (c, runs) in of_contenders.into_iter().enumerate() {
        let role = match c {
            0 => Role::Limit,
            _ if c < asked => Role::Contender,
            _ if best == Some(c) => Role::Floor,
            _ => continue,
        };
        if !runs.is_empty() {
            entries.push(entry(all[c].name(), role, runs));
        }
    }
    entries.sort_by(|a, b| {
        let power = |e: &Entry| finite_or_least(e.mean.power);
        a.role.cmp(&b.role).then(power(b).total_cmp(&power(a)))
    });
    Ok(Comparison {
        entries,
        failed,
        windows,
        simulated_packets,
    })
}

/// Flows that never got a sample have no power; they come last.
fn finite_or_least(power: f64) -> f64 {
    if power.is_finite() { power } else { f64::MIN }
}

/// The constant windows to try.
fn windows(scenario: &Scenario, seed: u64) -> Result<Vec<Contender>, Error> {
    let packets =
        scenario.bdp(seed)?.as_f64() / scenario.packet_size.as_f64() / scenario.flows.max(1) as f64;
    let mut sizes: Vec<u64> = WINDOWS_BDP
        .iter()
        .map(|n| ((n * packets).round() as u64).clamp(1, 100_000_000))
        .collect();
    sizes.dedup();
    Ok(sizes.into_iter().filter_map(window_contender).collect())
}

fn entry(name: &str, role: Role, runs: Vec<Run>) -> Entry {
    let seeds: Vec<Metrics> = runs.iter().map(|r| r.measured.total).collect();
    let flow_count = runs
        .iter()
        .map(|r| r.measured.flows.len())
        .min()
        .unwrap_or(0);
    let flows = (0..flow_count)
        .map(|n| {
            let of_flow: Vec<Metrics> = runs.iter().map(|r| r.measured.flows[n]).collect();
            Metrics::combine(&of_flow, mean)
        })
        .collect();
    let mean = Metrics::combine(&seeds, mean);
    let ci95 = (seeds.len() > 1).then(|| Metrics::combine(&seeds, ci95));
    let first = runs.into_iter().next();
    let (timeline, rtt, queueing) = first.map_or_else(Default::default, |run| {
        (run.timeline, run.rtt, run.queueing)
    });
    Entry {
        name: name.to_string(),
        role,
        mean,
        ci95,
        flows,
        seeds,
        timeline,
        rtt,
        queueing,
    }
}
