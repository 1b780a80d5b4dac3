//! The report's plots as SVG, PNG and PDF, for papers and slides.

mod folder;
mod frontier;
mod grid;
mod overview;
#[cfg(not(target_family = "wasm"))]
mod pdf;
mod phases;
pub(crate) mod plot;
#[cfg_attr(target_family = "wasm", path = "no_raster.rs")]
mod raster;
mod style;
pub(crate) mod timed;

use std::error::Error;
use std::io;
use std::path::Path;

use lowtide_cc::units::Time;
use lowtide_lab::compare::{Comparison, Entry, Role};
use lowtide_lab::curves::{cdf, fairness, rates, share_window, shares, without_outliers};
use lowtide_lab::metrics::{Metric, Metrics};
use lowtide_lab::setting::{Life, Setting};
use lowtide_lab::timeline::{Envelope, FlowBin, FlowTimeline, LinkBin, Timeline};

pub use self::folder::folder_of;
use self::folder::{Folder, not_drawn};
pub(crate) use self::frontier::of_place as frontier_of_place;
pub use self::frontier::write_frontier;
pub use self::grid::write_grid;
use self::plot::{Axis, Line, Look, Mark, Plot};
pub use self::style::{Format, Style};
use self::timed::{BINS, at_bins, band, fitted, over_time, shade};

/// Writes the figures of a comparison that was run with timelines into `folder`, which is made:
/// `rate`, `rtt`, `queueing-delay`, `queue`, `window`, `phases`, `plane`, `rtt-cdf`,
/// `queueing-delay-cdf`, and for several flows `jain` and `shares`, each in the formats of `style`.
/// `shares` is of the first contender, `phases` of each one's first flow. Where there is one contender
/// whose flows have different controllers, its flows are drawn in the place of contenders. What is over
/// time is the first seed's.
///
/// # Errors
/// When the link cannot be made again, a figure cannot be drawn, or a file cannot be written.
pub fn write(
    setting: &Setting,
    comparison: &Comparison,
    folder: &Path,
    style: &Style,
) -> io::Result<()> {
    let folder = Folder::new(folder, style);
    for plot in plots(setting, comparison).map_err(not_drawn)? {
        folder.put(&plot)?;
    }
    let rows = strips(comparison, Time::ZERO + setting.duration);
    if !rows.is_empty() {
        let width = folder.style().canvas().0;
        let svg = phases::svg(&rows, setting.duration, width).map_err(not_drawn)?;
        folder.put_svg("phases", svg)?;
    }
    Ok(())
}

/// The one contender whose flows have different controllers, if there is no other: its flows are then
/// drawn in the place of contenders.
fn mixed(comparison: &Comparison) -> Option<&Entry> {
    let entries = comparison.entries.iter();
    let mut contenders = entries.filter(|e| e.role == Role::Contender);
    let first = contenders.next().filter(|e| !e.lives.is_empty());
    first.filter(|_| contenders.next().is_none())
}

/// The controllers' phases, each of its first flow; or those of flows of different controllers.
fn strips(comparison: &Comparison, end: Time) -> Vec<phases::Row<'_>> {
    if let Some(entry) = mixed(comparison) {
        let timeline = entry.timeline.iter();
        let flows = timeline.flat_map(|t| t.flows().iter().map(|flow| (t.bin(), flow)));
        let rows = flows.zip(&entry.lives).enumerate();
        return rows
            .map(|(n, ((bin, flow), life))| phases::Row {
                label: &life.name,
                look: Look::Controller(n),
                flow,
                stop: life.stop,
                bin,
            })
            .collect();
    }
    let contenders = comparison.entries.iter();
    let contenders = contenders.filter(|e| e.role == Role::Contender).enumerate();
    contenders
        .filter_map(|(n, entry)| {
            let timeline = entry.timeline.as_ref()?;
            Some(phases::Row {
                label: &entry.name,
                look: Look::Controller(n),
                flow: timeline.flows().first()?,
                stop: end,
                bin: timeline.bin(),
            })
        })
        .collect()
}

/// An entry with its look and its run over time.
struct Shown<'a> {
    entry: &'a Entry,
    look: Look,
    timeline: Option<Timeline>,
}

/// What is drawn over time: a controller's flows together, or a flow.
struct Curve<'a> {
    label: &'a str,
    look: Look,
    timeline: &'a Timeline,
    bins: &'a [FlowBin],
}

impl Curve<'_> {
    fn line(&self, points: Vec<(f64, f64)>) -> Line {
        Line::new(self.label, self.look, points)
    }

    fn filled(&self, envelopes: &[Envelope]) -> Line {
        let (points, low) = band(self.timeline, envelopes);
        Line {
            low,
            ..self.line(points)
        }
    }
}

/// Each controller's curve, all its flows together; only controllers, as the limit would hide them.
fn of_controllers<'a>(shown: &'a [Shown<'a>]) -> Vec<Curve<'a>> {
    let controllers = shown.iter().filter(|s| s.entry.role == Role::Contender);
    let curve = |s: &'a Shown<'a>| {
        let timeline = s.timeline.as_ref()?;
        Some(Curve {
            label: &s.entry.name,
            look: s.look,
            timeline,
            bins: timeline.total(),
        })
    };
    controllers.filter_map(curve).collect()
}

/// Each flow's curve, where one entry's flows have different controllers.
fn of_flows<'a>(comparison: &'a Comparison, timeline: &'a Timeline) -> Option<Vec<Curve<'a>>> {
    let lives = &mixed(comparison)?.lives;
    let flows = timeline.flows().iter().zip(lives).enumerate();
    let curve = |(n, (flow, life)): (usize, (&'a FlowTimeline, &'a Life))| Curve {
        label: &life.name,
        look: Look::Controller(n),
        timeline,
        bins: &flow.bins,
    };
    Some(flows.map(curve).collect())
}

fn shown(comparison: &Comparison) -> Vec<Shown<'_>> {
    let mut controllers = 0;
    let look = |role| match role {
        Role::Contender => {
            controllers += 1;
            Look::Controller(controllers - 1)
        }
        Role::Limit | Role::Bound | Role::Floor => Look::Frame,
    };
    let looks: Vec<Look> = comparison
        .entries
        .iter()
        .map(|e| e.role)
        .map(look)
        .collect();
    let entries = comparison.entries.iter().zip(looks);
    entries
        .map(|(entry, look)| Shown {
            entry,
            look,
            timeline: entry.timeline.as_ref().map(fitted),
        })
        .collect()
}

fn plots(setting: &Setting, comparison: &Comparison) -> Result<Vec<Plot>, Box<dyn Error>> {
    let shown = shown(comparison);
    let mut plots = vec![
        plane(comparison, &shown),
        distribution("rtt-cdf", "RTT, ms", &shown, |e| cdf(&e.rtt, BINS)),
        distribution("queueing-delay-cdf", "queueing delay, ms", &shown, |e| {
            cdf(&e.queueing, BINS)
        }),
    ];
    let together = of_controllers(&shown);
    if let Some(first) = together.first() {
        plots.extend(plots_over_time(setting, comparison, &together, first)?);
        if setting.flow_count() > 1 {
            plots.push(jain(setting, &together));
            let entry = shown.iter().find(|s| s.entry.name == first.label);
            let lives = entry.map_or(&[][..], |s| &s.entry.lives);
            plots.push(stacked(setting, first, lives));
        }
    }
    Ok(plots)
}

/// What a flow and what the link did; `together`: the contenders, each with all its flows.
fn plots_over_time(
    setting: &Setting,
    comparison: &Comparison,
    together: &[Curve<'_>],
    first: &Curve<'_>,
) -> Result<Vec<Plot>, Box<dyn Error>> {
    let single = of_flows(comparison, first.timeline);
    let curves = single.as_deref().unwrap_or(together);
    let link = setting.link(setting.seeds.first)?;
    let mut rate = over_time("rate", Axis::linear("rate, Mbit/s"), setting.duration);
    rate.area = shade(&link, first.timeline);
    let delivered = |c: &Curve<'_>| {
        let bin = c.timeline.bin();
        c.line(at_bins(bin, rates(c.bins, bin, |b: &FlowBin| b.delivered)))
    };
    rate.lines = curves.iter().map(delivered).collect();
    let of_flow = |name, axis, get: fn(&FlowBin) -> Envelope| {
        let mut plot = over_time(name, axis, setting.duration);
        let envelopes = |c: &Curve<'_>| c.bins.iter().map(get).collect::<Vec<Envelope>>();
        plot.lines = curves.iter().map(|c| c.filled(&envelopes(c))).collect();
        plot
    };
    let of_link = |name, axis, get: fn(&LinkBin) -> Envelope| {
        let mut plot = over_time(name, axis, setting.duration);
        let bins = |c: &Curve<'_>| c.timeline.link().iter().map(get).collect::<Vec<Envelope>>();
        plot.lines = together.iter().map(|c| c.filled(&bins(c))).collect();
        plot
    };
    let axis = Axis::linear("in flight, dashed: cwnd, kB");
    let mut window = of_flow("window", axis, |b| b.inflight);
    window.lines.extend(curves.iter().map(|c| {
        let cwnd: Vec<Envelope> = c.bins.iter().map(|b| b.cwnd).collect();
        Line {
            dashed: true,
            ..c.line(band(c.timeline, &cwnd).0)
        }
    }));
    let delay = Axis::linear("queueing delay, ms");
    Ok(vec![
        rate,
        of_flow("rtt", Axis::log("RTT, ms"), |b| b.rtt),
        of_link("queueing-delay", delay, |b| b.sojourn),
        of_link("queue", Axis::linear("queue, kB"), |b| b.queue),
        window,
    ])
}

/// What the plane shows across and up.
const DELAY: &str = "rtt_ms.p95";
const THROUGHPUT: &str = "throughput_mbps";

fn title_of(key: &str) -> String {
    Metric::of_key(key).map_or_else(String::new, Metric::title)
}

/// Throughput against delay: mean and 95 % interval of the seeds, and the constant windows. Of flows
/// of different controllers each has a mark, and all together a grey one.
fn plane(comparison: &Comparison, shown: &[Shown<'_>]) -> Plot {
    let place = |m: &Metrics| (m[DELAY], m[THROUGHPUT]);
    let windows = comparison.windows.iter().map(|(_, m)| place(m));
    let windows = windows.filter(|p| p.0.is_finite()).collect();
    let curve = Line::new("constant windows", Look::Frame, windows);
    let mixed = mixed(comparison);
    let flows = mixed.into_iter().flat_map(|e| e.lives.iter().zip(&e.flows));
    let flow =
        |(n, (life, m)): (usize, (&Life, _))| Mark::new(&life.name, Look::Controller(n), place(m));
    let flows = flows.enumerate().map(flow);
    let entries = shown.iter().filter(|s| s.entry.role != Role::Floor);
    let entries = entries.map(|s| Mark {
        label: s.entry.name.clone(),
        look: if mixed.is_some() { Look::Frame } else { s.look },
        at: place(&s.entry.mean),
        spread: s.entry.ci95.as_ref().map_or((0.0, 0.0), |ci| {
            let (x, y) = place(ci);
            // An interval must stay on a logarithmic axis.
            (x.min(s.entry.mean[DELAY] * 0.9), y)
        }),
    });
    let mut marks: Vec<Mark> = entries.chain(flows).collect();
    marks.retain(|mark| mark.at.0.is_finite());
    let broken_at = without_outliers(marks.iter().map(|mark| mark.at.0));
    for mark in &mut marks {
        if broken_at.is_some_and(|at| mark.at.0 > at) {
            mark.label = format!("{} ({:.0} ms)", mark.label, mark.at.0);
        }
    }
    let x = Axis::log(&title_of(DELAY)).broken_at(broken_at);
    let mut plot = Plot::new("plane", x, Axis::linear(&title_of(THROUGHPUT)));
    plot.lines
        .extend(Some(curve).filter(|c| !c.points.is_empty()));
    plot.marks = marks;
    plot
}

fn distribution(
    name: &str,
    label: &str,
    shown: &[Shown<'_>],
    get: impl Fn(&Entry) -> Vec<(f64, f64)>,
) -> Plot {
    let y = Axis::linear("share of samples").within(0.0, 1.02);
    let mut plot = Plot::new(name, Axis::log(label), y);
    let line = |s: &Shown<'_>| {
        // Below a tenth of a millisecond there is nothing to tell apart.
        let points = get(s.entry).into_iter().filter(|p| p.0 >= 0.1).collect();
        Line::new(&s.entry.name, s.look, points)
    };
    plot.lines = shown.iter().map(line).collect();
    plot
}

fn jain(setting: &Setting, curves: &[Curve<'_>]) -> Plot {
    let y = Axis::linear("Jain's index").within(0.0, 1.05);
    let mut plot = over_time("jain", y, setting.duration);
    plot.lines = curves
        .iter()
        .map(|c| {
            let (flows, bin) = (c.timeline.flows(), c.timeline.bin());
            let window = share_window(bin);
            let of_flows: Vec<Vec<f64>> = flows.iter().map(|f| shares(f, bin)).collect();
            let values = fairness(flows, &of_flows, window);
            c.line(at_bins(window, values.map(|j| j.unwrap_or(f64::NAN))))
        })
        .collect();
    plot
}

/// The rates of the flows of one run, each on top of those before it.
fn stacked(setting: &Setting, of: &Curve<'_>, lives: &[Life]) -> Plot {
    let y = Axis::linear("rates on top of each other, Mbit/s");
    let mut plot = over_time("shares", y, setting.duration);
    plot.title = format!("the flows of {}", of.label);
    let bin = of.timeline.bin();
    let window = share_window(bin);
    let mut below: Vec<f64> = Vec::new();
    for (n, flow) in of.timeline.flows().iter().enumerate() {
        let own = shares(flow, bin);
        below.resize(own.len(), 0.0);
        let above: Vec<f64> = below.iter().zip(&own).map(|(a, b)| a + b).collect();
        let name = lives.get(n).map(|life| life.name.clone());
        let name = name.unwrap_or_else(|| format!("flow {}", n + 1));
        let points = at_bins(window, above.iter().copied());
        plot.lines.push(Line {
            low: below,
            ..Line::new(name, Look::Controller(n), points)
        });
        below = above;
    }
    plot
}
