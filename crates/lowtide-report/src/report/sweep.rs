//! A grid of cells as the report's view of sweeps reads it.

use std::collections::{BTreeMap, BTreeSet};

use lowtide_cc::units::quantity;
use lowtide_lab::curves::short;
use lowtide_lab::experiment::CellResult;
use lowtide_lab::metrics::{Better, CATALOGUE, Metric, split_group};
use lowtide_lab::run::FailedRun;
use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_sim::queue::{self, QueueLimit};
use serde::Serialize;

/// Numbers of all sweeps of one report, some seven bytes each.
pub(super) const MAX_NUMBERS: usize = 450_000;

/// A scenario file's cells with everything that was measured in them.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    name: String,
    about: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) metrics: Vec<Choice>,
    pub(crate) groups: Vec<Group>,
    /// The group whose values the file asks for first.
    group: usize,
    /// The field that tells the controllers apart.
    pub(crate) controllers: Option<usize>,
    /// Per cell, the index of its label in each field.
    pub(crate) cells: Vec<Vec<usize>>,
    /// Per cell, the runs that came to their end.
    seeds: Vec<usize>,
    /// Runs that did not: cell, what went wrong.
    failed: Vec<(usize, String)>,
    /// By the value's name.
    pub(crate) values: BTreeMap<String, Column>,
    /// How many values there was no room for.
    omitted: usize,
}

/// A key whose values differ, or `case`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) labels: Vec<String>,
    /// The labels as numbers, where all are quantities of one kind.
    pub(crate) numbers: Option<Vec<f64>>,
    /// The unit of the numbers.
    pub(crate) unit: Option<&'static str>,
}

/// A value that a reader can choose.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Choice {
    pub(crate) key: &'static str,
    pub(crate) label: String,
    pub(crate) factor: f64,
    /// 1: more is better; −1: less; 0: neither.
    better: i8,
}

impl Choice {
    fn of(metric: &Metric) -> Self {
        Self {
            key: metric.key,
            label: metric.title(),
            factor: metric.factor,
            better: match metric.better {
                Better::More => 1,
                Better::Less => -1,
                Better::Neither => 0,
            },
        }
    }
}

/// All flows, or a group of them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Group {
    /// What its values' names begin with.
    pub(crate) prefix: String,
    pub(crate) name: String,
}

/// One value of each cell: mean over the seeds and half the width of its 95 % interval.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Column {
    pub(crate) mean: Vec<Option<f64>>,
    pub(crate) half: Vec<Option<f64>>,
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
fn numbers(labels: &[String]) -> Option<(Vec<f64>, Option<&'static str>)> {
    let parsed: Vec<(&str, f64)> = labels.iter().map(|l| number(l)).collect::<Option<_>>()?;
    let kind = parsed.first()?.0;
    let values: Vec<f64> = parsed.iter().map(|(_, value)| *value).collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let usable = sorted.len() == values.len() && parsed.iter().all(|(k, _)| *k == kind);
    let unit = match kind {
        "rate" => Some("Mbit/s"),
        "time" => Some("ms"),
        "bdp" => Some("BDP"),
        "packets" => Some("packets"),
        "bytes" => Some("bytes"),
        _ => None,
    };
    usable.then_some((values, unit))
}

impl Sweep {
    /// The cells of a file.
    #[must_use]
    pub fn new(file: &ScenarioFile, results: &[CellResult]) -> Self {
        let fields = fields(results);
        let names: BTreeSet<String> = results.iter().flat_map(CellResult::names).collect();
        let values = names
            .iter()
            .map(|name| (name.clone(), column(results, name)))
            .collect();
        Self {
            name: file.name(),
            about: file.content.about.trim().to_string(),
            metrics: metrics(file, &names),
            group: asked_group(file, &names),
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
    pub(crate) fn is_grid(&self) -> bool {
        self.cells.len() > 1
    }

    /// Leaves out what matters least to readers until at most this many numbers remain.
    pub(super) fn bounded(mut self, numbers: usize) -> Self {
        let count = |s: &Self| s.values.len() * s.cells.len() * 2;
        while count(&self) > numbers && self.metrics.len() > 1 {
            let Some(least) = self.metrics.pop() else {
                break;
            };
            self.values
                .retain(|name, _| split_group(name).1 != least.key);
            self.omitted += 1;
        }
        self
    }
}

/// Every field with its labels in the order of their cells.
fn fields(results: &[CellResult]) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for (key, label) in results.iter().flat_map(|r| &r.cell.labels) {
        let known = fields.iter().position(|f| f.key == *key);
        let at = known.unwrap_or_else(|| {
            fields.push(Field {
                key: key.clone(),
                labels: Vec::new(),
                numbers: None,
                unit: None,
            });
            fields.len() - 1
        });
        let labels = &mut fields[at].labels;
        if !labels.contains(label) {
            labels.push(label.clone());
        }
    }
    for field in &mut fields {
        if let Some((numbers, unit)) = numbers(&field.labels) {
            field.numbers = Some(numbers);
            field.unit = unit;
        }
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
            let pairs: BTreeSet<(usize, Vec<&str>)> = results
                .iter()
                .map(|r| (place(r, fields)[n], r.cell.setting.controllers()))
                .collect();
            let kinds: BTreeSet<&Vec<&str>> = pairs.iter().map(|(_, c)| c).collect();
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
    let values = results.iter().map(|r| r.value(name));
    let values = values.map(|value| match value {
        Some((mean, half)) => (Some(short(mean)), half.map(short)),
        None => (None, None),
    });
    let (mean, half) = values.unzip();
    Column { mean, half }
}

/// The file's own metrics, then all others that were measured, those first that readers want first.
fn metrics(file: &ScenarioFile, names: &BTreeSet<String>) -> Vec<Choice> {
    let own = file.content.metrics.iter();
    let own = own.filter_map(|name| Metric::of_key(split_group(name).1));
    let mut others: Vec<&Metric> = CATALOGUE.iter().collect();
    others.sort_by_key(|metric| metric.rank);
    let measured: BTreeSet<&str> = names.iter().map(|name| split_group(name).1).collect();
    let mut metrics: Vec<Choice> = Vec::new();
    for metric in own.chain(others).filter(|m| measured.contains(m.key)) {
        if metrics.iter().all(|known| known.key != metric.key) {
            metrics.push(Choice::of(metric));
        }
    }
    metrics
}

/// Where the first metric that the file asks for is a group's, or is of groups only: its place in
/// [`groups`].
fn asked_group(file: &ScenarioFile, names: &BTreeSet<String>) -> usize {
    let Some(first) = file.content.metrics.first() else {
        return 0;
    };
    match split_group(first).0 {
        Some(group) => group + 1,
        None => usize::from(!names.contains(first) && names.contains(&format!("flows.0.{first}"))),
    }
}

/// All flows together and, where there are several, the groups.
fn groups(results: &[CellResult], names: &BTreeSet<String>) -> Vec<Group> {
    let mut groups = vec![Group {
        prefix: String::new(),
        name: "all flows together".to_string(),
    }];
    let numbers: BTreeSet<usize> = names.iter().filter_map(|n| split_group(n).0).collect();
    if numbers.len() < 2 {
        return groups;
    }
    for n in numbers {
        let mut names = results
            .iter()
            .filter_map(|r| r.cell.setting.controllers().get(n).copied());
        let first = names.next();
        // A controller that the sweep varies is not the group's name.
        let name = match first {
            Some(name) if names.all(|other| other == name) => format!("group {}: {name}", n + 1),
            _ => format!("group {}", n + 1),
        };
        groups.push(Group {
            prefix: format!("flows.{n}."),
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
        let of = |texts: &[&str]| numbers(&labels(texts)).map(|(values, _)| values);
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
}
