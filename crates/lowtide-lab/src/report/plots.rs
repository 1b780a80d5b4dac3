//! The report's plots.

use lowtide_cc::units::{Bytes, Duration};
use lowtide_sim::link::Link;
use plotly::common::{DashType, Fill, Line, Marker, MarkerSymbol, Mode, Title};
use plotly::layout::{Axis, AxisType, HoverMode, Legend, Margin};
use plotly::{Configuration, Layout, Plot, Scatter};

use crate::compare::{Comparison, Entry, Role};
use crate::timeline::{FlowBin, Timeline};

/// Okabe and Ito's colours, which the colour-blind can tell apart, the lightest left out.
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];
const CAPACITY: &str = "rgba(128,128,128,0.28)";
/// Lines differ in more than colour.
fn dash(n: usize) -> DashType {
    [
        DashType::Solid,
        DashType::Dash,
        DashType::Dot,
        DashType::DashDot,
        DashType::LongDash,
    ][n % 5]
        .clone()
}

fn symbol(n: usize) -> MarkerSymbol {
    let symbols = [
        MarkerSymbol::Circle,
        MarkerSymbol::Square,
        MarkerSymbol::Diamond,
        MarkerSymbol::TriangleUp,
        MarkerSymbol::Cross,
        MarkerSymbol::X,
    ];
    symbols[n % symbols.len()].clone()
}

fn line(n: usize) -> Line {
    Line::new()
        .color(COLOURS[n % COLOURS.len()])
        .dash(dash(n))
        .width(1.5)
}

/// Plots interpret tags in names.
fn plain(name: &str) -> String {
    name.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Four significant digits: finer than a screen, and a third of a double's text.
fn round(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Values one bin apart. Their times, which would double the size of a report, are not written.
fn series(values: Vec<Option<f64>>, bin: Duration) -> Box<Scatter<f64, Option<f64>>> {
    Box::<Scatter<f64, Option<f64>>>::default()
        .x0(0.0)
        .dx(bin.as_secs_f64())
        .y(values)
}

fn html(mut plot: Plot, id: &str) -> String {
    plot.set_configuration(Configuration::new().responsive(true).display_logo(false));
    plot.to_inline_html(Some(id))
}

fn layout(height: usize) -> Layout {
    Layout::new()
        .height(height)
        .margin(Margin::new().left(70).right(20).top(20).bottom(50))
        .legend(
            Legend::new()
                .orientation(plotly::common::Orientation::Horizontal)
                .y(1.06),
        )
        .paper_background_color("rgba(0,0,0,0)")
        .plot_background_color("rgba(0,0,0,0)")
}

/// Mean rates over this time, so that single packets do not show as peaks.
const RATE_WINDOW: Duration = Duration::from_millis(100);

/// Rate, RTT and queue over time, one above the other with a common time axis.
pub(super) fn timeline(link: &Link, comparison: &Comparison) -> String {
    let with_timeline: Vec<(&Entry, &Timeline)> = comparison
        .entries
        .iter()
        .filter_map(|e| Some((e, e.timeline.as_ref()?)))
        .collect();
    let mut plot = Plot::new();
    let Some((_, first)) = with_timeline.first() else {
        return String::new();
    };
    let bin = first.bin();
    let per_window = (RATE_WINDOW.as_nanos() / bin.as_nanos()).max(1) as usize;
    let capacity = first
        .times()
        .map(|t| {
            let from = t - bin * (per_window as u64 - 1);
            Some(round(mbps(
                link.volume_between(from, t + bin),
                (t + bin).since(from),
            )))
        })
        .collect();
    plot.add_trace(
        series(capacity, bin)
            .name("capacity")
            .mode(Mode::Lines)
            .line(Line::new().width(0.5).color("rgba(128,128,128,0.6)"))
            .fill(Fill::ToZeroY)
            .fill_color(CAPACITY),
    );
    for (n, (entry, timeline)) in with_timeline.iter().enumerate() {
        let name = plain(&entry.name);
        let trace = |values: Vec<Option<f64>>, axis: &str| {
            series(values, bin)
                .name(&name)
                .mode(Mode::Lines)
                .line(line(n))
                .legend_group(&name)
                .show_legend(axis == "y")
                .y_axis(axis)
        };
        plot.add_trace(trace(rates(timeline, per_window), "y"));
        plot.add_trace(trace(largest_rtt(timeline), "y2"));
        let queue = timeline
            .queue()
            .map(|q| Some(round(q.as_f64() / 1e3)))
            .collect();
        plot.add_trace(trace(queue, "y3"));
    }
    let axis = |title: &str, domain: [f64; 2]| {
        Axis::new()
            .title(Title::with_text(title))
            .domain(&domain)
            .zero_line(false)
    };
    plot.set_layout(
        layout(820)
            .hover_mode(HoverMode::X)
            .x_axis(Axis::new().title(Title::with_text("time, s")).anchor("y3"))
            .y_axis(axis("rate, Mbit/s", [0.70, 1.0]))
            .y_axis2(axis("RTT, ms", [0.36, 0.66]).type_(AxisType::Log))
            .y_axis3(axis("queue, kB", [0.0, 0.32])),
    );
    html(plot, "timeline")
}

fn mbps(volume: Bytes, time: Duration) -> f64 {
    volume.as_f64() * 8.0 / 1e6 / time.as_secs_f64()
}

/// Delivery rate of all flows together, a moving mean.
fn rates(timeline: &Timeline, per_window: usize) -> Vec<Option<f64>> {
    let bins = timeline.bins();
    let delivered: Vec<Bytes> = (0..bins)
        .map(|n| timeline.flows().iter().map(|flow| flow[n].delivered).sum())
        .collect();
    (0..bins)
        .map(|n| {
            let from = (n + 1).saturating_sub(per_window);
            let volume = delivered[from..=n].iter().copied().sum();
            Some(round(mbps(volume, timeline.bin() * (n + 1 - from) as u64)))
        })
        .collect()
}

fn largest_rtt(timeline: &Timeline) -> Vec<Option<f64>> {
    let largest = |n: usize| {
        let of_flow = |flow: &Vec<FlowBin>| flow[n].rtt.map(|(_, max)| max);
        timeline.flows().iter().filter_map(of_flow).max()
    };
    (0..timeline.bins())
        .map(|n| largest(n).map(|rtt| round(rtt.as_millis_f64())))
        .collect()
}

/// Throughput against the 95th percentile of the RTT.
pub(super) fn plane(comparison: &Comparison) -> String {
    let mut plot = Plot::new();
    let windows = comparison
        .windows
        .iter()
        .filter(|(_, m)| m.rtt_ms.p95.is_finite());
    let (delays, rates): (Vec<f64>, Vec<f64>) = windows
        .map(|(_, m)| (round(m.rtt_ms.p95), round(m.throughput_mbps)))
        .unzip();
    plot.add_trace(
        Scatter::new(delays, rates)
            .name("constant windows")
            .mode(Mode::LinesMarkers)
            .line(Line::new().color("rgba(128,128,128,0.8)").width(1.0))
            .marker(Marker::new().size(5)),
    );
    let points = comparison.entries.iter().filter(|e| e.role != Role::Floor);
    for (n, entry) in points.enumerate() {
        let (delays, rates): (Vec<f64>, Vec<f64>) = entry
            .seeds
            .iter()
            .filter(|m| m.rtt_ms.p95.is_finite())
            .map(|m| (round(m.rtt_ms.p95), round(m.throughput_mbps)))
            .unzip();
        plot.add_trace(
            Scatter::new(delays, rates)
                .name(plain(&entry.name))
                .mode(Mode::Markers)
                .marker(
                    Marker::new()
                        .size(12)
                        .color(COLOURS[n % COLOURS.len()])
                        .symbol(symbol(n)),
                ),
        );
    }
    let x = Axis::new()
        .title(Title::with_text("95th percentile of the RTT, ms (log)"))
        .type_(AxisType::Log);
    plot.set_layout(
        layout(460)
            .x_axis(x)
            .y_axis(Axis::new().title(Title::with_text("throughput, Mbit/s"))),
    );
    html(plot, "plane")
}

/// Distribution of the RTT.
pub(super) fn cdf(comparison: &Comparison) -> String {
    let mut plot = Plot::new();
    let points = comparison.entries.iter().filter(|e| e.role != Role::Floor);
    for (n, entry) in points.enumerate() {
        let cdf = entry.rtt.cdf();
        // A few hundred steps are as smooth as a screen shows.
        let stride = cdf.len().div_ceil(400).max(1);
        let last = cdf.last().copied();
        let (x, y): (Vec<f64>, Vec<f64>) = cdf
            .into_iter()
            .step_by(stride)
            .chain(last)
            .map(|(ms, share)| (round(ms), round(share)))
            .unzip();
        plot.add_trace(
            Scatter::new(x, y)
                .name(plain(&entry.name))
                .mode(Mode::Lines)
                .line(line(n)),
        );
    }
    plot.set_layout(
        layout(380)
            .x_axis(
                Axis::new()
                    .title(Title::with_text("RTT, ms (log)"))
                    .type_(AxisType::Log),
            )
            .y_axis(Axis::new().title(Title::with_text("share of samples"))),
    );
    html(plot, "cdf")
}
