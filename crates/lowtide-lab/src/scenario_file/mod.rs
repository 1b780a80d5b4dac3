//! Scenario files: experiments that a person can read and edit.
//!
//! A file describes one simulation with the [sections](crate::setting::Sections) of a setting, and says which of its values are varied: `[[cases]]` are named
//! sets of values, `[sweep]` lists values for a key; every case is combined with every value. Each
//! combination is a [`Cell`]. `docs/scenario-files.md` has an example with comments.

mod cells;
mod error;
mod judged;
mod paper;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

pub use self::cells::{Cell, Grid, MAX_CELLS};
use self::error::Source;
pub use self::error::{FileError, Position};
pub use self::judged::{CANDIDATE, JudgedCase, Limit, Need, Seeds};
pub use self::paper::{
    Claim, Each, Figure, Level, OverTime, Paper, Plane, Point, Printed, Quantity,
};
use crate::files;
use crate::setting::{
    FlowSection, Host, LinkSection, Links, Measure, PathSection, RunSection, TriggerSection, read,
};

/// What a scenario file holds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Lowtide scenario file")]
pub struct Content {
    /// A short name; folders and rows are called by it (default: the file's name).
    pub name: Option<String>,
    /// What it is about.
    #[serde(default)]
    pub about: String,
    /// The bottleneck.
    #[serde(default)]
    pub link: LinkSection,
    /// The bottleneck of the way back, as `link`; without it only delays.
    #[serde(default)]
    pub reverse: LinkSection,
    /// The path around it.
    #[serde(default)]
    pub path: PathSection,
    /// How long, how often.
    #[serde(default)]
    pub run: RunSection,
    /// Groups of flows.
    #[serde(default)]
    pub flows: Vec<FlowSection>,
    /// What happens once a flow has entered a phase.
    pub trigger: Option<TriggerSection>,
    /// Named sets of values, one run after the other.
    #[serde(default)]
    pub cases: Vec<Case>,
    /// Values to try for a key, as in `"link.buffer" = ["1bdp", "2bdp"]`. A key of `flows` without
    /// a number is set in every group.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<serde_json::Value>>")]
    pub sweep: BTreeMap<String, Vec<toml::Value>>,
    /// What is measured besides the metrics, by name; claims and limits call it as they call metrics.
    #[serde(default)]
    pub measures: BTreeMap<String, Measure>,
    /// Metrics to show (default: the usual ones).
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Recorded links, below the folder that `--traces` names: `lowtide reproduce` tests the claims marked
    /// with `on_traces` on them as well, and they are cases of `lowtide score` besides the file's own.
    #[serde(default)]
    pub traces: Vec<String>,
    /// What a scorecard says of it, where it is a case of a suite.
    pub case: Option<JudgedCase>,
    /// What must hold for a controller to pass, in a suite.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// The paper that this runs again.
    pub paper: Option<Paper>,
    /// Values that the paper prints.
    #[serde(default)]
    pub printed: Vec<Printed>,
    /// What is claimed: by the paper, or of a controller.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// The paper's curves.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Its figures of one measured value against another.
    #[serde(default)]
    pub planes: Vec<Plane>,
    /// Its figures over time.
    #[serde(default)]
    pub over_time: Vec<OverTime>,
}

/// A named set of values.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its label.
    pub name: String,
    /// Keys and values, as in `set = { "link.rate" = "20mbit" }`.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub set: BTreeMap<String, toml::Value>,
}

/// A scenario file that was read.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    source: Source,
    /// What it holds.
    pub content: Content,
    /// The file's table, to put the values of cells in.
    table: toml::Table,
    /// Traces that are no files.
    links: Links,
    /// Values that are the same in all cells, whatever the file says.
    fixed: Vec<(String, toml::Value)>,
    /// Keys whose values are not the file's.
    varied: BTreeSet<String>,
    /// The controller where the file says [`CANDIDATE`].
    candidate: Option<String>,
}

impl ScenarioFile {
    /// Reads a file, or standard input where the path is `-`.
    ///
    /// # Errors
    /// When it cannot be read or is no scenario; the error names line and key.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        let text = files::read_or_stdin(path, files::SCENARIO)
            .and_then(|bytes| files::text(path, bytes))
            .map_err(FileError::unreadable)?;
        Self::parse(
            files::name(path).unwrap_or(Path::new(files::STDIN_SHOWN)),
            text,
        )
    }

    /// Reads a text; `path` is what errors call it, and where its traces are looked for.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(path: &Path, text: String) -> Result<Self, FileError> {
        let source = Source {
            file: path.to_path_buf(),
            text,
            is_values: false,
        };
        Self::new(source, Links::default())
    }

    fn new(source: Source, links: Links) -> Result<Self, FileError> {
        Ok(Self {
            content: read(&source.text).map_err(|refused| source.refused(&refused))?,
            table: read(&source.text).map_err(|refused| source.refused(&refused))?,
            source,
            links,
            fixed: Vec::new(),
            varied: BTreeSet::new(),
            candidate: None,
        })
    }

    /// Reads an experiment from values that are no file; its traces are looked for below `folder`, or among `links`.
    ///
    /// # Errors
    /// When they are no scenario; the error names the key.
    pub fn of_values(table: &toml::Table, folder: &Path, links: &Links) -> Result<Self, FileError> {
        let source = Source {
            file: folder.join("values"),
            text: table.to_string(),
            is_values: true,
        };
        Self::new(source, links.clone())
    }

    /// The file's name for people.
    #[must_use]
    pub fn name(&self) -> String {
        self.content.name.clone().unwrap_or_else(|| {
            self.source.file.file_stem().map_or_else(
                || "scenario".to_string(),
                |s| s.to_string_lossy().into_owned(),
            )
        })
    }

    /// What it is called as a case of a suite.
    #[must_use]
    pub fn id(&self) -> String {
        let named = self.content.case.as_ref().and_then(|case| case.id.clone());
        named.unwrap_or_else(|| self.name())
    }

    /// Where it came from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.source.file
    }

    /// What was read; empty where it is of values.
    #[must_use]
    pub fn text(&self) -> &str {
        match self.source.is_values {
            true => "",
            false => &self.source.text,
        }
    }

    /// An error at a key of this file.
    #[must_use]
    pub fn error_at(&self, path: &[&str], problem: String) -> FileError {
        self.source.value_error(path, problem)
    }

    /// The experiment on recorded links instead of its cases, one case each.
    #[must_use]
    pub fn on_traces(&self, traces: &[(String, PathBuf)]) -> Self {
        let mut other = self.clone();
        other.content.cases.clear();
        other.on_traces_too(traces)
    }

    /// The experiment on recorded links besides its cases, one case each.
    #[must_use]
    pub fn on_traces_too(&self, traces: &[(String, PathBuf)]) -> Self {
        let mut other = self.clone();
        let recorded = traces.iter().map(|(name, path)| {
            let path = toml::Value::String(path.display().to_string());
            let link = toml::Table::from_iter([("trace".to_string(), path)]);
            Case {
                name: name.clone(),
                set: BTreeMap::from([("link".to_string(), link.into())]),
            }
        });
        other.content.cases.extend(recorded);
        other
    }

    /// Tries these values for a key, on top of the sweep or instead of what it says of that key. A
    /// single value for a key that the sweep does not vary makes no cells and no labels.
    pub fn vary(&mut self, key: &str, mut values: Vec<toml::Value>) {
        self.varied.insert(key.to_string());
        if values.len() == 1 && !self.content.sweep.contains_key(key) {
            self.fixed
                .extend(values.pop().map(|v| (key.to_string(), v)));
        } else {
            self.content.sweep.insert(key.to_string(), values);
        }
    }

    /// The experiment with this controller where the file says [`CANDIDATE`].
    #[must_use]
    pub fn judging(&self, candidate: &str) -> Self {
        let mut other = self.clone();
        other.candidate = Some(candidate.to_string());
        other
    }

    /// Runs each cell with this many seeds.
    pub fn set_seeds(&mut self, seeds: u64) {
        let seeds = i64::try_from(seeds).unwrap_or(i64::MAX);
        self.set_run("seeds", toml::Value::Integer(seeds));
    }

    /// Runs each cell with this many seeds at most.
    pub(crate) fn limit_seeds(&mut self, most: i64) {
        let run = self.table.get("run").and_then(toml::Value::as_table);
        let seeds = run.and_then(|run| run.get("seeds")?.as_integer());
        if seeds.is_some_and(|seeds| seeds > most) {
            self.set_run("seeds", toml::Value::Integer(most));
        }
    }

    /// Runs each cell over this host.
    pub fn set_host(&mut self, host: Host) {
        self.content.run.host = Some(host);
        self.set_run("host", toml::Value::String(host.to_string()));
    }

    /// What carries its flows.
    #[must_use]
    pub fn host(&self) -> Host {
        self.content.run.host.unwrap_or_default()
    }

    fn set_run(&mut self, key: &str, value: toml::Value) {
        let run = self
            .table
            .entry("run")
            .or_insert_with(|| toml::Value::Table(toml::Table::new()));
        if let toml::Value::Table(run) = run {
            run.insert(key.to_string(), value);
        }
    }

    /// The JSON schema of scenario files, for editors.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Content).to_value()
    }
}

#[cfg(test)]
mod tests;
