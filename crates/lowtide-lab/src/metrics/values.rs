//! The values of all metrics, for one flow or several together.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::catalogue::{CATALOGUE, COUNT, Definition, Metric, Of};
use super::totals::{Group, Totals};
use crate::statistics::mean;

/// One value for each metric of the [catalogue](CATALOGUE). What does not exist is NaN, `null` in
/// JSON.
///
/// `metrics["rtt_ms.p95"]` is the value of a metric; [`Self::get`] is for names that may be wrong.
#[derive(Clone, Copy)]
pub struct Metrics([f64; COUNT]);

impl Metrics {
    /// The metrics of what was seen.
    pub(super) fn of_totals(totals: &Totals<'_>) -> Self {
        Self::of(|metric| match metric.get {
            Definition::Flows(get) | Definition::Run(get) => get(totals),
            Definition::Group(_) => f64::NAN,
        })
    }

    /// The metrics of a group with these flows.
    pub(super) fn of_group(group: &Group, flows: &[Self]) -> Self {
        let means = Self::combine(flows, mean);
        Self::of(|metric| match metric.get {
            Definition::Group(get) => get(group),
            Definition::Flows(_) | Definition::Run(_) => means[metric.key],
        })
    }

    /// Each metric's value.
    pub(super) fn of(value: impl Fn(&Metric) -> f64) -> Self {
        Self(std::array::from_fn(|n| value(&CATALOGUE[n])))
    }

    fn place(key: &str) -> Option<usize> {
        CATALOGUE.iter().position(|metric| metric.key == key)
    }

    /// The value of the metric that is called so; `None` where there is no such metric, or it has
    /// no value.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<f64> {
        let value = self.0[Self::place(key)?];
        value.is_finite().then_some(value)
    }

    /// Sets the value of one metric. An unknown key changes nothing.
    #[must_use]
    pub fn with(mut self, key: &str, value: f64) -> Self {
        if let Some(n) = Self::place(key) {
            self.0[n] = value;
        }
        self
    }

    /// Drops the values of these metrics.
    pub(crate) fn without(self, keys: &[&str]) -> Self {
        keys.iter().fold(self, |m, key| m.with(key, f64::NAN))
    }

    /// Metrics and their values, in the order of the catalogue.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Metric, f64)> + '_ {
        CATALOGUE.iter().zip(self.0)
    }

    /// The metrics that a single flow can have; comparisons show these.
    pub fn of_flows(&self) -> impl Iterator<Item = (&'static Metric, f64)> + '_ {
        self.iter().filter(|(metric, _)| metric.of == Of::Flows)
    }

    /// Applies `f` to each metric's values in all `samples`: means, intervals.
    #[must_use]
    pub fn combine(samples: &[Self], f: impl Fn(&[f64]) -> f64) -> Self {
        let values = |n: usize| samples.iter().map(|m| m.0[n]).collect::<Vec<f64>>();
        Self(std::array::from_fn(|n| f(&values(n))))
    }
}

impl Index<&str> for Metrics {
    type Output = f64;

    /// # Panics
    /// When no metric is called so.
    fn index(&self, key: &str) -> &f64 {
        match Self::place(key) {
            Some(n) => &self.0[n],
            None => panic!("no metric is called '{key}'"),
        }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(metric, value)| (metric.key, value)))
            .finish()
    }
}

/// Two values that do not exist are equal.
impl PartialEq for Metrics {
    fn eq(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        pairs
            .into_iter()
            .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
    }
}

/// Serialises as an object of those metrics that a single flow can have; what stands before a dot
/// is the name of an object within.
impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let values: Vec<(&'static str, f64)> =
            self.of_flows().map(|(m, value)| (m.key, value)).collect();
        let outer = |value: &(&'static str, f64)| value.0.split_once('.').map(|(outer, _)| outer);
        for chunk in values.chunk_by(|a, b| outer(a).is_some() && outer(a) == outer(b)) {
            match outer(&chunk[0]) {
                None => map.serialize_entry(chunk[0].0, &chunk[0].1)?,
                Some(outer) => map.serialize_entry(outer, &Inner(chunk))?,
            }
        }
        map.end()
    }
}

/// The metrics of one inner object.
struct Inner<'a>(&'a [(&'static str, f64)]);

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let inner = self.0.iter().map(|(key, value)| {
            let name = key.split_once('.').map_or(*key, |(_, name)| name);
            (name, value)
        });
        serializer.collect_map(inner)
    }
}

/// Values by name, as they are stored and as claims call them: `rtt_ms.p95` of all flows together,
/// `flows.0.rtt_ms.p95` of the first group. What does not exist is missing.
pub type Named = BTreeMap<String, f64>;

/// What was measured in a run. As serde's data metrics have all their values, in the order of the
/// catalogue, bit by bit: for a reader of the same version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Whole", try_from = "Whole")]
pub struct Measured {
    /// All flows together.
    pub total: Metrics,
    /// Each group of flows: the mean of its flows.
    pub groups: Vec<Metrics>,
    /// Each flow; none where the values come from an earlier run.
    pub flows: Vec<Metrics>,
    /// What was measured besides, by its [name](crate::measure).
    pub extra: Named,
}

/// What was measured, with metrics as lists of all their values.
#[derive(Serialize, Deserialize)]
struct Whole {
    total: Vec<f64>,
    groups: Vec<Vec<f64>>,
    flows: Vec<Vec<f64>>,
    extra: Named,
}

impl From<Measured> for Whole {
    fn from(measured: Measured) -> Self {
        let lists = |all: Vec<Metrics>| all.into_iter().map(|m| m.0.to_vec()).collect();
        Self {
            total: measured.total.0.to_vec(),
            groups: lists(measured.groups),
            flows: lists(measured.flows),
            extra: measured.extra,
        }
    }
}

impl TryFrom<Whole> for Measured {
    type Error = String;

    fn try_from(whole: Whole) -> Result<Self, String> {
        let metrics = |values: Vec<f64>| {
            let values = <[f64; COUNT]>::try_from(values);
            values
                .map_err(|v| format!("{} metrics instead of {COUNT}", v.len()))
                .map(Metrics)
        };
        let all = |lists: Vec<_>| lists.into_iter().map(metrics).collect::<Result<_, _>>();
        Ok(Self {
            total: metrics(whole.total)?,
            groups: all(whole.groups)?,
            flows: all(whole.flows)?,
            extra: whole.extra,
        })
    }
}

/// The name of a value as a column of a table: `rtt_ms_p95`. A dot in a column's name would have to be quoted in SQL, and
/// is a nested field to Spark.
#[must_use]
pub fn column_name(name: &str) -> String {
    name.replace('.', "_")
}

/// Splits `flows.0.jain` into the group 0 and `jain`.
#[must_use]
pub fn split_group(name: &str) -> (Option<usize>, &str) {
    let group = || {
        let (group, key) = name.strip_prefix("flows.")?.split_once('.')?;
        Some((group.parse().ok()?, key))
    };
    match group() {
        Some((group, key)) => (Some(group), key),
        None => (None, name),
    }
}

impl Measured {
    /// Drops the values of these metrics, of flows, groups and the run.
    pub(crate) fn without(self, keys: &[&str]) -> Self {
        let known = |all: Vec<Metrics>| all.into_iter().map(|m| m.without(keys)).collect();
        Self {
            total: self.total.without(keys),
            groups: known(self.groups),
            flows: known(self.flows),
            extra: self.extra,
        }
    }

    /// The value that is called so, if it exists.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        match split_group(name) {
            (None, key) => self.total.get(key).or_else(|| self.extra.get(key).copied()),
            (Some(group), key) => self.groups.get(group)?.get(key),
        }
    }

    /// All values that exist.
    #[must_use]
    pub fn named(&self) -> Named {
        let of = |prefix: String, metrics: &Metrics| -> Vec<(String, f64)> {
            let finite = metrics.iter().filter(|(_, value)| value.is_finite());
            finite
                .map(|(metric, value)| (format!("{prefix}{}", metric.key), value))
                .collect()
        };
        let mut named = Named::from_iter(of(String::new(), &self.total));
        named.extend(self.extra.clone());
        for (n, group) in self.groups.iter().enumerate() {
            named.extend(of(format!("flows.{n}."), group));
        }
        named
    }

    /// What [`Self::named`] gave, but for the single flows.
    #[must_use]
    pub fn from_named(named: &Named) -> Self {
        let groups = named.keys().filter_map(|name| split_group(name).0);
        let count = groups.max().map_or(0, |last| last + 1);
        let get = |name: String| named.get(&name).copied().unwrap_or(f64::NAN);
        Self {
            total: Metrics::of(|m| get(m.key.to_string())),
            groups: (0..count.min(named.len()))
                .map(|n| Metrics::of(|m| get(format!("flows.{n}.{}", m.key))))
                .collect(),
            flows: Vec::new(),
            extra: named
                .iter()
                .filter(|(name, _)| Metric::of_key(split_group(name).1).is_none())
                .map(|(name, value)| (name.clone(), *value))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_told_from_names() {
        assert_eq!(split_group("flows.12.rtt_ms.p95"), (Some(12), "rtt_ms.p95"));
        assert_eq!(split_group("rtt_ms.p95"), (None, "rtt_ms.p95"));
        assert_eq!(split_group("flows.x"), (None, "flows.x"));
    }

    #[test]
    fn what_was_stored_under_its_names_comes_back() {
        let some = Metrics::of(|metric| metric.key.len() as f64).with("jain", f64::NAN);
        let measured = Measured {
            total: some,
            groups: vec![some.with("share", 0.25), some],
            flows: Vec::new(),
            extra: Named::from([("recovery_s".to_string(), 1.5)]),
        };
        let named = measured.named();
        assert_eq!(named["flows.0.share"], 0.25);
        assert!(!named.contains_key("jain"));
        assert_eq!(Measured::from_named(&named), measured);
        assert_eq!(measured.get("flows.0.share"), Some(0.25));
        assert_eq!(measured.get("flows.2.share"), None);
        assert_eq!(measured.get("nonsense"), None);
    }
}
