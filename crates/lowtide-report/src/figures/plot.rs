//! One plot as SVG.

use std::error::Error;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;

/// Size in pixels at 96 per inch; a plot with more names than fit beside it is higher.
pub(crate) const SIZE: (u32, u32) = (960, 400);

/// Width of the names beside the plot, and how many characters of one fit.
pub(crate) const LEGEND: u32 = 180;
const NAME: usize = 24;

/// The report's colours on white (`assets/report/look.js`).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x8a, 0x63),
    RGBColor(0xb5, 0x48, 0x8f),
    RGBColor(0xa8, 0x74, 0x00),
    RGBColor(0x5b, 0x49, 0xb8),
];
const GREY: RGBColor = RGBColor(0x5c, 0x63, 0x70);
const CAPACITY: RGBColor = RGBColor(0xd9, 0xdc, 0xe2);
/// Shapes of marks; with six colours 24 pairs before one returns.
const SHAPES: usize = 8;
/// Marks along a line.
const MARKS: usize = 9;

/// How something is drawn: the report's n-th controller, or a frame (limit, floor) in grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Controller(usize),
    /// What a paper prints for the n-th controller.
    Printed(usize),
    /// A value that holds over the whole axis: a dashed grey line.
    Level,
    Frame,
}

impl Look {
    pub(super) fn colour(self) -> RGBColor {
        match self {
            Self::Controller(n) | Self::Printed(n) => COLOURS[n % COLOURS.len()],
            Self::Frame | Self::Level => GREY,
        }
    }
}

/// An axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) log: bool,
    /// Ends that are given, not taken from the values.
    pub(crate) range: Option<(f64, f64)>,
    /// Where it is broken: what lies beyond stands in a strip at its end.
    pub(crate) broken_at: Option<f64>,
    /// What stands at 0, 1, 2, … in the place of numbers.
    pub(crate) names: Vec<String>,
}

/// The strip of what lies beyond a broken axis, as a share of what lies before.
const STRIP: f64 = 0.12;

impl Axis {
    pub(crate) fn linear(label: &str) -> Self {
        Self {
            label: label.to_string(),
            log: false,
            range: None,
            broken_at: None,
            names: Vec::new(),
        }
    }

    pub(crate) fn log(label: &str) -> Self {
        Self::scaled(label, true)
    }

    pub(crate) fn scaled(label: &str, log: bool) -> Self {
        Self {
            log,
            ..Self::linear(label)
        }
    }

    pub(crate) fn of_names(label: &str, names: Vec<String>) -> Self {
        // Half a place of air on either side.
        let end = names.len() as f64 - 0.5;
        Self {
            names,
            ..Self::linear(label).within(-0.5, end)
        }
    }

    pub(crate) fn within(self, from: f64, to: f64) -> Self {
        Self {
            range: Some((from, to)),
            ..self
        }
    }

    /// From the one value to the other, with a twentieth of the distance on either side.
    pub(crate) fn around(self, (low, high): (f64, f64)) -> Self {
        let margin = (high - low) * 0.05;
        self.within(low - margin, high + margin)
    }

    pub(crate) fn broken_at(self, at: Option<f64>) -> Self {
        Self {
            broken_at: at,
            ..self
        }
    }

    /// What stands beside it.
    fn title(&self) -> String {
        match (self.log, self.label.is_empty()) {
            (true, false) => format!("{} (logarithmic)", self.label),
            _ => self.label.clone(),
        }
    }

    fn is_beyond(&self, value: f64) -> bool {
        self.broken_at.is_some_and(|at| value > at)
    }

    /// Where a value lies on the paper's scale.
    fn place(&self, value: f64) -> f64 {
        if self.log {
            value.max(1e-6).log10()
        } else {
            value
        }
    }

    pub(crate) fn ends(&self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        let has_place = |v: &f64| v.is_finite() && (!self.log || *v > 0.0);
        let (low, high) = span(values.filter(|v| has_place(v) && !self.is_beyond(*v)));
        let (low, high) = match self.range {
            Some(ends) => ends,
            None if low > high => (1.0, 10.0),
            None if self.log => (low / 1.1, (high * 1.1).max(low * 1.3)),
            None => (
                low.min(0.0),
                if high > low.min(0.0) {
                    high * 1.05
                } else {
                    1.0
                },
            ),
        };
        let (low, high) = (self.place(low), self.place(high));
        let strip = self.broken_at.map_or(0.0, |_| (high - low) * STRIP);
        (low, high + strip)
    }

    /// Where the strip of what lies beyond begins, and its middle, on the paper's scale.
    fn strip(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let width = (high - low) * STRIP / (1.0 + STRIP);
        (high - width, high - width / 2.0)
    }

    /// Where ticks stand, on the paper's scale.
    pub(crate) fn ticks(&self, (low, high): (f64, f64)) -> Vec<f64> {
        if !self.names.is_empty() {
            return (0..self.names.len()).map(|n| n as f64).collect();
        }
        let end = match self.broken_at {
            Some(_) => self.strip((low, high)).0,
            None => high,
        };
        let steps: &[f64] = match end - low {
            _ if !self.log => return even(low, end),
            // So little of a decade is nearly linear.
            decades if decades < 0.35 => {
                let (low, end) = (10_f64.powf(low), 10_f64.powf(end));
                return even(low, end).into_iter().map(f64::log10).collect();
            }
            decades if decades < 1.2 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            decades if decades <= 4.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        (low.floor() as i32..=high.ceil() as i32)
            .flat_map(|decade| steps.iter().map(move |s| s.log10() + f64::from(decade)))
            .filter(|at| (low..=end).contains(at))
            .collect()
    }

    pub(crate) fn tick_label(&self, at: f64) -> String {
        if !self.names.is_empty() {
            return self.names.get(at as usize).cloned().unwrap_or_default();
        }
        let value = if self.log { 10_f64.powf(at) } else { at };
        let digits = format!("{value:.3e}").parse().unwrap_or(value);
        // Minus zero is zero.
        format!("{}", digits + 0.0)
    }
}

/// The smallest and the largest value; of none a range without length.
pub(crate) fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), v| {
        (low.min(v), high.max(v))
    })
}

/// Multiples of 1, 2 or 5 at even distances, about six.
fn even(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|n| n * decade)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// An axis as the drawing library wants it: linear, with given ticks.
pub(super) struct Scale {
    ends: (f64, f64),
    ticks: Vec<f64>,
}

impl Scale {
    pub(super) fn new(axis: &Axis, ends: (f64, f64)) -> Self {
        Self {
            ends,
            ticks: axis.ticks(ends),
        }
    }
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.ends.0) / (self.ends.1 - self.ends.0);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.ends.0..self.ends.1
    }
}

/// A line; NaN interrupts it.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) look: Look,
    pub(crate) points: Vec<(f64, f64)>,
    /// Lower edge of its envelope, at the same places.
    pub(crate) low: Vec<f64>,
    pub(crate) dashed: bool,
}

impl Line {
    pub(crate) fn new(label: impl Into<String>, look: Look, points: Vec<(f64, f64)>) -> Self {
        Self {
            label: label.into(),
            look,
            points,
            low: Vec::new(),
            dashed: false,
        }
    }
}

/// Values measured at some places, each with its mark and its interval.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) label: String,
    pub(crate) look: Look,
    pub(crate) points: Vec<(f64, f64)>,
    /// Half the interval of each value; none for values without.
    pub(crate) half: Vec<f64>,
    /// Whether there is something between two places.
    pub(crate) joined: bool,
}

impl Series {
    /// Points without intervals, and nothing between them.
    pub(crate) fn new(label: impl Into<String>, look: Look, points: Vec<(f64, f64)>) -> Self {
        Self {
            label: label.into(),
            look,
            points,
            half: Vec::new(),
            joined: false,
        }
    }

    /// The intervals' ends.
    fn bars(&self) -> impl Iterator<Item = [(f64, f64); 2]> + '_ {
        let points = self.points.iter().zip(&self.half);
        let measured = points.filter(|(_, half)| **half > 0.0);
        measured.map(|(&(x, y), half)| [(x, y - half), (x, y + half)])
    }
}

/// A mark with a name beside it.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) label: String,
    pub(crate) look: Look,
    pub(crate) at: (f64, f64),
    /// Half the extent each way, for its interval.
    pub(crate) spread: (f64, f64),
}

impl Mark {
    /// A mark without an interval.
    pub(crate) fn new(label: impl Into<String>, look: Look, at: (f64, f64)) -> Self {
        Self {
            label: label.into(),
            look,
            at,
            spread: (0.0, 0.0),
        }
    }
}

/// A plot.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// Name of its file.
    pub(crate) name: String,
    /// Above it; without one the reader's own caption says what it is.
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Shaded from zero upwards: the link's capacity.
    pub(crate) area: Vec<(f64, f64)>,
    pub(crate) lines: Vec<Line>,
    pub(crate) series: Vec<Series>,
    pub(crate) marks: Vec<Mark>,
}

/// What is drawn on.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

impl Plot {
    pub(crate) fn new(name: &str, x: Axis, y: Axis) -> Self {
        Self {
            name: name.to_string(),
            title: String::new(),
            x,
            y,
            area: Vec::new(),
            lines: Vec::new(),
            series: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub(crate) fn svg(&self) -> Result<String, Box<dyn Error>> {
        self.svg_on(SIZE)
    }

    /// The plot on a canvas of another size.
    pub(super) fn svg_on(&self, (width, height): (u32, u32)) -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        {
            let size = (width, height.max(self.legend_height()));
            let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            self.draw(&area)?;
            area.present()?;
        }
        Ok(svg)
    }

    fn draw(&self, whole: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn Error>> {
        whole.fill(&WHITE)?;
        let width = whole.dim_in_pixel().0;
        let (area, beside) = whole.split_horizontally(width.saturating_sub(LEGEND));
        self.draw_legend(&beside)?;
        let points = || {
            let lines = self.lines.iter().flat_map(|l| l.points.iter().copied());
            let marks = self.marks.iter().flat_map(|m| {
                let ((x, y), (dx, dy)) = (m.at, m.spread);
                [(x - dx, y - dy), (x + dx, y + dy)]
            });
            let series = self.series.iter();
            let series = series.flat_map(|s| s.points.iter().copied().chain(s.bars().flatten()));
            let area = self.area.iter().copied();
            lines.chain(series).chain(marks).chain(area)
        };
        let x_ends = self.x.ends(points().map(|p| p.0));
        let y_ends = self.y.ends(points().map(|p| p.1));
        let mut builder = ChartBuilder::on(&area);
        builder
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(56);
        if !self.title.is_empty() {
            builder.caption(&self.title, ("sans-serif", 15));
        }
        let mut chart =
            builder.build_cartesian_2d(Scale::new(&self.x, x_ends), Scale::new(&self.y, y_ends))?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(0xe4, 0xe6, 0xea))
            .x_desc(self.x.title())
            .y_desc(self.y.title())
            .x_label_formatter(&|v| self.x.tick_label(*v))
            .y_label_formatter(&|v| self.y.tick_label(*v))
            .draw()?;
        if !self.area.is_empty() {
            chart.draw_series(AreaSeries::new(
                self.area.iter().map(|p| self.place(*p)),
                self.y.place(0.0).max(y_ends.0),
                CAPACITY,
            ))?;
        }
        for line in &self.lines {
            self.draw_line(&mut chart, line)?;
        }
        for series in &self.series {
            self.draw_series(&mut chart, series, y_ends.0)?;
        }
        if self.x.broken_at.is_some() {
            let from = self.x.strip(x_ends).0;
            let line = BLACK.mix(0.5).stroke_width(1);
            let ends = [(from, y_ends.0), (from, y_ends.1)];
            chart.draw_series(DashedLineSeries::new(ends, 3, 3, line))?;
        }
        for mark in &self.marks {
            self.draw_mark(&mut chart, mark, x_ends)?;
        }
        Ok(())
    }

    /// Where a point stands on the scales.
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    fn draw_line(&self, chart: &mut Chart<'_, '_>, line: &Line) -> Result<(), Box<dyn Error>> {
        let look = line.look;
        let colour = look.colour();
        if !line.low.is_empty() {
            let pairs = || line.points.iter().zip(&line.low);
            let seen = || pairs().filter(|(p, _)| p.1.is_finite());
            let upper = seen().map(|(p, _)| self.place(*p));
            let lower = seen().rev().map(|(p, low)| self.place((p.0, *low)));
            let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
            chart.draw_series([Polygon::new(outline, colour.mix(0.18))])?;
        }
        let seen: Vec<(f64, f64)> = line
            .points
            .iter()
            .filter(|p| p.1.is_finite() && !self.x.is_beyond(p.0))
            .map(|p| self.place(*p))
            .collect();
        let style = colour.stroke_width(1);
        if line.dashed || look == Look::Level {
            chart.draw_series(DashedLineSeries::new(seen.iter().copied(), 6, 4, style))?;
            return Ok(());
        }
        chart.draw_series(LineSeries::new(seen.iter().copied(), style))?;
        let stride = (seen.len() / MARKS).max(1);
        let offset = match look {
            Look::Controller(n) => (n * stride) / SHAPES,
            Look::Printed(_) | Look::Frame | Look::Level => stride / 2,
        };
        let marked = seen.iter().skip(offset % stride).step_by(stride);
        chart.draw_series(marked.map(|p| EmptyElement::at(*p) + shape((0, 0), look, 4)))?;
        Ok(())
    }

    /// Points with their intervals; `bottom`: where the vertical scale begins.
    fn draw_series(
        &self,
        chart: &mut Chart<'_, '_>,
        series: &Series,
        bottom: f64,
    ) -> Result<(), Box<dyn Error>> {
        let style = series.look.colour().stroke_width(1);
        // Zero has no place on a logarithmic axis.
        let shown = |p: &&(f64, f64)| !self.y.log || p.1 > 0.0;
        let points = || series.points.iter().filter(shown).map(|p| self.place(*p));
        if series.joined {
            chart.draw_series(LineSeries::new(points(), style))?;
        }
        // On a logarithmic axis an interval may have no lower end.
        let end = |point: (f64, f64)| {
            let (x, y) = self.place(point);
            (x, y.max(bottom))
        };
        let bars = series.bars().map(|bar| bar.map(end));
        chart.draw_series(bars.map(|bar| PathElement::new(bar, style)))?;
        chart.draw_series(points().map(|p| EmptyElement::at(p) + shape((0, 0), series.look, 4)))?;
        Ok(())
    }

    fn draw_mark(
        &self,
        chart: &mut Chart<'_, '_>,
        mark: &Mark,
        x_ends: (f64, f64),
    ) -> Result<(), Box<dyn Error>> {
        let (x, y) = mark.at;
        let style = mark.look.colour().stroke_width(1);
        if self.x.is_beyond(x) {
            let at = EmptyElement::at((self.x.strip(x_ends).1, self.y.place(y)));
            chart.draw_series([at + shape((0, 0), mark.look, 6)])?;
            return Ok(());
        }
        let (dx, dy) = mark.spread;
        let bars = [[(x - dx, y), (x + dx, y)], [(x, y - dy), (x, y + dy)]];
        let bars = bars.map(|bar| bar.map(|end| self.place(end)));
        chart.draw_series(bars.map(|bar| PathElement::new(bar, style)))?;
        let at = EmptyElement::at(self.place(mark.at));
        chart.draw_series([at + shape((0, 0), mark.look, 6)])?;
        Ok(())
    }

    /// What stands in the legend: name, look, and whether it is a line.
    fn names(&self) -> impl Iterator<Item = (&str, Look, bool)> {
        let lines = self.lines.iter().filter(|line| !line.dashed);
        let series = self.series.iter();
        lines
            .map(|line| (line.label.as_str(), line.look, true))
            .chain(series.map(|s| (s.label.as_str(), s.look, s.joined)))
            .chain(self.marks.iter().map(|m| (m.label.as_str(), m.look, false)))
    }

    fn legend_height(&self) -> u32 {
        let lines = |name| wrapped(name, NAME).len() as i32;
        let names = self.names().map(|(name, ..)| LINE * lines(name) + GAP);
        (LEGEND_TOP + names.sum::<i32>()).unsigned_abs()
    }

    /// Names beside the plot, where they hide nothing.
    fn draw_legend(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn Error>> {
        let mut y = LEGEND_TOP;
        for (label, look, is_line) in self.names() {
            // A level's line is broken.
            let parts: &[(i32, i32)] = match (is_line, look) {
                (false, _) => &[],
                (true, Look::Level) => &[(0, 5), (15, 20)],
                (true, _) => &[(0, 20)],
            };
            for (from, to) in parts {
                let ends = [(*from, y), (*to, y)];
                area.draw(&PathElement::new(ends, look.colour().stroke_width(2)))?;
            }
            y += draw_name(area, label, look, (0, y))? + GAP;
        }
        Ok(())
    }
}

/// A name in lines of at most this many characters, broken where words or parameters end.
fn wrapped(name: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in name.split_inclusive([' ', ':', ',']) {
        let line = lines.last().map_or(0, |l| l.chars().count());
        if line > 0 && line + word.trim_end().chars().count() > most {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
    }
    lines
        .iter()
        .map(|line| line.trim_end().to_string())
        .collect()
}

/// Height of a line of a name, space between two names, and where the first one stands.
const LINE: i32 = 15;
const GAP: i32 = 4;
const LEGEND_TOP: i32 = 24;

/// A name with its mark in front, from here to the right and down; returns how far down.
pub(crate) fn draw_name(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    name: &str,
    look: Look,
    (x, y): (i32, i32),
) -> Result<i32, Box<dyn Error>> {
    area.draw(&shape((x + 10, y), look, 4))?;
    let lines = wrapped(name, NAME);
    let height = LINE * lines.len() as i32;
    for (n, line) in lines.into_iter().enumerate() {
        let at = (x + 26, y - 7 + LINE * n as i32);
        area.draw(&Text::new(line, at, ("sans-serif", 13)))?;
    }
    Ok(height)
}

/// A closed or open figure around a point of the page.
pub(super) fn shape<'s>(
    (x, y): (i32, i32),
    look: Look,
    r: i32,
) -> DynElement<'static, SVGBackend<'s>, (i32, i32)> {
    let colour = look.colour();
    let (full, stroke) = (colour.filled(), colour.stroke_width(2));
    let polygon = |corners: &[(i32, i32)]| {
        let placed: Vec<(i32, i32)> = corners.iter().map(|c| (x + c.0, y + c.1)).collect();
        Polygon::new(placed, full).into_dyn()
    };
    match look {
        Look::Printed(_) | Look::Frame => Circle::new((x, y), r, stroke).into_dyn(),
        Look::Level => PathElement::new(vec![(x - 3, y), (x + 3, y)], stroke).into_dyn(),
        Look::Controller(n) => match n % SHAPES {
            0 => Circle::new((x, y), r, full).into_dyn(),
            1 => polygon(&[(-r, -r), (r, -r), (r, r), (-r, r)]),
            2 => polygon(&[(0, -r), (r, r), (-r, r)]),
            3 => polygon(&[(0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)]),
            4 => polygon(&[(0, r), (r, -r), (-r, -r)]),
            5 => Cross::new((x, y), r, stroke).into_dyn(),
            6 => PathElement::new(
                vec![(x - r, y), (x + r, y), (x, y), (x, y - r), (x, y + r)],
                stroke,
            )
            .into_dyn(),
            _ => PathElement::new(vec![(x, y - r), (x, y + r)], stroke).into_dyn(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_broken_where_words_end_and_none_is_cut() {
        let name = "bbr-acd:aggregation=false, sender 2";
        let lines = wrapped(name, 24);
        assert_eq!(lines, ["bbr-acd:", "aggregation=false,", "sender 2"]);
        assert_eq!(wrapped("rbbr", 24), ["rbbr"]);
        let long = "a".repeat(60);
        assert_eq!(wrapped(&long, 24).concat(), long);
    }

    const OURS: Look = Look::Controller(0);

    #[test]
    fn places_without_numbers_have_their_names_on_the_axis() {
        let names = ["static", "mobility"].map(str::to_string);
        let x = Axis::of_names("link", names.to_vec());
        let mut plot = Plot::new("names", x, Axis::linear("ms"));
        let points = vec![(0.0, 3.0), (1.0, 4.0)];
        plot.series.push(Series::new("ours", OURS, points));
        let svg = plot.svg().unwrap();
        for name in ["\nstatic\n", "\nmobility\n"] {
            assert!(svg.contains(name), "{svg}");
        }
        assert_eq!(plot.x.ticks(plot.x.ends([].into_iter())), [0.0, 1.0]);
    }

    #[test]
    fn a_logarithmic_axis_says_so_and_has_ticks_whatever_it_spans() {
        for (low, high) in [
            (40.0, 44.0),
            (40.0, 90.0),
            (40.0, 700.0),
            (40.0, 4e4),
            (0.1, 9e4),
        ] {
            let axis = Axis::log("RTT, ms");
            let ticks = axis.ticks((f64::log10(low), f64::log10(high))).len();
            assert!((3..=14).contains(&ticks), "{ticks} from {low} to {high}");
            assert_eq!(axis.title(), "RTT, ms (logarithmic)");
        }
    }

    #[test]
    fn what_lies_beyond_a_broken_axis_stands_at_its_end_and_squeezes_nothing() {
        let mark = |label, x| Mark::new(label, OURS, (x, 5.0));
        let axis = Axis::log("ms").broken_at(Some(400.0));
        let mut plot = Plot::new("plane", axis, Axis::linear("Mbit/s"));
        plot.marks = vec![mark("near", 40.0), mark("far", 400.0), mark("out", 15e3)];
        let svg = plot.svg().unwrap();
        let has_200_last = svg.contains("\n200\n") && !svg.contains("\n1000\n");
        assert!(has_200_last, "{svg}");
        let circles = svg.split("<circle cx=\"").skip(1);
        let at = circles.filter_map(|c| c.split('"').next()?.parse().ok());
        // The first three are the legend's.
        let at: Vec<i32> = at.skip(3).collect();
        assert!(at[1] - at[0] > 500 && at[2] > at[1], "{at:?}");
    }

    #[test]
    fn a_plot_is_as_high_as_its_names_need() {
        let mut plot = Plot::new("plane", Axis::linear("ms"), Axis::linear("Mbit/s"));
        let mark = |n| Mark::new(format!("controller {n}"), Look::Controller(n), (1.0, 1.0));
        plot.marks = (0..30).map(mark).collect();
        let svg = plot.svg().unwrap();
        let number = |text: &str, name: &str| -> i32 {
            let (_, value) = text.split_once(&format!("{name}=\"")).unwrap();
            value.split('"').next().unwrap().parse().unwrap()
        };
        let texts = svg.split("<text").skip(1);
        let lowest = texts.map(|text| number(text, " y")).max().unwrap();
        assert!(lowest < number(&svg, "height"), "{lowest}");
    }

    #[test]
    fn on_a_logarithmic_axis_zero_is_not_drawn_and_intervals_end_at_the_frame() {
        let mut plot = Plot::new("log", Axis::linear("s"), Axis::log("share"));
        let points = vec![(0.0, 0.0), (1.0, 10.0), (2.0, 1.0)];
        plot.series.push(Series {
            half: vec![0.0, 20.0, 0.0],
            ..Series::new("ours", OURS, points)
        });
        let svg = plot.svg().unwrap();
        let marks = svg.matches("<circle").count();
        assert_eq!(marks, 3, "two values and the legend's: {svg}");
        let numbers = svg.split('"').flat_map(|value| value.split([' ', ',']));
        let lowest = numbers.filter_map(|n| n.parse::<i32>().ok()).max().unwrap();
        assert!(lowest <= SIZE.0 as i32, "{lowest}");
    }
}
