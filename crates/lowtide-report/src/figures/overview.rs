//! A few controllers over all traces in one plane that a phone can show: letters are large, names stand
//! beside their marks, and nothing has to be looked up in a legend.

use std::error::Error;

use lowtide_lab::contender::ORACLE;
use lowtide_lab::frontier::{DELAY_FLOOR_MS, Frontier, OnTrace, Row};
use lowtide_lab::statistics::geometric_mean;
use plotters::prelude::*;

use super::plot::{Axis, Look, Scale, shape, span};

/// The most controllers: beyond it a colour would return.
const MOST: usize = 6;
/// Size in pixels; a phone shows four fifths of it.
const SIZE: (u32, u32) = (480, 400);
/// Height of a letter's line, and the width that is allowed for a letter.
const LINE: i32 = 20;
const LETTER: i32 = 10;
/// What the drawing library calls letters of 16 pixels.
const FONT: (&str, u32) = ("sans-serif", 20);
/// Radius of a mark, and of the fainter one of a single trace.
const MARK: i32 = 7;
const TRACE: i32 = 3;

/// A controller's place, on the paper's scales.
struct Place<'a> {
    name: &'a str,
    look: Look,
    mean: (f64, f64),
    traces: Vec<(f64, f64)>,
}

/// The plane of a place's rows; `None` with more controllers than have a colour of their own, and
/// where one has several points.
pub(super) fn svg(frontier: &Frontier, rows: &[Row]) -> Result<Option<String>, Box<dyn Error>> {
    let rows: Vec<&Row> = rows.iter().filter(|r| r.controller != ORACLE).collect();
    let lines = frontier.curves.iter().any(|curve| curve.points.len() > 1);
    let places: Vec<Place<'_>> = rows.iter().enumerate().filter_map(place).collect();
    if lines || places.is_empty() || rows.len() > MOST {
        return Ok(None);
    }
    let x = Axis::log("95th percentile of queueing delay, ms");
    let y = Axis::linear(&match frontier.base.as_str() {
        ORACLE => "share of the link used".to_string(),
        base => format!("throughput over {base}'s"),
    });
    let x_ends = x.ends(places.iter().flat_map(|p| p.all().map(|p| p.0)));
    let (low, high) = ends(places.iter().flat_map(|p| p.all().map(|p| p.1)));
    let y = y.within(low, high);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(10)
            .margin_right(28)
            .x_label_area_size(56)
            .y_label_area_size(60)
            .build_cartesian_2d(
                Scale::new(&x, x_ends),
                Scale::new(&y, y.ends(std::iter::empty())),
            )?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(0xe4, 0xe6, 0xea))
            .label_style(FONT)
            .x_desc(&x.label)
            .y_desc(&y.label)
            .x_label_formatter(&|v| x.tick_label(*v))
            .y_label_formatter(&|v| y.tick_label(*v))
            .draw()?;
        let plane = chart.plotting_area();
        let at =
            |(delay, throughput): (f64, f64)| plane.map_coordinate(&(delay.log10(), throughput));
        for place in &places {
            for trace in &place.traces {
                let faint = place.look.colour().mix(0.3).filled();
                area.draw(&Circle::new(at(*trace), TRACE, faint))?;
            }
        }
        let marks: Vec<(i32, i32)> = places.iter().map(|p| at(p.mean)).collect();
        let names: Vec<&str> = places.iter().map(|p| p.name).collect();
        let (across, down) = plane.get_pixel_range();
        let frame = Area::new((across.start, down.start), (across.end, down.end));
        let texts = beside(&marks, &names, &frame);
        for ((place, mark), name) in places.iter().zip(&marks).zip(texts) {
            area.draw(&shape(*mark, place.look, MARK))?;
            let colour = place.look.colour();
            let style = TextStyle::from(FONT).color(&colour);
            area.draw(&Text::new(place.name, name.from, style))?;
        }
        area.present()?;
    }
    Ok(Some(text))
}

impl Place<'_> {
    fn all(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.traces.iter().copied().chain([self.mean])
    }
}

/// Where a row stands; `None` where nothing came to its end.
fn place<'a>((n, row): (usize, &&'a Row)) -> Option<Place<'a>> {
    let delay = |t: &OnTrace| t.queue_delay_ms.p95.max(DELAY_FLOOR_MS);
    let ended = row.on_traces.iter();
    let ended = ended.filter(|t| t.queue_delay_ms.p95.is_finite());
    let traces: Vec<(f64, f64)> = ended.map(|t| (delay(t), t.throughput_ratio)).collect();
    let delays: Vec<f64> = traces.iter().map(|t| t.0).collect();
    let mean = (geometric_mean(&delays), row.summary.throughput_ratio);
    (mean.0.is_finite() && mean.1.is_finite()).then_some(Place {
        name: &row.controller,
        look: Look::Controller(n),
        mean,
        traces,
    })
}

/// The ends of a linear axis with a margin.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = span(values);
    let margin = ((high - low) * 0.08).max(0.02);
    (low - margin, high + margin)
}

/// A rectangle of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    from: (i32, i32),
    to: (i32, i32),
}

impl Area {
    fn new(from: (i32, i32), to: (i32, i32)) -> Self {
        Self { from, to }
    }

    /// The area that both cover.
    fn common(&self, other: &Self) -> i32 {
        let width = self.to.0.min(other.to.0) - self.from.0.max(other.from.0);
        let height = self.to.1.min(other.to.1) - self.from.1.max(other.from.1);
        width.max(0) * height.max(0)
    }

    fn size(&self) -> i32 {
        self.common(self)
    }
}

/// A place for each name beside its mark: where it covers least of other marks and names, and
/// leaves the frame least.
fn beside(marks: &[(i32, i32)], names: &[&str], frame: &Area) -> Vec<Area> {
    let around = |(x, y): (i32, i32)| Area::new((x - MARK, y - MARK), (x + MARK, y + MARK));
    let all: Vec<Area> = marks.iter().map(|m| around(*m)).collect();
    let mut taken: Vec<Area> = Vec::new();
    for ((x, y), name) in marks.iter().zip(names) {
        let width = LETTER * name.chars().count() as i32;
        let near = MARK + 3;
        let candidate = |left: i32, top: i32| Area::new((left, top), (left + width, top + LINE));
        let middle = y - LINE / 2;
        let candidates = [
            candidate(x + near, middle),
            candidate(x - near - width, middle),
            candidate(x - width / 2, y - near - LINE),
            candidate(x - width / 2, y + near),
            candidate(x + near, y - near - LINE),
            candidate(x + near, y + near),
            candidate(x - near - width, y - near - LINE),
            candidate(x - near - width, y + near),
        ];
        let cost = |b: &Area| {
            let covered = all.iter().chain(&taken).map(|other| b.common(other));
            covered.sum::<i32>() + b.size() - b.common(frame)
        };
        taken.extend(candidates.into_iter().min_by_key(cost));
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_beside_their_marks_and_cover_none() {
        let frame = Area::new((60, 10), (470, 330));
        // A row of three, two that nearly coincide, one at the right edge.
        let marks = [
            (100, 60),
            (130, 60),
            (160, 60),
            (300, 200),
            (306, 206),
            (466, 100),
        ];
        let names = ["copa", "ebb", "bbr-s", "bbr", "bbr3", "cubic"];
        let placed = beside(&marks, &names, &frame);
        assert_eq!(placed.len(), names.len());
        for (n, name) in placed.iter().enumerate() {
            assert_eq!(name.common(&frame), name.size(), "{}: {name:?}", names[n]);
            for other in &placed[n + 1..] {
                assert_eq!(name.common(other), 0, "{name:?} {other:?}");
            }
            let (x, y) = marks[n];
            let near = Area::new((x - 20, y - 20), (x + 20, y + 20));
            assert!(name.common(&near) > 0, "{} is far: {name:?}", names[n]);
        }
    }
}
