//! Controllers side by side in one setting.
//!
//! Every comparison is framed by the physical limit (the oracle) and the floor (the best constant
//! window).

use lowtide_sim::link::LinkError;

use crate::contender::Contender;
use crate::metrics::{Delays, Metrics};
use crate::run::{FailedRun, Keep, NoThreads, Pool, Run, Task};
use crate::setting::{Host, Life, Misplaced, Setting};
use crate::statistics::{ci95, mean};
use crate::timeline::Timeline;

/// Windows that are tried for the floor, in BDP: powers of √2 from 1/4 to 8.
const WINDOWS_BDP: [f64; 11] = [
    0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0, 5.657, 8.0,
];

/// Why nothing can be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The link cannot be generated.
    #[error("the link cannot be made: {0}")]
    Link(#[from] LinkError),
    /// The host cannot carry a contender.
    #[error(transparent)]
    Host(#[from] Misplaced),
    /// The threads cannot be started.
    #[error(transparent)]
    Threads(#[from] NoThreads),
}

/// What part a result plays in its comparison, in the order of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The physical limit.
    Limit,
    /// Another bound that was asked for.
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
    /// The results of one contender's runs, the first seed's first; `None` where there are none.
    #[must_use]
    pub fn of_runs(name: &str, role: Role, runs: Vec<Run>) -> Option<Self> {
        let seeds: Vec<Metrics> = runs.iter().map(|r| r.measured.total).collect();
        let flow_count = runs.iter().map(|r| r.measured.flows.len()).min()?;
        let flows = (0..flow_count).map(|n| {
            let of_flow: Vec<Metrics> = runs.iter().map(|r| r.measured.flows[n]).collect();
            Metrics::combine(&of_flow, mean)
        });
        let flows = flows.collect();
        let details = runs.into_iter().find_map(|run| run.details);
        let (timeline, rtt, queueing) =
            details.map_or_else(Default::default, |d| (d.timeline, d.rtt, d.queueing));
        Some(Self {
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
        })
    }
}

impl Entry {
    /// The same with the flows of a setting of several groups named.
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
    /// Whether a queue marked packets of any contender.
    #[must_use]
    pub fn has_marks(&self) -> bool {
        let mut shares = self.entries.iter().map(|e| e.mean["marked_share"]);
        shares.any(|share| share > 0.0)
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

/// A contender, and its runs so far.
struct Participant {
    role: Role,
    setting: Setting,
    name: String,
    runs: Vec<Run>,
}

impl Participant {
    fn new(role: Role, contender: &Contender, setting: &Setting) -> Self {
        Self {
            role,
            setting: setting.run_by(contender),
            name: contender.name().to_string(),
            runs: Vec::new(),
        }
    }

    fn keep(&self, seed: u64, timelines: bool) -> Keep {
        match self.role {
            _ if !timelines || seed != self.setting.seeds.first => Keep::Metrics,
            Role::Floor => Keep::Distributions,
            Role::Limit | Role::Bound | Role::Contender => Keep::Timeline,
        }
    }
}

/// All who take part: the oracle, those who are asked for, and constant windows.
fn participants(
    setting: &Setting,
    contenders: &[Contender],
) -> Result<Vec<Participant>, LinkError> {
    let take_part = |role: Role, contender: &Contender| Participant::new(role, contender, setting);
    let mut all = vec![take_part(Role::Limit, &Contender::Oracle)];
    let others = asked(contenders).map(|c| take_part(Role::of(c), c));
    all.extend(others);
    let windows = windows(setting)?;
    all.extend(windows.iter().map(|w| take_part(Role::Floor, w)));
    Ok(all)
}

/// The contenders besides the oracle, which is part of every comparison.
fn asked(contenders: &[Contender]) -> impl Iterator<Item = &Contender> {
    let is_other = |c: &&Contender| !matches!(c, Contender::Oracle);
    contenders.iter().filter(is_other)
}

/// The constant windows to try.
fn windows(setting: &Setting) -> Result<Vec<Contender>, LinkError> {
    let bdp = setting.bdp(setting.seeds.first)?.as_f64();
    let packets = bdp / setting.packet_size.as_f64() / setting.measured_flows().max(1) as f64;
    let mut sizes: Vec<u64> = WINDOWS_BDP
        .iter()
        .map(|n| ((n * packets).round() as u64).clamp(1, 100_000_000))
        .collect();
    sizes.dedup();
    Ok(sizes.into_iter().filter_map(Contender::window).collect())
}

/// How many runs a comparison takes.
#[must_use]
pub fn count_runs(setting: &Setting, contenders: &[Contender]) -> u64 {
    let seeds = setting.seeds.count.max(1);
    (asked(contenders).count() as u64 + 1) * seeds + WINDOWS_BDP.len() as u64 + seeds - 1
}

/// Compares contenders, each in the place of all that send in `setting`. `progress` is called after
/// each run.
///
/// # Errors
/// When the link cannot be made, the host cannot carry a contender, or threads cannot be started.
pub fn compare(
    setting: &Setting,
    contenders: &[Contender],
    options: Options,
    progress: &(dyn Fn() + Sync),
) -> Result<Comparison, Error> {
    for contender in contenders {
        Host::check_senders(&setting.run_by(contender))?;
    }
    let mut runner = Runner {
        pool: Pool::new(options.jobs)?,
        timelines: options.timelines,
        progress,
        failed: Vec::new(),
        packets: 0,
    };
    let mut participants = participants(setting, contenders)?;
    // Windows are tried with the first seed; the best of them meets the other seeds as well.
    let first = setting.seeds.first;
    runner.make(&mut participants, |p, seed| {
        p.role != Role::Floor || seed == first
    });
    let windows: Vec<(String, Metrics)> = participants
        .iter()
        .filter(|p| p.role == Role::Floor)
        .filter_map(|p| Some((p.name.clone(), p.runs.first()?.measured.total)))
        .collect();
    let power = |metrics: &Metrics| finite_or_least(metrics["power"]);
    let best = windows
        .iter()
        .max_by(|(_, a), (_, b)| power(a).total_cmp(&power(b)))
        .map(|(name, _)| name.clone());
    participants.retain(|p| p.role != Role::Floor || best.as_ref() == Some(&p.name));
    runner.make(&mut participants, |p, seed| {
        p.role == Role::Floor && seed != first
    });
    let mut entries: Vec<Entry> = participants
        .into_iter()
        .filter_map(|p| Entry::of_runs(&p.name, p.role, p.runs))
        .collect();
    entries.sort_by(|a, b| {
        let by_power = || power(&b.mean).total_cmp(&power(&a.mean));
        a.role.cmp(&b.role).then_with(by_power)
    });
    Ok(Comparison {
        entries,
        failed: runner.failed,
        windows,
        simulated_packets: runner.packets,
    })
}

/// Makes runs; keeps count of what happened in them.
struct Runner<'a> {
    pool: Pool,
    timelines: bool,
    progress: &'a (dyn Fn() + Sync),
    failed: Vec<FailedRun>,
    packets: u64,
}

impl Runner<'_> {
    /// Makes those runs that are wanted of who and which seed, and gives them to who took part.
    fn make(
        &mut self,
        participants: &mut [Participant],
        wanted: impl Fn(&Participant, u64) -> bool,
    ) {
        let mut places = Vec::new();
        let mut tasks = Vec::new();
        for (place, participant) in participants.iter().enumerate() {
            let seeds = participant.setting.seeds.iter();
            for seed in seeds.filter(|seed| wanted(participant, *seed)) {
                places.push(place);
                tasks.push(Task {
                    name: &participant.name,
                    setting: &participant.setting,
                    seed,
                    keep: participant.keep(seed, self.timelines),
                    key: None,
                });
            }
        }
        let done = self.pool.run(&tasks, None, self.progress);
        for (place, done) in places.into_iter().zip(done) {
            match done {
                Ok(run) => {
                    self.packets += run.details.as_ref().map_or(0, |d| d.packets);
                    participants[place].runs.push(run);
                }
                Err(failure) => self.failed.push(failure),
            }
        }
    }
}

/// Flows that never got a sample have no power; they come last.
fn finite_or_least(power: f64) -> f64 {
    if power.is_finite() { power } else { f64::MIN }
}
