//! A file's cells: every case with every value of the sweep.

use std::collections::BTreeSet;
use std::sync::Arc;

use lowtide_cc::registry::nearest;

use super::error::{FileError, Position, short};
use super::{CANDIDATE, Case, ScenarioFile};
use crate::contender::Contenders;
use crate::key::Key;
use crate::metrics::{CATALOGUE, Metric, split_group};
use crate::setting::{
    Host, Problem, Refused, Resolver, SECTIONS, Sections, Setting, keys_of, put, read,
};

/// The most cells of one file.
pub const MAX_CELLS: usize = 100_000;

/// The most that all cells of a file may say together, in bytes of text: what they take of memory is
/// a small multiple of it.
const MAX_TEXT: usize = 512 << 20;

/// The most results of one file: each flow, each group and the sum of them in each run.
const MAX_RESULTS: u64 = 5_000_000;

/// The most keys that a cell puts values at.
const MAX_KEYS: usize = 100;

/// The most parts of a key; `flows.0.access.sender_rate` has four.
const MAX_KEY_PARTS: usize = 8;

/// One simulation of a file, still to be run with each seed.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The name of its file.
    pub scenario: Arc<str>,
    /// Its case and its values, each with the key that it is a value of (`case` for a case).
    pub labels: Vec<(String, String)>,
    /// What is simulated.
    pub setting: Setting,
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

    /// The controllers of its flows, in the order of the groups: `rbbr`, `rbbr + cubic`.
    #[must_use]
    pub fn controllers(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for group in self.setting.groups.iter().filter(|g| g.web.is_none()) {
            if !names.contains(&group.contender.name()) {
                names.push(group.contender.name());
            }
        }
        names.join(" + ")
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

/// A value that a case or the sweep puts at a key, and where the file says so; `None` where it does
/// not.
struct Override<'a> {
    key: &'a str,
    value: &'a toml::Value,
    said_at: Option<Vec<String>>,
}

impl Override<'_> {
    /// Whether it puts the value at a key, or at one above or below it; numbers of list items left
    /// aside.
    fn is_about(&self, key: &str) -> bool {
        let plain = |key: &str| -> Vec<String> {
            let parts = key.split('.').filter(|p| p.parse::<usize>().is_err());
            parts.map(str::to_string).collect()
        };
        let (at, said) = (plain(key), plain(self.key));
        at.starts_with(&said) || said.starts_with(&at)
    }
}

/// A file's cells, each made when it is asked for.
#[derive(Debug)]
pub struct Grid<'a> {
    file: &'a ScenarioFile,
    scenario: Arc<str>,
    axes: Vec<&'a String>,
    cells_of_a_case: usize,
}

impl Grid<'_> {
    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells_of_a_case * self.file.content.cases.len().max(1)
    }

    /// Whether there are none, which no file can say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The n-th cell, and how many bytes of text it says.
    ///
    /// # Errors
    /// When a value makes no sense.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn resolve(&self, n: usize, resolver: &mut Resolver) -> Result<(Cell, usize), FileError> {
        assert!(n < self.len(), "there are {} cells", self.len());
        let file = self.file;
        let mut labels = Vec::new();
        let mut overrides = file.fixed_overrides();
        let index = n / self.cells_of_a_case;
        if let Some(case) = file.content.cases.get(index) {
            labels.push(("case".to_string(), case.name.clone()));
            overrides.extend(overrides_of_case(index, case));
        }
        for (key, at) in file.choice(&self.axes, n % self.cells_of_a_case) {
            let value = &file.content.sweep[key][at];
            let label = match value {
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            labels.push((key.clone(), label));
            overrides.push(Override {
                key,
                value,
                said_at: (!file.varied.contains(key))
                    .then(|| vec!["sweep".into(), key.clone(), at.to_string()]),
            });
        }
        file.cell(self.scenario.clone(), labels, &overrides, resolver)
    }
}

impl ScenarioFile {
    /// All cells in the order of the cases, then of the sweep's keys in the file; `contenders` are
    /// those whom its flows may name.
    ///
    /// # Errors
    /// When a value makes no sense, or there are too many cells.
    pub fn cells(&self, contenders: &Contenders) -> Result<Vec<Cell>, FileError> {
        self.cells_by(&mut self.resolver(contenders))
    }

    /// The cells of the file, by a [resolver](Self::resolver) that somebody keeps.
    ///
    /// # Errors
    /// As [`Self::cells`].
    pub fn cells_by(&self, resolver: &mut Resolver) -> Result<Vec<Cell>, FileError> {
        let grid = self.grid()?;
        let mut cells = Vec::with_capacity(grid.len());
        let (mut text, mut results) = (0, 0_u64);
        for n in 0..grid.len() {
            let (cell, said) = grid.resolve(n, resolver)?;
            text += said;
            if text > MAX_TEXT {
                let problem = format!(
                    "its cells together say more than {} MiB: vary less, or write less into \
                     each of them",
                    MAX_TEXT >> 20
                );
                return Err(self.error_of_file(problem));
            }
            results += count_results(&cell.setting);
            if results > MAX_RESULTS {
                let problem = format!(
                    "its cells, seeds and flows make more than {MAX_RESULTS} results: take \
                     fewer of one of them"
                );
                return Err(self.error_of_file(problem));
            }
            cells.push(cell);
        }
        self.check_metrics(&cells)?;
        Ok(cells)
    }

    /// What resolves the names in this file.
    #[must_use]
    pub fn resolver(&self, contenders: &Contenders) -> Resolver {
        Resolver::new(contenders, self.source.folder()).with_links(&self.links)
    }

    /// The cells as a list of which each is made when it is asked for: a worker that makes few of
    /// them need not know all.
    ///
    /// # Errors
    /// When there are too many cells or keys.
    pub fn grid(&self) -> Result<Grid<'_>, FileError> {
        let cases = &self.content.cases;
        let of_a_case = cases.iter().map(|case| case.set.len()).max();
        if self.content.sweep.len() + of_a_case.unwrap_or(0) > MAX_KEYS {
            let problem = format!("no cell may have values for more than {MAX_KEYS} keys");
            return Err(self.error_of_file(problem));
        }
        let axes = self.axes();
        let cells_of_a_case = self.count_of_a_case(&axes, cases.len().max(1))?;
        Ok(Grid {
            file: self,
            scenario: self.name().into(),
            axes,
            cells_of_a_case,
        })
    }

    /// Whether all metrics that the file wants to be shown can be measured in some cell.
    fn check_metrics(&self, cells: &[Cell]) -> Result<(), FileError> {
        let groups = cells.iter().map(|cell| cell.setting.groups.len());
        let groups = groups.max().unwrap_or(0);
        for (n, name) in self.content.metrics.iter().enumerate() {
            let (group, key) = split_group(name);
            if Metric::of_key(key).is_none() || group.is_some_and(|group| group >= groups) {
                let known: Vec<&str> = CATALOGUE.iter().map(|metric| metric.key).collect();
                let problem = format!(
                    "nothing is called '{name}'; known are {}, of a group as in flows.0.{}",
                    known.join(", "),
                    known[0]
                );
                return Err(self.error_at(&["metrics", &n.to_string()], problem));
            }
        }
        Ok(())
    }

    /// The sweep's keys in the order of the file.
    fn axes(&self) -> Vec<&String> {
        let mut axes: Vec<&String> = self.content.sweep.keys().collect();
        axes.sort_by_key(|key| {
            let quoted = format!("\"{key}\"");
            let text = &self.source.text;
            text.find(&quoted).or_else(|| text.find(key.as_str()))
        });
        axes
    }

    /// How many cells each case has.
    fn count_of_a_case(&self, axes: &[&String], cases: usize) -> Result<usize, FileError> {
        let too_many =
            |all: usize| format!("this makes {all} cells; the most is {MAX_CELLS}: leave some out");
        if cases > MAX_CELLS {
            return Err(self.error_at(&["cases", &MAX_CELLS.to_string()], too_many(cases)));
        }
        let mut count = 1_usize;
        for key in axes {
            let values = self.content.sweep[*key].len();
            if values == 0 {
                let problem = "an empty list leaves nothing to run".to_string();
                return Err(self.error_of_axis(key, problem));
            }
            count = count.saturating_mul(values);
            let all = count.saturating_mul(cases);
            if all > MAX_CELLS {
                return Err(self.error_of_axis(key, too_many(all)));
            }
        }
        Ok(count)
    }

    fn error_of_axis(&self, key: &str, problem: String) -> FileError {
        if self.varied.contains(key) {
            return error_of_varied(key, problem);
        }
        self.error_at(&["sweep", key], problem)
    }

    fn error_of_file(&self, problem: String) -> FileError {
        if self.source.is_values {
            return self.error_at(&[], problem);
        }
        FileError {
            position: Position::File(self.path().to_path_buf()),
            key: String::new(),
            problem,
        }
    }

    /// Each key's value, by its place, in the n-th cell of a case; the last key changes fastest.
    fn choice<'a>(&self, axes: &[&'a String], n: usize) -> Vec<(&'a String, usize)> {
        let mut rest = n;
        let mut chosen = Vec::with_capacity(axes.len());
        for key in axes.iter().rev() {
            let values = &self.content.sweep[*key];
            chosen.push((*key, rest % values.len()));
            rest /= values.len();
        }
        chosen.reverse();
        chosen
    }

    fn fixed_overrides(&self) -> Vec<Override<'_>> {
        let fixed = self.fixed.iter().map(|(key, value)| Override {
            key,
            value,
            said_at: None,
        });
        fixed.collect()
    }

    /// A cell, and how many bytes of text it says.
    fn cell(
        &self,
        scenario: Arc<str>,
        labels: Vec<(String, String)>,
        overrides: &[Override<'_>],
        resolver: &mut Resolver,
    ) -> Result<(Cell, usize), FileError> {
        let said_at = |o: &Override<'_>, problem| match &o.said_at {
            None => error_of_varied(o.key, problem),
            Some(path) => {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                self.error_at(&path, problem)
            }
        };
        let with = |overrides: &[Override<'_>]| -> Result<Result<Sections, Refused>, FileError> {
            let own = self.table.iter();
            let own = own.filter(|(key, _)| SECTIONS.contains(&key.as_str()));
            let mut table: toml::Table = own.map(|(k, v)| (k.clone(), v.clone())).collect();
            for o in overrides {
                let first = o.key.split('.').next().unwrap_or_default();
                if !SECTIONS.contains(&first) {
                    return Err(said_at(o, unknown(o.key)));
                }
                let path: Vec<&str> = o.key.split('.').take(MAX_KEY_PARTS + 1).collect();
                if path.len() > MAX_KEY_PARTS {
                    let problem = format!("no key has more than {MAX_KEY_PARTS} parts");
                    return Err(said_at(o, problem));
                }
                put(&mut table, &path, o.value).map_err(|problem| said_at(o, problem))?;
            }
            Ok(read(&table.to_string()))
        };
        let mut sections = match with(overrides)? {
            Ok(sections) => sections,
            Err(refused) => {
                // The first value without which all would be well so far.
                for (n, o) in overrides.iter().enumerate() {
                    if let Err(refused) = with(&overrides[..=n])? {
                        return Err(said_at(o, refusal(o.key, &refused.message)));
                    }
                }
                return Err(self.error_at(&[], refused.problem()));
            }
        };
        for (n, flows) in sections.flows.iter_mut().enumerate() {
            if flows.controller.as_deref() == Some(CANDIDATE) {
                let Some(candidate) = &self.candidate else {
                    let problem = "this is a case of a suite: 'lowtide score --suite FILE --cc NAME' says who \
                                   is judged";
                    let path = ["flows", &n.to_string(), "controller"];
                    return Err(self.error_at(&path, problem.to_string()));
                };
                flows.controller = Some(candidate.clone());
            } else if self.candidate.is_some()
                && let Some(own) = flows.controller.as_deref().and_then(|c| self.host().own(c))
            {
                flows.controller = Some(own);
            }
        }
        let wrong = |problem: Problem| {
            let text = problem.sentence(str::to_string);
            // What a case or the sweep said is wrong there.
            match overrides.iter().rfind(|o| o.is_about(&problem.at)) {
                Some(o) => said_at(o, text),
                None => {
                    let path: Vec<&str> = problem.at.split('.').collect();
                    self.error_at(&path, text)
                }
            }
        };
        let setting = resolver.setting(&sections).map_err(wrong)?;
        Host::check_senders(&setting).map_err(wrong)?;
        let (key, simulated) = setting.key();
        let named: usize = labels
            .iter()
            .map(|(key, label)| key.len() + label.len())
            .sum();
        let cell = Cell {
            scenario,
            labels,
            setting,
            key,
        };
        Ok((cell, simulated + named))
    }
}

fn error_of_varied(key: &str, problem: String) -> FileError {
    FileError {
        position: Position::Varied,
        key: short(key),
        problem,
    }
}

/// What a setting's runs measure.
fn count_results(setting: &Setting) -> u64 {
    let of_a_run = 1 + setting.groups.len() + setting.flow_count();
    setting.seeds.count.saturating_mul(of_a_run as u64)
}

/// What is said of a key of no section.
fn unknown(key: &str) -> String {
    let key = short(key);
    let meant = meant(&key).map_or_else(String::new, |key| format!("did you mean '{key}'? "));
    let sections = SECTIONS.join(", ");
    format!("'{key}' cannot be varied: {meant}keys begin with one of {sections}")
}

/// What the reader says of a value, with the key that may have been meant where it knows none.
fn refusal(key: &str, message: &str) -> String {
    match meant(key) {
        Some(meant) if message.starts_with("unknown field") => {
            format!("{message}; did you mean '{meant}'?")
        }
        _ => message.to_string(),
    }
}

/// The key that ends in the same name, or else is spelt most like this one.
fn meant(key: &str) -> Option<String> {
    let is_name = |part: &&str| part.parse::<usize>().is_err();
    let plain: Vec<&str> = key.split('.').filter(is_name).collect();
    let of_section = |s: &&str| {
        let keys = keys_of(s).into_iter();
        keys.map(move |key| format!("{s}.{}", key.name))
            .collect::<Vec<_>>()
    };
    let keys: BTreeSet<String> = SECTIONS.iter().flat_map(of_section).collect();
    let last = plain.last()?;
    let same_end = keys.iter().find(|k| k.rsplit('.').next() == Some(*last));
    let same_end = same_end.map(String::as_str);
    let nearest = || nearest(&plain.join("."), keys.iter().map(String::as_str));
    same_end.or_else(nearest).map(str::to_string)
}

fn overrides_of_case(index: usize, case: &Case) -> impl Iterator<Item = Override<'_>> {
    case.set.iter().map(move |(key, value)| Override {
        key,
        value,
        said_at: Some(
            ["cases", &index.to_string(), "set", key]
                .map(str::to_string)
                .into(),
        ),
    })
}
