//! Results as one HTML file that needs nothing else: no network, no server, no second file.
//!
//! `data.rs` is what the page plots, as JSON within the page; the scripts in `assets/report` draw
//! it with uPlot. Each view is a section of `templates/report.html` with data and a script of its
//! own: comparisons and runs over time (`links`, whose sections and scripts the playground in `web` has
//! as well), sweeps, frontiers, the papers' claims, scorecards.

mod columns;
mod data;
mod figure;
mod frontier;
mod made;
mod papers;
mod score;
mod series;
mod sweep;
mod verdict;

use std::io;
use std::path::Path;

use askama::Template;
use lowtide_lab::compare::Comparison;
use lowtide_lab::experiment::{CellResult, PathCells};
use lowtide_lab::files;
use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_lab::setting::Setting;

use self::data::Data;
pub use self::frontier::FrontierResult;
pub use self::papers::PaperResult;
pub use self::score::{FailureLinks, ScoreResult};
pub use self::sweep::Sweep;
pub(crate) use self::sweep::{Field, Group};

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    library_style: &'a str,
    style: &'a str,
    library: &'a str,
    data: String,
    scripts: Vec<String>,
}

/// uPlot 1.6.32, as published: see `vendor/uplot`.
const LIBRARY: &str = include_str!("../../vendor/uplot/uPlot.iife.min.js");
const LIBRARY_STYLE: &str = include_str!("../../vendor/uplot/uPlot.min.css");
const STYLE: &str = include_str!("../../assets/report/report.css");
/// Modules, each behind those that it needs.
const SCRIPTS: [&str; 15] = [
    include_str!("../../assets/report/decode.js"),
    include_str!("../../assets/report/look.js"),
    include_str!("../../assets/report/pinch.js"),
    include_str!("../../assets/report/chart.js"),
    include_str!("../../assets/report/lanes.js"),
    include_str!("../../assets/report/table.js"),
    include_str!("../../assets/report/strip.js"),
    include_str!("../../assets/report/flow.js"),
    include_str!("../../assets/report/comparison.js"),
    include_str!("../../assets/report/links.js"),
    include_str!("../../assets/report/sweep.js"),
    include_str!("../../assets/report/papers.js"),
    include_str!("../../assets/report/frontier.js"),
    include_str!("../../assets/report/scores.js"),
    include_str!("../../assets/report/page.js"),
];

/// Cells of one report that are shown over time; they take some megabytes of memory each.
pub const MAX_OVER_TIME: usize = 64;

/// A comparison on one link, run with timelines.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What was run; over time the runs of its first seed are shown.
    pub setting: &'a Setting,
    /// What came out.
    pub comparison: &'a Comparison,
}

/// What a report shows; what is empty is left out.
#[derive(Clone, Debug, Default)]
pub struct Report<'a> {
    /// Heading.
    pub title: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// The command that made it, as far as it decides what is shown.
    pub made_by: String,
    /// Comparisons and runs over time.
    pub runs: Vec<Run<'a>>,
    /// Names of the metrics that the question is about: shown first.
    pub metrics: Vec<String>,
    /// Grids.
    pub sweeps: Vec<Sweep>,
    /// Throughput and delay over many traces.
    pub frontiers: Vec<FrontierResult>,
    /// Papers that were run again.
    pub papers: Vec<PaperResult>,
    /// Scorecards.
    pub scores: Vec<ScoreResult>,
}

impl<'a> Report<'a> {
    /// Comparisons that were run with timelines.
    #[must_use]
    pub fn of_comparisons(runs: &'a [(Setting, Comparison)]) -> Self {
        let title = match runs {
            [(setting, _)] => setting.link_name.clone(),
            several => format!("{} links", several.len()),
        };
        let run = |(setting, comparison): &'a (Setting, Comparison)| Run {
            setting,
            comparison,
        };
        Self {
            title,
            runs: runs.iter().map(run).collect(),
            ..Self::default()
        }
    }

    /// The cells of a scenario, as comparisons, over time, and as a grid where there is one; `paths`: those of
    /// `results`.
    #[must_use]
    pub fn of_cells(file: &ScenarioFile, results: &[CellResult], paths: &'a [PathCells]) -> Self {
        let about = file.content.about.trim();
        let untimed = results.len().saturating_sub(MAX_OVER_TIME);
        let note = match untimed {
            0 => String::new(),
            n => format!(" The last {n} cells are not shown over time."),
        };
        let run = |path: &'a PathCells| Run {
            setting: &path.setting,
            comparison: &path.comparison,
        };
        Self {
            title: file.name(),
            about: format!("{about}{note}"),
            runs: paths.iter().map(run).collect(),
            metrics: file.content.metrics.clone(),
            sweeps: vec![Sweep::new(file, results)],
            ..Self::default()
        }
    }

    /// Writes it to `path`, and makes the folders above.
    ///
    /// # Errors
    /// When a link cannot be made again or the file cannot be written.
    pub fn write(self, path: &Path) -> io::Result<()> {
        files::write(path, self.html()?.as_bytes())
    }

    /// The page.
    ///
    /// # Errors
    /// When a link cannot be made again.
    pub fn html(mut self) -> io::Result<String> {
        self.sweeps.retain(Sweep::is_grid);
        let room = sweep::MAX_NUMBERS / self.sweeps.len().max(1);
        self.sweeps = self.sweeps.into_iter().map(|s| s.bounded(room)).collect();
        let data = Data::new(&self).map_err(io::Error::other)?;
        let page = Page {
            title: &self.title,
            library_style: LIBRARY_STYLE,
            style: STYLE,
            library: LIBRARY,
            data: json_in_page(&data).map_err(io::Error::other)?,
            scripts: SCRIPTS.map(inlined).to_vec(),
        };
        page.render().map_err(io::Error::other)
    }

    /// What the page's scripts draw, as JSON.
    ///
    /// # Errors
    /// When a link cannot be made again.
    pub fn data(&self) -> io::Result<String> {
        let data = Data::new(self).map_err(io::Error::other)?;
        Ok(serde_json::to_string(&data)?)
    }
}

/// A module as a part of one script with the others, whose names it shares.
fn inlined(module: &str) -> String {
    let lines = module.lines().filter(|line| !line.starts_with("import "));
    let lines = lines.map(|line| line.strip_prefix("export ").unwrap_or(line));
    lines.fold(String::new(), |script, line| script + line + "\n")
}

/// JSON that may stand within a page: no tag can begin in it.
fn json_in_page(data: &Data<'_>) -> serde_json::Result<String> {
    Ok(serde_json::to_string(data)?.replace('<', "\\u003c"))
}

/// Writes the report of comparisons that were run with timelines to `path`, and the folders above
/// it.
///
/// # Errors
/// When a link cannot be made again or the file cannot be written.
pub fn write(runs: &[(Setting, Comparison)], path: &Path) -> io::Result<()> {
    Report::of_comparisons(runs).write(path)
}
