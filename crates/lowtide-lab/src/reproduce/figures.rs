//! The papers' curves: ours with 95 % intervals, the printed points beside them.

use plotters::prelude::*;

use super::{Experiment, measured, over_time};
use crate::figures::plot::{Axis, Look, Mark, Plot, wrapped};
use crate::scenario_file::{Figure, Plane};

/// Size in pixels.
const SIZE: (u32, u32) = (760, 400);
/// Width of the names beside the plot, where they hide nothing.
const LEGEND: u32 = 200;
/// How many characters of a name fit there.
const NAME: usize = 28;
/// Colours that are told apart without seeing red and green (Okabe and Ito 2008).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// A point of a curve: where, value, half its interval.
type Place = (f64, f64, f64);

struct Curve {
    name: String,
    ours: Vec<Place>,
    printed: Vec<(f64, f64)>,
}

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
    let curves = content.figures.iter();
    let curves = curves.map(|f| drawn(&f.file, &f.title, svg(f, experiment)));
    let planes = content.planes.iter();
    let planes = planes.map(|p| drawn(&p.file, &p.title, plane(p, experiment)));
    let timed = content.over_time.iter();
    let timed = timed.map(|f| drawn(&f.file, &f.title, over_time::svg(f, experiment)));
    curves.chain(planes).chain(timed).collect()
}

/// Values against each other with their intervals, and the printed points.
fn plane(plane: &Plane, experiment: &Experiment) -> Result<String, String> {
    let x = if plane.log {
        Axis::log(&plane.x_label)
    } else {
        Axis::linear(&plane.x_label)
    };
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
            label: label.clone(),
            look: Look::Controller(n),
            at: (x, y),
            // An interval must stay on a logarithmic axis.
            spread: (dx.unwrap_or(0.0).min(x * 0.9), dy.unwrap_or(0.0)),
        });
    }
    for (n, label) in plane.marks.iter().enumerate() {
        if let Some([x, y]) = plane.printed.get(label) {
            plot.marks.push(Mark {
                label: format!("{label}, printed"),
                look: Look::Printed(n),
                at: (*x, *y),
                spread: (0.0, 0.0),
            });
        }
    }
    plot.svg().map_err(|e| e.to_string())
}

/// Draws a curve as SVG.
fn svg(figure: &Figure, experiment: &Experiment) -> Result<String, String> {
    let at = |n: usize| figure.x[n].at.unwrap_or(n as f64);
    let mut curves = Vec::new();
    for series in &figure.series {
        let mut ours = Vec::new();
        for (n, x) in figure.x.iter().enumerate() {
            let within = [series.as_str(), x.label.as_str()];
            let (value, half) =
                measured(&figure.y, &experiment.results, &within).map_err(|e| e.to_string())?;
            if value.is_finite() {
                ours.push((at(n), value, half.unwrap_or(0.0)));
            }
        }
        let printed = figure.printed.get(series).map_or(&[][..], Vec::as_slice);
        let printed = printed
            .iter()
            .take(figure.x.len())
            .enumerate()
            .filter(|(_, value)| value.is_finite())
            .map(|(n, value)| (at(n), *value))
            .collect();
        curves.push(Curve {
            name: series.clone(),
            ours,
            printed,
        });
    }
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(figure, &curves, &root).map_err(|e| e.to_string())?;
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Outcome<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(figure: &Figure, curves: &[Curve], root: &Area<'a>) -> Outcome<'a> {
    root.fill(&WHITE)?;
    let named = curves.len() > 1 || curves.iter().any(|c| !c.printed.is_empty());
    let (root, beside) = root.split_horizontally(SIZE.0 - if named { LEGEND } else { 0 });
    if named {
        draw_names(curves, &beside)?;
    }
    let numbered = figure.x.iter().any(|x| x.at.is_some());
    let places: Vec<f64> = (0..figure.x.len())
        .map(|n| figure.x[n].at.unwrap_or(n as f64))
        .collect();
    let (low, high) = bounds(places.iter().copied());
    let margin = if numbered {
        (high - low).max(1e-9) * 0.05
    } else {
        0.5
    };
    let heights = curves.iter().flat_map(|c| {
        let ours = c.ours.iter().flat_map(|(_, y, half)| [y - half, y + half]);
        ours.chain(c.printed.iter().map(|(_, y)| *y))
    });
    let (bottom, top) = bounds(heights.filter(|y| !figure.log || *y > 0.0));
    let x = (low - margin)..(high + margin);
    let mut builder = ChartBuilder::on(&root);
    builder
        .caption(&figure.title, ("sans-serif", 15))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56);
    let label = |x: &f64| {
        if numbered {
            return super::document::number(*x);
        }
        let near = x.round();
        let found = figure.x.get(near.max(0.0) as usize).filter(|_| near >= 0.0);
        found
            .filter(|_| (x - near).abs() < 0.01)
            .map_or_else(String::new, |p| p.label.clone())
    };
    let labels = if numbered { 8 } else { 2 * figure.x.len() + 1 };
    macro_rules! chart {
        ($y:expr) => {{
            let mut chart = builder.build_cartesian_2d(x, $y)?;
            chart
                .configure_mesh()
                .light_line_style(WHITE.mix(0.0))
                .bold_line_style(BLACK.mix(0.12))
                .x_desc(&figure.x_label)
                .y_desc(&figure.y_label)
                .x_labels(labels)
                .x_label_formatter(&label)
                .y_label_formatter(&|y| super::document::number(*y))
                .axis_desc_style(("sans-serif", 13))
                .label_style(("sans-serif", 12))
                .draw()?;
            for (n, curve) in curves.iter().enumerate() {
                let colour = COLOURS[n % COLOURS.len()];
                let line = ShapeStyle::from(&colour).stroke_width(2);
                let thin = ShapeStyle::from(&colour).stroke_width(1);
                let points = curve.ours.iter().map(|(x, y, _)| (*x, *y));
                // Between places without numbers there is nothing.
                let joined = points.clone().filter(|_| numbered);
                chart.draw_series(LineSeries::new(joined, line))?;
                chart.draw_series(points.map(|p| Circle::new(p, 3, colour.filled())))?;
                chart.draw_series(curve.ours.iter().filter(|(_, _, half)| *half > 0.0).map(
                    |(x, y, half)| {
                        let least = if figure.log {
                            bottom.max(1e-12)
                        } else {
                            f64::MIN
                        };
                        PathElement::new(vec![(*x, (y - half).max(least)), (*x, y + half)], thin)
                    },
                ))?;
                let rings = curve.printed.iter();
                chart.draw_series(rings.map(|p| Circle::new(*p, 5, line)))?;
            }
        }};
    }
    if figure.log {
        chart!((bottom * 0.8..top * 1.4).log_scale());
    } else {
        let least = if bottom < 0.0 { bottom * 1.1 } else { 0.0 };
        chart!(least..top * 1.15);
    }
    Ok(())
}

/// Who is who: ours as lines with points, what is printed as rings.
fn draw_names<'a>(curves: &[Curve], area: &Area<'a>) -> Outcome<'a> {
    let printed = |c: &Curve| !c.printed.is_empty();
    let names = curves.iter().enumerate().flat_map(|(n, curve)| {
        let ring = printed(curve).then(|| (n, format!("{}, printed", curve.name), true));
        [Some((n, curve.name.clone(), false)), ring]
            .into_iter()
            .flatten()
    });
    let mut y = 40;
    for (n, name, ring) in names {
        let colour = COLOURS[n % COLOURS.len()];
        if ring {
            area.draw(&Circle::new((10, y), 5, colour.stroke_width(2)))?;
        } else {
            area.draw(&PathElement::new([(0, y), (20, y)], colour.stroke_width(2)))?;
            area.draw(&Circle::new((10, y), 3, colour.filled()))?;
        }
        for line in wrapped(&name, NAME) {
            area.draw(&Text::new(line, (26, y - 7), ("sans-serif", 12)))?;
            y += 15;
        }
        y += 4;
    }
    Ok(())
}

/// The least and the greatest; 0 and 1 without values.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    if low > high { (0.0, 1.0) } else { (low, high) }
}
