//! A file's cells: every case with every value of the sweep.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use lowtide_sim::link::Link;

use super::error::FileError;
use super::prepare::{Prepared, Problem};
use super::sections::Setting;
use super::{Case, ScenarioFile};
use crate::experiment::key::Key;

/// The most cells of one file.
pub const MAX_CELLS: usize = 100_000;

/// The sections of a file that make a simulation.
const SIMULATED: [&str; 4] = ["link", "path", "run", "flows"];

/// One simulation of a file, still to be run with each seed.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its case and its values, each with the key that it is a value of (`case` for a case).
    pub labels: Vec<(String, String)>,
    /// What is simulated.
    pub prepared: Prepared,
    /// All of what is simulated but the seed.
    pub key: Key,
}

impl Cell {
    /// For people.
    #[must_use]
    pub fn name(&self) -> String {
        let labels: Vec<&str> = self
            .labels
            .iter()
            .map(|(_, label)| label.as_str())
            .collect();
        labels.join(", ")
    }

    /// Whether one of its labels is `wanted`, alone or as `key=label` with the last part of the
    /// key.
    #[must_use]
    pub fn has(&self, wanted: &str) -> bool {
        self.labels.iter().any(|(key, label)| {
            label == wanted
                || wanted.split_once('=').is_some_and(|(k, l)| {
                    l == label && (k == key || key.rsplit('.').next() == Some(k))
                })
        })
    }
}

/// Traces that were read, so that no file is read twice.
#[derive(Debug, Default)]
pub(super) struct Traces {
    pub(super) read: HashMap<(PathBuf, u64), (Arc<Link>, Key)>,
}

/// A value that a case or the sweep puts at a key, and where the file says so.
struct Override<'a> {
    key: &'a str,
    value: &'a toml::Value,
    said_at: Vec<String>,
}

impl ScenarioFile {
    /// All cells in the order of the cases, then of the sweep's keys in the file.
    ///
    /// # Errors
    /// When a value makes no sense, or there are too many cells.
    pub fn cells(&self) -> Result<Vec<Cell>, FileError> {
        let mut traces = Traces::default();
        let plain = [None];
        let cases: Vec<Option<(usize, &Case)>> = match self.content.cases.as_slice() {
            [] => plain.to_vec(),
            some => some.iter().enumerate().map(Some).collect(),
        };
        let mut axes: Vec<&String> = self.content.sweep.keys().collect();
        axes.sort_by_key(|key| {
            let quoted = format!("\"{key}\"");
            let text = &self.source.text;
            text.find(&quoted).or_else(|| text.find(key.as_str()))
        });
        let mut count = cases.len();
        for key in &axes {
            let values = self.content.sweep[*key].len();
            if values == 0 {
                let problem = "an empty list leaves nothing to run".to_string();
                return Err(self.error_at(&["sweep", key], problem));
            }
            count = count.saturating_mul(values);
            if count > MAX_CELLS {
                let problem = format!("this makes {count} cells; the most is {MAX_CELLS}");
                return Err(self.error_at(&["sweep", key], problem));
            }
        }
        let mut cells = Vec::with_capacity(count);
        for case in cases {
            for n in 0..count / self.content.cases.len().max(1) {
                let mut labels = Vec::new();
                let mut overrides: Vec<Override<'_>> = self
                    .fixed
                    .iter()
                    .map(|(key, value)| Override {
                        key,
                        value,
                        said_at: key.split('.').map(str::to_string).collect(),
                    })
                    .collect();
                if let Some((index, case)) = case {
                    labels.push(("case".to_string(), case.name.clone()));
                    overrides.extend(case.set.iter().map(|(key, value)| {
                        Override {
                            key,
                            value,
                            said_at: ["cases", &index.to_string(), "set", key]
                                .map(str::to_string)
                                .to_vec(),
                        }
                    }));
                }
                // The last key changes fastest.
                let mut rest = n;
                let mut chosen = Vec::new();
                for key in axes.iter().rev() {
                    let values = &self.content.sweep[*key];
                    chosen.push((*key, rest % values.len()));
                    rest /= values.len();
                }
                for (key, at) in chosen.into_iter().rev() {
                    let value = &self.content.sweep[key][at];
                    let label = match value {
                        toml::Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    labels.push((key.clone(), label));
                    overrides.push(Override {
                        key,
                        value,
                        said_at: vec!["sweep".into(), key.clone(), at.to_string()],
                    });
                }
                cells.push(self.cell(labels, &overrides, &mut traces)?);
            }
        }
        Ok(cells)
    }

    fn cell(
        &self,
        labels: Vec<(String, String)>,
        overrides: &[Override<'_>],
        traces: &mut Traces,
    ) -> Result<Cell, FileError> {
        let mut table: toml::Table = self
            .table
            .iter()
            .filter(|(key, _)| SIMULATED.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let said_at = |o: &Override<'_>, problem| {
            let path: Vec<&str> = o.said_at.iter().map(String::as_str).collect();
            self.error_at(&path, problem)
        };
        let mut setting: Setting = table
            .clone()
            .try_into()
            .map_err(|e: toml::de::Error| self.error_at(&[], e.message().to_string()))?;
        for o in overrides {
            let first = o.key.split('.').next().unwrap_or_default();
            if !SIMULATED.contains(&first) {
                let problem = format!(
                    "'{}' cannot be varied: keys begin with one of {}",
                    o.key,
                    SIMULATED.join(", ")
                );
                return Err(said_at(o, problem));
            }
            let path: Vec<&str> = o.key.split('.').collect();
            put(&mut table, &path, o.value).map_err(|problem| said_at(o, problem))?;
            setting = table
                .clone()
                .try_into()
                .map_err(|e: toml::de::Error| said_at(o, e.message().trim().replace('\n', " ")))?;
        }
        let (prepared, trace_key) =
            Prepared::new(&setting, &self.source, traces).map_err(|Problem { at, problem }| {
                // What a case or the sweep said is wrong there.
                let same = |o: &&Override<'_>| {
                    let plain = |key: &str| {
                        let parts = key.split('.').filter(|p| p.parse::<usize>().is_err());
                        parts.map(str::to_string).collect::<Vec<_>>()
                    };
                    let (at, said) = (plain(&at), plain(o.key));
                    at.starts_with(&said) || said.starts_with(&at)
                };
                match overrides.iter().rfind(same) {
                    Some(o) => said_at(o, problem),
                    None => {
                        let path: Vec<&str> = at.split('.').collect();
                        self.error_at(&path, problem)
                    }
                }
            })?;
        if let Some(toml::Value::Table(run)) = table.get_mut("run") {
            // Neither changes what happens in a run.
            run.remove("seeds");
            run.remove("first_seed");
        }
        let key = Key::of(&[table.to_string().as_bytes(), trace_key.as_bytes()]);
        Ok(Cell {
            labels,
            prepared,
            key,
        })
    }
}

/// Puts a value at a path; a name where there is a list goes into each of its items.
fn put(table: &mut toml::Table, path: &[&str], value: &toml::Value) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        return Err("a key is missing".to_string());
    };
    if rest.is_empty() {
        table.insert((*first).to_string(), value.clone());
        return Ok(());
    }
    let inner = table
        .entry((*first).to_string())
        .or_insert_with(|| toml::Value::Table(toml::Table::new()));
    match inner {
        toml::Value::Table(inner) => put(inner, rest, value),
        toml::Value::Array(items) => {
            let (which, rest) = match rest[0].parse::<usize>() {
                Ok(n) => (Some(n), &rest[1..]),
                Err(_) => (None, rest),
            };
            let count = items.len();
            let mut done = false;
            for (n, item) in items.iter_mut().enumerate() {
                if which.is_none_or(|which| which == n) {
                    let toml::Value::Table(item) = item else {
                        return Err(format!("'{first}' is no list of tables"));
                    };
                    put(item, rest, value)?;
                    done = true;
                }
            }
            match (done, which) {
                (true, _) => Ok(()),
                (false, Some(n)) => Err(format!(
                    "there is no '{first}.{n}': they are {count}, counted from 0"
                )),
                (false, None) => Err(format!("there is no '[[{first}]]'")),
            }
        }
        _ => Err(format!("'{first}' has no keys")),
    }
}
