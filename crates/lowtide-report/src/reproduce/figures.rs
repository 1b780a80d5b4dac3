//! The papers' curves: ours with 95 % intervals, the printed points beside them.

use lowtide_lab::reproduce::{Experiment, measured};
use lowtide_lab::scenario_file::{Figure, Plane};

use super::over_time;
use crate::figures::plot::{Axis, Look, Mark, Plot, Series, span};

/// A figure as it is written.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Name of its file, without its ending.
    pub file: String,
    /// Title.
    pub title: String,
    /// What it looks like.
    pub svg: String,
}

/// Draws all figures of an experiment: curves, planes, over time.
///
/// # Errors
/// When labels or an expression fit no cell, a run is missing, or nothing can be drawn.
pub fn figures(experiment: &Experiment) -> Result<Vec<Drawn>, String> {
    let content = &experiment.file.content;
    let drawn = |file: &str, title: &str, svg: Result<String, String>| {
        Ok(Drawn {
            svg: svg.map_err(|e| format!("{file}: {e}"))?,
            file: file.to_string(),
            title: title.to_string(),
        })
    };
    let curved = content.figures.iter();
    let curved = curved.map(|f| drawn(&f.file, &f.title, curves(f, experiment)));
    let planes = content.planes.iter();
    let planes = planes.map(|p| drawn(&p.file, &p.title, plane(p, experiment)));
    let timed = content.over_time.iter();
    let timed = timed.map(|f| drawn(&f.file, &f.title, over_time::svg(f, experiment)));
    curved.chain(planes).chain(timed).collect()
}

/// Values against each other with their intervals, and the printed points.
fn plane(plane: &Plane, experiment: &Experiment) -> Result<String, String> {
    let x = Axis::scaled(&plane.x_label, plane.log);
    let mut plot = Plot::new(&plane.file, x, Axis::linear(&plane.y_label));
    plot.title.clone_from(&plane.title);
    for (n, label) in plane.marks.iter().enumerate() {
        let mut within: Vec<&str> = plane.cells.iter().map(String::as_str).collect();
        within.push(label);
        let value = |expression: &str| {
            measured(expression, &experiment.results, &within).map_err(|e| e.to_string())
        };
        let ((x, dx), (y, dy)) = (value(&plane.x)?, value(&plane.y)?);
        plot.marks.push(Mark {
            // An interval must stay on a logarithmic axis.
            spread: (dx.unwrap_or(0.0).min(x * 0.9), dy.unwrap_or(0.0)),
            ..Mark::new(label, Look::Controller(n), (x, y))
        });
    }
    for (n, label) in plane.marks.iter().enumerate() {
        if let Some([x, y]) = plane.printed.get(label) {
            let (label, look) = (format!("{label}, printed"), Look::Printed(n));
            plot.marks.push(Mark::new(label, look, (*x, *y)));
        }
    }
    plot.svg().map_err(|e| e.to_string())
}

/// Curves over the figure's places, and the printed points.
fn curves(figure: &Figure, experiment: &Experiment) -> Result<String, String> {
    let numbered = figure.x.iter().any(|x| x.at.is_some());
    let at = |n: usize| figure.x[n].at.unwrap_or(n as f64);
    let x = if numbered {
        let (low, high) = span((0..figure.x.len()).map(at));
        let margin = (high - low).max(1e-9) * 0.05;
        Axis::linear(&figure.x_label).within(low - margin, high + margin)
    } else {
        let names = figure.x.iter().map(|x| x.label.clone());
        Axis::of_names(&figure.x_label, names.collect())
    };
    let y = Axis::scaled(&figure.y_label, figure.log);
    let mut plot = Plot::new(&figure.file, x, y);
    plot.title.clone_from(&figure.title);
    for (number, name) in figure.series.iter().enumerate() {
        let (mut points, mut half) = (Vec::new(), Vec::new());
        for (n, x) in figure.x.iter().enumerate() {
            let within = [name.as_str(), x.label.as_str()];
            let (value, interval) =
                measured(&figure.y, &experiment.results, &within).map_err(|e| e.to_string())?;
            if value.is_finite() {
                points.push((at(n), value));
                half.push(interval.unwrap_or(0.0));
            }
        }
        plot.series.push(Series {
            half,
            // Between places without numbers there is nothing.
            joined: numbered,
            ..Series::new(name, Look::Controller(number), points)
        });
        let Some(printed) = figure.printed.get(name) else {
            continue;
        };
        let values = printed.iter().take(figure.x.len()).enumerate();
        let values = values.filter(|(_, value)| value.is_finite());
        let points = values.map(|(n, value)| (at(n), *value)).collect();
        let (label, look) = (format!("{name}, printed"), Look::Printed(number));
        plot.series.push(Series::new(label, look, points));
    }
    plot.svg().map_err(|e| e.to_string())
}
