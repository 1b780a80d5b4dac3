//! Throughput against delay of many controllers over many traces: aggregated, and on each trace.

use std::io;
use std::path::Path;

use lowtide_lab::contender::ORACLE;
use lowtide_lab::frontier::{Curve, DELAY_FLOOR_MS, Frontier, OnTrace, Row};

use super::folder::{Folder, not_drawn};
use super::overview;
use super::plot::{Axis, Line, Look, Plot, Series, span};
use super::style::Style;

/// Writes the frontier of each place, in the formats of `style`, into `folder`, which is made:
/// `frontier-40ms-2bdp` of all traces together, `frontier-40ms-2bdp-TRACE` of each trace, and
/// with up to six controllers `overview-40ms-2bdp`, all traces together in large letters.
///
/// # Errors
/// When a figure cannot be drawn or a file cannot be written.
pub fn write_frontier(frontier: &Frontier, folder: &Path, style: &Style) -> io::Result<()> {
    let folder = Folder::new(folder, style);
    plots(frontier)
        .iter()
        .try_for_each(|plot| folder.put(plot))?;
    for rows in frontier.rows.chunk_by(Row::is_beside) {
        if let Some(svg) = overview::svg(frontier, rows).map_err(not_drawn)? {
            folder.put_svg(&name("overview", &rows[0]), svg)?;
        }
    }
    Ok(())
}

/// The name of a place's figure.
fn name(figure: &str, place: &Row) -> String {
    file_name(&format!("{figure}-{}ms-{}", place.rtt_ms, place.buffer))
}

/// The name of a trace in those of files; with its number where that alone tells it from an earlier one.
fn trace_name(traces: &[String], n: usize) -> String {
    let name = file_name(&traces[n]);
    if name.is_empty() || traces[..n].iter().any(|earlier| file_name(earlier) == name) {
        format!("{name}-{}", n + 1)
            .trim_start_matches('-')
            .to_string()
    } else {
        name
    }
}

/// What of a text can stand in the name of a file everywhere.
fn file_name(text: &str) -> String {
    let is_allowed = |c: &char| c.is_ascii_alphanumeric() || "-._".contains(*c);
    text.chars().filter(is_allowed).collect()
}

fn plots(frontier: &Frontier) -> Vec<Plot> {
    let places = frontier.rows.chunk_by(Row::is_beside);
    places.flat_map(|rows| of_place(frontier, rows)).collect()
}

/// All traces together, then each.
pub(crate) fn of_place(frontier: &Frontier, rows: &[Row]) -> Vec<Plot> {
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let is_here = |c: &&Curve| c.rtt_ms == first.rtt_ms && c.buffer == first.buffer;
    let curves: Vec<&Curve> = frontier.curves.iter().filter(is_here).collect();
    let (rtt, buffer, base) = (first.rtt_ms, &first.buffer, &frontier.base);
    let name = name("frontier", first);
    let place = format!("RTT {rtt} ms, buffer {buffer}");
    let over = match frontier.traces.len() {
        1 => "one trace".to_string(),
        count => format!("geometric means over {count} traces"),
    };
    let x = format!("p95 of the queueing delay over {base}'s");
    let y = format!("throughput over {base}'s");
    let together = |row: &Row| {
        let (throughput, delay) = row.point();
        (delay, throughput)
    };
    let mut plots = vec![Plot {
        title: format!("{place}: {over}"),
        ..plot(&name, (&x, &y), base, &curves, rows, together)
    }];
    for (n, trace) in frontier.traces.iter().enumerate() {
        let axes = ("p95 of the queueing delay, ms", "throughput, Mbit/s");
        let on_trace = |row: &Row| {
            let at: &OnTrace = &row.on_traces[n];
            // Not `f64::max`, which would make a number of what does not exist.
            match at.queue_delay_ms.p95 {
                p95 if p95 < DELAY_FLOOR_MS => (DELAY_FLOOR_MS, at.throughput_mbps),
                p95 => (p95, at.throughput_mbps),
            }
        };
        plots.push(Plot {
            title: format!("{place}: {trace}"),
            ..plot(
                &format!("{name}-{}", trace_name(&frontier.traces, n)),
                axes,
                base,
                &curves,
                rows,
                on_trace,
            )
        });
    }
    plots
}

/// A line or marks for each curve; `at` gives a row's place, delay first.
fn plot(
    name: &str,
    (x, y): (&str, &str),
    base: &str,
    curves: &[&Curve],
    rows: &[Row],
    at: impl Fn(&Row) -> (f64, f64),
) -> Plot {
    let points = |is_point: &dyn Fn(&str) -> bool| -> Vec<(f64, f64)> {
        let own = rows.iter().filter(|row| is_point(&row.controller));
        let places = own.map(&at);
        places
            .filter(|p| p.0.is_finite() && p.1.is_finite())
            .collect()
    };
    let lines = curves.iter().enumerate().map(|(n, curve)| {
        let own = points(&|name| curve.points.iter().any(|p| p == name));
        Series {
            // Between the points of several parameters there is no order.
            joined: curve.parameters == 1,
            ..Series::new(&curve.controller, Look::Controller(n), own)
        }
    });
    let mut lines: Vec<Series> = lines.collect();
    if curves
        .iter()
        .all(|curve| curve.points.iter().all(|p| p != base))
    {
        let own = points(&|name| name == base);
        lines.push(Series::new(format!("{base} (base)"), Look::Frame, own));
    }
    let ends = span(lines.iter().flat_map(|l| l.points.iter().map(|p| p.1)));
    // The oracle, behind whom nothing waits, has no place on a logarithmic axis: it is a level.
    let (limits, lines): (Vec<Series>, Vec<Series>) = lines
        .into_iter()
        .filter(|line| !line.points.is_empty())
        .partition(|line| line.label == ORACLE);
    let (left, right) = span(lines.iter().flat_map(|l| l.points.iter().map(|p| p.0)));
    let level = |limit: Series| {
        let ends = [left, right].map(|x| (x, limit.points[0].1));
        Line::new(limit.label, Look::Level, ends.to_vec())
    };
    let mut vertical = Axis::linear(y);
    if ends.0 < ends.1 {
        vertical = vertical.around(ends);
    }
    let mut plot = Plot::new(name, Axis::log(x), vertical);
    plot.lines = limits
        .into_iter()
        .take(1)
        .filter(|_| left <= right)
        .map(level)
        .collect();
    plot.series = lines;
    plot
}
