//! What the controllers did when: a strip for each, on the time axis of the other figures, so that
//! it can stand under them.

use std::error::Error;

use lowtide_cc::units::{Duration, Time};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::plot::{LEGEND, Look, SIZE, draw_name};
use crate::timeline::{FlowTimeline, Track};

/// Height of one controller's row, of its band of phases, and of its band of filter modes.
const ROW: i32 = 34;
const PHASES: i32 = 13;
const MODES: i32 = 5;
/// Left and right of the other figures' plots: margin and labels.
const LEFT: i32 = 68;
const RIGHT: i32 = 12;
/// Above the first row; below the last the axis, and lines for the names of states and marks.
const TOP: i32 = 14;
const AXIS: i32 = 44;
const NAMES: i32 = 20;

/// Part of a state's name and its colour, as in the report (`assets/report/strip.js`); the first
/// that fits.
const STATES: &[(&str, RGBColor)] = &[
    ("conservative", RGBColor(0xc9, 0xb0, 0x37)),
    ("startup", RGBColor(0xe6, 0x9f, 0x00)),
    ("slowstart", RGBColor(0xe6, 0x9f, 0x00)),
    ("probertt", RGBColor(0x2b, 0x78, 0xc2)),
    ("gain > 1", RGBColor(0x2f, 0x9e, 0x6e)),
    ("up", RGBColor(0x2f, 0x9e, 0x6e)),
    ("gain < 1", RGBColor(0xc6, 0x78, 0xa8)),
    ("down", RGBColor(0xc6, 0x78, 0xa8)),
    ("refill", RGBColor(0xd9, 0xc2, 0x2b)),
    ("drain", RGBColor(0x5a, 0xb0, 0xe6)),
    ("recovery", RGBColor(0xd5, 0x5e, 0x00)),
    ("compet", RGBColor(0xd5, 0x5e, 0x00)),
    ("suspend", RGBColor(0x8a, 0x63, 0xc9)),
    ("outage", RGBColor(0x3c, 0x3f, 0x45)),
    ("censored", RGBColor(0xc6, 0x78, 0xa8)),
    ("drop", RGBColor(0xd5, 0x5e, 0x00)),
    ("step", RGBColor(0x2f, 0x9e, 0x6e)),
    ("skip", RGBColor(0x8a, 0x63, 0xc9)),
];
const CALM: RGBColor = RGBColor(0x9a, 0xa4, 0xb2);
const LOST: RGBColor = RGBColor(0xd9, 0x48, 0x0f);

fn colour(state: &str) -> RGBColor {
    let name = state.to_lowercase();
    let found = STATES.iter().find(|(part, _)| name.contains(part));
    found.map_or(CALM, |(_, colour)| *colour)
}

/// One controller's row: of its first flow.
pub(super) struct Row<'a> {
    pub(super) label: &'a str,
    pub(super) look: Look,
    pub(super) flow: &'a FlowTimeline,
    pub(super) bin: Duration,
}

/// The strips as SVG.
pub(super) fn svg(rows: &[Row<'_>], duration: Duration) -> Result<String, Box<dyn Error>> {
    let states = states(rows);
    let names = lines_of_names(&states);
    let height = TOP + ROW * rows.len() as i32 + AXIS + NAMES * (names.len() as i32 + 1);
    let mut text = String::new();
    {
        let size = (SIZE.0, u32::try_from(height)?);
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        let strip = Strip {
            area: &area,
            duration,
        };
        for (n, row) in rows.iter().enumerate() {
            strip.row(row, TOP + ROW * n as i32)?;
        }
        let bottom = TOP + ROW * rows.len() as i32;
        strip.axis(bottom)?;
        for (n, line) in names.iter().enumerate() {
            strip.names(line, bottom + AXIS + NAMES * n as i32)?;
        }
        strip.marks(bottom + AXIS + NAMES * names.len() as i32)?;
        area.present()?;
    }
    Ok(text)
}

/// Every state that is shown, in the order of its first appearance.
fn states(rows: &[Row<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let tracks = rows.iter().flat_map(|r| [&r.flow.phases, &r.flow.modes]);
    for (track, state) in tracks.flat_map(|t| t.changes().iter().map(move |c| (t, c.1))) {
        let name = &track.states()[usize::from(state)];
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}

/// Width of a name with its colour in front.
fn width_of(name: &str) -> i32 {
    28 + 7 * name.chars().count() as i32
}

fn lines_of_names(states: &[String]) -> Vec<Vec<&str>> {
    let room = SIZE.0 as i32 - LEFT - RIGHT;
    let mut lines: Vec<Vec<&str>> = Vec::new();
    let mut used = room;
    for name in states {
        used += width_of(name);
        if used > room || lines.is_empty() {
            lines.push(Vec::new());
            used = width_of(name);
        }
        if let Some(line) = lines.last_mut() {
            line.push(name);
        }
    }
    lines
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

struct Strip<'a, 'b> {
    area: &'a Area<'b>,
    duration: Duration,
}

impl Strip<'_, '_> {
    fn width() -> i32 {
        SIZE.0 as i32 - LEGEND as i32 - LEFT - RIGHT
    }

    fn place(&self, seconds: f64) -> i32 {
        let share = seconds / self.duration.as_secs_f64().max(1e-9);
        LEFT + (share.clamp(0.0, 1.0) * f64::from(Self::width())).round() as i32
    }

    fn row(&self, row: &Row<'_>, top: i32) -> Result<(), Box<dyn Error>> {
        self.track(&row.flow.phases, top, PHASES)?;
        self.track(&row.flow.modes, top + PHASES + 1, MODES)?;
        let marks = top + PHASES + MODES + 3;
        let middle = |n: usize| (n as f64 + 0.5) * row.bin.as_secs_f64();
        let mut last = i32::MIN;
        for (n, bin) in row.flow.bins.iter().enumerate() {
            let x = self.place(middle(n));
            if bin.timeouts > 0 {
                self.area
                    .draw(&Cross::new((x, marks + 4), 4, BLACK.stroke_width(1)))?;
            }
            if bin.lost > 0 && x > last {
                last = x;
                let tick = vec![(x, marks), (x, marks + 7)];
                self.area
                    .draw(&PathElement::new(tick, LOST.stroke_width(1)))?;
            }
        }
        let beside = SIZE.0 as i32 - LEGEND as i32;
        draw_name(self.area, row.label, row.look, (beside, top + 7))?;
        Ok(())
    }

    fn track(&self, track: &Track, top: i32, height: i32) -> Result<(), Box<dyn Error>> {
        let changes = track.changes();
        let end = |n: usize| {
            changes
                .get(n + 1)
                .map_or(Time::ZERO + self.duration, |c| c.0)
        };
        let seconds = |time: Time| time.as_nanos() as f64 / 1e9;
        for (n, (start, state)) in changes.iter().enumerate() {
            let from = self.place(seconds(*start));
            let to = self.place(seconds(end(n))).max(from + 1);
            let colour = colour(&track.states()[usize::from(*state)]);
            let corners = [(from, top), (to, top + height)];
            self.area.draw(&Rectangle::new(corners, colour.filled()))?;
        }
        Ok(())
    }

    fn axis(&self, top: i32) -> Result<(), Box<dyn Error>> {
        let line = BLACK.mix(0.5).stroke_width(1);
        let ends = vec![(LEFT, top), (LEFT + Self::width(), top)];
        self.area.draw(&PathElement::new(ends, line))?;
        let axis = super::plot::Axis::linear("");
        for at in axis.ticks((0.0, self.duration.as_secs_f64())) {
            let x = self.place(at);
            self.area
                .draw(&PathElement::new(vec![(x, top), (x, top + 5)], line))?;
            let text = axis.tick_label(at);
            let left = x - 3 * text.len() as i32;
            self.area
                .draw(&Text::new(text, (left, top + 7), ("sans-serif", 12)))?;
        }
        let middle = LEFT + Self::width() / 2 - 20;
        let label = Text::new("time, s", (middle, top + 21), ("sans-serif", 12));
        self.area.draw(&label)?;
        Ok(())
    }

    /// What the marks below a band are.
    fn marks(&self, top: i32) -> Result<(), Box<dyn Error>> {
        let tick = vec![(LEFT + 6, top + 3), (LEFT + 6, top + 10)];
        self.area
            .draw(&PathElement::new(tick, LOST.stroke_width(1)))?;
        let cross = (LEFT + 206, top + 6);
        self.area
            .draw(&Cross::new(cross, 4, BLACK.stroke_width(1)))?;
        for (text, x) in [("packets declared lost", 17), ("timeout", 217)] {
            let at = (LEFT + x, top - 1);
            self.area.draw(&Text::new(text, at, ("sans-serif", 12)))?;
        }
        Ok(())
    }

    fn names(&self, names: &[&str], top: i32) -> Result<(), Box<dyn Error>> {
        let mut x = LEFT;
        for name in names {
            let corners = [(x, top), (x + 12, top + 12)];
            self.area
                .draw(&Rectangle::new(corners, colour(name).filled()))?;
            let text = Text::new((*name).to_string(), (x + 17, top - 1), ("sans-serif", 12));
            self.area.draw(&text)?;
            x += width_of(name);
        }
        Ok(())
    }
}
