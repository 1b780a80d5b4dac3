//! The papers' figures over time: ours of the first seed, printed values as level lines.

use lowtide_lab::curves::{rates, share_window, shares};
use lowtide_lab::experiment::CellResult;
use lowtide_lab::reproduce::{Experiment, lines};
use lowtide_lab::scenario_file::{Each, OverTime, Quantity};
use lowtide_lab::timeline::{Envelope, FlowBin, Timeline};

use crate::figures::plot::{Axis, Line, Look, Plot};
use crate::figures::timed::{at_bins, band, fitted, over_time, shade};

/// A run of a figure.
struct Shown<'a> {
    result: &'a CellResult,
    timeline: Timeline,
    /// What it is called where there are several.
    label: Option<&'a str>,
}

/// Draws a figure as SVG.
///
/// # Errors
/// When a run is missing, or nothing can be drawn.
pub(super) fn svg(figure: &OverTime, experiment: &Experiment) -> Result<String, String> {
    let mut shown = Vec::new();
    for (label, place) in lines(figure, experiment.results.iter().map(|r| &r.cell)) {
        let result = &experiment.results[place.ok_or("no cell is labelled so")?];
        let run = result.runs.first().and_then(|r| r.details.as_ref());
        let timeline = run
            .and_then(|d| d.timeline.as_ref())
            .ok_or("its run is missing")?;
        shown.push(Shown {
            result,
            timeline: fitted(timeline),
            label,
        });
    }
    let first = shown.first().ok_or("it has no cell")?;
    let mut plot = frame(figure, first);
    if figure.capacity {
        let setting = &first.result.cell.setting;
        let link = setting.link(setting.seeds.first);
        plot.area = shade(&*link.map_err(|e| e.to_string())?, &first.timeline);
    }
    for run in &shown {
        add_lines(&mut plot, figure, run);
    }
    let end = first.result.cell.setting.duration.as_secs_f64();
    for level in &figure.levels {
        let ends = vec![(0.0, level.at), (end, level.at)];
        let line = Line::new(&level.label, Look::Level, ends);
        plot.lines.push(line);
    }
    plot.svg().map_err(|e| e.to_string())
}

fn frame(figure: &OverTime, first: &Shown<'_>) -> Plot {
    let label = match figure.quantity {
        Quantity::Rate => "delivery rate, Mbit/s",
        Quantity::Estimate => "bandwidth estimate, Mbit/s",
        Quantity::Rtt => "RTT, ms",
        Quantity::Cwnd => "window, kB",
        Quantity::Queue => "queue, kB",
    };
    let duration = first.result.cell.setting.duration;
    let mut plot = over_time(&figure.file, Axis::scaled(label, figure.log), duration);
    plot.title.clone_from(&figure.title);
    plot
}

/// The lines of one run: of all flows together, of each group, or of each flow.
fn add_lines(plot: &mut Plot, figure: &OverTime, run: &Shown<'_>) {
    let t = &run.timeline;
    let groups = run.result.cell.setting.group_of_flows();
    let parts: Vec<(Option<String>, Vec<usize>)> = match figure.each {
        Each::All => vec![(None, Vec::new())],
        Each::Group => {
            let controllers = run.result.cell.setting.controllers();
            let controllers = controllers.into_iter().enumerate();
            let flows_of = |g: usize| (0..t.flows().len()).filter(|n| groups[*n] == g).collect();
            controllers
                .map(|(g, name)| {
                    // Groups that run the same are told apart by their number.
                    let name = match run.label == Some(name) {
                        true => format!("sender {}", g + 1),
                        false => name.to_string(),
                    };
                    (Some(name), flows_of(g))
                })
                .collect()
        }
        Each::Flow => (0..t.flows().len())
            .map(|n| (Some(format!("flow {}", n + 1)), vec![n]))
            .collect(),
    };
    for (part, flows) in parts {
        let label = match (run.label, part) {
            (Some(run), Some(part)) => format!("{run}, {part}"),
            (Some(only), None) => only.to_string(),
            (None, Some(only)) => only,
            (None, None) => run.result.cell.setting.controllers().join(" + "),
        };
        let (points, low) = values(figure, t, &flows);
        let look = Look::Controller(plot.lines.len());
        plot.lines.push(Line {
            low,
            ..Line::new(label, look, points)
        });
    }
}

/// Points of one line and the lower edge of its envelope; `flows`: whose, of nobody for all.
fn values(figure: &OverTime, t: &Timeline, flows: &[usize]) -> (Vec<(f64, f64)>, Vec<f64>) {
    let bin = t.bin();
    let get: fn(&FlowBin) -> Envelope = match figure.quantity {
        Quantity::Rate if flows.is_empty() => {
            let values = rates(t.total(), bin, |b: &FlowBin| b.delivered);
            return (at_bins(bin, values), Vec::new());
        }
        Quantity::Rate => return (windowed(t, flows), Vec::new()),
        Quantity::Queue => {
            let queue: Vec<Envelope> = t.link().iter().map(|b| b.queue).collect();
            return band(t, &queue);
        }
        Quantity::Estimate => |b| b.bandwidth,
        Quantity::Rtt => |b| b.rtt,
        Quantity::Cwnd => |b| b.cwnd,
    };
    match flows {
        [] => band(t, &t.total().iter().map(get).collect::<Vec<_>>()),
        [flow, ..] => {
            let of_flow: Vec<Envelope> = t.flows()[*flow].bins.iter().map(get).collect();
            // Envelopes of many flows would hide each other.
            (band(t, &of_flow).0, Vec::new())
        }
    }
}

/// Rates of some flows together, over a second.
fn windowed(t: &Timeline, flows: &[usize]) -> Vec<(f64, f64)> {
    let of_flows: Vec<Vec<f64>> = flows
        .iter()
        .map(|n| shares(&t.flows()[*n], t.bin()))
        .collect();
    let count = of_flows.first().map_or(0, Vec::len);
    let sums = (0..count).map(|at| of_flows.iter().map(|f| f[at]).sum());
    at_bins(share_window(t.bin()), sums)
}
