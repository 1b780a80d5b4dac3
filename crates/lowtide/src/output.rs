//! Standard output, as machines and people read it.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use lowtide_lab::compare::{Comparison, Entry, Role};
use lowtide_lab::metrics::Metrics;
use lowtide_lab::report::Report;
use lowtide_lab::scenario::Scenario;
use serde::Serialize;

use crate::failure::Failure;

/// Prints bytes. A closed pipe (`| head`) is no failure: the reader has what it wanted.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::run(format!(
            "cannot write to standard output: {e}"
        ))),
        _ => Ok(()),
    }
}

/// Prints a value as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_vec_pretty(value).map_err(Failure::run)?;
    text.push(b'\n');
    print(&text)
}

/// Writes `index.html` and says where, on standard error, so that it does not mix with JSON.
pub(crate) fn write_report(report: Report<'_>, folder: &Path) -> Result<(), Failure> {
    let path = folder.join("index.html");
    report
        .write(&path)
        .map_err(|e| Failure::run(format!("cannot write {}: {e}", path.display())))?;
    // A closed standard error is no reason to stop.
    let _ = writeln!(std::io::stderr(), "report: {}", path.display());
    Ok(())
}

/// One comparison in JSON; other tools rely on the names.
#[derive(Serialize)]
pub(crate) struct JsonComparison<'a> {
    link: &'a str,
    duration_s: f64,
    /// `null` with `--no-timing`: the one value that differs from run to run.
    wall_s: Option<f64>,
    simulated_packets: u64,
    results: Vec<JsonResult<'a>>,
}

#[derive(Serialize)]
struct JsonResult<'a> {
    controller: &'a str,
    #[serde(flatten)]
    mean: &'a Metrics,
    flows: &'a [Metrics],
    #[serde(skip_serializing_if = "Option::is_none")]
    ci95: Option<&'a Metrics>,
}

impl<'a> JsonComparison<'a> {
    pub(crate) fn new(
        scenario: &'a Scenario,
        comparison: &'a Comparison,
        wall_s: Option<f64>,
    ) -> Self {
        Self {
            link: &scenario.link_name,
            duration_s: scenario.duration.as_secs_f64(),
            wall_s,
            simulated_packets: comparison.simulated_packets,
            results: comparison
                .entries
                .iter()
                .map(|e| JsonResult {
                    controller: &e.name,
                    mean: &e.mean,
                    flows: &e.flows,
                    ci95: e.ci95.as_ref(),
                })
                .collect(),
        }
    }
}

/// A column of the table.
struct Column {
    head: &'static str,
    value: fn(&Metrics) -> f64,
    /// Digits after the point.
    digits: usize,
    higher_is_better: bool,
}

const COLUMNS: &[Column] = &[
    Column {
        head: "Mbit/s",
        value: |m| m.throughput_mbps,
        digits: 2,
        higher_is_better: true,
    },
    Column {
        head: "used %",
        value: |m| m.utilisation * 100.0,
        digits: 1,
        higher_is_better: true,
    },
    Column {
        head: "RTT ms",
        value: |m| m.rtt_ms.mean,
        digits: 1,
        higher_is_better: false,
    },
    Column {
        head: "p95",
        value: |m| m.rtt_ms.p95,
        digits: 1,
        higher_is_better: false,
    },
    Column {
        head: "p99",
        value: |m| m.rtt_ms.p99,
        digits: 1,
        higher_is_better: false,
    },
    Column {
        head: "self p95",
        value: |m| m.self_inflicted_ms.p95,
        digits: 1,
        higher_is_better: false,
    },
    Column {
        head: "lost %",
        value: |m| m.loss_share * 100.0,
        digits: 2,
        higher_is_better: false,
    },
    Column {
        head: "resent %",
        value: |m| m.retransmitted_share * 100.0,
        digits: 2,
        higher_is_better: false,
    },
];

const FAIRNESS: Column = Column {
    head: "Jain",
    value: |m| m.jain,
    digits: 3,
    higher_is_better: true,
};

/// The table of a comparison, to be read or as Markdown.
pub(crate) fn table(scenario: &Scenario, comparison: &Comparison, markdown: bool) -> String {
    let mut columns: Vec<&Column> = COLUMNS.iter().collect();
    if scenario.flows > 1 {
        columns.push(&FAIRNESS);
    }
    let mut table = Table::new();
    table.load_style(if markdown {
        presets::ASCII_MARKDOWN
    } else {
        presets::NOTHING
    });
    let mut head = vec!["controller"];
    head.extend(columns.iter().map(|c| c.head));
    table.set_header(head);
    for entry in &comparison.entries {
        let mut row = vec![match entry.role {
            Role::Limit => format!("{} (limit)", entry.name),
            Role::Contender => entry.name.clone(),
            Role::Floor => format!("{} (best window)", entry.name),
        }];
        row.extend(columns.iter().map(|c| cell(c, entry, &comparison.entries)));
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
        .lines()
        .map(|line| line.trim_end().to_string() + "\n")
        .collect()
}

/// A value with its interval; the best of the contenders is marked.
fn cell(column: &Column, entry: &Entry, all: &[Entry]) -> String {
    let value = (column.value)(&entry.mean);
    if !value.is_finite() {
        return "-".to_string();
    }
    let shown = format!("{value:.*}", column.digits);
    let interval = entry
        .ci95
        .as_ref()
        .map(|ci| (column.value)(ci))
        .filter(|half| half.is_finite() && *half >= 0.5 * 10_f64.powi(-(column.digits as i32)))
        .map_or_else(String::new, |half| format!(" ±{half:.*}", column.digits));
    let contenders: Vec<f64> = all
        .iter()
        .filter(|e| e.role == Role::Contender)
        .map(|e| (column.value)(&e.mean))
        .filter(|v| v.is_finite())
        .collect();
    let best = contenders.iter().copied().reduce(|a, b| {
        if column.higher_is_better {
            a.max(b)
        } else {
            a.min(b)
        }
    });
    // Where all are alike there is no best.
    let as_shown = |v: f64| format!("{v:.*}", column.digits);
    let differ = contenders.iter().any(|v| as_shown(*v) != shown);
    let is_best =
        entry.role == Role::Contender && differ && best.is_some_and(|best| as_shown(best) == shown);
    format!("{shown}{interval}{}", if is_best { "*" } else { " " })
}

/// The comparisons as CSV: one line a controller.
pub(crate) fn csv(comparisons: &[(Scenario, Comparison)]) -> Result<Vec<u8>, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut head = vec!["link".to_string(), "controller".to_string()];
    let nested = |m: &Metrics| flatten(&serde_json::to_value(m).unwrap_or_default());
    if let Some(entry) = comparisons.first().and_then(|(_, c)| c.entries.first()) {
        head.extend(nested(&entry.mean).into_iter().map(|(name, _)| name));
    }
    writer.write_record(&head).map_err(Failure::run)?;
    for (scenario, comparison) in comparisons {
        for entry in &comparison.entries {
            let mut row = vec![scenario.link_name.clone(), entry.name.clone()];
            row.extend(nested(&entry.mean).into_iter().map(|(_, value)| value));
            writer.write_record(&row).map_err(Failure::run)?;
        }
    }
    writer.into_inner().map_err(Failure::run)
}

/// Names and values of a JSON object, those of inner objects as `outer_inner`.
fn flatten(value: &serde_json::Value) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            serde_json::Value::Object(_) => {
                flat.extend(
                    flatten(value)
                        .into_iter()
                        .map(|(n, v)| (format!("{name}_{n}"), v)),
                );
            }
            serde_json::Value::Null => flat.push((name.clone(), String::new())),
            _ => flat.push((name.clone(), value.to_string())),
        }
    }
    flat
}
