//! The view in which a controller is judged: its throughput and its delay over many traces, at several
//! values of its parameters, against a base.

mod aggregate;
mod curve;
mod swept;

use lowtide_cc::units::Duration;
use serde::Serialize;

pub use self::aggregate::{DELAY_FLOOR_MS, Outcome, Ratio, Summary, THROUGHPUT_FLOOR_MBPS};
pub use self::curve::delay_at;
pub use self::swept::{Error as SweptError, Swept};
use crate::contender::Contender;
use crate::metrics::Metrics;
use crate::run::{FailedRun, Keep, NoThreads, Pool, Run, Task, Watch};
use crate::setting::Setting;
use crate::statistics::{ci95, mean};

/// A path that all traces are run behind.
#[derive(Clone, Debug)]
pub struct TracePath {
    /// Its RTT.
    pub rtt: Duration,
    /// Its buffer, as it was typed.
    pub buffer: String,
    /// A setting for each trace, the same traces in each path.
    pub settings: Vec<Setting>,
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Question {
    /// Whom all are measured against.
    pub base: Contender,
    /// The controllers that are measured.
    pub curves: Vec<Swept>,
    /// Where.
    pub paths: Vec<TracePath>,
    /// Ratios of throughput at which each curve's delay is looked up.
    pub at: Vec<f64>,
}

impl Question {
    /// The base and each point of the curves, once.
    fn contenders(&self) -> Vec<&Contender> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        let mut all: Vec<&Contender> = Vec::new();
        for contender in std::iter::once(&self.base).chain(points) {
            if !all.contains(&contender) {
                all.push(contender);
            }
        }
        all
    }

    /// How many runs it takes.
    #[must_use]
    pub fn count_runs(&self) -> u64 {
        let settings = self.paths.iter().flat_map(|path| &path.settings);
        let runs: u64 = settings.map(|s| s.seeds.iter().count() as u64).sum();
        runs * self.contenders().len() as u64
    }
}

/// What was measured; JSON has it under these names.
#[derive(Clone, Debug, Serialize)]
pub struct Frontier {
    /// Whom all were measured against.
    pub base: String,
    /// The traces.
    pub traces: Vec<String>,
    /// Each controller in each path, the base first.
    pub rows: Vec<Row>,
    /// The points that one spec names, in each path.
    pub curves: Vec<Curve>,
    /// Runs that are missing in the rows.
    #[serde(skip)]
    pub failed: Vec<FailedRun>,
    /// Packets that crossed the bottleneck in all runs.
    pub simulated_packets: u64,
}

/// A controller in a path.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its spec.
    pub controller: String,
    /// The path's RTT, ms.
    pub rtt_ms: f64,
    /// The path's buffer.
    pub buffer: String,
    /// All traces together.
    #[serde(flatten)]
    pub summary: Summary,
    /// Half the 95 % interval of the two means, where there are several seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<Confidence>,
    /// Traces on which another controller had more throughput and less delay, each by more than 1 %.
    /// Bounds, which know the link, do not count.
    pub dominated_on: Vec<String>,
    /// Each trace.
    pub on_traces: Vec<OnTrace>,
}

/// Half the 95 % intervals of a row's means: of the geometric means of single seeds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Confidence {
    /// Of the ratio of throughput.
    pub throughput_ratio: f64,
    /// Of the ratio of delay.
    pub queue_p95_ratio: f64,
}

/// A controller on a trace in a path, mean over the seeds.
#[derive(Clone, Debug, Serialize)]
pub struct OnTrace {
    /// The trace.
    pub trace: String,
    /// Throughput, Mbit/s.
    pub throughput_mbps: f64,
    /// Queueing delay, ms.
    pub queue_delay_ms: Delay,
    /// Throughput over the base's.
    pub throughput_ratio: f64,
    /// 95th percentile of the queueing delay over the base's.
    pub queue_p95_ratio: f64,
    /// The controller with the least delay of those that dominate it here.
    pub dominated_by: Option<String>,
    /// Half the 95 % intervals, where there are several seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<TraceConfidence>,
}

/// A queueing delay.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Delay {
    /// Its 95th percentile, ms.
    pub p95: f64,
}

/// Half the 95 % intervals of the means on a trace.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TraceConfidence {
    /// Of the throughput, Mbit/s.
    pub throughput_mbps: f64,
    /// Of the queueing delay, ms.
    pub queue_delay_ms: Delay,
}

/// The points of a swept controller in a path.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// Its spec with all values.
    pub controller: String,
    /// The path's RTT, ms.
    pub rtt_ms: f64,
    /// The path's buffer.
    pub buffer: String,
    /// Its points: controllers of rows.
    pub points: Vec<String>,
    /// How many of its parameters have several values; there is something between points of one.
    #[serde(skip)]
    pub parameters: usize,
    /// Its delay where it reaches given throughputs.
    pub at: Vec<At>,
}

/// A path on a controller's frontier.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct At {
    /// Throughput over the base's.
    pub throughput_ratio: f64,
    /// 95th percentile of the queueing delay over the base's, between measured points; `None` beyond
    /// them.
    pub queue_p95_ratio: Option<f64>,
}

impl Row {
    /// Throughput and delay over the base's.
    #[must_use]
    pub fn point(&self) -> (f64, f64) {
        (self.summary.throughput_ratio, self.summary.queue_p95_ratio)
    }

    /// Whether it was measured where another was.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        self.rtt_ms == other.rtt_ms && self.buffer == other.buffer
    }
}

/// Measures with this many threads (0: one for each core).
///
/// # Errors
/// When threads cannot be started.
pub fn measure(question: &Question, jobs: usize, watch: &dyn Watch) -> Result<Frontier, NoThreads> {
    let contenders = question.contenders();
    let cells: Vec<Cell> = question
        .paths
        .iter()
        .flat_map(|path| contenders.iter().map(move |c| (path, *c)))
        .flat_map(|(path, c)| path.settings.iter().map(move |s| Cell::new(path, c, s)))
        .collect();
    let tasks: Vec<Task<'_>> = cells.iter().flat_map(Cell::tasks).collect();
    let mut runs = Pool::new(jobs)?.run(&tasks, None, watch).into_iter();
    let mut frontier = Frontier {
        base: question.base.name().to_string(),
        traces: question.paths.first().map_or_else(Vec::new, traces),
        rows: Vec::new(),
        curves: Vec::new(),
        failed: Vec::new(),
        simulated_packets: 0,
    };
    let mut cells = cells.iter();
    for path in &question.paths {
        let mut measured = Vec::with_capacity(contenders.len());
        for contender in &contenders {
            let own = cells.by_ref().take(path.settings.len());
            let seeds = own.map(|cell| {
                let runs = runs.by_ref().take(cell.setting.seeds.iter().count());
                runs.map(|run| frontier.take(run)).collect()
            });
            measured.push(Contestant::new(contender, seeds.collect()));
        }
        let rows: Vec<Row> = measured
            .iter()
            .map(|own| row(path, own, &measured))
            .collect();
        let curves = question.curves.iter();
        let curves = curves.map(|curve| curve_of(curve, path, &rows, &question.at));
        frontier.curves.extend(curves);
        frontier.rows.extend(rows);
    }
    Ok(frontier)
}

impl Frontier {
    /// How many links, in words.
    #[must_use]
    pub fn count(&self) -> String {
        match self.traces.len() {
            1 => "1 trace".to_string(),
            n => format!("{n} traces"),
        }
    }

    /// What it is, for people.
    #[must_use]
    pub fn title(&self) -> String {
        let (count, base) = (self.count(), &self.base);
        format!("Throughput and delay on {count}, against {base}")
    }

    /// What came out of a run; NaN where it failed, which is noted.
    fn take(&mut self, run: Result<Run, FailedRun>) -> Outcome {
        let of = |m: &Metrics| Outcome {
            throughput_mbps: m["throughput_mbps"],
            queue_p95_ms: m["queue_delay_ms.p95"],
        };
        match run {
            Ok(run) => {
                self.simulated_packets += run.details.as_ref().map_or(0, |d| d.packets);
                of(&run.measured.total)
            }
            Err(failed) => {
                self.failed.push(failed);
                Outcome {
                    throughput_mbps: f64::NAN,
                    queue_p95_ms: f64::NAN,
                }
            }
        }
    }
}

fn traces(path: &TracePath) -> Vec<String> {
    let settings = path.settings.iter();
    settings.map(|s| s.link_name.clone()).collect()
}

/// A controller on a trace in a path, before it is run.
struct Cell {
    name: String,
    setting: Setting,
}

impl Cell {
    fn new(path: &TracePath, contender: &Contender, setting: &Setting) -> Self {
        let (rtt, buffer) = (path.rtt.as_millis_f64(), &path.buffer);
        let (trace, name) = (&setting.link_name, contender.name());
        Self {
            name: format!("{trace}, RTT {rtt} ms, buffer {buffer}: {name}"),
            setting: setting.run_by(contender),
        }
    }

    fn tasks(&self) -> impl Iterator<Item = Task<'_>> {
        self.setting.seeds.iter().map(|seed| Task {
            name: &self.name,
            setting: &self.setting,
            seed,
            keep: Keep::Metrics,
            cell: None,
        })
    }
}

/// A controller in a path, and what it did on each trace.
struct Contestant<'a> {
    contender: &'a Contender,
    /// With each seed.
    traces: Vec<Vec<Outcome>>,
    /// The means over the seeds: everybody is compared with them.
    means: Vec<Outcome>,
}

impl<'a> Contestant<'a> {
    fn new(contender: &'a Contender, traces: Vec<Vec<Outcome>>) -> Self {
        let means = traces.iter().map(|seeds| combined(seeds, mean)).collect();
        Self {
            contender,
            traces,
            means,
        }
    }
}

/// `of` over the seeds that came to their end.
fn combined(seeds: &[Outcome], of: fn(&[f64]) -> f64) -> Outcome {
    let ended = || seeds.iter().filter(|o| !o.throughput_mbps.is_nan());
    let all = |get: fn(&Outcome) -> f64| of(&ended().map(get).collect::<Vec<f64>>());
    Outcome {
        throughput_mbps: all(|o| o.throughput_mbps),
        queue_p95_ms: all(|o| o.queue_p95_ms),
    }
}

/// The row of one of those that were measured in a path, of whom the first is the base.
fn row(path: &TracePath, own: &Contestant<'_>, all: &[Contestant<'_>]) -> Row {
    let base = &all[0];
    let traces = 0..path.settings.len();
    let on_trace = |trace: usize| {
        let outcome = own.means[trace];
        let ratio = outcome.against(base.means[trace]);
        OnTrace {
            trace: path.settings[trace].link_name.clone(),
            throughput_mbps: outcome.throughput_mbps,
            queue_delay_ms: Delay {
                p95: outcome.queue_p95_ms,
            },
            throughput_ratio: ratio.throughput,
            queue_p95_ratio: ratio.queue_p95,
            dominated_by: dominator(outcome, trace, all),
            ci95: (own.traces[trace].len() > 1).then(|| {
                let half = combined(&own.traces[trace], ci95);
                TraceConfidence {
                    throughput_mbps: half.throughput_mbps,
                    queue_delay_ms: Delay {
                        p95: half.queue_p95_ms,
                    },
                }
            }),
        }
    };
    let on_traces: Vec<OnTrace> = traces.map(on_trace).collect();
    let ratios = on_traces.iter().map(|t| Ratio {
        throughput: t.throughput_ratio,
        queue_p95: t.queue_p95_ratio,
    });
    let dominated = on_traces.iter().filter(|t| t.dominated_by.is_some());
    Row {
        controller: own.contender.name().to_string(),
        rtt_ms: path.rtt.as_millis_f64(),
        buffer: path.buffer.clone(),
        summary: Summary::of(&ratios.collect::<Vec<Ratio>>()),
        ci95: confidence(own, base),
        dominated_on: dominated.map(|t| t.trace.clone()).collect(),
        on_traces,
    }
}

/// The controller with the least delay of those that dominate an outcome on a trace.
fn dominator(outcome: Outcome, trace: usize, all: &[Contestant<'_>]) -> Option<String> {
    let others = all.iter();
    let others = others.filter(|c| !c.contender.is_bound());
    let better = others
        .map(|c| (c, c.means[trace]))
        .filter(|(_, other)| outcome.is_dominated_by(*other));
    let best = better.min_by(|(_, a), (_, b)| a.queue_p95_ms.total_cmp(&b.queue_p95_ms));
    best.map(|(c, _)| c.contender.name().to_string())
}

/// Half the intervals of a row's means; a seed counts whose runs all came to their end.
fn confidence(own: &Contestant<'_>, base: &Contestant<'_>) -> Option<Confidence> {
    let seeds = own.traces.first().map_or(0, Vec::len);
    let of_seed = |seed: usize| {
        let pairs = own.traces.iter().zip(&base.traces);
        let ratios = pairs.map(|(own, base)| own[seed].against(base[seed]));
        Summary::of(&ratios.collect::<Vec<Ratio>>())
    };
    let whole: Vec<Summary> = (0..seeds)
        .map(of_seed)
        .filter(|s| !s.throughput_ratio.is_nan())
        .collect();
    let half = |get: fn(&Summary) -> f64| ci95(&whole.iter().map(get).collect::<Vec<f64>>());
    (seeds > 1).then(|| Confidence {
        throughput_ratio: half(|s| s.throughput_ratio),
        queue_p95_ratio: half(|s| s.queue_p95_ratio),
    })
}

/// A swept controller in a path whose rows are these.
fn curve_of(swept: &Swept, path: &TracePath, rows: &[Row], at: &[f64]) -> Curve {
    let is_point = |row: &&Row| swept.points.iter().any(|p| p.name() == row.controller);
    let own = || rows.iter().filter(is_point);
    let points: Vec<(f64, f64)> = own().map(Row::point).collect();
    Curve {
        controller: swept.name.clone(),
        rtt_ms: path.rtt.as_millis_f64(),
        buffer: path.buffer.clone(),
        points: own().map(|row| row.controller.clone()).collect(),
        parameters: swept.parameters,
        at: at
            .iter()
            .map(|throughput| At {
                throughput_ratio: *throughput,
                queue_p95_ratio: delay_at(&points, *throughput),
            })
            .collect(),
    }
}
