//! Runs over time in the terminal: rate and delay of each controller in two lines of blocks.

use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use lowtide_lab::compare::{Comparison, Role};
use lowtide_lab::timeline::{FlowBin, Timeline};
use lowtide_lab::visible;

/// When to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// On a terminal that shows Unicode.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl When {
    /// Whether standard output is to get them.
    pub(crate) fn applies(self) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => io::stdout().is_terminal() && shows_unicode(),
        }
    }
}

/// What the locale says of the character set, and a terminal that can do more than print lines.
fn shows_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()))
        .unwrap_or_default()
        .to_lowercase();
    let is_dumb = env::var("TERM").is_ok_and(|term| term == "dumb");
    !is_dumb && (locale.contains("utf-8") || locale.contains("utf8"))
}

/// <https://no-color.org>: any value but the empty one forbids colours.
fn colours() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Blocks of rising height.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Most and fewest cells of one line.
const MAX_CELLS: usize = 32;
const MIN_CELLS: usize = 8;
/// Longest name.
const NAME: usize = 22;
/// Spaces beside names and lines.
const GAPS: usize = 4;

const RATE: &str = "\u{1b}[36m";
const DELAY: &str = "\u{1b}[33m";
const PLAIN: &str = "\u{1b}[0m";

/// A controller's cells.
struct Row<'a> {
    name: &'a str,
    /// Mbit/s.
    rates: Vec<Option<f64>>,
    /// Milliseconds.
    delays: Vec<Option<f64>>,
}

/// One row a controller, all on the same two scales, in lines of at most `width` characters; empty
/// where nothing was kept over time.
pub(crate) fn draw(comparison: &Comparison, width: Option<usize>) -> String {
    let room = width.unwrap_or(usize::MAX).saturating_sub(NAME + GAPS);
    let cells = (room / 2).clamp(MIN_CELLS, MAX_CELLS);
    let rows: Vec<Row<'_>> = comparison
        .entries
        .iter()
        .filter(|e| e.role != Role::Floor)
        .filter_map(|e| {
            let timeline = e.timeline.as_ref()?;
            Some(Row {
                name: &e.name,
                rates: rates(timeline, cells),
                delays: delays(timeline, cells),
            })
        })
        .collect();
    let rates_of_all = rows.iter().flat_map(|r| &r.rates).flatten();
    let delays_of_all = rows.iter().flat_map(|r| &r.delays).flatten();
    let fastest = rates_of_all.copied().fold(0.0, f64::max);
    let slowest = delays_of_all.clone().copied().fold(0.0, f64::max);
    let least = delays_of_all.copied().fold(slowest, f64::min);
    if fastest <= 0.0 || least <= 0.0 {
        return String::new();
    }
    let (rate_colour, delay_colour, plain) = if colours() {
        (RATE, DELAY, PLAIN)
    } else {
        ("", "", "")
    };
    let mut text = String::new();
    let (rate, delay) = (
        format!("rate, 0 to {fastest:.1} Mbit/s"),
        format!("largest RTT, {least:.0} to {slowest:.0} ms (log)"),
    );
    // Writing to a string cannot fail.
    let _ = if cells == MAX_CELLS {
        writeln!(text, "\n {:NAME$} {rate:cells$}  {delay}", "over time")
    } else {
        writeln!(text, "\n over time: {rate};\n {delay}")
    };
    for Row {
        name,
        rates,
        delays,
    } in &rows
    {
        let name = visible::text(name);
        let name: String = if name.chars().count() > NAME {
            name.chars().take(NAME - 1).chain(['…']).collect()
        } else {
            name.into_owned()
        };
        let rates = line(rates, |rate| rate / fastest);
        // All alike has no range.
        let range = (slowest / least).ln().max(1e-9);
        let delays = line(delays, |delay| (delay / least).ln() / range);
        let _ = writeln!(
            text,
            " {name:NAME$} {rate_colour}{rates}{plain}  {delay_colour}{delays}{plain}"
        );
    }
    text
}

/// A block for each value by its share of the scale; a gap for none.
fn line(values: &[Option<f64>], share: impl Fn(f64) -> f64) -> String {
    let block = |value: f64| {
        let height = share(value) * (BLOCKS.len() - 1) as f64;
        // A cast saturates: a share out of range is the lowest or the highest.
        BLOCKS[(height.round() as usize).min(BLOCKS.len() - 1)]
    };
    values.iter().map(|v| v.map_or(' ', block)).collect()
}

/// The bins of each cell.
fn cells(timeline: &Timeline, cells: usize) -> impl Iterator<Item = &[FlowBin]> {
    let bins = timeline.total();
    (0..cells).map(move |n| &bins[n * bins.len() / cells..(n + 1) * bins.len() / cells])
}

/// Mean delivery rate in each cell, Mbit/s.
fn rates(timeline: &Timeline, count: usize) -> Vec<Option<f64>> {
    cells(timeline, count)
        .map(|bins| {
            let bytes: f64 = bins.iter().map(|b| b.delivered.as_f64()).sum();
            let seconds = timeline.bin().as_secs_f64() * bins.len() as f64;
            (seconds > 0.0).then(|| bytes * 8.0 / 1e6 / seconds)
        })
        .collect()
}

/// Largest RTT in each cell, ms.
fn delays(timeline: &Timeline, count: usize) -> Vec<Option<f64>> {
    cells(timeline, count)
        .map(|bins| {
            let largest = bins.iter().filter_map(|b| b.rtt.get()).map(|(_, max)| max);
            largest.reduce(f32::max).map(f64::from)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_follow_the_scale_and_gaps_stay_gaps() {
        let values = [Some(0.0), None, Some(0.5), Some(1.0), Some(7.0)];
        assert_eq!(line(&values, |v| v), "▁ ▅██");
    }
}
