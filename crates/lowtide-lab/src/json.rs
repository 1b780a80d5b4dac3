//! What commands print as JSON, and Python gives: the names that other tools rely on.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::compare::{Comparison, Entry};
use crate::experiment::CellResult;
use crate::frontier::Frontier;
use crate::metrics::Metrics;
use crate::scenario_file::ScenarioFile;
use crate::score::{Regression, Scorecard};
use crate::setting::Setting;

/// Version of the JSON that commands print; `docs/json.md` says what raises it.
pub const SCHEMA: u32 = 1;

/// One comparison in JSON; other tools rely on the names.
#[derive(Serialize)]
pub struct JsonComparison<'a> {
    schema: u32,
    command: &'static str,
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
    seeds: usize,
    #[serde(flatten)]
    mean: &'a Metrics,
    flows: Vec<JsonFlow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ci95: Option<&'a Metrics>,
}

/// One flow, mean over the seeds.
#[derive(Serialize)]
struct JsonFlow<'a> {
    controller: &'a str,
    #[serde(flatten)]
    mean: &'a Metrics,
}

impl<'a> JsonComparison<'a> {
    /// The JSON; `wall_s`: how long it took, where that is to be told.
    #[must_use]
    pub fn new(setting: &'a Setting, comparison: &'a Comparison, wall_s: Option<f64>) -> Self {
        Self {
            schema: SCHEMA,
            command: "compare",
            link: &setting.link_name,
            duration_s: setting.duration.as_secs_f64(),
            wall_s,
            simulated_packets: comparison.simulated_packets,
            results: comparison
                .entries
                .iter()
                .map(|e| JsonResult {
                    controller: &e.name,
                    seeds: e.seeds.len(),
                    mean: &e.mean,
                    flows: flows(e).collect(),
                    ci95: e.ci95.as_ref(),
                })
                .collect(),
        }
    }
}

/// In a comparison all flows are the entry's.
fn flows(entry: &Entry) -> impl Iterator<Item = JsonFlow<'_>> {
    entry.flows.iter().map(|mean| JsonFlow {
        controller: &entry.name,
        mean,
    })
}

/// A frontier in JSON.
#[derive(Serialize)]
pub struct JsonFrontier<'a> {
    schema: u32,
    command: &'static str,
    /// `null` with `--no-timing`: the one value that differs from run to run.
    wall_s: Option<f64>,
    #[serde(flatten)]
    frontier: &'a Frontier,
}

impl<'a> JsonFrontier<'a> {
    /// The JSON; `wall_s`: how long it took, where that is to be told.
    #[must_use]
    pub fn new(frontier: &'a Frontier, wall_s: Option<f64>) -> Self {
        Self {
            schema: SCHEMA,
            command: "frontier",
            wall_s,
            frontier,
        }
    }
}

/// A suite's scorecard in JSON.
#[derive(Serialize)]
pub struct JsonCard<'a> {
    schema: u32,
    command: &'static str,
    #[serde(flatten)]
    card: &'a Scorecard,
    #[serde(skip_serializing_if = "Option::is_none")]
    regressions: Option<Vec<&'a Regression>>,
}

impl<'a> JsonCard<'a> {
    /// The JSON; `regressions`: those of all suites, where a baseline was given.
    #[must_use]
    pub fn new(card: &'a Scorecard, regressions: Option<&'a [Regression]>) -> Self {
        let own = |all: &'a [Regression]| {
            let own = all.iter().filter(|r| r.suite == card.suite);
            own.collect()
        };
        Self {
            schema: SCHEMA,
            command: "score",
            card,
            regressions: regressions.map(own),
        }
    }
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
#[must_use]
pub fn cells(
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
        "schema": SCHEMA,
        "command": command,
        "scenario": file.name(),
        "about": file.content.about,
        "wall_s": wall_s,
        "results": cells,
    })
}
