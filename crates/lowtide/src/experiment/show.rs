//! Cells as tables, JSON and CSV, and as what a report shows.

use std::collections::BTreeSet;

use lowtide_lab::compare::{Comparison, Entry, Role};
use lowtide_lab::experiment::CellResult;
use lowtide_lab::metrics::Table as Shown;
use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_lab::setting::Setting;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::output;
use crate::table::{self, Look};

/// A column of the table.
struct Column<'a> {
    head: &'a str,
    rank: u8,
    /// The value's name.
    value: &'a str,
    factor: f64,
    digits: usize,
}

/// The values that the file asks for, as they are; else the usual ones.
fn columns<'a>(file: &'a ScenarioFile, results: &[CellResult]) -> Vec<Column<'a>> {
    if file.content.metrics.is_empty() {
        let marked = |result: &CellResult| result.value("marked_share").is_some_and(|m| m.0 > 0.0);
        let usual = Shown::Cells
            .columns(true, results.iter().any(marked))
            .into_iter();
        return usual
            .map(|metric| Column {
                head: metric.head,
                rank: metric.rank,
                value: metric.key,
                factor: metric.factor,
                digits: metric.digits,
            })
            .collect();
    }
    let own = file.content.metrics.iter().map(|name| Column {
        head: name,
        rank: 0,
        value: name,
        factor: 1.0,
        digits: 3,
    });
    own.collect()
}

impl Column<'_> {
    /// The value of this name in a cell, with its interval.
    fn shown(&self, result: &CellResult, name: &str) -> String {
        let Some((mean, half)) = result.value(name) else {
            return "-".to_string();
        };
        let interval = output::interval(half.map(|half| half * self.factor), self.digits);
        format!("{:.*}{interval}", self.digits, mean * self.factor)
    }
}

/// A line for each cell, and one for each group of flows where there are several.
pub(super) fn table(file: &ScenarioFile, results: &[CellResult], look: Look) -> String {
    let columns = columns(file, results);
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for result in results {
        let setting = &result.cell.setting;
        let name = match result.cell.name() {
            name if name.is_empty() => setting.controllers().join(" + "),
            name => name,
        };
        let of_cell = columns.iter().map(|c| c.shown(result, c.value));
        rows.push((name, of_cell.collect()));
        if setting.groups.len() < 2 {
            continue;
        }
        for (n, group) in setting.groups.iter().enumerate() {
            let controller = group.contender.name();
            let name = match group.count {
                1 => format!("  {controller}"),
                count => format!("  {controller} (each of {count})"),
            };
            // What exists for all flows together only stands in the cell's own line.
            let of_group = columns
                .iter()
                .map(|c| c.shown(result, &format!("flows.{n}.{}", c.value)));
            rows.push((name, of_group.collect()));
        }
    }
    let heads: Vec<table::Column<'_>> = columns
        .iter()
        .map(|c| table::Column {
            head: c.head,
            rank: c.rank,
        })
        .collect();
    table::table("cell", &heads, &rows, look)
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

/// All cells; `wall_s`: how long they took, in seconds, where that is to be told.
pub(super) fn json(
    command: &str,
    file: &ScenarioFile,
    results: &[CellResult],
    wall_s: Option<f64>,
) -> Value {
    let cells: Vec<Value> = results
        .iter()
        .map(|result| {
            let mut values = Map::new();
            let mut intervals = Map::new();
            for name in result.names() {
                let Some((mean, half)) = result.value(&name) else {
                    continue;
                };
                nest(&mut values, &name, mean);
                if let Some(half) = half {
                    nest(&mut intervals, &name, half);
                }
            }
            let groups = values.remove("flows").unwrap_or_default();
            let group_intervals = intervals.remove("flows").unwrap_or_default();
            let flows: Vec<Value> = result
                .cell
                .setting
                .groups
                .iter()
                .enumerate()
                .map(|(n, flows)| {
                    let of = |all: &Value| all.get(n.to_string()).cloned().unwrap_or_default();
                    let mut group = of(&groups).as_object().cloned().unwrap_or_default();
                    group.insert("controller".to_string(), json!(flows.contender.name()));
                    group.insert("count".to_string(), json!(flows.count));
                    group.insert("start_s".to_string(), json!(flows.start.as_secs_f64()));
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
            values.insert("link".to_string(), json!(result.cell.setting.link_name));
            let duration = result.cell.setting.duration.as_secs_f64();
            values.insert("duration_s".to_string(), json!(duration));
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
    json!({
        "schema": lowtide_lab::json::SCHEMA,
        "command": command,
        "scenario": file.name(),
        "about": file.content.about,
        "wall_s": wall_s,
        "results": cells,
    })
}

/// Labels, number of seeds, means.
pub(super) fn csv(results: &[CellResult]) -> Result<Vec<u8>, Failure> {
    let all: BTreeSet<String> = results.iter().flat_map(CellResult::names).collect();
    let keys: Vec<&str> = results.first().map_or_else(Vec::new, |r| {
        r.cell.labels.iter().map(|(key, _)| key.as_str()).collect()
    });
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut head = keys;
    head.push("seeds");
    head.extend(all.iter().map(String::as_str));
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
pub(crate) struct Place {
    pub(crate) setting: Setting,
    pub(crate) comparison: Comparison,
}

/// The cells by link and path. What differs between places is in their names, what differs within
/// one in its entries'.
pub(crate) fn places(results: &[CellResult]) -> Vec<Place> {
    let mut places: Vec<(String, Vec<&CellResult>)> = Vec::new();
    for result in results {
        let s = &result.cell.setting;
        let key = format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {}",
            s.link_name,
            s.rtt,
            s.buffer,
            s.duration,
            s.loss,
            s.ack_loss,
            s.packet_size,
            s.link.seed(s.seeds.first)
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
    let mut setting = first.setting.clone();
    if several {
        setting.link_name = format!("{}: {}", labels(cells[0], true), setting.link_name);
    }
    let mut comparison = Comparison::default();
    for result in cells {
        comparison.failed.extend(result.failed.iter().cloned());
        let details = result.runs.iter().filter_map(|r| r.details.as_ref());
        comparison.simulated_packets += details.map(|d| d.packets).sum::<u64>();
        let name = match labels(result, false) {
            name if name.is_empty() => result.cell.setting.controllers().join(" + "),
            name => name,
        };
        let groups = result.cell.setting.groups.iter();
        let role = groups.map(|group| Role::of(&group.contender)).max();
        let role = role.unwrap_or(Role::Contender);
        let entry = Entry::of_runs(&name, role, result.runs.clone());
        comparison
            .entries
            .extend(entry.map(|e| e.with_flows_of(&result.cell.setting)));
    }
    Place {
        setting,
        comparison,
    }
}
