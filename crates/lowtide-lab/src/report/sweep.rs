//! A grid of cells as the report's view of sweeps reads it.

use std::collections::{BTreeMap, BTreeSet};

use lowtide_cc::units::quantity;
use lowtide_sim::queue::{self, QueueLimit};
use serde::Serialize;

use crate::compare::FailedRun;
use crate::curves::short;
use crate::experiment::CellResult;
use crate::scenario_file::ScenarioFile;

/// Numbers of all sweeps of one report, some seven bytes each.
pub(super) const MOST_NUMBERS: usize = 450_000;

/// A scenario file's cells with everything that was measured in them.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    name: String,
    about: String,
    fields: Vec<Field>,
    metrics: Vec<Metric>,
    groups: Vec<Group>,
    /// The field that tells the controllers apart.
    controllers: Option<usize>,
    /// Of each cell: the index of its label in each field.
    cells: Vec<Vec<usize>>,
    /// Of each cell: runs that came to their end.
    seeds: Vec<usize>,
    /// Runs that did not: cell, what went wrong.
    failed: Vec<(usize, String)>,
    /// By the value's name.
    values: BTreeMap<String, Column>,
    /// How many values there was no room for.
    omitted: usize,
}

/// A key whose values differ, or `case`.
#[derive(Clone, Debug, Serialize)]
struct Field {
    key: String,
    labels: Vec<String>,
    /// The labels as numbers, where all are quantities of one kind.
    numbers: Option<Vec<f64>>,
}

/// A value that a reader can choose.
#[derive(Clone, Copy, Debug, Serialize)]
struct Known {
    label: &'static str,
    factor: f64,
    /// 1: more is better; −1: less; 0: neither.
    better: i8,
}

#[derive(Clone, Debug, Serialize)]
struct Metric {
    key: String,
    #[serde(flatten)]
    known: Option<Known>,
}

/// All flows, or a group of them.
#[derive(Clone, Debug, Serialize)]
struct Group {
    /// What its values' names begin with.
    prefix: String,
    name: String,
}

/// One value of each cell: mean over the seeds and half the width of its 95 % interval.
#[derive(Clone, Debug, Default, Serialize)]
struct Column {
    mean: Vec<Option<f64>>,
    half: Vec<Option<f64>>,
}

const fn known(label: &'static str, factor: f64, better: i8) -> Known {
    Known {
        label,
        factor,
        better,
    }
}

/// In the order in which a reader wants them.
const KNOWN: &[(&str, Known)] = &[
    ("throughput_mbps", known("throughput, Mbit/s", 1.0, 1)),
    ("rtt_ms.mean", known("mean RTT, ms", 1.0, -1)),
    (
        "rtt_ms.p95",
        known("95th percentile of the RTT, ms", 1.0, -1),
    ),
    (
        "rtt_ms.p99",
        known("99th percentile of the RTT, ms", 1.0, -1),
    ),
    (
        "utilisation",
        known("used of what the link offered, %", 100.0, 1),
    ),
    ("goodput_mbps", known("goodput, Mbit/s", 1.0, 1)),
    ("share", known("share of all goodput, %", 100.0, 0)),
    (
        "queue_delay_ms.mean",
        known("mean queueing delay, ms", 1.0, -1),
    ),
    (
        "queue_delay_ms.p95",
        known("95th percentile of the queueing delay, ms", 1.0, -1),
    ),
    (
        "self_inflicted_ms.p95",
        known("95th percentile of the self-inflicted delay, ms", 1.0, -1),
    ),
    ("loss_share", known("bytes lost, %", 100.0, -1)),
    (
        "retransmitted_share",
        known("bytes sent again, %", 100.0, -1),
    ),
    ("jain", known("Jain's fairness index", 1.0, 1)),
    ("power", known("power: throughput over p95 RTT", 1.0, 1)),
    ("rtt_ms.p50", known("median RTT, ms", 1.0, -1)),
    ("rtt_ms.max", known("largest RTT, ms", 1.0, -1)),
    (
        "queue_delay_ms.p50",
        known("median queueing delay, ms", 1.0, -1),
    ),
    (
        "queue_delay_ms.p99",
        known("99th percentile of the queueing delay, ms", 1.0, -1),
    ),
    (
        "queue_delay_ms.max",
        known("largest queueing delay, ms", 1.0, -1),
    ),
    ("equilibrium_s", known("time to share alike, s", 1.0, -1)),
    ("timeouts", known("timeouts", 1.0, -1)),
    ("sent_packets", known("packets sent", 1.0, 0)),
    ("received_packets", known("packets received", 1.0, 0)),
    ("lost_packets", known("packets lost", 1.0, 0)),
    ("retransmitted_packets", known("packets sent again", 1.0, 0)),
    ("sent_mbps", known("sent, Mbit/s", 1.0, 0)),
    ("estimate_mbps", known("bandwidth estimate, Mbit/s", 1.0, 0)),
];

/// Splits `flows.0.jain` into `flows.0.` and `jain`.
fn of_group(name: &str) -> (&str, &str) {
    let end = name
        .strip_prefix("flows.")
        .and_then(|rest| rest.find('.'))
        .map_or(0, |dot| "flows.".len() + dot + 1);
    name.split_at(end)
}

/// A label as a number and what kind of quantity it is. Numbers without a unit are of a kind of
/// their own, so that what is no quantity at all is not mistaken for one.
fn number(label: &str) -> Option<(&'static str, f64)> {
    let plain = || label.parse().ok().map(|v: f64| ("number", v));
    let share = || {
        let share = quantity::probability(label).ok();
        share.map(|v| ("share", v)).filter(|_| label.ends_with('%'))
    };
    let rate = || quantity::rate(label).ok().map(|r| ("rate", r.as_mbps()));
    let time = || {
        quantity::duration_or_zero(label)
            .ok()
            .map(|d| ("time", d.as_millis_f64()))
    };
    let queue = || match queue::parse(label).ok()? {
        QueueLimit::Bdp(n) => Some(("bdp", n)),
        QueueLimit::Packets(n) => Some(("packets", n as f64)),
        QueueLimit::Bytes(b) => Some(("bytes", b.as_f64())),
        QueueLimit::Time(_) | QueueLimit::Unlimited => None,
    };
    let found = plain()
        .or_else(share)
        .or_else(rate)
        .or_else(time)
        .or_else(queue);
    found.filter(|(_, v)| v.is_finite())
}

/// All labels as numbers of one kind, each of them another one.
fn numbers(labels: &[String]) -> Option<Vec<f64>> {
    let parsed: Vec<(&str, f64)> = labels.iter().map(|l| number(l)).collect::<Option<_>>()?;
    let kind = parsed.first()?.0;
    let values: Vec<f64> = parsed.iter().map(|(_, value)| *value).collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let usable = sorted.len() == values.len() && parsed.iter().all(|(k, _)| *k == kind);
    usable.then_some(values)
}

impl Sweep {
    /// The cells of a file.
    #[must_use]
    pub fn new(file: &ScenarioFile, results: &[CellResult]) -> Self {
        let fields = fields(results);
        let names: BTreeSet<&str> = results
            .iter()
            .flat_map(|r| &r.runs)
            .flat_map(|run| run.values.keys().map(String::as_str))
            .collect();
        let values = names
            .iter()
            .map(|name| ((*name).to_string(), column(results, name)))
            .collect();
        Self {
            name: file.name(),
            about: file.content.about.trim().to_string(),
            metrics: metrics(file, &names),
            groups: groups(results, &names),
            controllers: controllers(results, &fields),
            cells: results.iter().map(|r| place(r, &fields)).collect(),
            seeds: results.iter().map(|r| r.runs.len()).collect(),
            failed: failed(results),
            fields,
            values,
            omitted: 0,
        }
    }

    /// Whether there is anything to compare.
    pub(super) fn is_grid(&self) -> bool {
        self.cells.len() > 1
    }

    /// Leaves out what readers want least until there are at most so many numbers.
    pub(super) fn bounded(mut self, numbers: usize) -> Self {
        let count = |s: &Self| s.values.len() * s.cells.len() * 2;
        while count(&self) > numbers && self.metrics.len() > 1 {
            let Some(least) = self.metrics.pop() else {
                break;
            };
            self.values.retain(|name, _| of_group(name).1 != least.key);
            self.omitted += 1;
        }
        self
    }
}

/// Every field with its labels in the order of their cells.
fn fields(results: &[CellResult]) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for (key, label) in results.iter().flat_map(|r| &r.cell.labels) {
        let field = match fields.iter_mut().position(|f| f.key == *key) {
            Some(at) => &mut fields[at],
            None => {
                fields.push(Field {
                    key: key.clone(),
                    labels: Vec::new(),
                    numbers: None,
                });
                let last = fields.len() - 1;
                &mut fields[last]
            }
        };
        if !field.labels.contains(label) {
            field.labels.push(label.clone());
        }
    }
    for field in &mut fields {
        field.numbers = numbers(&field.labels);
    }
    fields
}

/// The index of a cell's label in each field.
fn place(result: &CellResult, fields: &[Field]) -> Vec<usize> {
    let at = |field: &Field| {
        let own = result.cell.labels.iter().find(|(key, _)| *key == field.key);
        own.and_then(|(_, label)| field.labels.iter().position(|l| l == label))
            .unwrap_or(0)
    };
    fields.iter().map(at).collect()
}

/// The field that is called so, or whose labels each go with controllers of their own.
fn controllers(results: &[CellResult], fields: &[Field]) -> Option<usize> {
    let called = |f: &Field| f.key.rsplit('.').next() == Some("controller");
    fields.iter().position(called).or_else(|| {
        fields.iter().enumerate().position(|(n, field)| {
            let pairs: BTreeSet<(usize, &[String])> = results
                .iter()
                .map(|r| (place(r, fields)[n], r.cell.prepared.controllers.as_slice()))
                .collect();
            let kinds: BTreeSet<&[String]> = pairs.iter().map(|(_, c)| *c).collect();
            pairs.len() == field.labels.len() && kinds.len() == pairs.len() && kinds.len() > 1
        })
    })
}

fn failed(results: &[CellResult]) -> Vec<(usize, String)> {
    let of_cell = |(n, r): (usize, &CellResult)| -> Vec<(usize, String)> {
        let text = |f: &FailedRun| format!("seed {}: {}", f.seed, f.reason);
        r.failed.iter().map(|f| (n, text(f))).collect()
    };
    results.iter().enumerate().flat_map(of_cell).collect()
}

fn column(results: &[CellResult], name: &str) -> Column {
    results
        .iter()
        .map(|r| r.value(name))
        .fold(Column::default(), |mut column, value| {
            column.mean.push(value.map(|(mean, _)| short(mean)));
            column
                .half
                .push(value.and_then(|(_, half)| half).map(short));
            column
        })
}

/// The file's own metrics, then the known ones, then all else.
fn metrics(file: &ScenarioFile, names: &BTreeSet<&str>) -> Vec<Metric> {
    let measured: BTreeSet<&str> = names.iter().map(|name| of_group(name).1).collect();
    let first = file.content.metrics.iter().map(|m| of_group(m).1);
    let wanted = first
        .chain(KNOWN.iter().map(|(key, _)| *key))
        .chain(measured.iter().copied());
    let mut metrics: Vec<Metric> = Vec::new();
    for key in wanted.filter(|key| measured.contains(key)) {
        if metrics.iter().all(|m| m.key != key) {
            metrics.push(Metric {
                key: key.to_string(),
                known: KNOWN.iter().find(|(k, _)| *k == key).map(|(_, k)| *k),
            });
        }
    }
    metrics
}

/// All flows together and, where there are several, the groups.
fn groups(results: &[CellResult], names: &BTreeSet<&str>) -> Vec<Group> {
    let mut groups = vec![Group {
        prefix: String::new(),
        name: "all flows together".to_string(),
    }];
    let prefixes: BTreeSet<&str> = names.iter().map(|name| of_group(name).0).collect();
    let prefixes: Vec<&str> = prefixes.into_iter().filter(|p| !p.is_empty()).collect();
    if prefixes.len() < 2 {
        return groups;
    }
    for (n, prefix) in prefixes.iter().enumerate() {
        let mut names = results
            .iter()
            .filter_map(|r| r.cell.prepared.controllers.get(n));
        let first = names.next();
        // A controller that the sweep varies is not the group's name.
        let name = match first {
            Some(name) if names.all(|other| other == name) => format!("group {}: {name}", n + 1),
            _ => format!("group {}", n + 1),
        };
        groups.push(Group {
            prefix: (*prefix).to_string(),
            name,
        });
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|t| (*t).to_string()).collect()
    }

    #[test]
    fn quantities_of_one_kind_stand_on_a_scale() {
        let of = |texts: &[&str]| numbers(&labels(texts));
        assert_eq!(of(&["500kbit", "20mbit"]), Some(vec![0.5, 20.0]));
        assert_eq!(of(&["0.5bdp", "2bdp"]), Some(vec![0.5, 2.0]));
        assert_eq!(of(&["0s", "40ms"]), Some(vec![0.0, 40.0]));
        assert_eq!(of(&["0.1%", "1%"]), Some(vec![0.001, 0.01]));
        assert_eq!(of(&["10p", "50p"]), Some(vec![10.0, 50.0]));
        assert_eq!(of(&["0.5", "2"]), Some(vec![0.5, 2.0]));
        // Not quantities, not of one kind, or the same twice.
        assert_eq!(of(&["bbr", "cubic"]), None);
        assert_eq!(of(&["2bdp", "inf"]), None);
        assert_eq!(of(&["2bdp", "100p"]), None);
        assert_eq!(of(&["1s", "1000ms"]), None);
    }

    #[test]
    fn groups_are_told_from_their_values() {
        assert_eq!(of_group("flows.12.rtt_ms.p95"), ("flows.12.", "rtt_ms.p95"));
        assert_eq!(of_group("rtt_ms.p95"), ("", "rtt_ms.p95"));
        assert_eq!(of_group("flows.x"), ("", "flows.x"));
    }
}
