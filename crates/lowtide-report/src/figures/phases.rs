//! What the controllers did when: a strip for each, on the time axis of the other figures, so that
//! it can stand under them.

use std::error::Error;

use lowtide_cc::units::{Duration, Time};
use lowtide_lab::timeline::{FlowTimeline, StateLabel, Track};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::plot::{LEGEND, Look, draw_name};
use crate::colours;

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

const LOST: RGBColor = RGBColor(0xd9, 0x48, 0x0f);

fn colour(state: &StateLabel) -> RGBColor {
    let [red, green, blue] = colours::of_state(state.kind);
    RGBColor(red, green, blue)
}

/// One controller's row: of its first flow.
pub(super) struct Row<'a> {
    pub(super) label: &'a str,
    pub(super) look: Look,
    pub(super) flow: &'a FlowTimeline,
    /// When it stops at the latest.
    pub(super) stop: Time,
    pub(super) bin: Duration,
}

/// The strips as SVG.
pub(super) fn svg(
    rows: &[Row<'_>],
    duration: Duration,
    width: u32,
) -> Result<String, Box<dyn Error>> {
    let states = states(rows);
    let names = lines_of_names(&states, width as i32);
    let height = TOP + ROW * rows.len() as i32 + AXIS + NAMES * (names.len() as i32 + 1);
    let mut text = String::new();
    {
        let size = (width, u32::try_from(height)?);
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        let strip = Strip {
            area: &area,
            whole: width as i32,
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

/// Every state that is shown: those of one controller in its own order, the first one's first.
fn states<'a>(rows: &[Row<'a>]) -> Vec<&'a StateLabel> {
    let mut found: Vec<&StateLabel> = Vec::new();
    let tracks = rows.iter().flat_map(|r| [&r.flow.phases, &r.flow.modes]);
    for state in tracks.flat_map(Track::entered) {
        if !found.contains(&state) {
            found.push(state);
        }
    }
    found
}

/// Width of a name with its colour in front.
fn width_of(name: &str) -> i32 {
    28 + 7 * name.chars().count() as i32
}

fn lines_of_names<'a>(states: &[&'a StateLabel], width: i32) -> Vec<Vec<&'a StateLabel>> {
    let room = width - LEFT - RIGHT;
    let mut lines: Vec<Vec<&StateLabel>> = Vec::new();
    let mut used = room;
    for state in states {
        used += width_of(&state.name);
        if used > room || lines.is_empty() {
            lines.push(Vec::new());
            used = width_of(&state.name);
        }
        if let Some(line) = lines.last_mut() {
            line.push(state);
        }
    }
    lines
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

struct Strip<'a, 'b> {
    area: &'a Area<'b>,
    /// Width of the figure.
    whole: i32,
    duration: Duration,
}

impl Strip<'_, '_> {
    fn width(&self) -> i32 {
        (self.whole - LEGEND as i32 - LEFT - RIGHT).max(1)
    }

    fn place(&self, seconds: f64) -> i32 {
        let share = seconds / self.duration.as_secs_f64().max(1e-9);
        LEFT + (share.clamp(0.0, 1.0) * f64::from(self.width())).round() as i32
    }

    fn row(&self, row: &Row<'_>, top: i32) -> Result<(), Box<dyn Error>> {
        let end = row.flow.end.unwrap_or(row.stop);
        self.track(&row.flow.phases, end, top, PHASES)?;
        self.track(&row.flow.modes, end, top + PHASES + 1, MODES)?;
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
        let beside = self.whole - LEGEND as i32;
        draw_name(self.area, row.label, row.look, (beside, top + 7))?;
        Ok(())
    }

    fn track(&self, track: &Track, end: Time, top: i32, height: i32) -> Result<(), Box<dyn Error>> {
        let changes = track.changes();
        let end = |n: usize| changes.get(n + 1).map_or(end, |c| c.0);
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
        let ends = vec![(LEFT, top), (LEFT + self.width(), top)];
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
        let middle = LEFT + self.width() / 2 - 20;
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

    fn names(&self, states: &[&StateLabel], top: i32) -> Result<(), Box<dyn Error>> {
        let mut x = LEFT;
        for state in states {
            let corners = [(x, top), (x + 12, top + 12)];
            self.area
                .draw(&Rectangle::new(corners, colour(state).filled()))?;
            let text = Text::new(state.name.clone(), (x + 17, top - 1), ("sans-serif", 12));
            self.area.draw(&text)?;
            x += width_of(&state.name);
        }
        Ok(())
    }
}
