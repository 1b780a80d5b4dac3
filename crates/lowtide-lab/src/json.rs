//! What commands print as JSON, and Python gives: the names that other tools rely on.

use serde::Serialize;

use crate::compare::{Comparison, Entry};
use crate::metrics::Metrics;
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
