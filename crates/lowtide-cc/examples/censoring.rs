//! What censoring does to an estimate of capacity. Prints the tables of `docs/estimators.md` and
//! draws its picture:
//!
//! ```text
//! cargo run --release -p lowtide-cc --example censoring -- docs/estimators.svg
//! ```

use std::error::Error;

use lowtide_cc::estimators::NoiseBounds;
use plotters::prelude::*;

#[path = "../tests/estimators/censored_link.rs"]
mod censored_link;

use censored_link::{
    CAPACITY, Kind, SLOW, UNBOUNDED, at_constant_rate, pacing_itself, summary, tracking,
};

/// Runs behind each number.
const RUNS: u64 = 50;
/// Steps shown, of 10 ms each as in BBR-S, and how many of them a line skips.
const SHOWN: usize = 2000;
const EVERY: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let kinds = [
        ("plain, known noise", Kind::PlainKnown),
        ("plain, learning", Kind::PlainLearning),
        ("Tobit, known noise", Kind::TobitKnown),
        ("Tobit, learning", Kind::TobitLearning(SLOW)),
        (
            "Tobit, learning, √Q to 100 %",
            learning(NoiseBounds::DEFAULT.process),
        ),
        ("Tobit, learning, no bounds", Kind::TobitLearning(UNBOUNDED)),
    ];
    println!("capacity 10, deviation 1, ceiling constant: mean ± deviation (furthest)\n");
    println!("| filter | S = 12.5 | S = 10 | S = 9 | S = 8 |\n|---|---|---|---|---|");
    for (name, kind) in kinds {
        print!("| {name} |");
        for sending_rate in [12.5, 10.0, 9.0, 8.0] {
            let (mean, deviation, furthest) = summary(kind, sending_rate, RUNS);
            print!(" {mean:.2} ± {deviation:.2} ({furthest:.1}) |");
        }
        println!();
    }

    println!("\nthe estimate paces the sender: mean error, root mean square error, in percent\n");
    println!(
        "| filter | constant | 1 % a step | 3 % a step | 10 % a step |\n|---|---|---|---|---|"
    );
    let others = [
        ("Tobit, learning, √Q from 0.1 %", learning((0.001, 0.02))),
        ("Tobit, learning, √Q 2 %", learning((0.02, 0.02))),
        ("Tobit, learning, √Q 3 %", learning((0.03, 0.03))),
    ];
    for (name, kind) in kinds.into_iter().chain(others) {
        print!("| {name} |");
        for walk in [0.0, 0.01, 0.03, 0.1] {
            let (mean, rms, _) = tracking(kind, walk, 1.0, RUNS);
            print!(" {:+.1}, {:.1} |", 100.0 * mean, 100.0 * rms);
        }
        println!();
    }

    if let Some(path) = std::env::args().nth(1) {
        draw(&path)?;
    }
    Ok(())
}

fn learning(process: (f64, f64)) -> Kind {
    Kind::TobitLearning(NoiseBounds {
        process,
        ..NoiseBounds::DEFAULT
    })
}

/// A line: its name, its colour, and a value a step.
type Line = (&'static str, RGBColor, Vec<f64>);

fn draw(path: &str) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (900, 640)).into_drawing_area();
    area.fill(&WHITE)?;
    let (above, below) = area.split_vertically(320);

    let tobit = Kind::TobitLearning(SLOW);
    let seed = 1;
    let lines = [
        ("capacity", GREY, vec![CAPACITY; SHOWN]),
        ("plain", RED, at_constant_rate(Kind::PlainKnown, 10.0, seed)),
        (
            "Tobit",
            BLUE,
            at_constant_rate(Kind::TobitKnown, 10.0, seed),
        ),
    ];
    panel(
        &above,
        "sent at exactly the capacity, known noise",
        8.0..12.0,
        &lines,
    )?;

    let (capacity, paced) = pacing_itself(tobit, 0.01, 1.0, seed).into_iter().unzip();
    let (_, plain) = pacing_itself(Kind::PlainLearning, 0.01, 1.0, seed)
        .into_iter()
        .unzip::<f64, f64, Vec<_>, Vec<_>>();
    let lines = [
        ("capacity", GREY, capacity),
        ("plain", RED, plain),
        ("Tobit", BLUE, paced),
    ];
    panel(
        &below,
        "each paced by its own estimate, capacity wanders by 1 % a step, noise learnt",
        0.0..30.0,
        &lines,
    )?;
    area.present()?;
    Ok(())
}

const GREY: RGBColor = RGBColor(120, 120, 120);
const RED: RGBColor = RGBColor(200, 60, 40);
const BLUE: RGBColor = RGBColor(30, 90, 180);

fn panel<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    caption: &str,
    range: core::ops::Range<f64>,
    lines: &[Line],
) -> Result<(), Box<dyn Error>>
where
    B::ErrorType: 'static,
{
    let seconds = |step: usize| step as f64 / 100.0;
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(32)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..seconds(SHOWN), range)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("time, s")
        .y_desc("capacity and estimates, Mbit/s")
        .draw()?;
    for (name, colour, values) in lines {
        let points = values.iter().take(SHOWN).enumerate().step_by(EVERY);
        chart
            .draw_series(LineSeries::new(
                points.map(|(step, value)| (seconds(step), *value)),
                colour.stroke_width(2),
            ))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .position(SeriesLabelPosition::UpperRight)
        .draw()?;
    Ok(())
}
