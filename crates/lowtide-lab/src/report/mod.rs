//! A comparison as one HTML file that needs nothing else: no network, no server, no second file.

mod plots;

use std::fs;
use std::io;
use std::path::Path;

use askama::Template;

use crate::compare::{Comparison, Role};
use crate::metrics::Metrics;
use crate::scenario::Scenario;

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    link: String,
    setting: String,
    rows: Vec<Row>,
    seed: u64,
    bin_ms: f64,
    plotly: String,
    timeline: String,
    plane: String,
    cdf: String,
}

struct Row {
    name: String,
    cells: Vec<String>,
    is_frame: bool,
}

/// The plotting library's script. Its crate brings a formula renderer along, which no plot here
/// uses and which would add 2 MB to each report.
fn plotting_script() -> String {
    const END: &str = "</script>";
    let mut scripts = plotly::Plot::offline_js_sources();
    if let Some(at) = scripts.find(END) {
        scripts.truncate(at + END.len());
    }
    scripts
}

fn cells(m: &Metrics) -> Vec<String> {
    let number = |value: f64, digits: usize| {
        if value.is_finite() {
            format!("{value:.digits$}")
        } else {
            "–".to_string()
        }
    };
    vec![
        number(m.throughput_mbps, 2),
        number(m.utilisation * 100.0, 1),
        number(m.rtt_ms.mean, 1),
        number(m.rtt_ms.p95, 1),
        number(m.rtt_ms.p99, 1),
        number(m.self_inflicted_ms.p95, 1),
        number(m.loss_share * 100.0, 2),
        number(m.retransmitted_share * 100.0, 2),
    ]
}

/// Writes the report of a comparison that was run with timelines to `path`, and the folders above
/// it. `seed` is the first seed, whose runs are shown over time.
///
/// # Errors
/// When the link cannot be made again or the file cannot be written.
pub fn write(
    scenario: &Scenario,
    comparison: &Comparison,
    seed: u64,
    path: &Path,
) -> io::Result<()> {
    let link = scenario
        .link
        .link(scenario.duration, seed)
        .map_err(io::Error::other)?;
    let rows = comparison
        .entries
        .iter()
        .map(|entry| Row {
            name: match entry.role {
                Role::Limit => format!("{} (limit)", entry.name),
                Role::Contender => entry.name.clone(),
                Role::Floor => format!("{} (best window)", entry.name),
            },
            cells: cells(&entry.mean),
            is_frame: entry.role != Role::Contender,
        })
        .collect();
    let seeds = comparison.entries.first().map_or(0, |e| e.seeds.len());
    let bin = comparison
        .entries
        .iter()
        .find_map(|e| e.timeline.as_ref())
        .map(|t| t.bin());
    let page = Page {
        link: scenario.link_name.clone(),
        setting: format!(
            "RTT {}, {} s, flows: {}, seeds: {seeds}",
            scenario.rtt,
            scenario.duration.as_secs_f64(),
            scenario.flows,
        ),
        rows,
        seed,
        bin_ms: bin.map_or(0.0, |b| b.as_millis_f64()),
        plotly: plotting_script(),
        timeline: plots::timeline(&link, comparison),
        plane: plots::plane(comparison),
        cdf: plots::cdf(comparison),
    };
    let html = page.render().map_err(io::Error::other)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, html)
}
