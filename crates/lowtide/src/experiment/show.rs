//! Cells as tables, JSON and CSV, and as what a report shows.

use std::collections::BTreeSet;

use lowtide_lab::experiment::CellResult;
use lowtide_lab::metrics::Table as MetricsOf;
use lowtide_lab::scenario_file::ScenarioFile;

use crate::failure::Failure;
use crate::output;
use crate::table::{self, Look};

const UTILISATION: &str = "utilisation";

/// A column of the table.
struct Column<'a> {
    head: table::Column<'a>,
    /// The value's name.
    value: &'a str,
    factor: f64,
    digits: usize,
}

/// The values that the file asks for, as they are; else the usual ones.
fn columns<'a>(file: &'a ScenarioFile, results: &[CellResult]) -> Vec<Column<'a>> {
    if file.content.metrics.is_empty() {
        let has = |key: &str| {
            let mut values = results.iter().filter_map(|result| result.value(key));
            values.any(|(mean, _)| mean > 0.0)
        };
        let usual = MetricsOf::Cells.columns(true, has).into_iter();
        return usual
            .map(|metric| Column {
                head: (metric.head, metric.rank),
                value: metric.key,
                factor: metric.factor,
                digits: metric.digits,
            })
            .collect();
    }
    let own = file.content.metrics.iter().map(|name| Column {
        head: (name, 0),
        value: name,
        factor: 1.0,
        digits: 3,
    });
    own.collect()
}

impl Column<'_> {
    /// Its value of a group of flows.
    fn of_group(&self, result: &CellResult, group: usize) -> String {
        if self.value == UTILISATION
            && let Some(used) = used(result, group)
        {
            return format!("{:.*}", self.digits, used * self.factor);
        }
        self.shown(result, &format!("flows.{group}.{}", self.value))
    }

    /// The value of this name in a cell, with its interval.
    fn shown(&self, result: &CellResult, name: &str) -> String {
        let Some((mean, half)) = result.value(name) else {
            return "-".to_string();
        };
        let interval = output::interval(half.map(|half| half * self.factor), self.digits);
        format!("{:.*}{interval}", self.digits, mean * self.factor)
    }
}

/// What of the link a group used: its part of all goodput of what all used, so that groups add up. A flow's own utilisation is
/// over its own life, in which others may have left more to it.
fn used(result: &CellResult, group: usize) -> Option<f64> {
    let value = |name: &str| result.value(name).map(|(mean, _)| mean);
    Some(value(UTILISATION)? * value(&format!("flows.{group}.share"))?)
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
            let of_group = columns.iter().map(|c| c.of_group(result, n));
            rows.push((name, of_group.collect()));
        }
    }
    let heads: Vec<table::Column<'_>> = columns.iter().map(|c| c.head).collect();
    table::table("cell", &heads, rows, look)
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
