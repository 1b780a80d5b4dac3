//! A frontier as the report shows it: tables and figures of each RTT and buffer.

use lowtide_lab::frontier::{At, Curve, Frontier, Row};
use serde::Serialize;

use super::figure::FigureData;
use crate::figures;

/// Figures of single traces in one report, some twenty kilobytes each.
const MAX_FIGURES: usize = 48;

/// A frontier with its figures.
#[derive(Clone, Debug, Serialize)]
pub struct FrontierResult {
    base: String,
    traces: usize,
    places: Vec<PlaceData>,
}

#[derive(Clone, Debug, Serialize)]
struct PlaceData {
    title: String,
    rows: Vec<RowData>,
    lines: Vec<LineData>,
    together: Option<FigureData>,
    each: Vec<FigureData>,
    /// Traces whose figures there is no room for.
    omitted: usize,
}

#[derive(Clone, Debug, Serialize)]
struct RowData {
    controller: String,
    /// Ratios of throughput, of delay, and on the worst traces.
    throughput: f64,
    throughput_min: f64,
    delay: f64,
    delay_max: f64,
    dominated: usize,
    /// Half the intervals of throughput and delay.
    half: Option<(f64, f64)>,
}

/// A controller's delay at given throughputs.
#[derive(Clone, Debug, Serialize)]
struct LineData {
    controller: String,
    at: Vec<At>,
}

impl FrontierResult {
    /// A frontier with its figures: of all traces together, and of as many single ones as there is room
    /// for.
    ///
    /// # Errors
    /// When a figure cannot be drawn.
    pub fn new(frontier: &Frontier) -> Result<Self, String> {
        let places: Vec<&[Row]> = frontier.rows.chunk_by(Row::is_beside).collect();
        let room = MAX_FIGURES / places.len().max(1);
        let places = places.into_iter().map(|rows| place(frontier, rows, room));
        Ok(Self {
            base: frontier.base.clone(),
            traces: frontier.traces.len(),
            places: places.collect::<Result<_, _>>()?,
        })
    }
}

fn place(frontier: &Frontier, rows: &[Row], room: usize) -> Result<PlaceData, String> {
    let plots = figures::frontier_of_place(frontier, rows).into_iter();
    let figures = plots.take(1 + room).map(|plot| {
        let svg = plot.svg().map_err(|e| e.to_string())?;
        Ok(FigureData::new(plot.title, &svg))
    });
    let mut figures = figures.collect::<Result<Vec<_>, String>>()?.into_iter();
    let first = &rows[0];
    let is_line =
        |c: &&Curve| c.points.len() > 1 && c.rtt_ms == first.rtt_ms && c.buffer == first.buffer;
    let lines = frontier
        .curves
        .iter()
        .filter(is_line)
        .map(|curve| LineData {
            controller: curve.controller.clone(),
            at: curve.at.clone(),
        });
    Ok(PlaceData {
        title: format!("RTT {} ms, buffer {}", first.rtt_ms, first.buffer),
        rows: rows.iter().map(row).collect(),
        lines: lines.collect(),
        together: figures.next(),
        each: figures.collect(),
        omitted: frontier.traces.len().saturating_sub(room),
    })
}

fn row(row: &Row) -> RowData {
    let of_all = &row.summary;
    RowData {
        controller: row.controller.clone(),
        throughput: of_all.throughput_ratio,
        throughput_min: of_all.throughput_ratio_min,
        delay: of_all.queue_p95_ratio,
        delay_max: of_all.queue_p95_ratio_max,
        dominated: row.dominated_on.len(),
        half: row.ci95.map(|c| (c.throughput_ratio, c.queue_p95_ratio)),
    }
}
