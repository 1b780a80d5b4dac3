//! A comparison under way: which runs are due, and what has come of those that are done.

use super::{Comparison, Entry, Error, Role};
use crate::contender::Contender;
use crate::metrics::Metrics;
use crate::run::{FailedRun, Keep, Run, Task};
use crate::setting::{Host, Setting};

/// Windows that are tried for the floor, in BDP: powers of √2 from 1/4 to 8.
const WINDOWS_BDP: [f64; 11] = [
    0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0, 5.657, 8.0,
];

/// A run of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    /// Participant that runs, counted from 0; the same in every comparison of the same contenders
    /// in the same setting.
    pub participant: usize,
    /// With which seed.
    pub seed: u64,
}

/// How far a comparison is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has been asked for.
    Begin,
    /// All but the best window's other seeds have; so many windows are not done.
    Windows(usize),
    /// All have.
    End,
}

/// A comparison under way. It makes no runs: whoever does asks which are [`due`](Self::due), makes
/// them in any order, and [gives back](Self::take) what came of them.
#[derive(Clone, Debug)]
pub struct Underway {
    participants: Vec<Participant>,
    timelines: bool,
    stage: Stage,
    failed: Vec<(Due, FailedRun)>,
    packets: u64,
}

/// A contender, and its runs so far in the order of their seeds.
#[derive(Clone, Debug)]
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

/// The contenders besides the oracle, which is part of every comparison.
fn asked(contenders: &[Contender]) -> impl Iterator<Item = &Contender> {
    let is_other = |c: &&Contender| !matches!(c, Contender::Oracle);
    contenders.iter().filter(is_other)
}

/// The constant windows to try.
fn windows(setting: &Setting) -> Result<Vec<Contender>, Error> {
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

impl Underway {
    /// Contenders, each in the place of all that send in `setting`, the oracle and constant windows;
    /// `timelines`: the first seed of each is kept over time.
    ///
    /// # Errors
    /// When the link cannot be made or the host cannot carry a contender.
    pub fn new(
        setting: &Setting,
        contenders: &[Contender],
        timelines: bool,
    ) -> Result<Self, Error> {
        for contender in contenders {
            Host::check_senders(&setting.run_by(contender))?;
        }
        let take_part =
            |role: Role, contender: &Contender| Participant::new(role, contender, setting);
        let mut participants = vec![take_part(Role::Limit, &Contender::Oracle)];
        let others = asked(contenders).map(|c| take_part(Role::of(c), c));
        participants.extend(others);
        let windows = windows(setting)?;
        participants.extend(windows.iter().map(|w| take_part(Role::Floor, w)));
        Ok(Self {
            participants,
            timelines,
            stage: Stage::Begin,
            failed: Vec::new(),
            packets: 0,
        })
    }

    /// The runs that can be made now, each named once. Windows are tried with the first seed; the best
    /// of them meets the other seeds once all windows are done. When nothing is due although all that
    /// was is done, the comparison is at its end.
    pub fn due(&mut self) -> Vec<Due> {
        match self.stage {
            Stage::Begin => {
                let is_window = |p: &&Participant| p.role == Role::Floor;
                let windows = self.participants.iter().filter(is_window).count();
                self.stage = Stage::Windows(windows);
                self.runs(|_, p, is_first| p.role != Role::Floor || is_first)
            }
            Stage::Windows(0) => {
                self.stage = Stage::End;
                let best = self.best_window();
                self.runs(|n, _, is_first| Some(n) == best && !is_first)
            }
            Stage::Windows(_) | Stage::End => Vec::new(),
        }
    }

    /// The runs of which participant, and with the first seed or another, are wanted.
    fn runs(&self, wanted: impl Fn(usize, &Participant, bool) -> bool) -> Vec<Due> {
        let mut due = Vec::new();
        for (participant, p) in self.participants.iter().enumerate() {
            let (seeds, first) = (p.setting.seeds.iter(), p.setting.seeds.first);
            let own = seeds.filter(|seed| wanted(participant, p, *seed == first));
            due.extend(own.map(|seed| Due { participant, seed }));
        }
        due
    }

    /// What is to be simulated; `None` where no participant has this number.
    #[must_use]
    pub fn task(&self, due: Due) -> Option<Task<'_>> {
        let participant = self.participants.get(due.participant)?;
        Some(Task {
            name: &participant.name,
            setting: &participant.setting,
            seed: due.seed,
            keep: participant.keep(due.seed, self.timelines),
            cell: None,
        })
    }

    /// Takes what came of a run that was due.
    pub fn take(&mut self, due: Due, done: Result<Run, FailedRun>) {
        let Some(participant) = self.participants.get_mut(due.participant) else {
            return;
        };
        let first = participant.setting.seeds.first;
        if let Stage::Windows(left) = &mut self.stage
            && participant.role == Role::Floor
        {
            *left = left.saturating_sub(1);
        }
        match done {
            Ok(run) => {
                self.packets += run.details.as_ref().map_or(0, |d| d.packets);
                let order = |run: &Run| run.seed.wrapping_sub(first);
                let runs = &mut participant.runs;
                let at = runs.partition_point(|before| order(before) < order(&run));
                runs.insert(at, run);
            }
            Err(failure) => self.failed.push((due, failure)),
        }
    }

    /// The window with the highest power in its first run.
    fn best_window(&self) -> Option<usize> {
        let all = self.participants.iter().enumerate();
        let windows = all.filter(|(_, p)| p.role == Role::Floor);
        let known = windows.filter_map(|(n, p)| Some((n, power(&p.runs.first()?.measured.total))));
        let best = known.max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map(|(n, _)| n)
    }

    /// The comparison as known from all runs that are done so far.
    #[must_use]
    pub fn comparison(mut self) -> Comparison {
        let best = self.best_window();
        let windows = self.participants.iter().filter(|p| p.role == Role::Floor);
        let windows = windows
            .filter_map(|p| Some((p.name.clone(), p.runs.first()?.measured.total)))
            .collect();
        // A window with which a stack closed its connection is not the best one, and nobody asked for it.
        let is_other_window = |n: usize| {
            let p = &self.participants[n];
            best.is_some_and(|best| best != n)
                && p.role == Role::Floor
                && p.setting.host.stack().is_some()
        };
        self.failed
            .retain(|(due, _)| !is_other_window(due.participant));
        // All have the seeds of one setting, which may wrap around.
        let first = self.participants.first().map(|p| p.setting.seeds.first);
        let order = |due: &Due| due.seed.wrapping_sub(first.unwrap_or_default());
        self.failed
            .sort_by_key(|(due, _)| (due.participant, order(due)));
        let all = self.participants.into_iter().enumerate();
        let shown = all.filter(|(n, p)| p.role != Role::Floor || Some(*n) == best);
        let mut entries: Vec<Entry> = shown
            .filter(|(_, p)| !p.runs.is_empty())
            .map(|(_, p)| Entry::of_runs(&p.name, p.role, p.runs))
            .collect();
        entries.sort_by(|a, b| {
            let by_power = || power(&b.mean).total_cmp(&power(&a.mean));
            a.role.cmp(&b.role).then_with(by_power)
        });
        Comparison {
            entries,
            failed: self.failed.into_iter().map(|(_, failed)| failed).collect(),
            windows,
            simulated_packets: self.packets,
        }
    }
}

/// Throughput over delay; flows that never got a sample have none, they come last.
fn power(metrics: &Metrics) -> f64 {
    let power = metrics["power"];
    if power.is_finite() { power } else { f64::MIN }
}
