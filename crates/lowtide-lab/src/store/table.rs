//! The rows of many stores in memory: names and the lists of what was measured are kept once, so that a row
//! takes little more than its numbers.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::row::{Found, Name, Row};
use crate::key::Key;
use crate::metrics::{CATALOGUE, Named, split_group};

/// Rows, each of them once.
#[derive(Debug, Default)]
pub(super) struct Table {
    files: Vec<PathBuf>,
    names: Interned<Name>,
    /// What is measured in a run.
    shapes: Interned<Vec<String>>,
    values: Vec<f64>,
    pub(super) rows: Vec<TableRow>,
    /// Where the first result of each run is.
    runs: HashMap<(Key, Key, u64), usize>,
    /// The rows of runs that have several names.
    seen: HashSet<(usize, u32)>,
    pub(super) duplicates: u64,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableRow {
    pub(super) simulator: Key,
    pub(super) key: Key,
    pub(super) seed: u64,
    name: u32,
    shape: u32,
    first: usize,
    file: u32,
    at: u64,
}

impl Table {
    /// Adds a row, unless it is there.
    ///
    /// # Errors
    /// Where it says something else than another of the same run, in a sentence.
    pub(super) fn add(&mut self, found: Found<'_>, row: Row) -> Result<(), String> {
        let name = self.names.place(row.name);
        let run = (row.simulator, row.key, row.seed);
        let mut place = TableRow {
            simulator: row.simulator,
            key: row.key,
            seed: row.seed,
            name,
            shape: 0,
            first: 0,
            file: self.file(found.file),
            at: found.at,
        };
        let first = match self.runs.entry(run) {
            Entry::Vacant(vacant) => {
                vacant.insert(self.rows.len());
                self.rows.len()
            }
            Entry::Occupied(first) => {
                let first = *first.get();
                let earlier = self.rows[first];
                if let Some(difference) = self.difference(&earlier, &row.values) {
                    return Err(self.contradiction(&earlier, &place, &difference));
                }
                (place.shape, place.first) = (earlier.shape, earlier.first);
                first
            }
        };
        if !self.seen.insert((first, name)) {
            self.duplicates += 1;
            return Ok(());
        }
        if first == self.rows.len() {
            place.first = self.values.len();
            self.values.extend(row.values.values());
            place.shape = self.shapes.place(row.values.into_keys().collect());
        }
        self.rows.push(place);
        Ok(())
    }

    pub(super) fn name(&self, row: &TableRow) -> &Name {
        &self.names.all[row.name as usize]
    }

    /// What is measured in a row's run, by name.
    pub(super) fn shape(&self, row: &TableRow) -> &[String] {
        &self.shapes.all[row.shape as usize]
    }

    /// The values of a row, in the order of its shape.
    pub(super) fn values(&self, row: &TableRow) -> &[f64] {
        &self.values[row.first..][..self.shape(row).len()]
    }

    /// Puts the rows into an order that does not depend on where they came from.
    pub(super) fn sort(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_by(|a, b| {
            let names = self.name(a).cmp(self.name(b));
            let rest = |row: &TableRow| (row.seed, row.simulator, row.key);
            names.then_with(|| rest(a).cmp(&rest(b)))
        });
        self.rows = rows;
    }

    /// The keys of all labels: the case first.
    pub(super) fn labels(&self) -> Vec<String> {
        let names = self.names.all.iter();
        let mut keys: Vec<String> = names.flat_map(|n| n.labels.keys().cloned()).collect();
        keys.sort_by(|a, b| (a != "case", a).cmp(&(b != "case", b)));
        keys.dedup();
        keys
    }

    /// The names of all that was measured.
    pub(super) fn measured(&self) -> Vec<String> {
        let mut names: Vec<String> = self.shapes.all.iter().flatten().cloned().collect();
        names.sort();
        names.dedup();
        in_order(names)
    }

    fn file(&mut self, path: &Path) -> u32 {
        if self.files.last().is_none_or(|last| last != path) {
            self.files.push(path.to_path_buf());
        }
        (self.files.len() - 1) as u32
    }

    /// The first value that differs.
    fn difference(&self, earlier: &TableRow, values: &Named) -> Option<String> {
        let known = self.shape(earlier).iter().zip(self.values(earlier));
        let known: Named = known.map(|(name, value)| (name.clone(), *value)).collect();
        let names = known.keys().chain(values.keys());
        let bits = |of: &Named, name: &str| of.get(name).map(|value| value.to_bits());
        let mut differing = names.filter(|name| bits(&known, name) != bits(values, name));
        let name = differing.next()?;
        let shown = |of: &Named| of.get(name).map_or("nothing".to_string(), f64::to_string);
        Some(format!("{name} is {} and {}", shown(&known), shown(values)))
    }

    fn contradiction(&self, one: &TableRow, other: &TableRow, difference: &str) -> String {
        let name = self.name(one);
        let labels: Vec<&str> = name.labels.values().map(String::as_str).collect();
        let place = |p: &TableRow| format!("{}:{}", self.files[p.file as usize].display(), p.at);
        format!(
            "two results of one run ({}: {}, seed {}) are not the same: {difference}, in {} and {}; the same \
             simulator gives the same on every machine, so that one of them is wrong: run it again to see \
             which, and leave out the other's file",
            name.scenario,
            labels.join(", "),
            one.seed,
            place(one),
            place(other),
        )
    }
}

/// Names of values as columns have them: of all flows together, in the order of the catalogue, then of each
/// group.
#[must_use]
pub fn in_order(mut names: Vec<String>) -> Vec<String> {
    names.sort_by_cached_key(|name| {
        let (group, key) = split_group(name);
        let place = CATALOGUE.iter().position(|metric| metric.key == key);
        (group, place.unwrap_or(CATALOGUE.len()), name.clone())
    });
    names
}

/// Values that are kept once, by their number.
#[derive(Debug)]
struct Interned<T> {
    all: Vec<T>,
    places: HashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn place(&mut self, value: T) -> u32 {
        if let Some(place) = self.places.get(&value) {
            return *place;
        }
        let place = self.all.len() as u32;
        self.all.push(value.clone());
        self.places.insert(value, place);
        place
    }
}
