//! Comparisons as one HTML file that needs nothing else: no network, no server, no second file.
//!
//! [`data`] is what the page plots, as JSON within the page; the scripts in `assets/report` draw
//! it with uPlot.

mod columns;
mod data;
mod series;

use std::fs;
use std::io;
use std::path::Path;

use askama::Template;

use self::data::Data;
use crate::compare::Comparison;
use crate::scenario::Scenario;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: String,
    library_style: &'a str,
    style: &'a str,
    library: &'a str,
    data: String,
    scripts: &'a [&'a str],
}

/// uPlot 1.6.32, as published: see `vendor/uplot`.
const LIBRARY: &str = include_str!("../../vendor/uplot/uPlot.iife.min.js");
const LIBRARY_STYLE: &str = include_str!("../../vendor/uplot/uPlot.min.css");
const STYLE: &str = include_str!("../../assets/report/report.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 8] = [
    include_str!("../../assets/report/decode.js"),
    include_str!("../../assets/report/look.js"),
    include_str!("../../assets/report/chart.js"),
    include_str!("../../assets/report/table.js"),
    include_str!("../../assets/report/comparison.js"),
    include_str!("../../assets/report/strip.js"),
    include_str!("../../assets/report/flow.js"),
    include_str!("../../assets/report/page.js"),
];

/// JSON that may stand within a page: no tag can begin in it.
fn json_in_page(data: &Data<'_>) -> serde_json::Result<String> {
    Ok(serde_json::to_string(data)?.replace('<', "\\u003c"))
}

/// Writes the report of comparisons that were run with timelines to `path`, and the folders above
/// it. `seed` is the first seed, whose runs are shown over time.
///
/// # Errors
/// When a link cannot be made again or the file cannot be written.
pub fn write(runs: &[(Scenario, Comparison)], seed: u64, path: &Path) -> io::Result<()> {
    let data = Data::new(runs, seed).map_err(io::Error::other)?;
    let title = match runs {
        [(scenario, _)] => scenario.link_name.clone(),
        several => format!("{} links", several.len()),
    };
    let page = Page {
        title,
        library_style: LIBRARY_STYLE,
        style: STYLE,
        library: LIBRARY,
        data: json_in_page(&data).map_err(io::Error::other)?,
        scripts: &SCRIPTS,
    };
    let html = page.render().map_err(io::Error::other)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, html)
}
