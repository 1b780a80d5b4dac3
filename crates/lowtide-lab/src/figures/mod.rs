//! The report's plots as SVG and PNG, for papers and slides.

mod phases;
pub(crate) mod plot;
mod raster;
pub(crate) mod timed;

use std::error::Error;
use std::io;
use std::path::Path;

use self::plot::{Axis, Line, Look, Mark, Plot};
use self::timed::{BINS, at_bins, band, fitted, over_time, shade};
use crate::compare::{Comparison, Entry, Role};
use crate::curves::{cdf, fairness, rates, share_window, shares};
use crate::files;
use crate::metrics::{Metric, Metrics};
use crate::setting::Setting;
use crate::timeline::{Envelope, FlowBin, LinkBin, Timeline};

/// Writes the figures of a comparison that was run with timelines into `folder`, which is made:
/// `rate`, `rtt`, `queueing-delay`, `queue`, `window`, `phases`, `plane`, `rtt-cdf`,
/// `queueing-delay-cdf`, and for several flows `jain` and `shares`, each as `.svg` and `.png`.
/// `shares` is of the first contender, `phases` of each one's first flow. What is over time is the
/// first seed's.
///
/// # Errors
/// When the link cannot be made again, a figure cannot be drawn, or a file cannot be written.
pub fn write(setting: &Setting, comparison: &Comparison, folder: &Path) -> io::Result<()> {
    let fonts = raster::fonts();
    let drawn = |e: Box<dyn Error>| io::Error::other(e.to_string());
    let write = |name: &str, svg: String| -> io::Result<()> {
        let png = raster::png(&svg, &fonts).map_err(drawn)?;
        files::write(&folder.join(format!("{name}.svg")), svg.as_bytes())?;
        files::write(&folder.join(format!("{name}.png")), &png)
    };
    for plot in plots(setting, comparison).map_err(drawn)? {
        write(&plot.name, plot.svg().map_err(drawn)?)?;
    }
    let rows = strips(comparison);
    if !rows.is_empty() {
        let svg = phases::svg(&rows, setting.duration).map_err(drawn)?;
        write("phases", svg)?;
    }
    Ok(())
}

/// The controllers' phases, each of its first flow.
fn strips(comparison: &Comparison) -> Vec<phases::Row<'_>> {
    let contenders = comparison.entries.iter();
    let contenders = contenders.filter(|e| e.role == Role::Contender).enumerate();
    contenders
        .filter_map(|(n, entry)| {
            let timeline = entry.timeline.as_ref()?;
            Some(phases::Row {
                label: &entry.name,
                look: Look::Controller(n),
                flow: timeline.flows().first()?,
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

fn plots(setting: &Setting, comparison: &Comparison) -> Result<Vec<Plot>, Box<dyn Error>> {
    let mut controllers = 0;
    let shown: Vec<Shown<'_>> = comparison
        .entries
        .iter()
        .map(|entry| {
            let look = if entry.role == Role::Contender {
                controllers += 1;
                Look::Controller(controllers - 1)
            } else {
                Look::Frame
            };
            let timeline = entry.timeline.as_ref();
            let timeline = timeline.map(fitted);
            Shown {
                entry,
                look,
                timeline,
            }
        })
        .collect();
    let mut plots = vec![
        plane(comparison, &shown),
        distribution("rtt-cdf", "RTT, ms", &shown, |e| cdf(&e.rtt, BINS)),
        distribution("queueing-delay-cdf", "queueing delay, ms", &shown, |e| {
            cdf(&e.queueing, BINS)
        }),
    ];
    // Over time only the controllers: the limit would hide them.
    let timed: Vec<(&Shown<'_>, &Timeline)> = shown
        .iter()
        .filter(|s| s.entry.role == Role::Contender)
        .filter_map(|s| Some((s, s.timeline.as_ref()?)))
        .collect();
    if let Some((_, first)) = timed.first() {
        let link = setting.link.link(setting.duration, setting.seeds.first)?;
        let mut rate = over_time("rate", Axis::linear("rate, Mbit/s"), setting.duration);
        rate.area = shade(&link, first);
        rate.lines = timed
            .iter()
            .map(|(s, t)| {
                let values = rates(t.total(), t.bin(), |b: &FlowBin| b.delivered);
                line(s, at_bins(t.bin(), values))
            })
            .collect();
        plots.push(rate);
        let flow = |get: fn(&FlowBin) -> Envelope| {
            move |t: &Timeline| t.total().iter().map(get).collect::<Vec<Envelope>>()
        };
        let link_bin = |get: fn(&LinkBin) -> Envelope| {
            move |t: &Timeline| t.link().iter().map(get).collect::<Vec<Envelope>>()
        };
        let filled = |name, axis, get: &dyn Fn(&Timeline) -> Vec<Envelope>| {
            let mut plot = over_time(name, axis, setting.duration);
            plot.lines = timed.iter().map(|(s, t)| filled(s, t, &get(t))).collect();
            plot
        };
        plots.push(filled("rtt", Axis::log("RTT, ms"), &flow(|b| b.rtt)));
        let axis = Axis::linear("queueing delay, ms");
        plots.push(filled("queueing-delay", axis, &link_bin(|b| b.sojourn)));
        let axis = Axis::linear("queue, kB");
        plots.push(filled("queue", axis, &link_bin(|b| b.queue)));
        let axis = Axis::linear("in flight, dashed: cwnd, kB");
        let mut window = filled("window", axis, &flow(|b| b.inflight));
        window.lines.extend(timed.iter().map(|(s, t)| {
            let cwnd: Vec<Envelope> = t.total().iter().map(|b| b.cwnd).collect();
            Line {
                dashed: true,
                ..line(s, band(t, &cwnd).0)
            }
        }));
        plots.push(window);
        if setting.flow_count() > 1 {
            plots.push(jain(setting, &timed));
            plots.push(stacked(setting, first));
        }
    }
    Ok(plots)
}

fn line(shown: &Shown<'_>, points: Vec<(f64, f64)>) -> Line {
    Line {
        label: shown.entry.name.clone(),
        look: shown.look,
        points,
        low: Vec::new(),
        dashed: false,
    }
}

fn filled(shown: &Shown<'_>, timeline: &Timeline, envelopes: &[Envelope]) -> Line {
    let (points, low) = band(timeline, envelopes);
    Line {
        low,
        ..line(shown, points)
    }
}

/// What the plane shows across and up.
const DELAY: &str = "rtt_ms.p95";
const THROUGHPUT: &str = "throughput_mbps";

fn title_of(key: &str) -> String {
    Metric::of_key(key).map_or_else(String::new, Metric::title)
}

/// Throughput against delay: mean and 95 % interval of the seeds, and the constant windows.
fn plane(comparison: &Comparison, shown: &[Shown<'_>]) -> Plot {
    let mut plot = Plot::new(
        "plane",
        Axis::log(&title_of(DELAY)),
        Axis::linear(&title_of(THROUGHPUT)),
    );
    let place = |m: &Metrics| (m[DELAY], m[THROUGHPUT]);
    let windows = comparison.windows.iter().map(|(_, m)| place(m));
    plot.lines = vec![Line {
        label: "constant windows".to_string(),
        look: Look::Frame,
        points: windows.filter(|p| p.0.is_finite()).collect(),
        low: Vec::new(),
        dashed: false,
    }];
    plot.marks = shown
        .iter()
        .filter(|s| s.entry.role != Role::Floor && s.entry.mean[DELAY].is_finite())
        .map(|s| Mark {
            label: s.entry.name.clone(),
            look: s.look,
            at: place(&s.entry.mean),
            spread: s.entry.ci95.as_ref().map_or((0.0, 0.0), |ci| {
                let (x, y) = place(ci);
                // An interval must stay on a logarithmic axis.
                (x.min(s.entry.mean[DELAY] * 0.9), y)
            }),
        })
        .collect();
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
    plot.lines = shown
        .iter()
        .map(|s| {
            // Below a tenth of a millisecond there is nothing to tell apart.
            let points = get(s.entry).into_iter().filter(|p| p.0 >= 0.1).collect();
            line(s, points)
        })
        .collect();
    plot
}

fn jain(setting: &Setting, timed: &[(&Shown<'_>, &Timeline)]) -> Plot {
    let y = Axis::linear("Jain's index").within(0.0, 1.05);
    let mut plot = over_time("jain", y, setting.duration);
    plot.lines = timed
        .iter()
        .map(|(s, t)| {
            let window = share_window(t.bin());
            let of_flows: Vec<Vec<f64>> = t.flows().iter().map(|f| shares(f, t.bin())).collect();
            let values = fairness(t.flows(), &of_flows, window);
            line(s, at_bins(window, values.map(|j| j.unwrap_or(f64::NAN))))
        })
        .collect();
    plot
}

/// The rates of the flows of one run, each on top of those before it.
fn stacked(setting: &Setting, timeline: &Timeline) -> Plot {
    let y = Axis::linear("rates on top of each other, Mbit/s");
    let mut plot = over_time("shares", y, setting.duration);
    let window = share_window(timeline.bin());
    let mut below: Vec<f64> = Vec::new();
    for (n, flow) in timeline.flows().iter().enumerate() {
        let own = shares(flow, timeline.bin());
        below.resize(own.len(), 0.0);
        let above: Vec<f64> = below.iter().zip(&own).map(|(a, b)| a + b).collect();
        plot.lines.push(Line {
            label: format!("flow {}", n + 1),
            look: Look::Controller(n),
            points: at_bins(window, above.iter().copied()),
            low: below,
            dashed: false,
        });
        below = above;
    }
    plot
}
