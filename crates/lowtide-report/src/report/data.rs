//! What the report's page plots, as it reads it.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_lab::compare::{Comparison, Entry, Role};
use lowtide_lab::curves::{
    RATE_WINDOW, capacity, cdf, fairness, rates, share_window, shares, short, without_outliers,
};
use lowtide_lab::metrics::Metrics;
use lowtide_lab::setting::{Life, Setting};
use lowtide_lab::timeline::{Envelope, FlowBin, FlowTimeline, StateLabel, Timeline, Track};
use lowtide_sim::link::{Link, LinkError};
use serde::Serialize;

use super::columns::{Column, columns};
use super::frontier::FrontierResult;
use super::made::Made;
use super::papers::PaperResult;
use super::score::ScoreResult;
use super::series::{Band, Counts, Series};
use super::sweep::Sweep;
use super::verdict::sentence;
use super::{Report, Run};
use crate::colours;

/// Values over time of one report. They take 2.7 bytes each; all that is bounded here is 3.9 MB, so
/// that a report stays below 5 MB with whatever is lost in it.
const MAX_VALUES: usize = 1_100_000;
/// Changes of phase of one report, some eight bytes each.
const MAX_CHANGES: usize = 60_000;
/// Points of distributions of one report, some fifteen bytes each.
const MAX_POINTS: usize = 32_000;
/// Points of one distribution; as smooth as a screen shows.
const CDF_POINTS: usize = 400;

/// All of a report.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    about: &'a str,
    made: Made<'a>,
    rate_window_ms: f64,
    columns: Vec<Column>,
    links: Vec<LinkData<'a>>,
    sweeps: &'a [Sweep],
    frontiers: &'a [FrontierResult],
    scores: &'a [ScoreResult],
    papers: &'a [PaperResult],
}

/// One link and all that was run on it.
#[derive(Serialize)]
struct LinkData<'a> {
    name: &'a str,
    setting: String,
    /// What came out, for people.
    verdict: String,
    /// The first seed, whose runs are shown over time.
    seed: u64,
    duration: f64,
    flows: usize,
    seeds: usize,
    /// Capacity over time.
    bin: f64,
    capacity: Option<Series>,
    entries: Vec<EntryData<'a>>,
    windows: Vec<WindowData<'a>>,
    /// p95 RTT in ms beyond which the plane's axis is broken, as what lies there would squeeze all
    /// else.
    broken_at: Option<f64>,
}

/// A constant window: a point of the frontier.
#[derive(Serialize)]
struct WindowData<'a> {
    name: &'a str,
    delay: f64,
    rate: f64,
}

#[derive(Serialize)]
struct EntryData<'a> {
    name: &'a str,
    role: &'static str,
    cells: Vec<f64>,
    ci95: Option<Vec<f64>>,
    /// p95 RTT in ms and throughput in Mbit/s of each seed.
    seeds: Vec<(f64, f64)>,
    rtt: Vec<(f64, f64)>,
    queueing: Vec<(f64, f64)>,
    time: Option<TimeData>,
    /// Each flow's own row, where their controllers differ.
    flows: Vec<FlowRow<'a>>,
    /// How many more there are.
    flows_omitted: usize,
}

#[derive(Serialize)]
struct FlowRow<'a> {
    name: &'a str,
    cells: Vec<f64>,
    /// p95 RTT in ms and throughput in Mbit/s.
    place: Option<(f64, f64)>,
    /// Seconds.
    start: f64,
    end: f64,
}

#[derive(Serialize)]
struct TimeData {
    bin: f64,
    queue: Option<Band>,
    sojourn: Option<Band>,
    /// All flows together; `None` for a single one.
    total: Option<FlowData>,
    flows: Vec<FlowData>,
    share_window: f64,
    jain: Option<Series>,
}

#[derive(Serialize)]
struct FlowData {
    delivered: Series,
    sent: Series,
    rtt: Option<Band>,
    cwnd: Option<Band>,
    inflight: Option<Band>,
    bandwidth: Option<Band>,
    filter: Option<FilterData>,
    /// Packets by bin.
    lost: Counts,
    resent: Counts,
    timeouts: Counts,
    phases: TrackData,
    modes: TrackData,
    /// Mbit/s in each of the windows of shares.
    share: Option<Series>,
}

#[derive(Serialize)]
struct FilterData {
    gain: Option<Band>,
    process: Option<Band>,
    measurement: Option<Band>,
    innovation: Option<Band>,
}

#[derive(Serialize, Default)]
struct TrackData {
    states: Vec<String>,
    /// Colours of the states.
    colours: Vec<String>,
    /// Milliseconds, index of the state.
    changes: Vec<(u64, u8)>,
}

impl<'a> Data<'a> {
    pub(super) fn new(report: &'a Report<'a>) -> Result<Self, LinkError> {
        let runs = &report.runs;
        let timelines = || {
            runs.iter()
                .flat_map(|r| &r.comparison.entries)
                .filter_map(|e| e.timeline.as_ref())
        };
        let values: usize = timelines().map(values).sum();
        let entries: usize = runs.iter().map(|r| r.comparison.entries.len()).sum();
        let thinning = Thinning {
            factor: values.div_ceil(MAX_VALUES).max(1),
            resolution: track_resolution(&|| timelines().flat_map(Timeline::flows)),
            points: (MAX_POINTS / (2 * entries.max(1))).min(CDF_POINTS),
        };
        let columns = columns(runs, &report.metrics);
        Ok(Self {
            about: &report.about,
            made: Made::by(&report.made_by),
            rate_window_ms: RATE_WINDOW.as_millis_f64(),
            links: runs
                .iter()
                .map(|run| {
                    let setting = run.setting;
                    let link = setting.link(setting.seeds.first)?;
                    Ok(link_data(run, &link, &columns, thinning))
                })
                .collect::<Result<_, LinkError>>()?,
            columns,
            sweeps: &report.sweeps,
            frontiers: &report.frontiers,
            scores: &report.scores,
            papers: &report.papers,
        })
    }
}

/// How much is left out so that a report does not grow beyond its bounds.
#[derive(Clone, Copy)]
struct Thinning {
    /// Bins that become one.
    factor: usize,
    /// Shorter phases are not shown.
    resolution: Duration,
    /// Points of a distribution.
    points: usize,
}

/// How many values a timeline has in full.
fn values(timeline: &Timeline) -> usize {
    // Two rates, four bands; the total again; a filter's four bands.
    let filters = timeline.flows().iter().filter(|f| has_filter(f)).count();
    let flows = timeline.flows().len();
    let total = usize::from(flows > 1);
    timeline.link().len() * (4 + 10 * (flows + total) + 8 * filters)
}

fn has_filter(flow: &FlowTimeline) -> bool {
    flow.bins.iter().any(|b| b.filter.gain.get().is_some())
}

/// How short a phase may be so that there are not too many.
fn track_resolution<'t, I: Iterator<Item = &'t FlowTimeline>>(flows: &dyn Fn() -> I) -> Duration {
    let mut resolution = Duration::ZERO;
    let count = |resolution: Duration| -> usize {
        flows()
            .flat_map(|f| [&f.phases, &f.modes])
            .map(|track| {
                let mut track = track.clone();
                track.coarsen(resolution);
                track.changes().len()
            })
            .sum()
    };
    let coarsest = Duration::from_secs(60);
    while resolution < coarsest && count(resolution) > MAX_CHANGES {
        resolution = (resolution * 2).max(Duration::from_millis(1));
    }
    resolution
}

fn link_data<'a>(run: &Run<'a>, link: &Link, shown: &[Column], thinning: Thinning) -> LinkData<'a> {
    let Run {
        setting,
        comparison,
    } = *run;
    let entries: Vec<EntryData<'a>> = comparison
        .entries
        .iter()
        .map(|entry| entry_data(entry, shown, thinning))
        .collect();
    let marks = comparison.entries.iter().filter(|e| e.role != Role::Floor);
    let delays = marks.map(|e| e.mean["rtt_ms.p95"]);
    let timeline = comparison.entries.iter().find_map(|e| e.timeline.as_ref());
    let bin = timeline.map_or(Duration::ZERO, |t| t.bin() * thinning.factor as u64);
    let bins = timeline.map_or(0, |t| t.link().len().div_ceil(thinning.factor));
    LinkData {
        name: &setting.link_name,
        setting: about(setting, comparison),
        verdict: sentence(setting, comparison),
        seed: setting.forward.link.seed(setting.seeds.first),
        duration: setting.duration.as_secs_f64(),
        flows: setting.flow_count(),
        seeds: comparison.entries.first().map_or(0, |e| e.seeds.len()),
        bin: bin.as_secs_f64(),
        capacity: (!link.is_unlimited() && bins > 0)
            .then(|| Series::new(capacity(link, bin, bins).into_iter().map(Some))),
        broken_at: without_outliers(delays).map(short),
        entries,
        windows: comparison
            .windows
            .iter()
            .filter(|(_, m)| m["rtt_ms.p95"].is_finite())
            .map(|(name, m)| WindowData {
                name,
                delay: short(m["rtt_ms.p95"]),
                rate: short(m["throughput_mbps"]),
            })
            .collect(),
    }
}

/// A setting in one line.
fn about(setting: &Setting, comparison: &Comparison) -> String {
    let seeds = comparison.entries.first().map_or(0, |e| e.seeds.len());
    let plural = |n: usize, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    format!(
        "RTT {}, {} s, {}, {}",
        setting.rtt_shown(),
        setting.duration.as_secs_f64(),
        plural(setting.flow_count(), "flow"),
        plural(seeds, "seed"),
    )
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Limit => "limit",
        Role::Bound => "bound",
        Role::Contender => "contender",
        Role::Floor => "floor",
    }
}

/// Flows of one entry that have a row.
const MAX_ROWS: usize = 16;

/// The flows of an entry whose controllers differ. The share is that of the sum of all goodputs.
fn flow_rows<'a>(entry: &'a Entry, cells: impl Fn(&Metrics) -> Vec<f64>) -> Vec<FlowRow<'a>> {
    let all: f64 = entry.flows.iter().map(|m| m["goodput_mbps"]).sum();
    let flows = entry.lives.iter().zip(&entry.flows).enumerate();
    let row = |(n, (life, metrics)): (usize, (&'a Life, &Metrics))| {
        let timeline = entry.timeline.as_ref();
        let ended = timeline.and_then(|t| t.flows().get(n)?.end);
        let place = (metrics["rtt_ms.p95"], metrics["throughput_mbps"]);
        let share = metrics["goodput_mbps"] / all;
        // Alone nobody is fair.
        let own = metrics.with("share", share).with("jain", f64::NAN);
        let seconds = |time: Time| time.as_nanos() as f64 / 1e9;
        FlowRow {
            name: &life.name,
            cells: cells(&own),
            place: (place.0.is_finite()).then(|| (short(place.0), short(place.1))),
            start: short(seconds(life.start)),
            end: short(seconds(ended.unwrap_or(life.stop))),
        }
    };
    flows.take(MAX_ROWS).map(row).collect()
}

fn entry_data<'a>(entry: &'a Entry, shown: &[Column], thinning: Thinning) -> EntryData<'a> {
    let cells = |m: &Metrics| -> Vec<f64> { shown.iter().map(|c| short(c.value(m))).collect() };
    EntryData {
        flows: flow_rows(entry, cells),
        flows_omitted: entry.lives.len().saturating_sub(MAX_ROWS),
        name: &entry.name,
        role: role(entry.role),
        cells: cells(&entry.mean),
        ci95: entry.ci95.as_ref().map(cells),
        seeds: entry
            .seeds
            .iter()
            .filter(|m| m["rtt_ms.p95"].is_finite())
            .map(|m| (short(m["rtt_ms.p95"]), short(m["throughput_mbps"])))
            .collect(),
        rtt: cdf(&entry.rtt, thinning.points),
        queueing: cdf(&entry.queueing, thinning.points),
        time: entry
            .timeline
            .as_ref()
            .map(|t| time_data(&t.coarsened(thinning.factor), thinning.resolution)),
    }
}

fn time_data(timeline: &Timeline, resolution: Duration) -> TimeData {
    let link = timeline.link();
    let bin = timeline.bin();
    let several = timeline.flows().len() > 1;
    let shares: Vec<Vec<f64>> = timeline
        .flows()
        .iter()
        .map(|flow| shares(flow, bin))
        .collect();
    let flow_data = |bins: &[FlowBin], tracks: Option<&FlowTimeline>, share: Option<&[f64]>| {
        flow_data(bins, bin, tracks, resolution, share)
    };
    TimeData {
        bin: bin.as_secs_f64(),
        queue: Band::new(link.iter().map(|b| b.queue.get())),
        sojourn: Band::new(link.iter().map(|b| b.sojourn.get())),
        total: several.then(|| flow_data(timeline.total(), timeline.flows().first(), None)),
        flows: timeline
            .flows()
            .iter()
            .zip(&shares)
            .map(|(flow, share)| {
                flow_data(&flow.bins, Some(flow), several.then_some(share.as_slice()))
            })
            .collect(),
        share_window: share_window(bin).as_secs_f64(),
        jain: several.then(|| Series::new(fairness(timeline.flows(), &shares, share_window(bin)))),
    }
}

fn flow_data(
    bins: &[FlowBin],
    bin: Duration,
    tracks: Option<&FlowTimeline>,
    resolution: Duration,
    share: Option<&[f64]>,
) -> FlowData {
    let band = |get: &dyn Fn(&FlowBin) -> Envelope| Band::new(bins.iter().map(|b| get(b).get()));
    let rate = |volume: &dyn Fn(&FlowBin) -> Bytes| {
        Series::new(rates(bins, bin, volume).into_iter().map(Some))
    };
    let gain = band(&|b| b.filter.gain);
    FlowData {
        delivered: rate(&|b| b.delivered),
        sent: rate(&|b| b.sent),
        rtt: band(&|b| b.rtt),
        cwnd: band(&|b| b.cwnd),
        inflight: band(&|b| b.inflight),
        bandwidth: band(&|b| b.bandwidth),
        filter: gain.is_some().then(|| FilterData {
            gain,
            process: band(&|b| b.filter.process),
            measurement: band(&|b| b.filter.measurement),
            innovation: band(&|b| b.filter.innovation),
        }),
        lost: Counts::new(bins.iter().map(|b| b.lost)),
        resent: Counts::new(bins.iter().map(|b| b.resent)),
        timeouts: Counts::new(bins.iter().map(|b| b.timeouts)),
        phases: tracks.map_or_else(TrackData::default, |t| track(&t.phases, resolution)),
        modes: tracks.map_or_else(TrackData::default, |t| track(&t.modes, resolution)),
        share: share.map(|s| Series::new(s.iter().copied().map(Some))),
    }
}

fn track(track: &Track, resolution: Duration) -> TrackData {
    let mut track = track.clone();
    track.coarsen(resolution);
    // States that it never was in take no room.
    let names: Vec<&StateLabel> = track.entered().collect();
    let place = |state: u8| {
        let name = &track.states()[usize::from(state)];
        names.iter().position(|n| *n == name).unwrap_or(0) as u8
    };
    let hex = |s: &&StateLabel| {
        let [red, green, blue] = colours::of_state(s.kind);
        format!("#{red:02x}{green:02x}{blue:02x}")
    };
    TrackData {
        states: names.iter().map(|s| s.name.clone()).collect(),
        colours: names.iter().map(hex).collect(),
        changes: track
            .changes()
            .iter()
            .map(|(time, state)| (time.as_nanos() / 1_000_000, place(*state)))
            .collect(),
    }
}
