//! Controllers side by side in one setting.
//!
//! Every comparison is framed by the physical limit (the oracle) and the floor (the best constant
//! window).

mod underway;

use lowtide_sim::link::LinkError;

pub use self::underway::{Due, Underway, count_runs};
use crate::contender::Contender;
use crate::metrics::{Delays, Metrics};
use crate::run::{FailedRun, NoThreads, Pool, Run, Task, Watch};
use crate::setting::{Life, Problem, Setting};
use crate::statistics::{ci95, mean};
use crate::timeline::Timeline;

/// Why nothing can be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The link cannot be generated.
    #[error("the link cannot be made: {0}")]
    Link(#[from] LinkError),
    /// The host cannot carry a contender.
    #[error(transparent)]
    Host(#[from] Problem),
    /// The threads cannot be started.
    #[error(transparent)]
    Threads(#[from] NoThreads),
}

/// What part a result plays in its comparison, in the order of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The physical limit.
    Limit,
    /// A bound that was asked for.
    Bound,
    /// A controller that was asked for.
    Contender,
    /// The best constant window.
    Floor,
}

impl Role {
    /// The part of one who is asked for.
    #[must_use]
    pub const fn of(contender: &Contender) -> Self {
        match contender {
            Contender::Oracle => Self::Limit,
            Contender::Causal { .. } | Contender::Abc { .. } => Self::Bound,
            Contender::Controller { .. } | Contender::Stock(_) | Contender::Program(_) => {
                Self::Contender
            }
        }
    }
}

/// A controller's results.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The result's name.
    pub name: String,
    /// The result's part.
    pub role: Role,
    /// Mean over the seeds.
    pub mean: Metrics,
    /// Half the 95 % interval of each mean, where there are several seeds.
    pub ci95: Option<Metrics>,
    /// Each flow, mean over the seeds.
    pub flows: Vec<Metrics>,
    /// The flows by name, where their controllers differ; else none.
    pub lives: Vec<Life>,
    /// Each seed.
    pub seeds: Vec<Metrics>,
    /// The first seed over time, if asked for.
    pub timeline: Option<Timeline>,
    /// RTTs of the first seed.
    pub rtt: Delays,
    /// One-way delays beyond propagation of the first seed.
    pub queueing: Delays,
}

impl Entry {
    /// The results of one contender's runs, the first seed's first.
    #[must_use]
    pub fn of_runs(name: &str, role: Role, runs: Vec<Run>) -> Self {
        let seeds: Vec<Metrics> = runs.iter().map(|r| r.measured.total).collect();
        let flow_count = runs.iter().map(|r| r.measured.flows.len()).min();
        let flows = (0..flow_count.unwrap_or(0)).map(|n| {
            let of_flow: Vec<Metrics> = runs.iter().map(|r| r.measured.flows[n]).collect();
            Metrics::combine(&of_flow, mean)
        });
        let flows = flows.collect();
        let details = runs.into_iter().find_map(|run| run.details);
        let (timeline, rtt, queueing) =
            details.map_or_else(Default::default, |d| (d.timeline, d.rtt, d.queueing));
        Self {
            name: name.to_string(),
            role,
            mean: Metrics::combine(&seeds, mean),
            ci95: (seeds.len() > 1).then(|| Metrics::combine(&seeds, ci95)),
            flows,
            lives: Vec::new(),
            seeds,
            timeline,
            rtt,
            queueing,
        }
    }

    /// Names the flows of a setting of several groups.
    #[must_use]
    pub fn with_flows_of(mut self, setting: &Setting) -> Self {
        if setting.groups.len() > 1 {
            self.lives = setting.lives();
        }
        self
    }
}

/// A finished comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Limit, other bounds, contenders by falling power, floor; without those of whom no run came to its end.
    pub entries: Vec<Entry>,
    /// Runs that are missing in the entries.
    pub failed: Vec<FailedRun>,
    /// Constant windows that were tried for the floor: name and metrics, first seed.
    pub windows: Vec<(String, Metrics)>,
    /// Packets that crossed the bottleneck in all runs.
    pub simulated_packets: u64,
}

impl Comparison {
    /// Whether a metric of any entry is above zero, as marks and delays of frames are where there are any.
    #[must_use]
    pub fn has(&self, metric: &str) -> bool {
        let mut values = self.entries.iter().map(|e| e.mean[metric]);
        values.any(|value| value > 0.0)
    }
}

/// How a comparison is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Threads; 0: one for each core.
    pub jobs: usize,
    /// Keep the first seed of each contender over time.
    pub timelines: bool,
}

/// Compares contenders, each in the place of all that send in `setting`.
///
/// # Errors
/// When the link cannot be made, the host cannot carry a contender, or threads cannot be started.
pub fn compare(
    setting: &Setting,
    contenders: &[Contender],
    options: Options,
    watch: &dyn Watch,
) -> Result<Comparison, Error> {
    let mut underway = Underway::new(setting, contenders, options.timelines)?;
    let pool = Pool::new(options.jobs)?;
    loop {
        let due = underway.due();
        if due.is_empty() {
            return Ok(underway.comparison());
        }
        let tasks: Vec<Task<'_>> = due.iter().filter_map(|due| underway.task(*due)).collect();
        let done = pool.run(&tasks, None, watch);
        for (due, done) in due.into_iter().zip(done) {
            underway.take(due, done);
        }
    }
}
