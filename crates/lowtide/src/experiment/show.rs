//! Cells as tables, JSON and CSV, and as what a report shows.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, Table, presets};
use lowtide_lab::compare::{Comparison, Entry, Role};
use lowtide_lab::experiment::CellResult;
use lowtide_lab::metrics::Metrics;
use lowtide_lab::scenario::Scenario;
use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_lab::statistics::{ci95, mean};
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Shown where the file does not say what to show: head, value, factor, digits.
const USUAL: &[(&str, &str, f64, usize)] = &[
    ("Mbit/s", "throughput_mbps", 1.0, 2),
    ("used %", "utilisation", 100.0, 1),
    ("RTT ms", "rtt_ms.mean", 1.0, 1),
    ("p95", "rtt_ms.p95", 1.0, 1),
    ("p99", "rtt_ms.p99", 1.0, 1),
    ("lost %", "loss_share", 100.0, 2),
    ("resent %", "retransmitted_share", 100.0, 2),
    ("Jain", "jain", 1.0, 3),
];

fn shown(result: &CellResult, value: &str, factor: f64, digits: usize) -> String {
    match result.value(value) {
        None => "-".to_string(),
        Some((mean, half)) => {
            let least = 0.5 * 10_f64.powi(-(digits as i32));
            let interval = half
                .map(|half| half * factor)
                .filter(|half| *half >= least)
                .map_or_else(String::new, |half| format!(" ±{half:.digits$}"));
            format!("{:.digits$}{interval}", mean * factor)
        }
    }
}

/// A line for each cell, and one for each group of flows where there are several.
pub(super) fn table(
    file: &ScenarioFile,
    results: &[CellResult],
    markdown: bool,
) -> Result<String, Failure> {
    let columns: Vec<(&str, &str, f64, usize)> = match file.content.metrics.as_slice() {
        [] => USUAL.to_vec(),
        some => some
            .iter()
            .map(|m| (m.as_str(), m.as_str(), 1.0, 3))
            .collect(),
    };
    let measured: BTreeSet<&str> = results
        .iter()
        .flat_map(|r| &r.runs)
        .flat_map(|run| run.values.keys().map(String::as_str))
        .collect();
    for (n, metric) in file.content.metrics.iter().enumerate() {
        if !measured.is_empty() && !measured.contains(metric.as_str()) {
            let known: Vec<&str> = measured.iter().copied().collect();
            let problem = format!(
                "nothing is called '{metric}'; known are {}",
                known.join(", ")
            );
            return Err(Failure::input(
                file.error_at(&["metrics", &n.to_string()], problem),
            ));
        }
    }
    let mut table = Table::new();
    table.load_style(if markdown {
        presets::ASCII_MARKDOWN
    } else {
        presets::NOTHING
    });
    let mut head = vec!["cell".to_string()];
    head.extend(columns.iter().map(|(head, ..)| (*head).to_string()));
    table.set_header(head);
    for result in results {
        let name = match result.cell.name() {
            name if name.is_empty() => result.cell.prepared.controllers.join(" + "),
            name => name,
        };
        let mut row = vec![name];
        row.extend(columns.iter().map(|(_, v, f, d)| shown(result, v, *f, *d)));
        table.add_row(row);
        let groups = &result.cell.prepared.controllers;
        if groups.len() < 2 {
            continue;
        }
        for (n, controller) in groups.iter().enumerate() {
            let count = result
                .cell
                .prepared
                .groups()
                .iter()
                .filter(|g| **g == n)
                .count();
            let each = if count > 1 {
                format!(" (each of {count})")
            } else {
                String::new()
            };
            let mut row = vec![format!("  {controller}{each}")];
            row.extend(columns.iter().map(|(_, v, f, d)| {
                // What exists for all flows together only stands in the cell's own line.
                shown(result, &format!("flows.{n}.{v}"), *f, *d)
            }));
            table.add_row(row);
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    Ok(table
        .lines()
        .map(|line| line.trim_end().to_string() + "\n")
        .collect())
}

/// Puts a value at a dotted name.
fn nest(into: &mut Map<String, Value>, name: &str, value: f64) {
    match name.split_once('.') {
        None => {
            into.insert(name.to_string(), json!(value));
        }
        Some((first, rest)) => {
            let inner = into
                .entry(first.to_string())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                nest(inner, rest, value);
            }
        }
    }
}

fn names(result: &CellResult) -> BTreeSet<&str> {
    result
        .runs
        .iter()
        .flat_map(|run| run.values.keys().map(String::as_str))
        .collect()
}

pub(super) fn json(file: &ScenarioFile, results: &[CellResult]) -> Value {
    let cells: Vec<Value> = results
        .iter()
        .map(|result| {
            let mut values = Map::new();
            let mut intervals = Map::new();
            for name in names(result) {
                let Some((mean, half)) = result.value(name) else {
                    continue;
                };
                nest(&mut values, name, mean);
                if let Some(half) = half {
                    nest(&mut intervals, name, half);
                }
            }
            let groups = values.remove("flows").unwrap_or_default();
            let group_intervals = intervals.remove("flows").unwrap_or_default();
            let flows: Vec<Value> = result
                .cell
                .prepared
                .controllers
                .iter()
                .enumerate()
                .map(|(n, controller)| {
                    let of = |all: &Value| all.get(n.to_string()).cloned().unwrap_or_default();
                    let mut group = of(&groups).as_object().cloned().unwrap_or_default();
                    group.insert("controller".to_string(), json!(controller));
                    if !intervals.is_empty() {
                        group.insert("ci95".to_string(), of(&group_intervals));
                    }
                    Value::Object(group)
                })
                .collect();
            let labels: Map<String, Value> = result
                .cell
                .labels
                .iter()
                .map(|(key, label)| (key.clone(), json!(label)))
                .collect();
            values.insert("cell".to_string(), json!(result.cell.name()));
            values.insert("labels".to_string(), Value::Object(labels));
            values.insert(
                "link".to_string(),
                json!(result.cell.prepared.scenario.link_name),
            );
            values.insert("seeds".to_string(), json!(result.runs.len()));
            values.insert("flows".to_string(), Value::Array(flows));
            if !intervals.is_empty() {
                values.insert("ci95".to_string(), Value::Object(intervals));
            }
            let failed: Vec<Value> = result
                .failed
                .iter()
                .map(|f| json!({"seed": f.seed, "reason": f.reason}))
                .collect();
            if !failed.is_empty() {
                values.insert("failed".to_string(), Value::Array(failed));
            }
            Value::Object(values)
        })
        .collect();
    json!({"scenario": file.name(), "about": file.content.about, "results": cells})
}

/// Labels, number of seeds, means.
pub(super) fn csv(results: &[CellResult]) -> Result<Vec<u8>, Failure> {
    let all: BTreeSet<&str> = results.iter().flat_map(names).collect();
    let keys: Vec<&str> = results.first().map_or_else(Vec::new, |r| {
        r.cell.labels.iter().map(|(key, _)| key.as_str()).collect()
    });
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut head = keys;
    head.push("seeds");
    head.extend(all.iter());
    writer.write_record(&head).map_err(Failure::run)?;
    for result in results {
        let mut row: Vec<String> = result
            .cell
            .labels
            .iter()
            .map(|(_, label)| label.clone())
            .collect();
        row.push(result.runs.len().to_string());
        row.extend(all.iter().map(|name| {
            result
                .value(name)
                .map_or_else(String::new, |(mean, _)| mean.to_string())
        }));
        writer.write_record(&row).map_err(Failure::run)?;
    }
    writer.into_inner().map_err(Failure::run)
}

/// Cells on the same link and path side by side, as reports show them.
pub(super) struct Place {
    pub(super) scenario: Scenario,
    pub(super) comparison: Comparison,
    /// The first seed of the link.
    pub(super) seed: u64,
}

/// The cells by link and path. What differs between places is in their names, what differs within
/// one in its entries'.
pub(super) fn places(results: &[CellResult]) -> Vec<Place> {
    let mut places: Vec<(String, Vec<&CellResult>)> = Vec::new();
    for result in results {
        let prepared = &result.cell.prepared;
        let s = &prepared.scenario;
        let key = format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {}",
            s.link_name,
            s.rtt,
            s.buffer,
            s.duration,
            s.loss,
            s.ack_loss,
            s.packet_size,
            prepared.link_seed(prepared.first_seed)
        );
        match places.iter_mut().find(|(known, _)| *known == key) {
            Some((_, cells)) => cells.push(result),
            None => places.push((key, vec![result])),
        }
    }
    let several = places.len() > 1;
    places
        .into_iter()
        .map(|(_, cells)| place(&cells, several))
        .collect()
}

fn place(cells: &[&CellResult], several: bool) -> Place {
    let first = &cells[0].cell;
    let common = |n: usize| {
        cells
            .iter()
            .all(|c| c.cell.labels.get(n) == first.labels.get(n))
    };
    let labels = |result: &CellResult, wanted: bool| -> String {
        let all = result.cell.labels.iter().enumerate();
        let own: Vec<&str> = all
            .filter(|(n, _)| common(*n) == wanted)
            .map(|(_, (_, label))| label.as_str())
            .collect();
        own.join(", ")
    };
    let mut scenario = first.prepared.scenario.clone();
    if several {
        scenario.link_name = format!("{}: {}", labels(cells[0], true), scenario.link_name);
    }
    let mut comparison = Comparison {
        entries: Vec::new(),
        failed: Vec::new(),
        windows: Vec::new(),
        simulated_packets: 0,
    };
    for result in cells {
        comparison.failed.extend(result.failed.iter().cloned());
        let measured: Vec<_> = result
            .runs
            .iter()
            .filter_map(|r| r.details.as_ref())
            .collect();
        let Some(first) = measured.first() else {
            continue;
        };
        let seeds: Vec<Metrics> = measured.iter().map(|d| d.measured.total).collect();
        comparison.simulated_packets += measured.iter().map(|d| d.packets).sum::<u64>();
        comparison.entries.push(Entry {
            name: match labels(result, false) {
                name if name.is_empty() => result.cell.prepared.controllers.join(" + "),
                name => name,
            },
            role: Role::Contender,
            mean: Metrics::combine(&seeds, mean),
            ci95: (seeds.len() > 1).then(|| Metrics::combine(&seeds, ci95)),
            flows: first.measured.flows.clone(),
            seeds,
            timeline: first.timeline.clone(),
            rtt: first.rtt.clone(),
            queueing: first.queueing.clone(),
        });
    }
    let prepared = &first.prepared;
    Place {
        scenario,
        comparison,
        seed: prepared.link_seed(prepared.first_seed),
    }
}
